// The text of a picture; and the triangles of draw lists, back as the polygons and the glyphs that they were
// made of.
#include "app/draw/svg.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <vector>

#include <fmt/format.h>
#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H
#if IMGUI_VERSION_NUM >= 19200
#include "imgui_internal.h"
#endif

namespace tilescope::draw {

namespace {

std::string escaped(std::string_view text) {
    std::string out;
    for (const char c : text)
        if (c == '<' || c == '>' || c == '&')
            out += c == '<' ? "&lt;" : c == '>' ? "&gt;" : "&amp;";
        else if (static_cast<unsigned char>(c) >= 0x20)
            out += c;
    return out;
}

double area(std::span<const ImVec2> corners) {
    double twice = 0;
    for (size_t i = 0; i < corners.size(); ++i) {
        const ImVec2 a = corners[i], b = corners[(i + 1) % corners.size()];
        twice += double{a.x} * b.y - double{b.x} * a.y;
    }
    return twice / 2;
}

bool is_rect(std::span<const ImVec2> c) {
    return c.size() == 4 && ((c[0].y == c[1].y && c[1].x == c[2].x && c[2].y == c[3].y && c[3].x == c[0].x) ||
                             (c[0].x == c[1].x && c[1].y == c[2].y && c[2].x == c[3].x && c[3].y == c[0].y));
}

// Adds to path data, y down; FreeType's units are 64ths of a pixel, y up.
int add_segment(void* out, const char* letter, std::initializer_list<const FT_Vector*> points) {
    auto& data = *static_cast<std::string*>(out);
    for (const FT_Vector* p : points)
        data.append(p == *points.begin() ? letter : " ")
            .append(svg_number(static_cast<double>(p->x) / 64) + " " +
                    svg_number(-static_cast<double>(p->y) / 64));
    return 0;
}
int move_to(const FT_Vector* to, void* out) {
    return add_segment(out, static_cast<std::string*>(out)->empty() ? "M" : "zM", {to});
}
int line_to(const FT_Vector* to, void* out) { return add_segment(out, "L", {to}); }
int conic_to(const FT_Vector* control, const FT_Vector* to, void* out) {
    return add_segment(out, "Q", {control, to});
}
int cubic_to(const FT_Vector* first, const FT_Vector* second, const FT_Vector* to, void* out) {
    return add_segment(out, "C", {first, second, to});
}

// From a glyph's place in the font atlas back to its outline, so that type is crisp at any size and needs no
// font where it is looked at.
//
//   texture coordinates of a quad --> font and character --> FreeType's outline, hinted as the atlas is
class Glyphs {
public:
    explicit Glyphs(const ImFontAtlas& atlas) {
        FT_Init_FreeType(&library_);
#if IMGUI_VERSION_NUM >= 19200
        const auto font_of = [](const auto& baked) -> const ImFont* {
            if constexpr (requires { baked.OwnerFont; })
                return baked.OwnerFont;
            else
                return baked.ContainerFont;  // its name in the first releases of 1.92
        };
        for (int i = 0; i < atlas.Builder->BakedPool.Size; ++i) {
            const ImFontBaked& baked = atlas.Builder->BakedPool[i];
            const ImFont* const font = font_of(baked);
            const ImFontConfig* const source = font->Sources.Size > 0 ? font->Sources[0] : nullptr;
            for (const ImFontGlyph& glyph : baked.Glyphs) add(source, glyph, baked.Size, baked.Ascent);
        }
#else
        for (const ImFont* font : atlas.Fonts)
            for (const ImFontGlyph& glyph : font->Glyphs)
                add(font->ConfigData, glyph, font->FontSize, font->Ascent);
#endif
    }
    ~Glyphs() {
        if (library_) FT_Done_FreeType(library_);  // its faces too
    }
    Glyphs(const Glyphs&) = delete;
    Glyphs& operator=(const Glyphs&) = delete;

