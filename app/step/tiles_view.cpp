#include "app/step/tiles_view.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

namespace tilescope::step {

SharedView shared_view(const trace::Trace& trace, const BlockIndex& index,
                       const playback::BlockReplay* replay, uint8_t array, uint32_t step) {
    SharedView view;
    const Array& shape = trace.launch.arrays[array];
    view.array = array;
    view.title = fmt::format("{}  {} \u00d7 {}", shape.name, shape.rows, shape.cols);
    view.rows = shape.rows;
    view.cols = shape.cols;
    view.cells.resize(shape.elements());
    if (step >= index.steps) return view;
    view.kind = look::kind_of(trace, index.first + step);
    const uint32_t phase = index.phase_at(step);
    if (replay != nullptr) {
        for (size_t at = 0; at < view.cells.size(); ++at) {
            SharedCellView& cell = view.cells[at];
            const playback::CellState state = replay->cell(array, at, step);
            cell.written = state.written;
            if (!state.written) continue;
            cell.value = short_value(state.value);
            cell.reads = state.reads;
            if (state.source.array != trace::kNoArray) {
                cell.source = element_name(trace.launch.arrays[state.source.array], state.source.index);
            } else {
                cell.zero_fill = number_of(state.value) == 0;
                cell.source = cell.zero_fill ? "zero" : "computed";
            }
            cell.stale = phase != analysis::kAfter && index.phase_at(state.step) != phase;
        }
    }
    const trace::Access access = trace::decode(trace, index.first + step);
    if (access.array != array || view.kind == StepKind::Barrier) return view;
    for_lanes(access.mask, [&](uint32_t lane) {
        const uint64_t cell = access.offset[lane] / shape.element_bytes();
        if (cell < view.cells.size()) view.cells[cell].lanes |= 1u << lane;
    });
    return view;
}

ThreadsView threads_view(const trace::Trace& trace, const BlockIndex& index, uint32_t step) {
    ThreadsView view;
    const Dim3& block = trace.launch.block;
    view.cols = block.x;
    view.rows = block.y * block.z;
    view.title = fmt::format("threads  {} \u00d7 {}, {}", block.x, view.rows, counted(index.warps, "warp"));
    view.threads.resize(block.count());
    trace::Access access;
    if (step < index.steps) {
        access = trace::decode(trace, index.first + step);
        view.warp = access.warp;
        view.kind = look::kind_of(trace, index.first + step);
    }
    for (uint32_t thread = 0; thread < view.threads.size(); ++thread) {
        ThreadView& to = view.threads[thread];
        to.warp = thread / kWarpSize;
        to.lane = thread % kWarpSize;
        to.has_output = thread < index.output.size() && index.output[thread].array != trace::kNoArray;
        if (to.warp == view.warp && step < index.steps) {
            to.state = (access.mask >> to.lane & 1) != 0 ? ThreadState::Active : ThreadState::Idle;
        }
    }
    return view;
}

}  // namespace tilescope::step
