// The solid drawn from the back to the front: walls, what lies on them, the column, its slabs, a thread, names.
#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "app/pictures/cube.h"

namespace tilescope::pictures {
namespace {

using draw::CellRect;
using look::CubeBox;

ImVec2 operator+(ImVec2 a, ImVec2 b) { return {a.x + b.x, a.y + b.y}; }
ImVec2 operator-(ImVec2 a, ImVec2 b) { return {a.x - b.x, a.y - b.y}; }
ImVec2 operator*(ImVec2 a, float by) { return {a.x * by, a.y * by}; }
ImVec2 between(ImVec2 a, ImVec2 b, float part) { return a + (b - a) * part; }

using Corners = std::array<ImVec2, 4>;  // of a parallelogram, one after the other

float turn_of(const Corners& of) {
    const ImVec2 a = of[1] - of[0], b = of[3] - of[0];
    return a.x * b.y - a.y * b.x;
}

// What a picture of the solid is drawn with.
class Painter {
public:
    Painter(Ui& ui, const CubePlan& plan, const CubeScene& scene) : ui_(ui), plan_(plan), scene_(scene) {}

    void paint() {
        for (const int face : {2, 0, 1}) wall(face);
        if (!scene_.index.shared.empty())
            shadows();
        else
            rays();
        column();
        thread();
        selection();
        labels();
    }

private:
    const look::CubeView& view() const { return scene_.view; }

    // --- what is flat

    void fill(Corners of, Rgba color) {
        if (turn_of(of) < 0) std::swap(of[1], of[3]);  // ImGui smooths the edges of what turns one way
        ui_.list.AddConvexPolyFilled(of.data(), 4, color);
    }
    void edge(const Corners& of, Rgba color, float width) {
        ui_.list.AddPolyline(of.data(), 4, color, ImDrawFlags_Closed, width);
    }
    void dashes(ImVec2 from, ImVec2 to, Rgba color, float width, float on, float off) {
        const float length = std::hypot(to.x - from.x, to.y - from.y);
        for (float at = 0; at < length; at += on + off)
            ui_.list.AddLine(between(from, to, at / length),
                             between(from, to, std::min(at + on, length) / length), color, width);
    }
    void dotted(ImVec2 from, ImVec2 to, Rgba color, float width = 1.5f) {
        dashes(from, to, color, ui_.px(width), ui_.px(3), ui_.px(3));
    }
    void hatched(const Corners& of, Rgba color) {
        const float size = std::max(std::hypot(of[1].x - of[0].x, of[1].y - of[0].y),
                                    std::hypot(of[3].x - of[0].x, of[3].y - of[0].y));
        const int lines = std::max(static_cast<int>(size / ui_.px(6)), 2);
        for (int i = 1; i <= lines; ++i) {
            const float part = static_cast<float>(i) / static_cast<float>(lines);
            ui_.list.AddLine(between(of[0], of[1], part), between(of[0], of[3], part), color, 1);
            if (i < lines)
                ui_.list.AddLine(between(of[1], of[2], part), between(of[3], of[2], part), color, 1);
        }
    }

    // --- walls: 0 M, 1 N, 2 P

