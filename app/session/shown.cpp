#include "app/session/shown.h"

#include <algorithm>
#include <atomic>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "app/draw/sheet.h"
#include "core/trace/claims.h"
#include "core/trace/file.h"
#include "kernels/run/held.h"
#include "kernels/run/judged.h"

namespace tilescope::session {
namespace {

constexpr uint64_t kMostMapElements = 16ull << 20;
constexpr uint64_t kMostMapsElements = 4 * kMostMapElements;  // of all arrays together
constexpr size_t kBlocksKept = 6;
constexpr uint64_t kFaultsAtOnce = 5'000;  // steps
// Blocks of more steps are shown without values: their replay would not fit in memory.
constexpr uint64_t kMostReplayedSteps = 400'000;

analysis::Summary outline_of(const trace::Trace& trace) {
    analysis::Summary outline;
    for (const ptx::Site& site : trace.sites)
        if (site.kind == ptx::SiteKind::Barrier)
            outline.barriers_per_block = 1;
        else if (site.kind == ptx::SiteKind::Exchange)
            outline.exchanges = 1;
        else if (site.kind == ptx::SiteKind::Signal)
            (site.signal == ptx::Signal::Wait ? outline.signal_waits : outline.signals) = 1;
        else
            outline[analysis::kind_of(site.space, site.kind)].requests = 1;
    return outline;
}

// The same index with what is said of it in another notation.
std::shared_ptr<const look::BlockIndex> worded(const std::shared_ptr<const look::BlockIndex>& index,
                                               const Notation& notation) {
    if (!index || index->notation == notation) return index;
    auto copy = std::make_shared<look::BlockIndex>(*index);
    copy->notation = notation;
    return copy;
}

// As replayed(), which says where memory ends.
MadeBlock replayed_unguarded(const Recording& recording, MadeBlock made, Result<kernels::Replayer>* replayer,
                             Stop stop) {
    const trace::Trace& trace = *recording.trace;
    if (replayer == nullptr) {
    } else if (made.block->steps > kMostReplayedSteps) {
        made.no_values = fmt::format("Values are not shown for blocks of more than {} steps.",
                                     grouped(kMostReplayedSteps));
    } else if (!*replayer) {
        made.no_values = replayer->error().message;
    } else {
        auto replay = std::make_shared<playback::BlockReplay>(trace, made.block->block);
        const auto ran = (*replayer)->replay(trace, made.block->block, *replay, {stop.asked});
        if (ran && replay->full()) {
            made.no_values = trace::more_memory("showing the values of this block").message + ".";
        } else if (ran) {
            replay->finish();
            made.replay = std::move(replay);
        } else {
            made.no_values = ran.error().message;
        }
    }
    if (replayer != nullptr)
        if (auto cube = look::cube_of_block(trace, *made.block, made.replay.get()))
            made.cube = std::make_shared<const look::CubeBlock>(std::move(*cube));
    made.faults = std::make_shared<const look::BlockFaults>(
        look::block_faults(recording, *made.block, made.replay.get(), stop));
    if (made.faults->not_looked)
        made.no_values += fmt::format(
            "{}Faults were not looked for in this block: it takes more memory or "
            "accesses than are allowed.",
            made.no_values.empty() ? "" : " ");
    return made;
}

// The block with its faults and, where there is a replayer, its values and its solid.
MadeBlock replayed(const Recording& recording, const MadeBlock& made, Result<kernels::Replayer>* replayer,
                   Stop stop) {
    try {
        return replayed_unguarded(recording, made, replayer, stop);
    } catch (const std::bad_alloc&) {
        return {made.block, nullptr, "Values and faults of this block take more than this machine's memory.",
                nullptr, std::make_shared<const look::BlockFaults>()};
    }
}

MadeBlock* find(ShownBlocks& blocks, uint32_t block) {
    const auto of = [](const MadeBlock& made) { return made.block->block; };
    const auto found = std::ranges::find(blocks.made, block, of);
    return found == blocks.made.end() ? nullptr : &*found;
}

// In place of what was known of the block.
MadeBlock& keep(ShownBlocks& blocks, MadeBlock made) {
    if (MadeBlock* const known = find(blocks, made.block->block)) return *known = std::move(made);
    if (blocks.made.size() == kBlocksKept) blocks.made.pop_front();
    return blocks.made.emplace_back(std::move(made));
}

// What is known of the cursor's block by now; begins to work on what is not.
MadeBlock block_now(Shown& shown, Jobs& jobs, ShownBlocks::Ask ask, bool wait) {
    ShownBlocks& blocks = shown.blocks;
    const auto& recording = shown.recording;
    const uint32_t block = shown.cursor.block;
    if (auto made = blocks.indexing.take(); made && find(blocks, made->block->block) == nullptr)
        keep(blocks, std::move(*made));
    if (auto made = blocks.valuing.take()) keep(blocks, std::move(*made));
    const uint64_t steps = shown.trace().blocks[block].count;
    MadeBlock* made = find(blocks, block);
    if (made == nullptr && (wait || steps <= kCountedAtOnce)) {
        made = &keep(blocks, {look::index_block(*recording, block)});
    } else if (made == nullptr) {
        if (!blocks.indexing.begun())
            blocks.indexing = jobs.start([recording, block](Control& control) {
                return MadeBlock{look::index_block(*recording, block, {&control.stop})};
            });
        return {};
    }
    made->block = worded(made->block, recording->notation);
    if (!made->block->why_not.empty()) made->faults = std::make_shared<const look::BlockFaults>();
    if (made->faults) return *made;
    const bool values = ask == ShownBlocks::Ask::Values;
    if (wait || (!values && steps <= kFaultsAtOnce)) {
        // A replayer of its own: a job may be using the other one.
        ShownBlocks::Replayer replayer;
        if (values) replayer = kernels::Replayer::of(shown.trace());
        *made = replayed(*recording, *made, replayer ? &*replayer : nullptr, {});
    } else if (!blocks.valuing.begun()) {
        if (!blocks.replayer) blocks.replayer = std::make_shared<ShownBlocks::Replayer>();
        blocks.valuing =
            jobs.start([recording, known = *made, replayer = blocks.replayer, values](Control& control) {
                if (values && !*replayer) *replayer = kernels::Replayer::of(*recording->trace);
                return replayed(*recording, known, values ? &**replayer : nullptr, {&control.stop});
            });
    }
    return *made;
}

}  // namespace

MadeRecording make_recording(std::shared_ptr<const trace::Trace> trace, std::string origin) {
    auto opened = analysis::opened(std::move(trace));
    if (!opened) return opened.error();
    static std::atomic<uint64_t> made{0};
    analysis::Summary outline = outline_of(*opened->trace);
    return std::make_shared<const Recording>(
        Recording{std::move(*opened), ++made, std::move(origin), std::move(outline)});
}

MadeRecording make_recording(Result<trace::Trace> trace, std::string origin) {
    if (!trace) return trace.error();
    return make_recording(std::make_shared<const trace::Trace>(std::move(*trace)), std::move(origin));
}

MadeRecording read_recording(const std::string& path, const std::string& origin, uint64_t open_bytes) {
    return make_recording(kernels::held(trace::read_file(path, open_bytes)), origin);
}

std::shared_ptr<const Recording> worded(std::shared_ptr<const Recording> recording,
                                        const analysis::Wording& wording) {
    if (!recording) return recording;
    Notation notation = analysis::notation_of(recording->trace->launch, recording->product, wording);
    if (notation == recording->notation) return recording;
    auto copy = std::make_shared<Recording>(*recording);
    copy->notation = std::move(notation);
    return copy;
}

LoadsWindow loads_window(const Array& array, const analysis::ElementCounts& counts, uint64_t most) {
    LoadsWindow window;
    const draw::Sheet sheet(array);
    counts.each([&](uint64_t element, uint32_t) { window.box.include(sheet.cell(element)); });
    const draw::CellRect& box = window.box;
    if (box.empty() || uint64_t{box.rows()} * box.cols() > most) return window;
    window.loads.resize(size_t{box.rows()} * box.cols());
    counts.each([&](uint64_t element, uint32_t count) {
        const draw::CellRect cell = sheet.cell(element);
        window.loads[size_t{cell.row0 - box.row0} * box.cols() + (cell.col0 - box.col0)] = count;
        window.most = std::max(window.most, count);
    });
    return window;
}

MadeTotals totals_of(const Recording& recording, Stop stop) {
    const trace::Trace& trace = *recording.trace;
    analysis::LoadCounter counter(trace, trace::memory_left(trace) / 2);
    auto summary = analysis::summarize(recording, stop, &counter);
    if (!summary) return summary.error();
    const std::vector<Array>& arrays = trace.launch.arrays;
    Totals totals{recording.serial, std::move(*summary), {}, {}, {}, {}};
    totals.loads.resize(arrays.size());
    totals.most_loads.resize(arrays.size(), 0);
    totals.even_loads.resize(arrays.size(), true);
    totals.windows.resize(arrays.size());
    uint64_t mapped = 0;  // elements of all maps
    const uint64_t most_mapped =
        std::min(kMostMapsElements, trace::memory_left(trace) / 4 / sizeof(uint32_t));
    for (size_t at = 0; at < arrays.size(); ++at) {
        if (arrays[at].space != Space::Global || !arrays[at].reads()) continue;
        const analysis::ElementCounts& counts = counter.of(static_cast<uint8_t>(at));
        const bool small = arrays[at].elements() <= kMostMapElements;
        if (!small || mapped + arrays[at].elements() > most_mapped) {
            const uint64_t most = std::min(kMostMapElements, most_mapped - mapped);
            totals.windows[at] = loads_window(arrays[at], counts, most);
            totals.most_loads[at] = totals.windows[at].most;
            mapped += totals.windows[at].loads.size();
        } else {
            mapped += arrays[at].elements();
            totals.loads[at] = counts.all(arrays[at].elements());
            const auto [fewest, most] = std::ranges::minmax(totals.loads[at]);
            totals.most_loads[at] = most;
            totals.even_loads[at] = fewest == most;
        }
    }
    return std::make_shared<const Totals>(std::move(totals));
}

bool uses_shared(const trace::Trace& trace) {
    return std::ranges::any_of(trace.sites, [](const ptx::Site& site) {
        return site.kind == ptx::SiteKind::Load && site.space == Space::Shared;
    });
}

void set(Shown& shown, std::shared_ptr<const Recording> recording, std::shared_ptr<const Totals> totals) {
    Shown next;
    if (recording && shown.recording && recording->serial == shown.recording->serial)
        next.blocks = std::move(shown.blocks);  // the same in other words: its blocks are known
    else
        shown.blocks.indexing.stop(), shown.blocks.valuing.stop();
    shown.judging.stop();
    shown.counting.stop();
    next.recording = std::move(recording);
    next.totals = std::move(totals);
    shown = std::move(next);
}

bool count(Shown& shown, Jobs& jobs, bool wait, std::string& message) {
    if (shown.totals || !shown.uncounted.empty()) return false;
    if (!shown.counting.begun())
        shown.counting = jobs.start([recording = shown.recording](Control& control) {
            return totals_of(*recording, {&control.stop});
        });
    auto totals = shown.counting.take(wait || shown.trace().steps() <= kCountedAtOnce);
    if (!totals) return true;
    if (*totals)
        shown.totals = std::move(**totals);
    else
        message = shown.uncounted = totals->error().message + ".";
    return false;
}

namespace {

// The faults of the whole recording. True while they are judged.
bool judge(Shown& shown, Jobs& jobs, bool wait) {
    if (shown.said) return false;
    if (!shown.judging.begun())
        shown.judging = jobs.start([recording = shown.recording](Control& control) {
            const analysis::Hazards hazards = kernels::judged(*recording, {.stop = {&control.stop}});
            return std::make_shared<const look::SaidFaults>(look::said_faults(*recording->trace, hazards));
        });
    if (auto made = shown.judging.take(wait || shown.trace().steps() <= kFaultsAtOnce))
        shown.said = std::move(*made);
    return !shown.said;
}

}  // namespace

bool ready_block(Shown& shown, Jobs& jobs, ShownBlocks::Ask ask, const analysis::Wording& wording,
                 bool wait) {
    if (shown.trace().blocks.empty()) return false;
    MadeBlock& here = shown;
    shown.recording = worded(shown.recording, wording);
    shown.cursor.block = std::min(shown.cursor.block, static_cast<uint32_t>(shown.trace().blocks.size() - 1));
    if (!here.block || here.block->block != shown.cursor.block) here = {};
    here.block = worded(here.block, shown.recording->notation);
    const bool judging = ask == ShownBlocks::Ask::Values && judge(shown, jobs, wait);
    if (here.faults) return judging;
    const MadeBlock made = block_now(shown, jobs, ask, wait);
    if (!here.block) here.block = made.block;
    if (made.faults) here = made;
    return !made.faults || judging;
}

}  // namespace tilescope::session