    // The glyph of a quad, from its upper left to its lower right corner; nothing for none of the atlas.
    void draw(SvgText& svg, const ImDrawVert& upper_left, const ImDrawVert& lower_right) {
        Glyph* const glyph = find(upper_left.uv);
        const float across = lower_right.uv.x - upper_left.uv.x, down = lower_right.uv.y - upper_left.uv.y;
        if (!glyph || across == 0 || glyph->of->X1 == glyph->of->X0) return;
        if (!glyph->outline) glyph->outline = outline(*glyph);
        // A quad that was cut at a clip rectangle begins inside its glyph.
        const double pixels = (lower_right.pos.x - upper_left.pos.x) / across;  // per unit of the texture
        const double cut_x = (upper_left.uv.x - glyph->of->U0) * pixels;
        const double cut_y =
            down == 0 ? 0 : (upper_left.uv.y - glyph->of->V0) * (lower_right.pos.y - upper_left.pos.y) / down;
        svg.glyph(*glyph->outline, upper_left.pos.x - cut_x - glyph->of->X0,
                  upper_left.pos.y - cut_y - glyph->of->Y0 + std::round(glyph->ascent), upper_left.col);
    }

private:
    struct Glyph {
        const ImFontConfig* font = nullptr;
        const ImFontGlyph* of = nullptr;
        float px = 0, ascent = 0;
        std::optional<std::string> outline;  // relative to the pen, on the base line; made when first used
    };

    void add(const ImFontConfig* font, const ImFontGlyph& glyph, float px, float ascent) {
        if (!glyph.Visible) return;
        by_corner_.try_emplace({glyph.U0, glyph.V0}, glyphs_.size());
        glyphs_.push_back({font, &glyph, px, ascent, {}});
    }

    Glyph* find(ImVec2 uv) {
        if (const auto at = by_corner_.find({uv.x, uv.y}); at != by_corner_.end())
            return &glyphs_[at->second];
        const auto within = std::find_if(glyphs_.begin(), glyphs_.end(), [&](const Glyph& glyph) {
            const ImFontGlyph& g = *glyph.of;
            return uv.x >= g.U0 && uv.x < g.U1 && uv.y >= g.V0 && uv.y < g.V1;
        });
        return within == glyphs_.end() ? nullptr : &*within;
    }

    std::string outline(const Glyph& glyph) {
        if (!library_ || !glyph.font || !glyph.font->FontData) return "";
        FT_Face& face = faces_[glyph.font->FontData];
        if (!face && FT_New_Memory_Face(library_, static_cast<const FT_Byte*>(glyph.font->FontData),
                                        glyph.font->FontDataSize, 0, &face) != 0)
            return face = nullptr, "";
        // As ImGui asks for a size: the height of the line, ascent to descent.
        FT_Size_RequestRec size{};
        size.type = FT_SIZE_REQUEST_TYPE_REAL_DIM;
        size.height = static_cast<FT_Long>(glyph.px) * 64;
        const FT_Outline_Funcs draws = {move_to, line_to, conic_to, cubic_to, 0, 0};
        std::string data;
        const bool good =
            FT_Request_Size(face, &size) == 0 &&
            FT_Load_Char(face, glyph.of->Codepoint, FT_LOAD_NO_BITMAP | FT_LOAD_TARGET_LIGHT) == 0 &&
            face->glyph->format == FT_GLYPH_FORMAT_OUTLINE &&
            FT_Outline_Decompose(&face->glyph->outline, &draws, &data) == 0;
        return good && !data.empty() ? data + "z" : "";
    }

    FT_Library library_ = nullptr;
    std::map<const void*, FT_Face> faces_;  // by the file's bytes
    std::vector<Glyph> glyphs_;
    std::map<std::pair<float, float>, size_t> by_corner_;
};

// Walks the triangles of one draw list and gives them out as polygons and glyphs.
struct Shapes {
    SvgText& svg;
    Glyphs& glyphs;
    const ImDrawList& list;
    const ImVec2 white;  // where the atlas is white
    Box clip{};
    std::vector<ImVec2> fan{};
    Rgba color = 0;
    unsigned first = 0, last = 0;  // vertices of the fan: its centre, its latest

