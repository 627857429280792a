#include "app/look/block_index.h"

#include <algorithm>
#include <new>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "app/draw/sheet.h"
#include "app/look/exchange.h"
#include "core/analysis/cost.h"
#include "core/trace/claims.h"

namespace tilescope::look {
namespace {

using TouchedTile = BlockIndex::TouchedTile;

// The boxes while they grow: a request's follow those of the one before, and are put together now and then.
class Boxes {
public:
    explicit Boxes(uint64_t steps) : most_(steps + 65'536) {}

    void include(uint8_t array, uint32_t phase, uint32_t slice, const CellRect& cell) {
        if (!slices_) slice = 0;
        TouchedTile* at = boxes_.empty() ? nullptr : &boxes_.back();
        if (at == nullptr || at->array != array || at->phase != phase || at->slice != slice) {
            if (boxes_.size() >= next_) join();
            at = &boxes_.emplace_back(TouchedTile{phase, slices_ ? slice : 0, array, {}});
        }
        at->box.include(cell);
    }

    std::vector<TouchedTile> take() {
        join();
        return std::move(boxes_);
    }
    uint64_t bytes() const { return boxes_.capacity() * sizeof(TouchedTile); }

private:
    static auto key(const TouchedTile& of) { return std::tuple(of.array, of.phase, of.slice); }

    void join() {
        std::ranges::sort(boxes_, {}, key);
        size_t kept = 0;
        for (size_t i = 0; i < boxes_.size(); ++i)
            if (kept > 0 && key(boxes_[kept - 1]) == key(boxes_[i]))
                boxes_[kept - 1].box.include(boxes_[i].box);
            else
                boxes_[kept++] = boxes_[i];
        boxes_.resize(kept);
        next_ = 2 * kept + 4096;
        if (!slices_ || kept <= most_) return;
        slices_ = false;
        for (TouchedTile& of : boxes_) of.slice = 0;
        join();
    }

    std::vector<TouchedTile> boxes_;
    size_t next_ = 4096;
    uint64_t most_;
    bool slices_ = true;
};

// A request's elements; stores to the output say whose element it is.
void include_elements(Boxes& boxes, uint32_t phase, BlockIndex& index, const trace::Trace& trace,
                      uint64_t step) {
    const trace::Access access = trace::decode(trace, step);
    const Array& array = trace.launch.arrays[access.array];
    const draw::Sheet sheet(array);
    const bool stores_output = array.writes() && ptx::writes(trace.sites[access.site].kind);
    if (stores_output) index.stores_of_warp[access.warp].push_back(static_cast<uint32_t>(step - index.first));
    for_lanes(access.mask, [&](uint32_t lane) {
        const size_t thread = size_t{access.warp} * kWarpSize + lane;
        if (stores_output && thread < index.output.size())
            index.output[thread] = {access.array, access.offset[lane] / array.element_bytes()};
    });
    for_elements(trace, step, access, [&](uint32_t, uint64_t element) {
        boxes.include(access.array, phase, static_cast<uint32_t>(sheet.slice(element)), sheet.cell(element));
    });
}

// Which elements belong to which thread, where threads store several.
void find_patches(BlockIndex& index, const trace::Trace& trace) {
    if (!index.product || index.product->patch <= 1) return;
    std::vector<std::vector<std::pair<uint32_t, uint32_t>>> cells(index.output.size());
    for (uint64_t step = index.first; step < index.first + index.steps; ++step) {
        const trace::Form& form = trace.form_of(step);
        if (!index.product->is_output(form.array) || !ptx::writes(trace.sites[form.site].kind)) continue;
        const draw::Sheet sheet(trace.launch.arrays[form.array]);
        const trace::Access access = trace::decode(trace, step);
        for_elements(trace, step, access, [&](uint32_t lane, uint64_t element) {
            const size_t thread = size_t{access.warp} * kWarpSize + lane;
            const CellRect cell = sheet.cell(element);
            if (thread < cells.size()) cells[thread].emplace_back(cell.row0, cell.col0);
        });
    }
    for (auto& of_thread : cells) index.patches.push_back(rectangles_of(std::move(of_thread)));
}

// The lists of the index with room for all steps, so that they never move.
void make_room(BlockIndex& index, const trace::Trace& trace) {
    std::vector<uint32_t> of_site(index.steps_of_site.size()), of_warp(index.steps_of_warp.size());
    for (uint64_t step = index.first; step < index.first + index.steps; ++step) {
        ++of_site[trace.form_of(step).site];
        const uint32_t warp = trace.warp_of(step);
        if (warp >= of_warp.size()) of_warp.resize(warp + 1);
        ++of_warp[warp];
    }
    index.steps_of_warp.resize(of_warp.size());
    index.stores_of_warp.resize(of_warp.size());
    index.lanes_of_warp.resize(of_warp.size());
    for (size_t i = 0; i < of_site.size(); ++i) index.steps_of_site[i].reserve(of_site[i]);
    for (size_t i = 0; i < of_warp.size(); ++i) index.steps_of_warp[i].reserve(of_warp[i]);
    index.checkpoints.reserve(index.steps / BlockIndex::kCheckpointSteps + 1);
}

// Whether every step of the block has a clock, in the order of the steps: a block whose clocks run backwards
// (a gap in what the device wrote) is shown by steps.
bool has_clocks(const trace::Trace& trace, const trace::Block& block) {
    if (trace.time.size() != trace.steps()) return false;
    const auto first = trace.time.begin() + static_cast<std::ptrdiff_t>(block.first);
    return block.count > 0 && std::is_sorted(first, first + static_cast<std::ptrdiff_t>(block.count));
}

// In the order of the barriers (timeline.h says when one opens).
std::vector<BarrierTimes> barrier_times(const trace::Trace& trace, const BlockIndex& index) {
    std::vector<BarrierTimes> barriers;
    const uint32_t* const clocks = trace.time.data() + index.first;
    for (uint32_t number = 0; number < index.arrivals.size(); ++number) {
        BarrierTimes barrier;
        barrier.number = number;
        std::vector<bool> came(index.steps_of_warp.size(), false);
        for (const uint32_t step : index.arrivals[number]) {
            const uint32_t warp = trace.warp_of(index.first + step);
            came[warp] = true;
            barrier.arrivals.push_back({warp, step, clocks[step]});
            barrier.last_warp = warp;
        }
        if (barrier.arrivals.empty()) continue;
        barrier.first = barrier.arrivals.front().clock;
        barrier.last = barrier.opens = barrier.arrivals.back().clock;
        for (size_t warp = 0; warp < came.size(); ++warp) {
            const auto& steps = index.steps_of_warp[warp];
            if (!came[warp] && !steps.empty()) barrier.opens = std::max(barrier.opens, clocks[steps.back()]);
        }
        barriers.push_back(std::move(barrier));
    }
    return barriers;
}

}  // namespace

std::vector<CellRect> rectangles_of(std::vector<std::pair<uint32_t, uint32_t>> cells) {
    std::ranges::sort(cells);
    cells.erase(std::unique(cells.begin(), cells.end()), cells.end());
    std::vector<CellRect> made;
    for (size_t at = 0; at < cells.size();) {
        const auto [r, first] = cells[at];
        uint32_t end = first;
        while (at < cells.size() && cells[at] == std::pair(r, end)) ++at, ++end;
        const auto onto = std::ranges::find_if(made, [&, row = r, col = first](const CellRect& rect) {
            return rect.row1 == row && rect.col0 == col && rect.col1 == end;
        });
        if (onto == made.end())
            made.push_back({r, r + 1, first, end});
        else
            onto->row1 = r + 1;
    }
    return made;
}

uint32_t shown_line(const trace::Trace& trace, const ptx::Site& site) {
    return trace.meta.source.empty() ? site.ptx_line : site.line;
}

namespace {

std::shared_ptr<BlockIndex> empty_index(const analysis::Recording& recording, uint32_t block) {
    const trace::Trace& trace = *recording.trace;
    auto made = std::make_shared<BlockIndex>();
    BlockIndex& index = *made;
    index.block = block;
    index.product = recording.product;
    index.notation = recording.notation;
    for (size_t at = 0; at < trace.launch.arrays.size(); ++at)
        if (trace.launch.arrays[at].space == Space::Shared) index.shared.push_back(static_cast<uint8_t>(at));
    index.warps = static_cast<uint32_t>((trace.launch.block.count() + kWarpSize - 1) / kWarpSize);
    index.steps_of_site.resize(trace.sites.size());
    index.steps_of_warp.resize(index.warps);
    index.exchanged = exchanged_types(trace);
    index.touched.resize(trace.launch.arrays.size());
    index.output.resize(trace.launch.block.count());
    index.checkpoints.emplace_back();
    if (block < trace.blocks.size()) index.first = trace.blocks[block].first;
    return made;
}

// Bytes of the index for each step, for each barrier and for each phase of the block.
constexpr uint64_t kStepBytes = 22, kBarrierBytes = 64, kClockedBarrierBytes = 160, kSpanBytes = 24;

std::shared_ptr<const BlockIndex> indexed(const analysis::Recording& recording, uint32_t block, Stop stop) {
    const trace::Trace& trace = *recording.trace;
    auto made = empty_index(recording, block);
    if (block >= trace.blocks.size()) return made;
    const uint64_t most = trace::memory_left(trace) / 4, of_steps = trace.blocks[block].count * kStepBytes;
    const auto too_large = [&] {
        auto empty = empty_index(recording, block);
        const trace::Block& at = trace.blocks[block];
        empty->why_not = trace::more_memory(fmt::format("showing the {} of {}", counted(at.count, "step"),
                                                        block_name(trace.launch.grid, {at.x, at.y, at.z},
                                                                   recording.notation)))
                             .message;
        return empty;
    };
    if (of_steps > most) return too_large();
    BlockIndex& index = *made;
    index.steps = static_cast<uint32_t>(trace.blocks[block].count);
    index.phases = analysis::phases_of_block(recording, block);
    make_room(index, trace);
    if (trace::has_words(trace)) {
        index.signals = std::make_shared<analysis::Signals>(trace, block);
        index.pipeline =
            std::make_shared<analysis::Pipeline>(analysis::pipeline_of(trace, block, *index.signals));
    }
    index.landings = trace::Arrivals(trace, trace.blocks[block]);

    const uint64_t barrier_bytes = trace.time.empty() ? kBarrierBytes : kClockedBarrierBytes;
    analysis::CostTable costs(trace);
    SplitSums sums;
    Boxes boxes(index.steps);
    for (uint32_t step = 0; step < index.steps; ++step) {
        if (stop.at(step)) return empty_index(recording, block);
        if (step % 4096 == 0 && of_steps + boxes.bytes() + index.spans.size() * kSpanBytes +
                                        index.arrivals.size() * barrier_bytes >
                                    most)
            return too_large();
        const uint64_t at = index.first + step;
        const trace::Form& form = trace.form_of(at);
        index.steps_of_site[form.site].push_back(step);
        index.steps_of_warp[trace.warp_of(at)].push_back(step);

        const uint32_t phase = index.phases.phase[step];
        // A warp that only copies ahead begins no phase: its copies are of trips that come.
        const bool ahead =
            index.pipeline && index.pipeline->role_of(trace.warp_of(at)) == analysis::WarpRole::Producer;
        if (index.spans.empty() || (phase > index.spans.back().phase && !ahead)) {
            if (!index.spans.empty()) index.spans.back().end = step;
            index.spans.push_back({phase, step, index.steps});
        }
        if (trace.sites[form.site].kind == ptx::SiteKind::Barrier) {
            const uint32_t interval = index.phases.interval[step];
            if (interval >= index.arrivals.size()) index.arrivals.resize(interval + 1);
            index.arrivals[interval].push_back(step);
        } else if (form.array != trace::kNoArray && trace.launch.arrays[form.array].space != Space::Shared) {
            include_elements(boxes, std::min(phase, index.phases.phases), index, trace, at);
        }
        if (ptx::asks_memory(trace.sites[form.site].kind))
            index.lanes_of_warp[trace.warp_of(at)] |= form.mask;
        analysis::add_step(sums, trace, at, costs.of(at));
        if ((step + 1) % BlockIndex::kCheckpointSteps == 0) index.checkpoints.push_back(sums);
    }
    find_patches(index, trace);
    index.touched_in_phase = boxes.take();
    Boxes all(index.steps);
    for (const TouchedTile& of : index.touched_in_phase) all.include(of.array, 0, of.slice, of.box);
    for (const TouchedTile& of : all.take()) index.touched[of.array].push_back(of.box);
    index.warps = static_cast<uint32_t>(index.steps_of_warp.size());
    index.clocked = has_clocks(trace, trace.blocks[block]);
    if (index.clocked) index.barriers = barrier_times(trace, index);
    return made;
}

}  // namespace

std::shared_ptr<const BlockIndex> index_block(const analysis::Recording& recording, uint32_t block,
                                              Stop stop) {
    try {
        return indexed(recording, block, stop);
    } catch (const std::bad_alloc&) {
        auto empty = empty_index(recording, block);
        empty->why_not =
            "This block takes more than this machine's memory; record a smaller window of blocks.";
        return empty;
    }
}

std::vector<CellRect> slices_of_phase(const trace::Trace& trace, const BlockIndex& index, uint8_t array,
                                      uint32_t phase) {
    if (array >= index.touched.size()) return {};
    if (index.product && trace.launch.arrays[array].role == ArrayRole::Output) return index.touched[array];
    const auto of = [](const TouchedTile& at) { return std::pair(at.array, at.phase); };
    const auto here = std::ranges::equal_range(
        index.touched_in_phase, std::pair(array, std::min(phase, index.phases.phases)), {}, of);
    std::vector<CellRect> slices;
    for (const TouchedTile& at : here) slices.push_back(at.box);
    return slices;
}

CellRect tile_of_phase(const trace::Trace& trace, const BlockIndex& index, uint8_t array, uint32_t phase) {
    CellRect tile;
    for (const CellRect& slice : slices_of_phase(trace, index, array, phase)) tile.include(slice);
    return tile;
}

SplitSums sums_so_far(const trace::Trace& trace, const BlockIndex& index, uint32_t step) {
    if (index.steps == 0) return {};
    const uint32_t end = std::min(step, index.steps - 1) + 1;
    const uint32_t checkpoint = end / BlockIndex::kCheckpointSteps;
    SplitSums sums = index.checkpoints[checkpoint];
    for (uint32_t at = checkpoint * BlockIndex::kCheckpointSteps; at < end; ++at)
        analysis::add_step(sums, trace, index.first + at, analysis::cost_of(trace, index.first + at));
    return sums;
}

Result<std::vector<SplitSums>> sums_before_blocks(const trace::Trace& trace, Stop stop) {
    if (trace.blocks.size() * sizeof(SplitSums) > trace::memory_left(trace) / 2)
        return trace::more_memory(fmt::format("adding up {}", counted(trace.blocks.size(), "block")));
    const uint64_t most = trace::most_lane_accesses() / kWarpSize;
    std::vector<SplitSums> before(1);
    before.reserve(trace.blocks.size() + 1);
    analysis::CostTable costs(trace);
    SplitSums sums;
    for (const trace::Block& block : trace.blocks) {
        for (uint64_t step = block.first; step < block.first + block.count; ++step) {
            if (stop.at(step)) return Error{kStopped};
            if (costs.judged() > most) return trace::more_work("judging what each request costs");
            analysis::add_step(sums, trace, step, costs.of(step));
        }
        before.push_back(sums);
    }
    return before;
}

std::optional<CopyView> copy_of(const trace::Trace& trace, const BlockIndex& index, uint32_t step) {
    const auto transfer = step < index.steps ? trace::transfer_of(trace, index.first + step) : std::nullopt;
    if (!transfer) return std::nullopt;
    CopyView view;
    if (!transfer->written) return view;  // the recording ends between the two
    if (transfer->read) view.from = trace.form_of(*transfer->read).array;
    view.to = trace.form_of(*transfer->written).array;
    view.behind = index.landings.visible_from(static_cast<uint32_t>(*transfer->written - index.first));
    return view;
}

uint64_t hits_so_far(const BlockIndex& index, uint32_t site, uint32_t step) {
    if (site >= index.steps_of_site.size()) return 0;
    const auto& steps = index.steps_of_site[site];
    return static_cast<uint64_t>(std::ranges::upper_bound(steps, step) - steps.begin());
}

std::optional<uint32_t> next_step_of_line(const trace::Trace& trace, const BlockIndex& index, uint32_t line,
                                          uint32_t step) {
    std::optional<uint32_t> next, first;
    for (const ptx::Site& site : trace.sites) {
        const std::vector<uint32_t>& steps = index.steps_of_site[site.id];
        if (shown_line(trace, site) != line || steps.empty()) continue;
        first = std::min(first.value_or(UINT32_MAX), steps.front());
        if (const auto after = std::ranges::upper_bound(steps, step); after != steps.end())
            next = std::min(next.value_or(UINT32_MAX), *after);
    }
    return next ? next : first;
}

std::string phase_text(const BlockIndex& index, uint32_t step) {
    if (index.spans.size() <= 1) return "";
    const uint32_t phase = index.phase_at(step), all = index.phases.phases;
    if (phase == analysis::kAfter) return "after the last phase";
    std::string name = phase_name(phase, index.notation);
    // A copy into a ring is of a trip that has not begun.
    const auto begun = std::ranges::upper_bound(index.spans, step, {}, &PhaseSpan::first);
    if (index.pipeline && begun != index.spans.begin() && (begun - 1)->phase < phase)
        name = "ahead for " + name;
    if (index.notation.phases_from_1) return fmt::format("{} of {}", name, all);
    return fmt::format("{} ({} of {})", name, ordinal(phase + 1), all);
}

std::optional<playback::Element> output_of(const BlockIndex& index, uint32_t thread) {
    if (thread >= index.output.size() || index.output[thread].array == trace::kNoArray) return std::nullopt;
    return index.output[thread];
}

namespace {
constexpr size_t kMostStores = 2048;  // requests that are looked at
}

StoredElements stored_by(const trace::Trace& trace, const BlockIndex& index, uint32_t warp, uint32_t mask,
                         std::optional<uint32_t> step) {
    StoredElements stored;
    if (warp >= index.stores_of_warp.size()) return stored;
    const auto add = [&](auto first, auto last) {
        std::set<std::pair<uint32_t, std::pair<uint8_t, uint64_t>>> seen;
        for (size_t left = kMostStores; first != last && left > 0; ++first, --left) {
            const trace::Access access = trace::decode(trace, index.first + *first);
            for_elements(trace, index.first + *first, access, [&](uint32_t lane, uint64_t element) {
                if ((mask >> lane & 1) != 0 && seen.insert({lane, {access.array, element}}).second)
                    stored.by_lane.push_back({lane, {access.array, element}});
            });
        }
    };
    const std::vector<uint32_t>& steps = index.stores_of_warp[warp];
    if (step) {
        const auto phase_of = [&](uint32_t at) { return index.phase_at(at); };
        const auto here = std::ranges::equal_range(steps, index.phase_at(*step), {}, phase_of);
        add(here.begin(), here.end());
        stored.of_phase = !stored.by_lane.empty() && here.size() < steps.size();
    }
    if (stored.by_lane.empty()) add(steps.begin(), steps.end());
    return stored;
}

std::optional<uint32_t> storer_of(const trace::Trace& trace, const BlockIndex& index,
                                  const playback::Element& element) {
    std::optional<uint32_t> thread;
    uint32_t at = 0;
    for (uint32_t warp = 0; warp < index.stores_of_warp.size(); ++warp) {
        size_t left = kMostStores;
        for (const uint32_t step : index.stores_of_warp[warp]) {
            if (left-- == 0) break;
            if (trace.form_of(index.first + step).array != element.array || step < at) continue;
            for_elements(trace, index.first + step, [&](uint32_t lane, uint64_t stored) {
                if (stored == element.index) thread = warp * kWarpSize + lane, at = step;
            });
        }
    }
    return thread;
}

std::optional<uint32_t> owner_of(const BlockIndex& index, uint32_t row, uint32_t col) {
    const auto holds = [&](const CellRect& rect) { return rect.contains(row, col); };
    for (uint32_t thread = 0; thread < index.patches.size(); ++thread)
        if (std::ranges::any_of(index.patches[thread], holds)) return thread;
    return std::nullopt;
}

std::string patch_text(const trace::Trace& trace, const BlockIndex& index, uint32_t thread) {
    if (thread >= index.patches.size() || index.patches[thread].empty()) return "";
    const CellRect& first = index.patches[thread].front();
    ElementBox box;
    box.include({0, first.row0, first.col0});
    box.include({0, int64_t{first.row1} - 1, int64_t{first.col1} - 1});
    return elements_text(trace.launch.arrays[index.output[thread].array], box, index.notation);
}

}  // namespace tilescope::look
