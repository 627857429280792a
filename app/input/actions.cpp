#include "app/input/actions.h"

#include <algorithm>
#include <cmath>

#include "app/session/playing.h"

namespace tilescope::input {
namespace {

using playback::Move, session::kTextStep;

template <Move where>
void jump(Session& session) {
    session::jump(session, where);
}

// A clicker's keys: the stops of the walk that runs, else steps.
template <int by>
void walk(Session& session) {
    if (session.walk.running)
        session.walk.by = by;
    else
        session::jump(session, by > 0 ? Move::NextStep : Move::PreviousStep);
}

void text_by(Session& session, float by) {
    const float steps = std::round((session.text_scale + by) / kTextStep);
    session.text_scale = std::clamp(steps * kTextStep, session::kLeastText, session::kMostText);
}

void other_theme(Session& session) {
    session.theme = session.theme == draw::Theme::Light ? draw::Theme::Dark : draw::Theme::Light;
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
    else if (state.show_keys)
        state.show_keys = false;
    else if (state.form.open)
        state.form.open = false;
    else if (session.pin.kind != look::Pick::Kind::None)
        session.pin = {};
    else if (session.walk.running && session.message.empty())
        session.walk.running = false;
    else
        session.message.clear();
    session.hover = {};
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
        "Walk",
        {
            {"play", "play or pause", "Space", key(Key::Space), session::play},
            {"next_step", "next request or barrier", "\u2192", key(Key::Right), jump<Move::NextStep>},
            {"previous_step", "previous request or barrier", "\u2190", key(Key::Left),
             jump<Move::PreviousStep>},
            {"forth", "next step, or stop of the lesson", "Page Down", key(Key::PageDown), walk<1>},
            {"back", "step or stop before", "Page Up", key(Key::PageUp), walk<-1>},
            {"next_phase", "next phase", "Shift + \u2192", shift(Key::Right), jump<Move::NextPhase>},
            {"previous_phase", "phase before", "Shift + \u2190", shift(Key::Left), jump<Move::PreviousPhase>},
            {"next_barrier", "next barrier", "]  Ctrl + \u2192", typed(U']'), control(Key::Right),
             jump<Move::NextBarrier>},
            {"previous_barrier", "barrier before", "[  Ctrl + \u2190", typed(U'['), control(Key::Left),
             jump<Move::PreviousBarrier>},
            {"next_block", "next block", ".  Ctrl + Page Down", typed(U'.'), control(Key::PageDown),
             jump<Move::NextBlock>},
            {"previous_block", "block before", ",  Ctrl + Page Up", typed(U','), control(Key::PageUp),
             jump<Move::PreviousBlock>},
            {"first", "first step of the block", "Home", key(Key::Home), jump<Move::First>},
            {"last", "last step of the block", "End", key(Key::End), jump<Move::Last>},
            {"next_fault", "next fault found in the block", "X", key(Key::X),
             [](Session& s) { to_fault(s, look::next_fault); }},
            {"previous_fault", "fault before", "Shift + X", shift(Key::X),
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
            {"theme", "light or dark", "T", key(Key::T), other_theme},
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
            {"open", "open a recording", "Ctrl + O", control(Key::O),
             [](State& s, Session& of) { open_path_box(s, of, PathBox::Mode::Open); }},
            {"save", "save this recording", "Ctrl + S", control(Key::S),
             [](State& s, Session& of) { open_path_box(s, of, PathBox::Mode::Save); }},
            {"export_png", "this view as a PNG", "Ctrl + E", control(Key::E),
             [](Session& s) { s.pictures.emplace_back(".png"); }},
            {"export_svg", "this view as an SVG", "Ctrl + Shift + E", shift_control(Key::E),
             [](Session& s) { s.pictures.emplace_back(".svg"); }},
            {"record", "record another kernel or size", "R", key(Key::R),
             [](State& s) { s.form.open = !s.form.open; }},
            {"keys", "this list of keys", "?", key(Key::Question),
             [](State& s) { s.show_keys = !s.show_keys; }},
            {"clear", "unpin, close, end the lesson", "Esc", key(Key::Escape), clear},
            {"quit", "leave Tilescope", "Ctrl + Q", control(Key::Q), [](Session& s) { s.quit = true; }},
        });
    return all;
}

bool is_form_key(const KeyPress& press) {
    constexpr Key kKeys[] = {Key::Space, Key::Enter, Key::Tab,     Key::Left, Key::Right,
                             Key::Up,    Key::Down,  Key::Home,    Key::End,  Key::PageUp,
                             Key::Plus,  Key::Minus, Key::PageDown};
    return !press.control && std::find(std::begin(kKeys), std::end(kKeys), press.key) != std::end(kKeys);
}

}  // namespace tilescope::input