    void command(const ImDrawCmd& command) {
        clip = {command.ClipRect.x, command.ClipRect.y, command.ClipRect.z, command.ClipRect.w};
        const ImDrawIdx* index = list.IdxBuffer.Data + command.IdxOffset;
        const ImDrawVert* vertex = list.VtxBuffer.Data + command.VtxOffset;
        for (unsigned i = 0; i + 3 <= command.ElemCount; i += 3) {
            if (i + 6 <= command.ElemCount && is_glyph(index + i, vertex)) {
                flush();
                const ImDrawVert &a = vertex[index[i]], &c = vertex[index[i + 2]];
                use_clip({a.pos.x, a.pos.y, c.pos.x, c.pos.y});
                glyphs.draw(svg, a, c);
                i += 3;
            } else {
                triangle(index + i, vertex);
            }
        }
        flush();
    }

    // Two triangles over a part of the atlas: 0 1 2, 0 2 3.
    bool is_glyph(const ImDrawIdx* i, const ImDrawVert* vertex) const {
        const ImVec2 uv = vertex[i[0]].uv;
        return i[3] == i[0] && i[4] == i[2] && (uv.x != white.x || uv.y != white.y);
    }

    void use_clip(const Box& around) {
        svg.clip(around.within(clip) ? std::nullopt : std::optional<Box>(clip));
    }

    void triangle(const ImDrawIdx* i, const ImDrawVert* vertex) {
        const ImDrawVert &a = vertex[i[0]], &b = vertex[i[1]], &c = vertex[i[2]];
        const Rgba mixed = a.col == b.col && b.col == c.col ? a.col : mean(a.col, b.col, c.col);
        if (fan.empty() || mixed != color || i[0] != first || i[1] != last) {
            flush();
            fan = {a.pos, b.pos};
            color = mixed;
            first = i[0];
        }
        fan.push_back(c.pos);
        last = i[2];
    }

    static Rgba mean(Rgba a, Rgba b, Rgba c) {
        Rgba out = 0;
        for (int shift = 0; shift < 32; shift += 8)
            out |= ((a >> shift & 0xFF) + (b >> shift & 0xFF) + (c >> shift & 0xFF)) / 3 << shift;
        return out;
    }

