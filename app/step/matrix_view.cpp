#include "app/step/matrix_view.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "app/draw/sheet.h"

namespace tilescope::step {
namespace {

void add_cell(std::vector<HotCell>& cells, uint32_t row, uint32_t col, uint32_t lanes) {
    for (HotCell& cell : cells) {
        if (cell.row == row && cell.col == col) {
            cell.lanes |= lanes;
            return;
        }
    }
    cells.push_back({row, col, lanes});
}

void add_index(std::vector<HotCell>& cells, const draw::Sheet& sheet, uint64_t index, uint32_t lane) {
    const CellRect cell = sheet.cell(index);
    add_cell(cells, cell.row0, cell.col0, 1u << lane);
}

template <class Visit>  // visit(lane, offset)
void for_lanes(const trace::Access& access, Visit visit) {
    for (uint32_t mask = access.mask; mask != 0; mask &= mask - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(mask));
        visit(lane, access.offset[lane]);
    }
}

// Elements that this block loaded of the array earlier in this phase, each once, by rows; at most those of
// the latest requests.
std::vector<HotCell> loaded_before(const trace::Trace& trace, const BlockIndex& index, uint8_t array,
                                   uint32_t step) {
    constexpr uint32_t kMostRequests = 128;
    std::vector<HotCell> cells;
    const Array& shape = trace.launch.arrays[array];
    const draw::Sheet sheet(shape);
    const uint32_t phase = index.phase_at(step);
    for (const ptx::Site& site : trace.sites) {
        if (site.kind != ptx::SiteKind::Load || site.space != Space::Global) continue;
        const auto& steps = index.steps_of_site[site.id];
        auto at = std::lower_bound(steps.begin(), steps.end(), step);
        for (uint32_t seen = 0; at != steps.begin() && seen < kMostRequests; ++seen) {
            --at;
            if (index.phase_at(*at) != phase) break;
            if (trace.form_of(index.first + *at).array != array) continue;
            for_lanes(trace::decode(trace, index.first + *at), [&](uint32_t lane, uint64_t offset) {
                const CellRect cell = sheet.cell(offset / shape.element_bytes());
                cells.push_back({cell.row0, cell.col0, 1u << lane});
            });
        }
    }
    const auto place = [](const HotCell& cell) { return std::pair(cell.row, cell.col); };
    std::sort(cells.begin(), cells.end(),
              [&](const HotCell& a, const HotCell& b) { return place(a) < place(b); });
    size_t kept = 0;
    for (const HotCell& cell : cells)
        if (kept > 0 && place(cells[kept - 1]) == place(cell))
            cells[kept - 1].lanes |= cell.lanes;
        else
            cells[kept++] = cell;
    cells.resize(kept);
    return cells;
}

// Where a tile of T x T that begins inside the matrix reaches past its edges.
std::vector<CellRect> beyond_edges(uint32_t T, const CellRect& tile, uint32_t rows, uint32_t cols,
                                   bool whole_rows, bool whole_cols) {
    std::vector<CellRect> beyond;
    if (tile.empty() || T == 0) return beyond;
    const uint32_t row0 = tile.row0 / T * T, col0 = tile.col0 / T * T;
    const uint32_t row1 = whole_rows ? (tile.row1 + T - 1) / T * T : tile.row1;
    const uint32_t col1 = whole_cols ? (tile.col1 + T - 1) / T * T : tile.col1;
    if (col1 > cols && tile.col1 == cols) beyond.push_back({row0, std::min(row1, rows), cols, col1});
    if (row1 > rows && tile.row1 == rows)
        beyond.push_back({rows, row1, col0, col1 > cols && tile.col1 < cols ? cols : col1});
    return beyond;
}

// The first cell of an axis in sight: the part stands in the middle of its viewport; no empty margin where
// the axis has more to show.
double first_in_sight(double first, double size, double whole, double seen) {
    if (whole <= seen) return (whole - seen) / 2;
    const double margin = 0.5;
    return std::clamp(first + size / 2 - seen / 2, -margin, whole - seen + margin);
}

double whole_pixels(double pitch) { return pitch >= 2 ? std::floor(pitch) : pitch; }

}  // namespace

