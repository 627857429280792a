// The screens, as a table: what the tabs, the keys 1 to 5 and `render --screen` choose from.
#pragma once

#include <span>
#include <string_view>

#include "app/panels/ui.h"

namespace tilescope::app {

struct ScreenInfo {
    Screen screen;
    const char* name;    // "Step", as its tab says
    const char* option;  // "step", as --screen says
    const char* about;   // a few words, for the tab's hint
    // Draws below the top bar.
    void (*draw)(panels::Ui& ui, const panels::Rect& area);
};

std::span<const ScreenInfo> screens();
const ScreenInfo& screen_of(const State& state);
const ScreenInfo* find_screen(std::string_view option);  // null for none of that name

void step_screen(panels::Ui& ui, const panels::Rect& area);
void compare_screen(panels::Ui& ui, const panels::Rect& area);
void lecture_step(panels::Ui& ui, const panels::Rect& area);  // the same in lecture mode, of a recording
void lessons_screen(panels::Ui& ui, const panels::Rect& area);
void limits_screen(panels::Ui& ui, const panels::Rect& area);
void timing_screen(panels::Ui& ui, const panels::Rect& area);

}  // namespace tilescope::app
