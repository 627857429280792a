// The triangles of draw lists, back as the polygons and the glyphs that they were made of; grids, pixel for
// pixel as shaders/cells.frag.glsl and shaders/marks.*.glsl draw them; and the text of a picture.
#include "app/draw/svg.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <ft2build.h>
#include FT_FREETYPE_H
#include FT_OUTLINE_H

#include "app/platform/backend.h"
#include "core/base/text.h"
#if IMGUI_VERSION_NUM >= 19200
#include "imgui_internal.h"
#endif

namespace tilescope::draw {

namespace {

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
constexpr FT_Outline_Funcs kSegments = {
    [](auto* to, void* out) {
        return add_segment(out, static_cast<std::string*>(out)->empty() ? "M" : "zM", {to});
    },
    [](auto* to, void* out) { return add_segment(out, "L", {to}); },
    [](auto* control, auto* to, void* out) {
        return add_segment(out, "Q", {control, to});
    },
    [](auto* first, auto* second, auto* to, void* out) {
        return add_segment(out, "C", {first, second, to});
    },
    0,
    0};

// Finds a glyph's outline by its place in the font atlas, so that type is crisp at any size and needs no
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
        const ImVec2 from = upper_left.uv, to = lower_right.uv;
        const auto glyph = std::find_if(glyphs_.begin(), glyphs_.end(), [&](const Glyph& known) {
            const ImFontGlyph& g = *known.of;
            return from.x >= g.U0 && from.x < g.U1 && from.y >= g.V0 && from.y < g.V1;
        });
        const float across = to.x - from.x, down = to.y - from.y;
        if (glyph == glyphs_.end() || across == 0 || glyph->of->X1 == glyph->of->X0) return;
        if (!glyph->id) glyph->id = define(svg, *glyph);
        // A quad that was cut at a clip rectangle begins inside its glyph.
        const double pixels = (lower_right.pos.x - upper_left.pos.x) / across;  // per unit of the texture
        const double cut_x = (from.x - glyph->of->U0) * pixels;
        const double cut_y =
            down == 0 ? 0 : (from.y - glyph->of->V0) * (lower_right.pos.y - upper_left.pos.y) / down;
        svg.glyph(*glyph->id, upper_left.pos.x - cut_x - glyph->of->X0,
                  upper_left.pos.y - cut_y - glyph->of->Y0 + std::round(glyph->ascent), upper_left.col);
    }

private:
    struct Glyph {
        const ImFontConfig* font = nullptr;
        const ImFontGlyph* of = nullptr;
        float px = 0, ascent = 0;
        std::optional<std::string> id;  // of its definition, made when first used; "" for nothing to see
    };

    void add(const ImFontConfig* font, const ImFontGlyph& glyph, float px, float ascent) {
        if (glyph.Visible) glyphs_.push_back({font, &glyph, px, ascent, {}});
    }

    // Its outline, relative to the pen, on the base line.
    std::string define(SvgText& svg, const Glyph& glyph) {
        if (!library_ || !glyph.font || !glyph.font->FontData) return "";
        FT_Face& face = faces_[glyph.font->FontData];
        if (!face && FT_New_Memory_Face(library_, static_cast<const FT_Byte*>(glyph.font->FontData),
                                        glyph.font->FontDataSize, 0, &face) != 0)
            return face = nullptr, "";
        // As ImGui asks for a size: the height of the line, ascent to descent.
        FT_Size_RequestRec size{};
        size.type = FT_SIZE_REQUEST_TYPE_REAL_DIM;
        size.height = static_cast<FT_Long>(glyph.px) * 64;
        std::string data;
        const bool good =
            FT_Request_Size(face, &size) == 0 &&
            FT_Load_Char(face, glyph.of->Codepoint, FT_LOAD_NO_BITMAP | FT_LOAD_TARGET_LIGHT) == 0 &&
            face->glyph->format == FT_GLYPH_FORMAT_OUTLINE &&
            FT_Outline_Decompose(&face->glyph->outline, &kSegments, &data) == 0;
        return good && !data.empty() ? svg.define(fmt::format("<path id=\"{{}}\" d=\"{}z\"/>", data)) : "";
    }

    FT_Library library_ = nullptr;
    std::map<const void*, FT_Face> faces_;  // by the file's bytes
    std::vector<Glyph> glyphs_;
};

