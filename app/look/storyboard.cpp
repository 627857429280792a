#include "app/look/storyboard.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "app/look/cube_cells.h"
#include "app/look/timeline.h"

namespace tilescope::look {
namespace {

uint64_t elements_of(const trace::Trace& trace, uint64_t step) {
    uint64_t elements = 0;
    for_elements(trace, step, [&](uint32_t, uint64_t) { ++elements; });
    return elements;
}

// When each warp comes to the first barrier that is reached in a phase, from the phase's first step on.
std::vector<StoryWait> waits_of(const trace::Trace& trace, const BlockIndex& index, uint32_t phase) {
    const auto span = std::ranges::find(index.spans, phase, &PhaseSpan::phase);
    if (span == index.spans.end()) return {};
    const auto at = [&](uint32_t step) {
        return static_cast<double>(index.clocked ? trace.time[index.first + step] : step);
    };
    for (const std::vector<uint32_t>& arrivals : index.arrivals) {
        if (arrivals.size() < 2 || index.phase_at(arrivals.front()) != phase) continue;
        const double from = at(span->first), end = at(arrivals.back());
        if (end <= from) continue;
        std::vector<StoryWait> waits;
        for (const uint32_t step : arrivals)
            waits.push_back({trace.warp_of(index.first + step),
                             static_cast<float>(std::max(at(step) - from, 0.0) / (end - from))});
        std::ranges::sort(waits, {}, &StoryWait::warp);
        return waits;
    }
    return {};
}

}  // namespace

Result<Story> story_of(const analysis::Recording& recording, const BlockIndex& index, const CubeBlock* block,
                       uint32_t most) {
    const trace::Trace& trace = *recording.trace;
    if (!index.product)
        return Error{fmt::format(
            "'{}' is no product of two matrices, so it has no tiles and phases to tell of; export "
            "its steps as pictures with --format png",
            trace.meta.kernel)};
    if (block != nullptr && !block->phases.empty() && block->phases.back().box.empty() && !block->from_values)
        return Error{
            fmt::format("'{}' loads its tiles ahead, and what it multiplies is not told product by product, "
                        "so its phases cannot be "
                        "told apart; export its steps as pictures with --format png",
                        trace.meta.kernel)};
    if (block == nullptr || block->phases.empty() || block->phases.back().box.empty())
        return Error{"the block recorded no phase that multiplies; choose another one with --block"};
    const CubeShape& shape = block->shape;
    const uint64_t bytes = trace.launch.arrays[shape.arrays[0]].element_bytes();
    Story story;
    story.all = static_cast<uint32_t>(block->phases.size());
    story.clocked = index.clocked;
    story.by_thread = block->from_values;
    story.threads = trace.launch.block.count();
    std::vector<StoryPhase> all(story.all);
    uint64_t products = 0;
    for (uint32_t phase = 0; phase < story.all; ++phase) {
        StoryPhase& made = all[phase];
        const PhaseSlab& slab = block->phases[phase];
        made.phase = phase, made.slab = slab.box, made.products = slab.products;
        products += slab.products;
        made.bytes_each_twice = products * 2 * bytes;
        made.waits = waits_of(trace, index, phase);
    }
    for (uint32_t step = 0; step < index.steps; ++step) {
        const uint64_t at = index.first + step;
        const StepKind kind = kind_of(trace, at);
        const uint32_t phase = index.phase_at(step);
        StoryPhase& made = all[std::min(phase, story.all - 1)];
        if (phase < story.all) made.last_step = step;
        if (kind == StepKind::SignalWait) ++made.mbarrier_waits;
        if (kind != StepKind::GlobalLoad && kind != StepKind::SharedStore) continue;
        const uint64_t elements = elements_of(trace, at);
        if (kind == StepKind::SharedStore) made.filled += elements;
        if (kind == StepKind::GlobalLoad) made.bytes += elements * bytes, made.lane_loads += elements;
    }
    // What a phase loads, though it be for a later one.
    for (const CubeLoad& load : block->loads) {
        std::vector<CellRect>& tile =
            all[std::min(index.phase_at(load.step), story.all - 1)].tile[static_cast<size_t>(load.matrix)];
        tile.insert(tile.end(), load.cells.begin(), load.cells.end());
    }
    std::array<std::vector<CellRect>, 2> before;
    for (StoryPhase& made : all) {
        made.before = before;
        for (size_t matrix = 0; matrix < 2; ++matrix) {
            made.tile[matrix] = joined(std::move(made.tile[matrix]));
            for (const CellRect& rect : made.tile[matrix]) {
                made.elements[matrix] += uint64_t{rect.rows()} * rect.cols();
                before[matrix].push_back(rect);
            }
            before[matrix] = joined(std::move(before[matrix]));
        }
    }
    for (uint32_t phase = 1; phase < story.all; ++phase) all[phase].bytes += all[phase - 1].bytes;
    most = std::max(most, 2u);
    story.left_out = story.all > most ? story.all - most : 0;
    for (uint32_t phase = 0; phase < story.all; ++phase)
        if (story.left_out == 0 || phase + 1 < most || phase + 1 == story.all)
            story.phases.push_back(all[phase]);
    const trace::Block& at = trace.blocks[index.block];
    const auto name = [&](uint8_t array) { return name_in(index.notation, trace.launch.arrays[array]); };
    story.title = fmt::format("{} = {} · {} in {}: {} of {} × {} × {}{}", name(shape.arrays[2]),
                              name(shape.arrays[0]), name(shape.arrays[1]), counted(story.all, "phase"),
                              block_name(trace.launch.grid, {at.x, at.y, at.z}, index.notation), shape.m,
                              shape.k, shape.n, shape.tile > 0 ? fmt::format(", T = {}", shape.tile) : "");
    story.source = fmt::format("A column is a phase, a row is what happens in it. {}, recorded on {}.",
                               analysis::title_of(recording), trace.meta.device);
    return story;
}

}  // namespace tilescope::look
