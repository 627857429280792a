// The window's loop: wait for something to happen, build a frame, show it.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/app.h"
#include "app/session/settings.h"

namespace tilescope::app {

namespace {

using Clock = std::chrono::steady_clock;
const Clock::time_point kStart = Clock::now();  // as the program starts, before main

double ms_since(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

// TILESCOPE_TIMING=1 prints to standard error how long the first frame, the first one of a recording and all
// later ones took.
struct Timing {
    bool on = std::getenv("TILESCOPE_TIMING") != nullptr;
    bool recording = false;  // one was shown
    uint64_t frames = 0;
    double sum_ms = 0, most_ms = 0;

    void frame(double build_ms, bool shows_recording) {
        if (shows_recording && !std::exchange(recording, true) && on)
            fmt::print(stderr, "first recording shown {:.0f} ms after start\n", ms_since(kStart));
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
    session::SettingsFiles files = session::settings_files();
    session::Remembered now, written;
    Clock::time_point changed;
    static constexpr double kCalmMs = 1000;

    Memory(State& state, bool keep_theme) {
        session::Loaded loaded = session::load_settings(files);
        written = now = std::move(loaded.remembered);
        const draw::Theme asked = state.session.theme;
        static_cast<session::Choices&>(state.session) = now.choices;
        static_cast<session::Recent&>(state.session) = now.recent;
        if (keep_theme) state.session.theme = asked;
        if (state.session.recording) session::remember_file(state.session, state.session.recording->origin);
        if (!loaded.notice.empty()) state.session.message = loaded.notice;
    }

    void look(const State& state, const platform::Backend& window) {
        session::Remembered seen = now;
        seen.choices = state.session;
        seen.recent = state.session;
        window.logical_size(seen.window.width, seen.window.height);
        if (const auto place = window.place()) {
            seen.window.placed = true;
            seen.window.x = place->x, seen.window.y = place->y;
        }
        if (seen != now) {
            now = std::move(seen);
            changed = Clock::now();
        } else if (ms_since(changed) > kCalmMs) {
            keep();
        }
    }

    ~Memory() { keep(); }

    void keep() {
        if (now == written) return;
        written = now;
        // A folder that cannot be written is no reason to interrupt anyone.
        if (auto good = session::save_settings(files, now); !good && std::getenv("TILESCOPE_TIMING"))
            fmt::print(stderr, "{}\n", good.error().message);
    }
};

}  // namespace

Result<void> run_window(State state, bool keep_theme) {
    Memory memory(state, keep_theme);
    const session::Placement& at = memory.now.window;
    const auto place = at.placed ? std::optional(platform::Place{at.x, at.y}) : std::nullopt;
    auto opened = platform::open_window(at.width, at.height, window_title(state), place);
    if (!opened) return opened.error();
    platform::Backend& window = **opened;
    auto made = Frame::create();  // goes before its context
    if (!made) return made.error();
    Frame& frame = **made;
    window.offer_clipboard();

    // ImGui needs a frame or two after an event until hovering and layout have settled.
    constexpr int kSettling = 3;
    int due = kSettling;  // frames to draw though nothing happens
    // Seconds to wait for an event; work beside the window keeps the cores that drawing would take.
    constexpr double kIdle = 0.5, kSoon = 0.03;
    Timing timing;
    Frame::Outcome outcome{.another_frame = true};
    while (!state.session.quit && !window.asked_to_close()) {
        const bool at_once = outcome.another_frame || due > 0;
        const platform::Input input = window.collect(at_once ? 0 : outcome.soon ? kSoon : kIdle);
        if (window.eventful()) due = kSettling;
        const Canvas canvas = window.canvas();
        if (canvas.width <= 0 || canvas.height <= 0) {  // minimised
            outcome.another_frame = false, due = 0;
            continue;
        }
        outcome = frame.build(state, input, canvas, false);
        std::string& message = state.session.message;
        if (timing.frames == 0 && message.empty()) message = frame.notice();
        frame.render();
        save_pictures(state, frame, window);
        window.show();
        window.set_title(window_title(state));
        timing.frame(outcome.build_ms, state.session.block != nullptr);
        memory.look(state, window);
        due = std::max(0, due - 1);
    }
    return {};
}

}  // namespace tilescope::app
