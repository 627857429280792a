
#include <algorithm>
#include <cmath>

#include "app/input/panels.h"

namespace tilescope::input {

using draw::Align;
using draw::Face;
using draw::Ink;
using draw::Rect;
using draw::Rgba;
using draw::Size;
namespace {

ImDrawList& over() { return *ImGui::GetForegroundDrawList(); }

}  // namespace

Rect overlay_box(draw::Ui& ui, const Rect& screen, float width, float height, float top) {
    over().AddRectFilled(screen.min, screen.max, draw::with_alpha(draw::rgb(0), 0.45f));
    width = std::min(width, screen.width() - ui.px(16));
    height = std::min(height, screen.height() - ui.px(16));
    const float x = std::round((screen.min.x + screen.max.x - width) / 2);
    const float middle = (screen.min.y + screen.max.y - height) / 2;
    const float y = std::round(top < 0 ? middle : std::min(screen.min.y + ui.px(top), middle));
    const Rect box{{x, y}, {x + width, y + height}};
    over().AddRectFilled(box.min, box.max, ui.ink(Ink::Panel), ui.px(8));
    over().AddRect(box.min, box.max, ui.ink(Ink::LineStrong), ui.px(8));
    return box;
}

void text_line(draw::Ui& ui, const Rect& rect, const TextField& field, const char* when_empty) {
    over().AddRectFilled(rect.min, rect.max, ui.ink(Ink::Raised), ui.px(4));
    over().AddRect(rect.min, rect.max, ui.ink(Ink::Accent), ui.px(4), 0, ui.px(1.5f));
    const draw::Font font = ui.font(Face::Mono, Size::Body);
    const float pad = ui.px(12), room = rect.width() - pad * 2;
    const float caret = draw::text_size(font, std::string_view(field.text).substr(0, field.caret)).x;
    const float shift = std::max(0.f, caret - room);  // the caret is always in sight
    const float high = draw::text_size(font, "0").y, y = std::round((rect.min.y + rect.max.y - high) / 2);
    const float x = rect.min.x + pad;
    over().PushClipRect({x, rect.min.y}, {rect.max.x - pad + ui.px(2), rect.max.y}, true);
    if (field.text.empty())
        put(ui, over(), ui.font(Face::Text, Size::Body), {x + ui.px(4), y}, ui.ink(Ink::TextFaint),
            when_empty);
    put(ui, over(), font, {x - shift, y}, ui.ink(Ink::Text), field.text);
    over().AddRectFilled({x - shift + caret, y}, {x - shift + caret + ui.px(2), y + high},
                         ui.ink(Ink::Accent));
    over().PopClipRect();
}

int overlay_rows(draw::Ui& ui, const Rect& rect, const std::vector<OverlayRow>& rows, int chosen) {
    const float high = line_height(ui, Size::Body) + ui.px(6), pad = ui.px(12);
    const int fit = std::max(1, static_cast<int>(rect.height() / high)),
              count = static_cast<int>(rows.size());
    const int first = std::clamp(chosen - fit / 2, 0, std::max(0, count - fit));
    int clicked = -1;
    for (int at = first; at < std::min(count, first + fit); ++at) {
        const float y = rect.min.y + static_cast<float>(at - first) * high;
        const Rect row{{rect.min.x, y}, {rect.max.x, y + high}};
        const bool on = at == chosen;
        if (on || ui.over(row))
            over().AddRectFilled(row.min, row.max, ui.ink(on ? Ink::Accent : Ink::Raised), ui.px(4));
        const Rgba ink = on ? ui.context.palette.text_on(ui.ink(Ink::Accent)) : ui.ink(Ink::Text);
        const Rgba quiet = on ? ink : ui.ink(Ink::TextQuiet);
        const draw::Font mono = ui.font(Face::Mono, Size::Small), text = ui.font(Face::Text, Size::Body);
        const float right = draw::text_size(mono, rows[static_cast<size_t>(at)].right).x;
        const std::string& words = rows[static_cast<size_t>(at)].text;
        put(ui, over(), text, {row.min.x + pad, y + ui.px(3)}, ink,
            elided(text, words, row.width() - pad * 3 - right), Align::Left, words);
        put(ui, over(), mono, {row.max.x - pad, y + ui.px(5)}, quiet, rows[static_cast<size_t>(at)].right,
            Align::Right);
        if (ui.clicked(row)) clicked = at;
    }
    if (count > fit) {  // how far down the list this is
        const float part = rect.height() / static_cast<float>(count);
        const float y = rect.min.y + part * static_cast<float>(first);
        over().AddRectFilled({rect.max.x + ui.px(4), y},
                             {rect.max.x + ui.px(8), y + part * static_cast<float>(fit)},
                             ui.ink(Ink::LineStrong), ui.px(2));
    }
    return clicked;
}

}  // namespace tilescope::input
