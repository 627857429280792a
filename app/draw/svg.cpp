#include "app/draw/svg.h"

#include <algorithm>
#include <array>

#include "app/draw/glyph_outlines.h"

namespace tilescope::draw {

namespace {

// Walks the triangles of one draw list and gives them out as polygons and glyphs.
class Shapes {
public:
    Shapes(SvgText& svg, GlyphOutlines& glyphs, const ImDrawList& list, ImVec2 white)
        : svg_(svg), glyphs_(glyphs), list_(list), white_(white) {}

    void command(const ImDrawCmd& command) {
        clip_ = {command.ClipRect.x, command.ClipRect.y, command.ClipRect.z, command.ClipRect.w};
        const ImDrawIdx* index = list_.IdxBuffer.Data + command.IdxOffset;
        const ImDrawVert* vertex = list_.VtxBuffer.Data + command.VtxOffset;
        for (unsigned i = 0; i + 3 <= command.ElemCount;) {
            if (i + 6 <= command.ElemCount && is_glyph(index + i, vertex)) {
                flush();
                glyph(vertex[index[i]], vertex[index[i + 2]]);
                i += 6;
                continue;
            }
            triangle(index + i, vertex);
            i += 3;
        }
        flush();
    }

private:
    bool is_white(const ImDrawVert& v) const { return v.uv.x == white_.x && v.uv.y == white_.y; }
    // Two triangles over a part of the atlas: 0 1 2, 0 2 3.
    bool is_glyph(const ImDrawIdx* i, const ImDrawVert* vertex) const {
        return i[3] == i[0] && i[4] == i[2] && !is_white(vertex[i[0]]);
    }

    void use_clip(const Box& around) {
        svg_.clip(around.within(clip_) ? std::nullopt : std::optional<Box>(clip_));
    }

    void glyph(const ImDrawVert& a, const ImDrawVert& c) {
        const GlyphOutlines::Placed placed = glyphs_.place(a, c);
        if (!placed.outline) return;
        use_clip({a.pos.x, a.pos.y, c.pos.x, c.pos.y});
        svg_.glyph(*placed.outline, placed.x, placed.y, a.col);
    }

    void triangle(const ImDrawIdx* i, const ImDrawVert* vertex) {
        const ImDrawVert &a = vertex[i[0]], &b = vertex[i[1]], &c = vertex[i[2]];
        const Rgba color = a.col == b.col && b.col == c.col ? a.col : mean(a.col, b.col, c.col);
        if (fan_.empty() || color != color_ || i[0] != first_ || i[1] != last_) {
            flush();
            fan_ = {a.pos, b.pos};
            color_ = color;
            first_ = i[0];
        }
        fan_.push_back(c.pos);
        last_ = i[2];
    }

    static Rgba mean(Rgba a, Rgba b, Rgba c) {
        Rgba out = 0;
        for (int shift = 0; shift < 32; shift += 8)
            out |= ((a >> shift & 0xFF) + (b >> shift & 0xFF) + (c >> shift & 0xFF)) / 3 << shift;
        return out;
    }

    void flush() {
        if (fan_.empty()) return;
        Box around{fan_[0].x, fan_[0].y, fan_[0].x, fan_[0].y};
        for (const ImVec2 at : fan_) {
            around.x0 = std::min(around.x0, at.x), around.x1 = std::max(around.x1, at.x);
            around.y0 = std::min(around.y0, at.y), around.y1 = std::max(around.y1, at.y);
        }
        if (around.x1 > clip_.x0 && around.x0 < clip_.x1 && around.y1 > clip_.y0 && around.y0 < clip_.y1) {
            use_clip(around);
            svg_.polygon(fan_, color_);
        }
        fan_.clear();
    }

    SvgText& svg_;
    GlyphOutlines& glyphs_;
    const ImDrawList& list_;
    ImVec2 white_;
    Box clip_;
    std::vector<ImVec2> fan_;
    Rgba color_ = 0;
    unsigned first_ = 0, last_ = 0;  // vertices of the fan: its centre, its latest
};

}  // namespace

std::string svg_of(const ImDrawData& data, GridRenderer& grids, Rgba ground, std::string_view title) {
    SvgText svg;
    const ImFontAtlas& atlas = *ImGui::GetIO().Fonts;
    GlyphOutlines glyphs(atlas);
    for (int i = 0; i < data.CmdListsCount; ++i) {
        const ImDrawList& list = *data.CmdLists[i];
        Shapes shapes(svg, glyphs, list, atlas.TexUvWhitePixel);
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