    // What of cells of a matrix is in sight.
    CellRect cut(int face, CellRect cells) const {
        const CellRect& of = plan_.of;
        const uint32_t row0 = face == 1 ? plan_.k0 : of.row0, row1 = face == 1 ? plan_.k1 : of.row1;
        const uint32_t col0 = face == 0 ? plan_.k0 : of.col0, col1 = face == 0 ? plan_.k1 : of.col1;
        return {std::max(cells.row0, row0), std::min(cells.row1, row1), std::max(cells.col0, col0),
                std::min(cells.col1, col1)};
    }
    Corners on(int face, const CellRect& cells) const {
        return {plan_.on(face, cells.row0, cells.col0), plan_.on(face, cells.row0, cells.col1),
                plan_.on(face, cells.row1, cells.col1), plan_.on(face, cells.row1, cells.col0)};
    }
    void cells(int face, const std::vector<CellRect>& rects, Rgba color) {
        for (const CellRect& rect : rects)
            if (const CellRect seen = cut(face, rect); !seen.empty()) fill(on(face, seen), color);
    }
    void frames(int face, const std::vector<CellRect>& rects, Rgba color, float width) {
        for (const CellRect& rect : rects)
            if (const CellRect seen = cut(face, rect); !seen.empty())
                edge(on(face, seen), color, ui_.px(width));
    }
    CellRect matrix(int face) const {
        const look::CubeShape& shape = scene_.block.shape;
        return {0, face == 1 ? shape.k : shape.m, 0, face == 0 ? shape.k : shape.n};
    }
    // Lines every so many rows and columns.
    void lines(int face, uint32_t rows, uint32_t cols, Rgba color, float least) {
        const CellRect all = cut(face, matrix(face));
        const Corners one = on(face, {0, rows, 0, cols});
        const auto apart = [&](const ImVec2& a, const ImVec2& b) {
            return std::abs(turn_of(one)) / std::max(std::hypot(b.x - a.x, b.y - a.y), 1e-3f);
        };
        const float width = ui_.px(1);
        if (apart(one[0], one[1]) >= least)
            for (uint32_t row = (all.row0 + rows - 1) / rows * rows; row < all.row1; row += rows)
                if (row > all.row0)
                    ui_.list.AddLine(plan_.on(face, row, all.col0), plan_.on(face, row, all.col1), color,
                                     width);
        if (apart(one[0], one[3]) >= least)
            for (uint32_t col = (all.col0 + cols - 1) / cols * cols; col < all.col1; col += cols)
                if (col > all.col0)
                    ui_.list.AddLine(plan_.on(face, all.row0, col), plan_.on(face, all.row1, col), color,
                                     width);
    }

    void wall(int face) {
        const CellRect all = cut(face, matrix(face));
        if (all.empty()) return;
        const Rgba ground = ui_.ink(Ink::Cell), load = ui_.ink(Ink::GlobalLoad);
        fill(on(face, all), ground);
        if (face == 2) unrecorded(all);
        const auto i = static_cast<size_t>(face);
        if (face < 2) {
            cells(face, view().before[i], draw::mix(ground, load, 0.28f));
            cells(face, view().early[i], draw::mix(ground, ui_.ink(Ink::SharedStore), 0.6f));
            cells(face, view().tile[i], draw::mix(ground, load, 0.8f));
        } else {
            cells(face, view().stored, draw::mix(ground, ui_.ink(Ink::GlobalStore), 0.45f));
        }
        const uint32_t rows = face == 1 ? plan_.tile_depth : plan_.tile_rows,
                       cols = face == 0 ? plan_.tile_depth : plan_.tile_cols;
        lines(face, 1, 1, draw::with_alpha(ui_.ink(Ink::Panel), 0.4f), ui_.px(5));
        lines(face, rows, cols, ui_.ink(Ink::Panel), ui_.px(4));
        for (const CellRect& rect : view().beyond[i])
            if (const CellRect seen = cut(face, rect); !seen.empty()) {
                fill(on(face, seen), ui_.ink(Ink::Outside));
                hatched(on(face, seen), ui_.ink(Ink::LineStrong));
                edge(on(face, seen), ui_.ink(Ink::LineStrong), 1);
            }
        edge(on(face, all), ui_.ink(Ink::LineStrong), ui_.px(1));
        const Rgba touch = ui_.ink(ink_of(view().kind));
        cells(face, view().touched[i], touch);
        if (view().touched[i].size() <= 40) frames(face, view().touched[i], ui_.ink(Ink::Text), 1);
        if (face == 2 && !scene_.block.tile.empty())
            frames(face, {scene_.block.tile}, ui_.ink(Ink::Accent), 2);
    }