// Walks the triangles of one draw list and gives them out as polygons and glyphs.
struct Shapes {
    SvgText& svg;
    Glyphs& glyphs;
    const ImDrawList& list;
    const ImVec2 white;  // where the atlas is white
    PixelBox clip{};
    std::vector<ImVec2> fan{};
    Rgba color = 0;
    unsigned first = 0, last = 0;  // vertices of the fan: its centre, its latest

    void command(const ImDrawCmd& command, const PixelBox& within) {
        const ImVec4& own = command.ClipRect;
        clip = common({own.x, own.y, own.z, own.w}, within);
        if (clip.empty()) return;
        const ImDrawVert* const vertex = list.VtxBuffer.Data + command.VtxOffset;
        const ImDrawIdx* i = list.IdxBuffer.Data + command.IdxOffset;
        for (const ImDrawIdx* const end = i + command.ElemCount; end - i >= 3; i += 3) {
            const ImDrawVert &a = vertex[i[0]], &b = vertex[i[1]], &c = vertex[i[2]];
            const bool of_atlas = a.uv.x != white.x || a.uv.y != white.y;
            if (of_atlas && end - i >= 6 && i[3] == i[0] && i[4] == i[2]) {  // a glyph: 0 1 2, 0 2 3
                flush();
                if (const PixelBox around{a.pos.x, a.pos.y, c.pos.x, c.pos.y}; around.overlaps(clip)) {
                    use_clip(around);
                    glyphs.draw(svg, a, c);
                }
                i += 3;
                continue;
            }
            Rgba mean = 0;
            for (int shift = 0; shift < 32; shift += 8)
                mean |= ((a.col >> shift & 0xFF) + (b.col >> shift & 0xFF) + (c.col >> shift & 0xFF)) / 3
                        << shift;
            if (fan.empty() || mean != color || i[0] != first || i[1] != last) {
                flush();
                fan = {a.pos, b.pos};
                color = mean;
                first = i[0];
            }
            fan.push_back(c.pos);
            last = i[2];
        }
        flush();
    }

    void use_clip(const PixelBox& around) {
        svg.clip(around.within(clip) ? std::nullopt : std::optional<PixelBox>(clip));
    }

