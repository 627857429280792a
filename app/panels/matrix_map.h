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

void matrix_map(Ui& ui, const Rect& rect, const MapView& looks);

}  // namespace tilescope::panels
