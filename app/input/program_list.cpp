#include "app/input/program_list.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "app/draw/widgets.h"
#include "app/session/programs.h"

namespace tilescope::input {

using draw::Face, draw::Ink, draw::Rect, draw::Size;

void programs(SessionUi& ui, const Rect& rect, ProgramList& list) {
    surface(ui, rect);
    const auto& all = ui.session.assets.examples();
    const Rect in = rect.inset(ui.px(24));
    const draw::ListType type = list_type(ui, in);
    const float body = line_height(ui, type.words), small = line_height(ui, type.notes), pad = ui.px(2);
    const float width = type.width;
    float y = in.min.y;
    y += paragraph(ui, {in.min.x, y}, width, Face::Strong, Size::Display, Ink::Text, kPrograms, 2) + ui.px(8);
    y +=
        paragraph(ui, {in.min.x, y}, width, Face::Text, Size::Body, Ink::Text,
                  "Each is compiled and run here, and the first launch of each of its kernels is recorded.") +
        ui.px(4);
    const std::vector<std::string> hints{
        "Enter opens; \u2190 \u2192 choose a program. Any other .cu file: drop it on the window, or Ctrl+O.",
        "Enter opens; \u2190 \u2192 choose a program."};
    note(ui, {in.min.x, y}, width, hints);
    y += small + ui.px(12);
    list.chosen = std::min(list.chosen, all.size() - 1);
    const float high = body + small + pad * 2;
    const auto fit = static_cast<size_t>(std::max(1.f, std::floor((in.max.y - y) / high)));
    const auto last = static_cast<double>(all.size() - std::min(all.size(), fit));
    if (const float wheel = ImGui::GetIO().MouseWheel; ui.over(rect)) list.top -= 3.0 * wheel;
    list.top = std::clamp(std::round(list.top), 0.0, last);
    const auto first = static_cast<size_t>(list.top);
    for (size_t at = first; at < std::min(all.size(), first + fit); ++at, y += high) {
        const Rect row{{in.min.x, y}, {in.min.x + width, y + high}};
        entry_row(ui, row, at, at == list.chosen, type, pad, all[at].name, all[at].about);
        if (ui.over(row)) ui.tip = all[at].about;
        if (!ui.clicked(row)) continue;
        list.chosen = at;
        session::open_example(ui.session, all[at].name);
        ui.context.another_frame = true;
    }
}

bool press_in_programs(ProgramList& list, Session& session, const KeyPress& press) {
    const auto& all = session.assets.examples();
    if (all.empty()) return false;
    list.chosen = std::min(list.chosen, all.size() - 1);
    if (press.key == Key::Enter) {
        session::open_example(session, all[list.chosen].name);
        return true;
    }
    const int by = along(press, Key::Left, Key::Right);
    if (by == 0) return false;
    if (by > 0 ? list.chosen + 1 < all.size() : list.chosen > 0) list.chosen += static_cast<size_t>(by);
    // The one chosen stays in sight: ten rows have room in every window.
    const auto at = static_cast<double>(list.chosen);
    list.top = std::clamp(list.top, std::max(0.0, at - 9), at);
    return true;
}

}  // namespace tilescope::input