    // Tiles of P of which no block was recorded.
    void unrecorded(const CellRect& all) {
        const look::CubeTiles* const tiles = scene_.tiles;
        if (tiles == nullptr) return;
        for (uint32_t row = all.row0 / tiles->tile_rows * tiles->tile_rows; row < all.row1;
             row += tiles->tile_rows)
            for (uint32_t col = all.col0 / tiles->tile_cols * tiles->tile_cols; col < all.col1;
                 col += tiles->tile_cols)
                if (!tiles->block_at(row, col))
                    cells(2,
                          {{row, std::min(row + tiles->tile_rows, all.row1), col,
                            std::min(col + tiles->tile_cols, all.col1)}},
                          ui_.ink(Ink::Outside));
    }

    // --- from the walls to the slab

    void shadows() {
        const CubeBox slab = cut(view().slab);
        if (slab.empty()) return;
        const Rgba color = ui_.ink(Ink::GlobalLoad);
        const uint32_t near = plan_.m_left ? slab.of.col0 : slab.of.col1;
        for (const auto& [row, k] :
             {std::pair{slab.of.row0, slab.k1}, {slab.of.row1, slab.k1}, {slab.of.row0, slab.k0}})
            dotted(plan_.on(0, row, k), plan_.at(row, near, k), color);
        const uint32_t back = plan_.m_left ? slab.of.col1 : slab.of.col0;
        for (const auto& [k, col] :
             {std::pair{slab.k1, slab.of.col0}, {slab.k1, slab.of.col1}, {slab.k0, back}})
            dotted(plan_.on(1, k, col), plan_.at(slab.of.row0, col, k), color);
    }

    // Without tiles: from the element that a lane loads to where its product is.
    void rays() {
        if (view().slab.empty() || view().kind != StepKind::GlobalLoad) return;
        const Rgba color = draw::with_alpha(ui_.ink(Ink::GlobalLoad), 0.65f);
        for_lanes(view().mask, [&](uint32_t lane) {
            for (const CellRect& own :
                 look::cube_patch(scene_.trace, scene_.index, view().warp * kWarpSize + lane)) {
                const double row = own.row0 + 0.5, col = own.col0 + 0.5, k = view().slab.k0 + 0.5;
                const ImVec2 meet = plan_.at(row, col, k);
                if (!view().touched[0].empty()) ui_.list.AddLine(plan_.on(0, row, k), meet, color, ui_.px(1));
                if (!view().touched[1].empty()) ui_.list.AddLine(plan_.on(1, k, col), meet, color, ui_.px(1));
            }
        });
    }

    // --- the column

    CubeBox cut(const CubeBox& box) const {
        return {cut(2, box.of), std::max(box.k0, plan_.k0), std::min(box.k1, plan_.k1)};
    }
    Corners front(const CubeBox& b) const {
        return {plan_.at(b.of.row0, b.of.col0, b.k1), plan_.at(b.of.row0, b.of.col1, b.k1),
                plan_.at(b.of.row1, b.of.col1, b.k1), plan_.at(b.of.row1, b.of.col0, b.k1)};
    }
    Corners top(const CubeBox& b) const {
        return {plan_.at(b.of.row0, b.of.col0, b.k0), plan_.at(b.of.row0, b.of.col1, b.k0),
                plan_.at(b.of.row0, b.of.col1, b.k1), plan_.at(b.of.row0, b.of.col0, b.k1)};
    }
    Corners side(const CubeBox& b) const {
        const uint32_t col = plan_.m_left ? b.of.col1 : b.of.col0;
        return {plan_.at(b.of.row0, col, b.k1), plan_.at(b.of.row0, col, b.k0),
                plan_.at(b.of.row1, col, b.k0), plan_.at(b.of.row1, col, b.k1)};
    }
    void box(const CubeBox& whole, Rgba color, float alpha, Rgba line, float width) {
        const CubeBox seen = cut(whole);
        if (seen.empty()) return;
        const auto shade = [&](float light) {
            const Rgba with = light > 0 ? draw::rgb(0xFFFFFF) : draw::rgb(0x000000);
            return draw::with_alpha(draw::mix(color, with, std::abs(light)), alpha);
        };
        if (alpha > 0)
            fill(top(seen), shade(0.25f)), fill(side(seen), shade(-0.14f)), fill(front(seen), shade(0));
        if (width > 0)
            for (const Corners& of : {top(seen), side(seen), front(seen)}) edge(of, line, ui_.px(width));
    }
    void outline(const CubeBox& whole, Rgba color) {
        const CubeBox seen = cut(whole);
        if (seen.empty()) return;
        for (const Corners& of : {top(seen), side(seen), front(seen)})
            for (size_t i = 0; i < 4; ++i)
                dashes(of[i], of[(i + 1) % 4], color, ui_.px(1), ui_.px(4), ui_.px(4));
    }

