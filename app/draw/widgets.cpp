#include "app/draw/widgets.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace tilescope::draw {

namespace {

float choice_width(const Ui& ui, const std::string& text) {
    return std::max(ui.px(32), text_size(ui.font(Face::Text, Size::Small), text).x + ui.px(16));
}

// On paper a choice is the words that are chosen. at.x moves on.
void chosen_words(Ui& ui, ImVec2& at, float height, std::span<const std::string> items, size_t current) {
    if (current >= items.size()) return;
    const float small = line_height(ui, Size::Small);
    at.x += line(ui, {at.x, at.y + (height - small) / 2 + ui.px(1)}, ui.px(300), Face::Strong, Size::Small,
                 Ink::Text, items[current]);
}

}  // namespace

float chooser_width(Ui& ui, std::span<const std::string> items, float most) {
    float widest = 0;
    for (const std::string& item : items)
        widest = std::max(widest, text_size(ui.font(Face::Text, Size::Small), item).x);
    return std::min(most, std::round(widest + ui.px(48)));  // the padding and the arrow
}

float choices_width(Ui& ui, std::span<const std::string> items) {
    float width = items.empty() ? 0 : ui.px(12);
    for (const std::string& item : items) width += choice_width(ui, item) + ui.px(4);
    return width;
}

std::optional<size_t> chooser(Ui& ui, const Rect& rect, const char* id, std::span<const std::string> items,
                              size_t current) {
    if (ui.context.paper) {
        ImVec2 at = rect.min;
        chosen_words(ui, at, rect.height(), items, current);
        return std::nullopt;
    }
    std::optional<size_t> picked;
    ImGui::SetNextWindowPos(rect.min);
    ImGui::SetNextWindowSize({rect.width(), rect.height()});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowPadding, {0, 0});
    ImGui::PushStyleVar(ImGuiStyleVar_WindowBorderSize, 0);
    ImGui::PushStyleVar(ImGuiStyleVar_WindowMinSize, {1, 1});
    ImGui::Begin(id, nullptr,
                 ImGuiWindowFlags_NoDecoration | ImGuiWindowFlags_NoMove | ImGuiWindowFlags_NoSavedSettings |
                     ImGuiWindowFlags_NoBackground | ImGuiWindowFlags_NoNav |
                     ImGuiWindowFlags_NoBringToFrontOnFocus);
    ImGui::PopStyleVar(3);
    const Font font = ui.font(Face::Text, Size::Small);
    push_font(font);
    const float pad = std::max(0.f, (rect.height() - ImGui::GetFontSize()) / 2);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(8), pad});
    ImGui::SetNextItemWidth(rect.width());
    const std::string shown =
        current < items.size() ? elided(font, items[current], rect.width() - rect.height() - ui.px(16)) : "";
    if (ImGui::BeginCombo("##list", shown.c_str(), ImGuiComboFlags_HeightLarge)) {
        for (size_t i = 0; i < items.size(); ++i) {
            ImGui::PushID(static_cast<int>(i));
            if (ImGui::Selectable(items[i].c_str(), i == current)) picked = i;
            if (i == current && ImGui::IsWindowAppearing()) ImGui::SetScrollHereY();
            ImGui::PopID();
        }
        if (ui.context.closes_lists) ImGui::CloseCurrentPopup();
        ImGui::EndCombo();
    }
    ImGui::PopStyleVar();
    ImGui::PopFont();
    ImGui::End();
    return picked;
}

std::optional<size_t> choices(Ui& ui, ImVec2& at, float height, std::span<const std::string> items,
                              size_t current, const char* tip) {
    if (ui.context.paper) {
        chosen_words(ui, at, height, items, current);
        at.x += ui.px(24);
        return std::nullopt;
    }
    std::optional<size_t> picked;
    for (size_t i = 0; i < items.size(); ++i) {
        const float width = choice_width(ui, items[i]);
        if (button(ui, {at, {at.x + width, at.y + height}}, items[i], i == current, true, tip)) picked = i;
        at.x += width + ui.px(4);
    }
    at.x += ui.px(12);
    return picked;
}

