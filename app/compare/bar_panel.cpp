// What the comparison comes to, how the two are locked, and the button to another pair.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/compare/opening.h"
#include "app/compare/panels.h"
#include "app/input/panels.h"
#include "app/session/playing.h"

namespace tilescope::compare {

float badge(draw::Ui& ui, ImVec2 at, float size, char letter) {
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

bool compare_bar(Ui& ui, const Rect& rect, const Headline& headline) {
    surface(ui, rect);
    State& state = ui.state;
    const Rect in{{rect.min.x + ui.px(16), rect.min.y}, {rect.max.x - ui.px(12), rect.max.y}};
    const float high = ui.px(30), top = rect.min.y + (rect.height() - high) / 2;
    float right = in.max.x;
    const auto place = [&](float width) {
        right -= width;
        return Rect{{right, top}, {right + width, top + high}};
    };
    const bool choose = button(ui, place(ui.px(84)), "Choose\u2026", false, true,
                               "Another pair of recordings (V; N and Shift + N go through them)");
    right -= ui.px(16);
    {
        constexpr const char* kTips[] = {
            "The same number of steps into both blocks (K)",
            "The same stretch of k in both: phases, scaled to each other (K)",
            "The same share of the whole run in both, over all blocks (K)",
        };
        for (size_t i = std::size(kLockNames); i-- > 0;) {
            const auto lock = static_cast<Lock>(i);
            if (button(ui, place(ui.px(60)), kLockNames[i], state.lock == lock, true, kTips[i]))
                state.lock = lock;
            right -= ui.px(2);
        }
        const float label = ui.px(74);
        right -= label;
        line(ui, {right, top + (high - line_height(ui, Size::Small)) / 2}, label, Face::Text, Size::Small,
             Ink::TextQuiet, "locked by");
    }
    const float width = right - in.min.x - ui.px(16);
    // As large as it can be said on as many lines as there is room for.
    Size size = Size::Title;
    int lines = 1;
    for (const Size smaller : {Size::Body, Size::Small}) {
        const auto needed = wrapped(ui.font(Face::Strong, size), headline.text, width).size();
        lines = std::max(1, static_cast<int>(rect.height() / line_height(ui, size)));
        if (needed <= static_cast<size_t>(size == Size::Title ? 1 : lines)) break;
        size = smaller;
        lines = std::max(1, static_cast<int>(rect.height() / line_height(ui, size)));
    }
    const auto drawn = std::min<size_t>(wrapped(ui.font(Face::Strong, size), headline.text, width).size(),
                                        static_cast<size_t>(lines));
    const float y = rect.min.y + (rect.height() - line_height(ui, size) * static_cast<float>(drawn)) / 2;
    paragraph(ui, {in.min.x, y}, width, Face::Strong, size, Ink::Text, headline.text, lines);
    return choose;
}

}  // namespace tilescope::compare
