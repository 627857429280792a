// Sums so far of this block, and of the whole recording: requests, what they cost, the least they could;
// and the kernel's measured time beside the untiled kernel's.
#include <algorithm>

#include <fmt/format.h>

#include "app/input/panels.h"
#include "app/look/sums.h"
#include "app/look/time_words.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

float third_of(Ui& ui, const Rect& in) { return std::min(ui.px(74), in.width() * 0.205f); }

float table(Ui& ui, const Rect& in, float y, const look::SumsTable& sums) {
    const float small = line_height(ui, Size::Small), third = third_of(ui, in), mark = ui.px(10);
    const float least = in.max.x, cost = least - third, requests = cost - third;  // right edges
    line(ui, {in.min.x, y}, requests - third - in.min.x, Face::Strong, Size::Small, Ink::Text, sums.title);
    small_text(ui, {requests, y}, third, Ink::TextFaint, "requests", Align::Right);
    small_text(ui, {cost, y}, third, Ink::TextFaint, "cost", Align::Right);
    small_text(ui, {least, y}, third, Ink::TextFaint, "least", Align::Right);
    y += small;
    for (const look::SumsRow& row : sums.rows) {
        if (y + small > in.max.y + ui.px(4)) return y;
        sign(ui, {{in.min.x, y + (small - mark) / 2}, {in.min.x + mark, y + (small + mark) / 2}}, row.kind);
        const float name = small_text(ui, {in.min.x + mark + ui.px(6), y}, requests - third - in.min.x - mark,
                                      Ink::TextQuiet, row.what);
        if (ui.over({{in.min.x, y}, {in.max.x, y + small}})) ui.tip = row.exact;
        if (row.wasteful) {  // a shape beside the colour
            const float x = in.min.x + mark + name + ui.px(14), m = y + small / 2, r = ui.px(3.5f);
            ui.list.AddTriangleFilled({x, m - r}, {x + r, m + r}, {x - r, m + r}, ui.ink(Ink::Fault));
        }
        small_number(ui, {requests, y}, third, Ink::Text, row.requests);
        small_number(ui, {cost, y}, third, row.wasteful ? Ink::Fault : Ink::Text, row.cost);
        small_number(ui, {least, y}, third, Ink::TextQuiet, row.least);
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
    const float third = third_of(ui, in), value = in.max.x - third;
    if (y + height > in.max.y + ui.px(4)) return y;
    if (ui.over({{in.min.x, y}, {in.max.x, y + height}})) ui.tip = table.sentence;
    if (!table.measured) {
        small_text(ui, {in.min.x, y}, in.width(), Ink::TextQuiet, table.title);
        return y + height;
    }
    line(ui, {in.min.x, y}, value - in.min.x, Face::Strong, Size::Small, Ink::Text, table.title);
    small_text(ui, {in.max.x, y}, third, Ink::TextFaint, table.note, Align::Right);
    for (const bool own : {true, false}) {
        y += small;
        small_text(ui, {in.min.x, y}, value - third - in.min.x, Ink::TextQuiet,
                   own ? table.own : table.rival);
        small_number(ui, {value, y}, third * 1.2f, Ink::Text, own ? table.own_time : table.rival_time);
    }
    small_number(ui, {in.max.x, y}, third, Ink::TextQuiet, table.ratio);
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
        const bool fits =
            small * static_cast<float>(wrapped(font, trouble, in.width()).size()) <= in.max.y + ui.px(4) - y;
        foot = fits ? trouble : "Not whole: these sums are of what was recorded.";
    }
    const auto lines = static_cast<int>((in.max.y + ui.px(4) - y) / small);
    if (lines < 1) return;
    const auto& result = ui.trace().meta.result;
    const bool bad = !trouble.empty() || (result.checked && !result.verified);
    paragraph(ui, {in.min.x, y}, in.width(), Face::Text, Size::Small, bad ? Ink::Fault : Ink::TextQuiet, foot,
              lines);
}

}  // namespace tilescope::step
