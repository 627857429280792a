// From a glyph's place in the font atlas back to its outline, so that type in an SVG picture is crisp at any
// size and needs no font where it is looked at.
//
//   texture coordinates of a quad --> font and character --> FreeType's outline, hinted as the atlas is
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "imgui.h"

namespace tilescope::draw {

class GlyphOutlines {
public:
    explicit GlyphOutlines(const ImFontAtlas& atlas);
    ~GlyphOutlines();
    GlyphOutlines(const GlyphOutlines&) = delete;
    GlyphOutlines& operator=(const GlyphOutlines&) = delete;

    struct Placed {
        const std::string* outline =
            nullptr;          // path data relative to the pen; null for no glyph of the atlas
        double x = 0, y = 0;  // the pen, on the base line
    };
    // The glyph of a quad, from its upper left to its lower right corner.
    Placed place(const ImDrawVert& upper_left, const ImDrawVert& lower_right);

private:
    struct Glyph {
        const ImFont* font = nullptr;
        uint32_t character = 0;
        float px = 0, ascent = 0;
        float x0 = 0, y0 = 0, x1 = 0, u0 = 0, v0 = 0, u1 = 0, v1 = 0;
    };
    void add(const ImFont* font, const ImFontGlyph& glyph, float px, float ascent);
    const Glyph* find(ImVec2 uv) const;
    const std::string& outline(const Glyph& glyph);

    struct Type;  // FreeType's side
    std::unique_ptr<Type> type_;
    std::vector<Glyph> glyphs_;
    std::map<std::pair<float, float>, size_t> by_corner_;
    std::map<std::pair<const Glyph*, uint32_t>, std::string> outlines_;
};

}  // namespace tilescope::draw
