// The kernel's text: line numbers, hits of the block so far, the current line lit.
#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "app/input/panels.h"
#include "app/session/playing.h"
#include "app/step/panels.h"
#include "app/step/source_view.h"

namespace tilescope::step {
namespace {

// Widths of the columns: line number, text, hits.
struct Columns {
    float number = 0, text = 0, hits = 0;
};

Columns columns_of(Ui& ui, const SourceView& source, float width) {
    const float advance = draw::text_size(ui.font(Face::Mono, Size::Small), "0").x;
    size_t digits = 1;
    for (const SourceLine& text : source.lines)
        if (text.has_site) digits = std::max(digits, grouped(text.hits).size());
    Columns columns;
    columns.number = advance * static_cast<float>(std::to_string(source.lines.size()).size());
    columns.hits = advance * static_cast<float>(digits + 1);
    columns.text = width - columns.number - ui.px(8) - columns.hits;
    return columns;
}

// A line of the panel: a line of the source, or the second part of one that touches memory and is too
// long; those are the lines that must be read whole.
struct Row {
    size_t line = 0;
    std::string text;
    bool continued = false, comment = false;
};

std::vector<Row> rows_of(Ui& ui, const SourceView& source, float width) {
    const draw::Font mono = ui.font(Face::Mono, Size::Small);
    const Columns columns = columns_of(ui, source, width);
    std::vector<Row> rows;
    for (size_t i = 0; i < source.lines.size(); ++i) {
        const std::string_view whole = source.lines[i].text;
        const size_t indent = std::min(whole.find_first_not_of(' '), whole.size());
        // Indented by two instead of four: the panel is narrow.
        const std::string left(indent / 2, ' ');
        const std::string text = left + std::string(whole.substr(indent));
        const bool comment = whole.substr(indent, 2) == "//";
        if (!source.lines[i].has_site || draw::text_size(mono, text).x <= columns.text) {
            rows.push_back({i, text, false, comment});
            continue;
        }
        bool first = true;
        for (const std::string& part :
             wrapped(mono, whole.substr(indent), columns.text - draw::text_size(mono, left + "  ").x)) {
            std::string shown_part = left;
            shown_part.append(first ? "" : "  ").append(part);
            rows.push_back({i, std::move(shown_part), !first, comment});
            first = false;
        }
    }
    return rows;
}

// The first row in sight: all lines that touch memory where they fit, else the current one in the middle.
int first_row(const SourceView& source, const std::vector<Row>& rows, int shown) {
    const auto count = static_cast<int>(rows.size());
    if (count <= shown) return 0;
    int first_site = count, last_site = 0, current = 0;
    for (int i = 0; i < count; ++i) {
        const SourceLine& text = source.lines[rows[static_cast<size_t>(i)].line];
        if (text.current) current = i;
        if (!text.has_site) continue;
        first_site = std::min(first_site, i);
        last_site = i;
    }
    const int spread = last_site - first_site + 1;
    const int first = spread + 2 <= shown ? first_site - (shown - spread) / 2 : current - shown / 2;
    return std::clamp(first, 0, count - shown);
}

}  // namespace

void source_panel(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    const SourceView source = source_view(ui.trace(), *ui.index(), ui.step());
    const float pad = ui.px(12), small = line_height(ui, Size::Small);
    const Rect in = rect.inset(pad);
    float y = in.min.y;
    const float name = line(ui, {in.min.x, y}, in.width(), Face::Strong, Size::Body, Ink::Text, source.name);
    const float room = in.width() - name - ui.px(12);
    line(ui, {in.max.x, y + ui.px(3)}, room, Face::Text, Size::Small, Ink::TextFaint,
         fitting(ui.font(Face::Text, Size::Small), {"requests so far", "so far", ""}, room),
         draw::Align::Right);
    y += line_height(ui, Size::Body) + ui.px(6);

    // The PTX of the step, as a footnote.
    const bool footed = !source.footnote.empty();
    const float bottom = footed ? in.max.y - small * 3 - ui.px(8) : in.max.y;
    if (footed)
        ui.list.AddLine({in.min.x, bottom + ui.px(4)}, {in.max.x, bottom + ui.px(4)}, ui.ink(Ink::Line));
    const size_t split = source.footnote.find("  ");
    line(
        ui, {in.min.x, bottom + ui.px(8)}, in.width(), Face::Text, Size::Small, Ink::TextFaint,
        split == std::string::npos ? std::string_view{} : std::string_view(source.footnote).substr(0, split));
    if (split != std::string::npos) {
        paragraph(ui, {in.min.x, bottom + ui.px(8) + small}, in.width(), Face::Mono, Size::Small,
                  Ink::TextQuiet, std::string_view(source.footnote).substr(split + 2), 2);
    }

    const std::vector<Row> rows = rows_of(ui, source, in.width());
    const auto shown = static_cast<int>((bottom - y) / small);
    const int first = first_row(source, rows, shown);
    const Columns columns = columns_of(ui, source, in.width());
    ui.list.PushClipRect({rect.min.x, y}, {rect.max.x, bottom}, true);
    for (int at = 0; at < shown && first + at < static_cast<int>(rows.size()); ++at) {
        const Row& row = rows[static_cast<size_t>(first) + static_cast<size_t>(at)];
        const SourceLine& text = source.lines[row.line];
        const float top = y + static_cast<float>(at) * small;
        const Rect band{{rect.min.x + ui.px(4), top}, {rect.max.x - ui.px(4), top + small}};
        if (text.current) {
            ui.list.AddRectFilled(band.min, band.max, draw::with_alpha(ui.ink(ink_of(text.kind)), 0.20f));
            ui.list.AddRectFilled(band.min, {band.min.x + ui.px(3), band.max.y}, ui.ink(ink_of(text.kind)));
        }
        const Ink ink = row.comment                     ? Ink::TextFaint
                        : text.has_site || text.current ? Ink::Text
                                                        : Ink::TextQuiet;
        const float x = in.min.x + columns.number + ui.px(8);
        line(ui, {x, top}, columns.text + (text.has_site ? 0 : columns.hits), Face::Mono, Size::Small, ink,
             row.text);
        if (ui.over(band) && !row.text.empty())
            ui.tip = std::string(text.text.substr(text.text.find_first_not_of(' ')));
        if (row.continued) continue;
        line(ui, {in.min.x + columns.number, top}, columns.number, Face::Mono, Size::Small,
             text.current ? Ink::Text : Ink::TextFaint, std::to_string(text.number), draw::Align::Right);
        if (!text.has_site) continue;
        line(ui, {in.max.x, top}, columns.hits, Face::Mono, Size::Small,
             text.hits > 0 ? Ink::Text : Ink::TextFaint, grouped(text.hits), draw::Align::Right);
        if (!ui.over(band)) continue;
        Pick pick;
        pick.kind = Pick::Kind::Site;
        for (const ptx::Site& site : ui.trace().sites)
            if (site.line == text.number) pick.site = site.id;
        session::offer_pick(ui, pick);
    }
    ui.list.PopClipRect();
}

}  // namespace tilescope::step
