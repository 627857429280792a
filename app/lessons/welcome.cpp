// The offer to who starts the program for the first time: the first lesson, a key away. It stands above the
// lecture's 4 x 4 until that lesson was walked to its end, at every start anew; another recording, or "Not
// now", takes it away for this time.
#include "app/lessons/panels.h"

namespace tilescope::lessons {
namespace {

bool offers(const State& state, const session::Session& session) {
    return state.offered != 0 && session.recording && session.recording->serial == state.offered &&
           !state.walked && !session.walking && !state.lessons->empty();
}

}  // namespace

bool begin_welcome(State& state, session::Session& session, const input::KeyPress& press) {
    if (press.key != input::Key::PageDown || press.control || press.alt || press.shift) return false;
    if (!offers(state, session)) return false;
    go_to_stop(state, session, 0, 0);
    return true;
}

float welcome_strip(Ui& ui, const draw::Rect& area) {
    using draw::Face, draw::Ink, draw::Size, draw::Rect;
    State& state = ui.state;
    if (!offers(state, ui.session)) return 0;
    const float height = ui.px(44), button_high = ui.px(30);
    const Rect rect{area.min, {area.max.x, area.min.y + height}};
    strip_ground(ui, rect, Ink::Product);
    const float top = (rect.min.y + rect.max.y - button_high) / 2;
    float right = rect.max.x - ui.px(12);
    const auto press = [&](const char* label, float width, bool on, const char* tip) {
        const Rect box{{right - ui.px(width), top}, {right, top + button_high}};
        right = box.min.x - ui.px(6);
        return button(ui, box, label, on, true, tip);
    };
    if (press("Not now", 92, false, "It is offered again at the next start")) state.offered = 0;
    if (press("Walk through it", 140, true, "The first lesson (Page Down)"))
        go_to_stop(state, ui.session, 0, 0), ui.context.another_frame = true;
    const float x = rect.min.x + ui.px(16), room = right - x - ui.px(10);
    line(ui, {x, (rect.min.y + rect.max.y - line_height(ui, Size::Body)) / 2}, room, Face::Strong, Size::Body,
         Ink::Text,
         fitting(ui.font(Face::Strong, Size::Body),
                 {"New here? Page Down walks you through it: " + (*state.lessons)[0].title,
                  "New here? Page Down walks you through it."},
                 room));
    return height;
}

}  // namespace tilescope::lessons