    void column() {
        const Rgba product = ui_.ink(Ink::Product);
        const Rgba quiet = draw::mix(product, ui_.ink(Ink::Inactive), 0.55f);
        box(view().done, quiet, 0.86f, ui_.ink(Ink::LineStrong), 1);
        // Lines between the phases that are done.
        for (uint32_t phase = 0; phase < scene_.block.phases.size() && (phase < view().phase || view().after);
             ++phase) {
            const CubeBox& slab = scene_.block.phases[phase].box;
            const CubeBox seen = cut(slab);
            if (seen.empty() ||
                std::hypot(plan_.k.x, plan_.k.y) * static_cast<float>(slab.k1 - slab.k0) < ui_.px(4))
                continue;
            for (const Corners& of : {top(seen), side(seen)}) edge(of, ui_.ink(Ink::LineStrong), ui_.px(1));
        }
        if (!view().slab.empty()) slab();
        // Of slabs that come, the farthest is nearest to the viewer.
        for (const look::SlabAhead& ahead : view().ahead)
            box(ahead.box, ui_.ink(Ink::SharedStore), ahead.there ? 0.55f : 0.2f, ui_.ink(Ink::SharedStore),
                1.5f);
        CubeBox rest = view().all;
        rest.k0 = view().slab.empty() ? rest.k1 : view().slab.k1;
        for (const look::SlabAhead& ahead : view().ahead) rest.k0 = std::max(rest.k0, ahead.box.k1);
        outline(rest, ui_.ink(Ink::TextFaint));
    }

    void slab() {
        const Rgba product = ui_.ink(Ink::Product), line = ui_.ink(Ink::Text);
        box(view().slab, product, 0.30f, line, 1);
        std::vector<CubeBox> made = view().made;
        // From the back to the front: far k first, then low rows, then the side that is turned away.
        const bool left = plan_.m_left;
        std::ranges::sort(made, [&](const CubeBox& a, const CubeBox& b) {
            const auto key = [&](const CubeBox& of) {
                return std::tuple(-static_cast<int64_t>(of.of.row0),
                                  left ? int64_t{of.of.col0} : -int64_t{of.of.col0}, int64_t{of.k0});
            };
            return key(a) < key(b);
        });
        const Rgba ink = ui_.context.palette.text_on(product);
        for (const CubeBox& part : made) box(part, product, 0.95f, draw::with_alpha(ink, 0.4f), 1);
        if (!view().now.empty()) box(view().now, product, 1, ink, 1.5f);
        const CubeBox seen = cut(view().slab);
        if (!seen.empty())
            for (const Corners& of : {top(seen), side(seen), front(seen)}) edge(of, line, ui_.px(1.5f));
    }

    // --- a thread: a line along k, or the box of its elements

