// What the comparison comes to, how the two are locked, and the choice of a pair.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/actions.h"
#include "app/compare_session.h"
#include "app/panels/compare_panels.h"

namespace tilescope::panels {

float badge(Ui& ui, ImVec2 at, float size, char letter) {
    const ImVec2 middle{at.x + size / 2, at.y + size / 2};
    const Rgba fill = ui.ink(Ink::Accent);
    if (letter == 'A')
        ui.list.AddCircleFilled(middle, size / 2, fill);
    else
        ui.list.AddRectFilled({at.x + 1, at.y + 1}, {at.x + size - 1, at.y + size - 1}, fill, ui.px(2));
    const std::string text(1, letter);
    draw::draw_text_in(ui.list, ui.font(Face::Strong, Size::Small), at, {at.x + size, at.y + size},
                       ui.context.palette.text_on(fill), text);
    return size;
}

bool compare_bar(Ui& ui, const Rect& rect, const view::Headline& headline) {
    surface(ui, rect);
    app::Compare& compare = ui.state.compare;
    const Rect in{{rect.min.x + ui.px(16), rect.min.y}, {rect.max.x - ui.px(12), rect.max.y}};
    const float high = ui.px(30), top = rect.min.y + (rect.height() - high) / 2;
    float right = in.max.x;
    const auto place = [&](float width) {
        right -= width;
        return Rect{{right, top}, {right + width, top + high}};
    };
    const bool choose = button(ui, place(ui.px(84)), "Choose\u2026", false, true,
                               "Another pair of recordings (N, Shift + N)");
    right -= ui.px(16);
    {
        constexpr const char* kTips[] = {
            "The same number of steps into both blocks (K)",
            "The same stretch of k in both: phases, scaled to each other (K)",
            "The same share of the whole run in both, over all blocks (K)",
        };
        for (size_t i = std::size(view::kLockNames); i-- > 0;) {
            const auto lock = static_cast<view::Lock>(i);
            if (button(ui, place(ui.px(60)), view::kLockNames[i], compare.lock == lock, true, kTips[i]))
                compare.lock = lock;
            right -= ui.px(2);
        }
        const float label = ui.px(74);
        right -= label;
        line(ui, {right, top + (high - line_height(ui, Size::Small)) / 2}, label, Face::Text, Size::Small,
             Ink::TextQuiet, "locked by");
    }
    const float width = right - in.min.x - ui.px(16);
    // On two lines where one is too short for it.
    const bool one = draw::text_size(ui.font(Face::Strong, Size::Title), headline.text).x <= width;
    const Size size = one ? Size::Title : Size::Body;
    const float row = line_height(ui, size);
    const int lines = one || rect.height() < row * 2 ? 1 : 2;
    const auto wrapped_lines = std::min<size_t>(
        wrapped(ui.font(Face::Strong, size), headline.text, width).size(), static_cast<size_t>(lines));
    const float y = rect.min.y + (rect.height() - row * static_cast<float>(wrapped_lines)) / 2;
    paragraph(ui, {in.min.x, y}, width, Face::Strong, size, Ink::Text, headline.text, lines);
    return choose;
}

void compare_choice(Ui& ui, const Rect& rect, bool busy) {
    const auto presets = view::compare_presets();
    app::Compare& compare = ui.state.compare;
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(24));
    const float title = line_height(ui, Size::Title), small = line_height(ui, Size::Small),
                body = line_height(ui, Size::Body);
    line(ui, in.min, in.width(), Face::Strong, Size::Title, Ink::Text, "Two recordings side by side");
    const std::string said =
        busy && compare.preset >= 0
            ? fmt::format("Opening: {}\u2026", presets[static_cast<size_t>(compare.preset)].title)
        : !compare.message.empty()
            ? compare.message
            : "Choose a pair: what differs is one thing alone. N and Shift + N go through them.";
    line(ui, {in.min.x, in.min.y + title}, in.width(), Face::Text, Size::Small,
         compare.message.empty() || busy ? Ink::TextQuiet : Ink::Fault, said);
    const float top = in.min.y + title + small + ui.px(16), gap = ui.px(16);
    const size_t columns = in.width() >= ui.px(700) ? 2 : 1;
    const size_t rows = (presets.size() + columns - 1) / columns;
    const float width = (in.width() - gap * static_cast<float>(columns - 1)) / static_cast<float>(columns);
    const float room = (in.max.y - top - gap * static_cast<float>(rows - 1)) / static_cast<float>(rows);
    const float height = std::clamp(room, ui.px(24), ui.px(112));
    for (size_t i = 0; i < presets.size(); ++i) {
        const view::ComparePreset& preset = presets[i];
        const ImVec2 at{in.min.x + static_cast<float>(i % columns) * (width + gap),
                        top + static_cast<float>(i / columns) * (height + gap)};
        const Rect box{at, {at.x + width, at.y + height}};
        if (box.max.y > rect.max.y) break;
        const bool on = compare.preset == static_cast<int>(i);
        ui.list.AddRectFilled(
            box.min, box.max,
            ui.over(box) ? draw::mix(ui.ink(Ink::Raised), ui.ink(Ink::Accent), 0.12f) : ui.ink(Ink::Raised),
            ui.px(6));
        if (on) ui.list.AddRect(box.min, box.max, ui.ink(Ink::Accent), ui.px(6), 0, ui.px(2));
        const Rect text = box.inset(ui.px(12));
        float y = height >= ui.px(84) ? text.min.y : at.y + (height - body) / 2;
        line(ui, {text.min.x, y}, text.width(), Face::Strong, Size::Body, Ink::Text, preset.title);
        y += body + ui.px(2);
        if (y + small * 2 <= box.max.y) {
            line(ui, {text.min.x, y}, text.width(), Face::Text, Size::Small, Ink::TextQuiet, preset.about);
            y += small + ui.px(4);
            const float mark = ui.px(16), half = text.width() / 2;
            for (const bool a : {true, false}) {
                const float x = text.min.x + (a ? 0 : half);
                badge(ui, {x, y}, mark, a ? 'A' : 'B');
                const view::ComparePreset::Part& part = a ? preset.a : preset.b;
                line(ui, {x + mark + ui.px(6), y}, half - mark - ui.px(12), Face::Mono, Size::Small,
                     Ink::Text, view::part_name(part) + (part.shipped ? "  GPU" : ""));
            }
        }
        if (ui.clicked(box)) {
            compare.preset = static_cast<int>(i);
            compare.wanted = true;
            ui.context.another_frame = true;
        }
    }
}

}  // namespace tilescope::panels