ScreenHead screen_head(Ui& ui, const Rect& area, std::string_view title,
                       const std::vector<std::string>& wordings, std::string_view whole) {
    const float gap = ui.px(8);
    const Rect rect{{area.min.x + gap, area.min.y + gap}, {area.max.x - gap, area.min.y + gap + ui.px(100)}};
    surface(ui, rect, "head");
    const Rect in{{rect.min.x + ui.px(16), rect.min.y + ui.px(8)},
                  {rect.max.x - ui.px(16), rect.max.y - ui.px(10)}};
    line(ui, in.min, in.width(), Face::Strong, Size::Title, Ink::Text, title);
    const float below = in.min.y + line_height(ui, Size::Title);
    note(ui, {in.min.x, below}, in.width(), wordings);
    const bool over = ui.over({{in.min.x, below}, {in.max.x, below + line_height(ui, Size::Small)}});
    if (over && !whole.empty()) ui.tip = whole;
    return {rect, {{in.min.x, in.max.y - ui.px(28)}, in.max}};
}

bool primary_button(Ui& ui, const char* label, ImVec2 size) {
    const Rgba accent = ui.ink(Ink::Accent), panel = ui.ink(Ink::Panel);  // as button() has one that is on
    ImGui::PushStyleColor(ImGuiCol_Button, accent);
    ImGui::PushStyleColor(ImGuiCol_ButtonHovered, mix(accent, panel, 0.12f));
    ImGui::PushStyleColor(ImGuiCol_ButtonActive, mix(accent, panel, 0.25f));
    ImGui::PushStyleColor(ImGuiCol_Text, ui.context.palette.text_on(accent));
    const bool pressed = ImGui::Button(label, size);
    ImGui::PopStyleColor(4);
    return pressed;
}

void control_label(Ui& ui, ImVec2& at, float height, std::string_view text) {
    const float small = line_height(ui, Size::Small);
    at.x += note(ui, {at.x, at.y + (height - small) / 2 + ui.px(1)}, ui.px(200), text) + ui.px(8);
}

float warning_height(Ui& ui, float width, const std::string& warning) {
    constexpr size_t kMostLines = 4;
    const size_t lines = wrapped(ui.font(Face::Strong, Size::Small), warning, width - ui.px(52)).size();
    const size_t more = std::clamp<size_t>(lines, 1, kMostLines) - 1;
    return ui.px(28) + static_cast<float>(more) * line_height(ui, Size::Small);
}

ListType list_type(const Ui& ui, const Rect& rect) {
    const bool large = rect.width() >= ui.px(860) && rect.height() >= ui.px(560);
    return large ? ListType{Size::Title, Size::Body, std::min(rect.width(), ui.px(1280))}
                 : ListType{Size::Body, Size::Small, std::min(rect.width(), ui.px(880))};
}

void row_ground(Ui& ui, const Rect& row, bool chosen) {
    if (chosen || ui.over(row)) ui.list.AddRectFilled(row.min, row.max, ui.ink(Ink::Raised), ui.px(4));
}

void row_head(Ui& ui, const Rect& row, float indent, size_t at, bool chosen, Size size) {
    row_ground(ui, row, chosen);
    line(ui, {row.min.x + indent, row.min.y + ui.px(size == Size::Body ? 6 : 4)},
         ui.px(size == Size::Body ? 24 : 32), Face::Mono, size, Ink::TextQuiet, std::to_string(at + 1),
         draw::Align::Center);
}

// All of it, or as many of its clauses as have room.
static std::string clauses_in(const Font& font, std::string_view text, float room) {
    for (size_t end = text.size(); end > 0 && end != std::string_view::npos;) {
        if (text_size(font, text.substr(0, end)).x <= room) return std::string(text.substr(0, end));
        do end = text.find_last_of(",;:.", end - 1);
        while (end != std::string_view::npos && end > 0 && !text.substr(end + 1).starts_with(' '));
    }
    return std::string(text);
}

