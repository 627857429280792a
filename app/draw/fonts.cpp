// Builds the font atlas with FreeType, from the files built into the program.
//
// Only what the screens write is rasterised, ASCII and a few signs, so that the atlas is ready in a
// fraction of the first frame's half second.
#include "app/draw/fonts.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <vector>

#include "imgui_freetype.h"

namespace tilescope::draw {

std::string_view font_inter_regular();  // made by cmake/app.cmake; empty where the file was missing
std::string_view font_inter_semibold();
std::string_view font_jetbrains_mono();

namespace {

// U+0020-7E; middle dot, times, plus-minus, superscripts; dashes, bullet, ellipsis; arrows;
// minus, root, infinity, approximately, not equal, less and greater or equal; triangles and circles.
constexpr ImWchar kGlyphs[] = {0x0020, 0x007E, 0x00B0, 0x00B7, 0x00D7, 0x00D7, 0x2013, 0x2014, 0x2018, 0x201D,
                               0x2022, 0x2022, 0x2026, 0x2026, 0x2190, 0x2193, 0x2212, 0x2212, 0x2248, 0x2248,
                               0x2260, 0x2260, 0x2264, 0x2265, 0x25B6, 0x25B6, 0x25CF, 0x25CF, 0};

struct Source {
    std::string_view built_in;
    const char* file;
};

std::string read_whole(const std::string& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

// The bytes of a face: built in, else from where distributions install it. Empty for neither.
std::string_view bytes_of(Face face) {
    static const std::array<Source, 3> sources = {Source{font_inter_regular(), "Inter-Regular"},
                                                  Source{font_inter_semibold(), "Inter-SemiBold"},
                                                  Source{font_jetbrains_mono(), "JetBrainsMono-Regular"}};
    static std::array<std::string, 3> found;
    const auto i = static_cast<size_t>(face);
    if (!sources[i].built_in.empty()) return sources[i].built_in;
    if (found[i].empty()) {
        for (const char* folder : {"/usr/share/fonts/opentype/inter/", "/usr/share/fonts/truetype/inter/",
                                   "/usr/share/fonts/truetype/jetbrains-mono/", "/usr/share/fonts/inter/",
                                   "/usr/share/fonts/jetbrains-mono/"})
            for (const char* end : {".otf", ".ttf"})
                if (found[i].empty()) found[i] = read_whole(std::string(folder) + sources[i].file + end);
    }
    return found[i];
}

void use_freetype(ImFontAtlas& atlas) {
#if IMGUI_VERSION_NUM >= 19200
    atlas.SetFontLoader(ImGuiFreeType::GetFontLoader());
#else
    atlas.FontBuilderIO = ImGuiFreeType::GetBuilderForFreeType();
    atlas.FontBuilderFlags = ImGuiFreeTypeBuilderFlags_LightHinting;
#endif
}

}  // namespace

bool Fonts::ensure(float scale) {
    if (scale == scale_) return false;
    scale_ = scale;
    notice_.clear();
    ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    atlas.Clear();
    atlas.Flags |= ImFontAtlasFlags_NoPowerOfTwoHeight;
    use_freetype(atlas);
    bool missing = false;
    for (Face face : {Face::Text, Face::Strong, Face::Mono}) {
        std::string_view bytes = bytes_of(face);
        missing |= bytes.empty();
        for (size_t size = 0; size < std::size(kSizes); ++size) {
            if (face != Face::Mono && size > static_cast<size_t>(Size::Display)) {
                fonts_[static_cast<size_t>(face)][size] = of(face, Size::Small);
                continue;
            }
            // Inter's and JetBrains Mono's design sizes differ: the same x-height needs a little less of the
            // latter.
            float px = std::round(kSizes[size] * scale * (face == Face::Mono ? 0.95f : 1.f));
            // Sizes above are the em; ImGui's is the line, ascent to descent.
            px = std::max(8.f, std::round(px * (face == Face::Mono ? 1.32f : 1.21f)));
            ImFontConfig config;
            config.FontDataOwnedByAtlas = false;
            config.OversampleH = config.OversampleV = 1;
            config.SizePixels = px;
            ImFont* font = bytes.empty() ? atlas.AddFontDefault(&config)
                                         : atlas.AddFontFromMemoryTTF(const_cast<char*>(bytes.data()),
                                                                      static_cast<int>(bytes.size()), px,
                                                                      &config, kGlyphs);
            fonts_[static_cast<size_t>(face)][size] = {font, px};
        }
    }
    if (missing)
        notice_ =
            "The fonts Inter or JetBrains Mono are not installed, so a plainer face stands in; install the "
            "packages "
            "fonts-inter and fonts-jetbrains-mono.";
    ImGui::GetIO().FontDefault = of(Face::Text, Size::Body).font;
    return true;
}

Font Fonts::of(Face face, Size size) const {
    return fonts_[static_cast<size_t>(face)][static_cast<size_t>(size)];
}

std::optional<Font> Fonts::for_cells(std::string_view text, float width, float height, Size most) const {
    const Size sizes[] = {Size::Display, Size::Title,     Size::Body,
                          Size::Small,   Size::CellSmall, Size::CellTiny};
    for (const Size size : sizes) {
        if (kSizes[static_cast<size_t>(size)] > kSizes[static_cast<size_t>(most)]) continue;
        const Font font = of(Face::Mono, size);
        const ImVec2 takes = text_size(font, text);
        // The capitals of a line are about six tenths of it high.
        if (takes.x <= width && takes.y * 0.62f <= height) return font;
    }
    return std::nullopt;
}

void push_font(const Font& font) {
#if IMGUI_VERSION_NUM >= 19200
    ImGui::PushFont(font.font, font.px);
#else
    ImGui::PushFont(font.font);
#endif
}
void pop_font() { ImGui::PopFont(); }

ImVec2 text_size(const Font& font, std::string_view text) {
    return font.font->CalcTextSizeA(font.px, 1e9f, 0, text.data(), text.data() + text.size());
}

void draw_text(ImDrawList& list, const Font& font, ImVec2 pos, Rgba color, std::string_view text,
               Align align) {
    if (text.empty()) return;
    if (align != Align::Left) pos.x -= text_size(font, text).x * (align == Align::Center ? 0.5f : 1.f);
    list.AddText(font.font, font.px, {std::round(pos.x), std::round(pos.y)}, color, text.data(),
                 text.data() + text.size());
}

bool draw_text_in(ImDrawList& list, const Font& font, ImVec2 min, ImVec2 max, Rgba color,
                  std::string_view text) {
    ImVec2 size = text_size(font, text);
    // What has to fit is the capitals' height, about six tenths of the line.
    if (size.x > max.x - min.x || size.y * 0.62f > max.y - min.y) return false;
    draw_text(list, font, {(min.x + max.x - size.x) * 0.5f, (min.y + max.y - size.y) * 0.5f}, color, text);
    return true;
}

}  // namespace tilescope::draw
