// The kernel's text: line numbers, hits of the block so far, the current line lit.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "app/panels/panels.h"
#include "app/view/source_view.h"

namespace tilescope::panels {

void source_panel(Ui& ui, const Rect& rect) {
    surface(ui, rect);
    const view::SourceView source = view::source_view(ui.trace(), *ui.index, ui.step());
    const float pad = ui.px(12), small = line_height(ui, Size::Small);
    const Rect in = rect.inset(pad);
    float y = in.min.y;
    line(ui, {in.min.x, y}, in.width() * 0.6f, Face::Strong, Size::Body, Ink::Text, source.name);
    line(ui, {in.max.x, y + ui.px(3)}, in.width() * 0.4f, Face::Text, Size::Small, Ink::TextFaint, "requests so far", draw::Align::Right);
    y += line_height(ui, Size::Body) + ui.px(6);

    // The PTX of the step, as a footnote.
    const float foot = small * 3;
    const float bottom = in.max.y - foot - ui.px(8);
    ui.list.AddLine({in.min.x, bottom + ui.px(4)}, {in.max.x, bottom + ui.px(4)}, ui.ink(Ink::Line));
    const size_t split = source.footnote.find("  ");
    line(ui, {in.min.x, bottom + ui.px(8)}, in.width(), Face::Text, Size::Small, Ink::TextFaint,
         split == std::string::npos ? std::string_view{} : std::string_view(source.footnote).substr(0, split));
    if (split != std::string::npos) {
        paragraph(ui, {in.min.x, bottom + ui.px(8) + small}, in.width(), Face::Mono, Size::Small, Ink::TextQuiet,
                  std::string_view(source.footnote).substr(split + 2), 2);
    }

    const draw::Font mono = ui.font(Face::Mono, Size::Small);
    const float advance = draw::text_size(mono, "0").x;
    const float numbers = advance * 3, hits = advance * 7;
    const auto shown = static_cast<int>((bottom - y) / small);
    // Comment lines at the head teach, but the code is what runs: begin where the current line is in sight.
    int first = 0;
    const int count = static_cast<int>(source.lines.size());
    int last_site = 0, first_site = count;
    for (int i = 0; i < count; ++i) {
        if (!source.lines[static_cast<size_t>(i)].has_site) continue;
        last_site = i;
        first_site = std::min(first_site, i);
    }
    if (count > shown) {
        const int target = source.current >= 0 ? source.current : first_site;
        const int spread = last_site - first_site + 1;
        // All lines with memory accesses where they fit, else the current one in the middle.
        first = spread + 4 <= shown ? std::min(first_site - (shown - spread) / 2, count - shown) : target - shown / 2;
        first = std::clamp(first, 0, count - shown);
    }
    ui.list.PushClipRect({rect.min.x, y}, {rect.max.x, bottom}, true);
    for (int row = 0; row < shown && first + row < count; ++row) {
        const view::SourceLine& text = source.lines[static_cast<size_t>(first + row)];
        const float top = y + static_cast<float>(row) * small;
        const Rect band{{rect.min.x + ui.px(4), top}, {rect.max.x - ui.px(4), top + small}};
        if (text.current) {
            ui.list.AddRectFilled(band.min, band.max, draw::with_alpha(ui.ink(ink_of(text.kind)), 0.20f), ui.px(3));
            ui.list.AddRectFilled(band.min, {band.min.x + ui.px(3), band.max.y}, ui.ink(ink_of(text.kind)));
        }
        const float base = top + (small - mono.px) / 2 - ui.px(1);
        line(ui, {in.min.x + numbers, base}, numbers, Face::Mono, Size::Small, text.current ? Ink::Text : Ink::TextFaint,
             std::to_string(text.number), draw::Align::Right);
        const bool comment = text.text.find_first_not_of(' ') != std::string_view::npos &&
                             text.text.substr(text.text.find_first_not_of(' ')).substr(0, 2) == "//";
        const float x = in.min.x + numbers + advance;
        const Ink ink = comment ? Ink::TextFaint : text.has_site || text.current ? Ink::Text : Ink::TextQuiet;
        line(ui, {x, base}, in.max.x - hits - x, Face::Mono, Size::Small, ink, text.text);
        if (text.has_site) {
            line(ui, {in.max.x, base}, hits, Face::Mono, Size::Small, text.hits > 0 ? Ink::Text : Ink::TextFaint,
                 view::grouped(text.hits), draw::Align::Right);
        }
        if (text.has_site && ui.over(band)) {
            Pick pick;
            pick.kind = Pick::Kind::Site;
            for (const ptx::Site& site : ui.trace().sites) {
                if (site.line == text.number) pick.site = site.id;
            }
            ui.tip = std::string(text.text.substr(text.text.find_first_not_of(' ')));
            offer_pick(ui, pick);
        } else if (ui.over(band) && draw::text_size(mono, text.text).x > in.max.x - hits - x) {
            ui.tip = std::string(text.text.substr(text.text.find_first_not_of(' ')));
        }
    }
    ui.list.PopClipRect();
}

}  // namespace tilescope::panels
