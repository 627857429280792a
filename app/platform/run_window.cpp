// The window's loop: wait for something to happen, build a frame, show it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/app.h"
#include "app/frame.h"
#include "app/platform/save_picture.h"
#include "app/platform/settings_file.h"
#include "app/platform/window.h"
#include "app/requests.h"
#include "app/view/settings.h"

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

// What is remembered between starts: taken up as the window opens, written a moment after it changed, so that
// a program that is killed loses little.
struct Memory {
    platform::SettingsFiles files = platform::settings_files();
    view::Remembered now, written;
    std::optional<Clock::time_point> changed;
    static constexpr double kCalmMs = 1000;

    Memory(State& state, const WindowOptions& options) {
        platform::Loaded loaded = platform::load_settings(files);
        now = std::move(loaded.remembered);
        if (now.window == view::Placement{})
            now.window.width = options.width, now.window.height = options.height;
        written = now;
        const Theme asked = state.theme;
        view::apply(now, state);
        if (options.keep_theme) state.theme = asked;
        remember_file(state);
        if (!loaded.notice.empty()) state.message = loaded.notice;
    }

    void look(const State& state, const platform::Window& window) {
        view::Remembered seen = now;
        view::collect(state, seen);
        window.logical_size(seen.window.width, seen.window.height);
        if (const auto place = window.place()) {
            seen.window.placed = true;
            seen.window.x = place->x, seen.window.y = place->y;
        }
        if (seen != now) {
            now = std::move(seen);
            changed = Clock::now();
        } else if (changed && ms_since(*changed) > kCalmMs) {
            keep();
        }
    }

    void keep() {
        changed.reset();
        if (now == written) return;
        written = now;
        // A folder that cannot be written is no reason to interrupt anyone.
        if (auto good = platform::save_settings(files, now); !good && std::getenv("TILESCOPE_TIMING"))
            fmt::print(stderr, "{}\n", good.error().message);
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
    Memory memory(state, options);
    const view::Placement& at = memory.now.window;
    auto window = platform::Window::create(
        at.width, at.height, window_title(state),
        at.placed ? std::optional(platform::Window::Place{at.x, at.y}) : std::nullopt);
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
        save_pictures(state, **frame, canvas);
        (*window)->show();
        (*window)->set_title(window_title(state));
        timing.frame(outcome.build_ms);
        memory.look(state, **window);
        if (outcome.quit) break;
        moving = outcome.another_frame;
        soon = outcome.soon;
        due = std::max(0, due - 1);
    }
    memory.keep();
    return {};
}

}  // namespace tilescope::app
