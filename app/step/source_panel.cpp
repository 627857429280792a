// The kernel's text: line numbers, hits of the block so far, the current line lit.
#include <algorithm>

#include "app/input/panels.h"
#include "app/session/playing.h"
#include "app/step/panels.h"

namespace tilescope::step {
namespace {

// Widths of the columns: line number, text, hits.
struct Columns {
    float number = 0, text = 0, hits = 0;
};

Columns columns_of(Ui& ui, const SourceView& source, float width) {
    const float advance = draw::text_size(ui.font(Face::Mono, Size::Small), "0").x;
    size_t digits = 1;
    for (const SourceLine& of : source.lines)
        if (of.has_site) digits = std::max(digits, grouped(of.hits).size());
    Columns columns;
    columns.number = advance * static_cast<float>(std::to_string(source.lines.size()).size());
    columns.hits = advance * static_cast<float>(digits + 1);
    columns.text = width - columns.number - ui.px(8) - columns.hits;
    return columns;
}

// A line of the panel: a line of the source, or the second part of one that touches memory and is too
// long; those are the lines that must be read whole.
struct Row {
    const SourceLine* line = nullptr;
    std::string text;
    bool continued = false, comment = false;
};

std::vector<Row> rows_of(Ui& ui, const SourceView& source, float width) {
    const draw::Font mono = ui.font(Face::Mono, Size::Small);
    std::vector<Row> rows;
    for (const SourceLine& of : source.lines) {
        const size_t indent = std::min(of.text.find_first_not_of(' '), of.text.size());
        const std::string_view text = of.text.substr(indent);
        // Indented by two instead of four: the panel is narrow.
        const std::string left(indent / 2, ' ');
        const bool comment = text.starts_with("//");
        rows.push_back({&of, left + std::string(text), false, comment});
        if (!of.has_site || draw::text_size(mono, rows.back().text).x <= width) continue;
        rows.pop_back();
        for (const std::string& part : wrapped(mono, text, width - draw::text_size(mono, left + "  ").x)) {
            const bool continued = !rows.empty() && rows.back().line == &of;
            rows.push_back({&of, left + (continued ? "  " : "") + part, continued, comment});
        }
    }
    return rows;
}

// The first row in sight: all lines that touch memory where they fit, else the current one in the middle.
std::ptrdiff_t first_row(const std::vector<Row>& rows, std::ptrdiff_t shown) {
    const auto has_site = [](const Row& row) { return row.line->has_site; };
    const auto first = std::ranges::find_if(rows, has_site) - rows.begin();
    const auto end = rows.rend() - std::find_if(rows.rbegin(), rows.rend(), has_site);
    std::ptrdiff_t current = 0;
    for (size_t i = 0; i < rows.size(); ++i)
        if (rows[i].line->current) current = static_cast<std::ptrdiff_t>(i);
    const auto top = end - first + 2 <= shown ? first - (shown - (end - first)) / 2 : current - shown / 2;
    return std::clamp<std::ptrdiff_t>(top, 0, std::max<std::ptrdiff_t>(std::ssize(rows) - shown, 0));
}

}  // namespace

void source_panel(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    const SourceView source = source_view(ui.trace(), *ui.index(), ui.step());
    const float small = line_height(ui, Size::Small);
    const Rect in = rect.inset(ui.px(12));
    const float name = line(ui, in.min, in.width(), Face::Strong, Size::Body, Ink::Text, source.name);
    const float room = in.width() - name - ui.px(12);
    small_text(ui, {in.max.x, in.min.y + ui.px(3)}, room, Ink::TextFaint,
               fitting(ui.font(Face::Text, Size::Small), {"requests so far", "so far", ""}, room),
               Align::Right);
    const float y = in.min.y + line_height(ui, Size::Body) + ui.px(6);

    float bottom = in.max.y;
    if (!source.footnote.empty()) {  // the PTX of the step: its place, and below it the instruction
        bottom -= small * 3 + ui.px(8);
        ui.list.AddLine({in.min.x, bottom + ui.px(4)}, {in.max.x, bottom + ui.px(4)}, ui.ink(Ink::Line));
        const std::string_view footnote = source.footnote;
        const size_t split = footnote.find("  ");
        small_text(ui, {in.min.x, bottom + ui.px(8)}, in.width(), Ink::TextFaint, footnote.substr(0, split));
        paragraph(ui, {in.min.x, bottom + ui.px(8) + small}, in.width(), Face::Mono, Size::Small,
                  Ink::TextQuiet, footnote.substr(split + 2), 2);
    }

    const Columns columns = columns_of(ui, source, in.width());
    const std::vector<Row> rows = rows_of(ui, source, columns.text);
    const auto shown = static_cast<std::ptrdiff_t>((bottom - y) / small), first = first_row(rows, shown);
    ui.list.PushClipRect({rect.min.x, y}, {rect.max.x, bottom}, true);
    for (auto i = first; i < std::min(first + shown, std::ssize(rows)); ++i) {
        const Row& row = rows[static_cast<size_t>(i)];
        const SourceLine& of = *row.line;
        const float top = y + static_cast<float>(i - first) * small;
        const Rect band{{rect.min.x + ui.px(4), top}, {rect.max.x - ui.px(4), top + small}};
        if (of.current) lit_band(ui, band, ui.ink(ink_of(of.kind)), 0.20f);
        const Ink ink = row.comment ? Ink::TextFaint : of.has_site || of.current ? Ink::Text : Ink::TextQuiet;
        small_number(ui, {in.min.x + columns.number + ui.px(8), top},
                     columns.text + (of.has_site ? 0 : columns.hits), ink, row.text, Align::Left);
        if (ui.over(band) && !row.text.empty())
            ui.tip = std::string(of.text.substr(of.text.find_first_not_of(' ')));
        if (row.continued) continue;
        small_number(ui, {in.min.x + columns.number, top}, columns.number,
                     of.current ? Ink::Text : Ink::TextFaint, std::to_string(of.number));
        if (!of.has_site) continue;
        small_number(ui, {in.max.x, top}, columns.hits, of.hits > 0 ? Ink::Text : Ink::TextFaint,
                     grouped(of.hits));
        if (!ui.over(band)) continue;
        Pick pick{.kind = Pick::Kind::Site};
        for (const ptx::Site& site : ui.trace().sites)
            if (site.line == of.number) pick.site = site.id;
        session::offer_pick(ui, pick);
    }
    ui.list.PopClipRect();
}

}  // namespace tilescope::step
