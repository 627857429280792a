#include "app/draw/sheet.h"

namespace tilescope::draw {

std::vector<Cell> sheet_cells(const Array& array, const std::vector<uint32_t>& loads, uint32_t most) {
    std::vector<Cell> by_element(array.elements(), cell(Ink::Cell));
    most > 0 ? heat_cells(by_element, loads, most) : heat_cells(by_element, loads);
    const Sheet sheet(array);
    std::vector<Cell> cells(size_t{sheet.rows} * sheet.cols, cell(Ink::Panel));
    if (cells.size() == by_element.size()) return by_element;  // in the same order
    for (uint64_t element = 0; element < by_element.size(); ++element) {
        const CellRect at = sheet.cell(element);
        cells[size_t{at.row0} * sheet.cols + at.col0] = by_element[element];
    }
    return cells;
}

}  // namespace tilescope::draw
