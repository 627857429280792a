// Where the solid lies on the screen, how much of it is in sight, and what lies under a point of it.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/pictures/cube.h"

namespace tilescope::pictures {
namespace {

using draw::CellRect;
using look::CubeBox;

ImVec2 way(ImVec2 from, ImVec2 to) { return {to.x - from.x, to.y - from.y}; }

// Of a parallelogram, whose corners come one after the other.
bool inside(const std::array<ImVec2, 4>& of, ImVec2 point) {
    const ImVec2 a = way(of[0], of[1]), b = way(of[0], of[3]), p = way(of[0], point);
    const float whole = a.x * b.y - a.y * b.x;
    if (std::abs(whole) < 1e-3f) return false;
    const float u = (p.x * b.y - p.y * b.x) / whole, v = (a.x * p.y - a.y * p.x) / whole;
    return u >= 0 && u < 1 && v >= 0 && v < 1;
}

// Tiles from the one at `at` on both sides, `most` of them, of `all`.
std::pair<uint32_t, uint32_t> around(uint32_t at, uint32_t most, uint32_t all) {
    if (all <= most) return {0, all};
    const uint32_t first = std::min(at - std::min(at, most / 3), all - most);
    return {first, first + most};
}

}  // namespace

CubeCamera turned(CubeCamera camera, float turn, float tilt) {
    const float before = camera.turn;
    camera.turn = std::clamp(camera.turn + turn, -CubeCamera::kMostTurn, CubeCamera::kMostTurn);
    if (std::abs(camera.turn) < CubeCamera::kLeastTurn) {
        // On to the other side where it was at the edge already.
        const bool on =
            std::abs(before) <= CubeCamera::kLeastTurn * 1.01f || std::abs(turn) >= CubeCamera::kLeastTurn;
        const bool left = turn > 0 ? on : turn < 0 ? !on : before > 0;
        camera.turn = left ? CubeCamera::kLeastTurn : -CubeCamera::kLeastTurn;
    }
    camera.tilt = std::clamp(camera.tilt + tilt, CubeCamera::kLeastTilt, CubeCamera::kMostTilt);
    return camera;
}

ImVec2 CubePlan::at(double r, double c, double k_at) const {
    const auto along = static_cast<float>(k_at - k0);
    return {origin.x + static_cast<float>(c - of.col0) * col + along * k.x,
            origin.y + static_cast<float>(r - of.row0) * row + along * k.y};
}
ImVec2 CubePlan::on(int face, double r, double c) const {
    if (face == 0) {
        const ImVec2 point = at(r, m_left ? of.col0 : of.col1, c);
        return {point.x + (m_left ? -gap_m : gap_m), point.y};
    }
    if (face == 1) {
        const ImVec2 point = at(of.row0, c, r);
        return {point.x, point.y - gap_n};
    }
    return at(r, c, k0);
}

CubePlan cube_plan(Ui& ui, const Rect& rect, const CubeScene& scene, const CubeCamera& camera,
                   bool cornered) {
    CubePlan plan;
    const look::CubeShape& shape = scene.block.shape;
    const CubeBox& slab = scene.view.slab.empty() ? scene.view.done : scene.view.slab;
    const uint32_t depth =
        scene.block.phases[0].box.empty() ? 1 : scene.block.phases[0].box.k1 - scene.block.phases[0].box.k0;
    plan.tile_rows = std::max(shape.tile_rows, 1u), plan.tile_cols = std::max(shape.tile_cols, 1u);
    // Without tiles k is cut as P is, to be counted alike.
    plan.tile_depth = std::max({shape.tile, depth, 1u});
    const auto tiles = [](uint32_t size, uint32_t tile) { return (size + tile - 1) / tile; };
    const uint32_t down = tiles(shape.m, plan.tile_rows), across = tiles(shape.n, plan.tile_cols),
                   deep = tiles(shape.k, plan.tile_depth);
    const auto most = [&](uint32_t all) {
        if (camera.tiles > 0) return camera.tiles;
        return all <= CubeCamera::kSomeTiles ? all : CubeCamera::kFewTiles;
    };
    const CellRect& tile = scene.block.tile;
    const auto [row0, row1] = around(tile.row0 / plan.tile_rows, most(down), down);
    const auto [col0, col1] = around(tile.col0 / plan.tile_cols, most(across), across);
    const uint32_t k_now = scene.view.slab.empty() && slab.k1 > 0 ? slab.k1 - 1 : slab.k0;
    const auto [k0, k1] = around(k_now / plan.tile_depth, most(deep), deep);
    plan.of = {row0 * plan.tile_rows, row1 * plan.tile_rows, col0 * plan.tile_cols, col1 * plan.tile_cols};
    plan.k0 = k0 * plan.tile_depth, plan.k1 = k1 * plan.tile_depth;
    // Without tiles nothing reaches beyond the matrices.
    if (scene.index.shared.empty()) plan.k1 = std::min(plan.k1, shape.k);
    plan.whole = row1 - row0 == down && col1 - col0 == across && k1 - k0 == deep;

    // Lengths on the screen, in elements; the axes get scales of their own where one would be lost.
    const auto rows = static_cast<float>(plan.of.rows()), cols = static_cast<float>(plan.of.cols()),
               ks = static_cast<float>(plan.k1 - plan.k0);
    const float longer = std::max(rows, cols);
    const float high = std::max(rows, longer * 0.35f), wide = std::max(cols, longer * 0.35f);
    const float deep_k = std::clamp(ks, longer * 0.5f, longer);
    plan.one_scale = high == rows && wide == cols && deep_k == ks;
    const float turn = std::abs(camera.turn);
    const float title = line_height(ui, Size::Title);
    const std::string m = fmt::format("m = {}", grouped(shape.m));
    const float beside = draw::text_size(ui.font(Face::Text, Size::Small), m).x + ui.px(14);
    const float left = rect.min.x + (camera.turn > 0 ? ui.px(2) : beside),
                right = rect.max.x - (camera.turn > 0 ? beside : ui.px(2));
    const float top = rect.min.y + title + ui.px(3), bottom = rect.max.y - ui.px(4);
    const float gap = longer * 0.05f;
    const float gap_m = turn * deep_k + gap, gap_n = camera.tilt * deep_k + gap;
    const float total_wide = wide + gap_m + turn * deep_k, total_high = gap_n + high + camera.tilt * deep_k;
    const float scale = std::max(0.f, std::min((right - left) / total_wide, (bottom - top) / total_high));
    plan.unit = scale * longer;
    plan.row = high * scale / rows, plan.col = wide * scale / cols;
    plan.m_left = camera.turn > 0;
    plan.k = {-camera.turn * deep_k * scale / ks, camera.tilt * deep_k * scale / ks};
    plan.gap_m = gap_m * scale, plan.gap_n = gap_n * scale;
    const float free_x = right - left - total_wide * scale, free_y = bottom - top - total_high * scale;
    const float slack_x = !cornered         ? free_x / 2
                          : camera.turn > 0 ? 0
                                            : free_x,
                slack_y = cornered ? 0 : free_y / 2;
    plan.origin = {std::round(left + slack_x + (plan.m_left ? (gap_m + turn * deep_k) * scale : 0)),
                   std::round(top + slack_y + gap_n * scale)};
    return plan;
}

bool cube_leaves_free(Ui& ui, const CubePlan& plan, const Rect& corner) {
    // The lower edge of the solid on that side, from P's corner along k.
    const uint32_t col = plan.m_left ? plan.of.col1 : plan.of.col0;
    const ImVec2 from = plan.at(plan.of.row1, col, plan.k0), to = plan.at(plan.of.row1, col, plan.k1);
    const float gap = ui.px(10), y = corner.min.y - gap;
    if (y >= to.y) return true;
    if (y < from.y) return false;
    const float x = from.x + (to.x - from.x) * (y - from.y) / std::max(to.y - from.y, 1.f);
    return plan.m_left ? corner.min.x >= x + gap : corner.max.x <= x - gap;
}

std::optional<CubeHit> cube_hit(const CubePlan& plan, const CubeScene& scene, ImVec2 point) {
    using Part = CubeHit::Part;
    const look::CubeView& view = scene.view;
    // The column's parts, the nearest first.
    const auto of_box = [&](CubeBox box) {
        box.k0 = std::max(box.k0, plan.k0), box.k1 = std::min(box.k1, plan.k1);
        if (box.empty()) return false;
        const uint32_t col = plan.m_left ? box.of.col1 : box.of.col0;
        const auto& [r0, r1, c0, c1] = box.of;
        return inside({plan.at(r0, c0, box.k1), plan.at(r0, c1, box.k1), plan.at(r1, c1, box.k1),
                       plan.at(r1, c0, box.k1)},
                      point) ||
               inside({plan.at(r0, c0, box.k0), plan.at(r0, c1, box.k0), plan.at(r0, c1, box.k1),
                       plan.at(r0, c0, box.k1)},
                      point) ||
               inside({plan.at(r0, col, box.k1), plan.at(r0, col, box.k0), plan.at(r1, col, box.k0),
                       plan.at(r1, col, box.k1)},
                      point);
    };
    if (of_box(view.slab)) return CubeHit{Part::Slab};
    if (of_box(view.done)) return CubeHit{Part::Done};
    const look::CubeShape& shape = scene.block.shape;
    for (const int face : {0, 1, 2}) {
        const uint32_t r0 = face == 1 ? plan.k0 : plan.of.row0, c0 = face == 0 ? plan.k0 : plan.of.col0;
        const ImVec2 corner = plan.on(face, r0, c0), a = way(corner, plan.on(face, r0, c0 + 1.0)),
                     b = way(corner, plan.on(face, r0 + 1.0, c0)), p = way(corner, point);
        const float whole = a.x * b.y - a.y * b.x;
        if (std::abs(whole) < 1e-9f) continue;
        const float col = (p.x * b.y - p.y * b.x) / whole, row = (a.x * p.y - a.y * p.x) / whole;
        const uint32_t rows = std::min(face == 1 ? shape.k : shape.m, face == 1 ? plan.k1 : plan.of.row1),
                       cols = std::min(face == 0 ? shape.k : shape.n, face == 0 ? plan.k1 : plan.of.col1);
        if (row < 0 || col < 0 || row >= static_cast<float>(rows - r0) ||
            col >= static_cast<float>(cols - c0))
            continue;
        return CubeHit{face == 0   ? Part::M
                       : face == 1 ? Part::N
                                   : Part::P,
                       r0 + static_cast<uint32_t>(row), c0 + static_cast<uint32_t>(col)};
    }
    CubeBox rest = view.all;
    if (!view.slab.empty()) rest.k0 = view.slab.k1;
    if (!view.slab.empty() && of_box(rest)) return CubeHit{Part::ToCome};
    return std::nullopt;
}

}  // namespace tilescope::pictures
