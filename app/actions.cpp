#include "app/actions.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/compare_session.h"
#include "app/view/block_clock.h"

namespace tilescope::app {
namespace {

using platform::Key;
using playback::Move;

const analysis::PhaseMap& phases_of(const State& state) {
    static const analysis::PhaseMap none;
    return state.block && state.block->block == state.cursor.block ? state.block->phases : none;
}

void move(State& state, Move where) {
    if (!state.session || state.session->trace->blocks.empty()) return;
    state.cursor = playback::moved(*state.session->trace, phases_of(state), state.cursor, where);
    state.playback.carry = 0;
}

// A person's move ends playing: the step that they asked for stays.
template <Move where>
void jump(State& state) {
    state.playback.playing = false;
    move(state, where);
}

void play(State& state) {
    if (!state.session || state.session->trace->blocks.empty()) return;
    if (!state.playback.playing && at_end(state)) move(state, Move::First);
    state.playback.playing = !state.playback.playing;
    state.playback.carry = 0;
}

void to_fault(State& state, std::optional<uint32_t> (*find)(const view::BlockFaults&, uint32_t)) {
    if (!state.faults) return;
    if (const auto step = find(*state.faults, state.cursor.step)) {
        go_to(state, *step);
        return;
    }
    state.message = state.faults->steps.empty() ? "No fault is found in this block."
                                                : "No more faults in this block that way.";
}

void pick_warp(State& state, int by) {
    if (!state.block || state.block->warps == 0) return;
    const auto last = static_cast<int>(state.block->warps) - 1;
    int warp = by > 0 ? -1 : last + 1;  // none picked yet: begin beside the cursor's
    if (state.pin.kind == Pick::Kind::Warp)
        warp = static_cast<int>(state.pin.warp);
    else if (state.cursor.step < state.block->steps) {
        warp = static_cast<int>(state.session->trace->warp_of(state.block->first + state.cursor.step)) - by;
    }
    state.pin = {};
    state.pin.kind = Pick::Kind::Warp;
    state.pin.warp = static_cast<uint32_t>(std::clamp(warp + by, 0, last));
}

void zoom(State& state, double by) {
    View& view = state.view;
    const double pitch = std::clamp(std::round(view.pitch * by), 1.0, 128.0);
    // About the upper left corner plus half a tile: what is framed stays in sight.
    const double half = state.session ? state.session->trace->meta.tile / 2.0 : 0;
    const double keep = half * (1 - view.pitch / pitch);
    view.row += keep;
    view.col += keep;
    view.m_k += keep;
    view.n_k += keep;
    view.pitch = pitch;
    view.fit = false;
}

void pan(State& state, double cells) {
    state.view.col += cells;
    state.view.m_k += cells;
    state.view.n_k += cells;
    state.view.fit = false;
}

void speed(State& state, double by) {
    if (by_clock(state)) {
        state.playback.clocks_per_second =
            std::clamp(state.playback.clocks_per_second * by, kSlowestClock, kFastestClock);
        return;
    }
    state.playback.steps_per_second = std::clamp(state.playback.steps_per_second * by, kSlowest, kFastest);
}

void change_axis(State& state) {
    if (state.session && state.block && !state.block->clocked) {
        state.message = view::no_clocks(*state.session->trace);
        return;
    }
    state.by_clock = !state.by_clock;
    state.playback.carry = 0;
}

void clear(State& state) {
    // The innermost thing first, one at a time.
    if (state.teach.commands.open)
        state.teach.commands.open = false;
    else if (state.teach.path.mode != PathBox::Mode::Closed)
        state.teach.path.mode = PathBox::Mode::Closed;
    else if (state.show_keys)
        state.show_keys = false;
    else if (state.form.open)
        state.form.open = false;
    else if (state.pin.kind != Pick::Kind::None)
        state.pin = {};
    else if (state.teach.lesson.running && state.message.empty())
        state.teach.lesson.running = false;
    else
        state.message.clear();
    state.hover = {};
}

double pan_cells(const State& state) {
    return std::max(1.0, std::round(64 / std::max(state.view.pitch, 1.0)));
}

constexpr Chord key(Key k) { return {k, false, false, 0}; }
constexpr Chord shift(Key k) { return {k, true, false, 0}; }
constexpr Chord control(Key k) { return {k, false, true, 0}; }
constexpr Chord typed(char32_t c) { return {Key::None, false, false, c}; }

// A clicker's keys: the stops of the lesson that runs, else steps.
void forth(State& state) {
    const LessonPlace& place = state.teach.lesson;
    if (place.running)
        go_to_stop(state, place.lesson, place.stop + 1);
    else
        jump<Move::NextStep>(state);
}

void back(State& state) {
    const LessonPlace& place = state.teach.lesson;
    if (!place.running)
        jump<Move::PreviousStep>(state);
    else if (place.stop > 0)
        go_to_stop(state, place.lesson, place.stop - 1);
}

void text_by(State& state, float by) {
    const float steps = std::round((state.text_scale + by) / kTextStep);
    state.text_scale = std::clamp(steps * kTextStep, kLeastText, kMostText);
}

template <int number>
void show_screen(State& state) {
    state.teach.wanted_screen = number;
}

void open_palette(State& state) { state.teach.commands = {true, {}, 0}; }

constexpr const char *kWalk = "Walk", *kLook = "Look", *kShow = "Show", *kFiles = "Recordings",
                     *kCompare = "Compare";

const Action kActions[] = {
    {"play", "play or pause", "Space", key(Key::Space), {}, play, kWalk},
    {"next_step", "next request or barrier", "\u2192", key(Key::Right), {}, jump<Move::NextStep>, kWalk},
    {"previous_step",
     "previous request or barrier",
     "\u2190",
     key(Key::Left),
     {},
     jump<Move::PreviousStep>,
     kWalk},
    {"forth", "next step, or stop of the lesson", "Page Down", key(Key::PageDown), {}, forth, kWalk},
    {"back", "step or stop before", "Page Up", key(Key::PageUp), {}, back, kWalk},
    {"next_phase", "next phase", "Shift + \u2192", shift(Key::Right), {}, jump<Move::NextPhase>, kWalk},
    {"previous_phase",
     "phase before",
     "Shift + \u2190",
     shift(Key::Left),
     {},
     jump<Move::PreviousPhase>,
     kWalk},
    {"next_barrier", "next barrier", "]  Ctrl + \u2192", typed(U']'), control(Key::Right),
     jump<Move::NextBarrier>, kWalk},
    {"previous_barrier", "barrier before", "[  Ctrl + \u2190", typed(U'['), control(Key::Left),
     jump<Move::PreviousBarrier>, kWalk},
    {"next_block", "next block", ".  Ctrl + Page Down", typed(U'.'), control(Key::PageDown),
     jump<Move::NextBlock>, kWalk},
    {"previous_block", "block before", ",  Ctrl + Page Up", typed(U','), control(Key::PageUp),
     jump<Move::PreviousBlock>, kWalk},
    {"first", "first step of the block", "Home", key(Key::Home), {}, jump<Move::First>, kWalk},
    {"last", "last step of the block", "End", key(Key::End), {}, jump<Move::Last>, kWalk},
    {"next_fault",
     "next fault found in the block",
     "X",
     key(Key::X),
     {},
     [](State& s) { to_fault(s, view::next_fault); },
     kWalk},
    {"previous_fault",
     "fault before",
     "Shift + X",
     shift(Key::X),
     {},
     [](State& s) { to_fault(s, view::previous_fault); },
     kWalk},
    {"faster", "play faster", "+", key(Key::Plus), {}, [](State& s) { speed(s, 2); }, kWalk},
    {"slower", "play slower", "-", key(Key::Minus), {}, [](State& s) { speed(s, 0.5); }, kWalk},
    {"previous_warp",
     "pin the warp above",
     "\u2191",
     key(Key::Up),
     {},
     [](State& s) { pick_warp(s, -1); },
     kLook},
    {"next_warp",
     "pin the warp below",
     "\u2193",
     key(Key::Down),
     {},
     [](State& s) { pick_warp(s, 1); },
     kLook},
    {"zoom_in", "zoom in", "W", key(Key::W), {}, [](State& s) { zoom(s, 1.25); }, kLook},
    {"zoom_out", "zoom out", "S", key(Key::S), {}, [](State& s) { zoom(s, 0.8); }, kLook},
    {"pan_left", "pan left", "A", key(Key::A), {}, [](State& s) { pan(s, -pan_cells(s)); }, kLook},
    {"pan_right", "pan right", "D", key(Key::D), {}, [](State& s) { pan(s, pan_cells(s)); }, kLook},
    {"lock", "lock by step, phase or share", "K", key(Key::K), {}, next_lock, kCompare},
    {"focus",
     "frame the block's tiles again",
     "F",
     key(Key::F),
     {},
     [](State& s) { s.view.fit = true; },
     kLook},
    {"time", "timeline by clocks or by steps", "C", key(Key::C), {}, change_axis, kLook},
    {"screen_step", "the Step screen", "1", key(Key::Digit1), {}, show_screen<1>, kShow},
    {"screen_compare", "the Compare screen", "2", key(Key::Digit2), {}, show_screen<2>, kShow},
    {"screen_timing", "the Timing screen", "3", key(Key::Digit3), {}, show_screen<3>, kShow},
    {"screen_limits", "the Limits screen", "4", key(Key::Digit4), {}, show_screen<4>, kShow},
    {"screen_lessons", "the Lessons screen", "5", key(Key::Digit5), {}, show_screen<5>, kShow},
    {"lecture",
     "lecture mode",
     "L",
     key(Key::L),
     {},
     [](State& s) { s.teach.lecture = !s.teach.lecture; },
     kShow},
    {"blank",
     "blank screen; . in a lecture",
     "B",
     key(Key::B),
     {},
     [](State& s) { s.teach.blank = true; },
     kShow},
    {"theme",
     "light or dark",
     "T",
     key(Key::T),
     {},
     [](State& s) { s.theme = s.theme == Theme::Light ? Theme::Dark : Theme::Light; },
     kShow},
    {"motion", "motion on or off", "M", key(Key::M), {}, [](State& s) { s.motion = !s.motion; }, kShow},
    {"text_larger",
     "larger type",
     "Ctrl + +",
     control(Key::Plus),
     {},
     [](State& s) { text_by(s, kTextStep); },
     kShow},
    {"text_smaller",
     "smaller type",
     "Ctrl + -",
     control(Key::Minus),
     {},
     [](State& s) { text_by(s, -kTextStep); },
     kShow},
    {"text_normal",
     "type at its usual size",
     "Ctrl + 0",
     control(Key::Digit0),
     {},
     [](State& s) { s.text_scale = 1; },
     kShow},
    {"commands", "find any of these", "Ctrl + P", control(Key::P), {}, open_palette, kFiles},
    {"open",
     "open a recording",
     "Ctrl + O",
     control(Key::O),
     {},
     [](State& s) { open_path_box(s, PathBox::Mode::Open); },
     kFiles},
    {"save",
     "save this recording",
     "Ctrl + S",
     control(Key::S),
     {},
     [](State& s) { open_path_box(s, PathBox::Mode::Save); },
     kFiles},
    {"export_png",
     "this view as a PNG",
     "Ctrl + E",
     control(Key::E),
     {},
     [](State& s) {
         s.teach.requests.push_back({Request::Kind::Save, ".png", 0});
     },
     kFiles},
    {"export_svg",
     "this view as an SVG",
     "Ctrl + Shift + E",
     {Key::E, true, true, 0},
     {},
     [](State& s) {
         s.teach.requests.push_back({Request::Kind::Save, ".svg", 0});
     },
     kFiles},
    {"next_comparison",
     "compare the next pair",
     "N",
     key(Key::N),
     {},
     [](State& s) { next_comparison(s, 1); },
     kCompare},
    {"previous_comparison",
     "compare the pair before",
     "Shift + N",
     shift(Key::N),
     {},
     [](State& s) { next_comparison(s, -1); },
     kCompare},
    {"choose_comparison", "choose what to compare", "V", key(Key::V), {}, choose_comparison, kCompare},
    {"open_beside", "open another as B", "Ctrl + B", control(Key::B), {}, open_beside, kCompare},
    {"swap_sides", "A and B change places", "Tab", key(Key::Tab), {}, swap_sides, kCompare},
    {"record",
     "record another kernel or size",
     "R",
     key(Key::R),
     {},
     [](State& s) { s.form.open = !s.form.open; },
     kFiles},
    {"keys",
     "this list of keys",
     "?",
     key(Key::Question),
     {},
     [](State& s) { s.show_keys = !s.show_keys; },
     kFiles},
    {"clear", "unpin, close, end the lesson", "Esc", key(Key::Escape), {}, clear, kFiles},
    {"quit", "leave Tilescope", "Ctrl + Q", control(Key::Q), {}, [](State& s) { s.quit = true; }, kFiles},
};

}  // namespace

std::span<const Action> actions() { return kActions; }

bool perform(State& state, std::string_view name) {
    for (const Action& action : kActions) {
        if (name != action.name) continue;
        action.apply(state);
        return true;
    }
    return false;
}

}  // namespace tilescope::app
