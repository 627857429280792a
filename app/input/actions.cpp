// What can be done on every screen, with its keys; and the row of buttons that walks through a recording:
//
//   |<  <<  <  play  >  >>  >|   speed            the same actions; the signs are drawn, not typed
#include <algorithm>
#include <cmath>
#include <initializer_list>

#include <fmt/format.h>

#include "app/draw/widgets.h"
#include "app/input/overlays.h"
#include "app/session/playing.h"

namespace tilescope::input {
namespace {

using draw::Face, draw::Ink, draw::Rect, draw::Rgba, draw::Size, platform::Abilities, playback::Move,
    session::kTextStep;

template <Move where>
void jump(Session& session) {
    session::jump(session, where);
}

// A clicker's keys: the stops of the walk that runs, else steps.
template <int by>
void walk(Session& session) {
    if (session.walking)
        session.ask(session::wish::GoOn{by});
    else
        session::jump(session, by > 0 ? Move::NextStep : Move::PreviousStep);
}

void text_by(Session& session, float by) {
    const float steps = std::round((session.text_scale + by) / kTextStep);
    session.text_scale = std::clamp(steps * kTextStep, session::kLeastText, session::kMostText);
}

void next_names(Session& session) {
    analysis::MatrixNames& names = session.wording.names;
    names = static_cast<analysis::MatrixNames>((static_cast<int>(names) + 1) % 3);
}

void clear(State& state, Session& session) {
    // The innermost thing first, one at a time.
    if (state.palette.open)
        state.palette.open = false;
    else if (state.path.mode != PathBox::Mode::Closed)
        state.path.mode = PathBox::Mode::Closed;
    else if (state.glossary.open)
        state.glossary.open = false;
    else if (state.show_keys)
        state.show_keys = false;
    else if (state.form.open)
        state.form.open = false;
    else if (session.pin.kind != look::Pick::Kind::None && !session.unfolds())  // else it is the stop's own
        session.pin = {};
    else if (session::marked_here(session))
        session.marked.reset();
    else if (session.walking && session.message.empty())
        session.walking = false;
    else
        session.message.clear();
    session.hover = {};
}

// The form, with the program that is open.
void record_program(State& state, Session& session) {
    state.form.open = state.form.of_program = true;
    if (session.program) state.form.program = session.program->order;
}

void open_film_box(State& state, Session& session) {
    if (!session.recording)
        session.message = "There is no recording to make a film of; press R to record one.";
    open_export_box(state, session, session::marked_here(session) ? "film_marked_gif" : "film_gif");
}

// What the parts of a chord must be for a key that was pressed.
bool pressed(const Chord& chord, const KeyPress& press) {
    if (chord.key == Key::None || chord.key != press.key || chord.control != press.control || press.alt)
        return false;
    // Plus and the question mark need Shift on some keyboards and not on others.
    const bool by_character = chord.key == Key::Plus || chord.key == Key::Minus || chord.key == Key::Question;
    return by_character || chord.shift == press.shift;
}

}  // namespace

bool means(const Offer& offer, const KeyPress& press) {
    const auto typed = [&](const Chord& chord) {
        return chord.character != 0 && chord.character == press.character;
    };
    return pressed(offer.chord, press) || pressed(offer.other, press) || typed(offer.chord) ||
           typed(offer.other);
}

const Actions<State>& walking() {
    static const Actions<State> all = under<State>(
        "Walk", {
                    {"play", "play or pause", "Space", key(Key::Space), session::play},
                    {"next_step", "next request or barrier", "\u2192", key(Key::Right), jump<Move::NextStep>},
                    {"previous_step", "previous request or barrier", "\u2190", key(Key::Left),
                     jump<Move::PreviousStep>},
                    {"forth", "next step, or stop of the lesson", "Page Down", key(Key::PageDown), walk<1>},
                    {"back", "step or stop before", "Page Up", key(Key::PageUp), walk<-1>},
                    {"next_phase", "next phase", "Shift + \u2192", shift(Key::Right), jump<Move::NextPhase>},
                    {"previous_phase", "previous phase", "Shift + \u2190", shift(Key::Left),
                     jump<Move::PreviousPhase>},
                    {"next_barrier", "next barrier", "]  Ctrl + \u2192", typed(U']'), control(Key::Right),
                     jump<Move::NextBarrier>},
                    {"previous_barrier", "previous barrier", "[  Ctrl + \u2190", typed(U'['),
                     control(Key::Left), jump<Move::PreviousBarrier>},
                    {"next_block", "next block", ".  Ctrl + Page Down", typed(U'.'), control(Key::PageDown),
                     jump<Move::NextBlock>},
                    {"previous_block", "previous block", ",  Ctrl + Page Up", typed(U','),
                     control(Key::PageUp), jump<Move::PreviousBlock>},
                    Action<State>{"mark_from", "mark steps for a film: from this one", "{", typed(U'{'),
                                  session::mark_from_here}
                        .needing(&Abilities::films),
                    Action<State>{"mark_to", "mark steps for a film: up to this one", "}", typed(U'}'),
                                  session::mark_up_to_here}
                        .needing(&Abilities::films),
                    {"first", "first step of the block", "Home", key(Key::Home), jump<Move::First>},
                    {"last", "last step of the block", "End", key(Key::End), jump<Move::Last>},
                    {"next_fault", "next fault found in the block", "X", key(Key::X),
                     [](Session& s) { to_fault(s, look::next_fault); }},
                    {"previous_fault", "previous fault", "Shift + X", shift(Key::X),
                     [](Session& s) { to_fault(s, look::previous_fault); }},
                    {"faster", "play faster", "+", key(Key::Plus), [](Session& s) { speed(s, 2); }},
                    {"slower", "play slower", "-", key(Key::Minus), [](Session& s) { speed(s, 0.5); }},
                });
    return all;
}

const Actions<State>& looks() {
    static const Actions<State> all = under<State>(
        "Show",
        {
            {"lecture", "lecture mode", "L", key(Key::L), [](Session& s) { s.lecture = !s.lecture; }},
            {"blank", "blank screen; . in a lecture", "B", key(Key::B), [](Session& s) { s.blank = true; }},
            {"theme", "light or dark", "T", key(Key::T),
             [](Session& s) {
                 s.theme = s.theme == draw::Theme::Light ? draw::Theme::Dark : draw::Theme::Light;
             }},
            {"motion", "motion on or off", "M", key(Key::M), [](Session& s) { s.motion = !s.motion; }},
            {"text_larger", "larger type", "Ctrl + +", control(Key::Plus),
             [](Session& s) { text_by(s, kTextStep); }},
            {"text_smaller", "smaller type", "Ctrl + -", control(Key::Minus),
             [](Session& s) { text_by(s, -kTextStep); }},
            {"text_normal", "type at its usual size", "Ctrl + 0", control(Key::Digit0),
             [](Session& s) { s.text_scale = 1; }},
            {"notation:order", "notation: thread[y,x] and M[row,col], or x first", "", Chord(),
             [](Session& s) { s.wording.x_first = !s.wording.x_first; }},
            {"notation:names", "notation: names of matrices, M N P, A B C or Md Nd Pd", "", Chord(),
             next_names},
            {"notation:phases", "notation: phases counted from 0 or from 1", "", Chord(),
             [](Session& s) { s.wording.phases_from_1 = !s.wording.phases_from_1; }},
        });
    return all;
}

const Actions<State>& files() {
    static const Actions<State> all = under<State>(
        "Recordings",
        {
            {"commands", "find any of these", "Ctrl + P", control(Key::P),
             [](State& s) { s.palette = {.open = true}; }},
            {"open", platform::abilities().programs ? "open a recording or a program" : "open a recording",
             "Ctrl + O", control(Key::O),
             [](State& s, Session& of) { open_path_box(s, of, PathBox::Mode::Open); }},
            {"save", "save this recording", "Ctrl + S", control(Key::S),
             [](State& s, Session& of) { open_path_box(s, of, PathBox::Mode::Save); }},
            {"export_png", "this view as a PNG", "Ctrl + E", control(Key::E),
             [](Session& s) { s.ask(session::wish::SavePicture{".png"}); }},
            {"export_svg", "this view as an SVG", "Ctrl + Shift + E", shift_control(Key::E),
             [](Session& s) { s.ask(session::wish::SavePicture{".svg"}); }},
            {"panel", "pictures of the panel under the mouse", "E  right click", key(Key::E),
             open_panel_menu},
            {"panel_copy", "copy that panel as a picture", "Ctrl + C", control(Key::C),
             [](State& s, Session& of) {
                 keep_panel(s, of, {".png", {}, true});
             }},
            {"panel:png", "the panel under the mouse as a PNG", "", Chord(),
             [](State& s, Session& of) { keep_panel(s, of, {".png"}); }},
            {"panel:svg", "the panel under the mouse as an SVG", "", Chord(),
             [](State& s, Session& of) { keep_panel(s, of, {".svg"}); }},
            Action<State>{"film", "film of the marked steps, or of the phase", "Ctrl + Shift + F",
                          shift_control(Key::F), open_film_box}
                .needing(&Abilities::films),
            {"stop_export", "stop the film or export that is made", "Shift + Esc", shift(Key::Escape),
             session::stop_export},
            {"record", "record another kernel or size", "R", key(Key::R),
             [](State& s) { s.form.open = !s.form.open; }},
            Action<State>{"form:program", "record a program with arguments, or other launches of it", "",
                          Chord(), record_program}
                .needing(&Abilities::programs),
            {"glossary", "what the words mean", "G", key(Key::G), open_glossary},
            {"keys", "this list of keys", "?", key(Key::Question),
             [](State& s) { s.show_keys = !s.show_keys; }},
            {"clear", "unpin, close, end the lesson", "Esc", key(Key::Escape), clear},
            Action<State>{"quit", "leave Tilescope", "Ctrl + Q", control(Key::Q),
                          [](Session& s) { s.ask(session::wish::Quit{}); }}
                .needing(&Abilities::quits),
        });
    return all;
}

bool is_form_key(const KeyPress& press) {
    constexpr Key kKeys[] = {Key::Space, Key::Enter, Key::Tab,     Key::Left, Key::Right,
                             Key::Up,    Key::Down,  Key::Home,    Key::End,  Key::PageUp,
                             Key::Plus,  Key::Minus, Key::PageDown};
    return !press.control && std::find(std::begin(kKeys), std::end(kKeys), press.key) != std::end(kKeys);
}

// --- the row of buttons

namespace {

// A slider over powers of two; by clocks it says how much slower than the SM this is.
void speed_slider(SessionUi& ui, const Rect& rect) {
    Session& session = ui.session;
    const bool clocks = session::by_clock(ui.session);
    const float text_y = rect.min.y + (rect.height() - line_height(ui, Size::Small)) / 2;
    double& rate = clocks ? session.playback.clocks_per_second : session.playback.steps_per_second;
    const std::string words = clocks     ? grouped(static_cast<uint64_t>(rate)) + " clocks/s"
                              : rate < 1 ? fmt::format("1 step in {:.2g} s", 1 / rate)
                              : rate < 8 ? fmt::format("{:g} steps/s", rate)
                                         : fmt::format("{:.0f} steps/s", rate);
    const float wide = text_size(ui.font(Face::Mono, Size::Small), words).x + ui.px(16);
    const float from = rect.min.x + ui.px(44), to = rect.max.x - std::max(wide, ui.px(clocks ? 136 : 96));
    if (to - from < ui.px(50)) return;
    note(ui, {rect.min.x, text_y}, ui.px(44), "speed");
    const float end = std::min(to, from + ui.px(220)), y = (rect.min.y + rect.max.y) / 2;
    ui.list.AddRectFilled({from, y - ui.px(1.5f)}, {end, y + ui.px(1.5f)}, ui.ink(Ink::LineStrong), ui.px(2));
    const double low = std::log2(clocks ? session::kSlowestClock : session::kSlowest);
    const double high = std::log2(clocks ? session::kFastestClock : session::kFastest);
    const auto part = static_cast<float>((std::log2(rate) - low) / (high - low));
    ui.list.AddCircleFilled({from + (end - from) * part, y}, ui.px(7), ui.ink(Ink::Accent));
    const Rect slider{{from - ui.px(8), rect.min.y}, {end + ui.px(8), rect.max.y}};
    if (ui.mouse && ImGui::IsMouseDown(0) && slider.contains(ImGui::GetIO().MouseClickedPos[0])) {
        const double at = std::clamp((ui.cursor().x - from) / (end - from), 0.f, 1.f);
        rate = std::exp2(std::round(low + at * (high - low)));
    } else if (ui.over(slider)) {
        ui.tip = "Speed of playing (+ and -)";
        const double mhz = ui.trace().meta.price.clock_mhz;
        if (clocks && mhz > 0)
            ui.tip += fmt::format(": {} times slower than it ran",
                                  short_count(static_cast<uint64_t>(mhz * 1e6 / rate)));
    }
    line(ui, {end + ui.px(14), text_y}, rect.max.x - end - ui.px(14), Face::Mono, Size::Small, Ink::Text,
         words);
}

}  // namespace

void transport(SessionUi& ui, const Rect& rect) {
    using enum draw::ButtonShape;
    using Row = std::initializer_list<draw::ButtonShape>;
    float x = rect.min.x;
    const auto act = [&](const char* action, const char* tip, Row row, float width, bool on = false) {
        const Rect box{{x, rect.min.y}, {x + width, rect.max.y}};
        if (button(ui, box, "", on, true, tip)) ask(ui, action);
        button_shapes(ui, box, row, on ? ui.context.palette.text_on(ui.ink(Ink::Accent)) : ui.ink(Ink::Text));
        x = box.max.x;
    };
    const float gap = ui.px(4), w = ui.px(38);
    const auto walk = [&](const char* action, const char* tip, Row row) {
        act(action, tip, row, w);
        x += gap;
    };
    walk("first", "First step of the block (Home)", {Bar, Left});
    walk("previous_phase", "Previous phase (Shift + \u2190)", {Left, Left});
    walk("previous_step", "Step before (\u2190)", {Left});
    const char* play = "Play or pause (Space)";
    ui.session.playback.playing ? act("play", play, {Bar, Bar}, ui.px(64), true)
                                : act("play", play, {Right}, ui.px(64), true);
    x += gap;
    walk("next_step", "Next step (\u2192)", {Right});
    walk("next_phase", "Next phase (Shift + \u2192)", {Right, Right});
    walk("last", "Last step of the block (End)", {Right, Bar});
    x += ui.px(12);

    const auto jump = [&](const char* what, const char* back, const char* back_tip, const char* forth,
                          const char* forth_tip) {
        const float text = draw::text_size(ui.font(Face::Text, Size::Small), what).x, arrow = ui.px(26);
        if (x + arrow * 2 + text + ui.px(12) > rect.max.x) return;
        act(back, back_tip, {Left}, arrow);
        note(ui, {x + ui.px(6), rect.min.y + (rect.height() - line_height(ui, Size::Small)) / 2}, text + 2,
             what);
        x += text + ui.px(12);
        act(forth, forth_tip, {Right}, arrow);
        x += ui.px(12);
    };
    if (ui.session.summary().barriers_per_block > 0)
        jump("barrier", "previous_barrier", "Previous barrier ([)", "next_barrier", "Next barrier (])");
    if (ui.trace().blocks.size() > 1)
        jump("block", "previous_block", "Previous block (,)", "next_block", "Next block (.)");
    speed_slider(ui, {{x, rect.min.y}, rect.max});
}

}  // namespace tilescope::input