    void flush() {
        if (fan.empty()) return;
        Box around{fan[0].x, fan[0].y, fan[0].x, fan[0].y};
        for (const ImVec2 at : fan) {
            around.x0 = std::min(around.x0, at.x), around.x1 = std::max(around.x1, at.x);
            around.y0 = std::min(around.y0, at.y), around.y1 = std::max(around.y1, at.y);
        }
        if (around.overlaps(clip)) {
            use_clip(around);
            svg.polygon(fan, color);
        }
        fan.clear();
    }
};

}  // namespace

std::string svg_number(double value) {
    const double rounded = std::round(value * 100) / 100;
    return fmt::format("{}", rounded == 0 ? 0.0 : rounded);
}

std::string svg_rect(const Box& box) {
    const double w = double{box.x1} - box.x0, h = double{box.y1} - box.y0;
    return fmt::format("M{} {}h{}v{}h{}z", svg_number(box.x0), svg_number(box.y0), svg_number(w),
                       svg_number(h), svg_number(-w));
}

std::string svg_paint(const char* what, Rgba color) {
    std::string text =
        fmt::format("{}=\"#{:02x}{:02x}{:02x}\"", what, color & 0xFF, color >> 8 & 0xFF, color >> 16 & 0xFF);
    if (color >> 24 != 0xFF) text += fmt::format(" {}-opacity=\"{:.3g}\"", what, (color >> 24) / 255.0);
    return text;
}

bool SvgText::open(Open what, Rgba color) {
    if (open_ == what && color_ == color) return false;
    if (open_ == Open::Path)
        body_ += fmt::format("<path {} d=\"{}\"/>\n", svg_paint("fill", color_), data_);
    else if (open_ == Open::Glyphs)
        body_ += "</g>\n";
    data_.clear();
    open_ = what;
    color_ = color;
    return true;
}

void SvgText::clip(const std::optional<Box>& box) {
    std::string id;
    if (box) id = define(fmt::format("<clipPath id=\"{{}}\"><path d=\"{}\"/></clipPath>", svg_rect(*box)));
    if (id == clip_id_) return;
    flush();
    if (!clip_id_.empty()) body_ += "</g>\n";
    clip_id_ = id;
    if (box) body_ += fmt::format("<g clip-path=\"url(#{})\">\n", id);
}

void SvgText::polygon(std::span<const ImVec2> corners, Rgba fill) {
    // One winding for all, so that neighbours in one path add up and leave no seam.
    const double size = area(corners);
    if (std::abs(size) < 1e-4) return;
    if (is_rect(corners)) {
        const auto [x0, x1] = std::minmax(corners[0].x, corners[2].x);
        const auto [y0, y1] = std::minmax(corners[0].y, corners[2].y);
        return path(svg_rect({x0, y0, x1, y1}), fill);
    }
    std::string data;
    for (size_t i = 0; i < corners.size(); ++i) {
        const ImVec2 at = corners[size > 0 ? i : corners.size() - 1 - i];
        data += (i == 0 ? "M" : " ") + svg_number(at.x) + " " + svg_number(at.y);
    }
    path(data + "z", fill);
}

void SvgText::path(std::string_view data, Rgba fill) {
    if (fill >> 24 == 0 || data.empty()) return;
    open(Open::Path, fill);
    data_ += data;
}

void SvgText::glyph(const std::string& outline, double x, double y, Rgba fill) {
    if (fill >> 24 == 0 || outline.empty()) return;
    if (open(Open::Glyphs, fill)) body_ += fmt::format("<g {}>", svg_paint("fill", fill));
    const auto [at, is_new] = outlines_.try_emplace(outline, outlines_.size());
    if (is_new) definitions_ += fmt::format("<path id=\"g{}\" d=\"{}\"/>\n", at->second, outline);
    body_ += fmt::format("<use href=\"#g{}\" x=\"{}\" y=\"{}\"/>", at->second, svg_number(x), svg_number(y));
}

void SvgText::element(std::string_view xml) {
    flush();
    body_.append(xml).append("\n");
}

std::string SvgText::define(const std::string& xml_with_id_hole) {
    const auto [at, is_new] = defined_.try_emplace(xml_with_id_hole, fmt::format("d{}", defined_.size()));
    if (is_new) definitions_ += fmt::format(fmt::runtime(xml_with_id_hole), at->second) + "\n";
    return at->second;
}

std::string SvgText::document(int width, int height, Rgba ground, std::string_view title) {
    clip(std::nullopt);
    flush();
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\">\n"
        "<title>{2}</title>\n<defs>\n{3}</defs>\n<path {4} d=\"M0 0h{0}v{1}h-{0}z\"/>\n{5}</svg>\n",
        width, height, escaped(title), definitions_, svg_paint("fill", ground), body_);
}

std::string svg_of(const ImDrawData& data, GridRenderer& grids, Rgba ground, std::string_view title) {
    SvgText svg;
    const ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    Glyphs glyphs(atlas);
    for (int i = 0; i < data.CmdListsCount; ++i) {
        const ImDrawList& list = *data.CmdLists[i];
        Shapes shapes{svg, glyphs, list, atlas.TexUvWhitePixel};
        for (const ImDrawCmd& command : list.CmdBuffer)
            if (const auto grid = grids.drawn(command))
                svg_grid(svg, *grid);
            else if (!command.UserCallback)
                shapes.command(command);
    }
    return svg.document(static_cast<int>(data.DisplaySize.x), static_cast<int>(data.DisplaySize.y), ground,
                        title);
}

}  // namespace tilescope::draw
