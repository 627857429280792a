#include "app/step/tiles_view.h"

#include <algorithm>
#include <bit>

#include "app/draw/sheet.h"

namespace tilescope::step {

SharedView shared_view(const trace::Trace& trace, const BlockIndex& index,
                       const playback::BlockReplay* replay, uint8_t array, uint32_t step) {
    SharedView view;
    const Array& shape = trace.launch.arrays[array];
    view.array = array;
    const draw::Sheet sheet(shape);
    view.rows = sheet.rows;
    view.cols = sheet.cols;
    view.cells.resize(size_t{sheet.rows} * sheet.cols);
    const auto place_of = [&](uint64_t element) {
        const draw::CellRect at = sheet.cell(element);
        return size_t{at.row0} * sheet.cols + at.col0;
    };
    if (step >= index.steps) return view;
    view.kind = look::kind_of(trace, index.first + step);
    const uint32_t phase = index.phase_at(step);
    if (replay != nullptr) {
        for (uint64_t at = 0; at < shape.elements(); ++at) {
            SharedCellView& cell = view.cells[place_of(at)];
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
            cell.stale = index.product && phase != analysis::kAfter && index.phase_at(state.step) != phase;
        }
    }
    const trace::Access access = trace::decode(trace, index.first + step);
    if (access.array != array || view.kind == StepKind::Barrier) return view;
    for_lanes(access.mask, [&](uint32_t lane) {
        const uint64_t cell = access.offset[lane] / shape.element_bytes();
        if (cell < shape.elements()) view.cells[place_of(cell)].lanes |= 1u << lane;
    });
    return view;
}

ThreadsView threads_view(const trace::Trace& trace, const BlockIndex& index, uint32_t step) {
    ThreadsView view;
    const Dim3& block = trace.launch.block;
    view.cols = block.x;
    view.rows = block.y * block.z;
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
        if (to.warp == view.warp && step < index.steps)
            to.state = (access.mask >> to.lane & 1) != 0 ? ThreadState::Active : ThreadState::Idle;
    }
    return view;
}

}  // namespace tilescope::step
