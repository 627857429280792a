#include "app/panels/lesson_panel.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/actions.h"
#include "app/view/lessons.h"

namespace tilescope::panels {
namespace {

constexpr int kMostLines = 3;

const view::Lesson* running(const State& state) {
    const app::LessonPlace& place = state.teach.lesson;
    if (!place.running || place.lesson >= view::lessons().size()) return nullptr;
    const view::Lesson& lesson = view::lessons()[place.lesson];
    return place.stop < lesson.stops.size() ? &lesson : nullptr;
}

Size type_of(const Ui& ui) { return ui.state.teach.lecture ? Size::Title : Size::Body; }

// The figures are those of the step where the stop stands, wherever one has stepped since.
std::string words(const Ui& ui, const view::Lesson& lesson) {
    const view::LessonStop& stop = lesson.stops[ui.state.teach.lesson.stop];
    if (!ui.state.session || ui.index == nullptr) return "";
    const uint32_t at = view::find_step(ui.trace(), *ui.index, stop).value_or(ui.step());
    return view::said(*ui.state.session, *ui.index, at, stop.say);
}

float buttons_width(Ui& ui) { return ui.px(3 * 84 + 2 * 6); }

}  // namespace

float lesson_height(Ui& ui, float width) {
    const view::Lesson* lesson = running(ui.state);
    if (lesson == nullptr) return 0;
    const float room = width - ui.px(16 * 2 + 24) - buttons_width(ui);
    const auto lines = wrapped(ui.font(Face::Text, type_of(ui)), words(ui, *lesson), room).size();
    const auto most = static_cast<float>(std::clamp<size_t>(lines, 1, kMostLines));
    return line_height(ui, Size::Small) + line_height(ui, type_of(ui)) * most + ui.px(16);
}

void lesson_strip(Ui& ui, const Rect& rect) {
    const view::Lesson* lesson = running(ui.state);
    if (lesson == nullptr) return;
    const app::LessonPlace& place = ui.state.teach.lesson;
    ui.list.AddRectFilled(rect.min, rect.max, draw::mix(ui.ink(Ink::Panel), ui.ink(Ink::Product), 0.16f),
                          ui.px(6));
    ui.list.AddRectFilled(rect.min, {rect.min.x + ui.px(4), rect.max.y}, ui.ink(Ink::Product), ui.px(2));
    const float x = rect.min.x + ui.px(16), small = line_height(ui, Size::Small);
    const float room = rect.width() - ui.px(16 * 2 + 24) - buttons_width(ui);
    float y = rect.min.y + ui.px(7);
    const std::string step = place.note.empty() ? "" : "   " + place.note;
    line(ui, {x, y}, room, Face::Strong, Size::Small, Ink::TextQuiet,
         fmt::format("{}   {} of {}{}", lesson->title, place.stop + 1, lesson->stops.size(), step));
    y += small;
    paragraph(ui, {x, y}, room, Face::Text, type_of(ui), Ink::Text, words(ui, *lesson), kMostLines);
    const float w = ui.px(84), h = ui.px(30), top = (rect.min.y + rect.max.y - h) / 2;
    float right = rect.max.x - ui.px(12);
    const auto place_button = [&] {
        right -= w;
        const Rect box{{right, top}, {right + w, top + h}};
        right -= ui.px(6);
        return box;
    };
    if (button(ui, place_button(), "Leave", false, true, "End the lesson (Esc)"))
        ui.state.teach.lesson.running = false;
    const bool last = place.stop + 1 == lesson->stops.size();
    if (button(ui, place_button(), last ? "Done" : "Next", true, true, "Next stop (Page Down)"))
        app::perform(ui.state, "forth");
    if (button(ui, place_button(), "Previous", false, place.stop > 0, "Stop before (Page Up)"))
        app::perform(ui.state, "back");
}

}  // namespace tilescope::panels