MatrixView matrix_view(const trace::Trace& trace, const BlockIndex& index,
                       const playback::BlockReplay* replay, uint8_t array, uint32_t step) {
    MatrixView view;
    const Array& shape = trace.launch.arrays[array];
    view.array = array;
    const draw::Sheet sheet(shape);
    view.rows = sheet.rows;
    view.cols = sheet.cols;
    if (step >= index.steps) return view;
    const look::Roles& roles = index.roles;
    const bool tiles = !roles.shared.empty();
    view.kind = look::kind_of(trace, index.first + step);
    view.tile = tile_of_phase(trace, index, array, index.phase_at(step));
    // The k axis is cut into tiles only where there are tiles; the block always is T x T.
    view.beyond = beyond_edges(index.product ? index.product->tile : 0, view.tile, view.rows, view.cols,
                               array != roles.n || tiles, array != roles.m || tiles);

    const trace::Access access = trace::decode(trace, index.first + step);
    if (view.kind == StepKind::Barrier) {
        view.loaded = loaded_before(trace, index, array, step);
        return view;
    }
    if (access.array == array) {
        for_lanes(
            access,
            [&](uint32_t lane, uint64_t offset) {
                add_index(view.touched, sheet, offset / shape.element_bytes(), lane);
            });
    }
    const bool shared =
        access.array != trace::kNoArray && trace.launch.arrays[access.array].space == Space::Shared;
    for_lanes(access, [&](uint32_t lane, uint64_t offset) {
        if (shape.role == ArrayRole::Output) {
            const auto output = look::output_of(index, access.warp * kWarpSize + lane);
            const bool multiplies =
                view.kind == StepKind::SharedLoad || (!tiles && view.kind == StepKind::GlobalLoad);
            if (output && output->array == array && multiplies)
                add_index(view.related, sheet, output->index, lane);
        } else if (shared && replay != nullptr) {
            const uint64_t cell = offset / std::max(trace.launch.arrays[access.array].element_bytes(), 1u);
            const playback::CellState state = view.kind == StepKind::SharedStore
                                                  ? replay->cell(access.array, cell, step)
                                                  : replay->cell_read(step, lane);
            if (state.written && state.source.array == array)
                add_index(view.related, sheet, state.source.index, lane);
        }
    });
    if (shape.role != ArrayRole::Output) view.loaded = loaded_before(trace, index, array, step);
    return view;
}

Camera framed(const trace::Trace& trace, const BlockIndex& index, uint32_t step, const Viewports& ports,
              double readable, double largest) {
    if (!index.product) return {};
    const analysis::Product& product = *index.product;
    const look::Roles& roles = index.roles;
    const uint32_t T = product.tile;
    const double m = product.m, k = product.k, n = product.n;
    const auto up = [&](double size) { return std::ceil(size / T) * T; };  // with the part past the edge
    const auto fits = [&](double rows, double cols, double ks) {
        const double frame = 6;  // logical pixels: room for a tile's frame at the matrix's edge
        return std::min({(ports.row_height - frame) / rows, (ports.col_width - frame) / cols,
                         (ports.m_width - frame) / ks, (ports.n_height - frame) / ks});
    };
    Camera camera;
    double row0 = 0, col0 = 0, k0 = 0, rows = up(m), cols = up(n), ks = roles.shared.empty() ? k : up(k);
    camera.pitch = std::min(whole_pixels(fits(rows, cols, ks)), largest);
    if (camera.pitch < readable) {
        const uint32_t phase = index.phase_at(step);
        CellRect p = tile_of_phase(trace, index, product.P, phase);
        CellRect mt = tile_of_phase(trace, index, product.M, phase),
                 nt = tile_of_phase(trace, index, product.N, phase);
        // Behind the last phase no input is touched: stay where the last phase was.
        if (mt.empty() && nt.empty() && index.phases.phases > 0) {
            mt = tile_of_phase(trace, index, product.M, index.phases.phases - 1);
            nt = tile_of_phase(trace, index, product.N, index.phases.phases - 1);
        }
        const auto down = [&](uint32_t at) { return static_cast<double>(at / T * T); };
        row0 = down(p.empty() ? mt.row0 : p.row0);
        col0 = down(p.empty() ? nt.col0 : p.col0);
        k0 = down(mt.empty() ? nt.row0 : mt.col0);
        rows = cols = ks = T;
        const double context = 0.5;  // cells around the tile
        camera.pitch =
            std::min(whole_pixels(fits(rows + 2 * context, cols + 2 * context, ks + 2 * context)), largest);
        camera.pitch = std::max(camera.pitch, 1.0);
    }
    const auto start = [&](double first, double size, double whole, double pixels) {
        return first_in_sight(first, size, whole, pixels / camera.pitch);
    };
    camera.row = start(row0, rows, up(m), ports.row_height);
    camera.col = start(col0, cols, up(n), ports.col_width);
    const double k_whole = roles.shared.empty() ? k : up(k);
    camera.m_k = start(k0, ks, k_whole, ports.m_width);
    camera.n_k = start(k0, ks, k_whole, ports.n_height);
    return camera;
}

SheetCamera framed_sheet(const MatrixView& sheet, const CellRect& part, float width, float height,
                         double readable, double largest) {
    const auto fits = [&](double rows, double cols) {
        return std::min(whole_pixels(std::min(width / std::max(cols, 1.0), height / std::max(rows, 1.0))),
                        largest);
    };
    SheetCamera camera;
    CellRect shown{0, sheet.rows, 0, sheet.cols};
    camera.pitch = fits(sheet.rows, sheet.cols);
    if (camera.pitch < readable && !part.empty()) {
        shown = part;
        camera.pitch = std::max(fits(part.rows() + 1.0, part.cols() + 1.0), std::max(camera.pitch, 1.0));
    }
    camera.row = first_in_sight(shown.row0, shown.rows(), sheet.rows, height / camera.pitch);
    camera.col = first_in_sight(shown.col0, shown.cols(), sheet.cols, width / camera.pitch);
    return camera;
}

}  // namespace tilescope::step
