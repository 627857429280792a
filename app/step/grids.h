// An array of the Step screen as a grid of cells (array_grid.cpp): what it holds, what the step and the phase
// do to it, the selection; rulers at its edges; and the small map of all of it (overview.cpp).
#pragma once

#include "app/step/panels.h"

namespace tilescope::step {

// A viewport, whose upper left corner shows a cell of an array's sheet.
struct Port {
    Rect box;
    double row = 0, col = 0;
};

// Which edges of a grid have a ruler: the numbers of its rows on the left, of its columns above.
struct Rulers {
    bool rows = true, cols = true;
};
float ruler_height(Ui& ui);
// Room for the largest row number of an array.
float ruler_width(Ui& ui, uint32_t rows);
// Numbers of rows and columns beside the cells in sight: every one, 4th, 8th, 16th, ... as they have room. None
// where the cells are large enough to say it themselves. first: what the first row of the sheet is called.
void rulers(Ui& ui, const draw::GridView& grid, uint32_t rows, uint32_t cols, Rulers sides = {},
            uint32_t first_row = 0);

// The cells of an array alone, with marks on them: plain, or coloured by how often each was loaded where they
// are small. map: the small map's, which have a texture of their own.
void array_cells(Ui& ui, uint8_t array, const draw::GridView& grid, bool map,
                 const std::vector<draw::GridMark>& marks);
// An array in a viewport with all that is to be seen of it. pitch: framebuffer pixels a cell.
draw::GridView array_grid(Ui& ui, uint8_t array, const Port& port, float pitch);
// Its name, extents and what else is to say, on a line of their own.
void array_title(Ui& ui, uint8_t array, ImVec2 corner, float width, const char* also);

// An array as a small map with its tile of this phase, and where the screen looks.
void one_map(Ui& ui, uint8_t array, ImVec2 corner, float pitch, const Port& port, float port_pitch);
// The map and the legend, as far as both have room; the legend gives way first.
void overview(Ui& ui, const Rect& rect, const Port& m, const Port& n, const Port& p, float port_pitch);

// The wheel zooms about the mouse, the right or middle button drags; row, col: of the view, where the box
// begins. Returns the rows and columns that were dragged by.
ImVec2 navigate(Ui& ui, const Rect& box, ArrayView& view, double& row, double& col);

// M, N and P, the overview in the free corner.
void product_panel(Ui& ui, const Rect& in);
// Framebuffer pixels a cell at which a product's tiles fit into a rectangle of that size.
float product_pitch(Ui& ui, float width, float height);

}  // namespace tilescope::step
