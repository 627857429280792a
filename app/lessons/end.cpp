// The end of a lesson: what it has shown, in its own sentences, where to go on, and its stops, to go back to.
//
//   +------------------------------------------------+---------------------------+
//   | title                                          | Stops                     |
//   | - a sentence of the summary, figures filled in | 1  what it asked, or said |
//   | - ...                                          | 2  ...                    |
//   |                                                |                           |
//   | Next: title of the next lesson    [ Begin it ] |                           |
//   +------------------------------------------------+---------------------------+
#include <algorithm>

#include <fmt/format.h>

#include "app/lessons/asking.h"
#include "app/lessons/panels.h"

namespace tilescope::lessons {

using draw::Face, draw::Ink, draw::Rect, draw::Size;

void end_page(Ui& ui, const Rect& area) {
    const State& place = ui.state;
    const Lesson& of = (*place.lessons)[place.lesson];
    const Rect card = area.inset(ui.px(8));
    surface(ui, card);
    const float margin = ui.px(ui.session.lecture ? 32 : 48);
    const Rect in = card.inset(std::min(margin, card.width() / 8));
    const bool two = in.width() >= ui.px(860);
    const float gap = ui.px(48);
    const float width = std::min(two ? (in.width() - gap) / 2 : in.width(), ui.px(960)), x = in.min.x;
    const float title = line_height(ui, Size::Title);
    float y = in.min.y;
    if (two) {
        const Rect beside{{x + width + gap, y}, {std::min(in.max.x, x + width * 2 + gap), in.max.y}};
        ui.list.AddLine({beside.min.x - gap / 2, y}, {beside.min.x - gap / 2, in.max.y}, ui.ink(Ink::Line));
        line(ui, beside.min, beside.width(), Face::Strong, Size::Body, Ink::Text, "Stops");
        const float head = line_height(ui, Size::Body) + ui.px(8);
        stop_list(ui, {{beside.min.x, y + head}, beside.max}, place.lesson);
    }
    const std::string tally = tally_words(place.tally);
    note(ui, {x, y}, width, "The end of the lesson" + (tally.empty() ? "" : ".   Questions: " + tally));
    y += line_height(ui, Size::Small) + ui.px(4);
    y += paragraph(ui, {x, y}, width, Face::Strong, Size::Display, Ink::Text, of.title, 2) + ui.px(20);

    // The sentences, and what is below them has room in any case.
    const float below = ui.px(28) + title * 2 + ui.px(16) + ui.px(40);
    const std::vector<std::string>& all =
        place.summary.empty() ? std::vector<std::string>{of.teaches} : place.summary;
    const float indent = ui.px(24), room = width - indent;
    const auto height_in = [&](Size size) {
        size_t lines = 0;
        for (const std::string& one : all) lines += wrapped(ui.font(Face::Text, size), one, room).size();
        return line_height(ui, size) * static_cast<float>(lines) + ui.px(10) * static_cast<float>(all.size());
    };
    const Size size = y + height_in(Size::Title) + below <= in.max.y ? Size::Title : Size::Body;
    for (const std::string& one : all) {
        const float high = line_height(ui, size);
        const float left = in.max.y - below - y;
        const int most = std::max(1, static_cast<int>(left / high));
        if (left < high) break;
        ui.list.AddRectFilled({x, y + high * 0.5f - ui.px(3)}, {x + ui.px(6), y + high * 0.5f + ui.px(3)},
                              ui.ink(Ink::Product), ui.px(1));
        y += paragraph(ui, {x + indent, y}, room, Face::Text, size, Ink::Text, one, most) + ui.px(10);
    }

    y += ui.px(18);
    ui.list.AddLine({x, y}, {x + width, y}, ui.ink(Ink::Line));
    y += ui.px(16);
    const auto next = next_lesson(place, place.lesson);
    const float high = ui.px(36);
    if (next) {
        note(ui, {x, y}, width, "Next lesson");
        y += line_height(ui, Size::Small) + ui.px(2);
        y += paragraph(ui, {x, y}, width, Face::Strong, Size::Title, Ink::Text, (*place.lessons)[*next].title,
                       2) +
             ui.px(12);
        const Rect begin{{x, y}, {x + ui.px(168), y + high}};
        if (button(ui, begin, "Begin it", true, true, "The next lesson (Enter, Page Down)"))
            input::ask(ui, "forth");
        const Rect list{{begin.max.x + ui.px(8), y}, {begin.max.x + ui.px(128), y + high}};
        if (button(ui, list, "All lessons", false, true, "End here (Esc)")) ui.session.walking = false;
        const std::vector<std::string> hints{"Page Down or Enter begins it; Page Up goes back; Esc ends.",
                                             "Page Down begins it; Esc ends.", ""};
        note(ui, {list.max.x + ui.px(16), y + (high - line_height(ui, Size::Small)) / 2},
             x + width - list.max.x - ui.px(16), hints);
        return;
    }
    y += paragraph(ui, {x, y}, width, Face::Strong, Size::Title, Ink::Text, "This was the last lesson.", 1) +
         ui.px(12);
    const Rect list{{x, y}, {x + ui.px(168), y + high}};
    if (button(ui, list, "All lessons", true, true, "End here (Enter, Page Down, Esc)"))
        input::ask(ui, "forth");
}

}  // namespace tilescope::lessons
