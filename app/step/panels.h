// The panels of the Step screen: each draws itself into a rectangle of framebuffer pixels.
#pragma once

#include "app/input/ui.h"
#include "app/look/pick.h"
#include "app/step/state.h"

namespace tilescope::step {

using draw::Align;
using draw::Face;
using draw::Ink;
using draw::Rect;
using draw::Rgba;
using draw::Size;
using look::CellRect;
using look::Pick;
using look::StepKind;
using Ui = input::Ui<State>;

// Of an array of the recording that is open.
inline uint64_t grid_id(const Ui& ui, draw::GridUse use, uint32_t array = 0) {
    return draw::grid_id(ui.session.recording->serial, use, array);
}

extern const input::Screen<State> kScreen;  // screen.cpp

void caption_bar(Ui& ui, const Rect& rect);
void source_panel(Ui& ui, const Rect& rect);
// Where the pinned element or shared cell came from; stands in the source's place while there is one
// (step::has_provenance).
void provenance_panel(Ui& ui, const Rect& rect);
// M, N and P, the map of them all in the corner; of a launch that is no product its arrays. selected: what
// the selection lights up.
void matrices_panel(Ui& ui, const Rect& rect, const look::Relations& selected);
// Inputs left and outputs right, or one above the other; the legend below.
void arrays_panel(Ui& ui, const Rect& rect, const look::Relations& selected);
// One array in a viewport, whose upper left corner shows a cell of its sheet; pitch: framebuffer pixels a
// cell.
struct Port {
    Rect box;
    double row = 0, col = 0;
};
void array_grid(Ui& ui, uint8_t array, const Port& port, float pitch, const look::Relations& selected);
// Mds and Nds, side by side or one above the other as the rectangle asks; with_threads: and the
// threads of the block, which otherwise have a panel of their own.
void tiles_panel(Ui& ui, const Rect& rect, const look::Relations& selected, bool with_threads);
void threads_panel(Ui& ui, const Rect& rect, const look::Relations& selected);
void request_panel(Ui& ui, const Rect& rect, const look::Relations& selected);
void timeline_panel(Ui& ui, const Rect& rect);
void sums_panel(Ui& ui, const Rect& rect);
float sums_height(Ui& ui);  // that shows all of it

// Elements on their way, for a fifth of a second after a step. Needs the places of this frame.
void motion(Ui& ui);

void lecture_step(Ui& ui, const Rect& area);  // the screen in lecture mode, of a recording

// The whole of M, N and P as a small map beside the legend: where the screen looks, which tiles this phase
// uses, and how often each element of M and N was loaded by all recorded blocks.
struct MapView {
    struct Window {
        double row = 0, col = 0, rows = 0, cols = 0;  // cells in sight
    };
    Window m, n, p;
};

// A matrix of more elements has no texture of its own: large_cells draws plain ground, and on it the part
// that the recorded blocks loaded. ids: two numbers of grids that nothing else has.
bool large_array(uint32_t rows, uint32_t cols);
void large_cells(Ui& ui, uint64_t ground_id, uint64_t part_id, uint8_t array, const draw::GridView& grid,
                 bool heat);

void matrix_map(Ui& ui, const Rect& rect, const MapView& looks);

// What stands for what, in lines as wide as the rectangle. Returns the height that it takes.
float legend_lines(Ui& ui, const Rect& rect, bool drawn);

}  // namespace tilescope::step
