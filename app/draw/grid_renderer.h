// Matrices as grids of cells, drawn by OpenGL inside ImGui's draw lists.
//
//   cells    one texel a cell: what it is (Ink), how strongly, and a pattern, so that colour is never
//            the only sign. They change seldom; a texture is uploaded only when its version changes.
//   marks    rectangles of cells on top: the lanes' cells of this request, tile frames, selections.
//            They change every step; any number, one instanced draw call.
//
//   zoomed in                zoomed out (several cells a pixel)
//   +--+--+--+               a pyramid of ever halved levels, each texel the loudest Ink and the
//   |  |##|  |  1 px lines   greatest strength of the four below it: a single hot cell of
//   +--+--+--+               8192 x 8192 is still a pixel of its colour
//
// All positions are framebuffer pixels, y down, as in ImGui.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "app/draw/sheet.h"
#include "core/base/result.h"
#include "imgui.h"

namespace tilescope::draw {

// Where a grid lies: cell (row r, column c) covers
// [x + c*pitch, x + (c+1)*pitch) x [y + r*pitch, y + (r+1)*pitch), clipped to [clip_min, clip_max).
struct GridView {
    float x = 0, y = 0;
    float pitch = 16;
    ImVec2 clip_min, clip_max;
};
ImVec2 corner_of(const GridView& view, double row, double col);  // upper left corner of a cell, in pixels

// Lines between cells fade in from 4 to 8 logical pixels a cell.
inline float line_strength(float pitch) { return std::clamp((pitch - 4.f) / 4.f, 0.f, 1.f); }

// A rectangle of cells on top of a grid: filled, framed or both. marks.vert.glsl reads it as it is.
struct GridMark {
    float row = 0, col = 0, rows = 1, cols = 1;  // fractions are fine: things in motion
    Rgba fill = 0;                               // alpha 0: no fill
    Rgba edge = 0;                               // alpha 0: no frame
    float edge_px = 2;                           // inside the rectangle's border
    bool dashed = false;
    CellPattern pattern = CellPattern::None;  // over the fill, in the edge's colour
};

// What one draw() shows, for OpenGL and for pictures that it has no part in (svg.h).
struct DrawnGrid {
    GridView view;
    const Palette* palette = nullptr;
    float scale = 1;
    const CellLevel* cells = nullptr;  // null for marks alone
    uint32_t level = 0;                // level of the pyramid
    std::vector<GridMark> marks;
};

// What a grid shows of an array. Each use has textures of its own.
// clang-format off
enum class GridUse : uint8_t { Matrix, Marks, Ground, Part, Map, MapGround, MapPart, Shared, Threads, Loads, LoadsSoFar, Wrong, Race };
// clang-format on

// The number of a grid: of an array of a recording (its serial), for one use.
constexpr uint64_t grid_id(uint64_t recording, GridUse use, uint32_t array) {
    return recording << 24 | uint64_t{array & 0xFFFF} << 8 | static_cast<uint64_t>(use);
}

class GridRenderer {
public:
    // Needs a current OpenGL 3.3 core context, now and until destruction.
    static Result<std::unique_ptr<GridRenderer>> create();
    ~GridRenderer();

    // Grids are told apart by a number (grid_id). Those that have not been drawn for the longest time are
    // forgotten. Upload when stale() says so:
    //   if (grids.stale(id, version)) grids.set_cells(id, version, rows, cols, cells);
    bool stale(uint64_t id, uint64_t version) const;
    // cells: [rows * cols], row-major. At most 8192 x 8192.
    void set_cells(uint64_t id, uint64_t version, uint32_t rows, uint32_t cols, std::span<const Cell> cells);

    // Puts a grid into a draw list, in order with all else that is drawn into it. The marks are
    // copied. An id without cells draws only its marks.
    void draw(ImDrawList& list, uint64_t id, const GridView& view, const Palette& palette, float scale,
              std::span<const GridMark> marks = {});

    // The grid that a command of this frame's draw lists stands for, cut to what is in sight of it; null for
    // other commands, and where nothing is. Valid until the next grid is drawn or changed.
    static const DrawnGrid* drawn(const ImDrawCmd& command);

    void begin_frame();  // forgets what the last frame drew; called by the frame loop

private:
    struct State;  // the cells, and OpenGL's side of it
    explicit GridRenderer(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

}  // namespace tilescope::draw
