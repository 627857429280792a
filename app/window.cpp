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

// TILESCOPE_TIMING=1 prints to standard error what the first frame, a recording's first and later ones took.
struct FrameTimes {
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
    ~FrameTimes() {
        if (on && frames > 1)
            fmt::print(stderr, "{} frames, built in {:.2f} ms on average, {:.2f} ms at most\n", frames,
                       sum_ms / static_cast<double>(frames - 1), most_ms);
    }
};

// What is remembered between starts: taken up as the window opens, written a moment after it changed, so that
// a program that is killed loses little.
struct KeptSettings {
    session::SettingsFiles files = session::settings_files();
    session::Remembered now, written;
    Clock::time_point changed;
    static constexpr double kCalmMs = 1000;

    KeptSettings(State& state, bool keep_theme) {
        session::Loaded loaded = session::load_settings(files);
        written = now = std::move(loaded.remembered);
        const draw::Theme asked = state.session.theme;
        static_cast<session::Choices&>(state.session) = now.choices;
        static_cast<session::Recent&>(state.session) = now.recent;
        state.lessons.walked = now.walked;
        state.lessons.done = now.done;
        if (keep_theme) state.session.theme = asked;
        if (state.session.recording) session::remember_file(state.session, state.session.recording->origin);
        if (state.session.program) session::remember_file(state.session, state.session.program->order.path);
        if (!loaded.notice.empty()) state.session.message = loaded.notice;
    }

    void look(const State& state, const platform::Backend& window) {
        session::Remembered seen = now;
        seen.choices = state.session;
        seen.recent = state.session;
        seen.walked = state.lessons.walked;
        seen.done = state.lessons.done;
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

    ~KeptSettings() { keep(); }

    void keep() {
        if (now == written) return;
        written = now;
        // A folder that cannot be written is no reason to interrupt anyone.
        if (auto good = session::save_settings(files, now); !good && std::getenv("TILESCOPE_TIMING"))
            fmt::print(stderr, "{}\n", good.error().message);
    }
};

// The window and what is shown in it; frame() is one turn of its loop, whoever calls it.
class App {
public:
    App(State state, bool keep_theme) : state_(std::move(state)), memory_(state_, keep_theme) {}

    Result<void> open() {
        const session::Placement& at = memory_.now.window;
        auto window = platform::open_window(
            at.width, at.height, window_title(state_),
            at.placed ? std::optional(platform::WindowPlace{at.x, at.y}) : std::nullopt);
        if (!window) return window.error();
        window_ = std::move(*window);
        auto frame = Frame::create();
        if (!frame) return frame.error();
        frame_ = std::move(*frame);
        window_->offer_clipboard();
        return {};
    }

    // Waits for something to happen, builds a frame, shows it. False once the window is to be closed.
    bool frame() {
        // Seconds to wait for an event; work beside the window keeps the cores that drawing would take.
        constexpr double kIdle = 0.5, kSoon = 0.03;
        const bool at_once = outcome_.another_frame || due_ > 0;
        const platform::Input input = window_->collect(at_once ? 0 : outcome_.soon ? kSoon : kIdle);
        if (input.eventful) due_ = kSettling;
        const Canvas canvas = window_->canvas();
        if (canvas.width <= 0 || canvas.height <= 0) {  // minimised
            outcome_.another_frame = false, due_ = 0;
            return !window_->asked_to_close();
        }
        outcome_ = frame_->build(state_, input, canvas, false, false);
        std::string& message = state_.session.message;
        if (timing_.frames == 0 && message.empty()) message = frame_->notice();
        frame_->render();
        save_pictures(state_, *frame_, *window_);
        window_->show();
        window_->set_title(window_title(state_));
        timing_.frame(outcome_.build_ms, state_.session.block != nullptr);
        memory_.look(state_, *window_);
        due_ = std::max(0, due_ - 1);
        return !state_.quits && !window_->asked_to_close();
    }

private:
    // ImGui needs a frame or two after an event until hovering and layout have settled.
    static constexpr int kSettling = 3;

    State state_;
    KeptSettings memory_;
    FrameTimes timing_;
    std::unique_ptr<platform::Backend> window_;
    std::unique_ptr<Frame> frame_;  // goes before its context
    Frame::BuiltFrame outcome_{.another_frame = true};
    int due_ = kSettling;  // frames to draw though nothing happens
};

}  // namespace

Result<void> run_window(State state, bool keep_theme) {
    App app(std::move(state), keep_theme);
    if (auto opened = app.open(); !opened) return opened.error();
    while (app.frame()) {
    }
    return {};
}

}  // namespace tilescope::app
