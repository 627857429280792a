// The panels of the Levels screen. Where a sector was found has a colour everywhere on it, nearer is darker,
// and its name beside it.
#pragma once

#include "app/input/screen.h"
#include "app/levels/state.h"

namespace tilescope::levels {

using draw::Align, draw::Face, draw::Ink, draw::Rect, draw::Rgba, draw::Size;
using Ui = input::Ui<State>;

Rgba color_of(const Ui& ui, FoundIn in);
// What the four colours are, on one line; returns its width.
float found_key(Ui& ui, ImVec2 at, float width);

// Pipes from what threads ask for to what DRAM gives, and what each level serves of it.
void machine_panel(Ui& ui, const Rect& rect, const LoadChain& chain);
// Sums by site, array or phase: a bar a row, split by where sectors were found.
void shares_panel(Ui& ui, const Rect& rect);
// Where the step is in its block; pressed and dragged on, it goes there.
void where_strip(Ui& ui, const Rect& rect);
// The step's request, or the last one before it that loads: its lines, each sector in the colour of where it was
// found.
void request_panel(Ui& ui, const Rect& rect);
// Sets and lines of the SM's L1, and who is evicted.
void map_panel(Ui& ui, const Rect& rect);

}  // namespace tilescope::levels