    void thread() {
        if (!scene_.thread) return;
        const Rgba color = ui_.ink(Ink::Selected), halo = ui_.ink(Ink::Panel);
        const CubeBox column = cut(view().all);
        const CubeBox& along = view().slab.empty() ? column : view().slab;
        const std::vector<CellRect> patch = look::cube_patch(scene_.trace, scene_.index, *scene_.thread);
        // As thin as an element is small.
        const float thin = std::clamp(std::min(plan_.row, plan_.col) * 0.6f, ui_.px(1), ui_.px(2.5f));
        const float frame = std::clamp(std::min(plan_.row, plan_.col) * 0.25f / ui_.px(1), 0.6f, 1.5f);
        for (const CellRect& own : patch) {
            const CubeBox seen = cut({own, along.k0, along.k1});
            if (seen.empty()) continue;
            const double row = (own.row0 + own.row1) / 2.0, col = (own.col0 + own.col1) / 2.0;
            const bool line = own.rows() == 1 && own.cols() == 1;
            if (line) {
                const ImVec2 from = plan_.at(row, col, seen.k0), to = plan_.at(row, col, seen.k1);
                ui_.list.AddLine(from, to, halo, thin + ui_.px(2)), ui_.list.AddLine(from, to, color, thin);
                ui_.list.AddCircleFilled(to, thin * 1.3f, color);
            } else {
                box(seen, color, 0.22f, halo, 4);
                box(seen, color, 0, color, 2);
            }
            if (view().slab.empty()) continue;
            // What it takes from M and from N.
            frames(0, {{own.row0, own.row1, seen.k0, seen.k1}}, color, frame);
            frames(1, {{seen.k0, seen.k1, own.col0, own.col1}}, color, frame);
            const double front = seen.k1;
            const double near = plan_.m_left ? own.col0 : own.col1;
            if (scene_.index.shared.empty()) continue;  // rays say it
            dotted(plan_.on(0, row, front), plan_.at(row, line ? col : near, front), color);
            dotted(plan_.on(1, front, col), plan_.at(line ? row : own.row0, col, front), color);
        }
    }

    void selection() {
        const look::CubeShape& shape = scene_.block.shape;
        for (const auto& [array, rect] : scene_.selected) {
            const int face = array == shape.arrays[0]   ? 0
                             : array == shape.arrays[1] ? 1
                             : array == shape.arrays[2] ? 2
                                                        : -1;
            if (face < 0) continue;
            const CellRect seen = cut(face, rect);
            if (seen.empty()) continue;
            const Corners of = on(face, seen);
            for (size_t i = 0; i < 4; ++i)
                dashes(of[i], of[(i + 1) % 4], ui_.ink(Ink::Selected), ui_.px(2), ui_.px(4), ui_.px(2));
        }
    }

    // --- names, outside the walls

    // An arrow beside a wall, from the axis' beginning on.
    void arrow(ImVec2 from, ImVec2 way) {
        const float length = std::hypot(way.x, way.y), size = ui_.px(4);
        const ImVec2 one = way * (1 / std::max(length, 1e-3f)), to = from + one * ui_.px(18);
        const Rgba color = ui_.ink(Ink::TextQuiet);
        ui_.list.AddLine(from, to, color, ui_.px(1.5f));
        const ImVec2 across{-one.y, one.x};
        Corners head{to + one * size, to + across * size, to, to - across * size};
        ui_.list.AddTriangleFilled(head[0], head[1], head[3], color);
    }
    std::string name(int face) const {
        const look::CubeShape& shape = scene_.block.shape;
        const uint8_t array = face == 0 ? shape.arrays[0] : face == 1 ? shape.arrays[1] : shape.arrays[2];
        return name_in(scene_.index.notation, scene_.trace.launch.arrays[array]);
    }
    void labels() {
        const look::CubeShape& shape = scene_.block.shape;
        const CellRect all = cut(2, matrix(2));
        const CellRect side = cut(0, matrix(0));
        const float title = line_height(ui_, Size::Title), small = line_height(ui_, Size::Small);
        const auto size = [&](const char* axis, uint32_t of) {
            return fmt::format("{} = {}", axis, grouped(of));
        };
        // N above its wall, the axis n at the other end.
        const ImVec2 n0 = plan_.on(1, plan_.k0, all.col0), n1 = plan_.on(1, plan_.k0, all.col1);
        const float named = line(ui_, {n0.x, n0.y - title - ui_.px(2)}, ui_.px(120), Face::Strong,
                                 Size::Title, Ink::Text, name(1));
        const std::string n = size("n", shape.n);
        const float n_wide = draw::text_size(ui_.font(Face::Text, Size::Small), n).x, arrow_wide = ui_.px(26);
        if (n1.x - n0.x >= named + n_wide + arrow_wide + ui_.px(10)) {
            note(ui_, {n1.x - n_wide - arrow_wide, n1.y - small - ui_.px(3)}, n_wide + 1, n);
            arrow({n1.x - ui_.px(22), n1.y - small / 2 - ui_.px(3)}, {1, 0});
        }
        // P beside its wall, on the side away from M; the axis m below it.
        const ImVec2 p = plan_.on(2, all.row0, plan_.m_left ? all.col1 : all.col0);
        const std::string m = size("m", shape.m);
        const Align align = plan_.m_left ? Align::Left : Align::Right;
        const float x = p.x + ui_.px(plan_.m_left ? 10 : -10);
        line(ui_, {x, p.y}, ui_.px(80), Face::Strong, Size::Title, Ink::Text, name(2), align);
        note(ui_, {x, p.y + title}, ui_.px(120), m, align);
        arrow({x + ui_.px(plan_.m_left ? 6 : -6), p.y + title + small + ui_.px(4)}, {0, 1});
        // M above the slanted edge of its wall; the axis k along that of N, where nothing else is.
        const ImVec2 m_top = plan_.on(0, side.row0, (plan_.k0 + plan_.k1) / 2.0);
        line(ui_, {m_top.x + ui_.px(plan_.m_left ? -4 : 4), m_top.y - title}, ui_.px(80), Face::Strong,
             Size::Title, Ink::Text, name(0), plan_.m_left ? Align::Right : Align::Left);
        const double edge = plan_.m_left ? all.col0 : all.col1;
        const ImVec2 start = plan_.on(1, plan_.k0 + (plan_.k1 - plan_.k0) * 0.3, edge);
        const float off = ui_.px(plan_.m_left ? -12 : 12);
        arrow({start.x + off, start.y}, plan_.k);
        note(ui_, {start.x + off * 1.3f, start.y - small * 0.85f}, ui_.px(120), size("k", shape.k),
             plan_.m_left ? Align::Right : Align::Left);
    }

