#include "app/look/shared_cells.h"

#include "app/draw/sheet.h"

namespace tilescope::look {

Origin origin_of(const BlockIndex& index, const playback::CellState& held, uint32_t step) {
    if (!held.written) return Origin::Nothing;
    const uint32_t phase = index.phase_at(step);
    // A copy is asked for ahead of the phase that it is for.
    const bool copied = held.since != held.step;
    if (index.product && phase != analysis::kAfter && !copied && index.phase_at(held.step) != phase)
        return Origin::Stale;
    if (held.source.array != trace::kNoArray) return Origin::Element;
    return number_of(held.value) == 0 ? Origin::ZeroFill : Origin::Computed;
}

SharedView shared_view(const trace::Trace& trace, const BlockIndex& index,
                       const playback::BlockReplay* replay, uint8_t array, uint32_t step,
                       const CellRect& sight) {
    SharedView view;
    const draw::Sheet sheet(trace.launch.arrays[array]);
    for (uint32_t row = sight.row0; row < sight.row1; ++row)
        for (uint32_t col = sight.col0; col < sight.col1; ++col)
            view.cells.push_back({.place = {row, row + 1, col, col + 1}});
    if (step >= index.steps) return view;
    view.kind = kind_of(trace, index.first + step);
    for (SharedCellView& cell : view.cells) {
        const auto element = sheet.element(cell.place.row0, cell.place.col0);
        if (replay == nullptr || !element) continue;
        cell.held = replay->cell(array, *element, step);
        if (!cell.held.written || !index.product) continue;
        cell.zero_fill = cell.held.source.array == trace::kNoArray && number_of(cell.held.value) == 0;
        cell.stale = origin_of(index, cell.held, step) == Origin::Stale;
    }
    const trace::Access access = trace::decode(trace, index.first + step);
    if (access.array != array) return view;
    for_elements(trace, index.first + step, access, [&](uint32_t lane, uint64_t element) {
        const CellRect at = sheet.cell(element);
        if (!sight.contains(at.row0, at.col0)) return;
        const size_t cell = size_t{at.row0 - sight.row0} * sight.cols() + at.col0 - sight.col0;
        view.cells[cell].lanes |= 1u << lane;
    });
    return view;
}

}  // namespace tilescope::look
