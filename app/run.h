// The ways to look at a state: a window, the pictures that it saves, and pictures and films made without a
// display, all of them of the same frames.
//
//   platform::Backend    collects Input, has a GL context
//     -> Frame::build    ImGui frame around draw_frame(): pure CPU
//     -> Frame::render   OpenGL, into whatever framebuffer is bound
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "app/app.h"
#include "app/platform/process.h"
#include "core/base/result.h"

namespace tilescope::app {

// One frame.
class Frame {
public:
    // Needs a current OpenGL 3.3 core context, and keeps an ImGui context of its own.
    static Result<std::unique_ptr<Frame>> create();
    ~Frame();
    Frame(const Frame&) = delete;
    Frame& operator=(const Frame&) = delete;

    // still: time stands at 0, so that the same state makes the same picture.
    struct Outcome {
        bool another_frame = false, soon = false, quit = false;
        double build_ms = 0;
    };
    Outcome build(State& state, const platform::Input& input, const Canvas& canvas, bool still);
    void render();  // viewport, clear, draw; the caller shows it
    // The state as an SVG picture (draw/svg.h): a still frame of its own, in place of what build() made.
    std::string svg(State& state, const Canvas& canvas);
    void inspect(draw::Inspection* into) {
        inspection_ = into;
    }  // what each frame from now on writes; null for nothing
    const std::string& notice() const {
        return fonts_.notice();
    }  // fonts missing, say; one sentence or empty

private:
    Frame() = default;
    void dress(const draw::Palette& palette, float scale);

    ImGuiContext* imgui_ = nullptr;
    bool renderer_ = false;  // ImGui's OpenGL side is up
    platform::ImguiFeed feed_;
    draw::Fonts fonts_;
    std::unique_ptr<draw::GridRenderer> grids_;
    const draw::Palette* styled_ = nullptr;
    std::vector<draw::Surface> surfaces_;
    bool clears_surfaces_ = true;  // else panels draw them
    Canvas canvas_;
    double time_ = 0;
    draw::Inspection* inspection_ = nullptr;
};

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

// The current view as a PNG or an SVG, as an action or the path box asked for it (Session::pictures). After
// Frame::render and before the window shows it, so that the PNG is what is seen. A request for ".png" alone
// gets a name of its own, in $XDG_PICTURES_DIR or, without it, the current folder; nothing that is there is
// written over by that. The message says where the picture is, or why there is none.
void save_pictures(State& state, Frame& frame, const platform::Backend& shown);

// "tiled-64x64x64-t16-step12.png": the recording and the step, from 1, without what a file's name cannot
// hold. number: from 2 on, "-2" before the ending.
std::string picture_name(const trace::Trace& trace, const playback::Cursor& cursor, std::string_view ending,
                         int number = 1);

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
