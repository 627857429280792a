#include "app/look/loads_window.h"

#include <algorithm>
#include <bit>

#include "app/draw/sheet.h"

namespace tilescope::look {
namespace {

// visit(row, col) for every element that a lane loaded.
template <class Visit>
void each_load(const trace::Trace& trace, uint8_t array, Visit visit) {
    const Array& shape = trace.launch.arrays[array];
    const uint64_t width = std::max(shape.element_bytes(), 1u);
    const draw::Sheet sheet(shape);
    std::vector<bool> loads(trace.forms.size());
    for (size_t i = 0; i < loads.size(); ++i)
        loads[i] =
            trace.forms[i].array == array && trace.sites[trace.forms[i].site].kind == ptx::SiteKind::Load;
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        if (!loads[trace.key[step] & 0xFFFFFF]) continue;
        const trace::Access access = trace::decode(trace, step);
        const uint64_t bytes = std::max(trace.sites[access.site].bytes, 1u);
        for (uint32_t mask = access.mask; mask != 0; mask &= mask - 1) {
            const uint64_t offset = access.offset[std::countr_zero(mask)];
            for (uint64_t at = offset / width; at <= (offset + bytes - 1) / width; ++at)
                if (at < shape.elements()) {
                    const draw::CellRect cell = sheet.cell(at);
                    visit(cell.row0, cell.col0);
                }
        }
    }
}

}  // namespace

LoadsWindow loads_window(const trace::Trace& trace, uint8_t array, uint64_t most) {
    LoadsWindow window;
    draw::CellRect box{UINT32_MAX, 0, UINT32_MAX, 0};
    each_load(trace, array, [&](uint32_t row, uint32_t col) {
        box.row0 = std::min(box.row0, row);
        box.row1 = std::max(box.row1, row + 1);
        box.col0 = std::min(box.col0, col);
        box.col1 = std::max(box.col1, col + 1);
    });
    if (box.empty()) return window;
    window.box = box;
    if (uint64_t{box.rows()} * box.cols() > most) return window;
    window.loads.resize(size_t{box.rows()} * box.cols());
    each_load(trace, array, [&](uint32_t row, uint32_t col) {
        uint32_t& count = window.loads[size_t{row - box.row0} * box.cols() + (col - box.col0)];
        window.most = std::max(window.most, ++count);
    });
    return window;
}

}  // namespace tilescope::look
