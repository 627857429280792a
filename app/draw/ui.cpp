#include "app/draw/ui.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

#include "app/draw/sheet.h"

namespace tilescope::draw {

void put(Ui& ui, ImDrawList& list, const Font& font, ImVec2 at, Rgba color, std::string_view text,
         Align align, std::string_view whole) {
    draw_text(list, font, at, color, text, align);
    const bool in_line = ui.mouse && ui.cursor().y >= at.y && ui.cursor().y < at.y + font.px * 1.5f;
    if ((ui.context.inspection == nullptr && !in_line) || (text.empty() && whole.empty())) return;
    const ImVec2 size = text_size(font, text);
    const float x = at.x - size.x * (align == Align::Left ? 0.f : align == Align::Center ? 0.5f : 1.f);
    if (in_line && ui.over({{x, at.y}, {x + size.x, at.y + size.y}})) {
        const bool words = font.font != ui.font(Face::Mono, Size::Body).font;
        ui.context.pointed = {words ? std::string(text) : "", font, {x, at.y}};
    }
    if (ui.context.inspection == nullptr) return;
    ui.context.inspection->texts.push_back({std::string(whole.empty() ? text : whole),
                                            {x, at.y},
                                            {x + size.x, at.y + size.y},
                                            !whole.empty() && whole != text,
                                            &list});
}

std::string panel_word(const char* name) {
    std::string word = name;
    for (const std::string_view kind : {"_panel", "_page"})
        if (word.ends_with(kind)) word.resize(word.size() - kind.size());
    std::ranges::replace(word, '_', '-');
    return word;
}

void surface(Ui& ui, const Rect& rect, const char* name) {
    const Rgba color = ui.ink(Ink::Panel);
    if (ui.context.panels != nullptr) ui.context.panels->push_back({name, rect});
    if (ui.context.inspection != nullptr)
        ui.context.inspection->surfaces.push_back({rect.min.x, rect.min.y, rect.max.x, rect.max.y});
    if (ui.context.surfaces == nullptr) return ui.list.AddRectFilled(rect.min, rect.max, color, ui.px(6));
    // On whole pixels, so that what is cleared and the corners, which are drawn, meet.
    const ImVec2 min{std::round(rect.min.x), std::round(rect.min.y)},
        max{std::round(rect.max.x), std::round(rect.max.y)};
    const float r = std::floor(std::min({ui.px(6), (max.x - min.x) / 2, (max.y - min.y) / 2}));
    ui.context.surfaces->push_back({min, max, r, color});
    if (r <= 0) return;
    constexpr auto kQuarter = std::numbers::pi_v<float> / 2;
    float angle = 0;  // 0 points right, a quarter on points down
    for (const ImVec2 centre : {ImVec2{max.x - r, max.y - r},
                                {min.x + r, max.y - r},
                                {min.x + r, min.y + r},
                                {max.x - r, min.y + r}}) {
        ui.list.PathLineTo(centre);
        ui.list.PathArcTo(centre, r, angle, angle + kQuarter);
        ui.list.PathFillConvex(color);
        angle += kQuarter;
    }
}

std::string elided(const Font& font, std::string_view whole, float width) {
    std::string held;
    const std::string_view text = shown(whole, held);
    if (text_size(font, text).x <= width) return std::string(text);
    // The ends of whole characters, of which the last that has room is looked for.
    std::vector<size_t> ends;
    for (size_t at = 0; at < text.size(); ++at)
        if ((static_cast<unsigned char>(text[at]) & 0xC0) != 0x80) ends.push_back(at);
    const auto cut = [&](size_t end) { return std::string(text.substr(0, end)) + "\u2026"; };
    const auto none =
        std::ranges::partition_point(ends, [&](size_t end) { return text_size(font, cut(end)).x <= width; });
    return none == ends.begin() ? "" : cut(*std::prev(none));
}

const std::string& fitting(const Font& font, const std::vector<std::string>& wordings, float width) {
    for (const std::string& wording : wordings)
        if (text_size(font, wording).x <= width) return wording;
    return wordings.back();
}

std::vector<std::string> wrapped(const Font& font, std::string_view whole, float width) {
    std::string held;
    std::string_view text = shown(whole, held);
    std::vector<std::string> lines;
    while (!text.empty()) {
        const std::string word(text.substr(0, text.find(' ')));
        text.remove_prefix(std::min(word.size() + 1, text.size()));
        if (lines.empty() || text_size(font, lines.back() + " " + word).x > width)
            lines.push_back(word);
        else
            lines.back() += " " + word;
    }
    return lines;
}

float line(Ui& ui, ImVec2 at, float width, Face face, Size size, Ink ink, std::string_view text,
           Align align) {
    const Font font = ui.font(face, size);
    const std::string cut = elided(font, text, width);
    put(ui, ui.list, font, at, ui.ink(ink), cut, align, text);
    return text_size(font, cut).x;
}

void note(Ui& ui, ImVec2 at, float width, const std::vector<std::string>& wordings) {
    note(ui, at, width, fitting(ui.font(Face::Text, Size::Small), wordings, width));
}

float paragraph(Ui& ui, ImVec2 at, float width, Face face, Size size, Ink ink, std::string_view text,
                int most) {
    const Font font = ui.font(face, size);
    std::vector<std::string> lines = wrapped(font, text, width);
    if (lines.size() > static_cast<size_t>(most)) {
        // The last line takes the rest, so that it is cut where it ends and not before.
        for (size_t i = static_cast<size_t>(most); i < lines.size(); ++i)
            lines[static_cast<size_t>(most) - 1] += " " + lines[i];
        lines.resize(static_cast<size_t>(most));
    }
    const float height = line_height(ui, size);
    for (size_t i = 0; i < lines.size(); ++i)
        line(ui, {at.x, at.y + static_cast<float>(i) * height}, width, face, size, ink, lines[i]);
    return height * static_cast<float>(lines.size());
}

bool button(Ui& ui, const Rect& rect, std::string_view label, bool on, bool enabled, const char* tip) {
    if (ui.context.paper) return false;
    const bool over = enabled && ui.over(rect);
    const bool held = over && ImGui::IsMouseDown(0);
    Rgba fill = on ? ui.ink(Ink::Accent) : ui.ink(Ink::Raised);
    if (over) fill = mix(fill, on ? ui.ink(Ink::Panel) : ui.ink(Ink::Accent), held ? 0.25f : 0.12f);
    ui.list.AddRectFilled(rect.min, rect.max, fill, ui.px(4));
    Rgba text = on ? ui.context.palette.text_on(ui.ink(Ink::Accent)) : ui.ink(Ink::Text);
    if (!enabled) text = ui.ink(Ink::TextFaint);
    const Font font = ui.font(Face::Text, Size::Small);
    const std::string cut = elided(font, label, rect.width() - ui.px(4));
    const ImVec2 size = text_size(font, cut);
    put(ui, ui.list, font, {(rect.min.x + rect.max.x - size.x) / 2, (rect.min.y + rect.max.y - size.y) / 2},
        text, cut, Align::Left, label);
    if (over && tip != nullptr) ui.tip = tip;
    return over && ImGui::IsMouseClicked(0);
}

void hatch(Ui& ui, const Rect& rect, Rgba color, float spacing) {
    // Rising lines, cut to the rectangle by hand: a clip rectangle each would be a draw call each.
    const float height = rect.height();
    for (float x = rect.min.x - height; x < rect.max.x; x += spacing) {
        const float from = std::max(x, rect.min.x), to = std::min(x + height, rect.max.x);
        if (to - from < 0.5f) continue;
        ui.list.AddLine({from, rect.max.y - (from - x)}, {to, rect.max.y - (to - x)}, color, 1);
    }
}

void zero_sign(Ui& ui, const Rect& cell) {
    const Rgba color = ui.ink(Ink::LineStrong);
    ui.list.AddRect(cell.min, cell.max, color);
    ui.list.AddLine({cell.min.x + 1, cell.max.y - 1}, {cell.max.x - 1, cell.min.y + 1}, color,
                    std::max(1.f, ui.px(1)));
}

void stale_notch(Ui& ui, const Rect& cell) {
    const float notch = std::max(std::min(ui.px(4), cell.width() * 0.6f), cell.width() / 6);
    ui.list.AddTriangleFilled({cell.max.x - notch, cell.min.y}, {cell.max.x, cell.min.y},
                              {cell.max.x, cell.min.y + notch}, ui.ink(Ink::TextQuiet));
}

void stale_sign(Ui& ui, const Rect& box) {
    ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::Cell));
    ui.list.AddRect(box.min, box.max, ui.ink(Ink::Line));
    stale_notch(ui, box);
}

