// What lies over the screens, drawn: each where its part of the State says that it is open; and the row of
// buttons that walk through a recording.
#pragma once

#include <span>

#include "app/input/screen.h"
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
void transport(session::Ui& ui, const draw::Rect& rect);

// The overview of a launch's grid in the form: a drag picks a window of blocks, arrow keys move it, Shift and
// an arrow key makes it larger or smaller. Inside an ImGui window; writes order.window.
void block_picker(draw::Ui& ui, session::Order& order);

// Dims the screen and draws the box; `top` logical pixels below the screen's top, in the middle where
// negative.
draw::Rect overlay_box(draw::Ui& ui, const draw::Rect& screen, float width, float height, float top = -1);

// A line of text with its caret, framed.
void text_line(draw::Ui& ui, const draw::Rect& rect, const TextField& field, const char* when_empty);

// Rows that fit are drawn, scrolled so that the chosen one is among them; returns the row clicked, or -1.
struct OverlayRow {
    std::string text, right;  // right: its keys, or what kind it is
};
int overlay_rows(draw::Ui& ui, const draw::Rect& rect, const std::vector<OverlayRow>& rows, int chosen);

}  // namespace tilescope::input
