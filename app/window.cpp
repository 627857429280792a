// The window: a turn takes what happened, builds a frame and shows it. On a desktop a loop waits between turns (run_window);
// in a browser the browser takes them (web/main.cpp).
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/app.h"
#include "app/drawn_exports.h"
#include "app/lessons/asking.h"
#include "app/session/settings.h"
#include "app/spoken.h"
#include "kernels/run/record.h"
#include "kernels/textbook/catalogue.h"

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

    void look(const State& state, platform::Backend& window) {
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
            if (keep() && !state.linked.embed)  // a frame in a page of somebody else changes nobody's choices
                for (const std::string& file : {files.settings, files.state}) window.keep(file);
        }
    }

    ~KeptSettings() { keep(); }

    bool keep() {
        if (now == written) return false;
        written = now;
        // A folder that cannot be written is no reason to interrupt anyone.
        if (auto good = session::save_settings(files, now); !good && std::getenv("TILESCOPE_TIMING"))
            fmt::print(stderr, "{}\n", good.error().message);
        return true;
    }
};

platform::Told told(const State& state) {
    const session::Session& session = state.session;
    platform::Told told{0, "", spoken(state), text_of(link_to(state))};
    if (!session.recording || session.question.hides(session::Hide::Standing)) return told;
    const trace::Trace& trace = session.trace();
    if (session.cursor.block >= trace.blocks.size() || trace.steps() == 0) return told;
    const trace::Block& block = trace.blocks[session.cursor.block];
    told.step = playback::step_number(trace, session.cursor);
    told.block = block_name(trace.launch.grid, {block.x, block.y, block.z}, session.recording->notation);
    return told;
}

// ImGui needs a frame or two after an event until hovering and layout have settled.
constexpr int kSettling = 3;

}  // namespace

struct Window::Parts {
    State state;
    KeptSettings memory;
    FrameTimes timing{};
    std::unique_ptr<platform::Backend> shown{};
    std::unique_ptr<Frame> frame{};  // goes before its context
    Frame::BuiltFrame outcome{.another_frame = true};
    int settling = kSettling;  // frames to draw though nothing happens
    unsigned context = 0;      // that the frame was made in
    DrawnExport drawn{};       // goes before its context, too
    Clock::time_point turned{};

    Parts(State given, bool keep_theme) : state(std::move(given)), memory(state, keep_theme) {}

    // Seconds from one turn to the next where nothing happens; work beside the window keeps the cores that drawing would
    // take.
    double patience() const {
        constexpr double kIdle = 0.5, kSoon = 0.03;
        if (outcome.another_frame || settling > 0) return 0;
        return outcome.soon ? kSoon : kIdle;
    }
};

Window::Window(State state, bool keep_theme)
    : parts_(std::make_unique<Parts>(std::move(state), keep_theme)) {}
Window::~Window() = default;

State& Window::state() { return parts_->state; }

Result<void> Window::open() {
    const session::Placement& at = parts_->memory.now.window;
    auto window =
        platform::open_window(at.width, at.height, window_title(parts_->state),
                              at.placed ? std::optional(platform::WindowPlace{at.x, at.y}) : std::nullopt);
    if (!window) return window.error();
    parts_->shown = std::move(*window);
    auto frame = Frame::create();
    if (!frame) return frame.error();
    parts_->frame = std::move(*frame);
    parts_->shown->offer_clipboard();
    return {};
}

void Window::wait() { parts_->shown->wait(parts_->patience()); }

bool Window::due() const {
    return parts_->shown->happened() || ms_since(parts_->turned) >= 1000 * parts_->patience();
}

bool Window::turn() {
    auto& [state, memory, timing, shown, frame, outcome, settling, context, drawn, turned] = *parts_;
    turned = Clock::now();
    const auto drawn_in = shown->context();
    if (!drawn_in) return true;
    if (*drawn_in != context) {
        auto anew = Frame::create();
        if (!anew) return false;
        frame = std::move(*anew);
        shown->offer_clipboard();
        context = *drawn_in;
    }
    const platform::Input input = shown->collect();
    if (input.eventful) settling = kSettling;
    const Canvas canvas = shown->canvas();
    if (canvas.width <= 0 || canvas.height <= 0) {  // minimised
        outcome.another_frame = false, settling = 0;
        return !shown->asked_to_close();
    }
    outcome = frame->build(state, input, canvas, false, false);
    std::string& message = state.session.message;
    if (timing.frames == 0 && message.empty()) message = frame->notice();
    frame->render();
    save_pictures(state, *frame, *shown);
    drawn.go_on(state);
    shown->show();
    shown->set_title(window_title(state));
    if (shown->tells()) shown->tell(told(state));
    timing.frame(outcome.build_ms, state.session.block != nullptr);
    memory.look(state, *shown);
    settling = std::max(0, settling - 1);
    return !state.quits && !shown->asked_to_close();
}

// The lecture's 4 x 4 for who has not walked through the first lesson, which begins in an empty home and is offered
// later; the standard 64 x 64 for all others. Recorded on the CPU even where there is a GPU: opening a GPU takes longer than
// these small recordings and the first frame together.
Result<State> first_state(draw::Theme theme) {
    State state;
    state.session.theme = theme;
    const session::Loaded loaded = session::load_settings(session::settings_files());
    const bool newcomer = !loaded.remembered.walked;
    const kernels::Preset& preset = kernels::presets()[newcomer ? 0 : 2];
    const auto plan = kernels::plan(preset.kernel, preset.shape);
    if (!plan) return plan.error();
    auto trace = kernels::record_cpu(*plan, {});
    if (!trace) return trace.error();
    auto made = session::make_recording(std::move(*trace), "recorded now, on the CPU");
    if (!made) return made.error();
    session::show(state.session, std::move(*made));
    if (newcomer) state.lessons.offered = state.session.recording->serial;
    if (loaded.newcomer) lessons::go_to_stop(state.lessons, state.session, 0, 0);
    return state;
}

Result<void> run_window(State state, bool keep_theme) {
    Window window(std::move(state), keep_theme);
    if (auto opened = window.open(); !opened) return opened.error();
    do window.wait();
    while (window.turn());
    return {};
}

}  // namespace tilescope::app