    Ui& ui_;
    const CubePlan& plan_;
    const CubeScene& scene_;
};

}  // namespace

void cube_picture(Ui& ui, const CubePlan& plan, const CubeScene& scene) {
    if (plan.unit < ui.px(24)) return;
    Painter(ui, plan, scene).paint();
}

void cube_swatch(Ui& ui, const Rect& box, look::CubeLine::Swatch swatch) {
    using Swatch = look::CubeLine::Swatch;
    const Rgba ground = ui.ink(Ink::Cell), load = ui.ink(Ink::GlobalLoad), product = ui.ink(Ink::Product);
    const auto filled = [&](Rgba color) { ui.list.AddRectFilled(box.min, box.max, color, ui.px(1)); };
    const auto framed = [&](Rgba color, float width) {
        ui.list.AddRect(box.min, box.max, color, ui.px(1), 0, ui.px(width));
    };
    const float middle = std::round((box.min.y + box.max.y) / 2);
    switch (swatch) {
        case Swatch::Now: filled(product), framed(ui.ink(Ink::Text), 1.5f); break;
        case Swatch::Done:
            filled(draw::mix(product, ui.ink(Ink::Inactive), 0.55f)), framed(ui.ink(Ink::LineStrong), 1);
            break;
        case Swatch::Tile: filled(draw::mix(ground, load, 0.8f)); break;
        case Swatch::Before: filled(draw::mix(ground, load, 0.28f)); break;
        case Swatch::Ahead:
            filled(with_alpha(ui.ink(Ink::SharedStore), 0.3f)), framed(ui.ink(Ink::SharedStore), 1.5f);
            break;
        case Swatch::Thread: framed(ui.ink(Ink::Selected), 2); break;
        case Swatch::Beyond:
            framed(ui.ink(Ink::LineStrong), 1), hatch(ui, box, ui.ink(Ink::LineStrong), ui.px(4));
            break;
        case Swatch::Fault: draw::fault_sign(ui, box); break;
        case Swatch::Rays:
            for (const float part : {0.15f, 0.5f, 0.85f})
                ui.list.AddLine({box.min.x, middle}, {box.max.x, box.min.y + box.height() * part}, load,
                                ui.px(1));
            break;
        case Swatch::Nothing: break;
    }
}

}  // namespace tilescope::pictures
