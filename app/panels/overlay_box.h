// A box in the middle of a dimmed screen: the list of keys, the command palette, the path box.
#pragma once

#include "app/panels/ui.h"

namespace tilescope::panels {

// Dims the screen and draws the box; `top` logical pixels below the screen's top, in the middle where
// negative.
Rect overlay_box(Ui& ui, const Rect& screen, float width, float height, float top = -1);

// A line of text with its caret, framed.
void text_line(Ui& ui, const Rect& rect, const app::TextField& field, const char* when_empty);

// Rows that fit are drawn, scrolled so that the chosen one is among them; returns the row clicked, or -1.
struct OverlayRow {
    std::string text, right;  // right: its keys, or what kind it is
};
int overlay_rows(Ui& ui, const Rect& rect, const std::vector<OverlayRow>& rows, int chosen);

}  // namespace tilescope::panels
