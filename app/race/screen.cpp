// The Race screen: two recordings on one clock of work.
//
//   +-----------------------------------------------------------+
//   | At half of the product, untiled has loaded 16 × the bytes |
//   +-----------------------------+-----------------------------+
//   | (A) M, N, P       pipe, SM  | [B] M, N, P       pipe, SM  |    below each other where the
//   +-----------------------------+-----------------------------+    window is higher than wide
//   | bytes over progress                                       |
//   +-----------------------------------------------------------+
#include <algorithm>
#include <cmath>
#include <utility>

#include "app/race/panels.h"

namespace tilescope::race {

using input::along, input::Key, session::Session;
namespace {

// Another pair: its race begins at the start.
void begin_anew(State& state, const Session& session) {
    state.running.stop();
    state.race.reset();
    state.why_not.clear();
    state.counts = {};
    state.a = session.recording->serial;
    state.b = session.pair.other.recording->serial;
    state.at = 0;
    state.playing = state.begins;  // of this pair
}

void make_race(State& state, Session& session, bool wait) {
    const session::Pair& pair = session.pair;
    if (!state.running.begun())
        state.running = session.jobs->start(
            [a = session.recording, b = pair.other.recording, of_a = pair.a.tally, of_b = pair.b.tally,
             totals_a = session.totals,
             totals_b = pair.other.totals](session::Control& control) -> Result<std::shared_ptr<const Race>> {
                auto made = race_of({*a, *of_a}, *totals_a, {*b, *of_b}, *totals_b, {&control.stop});
                if (!made) return made.error();
                return std::make_shared<const Race>(std::move(*made));
            });
    const uint64_t steps = session.trace().steps() + pair.other.trace().steps();
    auto made = state.running.take(wait || steps <= session::kCountedAtOnce);
    if (!made) return;
    if (*made)
        state.race = std::move(**made);
    else
        state.why_not = made->error().message + ".";
}

void go(State& state, double to) {
    state.at = std::clamp(std::round(to * kMoments) / kMoments, 0.0, 1.0);
    state.playing = state.begins = false;
}

// The moment at which A has made the cursor's step.
void stand_at_cursor(State& state, const Session& session) {
    const trace::Trace& trace = session.trace();
    if (session.cursor.block >= trace.blocks.size()) return;
    const uint64_t steps = playback::step_number(trace, session.cursor);
    const auto found = std::ranges::lower_bound(state.race->a.steps, steps);
    state.at = static_cast<double>(found - state.race->a.steps.begin()) / kMoments;
}

// What is missing, or went wrong, in place of the race.
void draw_missing(Ui& ui, const Rect& area, bool coming) {
    const Session& session = ui.session;
    std::string trouble = !ui.state.why_not.empty()       ? ui.state.why_not
                          : !session.pair.message.empty() ? session.pair.message
                                                          : session.uncounted;
    if (coming && trouble.empty()) {
        const std::string opening = session::opening_words(session);
        const bool two = session::are_two(session);
        draw::empty_panel(ui, area, two ? "Both run once\u2026" : "Two recordings are opened\u2026",
                          !opening.empty() ? opening : "Then the race can be played.");
        return;
    }
    const draw::EmptyButton choose[] = {{"Choose two", "The list of pairs (V)"}};
    if (draw::empty_panel(ui, area, "No race", "Choose two recordings that can be compared.", trouble,
                          choose))
        input::ask(ui, "choose_comparison");
}

// The sentence, as large as it can be said on as many lines as there is room for, and what the clock is.
void head(Ui& ui, const Rect& rect, const std::string& words, const std::string& below) {
    surface(ui, rect);
    const float left = rect.min.x + ui.px(16);
    float right = rect.max.x - ui.px(16);
    if (!ui.context.paper) {
        const float high = ui.px(30), top = rect.min.y + (rect.height() - high) / 2;
        const Rect box{{right - ui.px(84), top}, {right, top + high}};
        if (button(ui, box, "Choose\u2026", false, true,
                   "Another pair of recordings (V; N and Shift + N go through them)"))
            input::ask(ui, "choose_comparison");
        right = box.min.x - ui.px(16);
    }
    const float small = line_height(ui, Size::Small);
    const auto lines = [&](Face face, Size size, const std::string& text) {
        return static_cast<float>(wrapped(ui.font(face, size), text, right - left).size());
    };
    const float under = small * std::min(lines(Face::Text, Size::Small, below), 2.f);
    for (const Size size : {Size::Title, Size::Body, Size::Small}) {
        const float all = line_height(ui, size) * lines(Face::Strong, size, words) + under;
        if (all + ui.px(8) > rect.height() && size != Size::Small) continue;
        const ImVec2 at{left, rect.min.y + (rect.height() - all) / 2};
        const float taken = paragraph(ui, at, right - left, Face::Strong, size, Ink::Text, words, 3);
        paragraph(ui, {left, at.y + taken}, right - left, Face::Text, Size::Small, Ink::TextQuiet, below, 2);
        return;
    }
}

void draw_screen(Ui& ui, const Rect& screen) {
    State& state = ui.state;
    Session& session = ui.session;
    const bool coming = ready(state, session, ui.context.waits);
    ui.context.soon = ui.context.soon || coming;
    if (!state.race) return draw_missing(ui, screen, coming);
    if (state.at_cursor) stand_at_cursor(state, session);
    if (state.begins && ui.context.still) state.at = 1;  // a picture of a race that begins is of its end
    if (state.playing && !ui.context.still) state.begins = false;
    if (state.playing && state.drawn_at >= 0 && !ui.context.still)
        play_on(state, ui.context.time - state.drawn_at);
    state.drawn_at = state.playing ? ui.context.time : -1;
    ui.context.another_frame = ui.context.another_frame || state.playing;

    const Race& race = *state.race;
    const uint32_t moment = moment_of(state);
    const float gap = ui.px(8);
    const Rect in = screen.inset(gap);
    const bool high = in.height() > in.width(), low = screen.height() < ui.px(620);
    const Rect top{in.min, {in.max.x, in.min.y + ui.px(high ? 92 : session.lecture ? 72 : 84)}};
    const float chart_high = std::clamp(std::round(in.height() * 0.24f), ui.px(low ? 124 : 148), ui.px(280));
    const Rect chart{{in.min.x, in.max.y - chart_high}, in.max};
    const Rect middle{{in.min.x, top.max.y + gap}, {in.max.x, chart.min.y - gap}};
    const look::Run a{*session.recording, *session.pair.a.tally},
        b{*session.pair.other.recording, *session.pair.b.tally};
    const auto speed = moment == kMoments
                           ? look::speed_of(a, b, session.assets.timings(), session.assets.counters())
                           : std::nullopt;
    const bool begins = moment == 0 && !state.playing && !ui.context.paper;
    const std::string doubt =
        look::not_whole(a.trace).empty() ? look::not_whole(b.trace) : look::not_whole(a.trace);
    head(ui, top, sentence(race, moment, speed ? &*speed : nullptr),
         (begins ? "Space starts it. " : "") + (doubt.empty() ? clock_text(race) : doubt));
    for (const bool is_a : {true, false}) {
        const Pane pane{race, is_a ? race.a : race.b,
                        is_a ? static_cast<const session::Shown&>(session) : session.pair.other,
                        state.counts[is_a ? 0 : 1], moment};
        const float wide = std::floor((middle.width() - gap) / 2),
                    tall = std::floor((middle.height() - gap) / 2);
        Rect box = middle;
        if (high && is_a) box.max.y = middle.min.y + tall;
        if (high && !is_a) box.min.y = middle.max.y - tall;
        if (!high && is_a) box.max.x = middle.min.x + wide;
        if (!high && !is_a) box.min.x = middle.max.x - wide;
        side_panel(ui, box, pane);
    }
    chart_panel(ui, chart, race, moment);
}

}  // namespace

uint32_t moment_of(const State& state) {
    return static_cast<uint32_t>(std::clamp(std::floor(state.at * kMoments + 1e-6), 0.0, 1.0 * kMoments));
}

void play_on(State& state, double seconds) {
    state.at += std::max(seconds, 0.0) / kSeconds;
    if (state.at >= 1) state.at = 1, state.playing = false;
}

void toggle(State& state) {
    if (!state.playing && state.at >= 1) state.at = 0;
    state.playing = state.begins = !state.playing;
    state.drawn_at = -1;
}

bool ready(State& state, Session& session, bool wait) {
    const session::Pair& pair = session.pair;
    const bool nothing = !pair.other.recording && !pair.opening.begun() && !pair.wanted &&
                         pair.message.empty() && !session.opening;
    if (nothing && !session::open_counterpart(session)) session.pair.preset = 0, session.pair.wanted = true;
    const bool coming = session::ready_pair(session, wait);
    if (!session::are_two(session)) return coming;
    if (state.a != session.recording->serial || state.b != pair.other.recording->serial)
        begin_anew(state, session);
    const bool steps = session.trace().steps() > 0 && pair.other.trace().steps() > 0;
    const bool counted = session::are_tallied(session) && session.totals && pair.other.totals;
    if (!state.race && state.why_not.empty() && counted && steps) make_race(state, session, wait);
    return coming || state.running.begun();
}

bool press(State& state, Session& session, const platform::KeyPress& key) {
    if (!state.race || key.control || key.alt) return false;
    const bool turns = key.key == Key::PageUp || key.key == Key::PageDown;
    if (session.walking && turns) return false;  // from stop to stop
    const double by = along(key, Key::Left, Key::Right);
    if (by != 0)
        go(state, state.at + by / (key.shift ? 10 : 100));
    else if (key.key == Key::Home || key.key == Key::PageUp)
        go(state, 0);
    else if (key.key == Key::End)
        go(state, 1);
    else if (key.key == Key::Space || key.key == Key::PageDown)
        toggle(state);
    else
        return false;
    return true;
}

const input::Actions<State>& actions() {
    static const input::Actions<State> all = input::under<State>(
        "Race",
        {
            {"race_play", "start or pause the race", "Space", input::Chord(), toggle},
            {"race_start", "to the start of the race", "Home", input::Chord(), [](State& s) { go(s, 0); }},
            {"race_end", "to the end of the race", "End", input::Chord(), [](State& s) { go(s, 1); }},
        });
    return all;
}

const input::Screen<State> kScreen{.name = "Race",
                                   .option = session::kRaceScreen,
                                   .about = "What two recordings load for the same work, as it is done",
                                   .draw = draw_screen,
                                   .press = press,
                                   .actions = actions};

}  // namespace tilescope::race
