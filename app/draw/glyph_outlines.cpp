#include "app/draw/glyph_outlines.h"

#include <cmath>

#include <fmt/format.h>
#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H

#include "app/draw/svg_text.h"
#if IMGUI_VERSION_NUM >= 19200
#include "imgui_internal.h"
#endif

namespace tilescope::draw {

namespace {

const ImFontConfig* source_of(const ImFont* font) {
#if IMGUI_VERSION_NUM >= 19200
    return font->Sources.Size > 0 ? font->Sources[0] : nullptr;
#else
    return font->ConfigData;
#endif
}

// Path data with y down; FreeType's units are 64ths of a pixel, y up.
std::string point(const FT_Vector* v) {
    return svg_number(static_cast<double>(v->x) / 64) + " " + svg_number(-static_cast<double>(v->y) / 64);
}
int move_to(const FT_Vector* to, void* out) {
    auto& text = *static_cast<std::string*>(out);
    text += (text.empty() ? "M" : "zM") + point(to);
    return 0;
}
int line_to(const FT_Vector* to, void* out) {
    *static_cast<std::string*>(out) += "L" + point(to);
    return 0;
}
int conic_to(const FT_Vector* control, const FT_Vector* to, void* out) {
    *static_cast<std::string*>(out) += "Q" + point(control) + " " + point(to);
    return 0;
}
int cubic_to(const FT_Vector* first, const FT_Vector* second, const FT_Vector* to, void* out) {
    *static_cast<std::string*>(out) += "C" + point(first) + " " + point(second) + " " + point(to);
    return 0;
}

}  // namespace

struct GlyphOutlines::Type {
    FT_Library library = nullptr;
    std::map<const void*, FT_Face> faces;  // by the file's bytes

    Type() { FT_Init_FreeType(&library); }
    ~Type() {
        for (auto& [bytes, face] : faces) FT_Done_Face(face);
        if (library) FT_Done_FreeType(library);
    }
    FT_Face face_of(const ImFont* font) {
        const ImFontConfig* source = source_of(font);
        if (!library || !source || !source->FontData) return nullptr;
        FT_Face& face = faces[source->FontData];
        if (!face && FT_New_Memory_Face(library, static_cast<const FT_Byte*>(source->FontData),
                                        source->FontDataSize, 0, &face) != 0)
            face = nullptr;
        return face;
    }
};

GlyphOutlines::GlyphOutlines(const ImFontAtlas& atlas) : type_(std::make_unique<Type>()) {
#if IMGUI_VERSION_NUM >= 19200
    const auto font_of = [](const auto& baked) -> const ImFont* {
        if constexpr (requires { baked.OwnerFont; })
            return baked.OwnerFont;
        else
            return baked.ContainerFont;  // its name in the first releases of 1.92
    };
    for (int i = 0; i < atlas.Builder->BakedPool.Size; ++i) {
        ImFontBaked& baked = atlas.Builder->BakedPool[i];
        for (const ImFontGlyph& glyph : baked.Glyphs) add(font_of(baked), glyph, baked.Size, baked.Ascent);
    }
#else
    for (const ImFont* font : atlas.Fonts)
        for (const ImFontGlyph& glyph : font->Glyphs) add(font, glyph, font->FontSize, font->Ascent);
#endif
}

GlyphOutlines::~GlyphOutlines() = default;

void GlyphOutlines::add(const ImFont* font, const ImFontGlyph& g, float px, float ascent) {
    if (!g.Visible) return;
    by_corner_.try_emplace({g.U0, g.V0}, glyphs_.size());
    glyphs_.push_back({font, g.Codepoint, px, ascent, g.X0, g.Y0, g.X1, g.U0, g.V0, g.U1, g.V1});
}

const GlyphOutlines::Glyph* GlyphOutlines::find(ImVec2 uv) const {
    if (const auto at = by_corner_.find({uv.x, uv.y}); at != by_corner_.end()) return &glyphs_[at->second];
    // A quad that was cut at a clip rectangle begins inside its glyph.
    for (const Glyph& glyph : glyphs_)
        if (uv.x >= glyph.u0 && uv.x < glyph.u1 && uv.y >= glyph.v0 && uv.y < glyph.v1) return &glyph;
    return nullptr;
}

const std::string& GlyphOutlines::outline(const Glyph& glyph) {
    const auto [at, is_new] = outlines_.try_emplace({&glyph, glyph.character});
    if (!is_new) return at->second;
    FT_Face face = type_->face_of(glyph.font);
    if (!face) return at->second;
    // As ImGui asks for a size: the height of the line, ascent to descent.
    FT_Size_RequestRec size{};
    size.type = FT_SIZE_REQUEST_TYPE_REAL_DIM;
    size.height = static_cast<FT_Long>(glyph.px) * 64;
    if (FT_Request_Size(face, &size) != 0 ||
        FT_Load_Char(face, glyph.character, FT_LOAD_NO_BITMAP | FT_LOAD_TARGET_LIGHT) != 0 ||
        face->glyph->format != FT_GLYPH_FORMAT_OUTLINE)
        return at->second;
    const FT_Outline_Funcs draws = {move_to, line_to, conic_to, cubic_to, 0, 0};
    std::string data;
    if (FT_Outline_Decompose(&face->glyph->outline, &draws, &data) == 0 && !data.empty())
        at->second = data + "z";
    return at->second;
}

GlyphOutlines::Placed GlyphOutlines::place(const ImDrawVert& upper_left, const ImDrawVert& lower_right) {
    const Glyph* glyph = find(upper_left.uv);
    if (!glyph) return {};
    const float across = lower_right.uv.x - upper_left.uv.x;
    if (across == 0 || glyph->x1 == glyph->x0) return {};
    const double pixels = (lower_right.pos.x - upper_left.pos.x) / across;  // per unit of the texture
    const double cut_x = (upper_left.uv.x - glyph->u0) * pixels;
    const double down = lower_right.uv.y - upper_left.uv.y;
    const double cut_y =
        down == 0 ? 0 : (upper_left.uv.y - glyph->v0) * (lower_right.pos.y - upper_left.pos.y) / down;
    return {&outline(*glyph), upper_left.pos.x - cut_x - glyph->x0,
            upper_left.pos.y - cut_y - glyph->y0 + std::round(glyph->ascent)};
}

}  // namespace tilescope::draw
