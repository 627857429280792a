// The whole of M, N and P as a small map beside the legend: where the screen looks, which tiles this
// phase uses, and how often each element of M and N was loaded by all recorded blocks.
#pragma once

#include "app/panels/ui.h"

namespace tilescope::panels {

struct MapView {
    struct Window {
        double row = 0, col = 0, rows = 0, cols = 0;  // cells in sight
    };
    Window m, n, p;
};

// Colours cells by how often their element was loaded, the most often loaded one hottest. Where all
// are loaded alike the colour would say nothing: the cells stay plain.
void heat_cells(std::vector<draw::Cell>& cells, const std::vector<uint32_t>& loads);
// On a scale up to `most`, whether all are loaded alike or not; elements never loaded stay plain.
void heat_cells(std::vector<draw::Cell>& cells, const std::vector<uint32_t>& loads, uint32_t most);

// A matrix of more elements has no texture of its own: large_cells draws plain ground, and on it the part
// that the recorded blocks loaded. ids: two numbers of grids that nothing else has.
bool large_array(uint32_t rows, uint32_t cols);
void large_cells(Ui& ui, uint32_t ground_id, uint32_t part_id, uint8_t array, const draw::GridView& grid,
                 bool heat);

void matrix_map(Ui& ui, const Rect& rect, const MapView& looks);

}  // namespace tilescope::panels