void entry_row(Ui& ui, const Rect& row, size_t at, bool chosen, const ListType& type, float pad,
               std::string_view name, std::string_view about) {
    row_head(ui, row, ui.px(14), at, chosen, type.words);
    const float x = row.min.x + ui.px(type.words == Size::Body ? 40 : 48), room = row.max.x - x - ui.px(8);
    line(ui, {x, row.min.y + pad}, room, Face::Text, type.words, Ink::Text, name);
    const float below = row.min.y + pad + line_height(ui, type.words);
    const std::string said = clauses_in(ui.font(Face::Text, type.notes), about, room);
    if (!said.empty()) line(ui, {x, below}, room, Face::Text, type.notes, Ink::TextQuiet, said);
}

void scroll_mark(Ui& ui, ImDrawList& list, const Rect& strip, double first, double shown, double all,
                 float least) {
    if (all <= shown || strip.height() <= 0) return;
    const double part = strip.height() / all;
    const float high = std::max(least, static_cast<float>(part * shown));
    const float top = std::min(strip.min.y + static_cast<float>(part * first), strip.max.y - high);
    list.AddRectFilled({strip.min.x, top}, {strip.max.x, top + high}, ui.ink(Ink::LineStrong), ui.px(2));
}

float badge(Ui& ui, ImVec2 at, float size, char letter) {
    const ImVec2 middle{at.x + size / 2, at.y + size / 2};
    const Rgba fill = ui.ink(Ink::Accent);
    if (letter == 'A')
        ui.list.AddCircleFilled(middle, size / 2, fill);
    else
        ui.list.AddRectFilled({at.x + 1, at.y + 1}, {at.x + size - 1, at.y + size - 1}, fill, ui.px(2));
    const std::string text(1, letter);
    draw_text_in(ui.list, ui.font(Face::Strong, Size::Small), at, {at.x + size, at.y + size},
                 ui.context.palette.text_on(fill), text);
    return size;
}

void button_shapes(Ui& ui, const Rect& rect, std::initializer_list<ButtonShape> row, Rgba color) {
    const float size = ui.px(9), bar = ui.px(2.5f), gap = ui.px(1.5f), wide = size * 0.85f;
    float width = -gap;
    for (const ButtonShape shape : row) width += (shape == ButtonShape::Bar ? bar : wide) + gap;
    float x = (rect.min.x + rect.max.x - width) / 2;
    const float y = (rect.min.y + rect.max.y) / 2;
    for (const ButtonShape shape : row) {
        if (shape == ButtonShape::Bar)
            ui.list.AddRectFilled({x, y - size / 2}, {x + bar, y + size / 2}, color);
        else if (shape == ButtonShape::Right)
            ui.list.AddTriangleFilled({x, y - size / 2}, {x + wide, y}, {x, y + size / 2}, color);
        else
            ui.list.AddTriangleFilled({x + wide, y - size / 2}, {x + wide, y + size / 2}, {x, y}, color);
        x += (shape == ButtonShape::Bar ? bar : wide) + gap;
    }
}

void heat_ramp(Ui& ui, const Rect& bar, const std::function<Rgba(float part)>& color) {
    const int parts = std::clamp(static_cast<int>(bar.width()), 1, 128);
    for (int i = 0; i < parts; ++i) {
        const float x0 = bar.min.x + bar.width() * static_cast<float>(i) / static_cast<float>(parts),
                    x1 = bar.min.x + bar.width() * static_cast<float>(i + 1) / static_cast<float>(parts);
        ui.list.AddRectFilled({x0, bar.min.y}, {x1 + 0.5f, bar.max.y},
                              color((static_cast<float>(i) + 0.5f) / static_cast<float>(parts)));
    }
}

void frame_around(Ui& ui, std::vector<GridMark>& marks, const CellRect& cells, float pitch) {
    for (const auto& [ink, px, edge] : {std::tuple{Ink::Panel, 4.f, 3.f}, {Ink::Accent, 2.f, 2.f}}) {
        GridMark mark = frame_mark(cells, ui.ink(ink), ui.px(px));
        mark.row -= ui.px(edge) / pitch;
        mark.col -= ui.px(edge) / pitch;
        mark.rows += 2 * ui.px(edge) / pitch;
        mark.cols += 2 * ui.px(edge) / pitch;
        marks.push_back(mark);
    }
}

