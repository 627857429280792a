// The ways to look at a state: a window, and pictures and films made without a display.
#pragma once

#include <atomic>
#include <string>

#include "app/app.h"
#include "app/platform/ffmpeg.h"
#include "core/base/result.h"

namespace tilescope::app {

struct WindowOptions {
    int width = 1600, height = 1000;  // logical pixels, where nothing else is remembered
    bool keep_theme = false;          // the state's theme was asked for: what is remembered does not count
};

struct RenderOptions {
    int width = 1600, height = 1000;  // pixels
    float scale = 1;                  // of type, lines and spacing
    std::string path;                 // OUT.png
};

// Runs until the window is closed. Size, place, theme, type and the like are as they were left
// (session/settings.h). Fails, in one sentence, where there is no display or no OpenGL 3.3.
Result<void> run_window(State state, const WindowOptions& options);

// True where a window could be opened at all: DISPLAY or WAYLAND_DISPLAY is set.
bool has_display();

// Draws one frame of the state through EGL and writes it as a PNG, whole or not at all.
Result<void> render_png(State state, const RenderOptions& options);

// The same frame as an SVG picture: its text.
Result<std::string> render_svg(State state, const RenderOptions& options);

// Steps [first, end) of the recording, a frame each, as a GIF or an MP4 (H.264); needs the program ffmpeg.
struct FilmOptions : platform::Film {
    uint64_t first = 0, end = 0;
    const std::atomic<bool>* stop = nullptr;  // ends it early: the file is then of no use
    std::atomic<uint64_t>* done = nullptr;    // frames
};
Result<void> render_film(State state, const FilmOptions& options);

}  // namespace tilescope::app
