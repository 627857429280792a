// M left, N above, P in the corner, on one camera; in the free corner the overview:
//
//     +-----------+---N-------------+
//     | overview  |  0   4   8   12 |
//     | legend    | +-------------+ |      rulers above N and M, and left of all three: P's columns are N's
//     |           |0|             | |
//     +-M---------+ +-------------+ |
//     |  0  4  8  |-P---------------+
//     | +-------+ | +-------------+ |
//     |0|       | |0|             | |
//     +-----------+-----------------+
//
// The columns are as wide, and the rows as high, as the block's tiles ask for, so that all three tiles are in
// sight whole: a tile of 128 x 8, 8 x 128 and 128 x 128 leaves P most of the panel.
#include <algorithm>
#include <cmath>

#include "app/step/grids.h"

namespace tilescope::step {
namespace {

struct ProductBoxes {
    Rect corner, m, n, p;  // corner: without the line of M's name
};

// M's share of two lengths side by side.
float share_of(uint32_t first, uint32_t second) {
    return std::clamp(static_cast<float>(first) / static_cast<float>(first + second), 0.3f, 0.5f);
}

ProductBoxes boxes_in(Ui& ui, const Rect& in) {
    const analysis::Product& product = *ui.index()->product;
    const TileExtents tile = tile_extents(ui.trace(), *ui.index());
    const float title = line_height(ui, Size::Body) + ui.px(2), ruler = ruler_height(ui);
    const float of_m = ruler_width(ui, product.m), of_n = ruler_width(ui, std::max(product.k, product.m));
    const float gap = ui.px(4);
    const float wide = in.width() - of_m - of_n - gap, high = in.height() - title * 2 - ruler - ui.px(4);
    const float m_wide = std::floor(wide * share_of(tile.depth, tile.cols));
    const float n_high = std::floor(high * share_of(tile.depth, tile.rows));
    ProductBoxes made;
    const float right = in.min.x + of_m + m_wide + gap + of_n, low = in.min.y + title + ruler + n_high;
    made.n = {{right, low - n_high}, {in.max.x, low}};
    made.p = {{right, low + ui.px(4) + title}, in.max};
    made.m = {{in.min.x + of_m, made.p.min.y}, {in.min.x + of_m + m_wide, in.max.y}};
    made.corner = {in.min, {made.m.max.x, made.m.min.y - ruler - title - ui.px(4)}};
    return made;
}

Viewports ports_of(const ProductBoxes& of, float scale) {
    return {of.m.width() / scale, of.n.height() / scale, of.p.height() / scale, of.p.width() / scale};
}

}  // namespace

std::array<uint8_t, 3> product_arrays(const Ui& ui) {
    const analysis::Product& product = *ui.index()->product;
    return {product.M, product.N, product.P};
}

float product_pitch(Ui& ui, float width, float height) {
    const TileExtents tile = tile_extents(ui.trace(), *ui.index());
    const analysis::Product& product = *ui.index()->product;
    const Viewports ports = ports_of(boxes_in(ui, {{0, 0}, {width, height}}), 1);
    const float room = ui.px(kFrameRoom);
    const auto least = [](uint32_t tile_side, uint32_t side) {
        return static_cast<float>(std::min(tile_side, std::max(side, 1u)));
    };
    return std::max(0.f, std::min({(ports.m_width - room) / least(tile.depth, product.k),
                                   (ports.n_height - room) / least(tile.depth, product.k),
                                   (ports.row_height - room) / least(tile.rows, product.m),
                                   (ports.col_width - room) / least(tile.cols, product.n)}));
}

// Where some panels stand alone there is room on both sides of small matrices: in the middle of it, if they are as
// large there.
Rect in_the_middle(Ui& ui, const Rect& in) {
    const analysis::Product& product = *ui.index()->product;
    const float scale = ui.context.scale;
    const auto pitch_in = [&](const Rect& rect) {
        return static_cast<float>(framed(ui.trace(), *ui.index(), ui.session.replay.get(), ui.step(),
                                         ports_of(boxes_in(ui, rect), scale))
                                      .pitch);
    };
    const float pitch = pitch_in(in), room = ui.px(kFrameRoom);
    const float wide = static_cast<float>(product.k + product.n) * pitch * scale + 2 * room + ui.px(4) +
                       ruler_width(ui, product.m) + ruler_width(ui, std::max(product.k, product.m));
    const float high = static_cast<float>(product.k + product.m) * pitch * scale + 2 * room + ui.px(4) +
                       2 * (line_height(ui, Size::Body) + ui.px(2)) + ruler_height(ui);
    const float x = std::max(0.f, std::floor((in.width() - wide) / 2 - 1)),
                y = std::max(0.f, std::floor((in.height() - high) / 2 - 1));
    const Rect made{{in.min.x + x, in.min.y + y}, {in.max.x - x, in.max.y - y}};
    return pitch_in(made) == pitch ? made : in;
}

void product_panel(Ui& ui, const Rect& rect) {
    const analysis::Product& product = *ui.index()->product;
    const float scale = ui.context.scale;
    const Rect in = ui.session.unfolds() && ui.state.view.fit ? in_the_middle(ui, rect) : rect;
    ProductBoxes boxes = boxes_in(ui, in);
    ArrayView& view = ui.state.view;
    if (view.fit)
        static_cast<Camera&>(view) =
            framed(ui.trace(), *ui.index(), ui.session.replay.get(), ui.step(), ports_of(boxes, scale));
    view.n_k -= navigate(ui, boxes.m, view, view.row, view.m_k).x;
    view.m_k -= navigate(ui, boxes.n, view, view.n_k, view.col).y;
    navigate(ui, boxes.p, view, view.row, view.col);
    const auto pitch = static_cast<float>(view.pitch * scale);
    const Port in_n{boxes.n, view.n_k, view.col}, in_m{boxes.m, view.row, view.m_k},
        in_p{boxes.p, view.row, view.col};
    const float title = line_height(ui, Size::Body) + ui.px(2);
    const auto part = [&](uint8_t array, const char* axes, const Port& port, Rulers sides) {
        const draw::GridView grid = array_grid(ui, array, port, pitch);
        const Array& shape = ui.trace().launch.arrays[array];
        rulers(ui, grid, shape.rows, shape.cols, sides);
        const float left = std::max(grid.x, port.box.min.x), top = std::max(grid.y, port.box.min.y);
        array_title(ui, array, {left, top - title - (sides.cols ? ruler_height(ui) : 0)},
                    port.box.max.x - left, axes);
        return grid;
    };
    part(product.N, "k \u00d7 n", in_n, {});
    const draw::GridView left = part(product.M, "m \u00d7 k", in_m, {});
    part(product.P, "m \u00d7 n", in_p, {.rows = true, .cols = false});
    // The corner is what N and M leave.
    boxes.corner.max.x =
        std::min(boxes.corner.max.x, std::max(left.x, boxes.m.min.x) + static_cast<float>(product.k) * pitch);
    if (!ui.state.subject && !ui.session.unfolds()) overview(ui, boxes.corner, in_m, in_n, in_p, pitch);
}

}  // namespace tilescope::step