GridMark fill_mark(const CellRect& cells, Rgba fill) {
    const auto f = [](uint32_t at) { return static_cast<float>(at); };
    return {f(cells.row0), f(cells.col0), f(cells.rows()), f(cells.cols()), fill};
}

GridMark frame_mark(const CellRect& cells, Rgba edge, float edge_px, bool dashed) {
    GridMark mark = fill_mark(cells, 0);
    mark.edge = edge, mark.edge_px = edge_px, mark.dashed = dashed;
    return mark;
}

void fault_sign(Ui& ui, const Rect& box) {
    ui.list.AddRectFilled(box.min, box.max, ui.ink(Ink::Cell));
    const float in = box.width() * 0.28f;
    for (const ImVec2 corner : {box.min, ImVec2{box.max.x, box.min.y}, box.max, ImVec2{box.min.x, box.max.y}})
        ui.list.AddLine(
            corner,
            {corner.x + (corner.x < box.max.x ? in : -in), corner.y + (corner.y < box.max.y ? in : -in)},
            ui.ink(Ink::Fault), ui.px(1.5f));
    ui.list.AddRect(box.min, box.max, ui.ink(Ink::Fault), 0.f, 0, ui.px(1.5f));
}

GridMark fault_mark(const Ui& ui, const CellRect& cell, float pitch) {
    const Rgba ink = ui.ink(Ink::Fault);
    if (pitch >= ui.px(12)) {
        GridMark mark = frame_mark(cell, ink, std::min(ui.px(2), std::max(1.f, pitch / 16)));
        mark.pattern = CellPattern::Cross;
        return mark;
    }
    GridMark mark = fill_mark(cell, ink);
    if (pitch < 4) return mark;
    // A dot in the cell: its own colour stays in sight around it.
    mark.row += 0.3f, mark.col += 0.3f, mark.rows = mark.cols = 0.4f;
    return mark;
}

std::optional<uint64_t> cell_under(const Ui& ui, const Rect& box, const GridView& grid, uint32_t rows,
                                   uint32_t cols) {
    if (!ui.over(box)) return std::nullopt;
    const auto row = static_cast<int64_t>(std::floor((ui.cursor().y - grid.y) / grid.pitch)),
               col = static_cast<int64_t>(std::floor((ui.cursor().x - grid.x) / grid.pitch));
    if (row < 0 || col < 0 || row >= rows || col >= cols) return std::nullopt;
    return static_cast<uint64_t>(row) * cols + static_cast<uint64_t>(col);
}

std::optional<uint64_t> element_under(const Ui& ui, const Rect& box, const GridView& grid,
                                      const Array& array) {
    const Sheet sheet(array);
    const auto under = cell_under(ui, box, grid, sheet.rows, sheet.cols);
    return under ? sheet.element(static_cast<uint32_t>(*under / sheet.cols),
                                 static_cast<uint32_t>(*under % sheet.cols))
                 : std::nullopt;
}

}  // namespace tilescope::draw
