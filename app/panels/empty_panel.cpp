// What a screen shows in place of what is not there: what is missing, what to do next in a sentence, and the
// same as buttons.
#include "app/panels/empty_panel.h"

#include <algorithm>
#include <cmath>

#include "app/actions.h"

namespace tilescope::panels {

void empty_panel(Ui& ui, const Rect& area, std::string_view title, std::string_view next,
                 std::span<const EmptyAction> actions) {
    const float gap = ui.px(8), pad = ui.px(32), button_h = ui.px(36);
    const float width = std::min(ui.px(640), area.width() - gap * 2), room = width - pad * 2;
    const draw::Font small = ui.font(Face::Text, Size::Small);
    const auto lines = [&](Face face, Size size, std::string_view text) {
        return line_height(ui, size) * static_cast<float>(wrapped(ui.font(face, size), text, room).size());
    };
    const float head = lines(Face::Strong, Size::Title, title), body = lines(Face::Text, Size::Body, next);
    const float said = ui.state.message.empty() ? 0 : lines(Face::Text, Size::Body, ui.state.message) + gap;
    const float buttons = actions.empty() ? 0 : button_h + ui.px(24);
    const float height = std::min(pad * 2 + head + gap + body + said + buttons, area.height() - gap * 2);
    // A little above the middle, where the eye rests.
    const float x = std::round((area.min.x + area.max.x - width) / 2),
                y = std::round(area.min.y + std::max(gap, (area.height() - height) * 0.38f));
    const Rect card{{x, y}, {x + width, y + height}};
    surface(ui, card);
    float at = card.min.y + pad;
    at += paragraph(ui, {x + pad, at}, room, Face::Strong, Size::Title, Ink::Text, title, 3) + gap;
    at += paragraph(ui, {x + pad, at}, room, Face::Text, Size::Body, Ink::TextQuiet, next, 6);
    if (said > 0)
        at += paragraph(ui, {x + pad, at + gap}, room, Face::Text, Size::Body, Ink::Fault, ui.state.message,
                        6) +
              gap;
    at += ui.px(24);
    float left = x + pad;
    for (size_t i = 0; i < actions.size(); ++i) {
        const float wide = draw::text_size(small, actions[i].label).x + ui.px(32);
        if (left + wide > card.max.x - gap) break;
        if (button(ui, {{left, at}, {left + wide, at + button_h}}, actions[i].label, i == 0, true,
                   actions[i].tip))
            app::perform(ui.state, actions[i].action);
        left += wide + gap;
    }
}

}  // namespace tilescope::panels
