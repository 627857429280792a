#include <algorithm>

#include <fmt/format.h>

#include "app/lessons/walk.h"

namespace tilescope::lessons {
namespace {

using draw::Face;
using draw::Ink;
using draw::Rect;
using draw::Size;

constexpr int kMostLines = 3;

const Lesson* running(const Ui& ui) {
    if (!ui.session.walk.running || ui.state.lesson >= lesson_list().size()) return nullptr;
    const Lesson& lesson = lesson_list()[ui.state.lesson];
    return ui.state.stop < lesson.stops.size() ? &lesson : nullptr;
}

Size type_of(const Ui& ui) { return ui.session.lecture ? Size::Title : Size::Body; }

// The figures are those of the step where the stop stands, wherever one has stepped since.
std::string words(const Ui& ui, const Lesson& lesson) {
    const LessonStop& stop = lesson.stops[ui.state.stop];
    if (!ui.session.recording || ui.index() == nullptr) return "";
    const uint32_t at = find_step(ui.trace(), *ui.index(), stop).value_or(ui.step());
    return said(ui.trace(), ui.session.summary(), *ui.index(), at, stop.say);
}

float buttons_width(Ui& ui) { return ui.px(3 * 84 + 2 * 6); }

}  // namespace

float strip(Ui& ui, const Rect& area) {
    const Lesson* lesson = running(ui);
    if (lesson == nullptr) return 0;
    const State& place = ui.state;
    const float room = area.width() - ui.px(16 * 2 + 24) - buttons_width(ui);
    const auto lines = wrapped(ui.font(Face::Text, type_of(ui)), words(ui, *lesson), room).size();
    const auto most = static_cast<float>(std::clamp<size_t>(lines, 1, kMostLines));
    const float height = line_height(ui, Size::Small) + line_height(ui, type_of(ui)) * most + ui.px(16);
    const Rect rect{area.min, {area.max.x, area.min.y + height}};
    ui.list.AddRectFilled(rect.min, rect.max, draw::mix(ui.ink(Ink::Panel), ui.ink(Ink::Product), 0.16f),
                          ui.px(6));
    ui.list.AddRectFilled(rect.min, {rect.min.x + ui.px(4), rect.max.y}, ui.ink(Ink::Product), ui.px(2));
    const float x = rect.min.x + ui.px(16), small = line_height(ui, Size::Small);
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
        ui.session.walk.running = false;
    const bool last = place.stop + 1 == lesson->stops.size();
    if (button(ui, place_button(), last ? "Done" : "Next", true, true, "Next stop (Page Down)"))
        session::ask(ui, "forth");
    if (button(ui, place_button(), "Previous", false, place.stop > 0, "Stop before (Page Up)"))
        session::ask(ui, "back");
    return height;
}

}  // namespace tilescope::lessons
