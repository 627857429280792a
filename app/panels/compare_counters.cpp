// The scale of the maps, and the counters of both beside each other: so far and in the whole run.
//
//                      block so far            whole run
//                     A      B    B/A         A      B     B/A
//   load requests    512   * 32  0.0625   16,384 * 1,024  0.0625      *: fewer; set in strong type too
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/panels/compare_panels.h"

namespace tilescope::panels {
namespace {

// The ramp of cividis with its numbers, and where the two recordings lie on it. Returns the height taken.
float scale(Ui& ui, const Rect& in, const Side& a, const Side& b, uint32_t most) {
    const float small = line_height(ui, Size::Small), body = line_height(ui, Size::Body);
    line(ui, in.min, in.width(), Face::Strong, Size::Small, Ink::Text,
         "loads of an element, one scale for both");
    const float size = ui.px(18), ramp = in.min.y + small + size + ui.px(6), high = ui.px(12);
    const Rect bar{{in.min.x + size / 2, ramp}, {in.max.x - size / 2, ramp + high}};
    const int parts = 128;
    for (int i = 0; i < parts; ++i) {
        const float x0 = bar.min.x + bar.width() * static_cast<float>(i) / parts,
                    x1 = bar.min.x + bar.width() * static_cast<float>(i + 1) / parts;
        ui.list.AddRectFilled({x0, bar.min.y}, {x1 + 0.5f, bar.max.y},
                              ui.context.palette.hot((static_cast<float>(i) + 0.5f) / parts));
    }
    const auto x_of = [&](uint32_t loads) {
        return std::round(bar.min.x +
                          bar.width() * static_cast<float>(loads) / static_cast<float>(std::max(most, 1u)));
    };
    const float text = bar.max.y + ui.px(2);
    uint32_t at[] = {most_loads(a), most_loads(b)};
    const bool same = at[0] == at[1];
    for (int i = 0; i < 2; ++i) {
        const float x = x_of(at[i]);
        // Two at one place stand beside each other.
        const float shift = same ? (i == 0 ? -size : 0) : -size / 2;
        float left = std::clamp(x + shift, in.min.x, in.max.x - size * (same && i == 0 ? 2.f : 1.f));
        if (!same && std::abs(x_of(at[0]) - x_of(at[1])) < size)
            left += i == (at[0] < at[1] ? 0 : 1) ? -size / 2 : size / 2;
        badge(ui, {left, ramp - size - ui.px(4)}, size, i == 0 ? 'A' : 'B');
        ui.list.AddRectFilled({x - 1, ramp - ui.px(4)}, {x + 1, bar.max.y + ui.px(2)}, ui.ink(Ink::Text));
    }
    line(ui, {bar.min.x, text}, ui.px(60), Face::Mono, Size::Small, Ink::TextQuiet, "0", draw::Align::Center);
    float taken_to = bar.min.x + ui.px(12);
    std::sort(std::begin(at), std::end(at));
    for (int i = 0; i < 2; ++i) {
        if (i == 1 && same) break;
        const std::string number = view::short_count(at[i]);
        const float width = draw::text_size(ui.font(Face::Mono, Size::Small), number).x;
        const float left = std::clamp(x_of(at[i]) - width / 2, taken_to, in.max.x - width);
        line(ui, {left, text}, width + 2, Face::Mono, Size::Small, Ink::Text, number);
        taken_to = left + width + ui.px(6);
    }
    return text + body - in.min.y;
}

struct Columns {
    float name = 0, at[6] = {};
    float width = 0;
};

void number(Ui& ui, float right, float y, float width, Size size, const std::string& text, bool better) {
    const float w = line(ui, {right, y}, width, Face::Mono, size, Ink::Text, text, draw::Align::Right);
    if (!better) return;
    const float r = ui.px(4), m = y + line_height(ui, size) / 2;
    ui.list.AddCircleFilled({right - w - ui.px(9), m}, r, ui.ink(Ink::SharedLoad));
    ui.list.AddRectFilled({right - w, m + line_height(ui, size) / 2 - ui.px(3)},
                          {right, m + line_height(ui, size) / 2 - ui.px(1.5f)}, ui.ink(Ink::SharedLoad));
}

void headings(Ui& ui, const Columns& columns, float y, bool of_run) {
    const float small = line_height(ui, Size::Small), size = ui.px(18);
    const char* titles[] = {of_run ? "run so far" : "block so far", "whole run"};
    for (int group = 0; group < 2; ++group) {
        const float left = columns.at[group * 3] - columns.width + ui.px(8),
                    right = columns.at[group * 3 + 2];
        line(ui, {right, y}, right - left, Face::Strong, Size::Small, Ink::Text, titles[group],
             draw::Align::Right);
        ui.list.AddRectFilled({left, y + small}, {right, y + small + 1}, ui.ink(Ink::Line));
        const float top = y + small + ui.px(5);
        for (int i = 0; i < 2; ++i)
            badge(ui, {columns.at[group * 3 + i] - size, top}, size, i == 0 ? 'A' : 'B');
        line(ui, {right, top}, columns.width, Face::Text, Size::Small, Ink::TextQuiet, "B / A",
             draw::Align::Right);
    }
}

}  // namespace

void counters_panel(Ui& ui, const Rect& rect, const Side& a, const Side& b, const view::Counters& counters,
                    uint32_t most) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(12));
    float y = in.min.y;
    if (most > 0) y += scale(ui, in, a, b, most) + ui.px(8);
    const float small = line_height(ui, Size::Small), body = line_height(ui, Size::Body);
    const float head = small + ui.px(28);
    const auto rows = static_cast<float>(counters.rows.size());
    // As large as fits: the numbers are what the back row reads.
    const bool large = in.width() >= ui.px(590) && y + head + rows * body <= in.max.y;
    const Size size = large ? Size::Body : Size::Small;
    const float pitch =
        std::min(std::floor((in.max.y - y - head) / std::max(rows, 1.f)), (large ? body : small) + ui.px(6));
    Columns columns;
    columns.name = std::min(in.width() * 0.27f, ui.px(large ? 170 : 132));
    columns.width = (in.width() - columns.name) / 6;
    for (int i = 0; i < 6; ++i)
        columns.at[i] = std::round(in.min.x + columns.name + columns.width * static_cast<float>(i + 1));
    headings(ui, columns, y, counters.of_run);
    y += head;
    const float mark = ui.px(10), high = line_height(ui, size);
    for (const view::CounterRow& row : counters.rows) {
        if (pitch < small * 0.8f || y + high > in.max.y + ui.px(4)) break;
        sign(ui, {{in.min.x, y + (high - mark) / 2}, {in.min.x + mark, y + (high + mark) / 2}}, row.kind);
        line(ui, {in.min.x + mark + ui.px(6), y + (large ? ui.px(2) : 0)}, columns.name - mark - ui.px(6),
             Face::Text, Size::Small, row.least ? Ink::TextFaint : Ink::TextQuiet, row.what);
        const view::Count* groups[] = {&row.so_far, &row.whole};
        for (int group = 0; group < 2; ++group) {
            const view::Count& count = *groups[group];
            const int better = row.least ? 0 : count.fewer();
            const float* at = columns.at + group * 3;
            const float room = columns.width - ui.px(4);
            number(ui, at[0], y, room, size, view::count_text(count.a, row.bytes), better < 0);
            number(ui, at[1], y, room, size, view::count_text(count.b, row.bytes), better > 0);
            line(ui, {at[2], y}, room, Face::Mono, size, Ink::TextQuiet, view::ratio_text(count),
                 draw::Align::Right);
        }
        if (ui.over({{in.min.x, y}, {in.max.x, y + pitch}})) {
            ui.tip = fmt::format("{}: {} in A, {} in B; of the whole run {} and {}", row.what,
                                 view::grouped(row.so_far.a), view::grouped(row.so_far.b),
                                 view::grouped(row.whole.a), view::grouped(row.whole.b));
        }
        y += pitch;
    }
}

}  // namespace tilescope::panels