    void flush() {
        if (fan.empty()) return;
        PixelBox around{fan[0].x, fan[0].y, fan[0].x, fan[0].y};
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

// Path data: "M1 2h3v4h-3z".
std::string svg_rect(const PixelBox& box) {
    const double w = double{box.x1} - box.x0, h = double{box.y1} - box.y0;
    return fmt::format("M{} {}h{}v{}h{}z", svg_number(box.x0), svg_number(box.y0), svg_number(w),
                       svg_number(h), svg_number(-w));
}

constexpr size_t kMostVectorRuns = 20'000;  // more runs of cells than this are drawn as a picture of pixels

// The first pixel whose centre lies at or behind an edge.
float snapped(double edge) { return static_cast<float>(std::ceil(edge - 0.5)); }

Rgba fill_of(const Palette& palette, Cell cell) {
    const auto ink = static_cast<Ink>(cell.bits >> 11);
    const unsigned strength = cell.bits >> 3 & 255u;
    return ink == Ink::Heat ? palette.heat[strength]
                            : mix(palette[Ink::Cell], palette[ink], static_cast<float>(strength) / 255.f);
}

// The colour of a pattern over a fill.
Rgba over(Rgba fill) {
    const auto [red, green, blue, alpha] = ImGui::ColorConvertU32ToFloat4(fill);
    const float luma = red * 0.299f + green * 0.587f + blue * 0.114f;
    return luma > 0.5f ? mix(fill, 0xFF000000u, 0.28f) : mix(fill, 0xFFFFFFFFu, 0.3f);
}

std::string base64(std::string_view bytes) {
    constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (size_t i = 0; i < bytes.size(); i += 3) {
        uint32_t bits = 0;
        for (size_t k = 0; k < 3; ++k)
            bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
        for (size_t k = 0; k < 4; ++k)
            text += i + k <= bytes.size() ? kDigits[bits >> (18 - 6 * k) & 63] : '=';
    }
    return text;
}

// From corner to corner; in a cell large enough for a value its middle stays free (shaders/pattern.glsl).
std::string cross(const PixelBox& b, float scale) {
    std::string data;
    const double pitch = std::min(b.x1 - b.x0, b.y1 - b.y0);
    const double reach = pitch >= 10 * scale ? std::max(0.2, 3 * scale / pitch) : 0.5;
    for (const bool falling : {true, false})
        for (const double from : {0.0, 1 - reach}) {
            if (reach == 0.5 && from > 0) continue;  // one line from corner to corner
            const double to = reach == 0.5 ? 1 : from + reach;
            const auto x = [&](double t) { return svg_number(b.x0 + t * (b.x1 - b.x0)); };
            const auto y = [&](double t) { return svg_number(b.y0 + (falling ? t : 1 - t) * (b.y1 - b.y0)); };
            data += fmt::format("M{} {}L{} {}", x(from), y(from), x(to), y(to));
        }
    return data;
}

using Run = std::pair<CellRect, Cell>;  // cells that are all alike

// A run goes on in the next row if that has the same columns and look. At most kMostVectorRuns are found.
std::vector<Run> runs_of(const CellLevel& level, const CellRect& part) {
    std::vector<Run> runs;
    std::map<std::tuple<uint32_t, uint32_t, uint16_t>, size_t> above;  // those that reach the row before
    for (uint32_t r = part.row0; r < part.row1 && runs.size() <= kMostVectorRuns; ++r) {
        decltype(above) here;
        const Cell* cells = level.cells.data() + size_t{r} * level.cols;
        for (uint32_t c = part.col0, end; c < part.col1; c = end) {
            for (end = c + 1; end < part.col1 && cells[end] == cells[c];) ++end;
            const std::tuple key{c, end, cells[c].bits};
            const auto known = above.find(key);
            const bool goes_on = known != above.end();
            const size_t run = goes_on ? known->second : runs.size();
            if (!goes_on) runs.push_back({{r, r, c, end}, cells[c]});
            runs[run].first.row1 = r + 1;
            here[key] = run;
        }
        above = std::move(here);
    }
    return runs;
}

struct GridSvg {
    SvgText& svg;
    const DrawnGrid& grid;
    const GridView& view = grid.view;
    const double pitch = std::ldexp(double{view.pitch}, static_cast<int>(grid.level));  // of its cells

    float x_of(double col) const { return snapped(view.x + col * pitch); }
    float y_of(double row) const { return snapped(view.y + row * pitch); }
    PixelBox box_of(const CellRect& c) const {
        return {x_of(c.col0), y_of(c.row0), x_of(c.col1), y_of(c.row1)};
    }

    void cells(const CellLevel& level, const PixelBox& clip) {
        const auto first = [](double at, uint32_t most) {
            return static_cast<uint32_t>(std::clamp(std::floor(at), 0.0, static_cast<double>(most)));
        };
        const CellRect part{
            first((clip.y0 - view.y) / pitch, level.rows), first((clip.y1 - view.y) / pitch + 1, level.rows),
            first((clip.x0 - view.x) / pitch, level.cols), first((clip.x1 - view.x) / pitch + 1, level.cols)};
        if (part.empty()) return;
        const std::vector<Run> runs = runs_of(level, part);
        if (runs.size() > kMostVectorRuns) return pixels(level, part);
        std::map<Rgba, std::string> fills;
        std::map<std::pair<Rgba, CellPattern>, std::string> patterns;
        for (const auto& [rect, look] : runs) {
            const Rgba fill = fill_of(*grid.palette, look);
            const auto what = static_cast<CellPattern>(look.bits & 7u);
            fills[fill] += svg_rect(box_of(rect));
            if (what != CellPattern::None)
                patterns[{over(fill), what}] +=
                    what == CellPattern::Cross ? crosses(rect) : svg_rect(box_of(rect));
        }
        for (const auto& [fill, data] : fills) svg.path(data, fill);
        for (const auto& [what, data] : patterns) pattern(what.second, what.first, data);
        if (grid.level == 0) lines(part);
    }

    std::string crosses(const CellRect& cells) const {
        std::string data;
        for (uint32_t r = cells.row0; r < cells.row1 && pitch >= 4; ++r)
            for (uint32_t c = cells.col0; c < cells.col1; ++c)
                data += cross(box_of({r, r + 1, c, c + 1}), grid.scale);
        return data;
    }

    // data: crosses to be drawn, or the outline of what is hatched or dotted.
    void pattern(CellPattern what, Rgba color, const std::string& data) {
        if (data.empty()) return;
        if (what == CellPattern::Cross)
            return svg.element(fmt::format("<path fill=\"none\" {} stroke-width=\"{}\" d=\"{}\"/>",
                                           svg_paint("stroke", color), svg_number(std::max(1.f, grid.scale)),
                                           data));
        const float period = std::max(4.f, std::floor(8 * grid.scale + 0.5f));
        const std::string paint = svg_paint("fill", color), size = svg_number(period);
        const std::string shape =
            what == CellPattern::Hatch
                ? fmt::format("<path {0} d=\"M0 0h{1}L0 {1}zM{2} 0V{1}L{1} {2}H0z\"/>", paint,
                              svg_number(std::max(1.f, std::floor(grid.scale * 1.5f))), size)
                : fmt::format("<circle {0} cx=\"{1}\" cy=\"{1}\" r=\"{2}\"/>", paint,
                              svg_number(std::floor(period / 2) + 0.5f),
                              svg_number(grid.scale * 1.22f + 0.3f));
        const std::string id =
            svg.define(fmt::format("<pattern id=\"{{}}\" width=\"{0}\" height=\"{0}\" "
                                   "patternUnits=\"userSpaceOnUse\">{1}</pattern>",
                                   size, shape));
        svg.element(fmt::format("<path fill=\"url(#{})\" d=\"{}\"/>", id, data));
    }

    // One pixel at the left and the top of every cell.
    void lines(const CellRect& part) {
        const float alpha = line_strength(view.pitch / grid.scale);
        if (alpha <= 0) return;
        const PixelBox all = box_of(part);
        std::string data;
        for (uint32_t c = part.col0; c < part.col1; ++c)
            data += svg_rect({x_of(c), all.y0, x_of(c) + 1, all.y1});
        for (uint32_t r = part.row0; r < part.row1; ++r)
            data += svg_rect({all.x0, y_of(r), all.x1, y_of(r) + 1});
        svg.path(data, with_alpha((*grid.palette)[Ink::Panel], alpha));
    }

    // A pixel a cell of the level, embedded.
    void pixels(const CellLevel& level, const CellRect& part) {
        platform::Image image{static_cast<int>(part.cols()), static_cast<int>(part.rows()), {}};
        image.rgba.reserve(size_t{4} * part.cols() * part.rows());
        for (uint32_t r = part.row0; r < part.row1; ++r)
            for (uint32_t c = part.col0; c < part.col1; ++c)
                for (int shift = 0; shift < 32; shift += 8)
                    image.rgba.push_back(static_cast<uint8_t>(
                        fill_of(*grid.palette, level.cells[size_t{r} * level.cols + c]) >> shift & 0xFF));
        svg.element(
            fmt::format("<image x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\" "
                        "preserveAspectRatio=\"none\" style=\"image-rendering:pixelated\" "
                        "href=\"data:image/png;base64,{}\"/>",
                        svg_number(view.x + part.col0 * pitch), svg_number(view.y + part.row0 * pitch),
                        svg_number(part.cols() * pitch), svg_number(part.rows() * pitch),
                        base64(platform::encode_png(image))));
    }

    void mark(const GridMark& mark) {
        const auto snap = [&](double corner, double cell) { return snapped(corner + cell * view.pitch); };
        PixelBox box{snap(view.x, mark.col), snap(view.y, mark.row),
                     snap(view.x, double{mark.col} + mark.cols), snap(view.y, double{mark.row} + mark.rows)};
        box.x1 = std::max(box.x1, box.x0 + 1);
        box.y1 = std::max(box.y1, box.y0 + 1);
        const bool framed = mark.edge >> 24 != 0;
        if (framed) {  // a small cell's frame lies around it
            const auto grow = [&](float& low, float& high) {
                const float by = std::ceil(std::max(0.f, mark.edge_px * 2 + 3 - (high - low)) / 2);
                low -= by, high += by;
            };
            grow(box.x0, box.x1);
            grow(box.y0, box.y1);
        }
        const auto inset = [&](float by) {
            return PixelBox{box.x0 + by, box.y0 + by, box.x1 - by, box.y1 - by};
        };
        const PixelBox inside = inset(framed ? mark.edge_px : 0);
        svg.path(svg_rect(framed && !mark.dashed ? inside : box), mark.fill);
        if (mark.pattern != CellPattern::None)
            pattern(mark.pattern, mark.edge,
                    mark.pattern == CellPattern::Cross ? cross(box, grid.scale) : svg_rect(box));
        if (framed && mark.dashed)
            svg.element(fmt::format(
                "<path fill=\"none\" {} stroke-width=\"{}\" stroke-dasharray=\"{} {}\" d=\"{}\"/>",
                svg_paint("stroke", mark.edge), svg_number(mark.edge_px), svg_number(5 * grid.scale),
                svg_number(3 * grid.scale), svg_rect(inset(mark.edge_px / 2))));
        else if (framed)  // with a hole, which runs the other way round
            svg.path(svg_rect(box) + svg_rect({inside.x1, inside.y0, inside.x0, inside.y1}), mark.edge);
    }
};

}  // namespace

std::string svg_number(double value) {
    const double rounded = std::round(value * 100) / 100;
    return fmt::format("{}", rounded == 0 ? 0.0 : rounded);
}

std::string svg_paint(const char* what, Rgba color) {
    std::string text =
        fmt::format("{}=\"#{:02x}{:02x}{:02x}\"", what, color & 0xFF, color >> 8 & 0xFF, color >> 16 & 0xFF);
    if (color >> 24 != 0xFF) text += fmt::format(" {}-opacity=\"{:.3g}\"", what, (color >> 24) / 255.0);
    return text;
}

void SvgText::open(Open what, Rgba color) {
    if (open_ == what && color_ == color) return;
    if (open_ != Open::Nothing) body_ += open_ == Open::Path ? "\"/>\n" : "</g>\n";
    if (what == Open::Path) body_ += fmt::format("<path {} d=\"", svg_paint("fill", color));
    if (what == Open::Glyphs) body_ += fmt::format("<g {}>", svg_paint("fill", color));
    open_ = what;
    color_ = color;
}

void SvgText::clip(const std::optional<PixelBox>& box) {
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
    body_ += data;
}

void SvgText::glyph(const std::string& id, double x, double y, Rgba fill) {
    if (fill >> 24 == 0 || id.empty()) return;
    open(Open::Glyphs, fill);
    body_ += fmt::format("<use href=\"#{}\" x=\"{}\" y=\"{}\"/>", id, svg_number(x), svg_number(y));
}

void SvgText::element(std::string_view xml) {
    flush();
    body_.append(xml).append("\n");
}

std::string SvgText::define(const std::string& xml_with_id_hole) {
    const auto [at, is_new] = defined_.try_emplace(xml_with_id_hole, fmt::format("g{}", defined_.size()));
    if (is_new) definitions_ += fmt::format(fmt::runtime(xml_with_id_hole), at->second) + "\n";
    return at->second;
}

std::string SvgText::document(const PixelBox& part, Rgba ground, std::string_view title) {
    clip(std::nullopt);
    flush();
    return fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" viewBox=\"{2} {3} {0} "
        "{1}\">\n"
        "<title>{4}</title>\n<defs>\n{5}</defs>\n<path {6} d=\"{7}\"/>\n{8}</svg>\n",
        part.x1 - part.x0, part.y1 - part.y0, part.x0, part.y0, xml_text(title), definitions_,
        svg_paint("fill", ground), svg_rect(part), body_);
}

