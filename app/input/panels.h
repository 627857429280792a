// What lies over the screens, drawn: each where its part of the State says that it is open; and the row of
// buttons that walk through a recording.
#pragma once

#include <span>

#include "app/input/state.h"
#include "app/input/ui.h"

namespace tilescope::input {

// offers: all that can be done.
void keys_overlay(Ui<State>& ui, const draw::Rect& screen, std::span<const Offer> offers);
void command_palette(Ui<State>& ui, const draw::Rect& screen, std::span<const Offer> offers);
void path_box(Ui<State>& ui, const draw::Rect& screen);
// top: below the bar, framebuffer pixels.
void record_form(Ui<State>& ui, const draw::Rect& screen, float top);

// Not over the screens but on them: those that walk through a recording have it at their foot.
void transport(SessionUi& ui, const draw::Rect& rect);

// A window of blocks picked out of a launch (block_window.cpp), x by y blocks large. The overview of its grid
// in the form: a drag picks a window, arrow keys move it, Shift and an arrow key makes it larger or smaller.
// Inside an ImGui window; writes form.window.
void block_picker(draw::Ui& ui, RecordForm& form);
// Cut to a grid; at least one block where the grid has one.
BlockWindow clipped(BlockWindow window, uint32_t x, uint32_t y);
uint64_t blocks_of(const BlockWindow& window, uint32_t x, uint32_t y);
// "x 3:7, y 0:4", half open as `tilescope record --blocks` takes it.
std::string window_text(const BlockWindow& window);
// The window between two points of an overview that is width x height large; in any order, whole blocks.
BlockWindow dragged(double x0, double y0, double x1, double y1, double width, double height, uint32_t grid_x,
                    uint32_t grid_y);
// Moves by whole blocks and stays inside the grid.
BlockWindow moved(BlockWindow window, int dx, int dy, uint32_t grid_x, uint32_t grid_y);
// Requests and barriers of one whole block, taken from two small recordings of the kernel's block made on the
// spot. An estimate: blocks at a ragged edge take fewer.
Result<BlockSteps> block_steps(const std::string& kernel, uint32_t tile);

}  // namespace tilescope::input
