// A frame as an SVG picture: the same draw lists that OpenGL renders, as filled paths.
//
//   triangles of one colour   one path; a fan of triangles is the polygon that it was made of
//   glyphs                    the outlines of the fonts: none has to be installed where it is looked at
//   grids                     their cells as rectangles, runs of equal cells as one; lines, patterns and
//                             marks as the shaders draw them. A grid of very many cells is an embedded PNG
//
// The lists must have been built without ImGui's own smoothing (AntiAliased* of its style off), whose fringes
// are triangles that fade; the program that shows the SVG smooths its edges.
//
// Source: SVG 1.1 (Second Edition), "Paths", "Clipping", "Painting"; `href` without a prefix is SVG 2's.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "app/draw/axes.h"
#include "app/draw/grid_renderer.h"
#include "imgui.h"

namespace tilescope::draw {

// part: what of it the picture shows, in whole pixels; all where none is given.
std::string svg_of(const ImDrawData& data, Rgba ground, std::string_view title,
                   const std::optional<PixelBox>& part = std::nullopt);

std::string svg_number(double value);                 // "12.5": at most two decimals
std::string svg_paint(const char* what, Rgba color);  // fill="#112233" fill-opacity=".5"

// The text of a picture: filled polygons, glyphs and raw elements in drawing order. Neighbouring shapes of
// one colour become one path, neighbouring glyphs of one colour one group.
class SvgText {
public:
    // All that follows is clipped to the box, or not at all.
    void clip(const std::optional<PixelBox>& box);
    void polygon(std::span<const ImVec2> corners, Rgba fill);
    void path(std::string_view data, Rgba fill);
    void glyph(const std::string& id, double x, double y, Rgba fill);  // id: of its outline's definition
    void element(std::string_view xml);                                // as it is
    // Adds a definition unless it is there; returns its id.
    std::string define(const std::string& xml_with_id_hole);  // "<pattern id=\"{}\" ..."

    // The whole document. title: what a reader aloud says.
    std::string document(const PixelBox& part, Rgba ground, std::string_view title);
    std::string document(int width, int height, Rgba ground, std::string_view title) {
        return document({0, 0, static_cast<float>(width), static_cast<float>(height)}, ground, title);
    }

private:
    enum class Open : uint8_t { Nothing, Path, Glyphs } open_ = Open::Nothing;
    void open(Open what, Rgba color);  // unless it is
    void flush() { open(Open::Nothing, 0); }
    Rgba color_ = 0;
    std::string body_;
    std::string clip_id_;                         // empty: not clipped
    std::map<std::string, std::string> defined_;  // definition -> id
    std::string definitions_;
};

// within: what of it the picture shows.
void svg_grid(SvgText& svg, const DrawnGrid& grid, const PixelBox& within);

}  // namespace tilescope::draw