void warning_strip(Ui& ui, const Rect& rect, const std::string& warning) {
    const Rgba fault = ui.ink(Ink::Fault);
    ui.list.AddRectFilled(rect.min, rect.max, mix(ui.ink(Ink::Panel), fault, 0.14f), ui.px(6));
    ui.list.AddRectFilled(rect.min, {rect.min.x + ui.px(4), rect.max.y}, fault, ui.px(2));
    const float small = line_height(ui, Size::Small), r = ui.px(6);
    const int lines = 1 + static_cast<int>(std::lround((rect.height() - ui.px(28)) / small));
    const float y = rect.min.y + (rect.height() - small * static_cast<float>(lines)) / 2;
    const float x = rect.min.x + ui.px(22), m = y + small / 2;
    ui.list.AddTriangleFilled({x, m - r}, {x + r, m + r * 0.8f}, {x - r, m + r * 0.8f}, fault);
    const float from = x + r + ui.px(8);
    paragraph(ui, {from, y}, rect.max.x - ui.px(16) - from, Face::Strong, Size::Small, Ink::Text, warning,
              lines);
    if (ui.over(rect)) ui.tip = warning;
}

void hidden_panel(Ui& ui, const Rect& card) {
    surface(ui, card);
    if (ui.context.paper) {
        note(ui, {card.min.x + ui.px(16), card.min.y + ui.px(10)}, card.width() - ui.px(32), kRoomToWork);
        return;
    }
    const float sign = line_height(ui, Size::Display), body = line_height(ui, Size::Body);
    const float x = (card.min.x + card.max.x) / 2, y = (card.min.y + card.max.y - sign - body) / 2;
    line(ui, {x, y}, ui.px(40), Face::Strong, Size::Display, Ink::TextFaint, "?", Align::Center);
    line(ui, {x, y + sign}, card.width(), Face::Text, Size::Body, Ink::TextQuiet,
         "Shown once the question above is answered.", Align::Center);
}

std::optional<size_t> empty_panel(Ui& ui, const Rect& area, std::string_view title, std::string_view next,
                                  std::string_view trouble, std::span<const EmptyButton> buttons) {
    const float gap = ui.px(8), pad = ui.px(32), button_h = ui.px(36);
    const float width = std::min(ui.px(640), area.width() - gap * 2), room = width - pad * 2;
    const Font small = ui.font(Face::Text, Size::Small);
    const auto lines = [&](Face face, Size size, std::string_view text) {
        return line_height(ui, size) * static_cast<float>(wrapped(ui.font(face, size), text, room).size());
    };
    const float head = lines(Face::Strong, Size::Title, title), body = lines(Face::Text, Size::Body, next);
    const float said = trouble.empty() ? 0 : lines(Face::Text, Size::Body, trouble) + gap;
    const float button_row = buttons.empty() ? 0 : button_h + ui.px(24);
    const float height = std::min(pad * 2 + head + gap + body + said + button_row, area.height() - gap * 2);
    // A little above the middle, where the eye rests.
    const float x = std::round((area.min.x + area.max.x - width) / 2),
                y = std::round(area.min.y + std::max(gap, (area.height() - height) * 0.38f));
    const Rect card{{x, y}, {x + width, y + height}};
    surface(ui, card);
    float at = card.min.y + pad;
    at += paragraph(ui, {x + pad, at}, room, Face::Strong, Size::Title, Ink::Text, title, 3) + gap;
    at += paragraph(ui, {x + pad, at}, room, Face::Text, Size::Body, Ink::TextQuiet, next, 6);
    if (said > 0)
        at += paragraph(ui, {x + pad, at + gap}, room, Face::Text, Size::Body, Ink::Fault, trouble, 6) + gap;
    at += ui.px(24);
    float left = x + pad;
    std::optional<size_t> pressed;
    for (size_t i = 0; i < buttons.size(); ++i) {
        const float wide = text_size(small, buttons[i].label).x + ui.px(32);
        if (left + wide > card.max.x - gap) break;
        if (button(ui, {{left, at}, {left + wide, at + button_h}}, buttons[i].label, i == 0, true,
                   buttons[i].tip))
            pressed = i;
        left += wide + gap;
    }
    return pressed;
}

}  // namespace tilescope::draw