void svg_grid(SvgText& svg, const DrawnGrid& grid, const PixelBox& within) {
    const ImVec2 low = grid.view.clip_min, high = grid.view.clip_max;
    const PixelBox clip = common({low.x, low.y, high.x, high.y}, within);
    if (clip.empty()) return;
    svg.clip(clip);
    GridSvg in{svg, grid};
    if (grid.cells) in.cells(*grid.cells, clip);
    for (const GridMark& mark : grid.marks) in.mark(mark);
}

std::string svg_of(const ImDrawData& data, Rgba ground, std::string_view title,
                   const std::optional<PixelBox>& part) {
    const PixelBox shown = part.value_or(PixelBox{0, 0, data.DisplaySize.x, data.DisplaySize.y});
    SvgText svg;
    const ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    Glyphs glyphs(atlas);
    for (int i = 0; i < data.CmdListsCount; ++i) {
        const ImDrawList& list = *data.CmdLists[i];
        Shapes shapes{svg, glyphs, list, atlas.TexUvWhitePixel};
        for (const ImDrawCmd& command : list.CmdBuffer) {
            if (const DrawnGrid* const grid = GridRenderer::drawn(command))
                svg_grid(svg, *grid, shown);
            else if (!command.UserCallback)
                shapes.command(command, shown);
        }
    }
    return svg.document(shown, ground, title);
}

}  // namespace tilescope::draw
