#include "app/panels/chooser.h"

#include <algorithm>
#include <cmath>

namespace tilescope::panels {

namespace {

float choice_width(const Ui& ui, const std::string& text) {
    return std::max(ui.px(32), draw::text_size(ui.font(Face::Text, Size::Small), text).x + ui.px(16));
}

}  // namespace

float chooser_width(Ui& ui, std::span<const std::string> items, float most) {
    float widest = 0;
    for (const std::string& item : items)
        widest = std::max(widest, draw::text_size(ui.font(Face::Text, Size::Small), item).x);
    return std::min(most, std::round(widest + ui.px(48)));  // the padding and the arrow
}

float choices_width(Ui& ui, std::span<const std::string> items) {
    float width = items.empty() ? 0 : ui.px(12);
    for (const std::string& item : items) width += choice_width(ui, item) + ui.px(4);
    return width;
}

std::optional<size_t> chooser(Ui& ui, const Rect& rect, const char* id, std::span<const std::string> items,
                              size_t current) {
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
    draw::push_font(ui.font(Face::Text, Size::Small));
    const float pad = std::max(0.f, (rect.height() - ImGui::GetFontSize()) / 2);
    ImGui::PushStyleVar(ImGuiStyleVar_FramePadding, {ui.px(8), pad});
    ImGui::SetNextItemWidth(rect.width());
    const draw::Font font = ui.font(Face::Text, Size::Small);
    const std::string shown =
        current < items.size() ? elided(font, items[current], rect.width() - rect.height() - ui.px(16)) : "";
    if (ImGui::BeginCombo("##list", shown.c_str(), ImGuiComboFlags_HeightLarge)) {
        for (size_t i = 0; i < items.size(); ++i) {
            ImGui::PushID(static_cast<int>(i));
            if (ImGui::Selectable(items[i].c_str(), i == current)) picked = i;
            if (i == current && ImGui::IsWindowAppearing()) ImGui::SetScrollHereY();
            ImGui::PopID();
        }
        ImGui::EndCombo();
    }
    ImGui::PopStyleVar();
    draw::pop_font();
    ImGui::End();
    return picked;
}

std::optional<size_t> choices(Ui& ui, ImVec2& at, float height, std::span<const std::string> items,
                              size_t current, const char* tip) {
    std::optional<size_t> picked;
    for (size_t i = 0; i < items.size(); ++i) {
        const float width = choice_width(ui, items[i]);
        if (button(ui, {at, {at.x + width, at.y + height}}, items[i], i == current, true, tip)) picked = i;
        at.x += width + ui.px(4);
    }
    at.x += ui.px(12);
    return picked;
}

void control_label(Ui& ui, ImVec2& at, float height, std::string_view text) {
    const float small = line_height(ui, Size::Small);
    at.x += line(ui, {at.x, at.y + (height - small) / 2 + ui.px(1)}, ui.px(200), Face::Text, Size::Small,
                 Ink::TextQuiet, text) +
            ui.px(8);
}

}  // namespace tilescope::panels
