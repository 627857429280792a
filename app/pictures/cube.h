// A product as a solid (look/cube.h), drawn in parallel projection for window, film, page and poster alike: P
// is the wall behind it, M stands at its side and N above it, both moved away far enough that nothing hides
// them. P keeps its right angles; turning the solid turns the axis k.
//
//              N ________           k runs towards the viewer. Everything is flat polygons, drawn from the
//               /  ##   /           back to the front: walls, what lies on them, the column, its slabs.
//              /_______/
//      M |\    +-------+ P
//        | \   |       |
//        |##|  | +-+   |
//         \#|  |/ /|   |
//          \|  +|+ |---+
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "app/look/cube.h"
#include "app/pictures/pictures.h"

namespace tilescope::pictures {

// How one looks at it.
struct CubeCamera {
    // Where k points to, as parts of its length on the screen: to the left (below 0: to the right) and down.
    float turn = 0.48f, tilt = 0.34f;
    uint32_t tiles = 0;  // tiles in sight along each axis, around the block; 0: all, or kFewTiles of more
    static constexpr float kLeastTurn = 0.12f, kMostTurn = 0.72f, kLeastTilt = 0.16f, kMostTilt = 0.6f;
    static constexpr uint32_t kFewTiles = 8, kSomeTiles = 10;
    bool operator==(const CubeCamera&) const = default;
};
// Turned by a part of a right angle, about: never to where M would be seen from its edge alone.
CubeCamera turned(CubeCamera camera, float turn, float tilt);

// What is drawn.
struct CubeScene {
    const trace::Trace& trace;
    const look::BlockIndex& index;
    const look::CubeBlock& block;
    const look::CubeView& view;
    const look::CubeTiles* tiles = nullptr;  // which blocks were recorded; null: all of them
    std::optional<uint32_t> thread{};        // whose elements of P are drawn
    std::vector<std::pair<uint8_t, draw::CellRect>> selected{};  // cells of arrays that are framed
};

// The part of the solid in sight, and where it lies.
struct CubePlan {
    draw::CellRect of;  // rows and columns of P
    uint32_t k0 = 0, k1 = 0;
    uint32_t tile_rows = 1, tile_cols = 1, tile_depth = 1;
    bool whole = true;       // all of the solid is in sight
    bool one_scale = true;   // the three axes have one scale
    float unit = 0;          // pixels of the longer side of P
    float row = 1, col = 1;  // pixels an element
    ImVec2 k{};              // the way of one k
    ImVec2 origin{};         // of the first element in sight, at k0
    float gap_m = 0, gap_n = 0;
    bool m_left = true;
    ImVec2 at(double r, double c, double k) const;
    ImVec2 on(int face, double r, double c) const;  // 0: M, 1: N, 2: P
};
// cornered: in the upper corner on M's side, so that what is left over lies together; else in the middle.
CubePlan cube_plan(Ui& ui, const Rect& rect, const CubeScene& scene, const CubeCamera& camera,
                   bool cornered = false);
// Whether no slab of any block reaches into a rectangle in the lower corner on the side away from M.
bool cube_leaves_free(Ui& ui, const CubePlan& plan, const Rect& corner);

// What lies under a point: an element of a face, or a part of the column.
struct CubeHit {
    enum class Part : uint8_t { M, N, P, Slab, Done, ToCome } part = Part::P;
    uint32_t row = 0, col = 0;  // of a face: of its matrix
};
std::optional<CubeHit> cube_hit(const CubePlan& plan, const CubeScene& scene, ImVec2 point);

void cube_picture(Ui& ui, const CubePlan& plan, const CubeScene& scene);
// The sign of what a line beside the picture explains.
void cube_swatch(Ui& ui, const Rect& box, look::CubeLine::Swatch swatch);

}  // namespace tilescope::pictures
