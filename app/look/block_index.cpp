#include "app/look/block_index.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/draw/sheet.h"
#include "core/analysis/cost.h"

namespace tilescope::look {
namespace {

// The bounding boxes of a request's elements, by slice; stores to the output say whose element it is.
void include_elements(std::vector<CellRect>& slices, BlockIndex& index, const trace::Trace& trace,
                      uint64_t step) {
    const trace::Access access = trace::decode(trace, step);
    const Array& array = trace.launch.arrays[access.array];
    const draw::Sheet sheet(array);
    const bool stores_output = array.writes() && trace.sites[access.site].kind == ptx::SiteKind::Store;
    for_lanes(access.mask, [&](uint32_t lane) {
        const size_t thread = size_t{access.warp} * kWarpSize + lane;
        if (stores_output && thread < index.output.size())
            index.output[thread] = {access.array, access.offset[lane] / array.element_bytes()};
    });
    for_elements(trace, access, [&](uint32_t, uint64_t element) {
        const size_t slice = sheet.slice(element);
        if (slice >= slices.size()) slices.resize(slice + 1);
        slices[slice].include(sheet.cell(element));
    });
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

StepKind kind_of(const trace::Trace& trace, uint64_t step) {
    // A generic address shows only in the run whether it is global or shared: the form says so.
    const trace::Form& form = trace.form_of(step);
    const ptx::Site& site = trace.sites[form.site];
    if (site.kind == ptx::SiteKind::Barrier) return StepKind::Barrier;
    const bool load = site.kind == ptx::SiteKind::Load;
    if (form.space == Space::Global) return load ? StepKind::GlobalLoad : StepKind::GlobalStore;
    return load ? StepKind::SharedLoad : StepKind::SharedStore;
}

uint32_t shown_line(const trace::Trace& trace, const ptx::Site& site) {
    return trace.meta.source.empty() ? site.ptx_line : site.line;
}

std::shared_ptr<const BlockIndex> index_block(const trace::Trace& trace, const analysis::PhaseRule& rule,
                                              const std::optional<analysis::Product>& product,
                                              uint32_t block) {
    auto made = std::make_shared<BlockIndex>();
    BlockIndex& index = *made;
    index.block = block;
    index.product = product;
    for (size_t at = 0; at < trace.launch.arrays.size(); ++at)
        if (trace.launch.arrays[at].space == Space::Shared) index.shared.push_back(static_cast<uint8_t>(at));
    index.warps = static_cast<uint32_t>((trace.launch.block.count() + kWarpSize - 1) / kWarpSize);
    index.steps_of_site.resize(trace.sites.size());
    index.steps_of_warp.resize(index.warps);
    index.touched.resize(trace.launch.arrays.size());
    index.touched_in_phase.resize(trace.launch.arrays.size());
    index.output.resize(trace.launch.block.count());
    index.checkpoints.emplace_back();
    if (block >= trace.blocks.size()) return made;
    index.first = trace.blocks[block].first;
    index.steps = static_cast<uint32_t>(trace.blocks[block].count);
    index.phases = analysis::phases_of_block(trace, rule, block);

    analysis::CostTable costs(trace);
    SplitSums sums;
    for (uint32_t step = 0; step < index.steps; ++step) {
        const uint64_t at = index.first + step;
        const trace::Form& form = trace.form_of(at);
        const uint32_t warp = trace.warp_of(at);
        if (warp >= index.steps_of_warp.size()) index.steps_of_warp.resize(warp + 1);
        index.steps_of_site[form.site].push_back(step);
        index.steps_of_warp[warp].push_back(step);

        const uint32_t phase = index.phases.phase[step];
        if (index.spans.empty() || phase > index.spans.back().phase) {
            if (!index.spans.empty()) index.spans.back().end = step;
            index.spans.push_back({phase, step, index.steps});
        }
        if (trace.sites[form.site].kind == ptx::SiteKind::Barrier) {
            const uint32_t interval = index.phases.interval[step];
            if (interval >= index.arrivals.size()) index.arrivals.resize(interval + 1);
            index.arrivals[interval].push_back(step);
        } else if (form.array != trace::kNoArray && trace.launch.arrays[form.array].space == Space::Global) {
            const size_t slot = std::min(phase, index.phases.phases);  // what comes after is the last
            auto& by_phase = index.touched_in_phase[form.array];
            if (by_phase.size() <= slot) by_phase.resize(size_t{index.phases.phases} + 1);
            include_elements(by_phase[slot], index, trace, at);
        }
        analysis::add_step(sums, trace, at, costs.of(at));
        if ((step + 1) % BlockIndex::kCheckpointSteps == 0) index.checkpoints.push_back(sums);
    }
    for (size_t array = 0; array < index.touched.size(); ++array)
        for (const std::vector<CellRect>& slices : index.touched_in_phase[array]) {
            index.touched[array].resize(std::max(index.touched[array].size(), slices.size()));
            for (size_t i = 0; i < slices.size(); ++i) index.touched[array][i].include(slices[i]);
        }
    index.warps = static_cast<uint32_t>(index.steps_of_warp.size());
    index.clocked = has_clocks(trace, trace.blocks[block]);
    if (index.clocked) index.barriers = barrier_times(trace, index);
    return made;
}

std::vector<CellRect> slices_of_phase(const trace::Trace& trace, const BlockIndex& index, uint8_t array,
                                      uint32_t phase) {
    if (array >= index.touched.size()) return {};
    if (trace.launch.arrays[array].role == ArrayRole::Output) return index.touched[array];
    const size_t slot = phase == analysis::kAfter ? index.phases.phases : phase;
    if (slot >= index.touched_in_phase[array].size()) return {};
    return index.touched_in_phase[array][slot];
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

std::vector<SplitSums> sums_before_blocks(const trace::Trace& trace) {
    std::vector<SplitSums> before(1);
    before.reserve(trace.blocks.size() + 1);
    analysis::CostTable costs(trace);
    SplitSums sums;
    for (const trace::Block& block : trace.blocks) {
        for (uint64_t step = block.first; step < block.first + block.count; ++step)
            analysis::add_step(sums, trace, step, costs.of(step));
        before.push_back(sums);
    }
    return before;
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
    const uint32_t phase = index.phase_at(step), first = index.notation.phases_from_1 ? 1 : 0;
    if (phase == analysis::kAfter) return "after the last phase";
    return fmt::format("{} (of {} to {})", phase_name(phase, index.notation), first,
                       index.phases.phases - 1 + first);
}

std::optional<playback::Element> output_of(const BlockIndex& index, uint32_t thread) {
    if (thread >= index.output.size() || index.output[thread].array == trace::kNoArray) return std::nullopt;
    return index.output[thread];
}

}  // namespace tilescope::look
