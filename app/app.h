// The two ways to look at a state: a window, and a picture made without a display.
#pragma once

#include <string>
#include <vector>

#include "app/state.h"
#include "core/base/result.h"

namespace tilescope::app {

struct WindowOptions {
    int width = 1600, height = 1000;  // logical pixels
};

struct RenderOptions {
    int width = 1600, height = 1000;  // pixels
    float scale = 1;                  // of type, lines and spacing
    std::string path;                 // OUT.png
};

// Runs until the window is closed. Fails, in one sentence, where there is no display or no OpenGL 3.3.
Result<void> run_window(State state, const WindowOptions& options);

// True where a window could be opened at all: DISPLAY or WAYLAND_DISPLAY is set.
bool has_display();

// Draws one frame of the state through EGL and writes it as a PNG, whole or not at all.
Result<void> render_png(State state, const RenderOptions& options);

}  // namespace tilescope::app
