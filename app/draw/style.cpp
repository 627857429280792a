// ImGui's widgets in the look of the rest: flat, aligned to the spacing step, coloured by the palette.
#include "app/draw/theme.h"
#include "imgui.h"

namespace tilescope::draw {

void apply_style(const Palette& palette, float scale) {
    ImGuiStyle style;  // ImGui's defaults, at scale 1
    style.WindowPadding = {2 * kSpace, 2 * kSpace};
    style.FramePadding = {1.25f * kSpace, 0.625f * kSpace};
    style.CellPadding = {kSpace, kSpace / 2};
    style.ItemSpacing = {kSpace, kSpace};
    style.ItemInnerSpacing = {kSpace, kSpace};
    style.IndentSpacing = 2 * kSpace;
    style.ScrollbarSize = 1.5f * kSpace;
    style.GrabMinSize = 1.5f * kSpace;
    style.WindowRounding = style.ChildRounding = style.PopupRounding = 6;
    style.FrameRounding = style.GrabRounding = style.TabRounding = 4;
    style.ScrollbarRounding = 6;
    style.WindowBorderSize = style.ChildBorderSize = 0;
    style.PopupBorderSize = 1;
    style.FrameBorderSize = 0;
    style.WindowMenuButtonPosition = ImGuiDir_None;
    style.ScaleAllSizes(scale);

    auto set = [&](ImGuiCol slot, Rgba color) { style.Colors[slot] = ImGui::ColorConvertU32ToFloat4(color); };
    const Palette& p = palette;
    const Rgba raised = p[Ink::Raised], hovered = mix(raised, p[Ink::Accent], 0.12f),
               active = mix(raised, p[Ink::Accent], 0.24f), none = 0;
    set(ImGuiCol_Text, p[Ink::Text]);
    set(ImGuiCol_TextDisabled, p[Ink::TextFaint]);
    set(ImGuiCol_WindowBg, p[Ink::Panel]);
    set(ImGuiCol_ChildBg, none);
    set(ImGuiCol_PopupBg, p[Ink::Panel]);
    set(ImGuiCol_Border, p[Ink::Line]);
    set(ImGuiCol_BorderShadow, none);
    for (ImGuiCol slot : {ImGuiCol_FrameBg, ImGuiCol_Button, ImGuiCol_Header, ImGuiCol_Tab})
        set(slot, raised);
    for (ImGuiCol slot :
         {ImGuiCol_FrameBgHovered, ImGuiCol_ButtonHovered, ImGuiCol_HeaderHovered, ImGuiCol_TabHovered})
        set(slot, hovered);
    for (ImGuiCol slot : {ImGuiCol_FrameBgActive, ImGuiCol_ButtonActive, ImGuiCol_HeaderActive})
        set(slot, active);
    for (ImGuiCol slot :
         {ImGuiCol_TitleBg, ImGuiCol_TitleBgActive, ImGuiCol_TitleBgCollapsed, ImGuiCol_MenuBarBg})
        set(slot, p[Ink::Panel]);
    set(ImGuiCol_ScrollbarBg, none);
    set(ImGuiCol_ScrollbarGrab, p[Ink::Line]);
    set(ImGuiCol_ScrollbarGrabHovered, p[Ink::LineStrong]);
    set(ImGuiCol_ScrollbarGrabActive, p[Ink::LineStrong]);
    set(ImGuiCol_CheckMark, p[Ink::Accent]);
    set(ImGuiCol_SliderGrab, p[Ink::Accent]);
    set(ImGuiCol_SliderGrabActive, p[Ink::Accent]);
    set(ImGuiCol_Separator, p[Ink::Line]);
    set(ImGuiCol_SeparatorHovered, p[Ink::LineStrong]);
    set(ImGuiCol_SeparatorActive, p[Ink::LineStrong]);
    set(ImGuiCol_ResizeGrip, none);
    set(ImGuiCol_PlotHistogram, p[Ink::Accent]);
    set(ImGuiCol_PlotLines, p[Ink::Accent]);
    set(ImGuiCol_TableHeaderBg, p[Ink::Panel]);
    set(ImGuiCol_TableBorderStrong, p[Ink::Line]);
    set(ImGuiCol_TableBorderLight, p[Ink::Line]);
    set(ImGuiCol_TableRowBg, none);
    set(ImGuiCol_TableRowBgAlt, none);
    set(ImGuiCol_TextSelectedBg, with_alpha(p[Ink::GlobalLoad], 0.35f));
    set(ImGuiCol_ModalWindowDimBg, with_alpha(rgb(0x000000), 0.35f));
    ImGui::GetStyle() = style;
}

}  // namespace tilescope::draw
