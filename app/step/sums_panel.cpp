// Sums so far of this block, and of the whole recording: requests, what they cost, the least they could;
// and the kernel's measured time beside the untiled kernel's.
#include <algorithm>

#include <fmt/format.h>

#include "app/input/panels.h"
#include "app/look/sums.h"
#include "app/look/time_words.h"
#include "app/session/playing.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

float table(Ui& ui, const Rect& in, float y, const look::SumsTable& sums) {
    const float small = line_height(ui, Size::Small);
    const float third = std::min(ui.px(74), in.width() * 0.205f);
    const float cost = in.max.x - third, requests = in.max.x - third * 2;
    line(ui, {in.min.x, y}, requests - third - in.min.x, Face::Strong, Size::Small, Ink::Text, sums.title);
    line(ui, {requests, y}, third, Face::Text, Size::Small, Ink::TextFaint, "requests", draw::Align::Right);
    line(ui, {cost, y}, third, Face::Text, Size::Small, Ink::TextFaint, "cost", draw::Align::Right);
    line(ui, {in.max.x, y}, third, Face::Text, Size::Small, Ink::TextFaint, "least", draw::Align::Right);
    y += small;
    const float mark = ui.px(10);
    for (const look::SumsRow& row : sums.rows) {
        if (y + small > in.max.y + ui.px(4)) return y;
        sign(ui, {{in.min.x, y + (small - mark) / 2}, {in.min.x + mark, y + (small + mark) / 2}}, row.kind);
        const float name = line(ui, {in.min.x + mark + ui.px(6), y}, requests - third - in.min.x - mark,
                                Face::Text, Size::Small, Ink::TextQuiet, row.what);
        if (ui.over({{in.min.x, y}, {in.max.x, y + small}})) ui.tip = row.exact;
        if (row.wasteful) {  // a shape beside the colour
            const float x = in.min.x + mark + name + ui.px(14), m = y + small / 2, r = ui.px(3.5f);
            ui.list.AddTriangleFilled({x, m - r}, {x + r, m + r}, {x - r, m + r}, ui.ink(Ink::Fault));
        }
        line(ui, {requests, y}, third, Face::Mono, Size::Small, Ink::Text, row.requests, draw::Align::Right);
        line(ui, {cost, y}, third, Face::Mono, Size::Small, row.wasteful ? Ink::Fault : Ink::Text, row.cost,
             draw::Align::Right);
        line(ui, {in.max.x, y}, third, Face::Mono, Size::Small, Ink::TextQuiet, row.least,
             draw::Align::Right);
        y += small;
    }
    return y;
}

look::TimesTable times_of(const Ui& ui) {
    return look::times_table(ui.trace().meta, ui.session.recording->product, ui.session.assets.timings());
}

// The kernel's measured time beside the untiled one's, always with the device that it was measured on.
float times(Ui& ui, const Rect& in, float y, const look::TimesTable& table) {
    const float small = line_height(ui, Size::Small), height = small * (table.measured ? 3.f : 1.f);
    const float third = std::min(ui.px(74), in.width() * 0.205f), value = in.max.x - third;
    if (y + height > in.max.y + ui.px(4)) return y;
    if (ui.over({{in.min.x, y}, {in.max.x, y + height}})) ui.tip = table.sentence;
    const float title = table.measured ? value - in.min.x : in.width();
    line(ui, {in.min.x, y}, title, table.measured ? Face::Strong : Face::Text, Size::Small,
         table.measured ? Ink::Text : Ink::TextQuiet, table.title);
    if (!table.measured) return y + height;
    line(ui, {in.max.x, y}, third, Face::Text, Size::Small, Ink::TextFaint, table.note, draw::Align::Right);
    for (const bool own : {true, false}) {
        y += small;
        line(ui, {in.min.x, y}, value - third - in.min.x, Face::Text, Size::Small, Ink::TextQuiet,
             own ? table.own : table.rival);
        line(ui, {value, y}, third * 1.2f, Face::Mono, Size::Small, Ink::Text,
             own ? table.own_time : table.rival_time, draw::Align::Right);
        if (!own)
            line(ui, {in.max.x, y}, third, Face::Mono, Size::Small, Ink::TextQuiet, table.ratio,
                 draw::Align::Right);
    }
    return y + small;
}

}  // namespace

float sums_height(Ui& ui) {
    if (!ui.session.recording) return 0;
    const analysis::Summary& summary = ui.session.summary();
    const size_t rows = look::sums_table("", {}, summary).rows.size();
    const size_t timed = times_of(ui).measured ? 3 : 1;
    return line_height(ui, Size::Small) * static_cast<float>(2 * (rows + 1) + timed + 2) + ui.px(12 * 2 + 20);
}

void sums_panel(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    const Rect in = rect.inset(ui.px(12));
    const analysis::Summary& summary = ui.session.summary();
    const float small = line_height(ui, Size::Small);
    const look::SplitSums so_far = look::sums_so_far(ui.trace(), *ui.index(), ui.step());
    const look::SumsTable here = look::sums_table("block so far", so_far, summary);
    look::SumsTable whole = look::sums_table("whole recording", summary, summary);
    for (look::SumsRow& row : whole.rows)
        if (!ui.session.totals) row.requests = row.cost = row.least = "\u2026", row.wasteful = false;
    const float rows = static_cast<float>(here.rows.size() + 1) * small;
    float y = table(ui, in, in.min.y, here);
    y += ui.px(6);
    if (y + rows <= in.max.y + ui.px(4)) y = table(ui, in, y, whole) + ui.px(6);
    y = times(ui, in, y, times_of(ui)) + ui.px(6);
    const std::string trouble = look::not_whole(ui.trace(), ui.session.cursor.block);
    std::string foot = fmt::format("{}; {}", here.bytes, look::result_text(ui.trace()));
    if (!trouble.empty()) {  // the strip above says all of it
        const draw::Font font = ui.font(Face::Text, Size::Small);
        const auto room = static_cast<size_t>(std::max(0.f, (in.max.y + ui.px(4) - y) / small));
        foot = wrapped(font, trouble, in.width()).size() <= room
                   ? trouble
                   : "Not whole: these sums are of what was recorded.";
    }
    if (y + small <= in.max.y + ui.px(4)) {
        const bool bad =
            !trouble.empty() || (ui.trace().meta.result.checked && !ui.trace().meta.result.verified);
        const int lines = static_cast<int>((in.max.y + ui.px(4) - y) / small);
        paragraph(ui, {in.min.x, y}, in.width(), Face::Text, Size::Small, bad ? Ink::Fault : Ink::TextQuiet,
                  foot, std::max(lines, 1));
    }
}

}  // namespace tilescope::step
