// The first minute. An empty home begins with the first lesson, which shows the Step screen panel by panel; whoever
// leaves it stands before the lecture's 4 x 4, where it is offered, a key away. The offer stands there at every start
// anew until that lesson was walked to its end; another recording, or "Not now", takes it away for this time.
#include <algorithm>

#include "app/lessons/asking.h"
#include "app/lessons/panels.h"

namespace tilescope::lessons {
namespace {

bool offers(const State& state, const session::Session& session) {
    return state.offered != 0 && session.recording && session.recording->serial == state.offered &&
           !state.walked && !session.walking && !state.lessons->empty();
}

bool is_unfolding(const Lesson& lesson) {
    return std::ranges::any_of(lesson.stops,
                               [](const LessonStop& stop) { return stop.panels != session::kAllPanels; });
}

// What is shown is no longer what the stop stands on.
bool is_elsewhere(const State& state, const session::Session& session, const LessonStop& stop) {
    return session.screen != stop.screen ||
           (!is_modelled(stop) && (!session.recording || session.recording->serial != state.standing.serial));
}

// The lecture's product at its first step, all panels there, where the first lesson is offered.
void stand_at_start(State& state, session::Session& session) {
    if (session.recording->serial != state.offered) {
        auto made = recording_of((*state.lessons)[0].stops[0]);
        if (!made) return;
        session::show(session, std::move(*made));
        state.offered = session.recording->serial;
    }
    session.cursor = {};
    session.screen = session::kStepScreen;
    session.ask(session::wish::FrameAnew{});
}

}  // namespace

void leave_elsewhere(State& state, session::Session& session) {
    const bool of_lesson = !state.quiz && state.lesson < state.lessons->size() &&
                           state.stop < (*state.lessons)[state.lesson].stops.size();
    const LessonStop* const stop = of_lesson ? &(*state.lessons)[state.lesson].stops[state.stop] : nullptr;
    if (session.walking && stop != nullptr && is_unfolding((*state.lessons)[state.lesson])) {
        state.unfolding = true;
        if (state.wanted || !is_elsewhere(state, session, *stop)) return;
        session.walking = false;
    }
    if (!std::exchange(state.unfolding, false) || session.walking) return;
    session.pin = {};
    if (stop != nullptr && state.lesson == 0 && state.offered != 0 && !is_elsewhere(state, session, *stop))
        stand_at_start(state, session);
}

bool begin_welcome(State& state, session::Session& session, const input::KeyPress& press) {
    if (press.key != input::Key::PageDown || press.control || press.alt || press.shift) return false;
    if (!offers(state, session)) return false;
    go_to_stop(state, session, 0, 0);
    return true;
}

float unfolding_strip(Ui& ui, const draw::Rect& area, const std::string& words) {
    using draw::Face, draw::Ink, draw::Size, draw::Rect;
    const float pad = ui.px(16), small = line_height(ui, Size::Small);
    const auto& keys = kUnfoldingKeys;
    const draw::Font font = ui.font(Face::Text, Size::Small);
    const float of_keys =
        std::ceil(std::max(draw::text_size(font, keys[0]).x, draw::text_size(font, keys[1]).x));
    const float room = area.width() - pad * 3 - of_keys;
    // As large as leaves two lines.
    const auto lines_in = [&](Size in) { return wrapped(ui.font(Face::Text, in), words, room).size(); };
    const Size size = lines_in(Size::Display) <= 2 ? Size::Display
                      : lines_in(Size::Title) <= 3 ? Size::Title
                                                   : Size::Body;
    const auto lines = static_cast<float>(std::clamp<size_t>(lines_in(size), 1, 4));
    const float height = std::max(line_height(ui, size) * lines, small * 2) + ui.px(20);
    const Rect rect{area.min, {area.max.x, area.min.y + height}};
    strip_ground(ui, rect, Ink::Product);
    const float middle = (rect.min.y + rect.max.y) / 2;
    paragraph(ui, {rect.min.x + pad, middle - line_height(ui, size) * lines / 2}, room, Face::Text, size,
              Ink::Text, words, 4);
    for (const int at : {0, 1})
        line(ui, {rect.max.x - pad, middle + small * static_cast<float>(at - 1)}, of_keys + 1, Face::Text,
             Size::Small, Ink::TextQuiet, keys[at], draw::Align::Right);
    if (ui.over(rect)) ui.tip = "Next (Page Down, or a click)";
    if (ui.clicked(rect)) input::ask(ui, "forth");
    return height;
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
