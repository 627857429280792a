// The window's loop: wait for something to happen, build a frame, show it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "app/app.h"
#include "app/frame.h"
#include "app/platform/window.h"

namespace tilescope::app {

namespace {

using Clock = std::chrono::steady_clock;
const Clock::time_point kStart = Clock::now();  // as the program starts, before main

double ms_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// TILESCOPE_TIMING=1 prints to standard error how long the first frame and all later ones took.
struct Timing {
    bool on = std::getenv("TILESCOPE_TIMING") != nullptr;
    uint64_t frames = 0;
    double sum_ms = 0, most_ms = 0;

    void frame(double build_ms) {
        if (frames++ == 0) {
            if (on) fmt::print(stderr, "first frame {:.0f} ms after start\n", ms_since(kStart));
            return;  // building the type is the first frame's alone
        }
        sum_ms += build_ms;
        most_ms = std::max(most_ms, build_ms);
    }
    ~Timing() {
        if (on && frames > 1)
            fmt::print(stderr, "{} frames, built in {:.2f} ms on average, {:.2f} ms at most\n", frames,
                       sum_ms / static_cast<double>(frames - 1), most_ms);
    }
};

}  // namespace

bool has_display() {
    auto set = [](const char* name) {
        const char* value = std::getenv(name);
        return value && *value;
    };
    return set("DISPLAY") || set("WAYLAND_DISPLAY");
}

Result<void> run_window(State state, const WindowOptions& options) {
    auto window = platform::Window::create(options.width, options.height, window_title(state));
    if (!window) return window.error();
    auto frame = Frame::create();
    if (!frame) return frame.error();
    (*window)->offer_clipboard();
    Timing timing;
    // ImGui needs a frame or two after an event until hovering and layout have settled.
    constexpr int kSettling = 3;
    int due = kSettling;
    // Seconds to wait for an event; work beside the window keeps the cores that drawing would take.
    constexpr double kIdle = 0.5, kSoon = 0.03;
    bool soon = false;
    for (bool moving = true; !(*window)->asked_to_close();) {
        platform::Input input = (*window)->collect(moving || due > 0 ? 0 : soon ? kSoon : kIdle);
        if ((*window)->eventful()) due = kSettling;
        const Canvas canvas{(*window)->width(), (*window)->height(), (*window)->scale()};
        if (canvas.width <= 0 || canvas.height <= 0) {  // minimised
            moving = false, due = 0;
            continue;
        }
        const Frame::Outcome outcome = (*frame)->build(state, input, canvas, false);
        if (timing.frames == 0 && state.message.empty()) state.message = (*frame)->notice();
        (*frame)->render();
        (*window)->show();
        (*window)->set_title(window_title(state));
        timing.frame(outcome.build_ms);
        if (outcome.quit) break;
        moving = outcome.another_frame;
        soon = outcome.soon;
        due = std::max(0, due - 1);
    }
    return {};
}

}  // namespace tilescope::app
