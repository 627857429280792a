// Type: Inter for words, JetBrains Mono for numbers and code, in four sizes; two smaller ones of Mono are for
// the cells of grids alone. The font files are built into the program from the system's packages; where they
// were missing at build time they are looked for at run time, and where they are missing then too, ImGui's
// own face stands in and notice() says so. ImGui's widgets are put in the look of the rest here too.
//
// FreeType rasterises only what the screens write, ASCII and a few signs, so that the atlas is ready in a
// fraction of the first frame's half second.
#include <algorithm>
#include <cmath>
#include <fstream>
#include <initializer_list>

#include "app/draw/ui.h"
#include "core/base/text.h"
#include "imgui_freetype.h"

namespace tilescope::draw {

std::string_view font_inter_regular();  // made by cmake/app.cmake; empty where the file was missing
std::string_view font_inter_semibold();
std::string_view font_jetbrains_mono();

namespace {

// Pairs of first and last: ASCII; degree to middle dot, with plus-minus and superscripts; times; dashes;
// quotes; bullet; ellipsis; arrows; minus; approximately; not equal; less and greater or equal; triangle;
// circle; the replacement character.
constexpr ImWchar kGlyphs[] = {0x0020, 0x007E, 0x00B0, 0x00B7, 0x00D7, 0x00D7, 0x2013, 0x2014, 0x2018,
                               0x201D, 0x2022, 0x2022, 0x203A, 0x203A, 0x2026, 0x2026, 0x2190, 0x2193,
                               0x2212, 0x2212, 0x2248, 0x2248, 0x2260, 0x2260, 0x2264, 0x2265, 0x25B6,
                               0x25B6, 0x25CF, 0x25CF, 0xFFFD, 0xFFFD, 0};

// Built in, else from where distributions install it; empty for neither.
std::string_view bytes_of(Face face) {
    const auto at = static_cast<size_t>(face);
    const std::string_view built_in[] = {font_inter_regular(), font_inter_semibold(), font_jetbrains_mono()};
    if (!built_in[at].empty()) return built_in[at];
    constexpr const char* kFiles[] = {"Inter-Regular", "Inter-SemiBold", "JetBrainsMono-Regular"};
    static std::string found[std::size(kFiles)];
    for (const char* folder :
         {"opentype/inter/", "truetype/inter/", "truetype/jetbrains-mono/", "inter/", "jetbrains-mono/"})
        for (const char* end : {".otf", ".ttf"}) {
            if (!found[at].empty()) break;
            std::ifstream in(std::string("/usr/share/fonts/") + folder + kFiles[at] + end, std::ios::binary);
            found[at].assign(std::istreambuf_iterator<char>(in), {});
        }
    return found[at];
}

// What has to fit of a line's height are its capitals, about six tenths of it.
bool fits(ImVec2 text, float width, float height) { return text.x <= width && text.y * 0.62f <= height; }

}  // namespace

bool Fonts::ensure(float scale) {
    if (scale == scale_) return false;
    scale_ = scale;
    notice_.clear();
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    atlas.Clear();
    atlas.Flags |= ImFontAtlasFlags_NoPowerOfTwoHeight;
#if IMGUI_VERSION_NUM >= 19200
    atlas.SetFontLoader(ImGuiFreeType::GetFontLoader());
#else
    atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
    atlas.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
#endif
    for (Face face : {Face::Text, Face::Strong, Face::Mono}) {
        const std::string_view bytes = bytes_of(face);
        const bool mono = face == Face::Mono;
        if (bytes.empty())
            notice_ =
                "The fonts Inter or JetBrains Mono are not installed, so a plainer face stands in; install "
                "the packages fonts-inter and fonts-jetbrains-mono.";
        for (size_t size = 0; size < std::size(kSizes); ++size) {
            Font& made = fonts_[static_cast<size_t>(face)][size];
            made = of(face, Size::Small);
            if (!mono && size > static_cast<size_t>(Size::Display)) continue;
            // Inter's and JetBrains Mono's design sizes differ: the same x-height needs a little less of the
            // latter. kSizes are the em; ImGui's is the line, ascent to descent.
            const float em = std::round(kSizes[size] * scale * (mono ? 0.95f : 1.f));
            made.px = std::max(8.f, std::round(em * (mono ? 1.32f : 1.21f)));
            ImFontConfig config;
            config.FontDataOwnedByAtlas = false;
            config.OversampleH = config.OversampleV = 1;
            config.SizePixels = made.px;
            made.font = bytes.empty() ? atlas.AddFontDefault(&config)
                                      : atlas.AddFontFromMemoryTTF(const_cast<char*>(bytes.data()),
                                                                   static_cast<int>(bytes.size()), made.px,
                                                                   &config, kGlyphs);
        }
    }
    ImGui::GetIO().FontDefault = of(Face::Text, Size::Body).font;
    return true;
}

std::optional<Font> Fonts::for_cells(std::string_view text, float width, float height, Size most) const {
    for (const Size size :
         {Size::Display, Size::Title, Size::Body, Size::Small, Size::CellSmall, Size::CellTiny}) {
        if (kSizes[static_cast<size_t>(size)] > kSizes[static_cast<size_t>(most)]) continue;
        const Font font = of(Face::Mono, size);
        if (fits(text_size(font, text), width, height)) return font;
    }
    return std::nullopt;
}

// Widgets are flat, aligned to the spacing step, coloured by the palette.
void apply_style(const Palette& p, float scale) {
    constexpr float kSpace = 8;  // logical pixels
    ImGuiStyle style;            // ImGui's defaults, at scale 1
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

    const auto set = [&](Rgba color, std::initializer_list<ImGuiCol> slots) {
        for (const ImGuiCol slot : slots) style.Colors[slot] = ImGui::ColorConvertU32ToFloat4(color);
    };
    set(0, {ImGuiCol_ChildBg, ImGuiCol_BorderShadow, ImGuiCol_ScrollbarBg, ImGuiCol_ResizeGrip,
            ImGuiCol_TableRowBg, ImGuiCol_TableRowBgAlt});
    set(p[Ink::Text], {ImGuiCol_Text});
    set(p[Ink::TextFaint], {ImGuiCol_TextDisabled});
    set(p[Ink::Panel], {ImGuiCol_WindowBg, ImGuiCol_PopupBg, ImGuiCol_TitleBg, ImGuiCol_TitleBgActive,
                        ImGuiCol_TitleBgCollapsed, ImGuiCol_MenuBarBg, ImGuiCol_TableHeaderBg});
    set(p[Ink::Line], {ImGuiCol_Border, ImGuiCol_ScrollbarGrab, ImGuiCol_Separator,
                       ImGuiCol_TableBorderStrong, ImGuiCol_TableBorderLight});
    set(p[Ink::LineStrong], {ImGuiCol_ScrollbarGrabHovered, ImGuiCol_ScrollbarGrabActive,
                             ImGuiCol_SeparatorHovered, ImGuiCol_SeparatorActive});
    set(p[Ink::Accent], {ImGuiCol_CheckMark, ImGuiCol_SliderGrab, ImGuiCol_SliderGrabActive,
                         ImGuiCol_PlotHistogram, ImGuiCol_PlotLines});
    set(p[Ink::Raised], {ImGuiCol_FrameBg, ImGuiCol_Button, ImGuiCol_Header, ImGuiCol_Tab});
    set(mix(p[Ink::Raised], p[Ink::Accent], 0.12f),
        {ImGuiCol_FrameBgHovered, ImGuiCol_ButtonHovered, ImGuiCol_HeaderHovered, ImGuiCol_TabHovered});
    set(mix(p[Ink::Raised], p[Ink::Accent], 0.24f),
        {ImGuiCol_FrameBgActive, ImGuiCol_ButtonActive, ImGuiCol_HeaderActive});
    set(with_alpha(p[Ink::GlobalLoad], 0.35f), {ImGuiCol_TextSelectedBg});
    set(with_alpha(rgb(0x000000), 0.35f), {ImGuiCol_ModalWindowDimBg});
    ImGui::GetStyle() = style;
}

void push_font(const Font& font) {
#if IMGUI_VERSION_NUM >= 19200
    ImGui::PushFont(font.font, font.px);
#else
    ImGui::PushFont(font.font);
#endif
}

std::string_view shown(std::string_view text, std::string& held) {
    // Tabs are four blanks to ImGui.
    const auto is_control = [](char c) { return (c >= 0 && c < 0x20 && c != '\t') || c == 0x7F; };
    if (text.size() <= kMostDrawn && std::ranges::none_of(text, is_control)) return text;
    return held = one_line(text, kMostDrawn);
}

ImVec2 text_size(const Font& font, std::string_view whole) {
    std::string held;
    const std::string_view text = shown(whole, held);
    if (text.empty()) return {0, font.px};  // its data may be null, which ImGui would read
    return font.font->CalcTextSizeA(font.px, 1e9f, 0, text.data(), text.data() + text.size());
}

void draw_text(ImDrawList& list, const Font& font, ImVec2 pos, Rgba color, std::string_view whole,
               Align align) {
    std::string held;
    const std::string_view text = shown(whole, held);
    if (text.empty()) return;
    if (align != Align::Left) pos.x -= text_size(font, text).x * (align == Align::Center ? 0.5f : 1.f);
    list.AddText(font.font, font.px, {std::round(pos.x), std::round(pos.y)}, color, text.data(),
                 text.data() + text.size());
}

void draw_text_in(ImDrawList& list, const Font& font, ImVec2 min, ImVec2 max, Rgba color,
                  std::string_view text) {
    const ImVec2 size = text_size(font, text);
    if (fits(size, max.x - min.x, max.y - min.y))
        draw_text(list, font, {(min.x + max.x - size.x) * 0.5f, (min.y + max.y - size.y) * 0.5f}, color,
                  text);
}

}  // namespace tilescope::draw
