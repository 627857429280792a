// A frame as an SVG picture: the same draw lists that OpenGL renders, as filled paths.
//
//   triangles of one colour   one path; a fan of triangles is the polygon that it was made of
//   glyphs                    FreeType's outlines (glyph_outlines.h): no font is needed to look at it
//   grids                     their cells as rectangles, runs of equal cells as one; lines, patterns and
//   marks
//                             as the shaders draw them. A grid of very many cells is an embedded PNG
//
// The lists must have been built without ImGui's own smoothing (AntiAliased* of its style off), whose fringes
// are triangles that fade: whoever draws the SVG smooths its edges.
#pragma once

#include <string>
#include <string_view>

#include "app/draw/grid_renderer.h"
#include "app/draw/svg_text.h"
#include "imgui.h"

namespace tilescope::draw {

std::string svg_of(const ImDrawData& data, GridRenderer& grids, Rgba ground, std::string_view title);

// More runs of cells than this are drawn as a picture of pixels.
inline constexpr size_t kMostVectorRuns = 20'000;
void svg_grid(SvgText& svg, const DrawnGrid& grid);

}  // namespace tilescope::draw
