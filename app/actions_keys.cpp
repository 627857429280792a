// The keyboard: each press and each typed character, in the order in which they came, to whoever has it now.
#include <algorithm>
#include <utility>

#include "app/actions.h"
#include "app/compare_session.h"
#include "app/view/lessons.h"

namespace tilescope::app {
namespace {

using platform::Key;
using platform::KeyPress;

bool pressed(const Chord& chord, const KeyPress& press) {
    if (chord.key == Key::None || chord.key != press.key || chord.control != press.control || press.alt)
        return false;
    // Plus and the question mark need Shift on some keyboards and not on others.
    const bool by_character = chord.key == Key::Plus || chord.key == Key::Minus || chord.key == Key::Question;
    return by_character || chord.shift == press.shift;
}

bool means(const Action& action, const KeyPress& press) {
    const auto typed = [&](const Chord& chord) {
        return chord.character != 0 && chord.character == press.character;
    };
    return pressed(action.chord, press) || pressed(action.other, press) || typed(action.chord) ||
           typed(action.other);
}

// On the Lessons screen the arrows choose a lesson and Enter begins it.
bool lessons_key(State& state, const KeyPress& press) {
    if (state.screen != Screen::Lessons || view::lessons().empty()) return false;
    LessonPlace& place = state.teach.lesson;
    if (press.key == Key::Down)
        place.listed = std::min(place.listed + 1, view::lessons().size() - 1);
    else if (press.key == Key::Up)
        place.listed -= place.listed > 0 ? 1 : 0;
    else if (press.key == Key::Enter)
        go_to_stop(state, place.listed, 0);
    else
        return false;
    return true;
}

// What the form's fields and lists are worked with.
bool forms_key(const KeyPress& press) {
    constexpr Key kKeys[] = {Key::Space, Key::Enter, Key::Tab,     Key::Left, Key::Right,
                             Key::Up,    Key::Down,  Key::Home,    Key::End,  Key::PageUp,
                             Key::Plus,  Key::Minus, Key::PageDown};
    return !press.control && std::find(std::begin(kKeys), std::end(kKeys), press.key) != std::end(kKeys);
}

void take(State& state, const KeyPress& press) {
    if (overlay_open(state)) {
        if (press.key != Key::None) press_in_overlay(state, press);
        if (press.character != 0) type_in_overlay(state, press.character);
        return;
    }
    if (state.form.open && forms_key(press)) {
        state.form.keys.push_back(press);
        return;
    }
    if (screen_key(state, press) || lessons_key(state, press) || compare_key(state, press)) return;
    if (press.character == U'.' && state.teach.lecture) {  // what clickers send
        state.teach.blank = true;
        return;
    }
    for (const Action& action : actions()) {
        if (!means(action, press)) continue;
        action.apply(state);
        return;
    }
}

}  // namespace

void handle_input(State& state, const platform::Input& input, const std::function<void(State&)>& after) {
    bool spent = false;  // the key that made the next character blanked the screen, or brought it back
    for (const KeyPress& press : input.presses) {
        if (std::exchange(spent, false) && press.character != 0) continue;
        const bool blank = state.teach.blank;
        if (blank)  // whoever blanked the screen wants it back, whichever key they find
            state.teach.blank = false;
        else
            take(state, press);
        spent = press.character == 0 && state.teach.blank != blank;
        if (after) after(state);
    }
}

}  // namespace tilescope::app
