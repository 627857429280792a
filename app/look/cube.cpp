#include "app/look/cube.h"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>

#include <fmt/format.h>

namespace tilescope::look {
namespace {

using analysis::Product;
using playback::BlockReplay;

constexpr uint32_t kNotThere = UINT32_MAX;

int matrix_of(const Product& product, uint8_t array) {
    return array == product.M ? 0 : array == product.N ? 1 : array == product.P ? 2 : -1;
}

// The range of k that cells of M (0) or N (1) lie in.
std::pair<uint32_t, uint32_t> k_of(int matrix, const CellRect& cells) {
    return matrix == 0 ? std::pair(cells.col0, cells.col1) : std::pair(cells.row0, cells.row1);
}
CellRect with_k(int matrix, CellRect cells, uint32_t k0, uint32_t k1) {
    (matrix == 0 ? cells.col0 : cells.row0) = k0;
    (matrix == 0 ? cells.col1 : cells.row1) = k1;
    return cells;
}

// Follows factors to the elements of M and N that they were loaded from: a load feeds many products.
class Sources {
public:
    struct Loaded {
        uint32_t mask = 0;  // lanes whose factor is an element of `matrix`
        int matrix = -1;    // 0: M, 1: N
        bool from_global = false;
        bool one_k = false;  // all of them lie at one k
        CellRect bounds;     // of their cells
        std::array<uint32_t, kWarpSize> row{}, col{};
    };
    Sources(const trace::Trace& trace, const Product& product, const BlockReplay& replay)
        : trace_(trace), product_(product), replay_(replay) {}

    const Loaded& of(simt::Origin origin, uint32_t mask) {
        Loaded& known = known_[origin];
        if ((looked_[origin] & mask) == mask) return known;
        for_lanes(mask & ~looked_[origin], [&](uint32_t lane) { follow(known, origin, lane); });
        looked_[origin] |= mask;
        const auto [k0, k1] = k_of(known.matrix, known.bounds);
        known.one_k = known.matrix >= 0 && k1 == k0 + 1;
        return known;
    }

private:
    void follow(Loaded& into, simt::Origin origin, uint32_t lane) {
        const playback::Factor factor = replay_.factor(origin, lane);
        if (!factor.known()) return;
        playback::Element element = factor.element;
        const bool shared = trace_.launch.arrays[element.array].space == Space::Shared;
        if (shared) element = replay_.cell(element.array, element.index, factor.step).source;
        const int matrix = element.array == trace::kNoArray ? -1 : matrix_of(product_, element.array);
        if (matrix < 0 || matrix > 1 || (into.matrix >= 0 && into.matrix != matrix)) return;
        const uint32_t cols = matrix == 0 ? product_.k : product_.n;
        into.matrix = matrix;
        into.from_global = !shared;
        into.row[lane] = static_cast<uint32_t>(element.index / cols);
        into.col[lane] = static_cast<uint32_t>(element.index % cols);
        into.bounds.include(into.row[lane], into.col[lane]);
        into.mask |= 1u << lane;
    }

    const trace::Trace& trace_;
    const Product& product_;
    const BlockReplay& replay_;
    std::unordered_map<simt::Origin, Loaded> known_;
    std::unordered_map<simt::Origin, uint32_t> looked_;  // lanes
};

// What a warp multiplies at once.
struct Multiplied {
    CubeBox box;
    uint64_t products = 0, mismatched = 0;
    bool from_global = false;
};

bool same_in_all_lanes(const std::array<simt::Origin, 32>& origins, uint32_t mask) {
    const simt::Origin first = origins[static_cast<size_t>(std::countr_zero(mask))];
    bool same = true;
    for_lanes(mask, [&](uint32_t lane) { same = same && origins[lane] == first; });
    return same;
}

Multiplied multiplied(Sources& sources, const playback::MultiplyStep& step) {
    Multiplied made;
    if (step.mask == 0) return made;
    const auto first = static_cast<size_t>(std::countr_zero(step.mask));
    if (same_in_all_lanes(step.a, step.mask) && same_in_all_lanes(step.b, step.mask)) {
        const Sources::Loaded *m = &sources.of(step.a[first], step.mask),
                              *n = &sources.of(step.b[first], step.mask);
        if (m->matrix == 1) std::swap(m, n);
        made.from_global = m->from_global || n->from_global;
        if (m->matrix != 0 || n->matrix != 1) return made;
        if (m->one_k && n->one_k && m->mask == step.mask && n->mask == step.mask) {
            const uint32_t k = m->bounds.col0;
            const auto lanes = static_cast<uint64_t>(std::popcount(step.mask));
            if (k != n->bounds.row0) return made.mismatched = lanes, made;
            made.box = {{m->bounds.row0, m->bounds.row1, n->bounds.col0, n->bounds.col1}, k, k + 1};
            made.products = lanes;
            return made;
        }
    }
    for_lanes(step.mask, [&](uint32_t lane) {
        const Sources::Loaded *m = &sources.of(step.a[lane], 1u << lane),
                              *n = &sources.of(step.b[lane], 1u << lane);
        if (m->matrix == 1) std::swap(m, n);
        made.from_global = made.from_global || m->from_global || n->from_global;
        if (m->matrix != 0 || n->matrix != 1 || (m->mask & n->mask & 1u << lane) == 0) return;
        const uint32_t k = m->col[lane];
        if (k != n->row[lane]) {
            ++made.mismatched;
            return;
        }
        ++made.products;
        made.box.include({{m->row[lane], m->row[lane] + 1, n->col[lane], n->col[lane] + 1}, k, k + 1});
    });
    return made;
}

uint32_t step_of(simt::Origin origin) {
    return origin == 0 || (origin & simt::kComputed) != 0 ? 0 : (origin & simt::kStepMask) - 1;
}

class Builder {
public:
    Builder(const trace::Trace& trace, const BlockIndex& index) : trace_(trace), index_(index) {
        made_.block = index.block;
        made_.shape = cube_shape(product_);
        made_.phases.resize(std::max(index.phases.phases, 1u));
        for (const CellRect& slice : index.touched[product_.P]) made_.tile.include(slice);
    }

    CubeBlock build(const BlockReplay* replay) {
        made_.from_values = replay != nullptr && !replay->full() && add_products(*replay);
        if (!made_.from_values) slabs_of_loads();
        CubeBox all;
        for (const PhaseSlab& slab : made_.phases) all.include(slab.box);
        if (made_.tile.empty()) made_.tile = all.of;
        find_phases_of_k();
        add_loads();
        return std::move(made_);
    }

private:
    uint32_t phase_of(uint32_t step) const {
        return std::min(index_.phase_at(step), static_cast<uint32_t>(made_.phases.size()) - 1);
    }

    // False where nothing that is multiplied comes from M and N.
    bool add_products(const BlockReplay& replay) {
        Sources sources(trace_, product_, replay);
        std::map<std::pair<uint32_t, uint32_t>, std::map<uint32_t, uint32_t>> made;  // phase, warp; k: step
        uint64_t all = 0;
        for (const playback::MultiplyStep& step : replay.products()) {
            const Multiplied one = multiplied(sources, step);
            if (one.products + one.mismatched == 0) continue;
            PhaseSlab& slab = made_.phases[phase_of(step, one.from_global)];
            const auto phase = static_cast<uint32_t>(&slab - made_.phases.data());
            slab.products += one.products, slab.mismatched += one.mismatched, all += one.products;
            if (one.products == 0) continue;
            slab.box.include(one.box);
            if (one.box.k1 == one.box.k0 + 1) of_k_[{one.box.k0, phase}] += one.products;
            if (slab.warps.empty() || slab.warps.back().warp != step.warp) {
                const auto at = std::ranges::lower_bound(slab.warps, step.warp, {}, &WarpPart::warp);
                if (at == slab.warps.end() || at->warp != step.warp)
                    slab.warps.insert(at, {step.warp, {}, {}})->box.include(one.box);
                else
                    at->box.include(one.box);
            } else {
                slab.warps.back().box.include(one.box);
            }
            for (uint32_t k = one.box.k0; k < one.box.k1; ++k) {
                uint32_t& last = made[{phase, step.warp}][k];
                last = std::max(last, step.after_step);
            }
        }
        for (PhaseSlab& slab : made_.phases)
            for (WarpPart& part : slab.warps) {
                const auto phase = static_cast<uint32_t>(&slab - made_.phases.data());
                part.made.assign(part.box.k1 - part.box.k0, 0);
                for (const auto& [k, step] : made[{phase, part.warp}]) part.made[k - part.box.k0] = step;
            }
        return all > 0;
    }

    uint32_t phase_of(const playback::MultiplyStep& product, bool from_global) const {
        if (from_global) {
            const auto lane = static_cast<size_t>(std::countr_zero(product.mask));
            return phase_of(std::max(step_of(product.a[lane]), step_of(product.b[lane])));
        }
        const std::vector<uint32_t>& steps = index_.steps_of_warp[product.warp];
        const auto after = std::ranges::upper_bound(steps, product.after_step);
        return phase_of(after == steps.begin() ? product.after_step : *(after - 1));
    }

    void slabs_of_loads() {
        for (uint32_t phase = 0; phase < made_.phases.size(); ++phase) {
            PhaseSlab& slab = made_.phases[phase];
            slab = {};
            const CellRect m = tile_of_phase(trace_, index_, product_.M, phase),
                           n = tile_of_phase(trace_, index_, product_.N, phase);
            if (m.empty() || n.empty()) continue;
            const CellRect of = made_.tile.empty() ? CellRect{m.row0, m.row1, n.col0, n.col1} : made_.tile;
            slab.box = {of, std::max(m.col0, n.row0), std::min(m.col1, n.row1)};
        }
    }

    void find_phases_of_k() {
        phase_of_k_.assign(product_.k, kNotThere);
        for (uint32_t phase = 0; phase < made_.phases.size(); ++phase)
            for (uint32_t k = made_.phases[phase].box.k0; k < made_.phases[phase].box.k1; ++k)
                if (phase_of_k_[k] == kNotThere) phase_of_k_[k] = phase;
        for (const auto& [at, products] : of_k_)
            if (phase_of_k_[at.first] < at.second) made_.phases[at.second].repeated += products;
    }

    void add_loads() {
        for (uint32_t step = 0; step < index_.steps; ++step) {
            const uint64_t at = index_.first + step;
            const trace::Form& form = trace_.form_of(at);
            const int matrix = form.array == trace::kNoArray ? -1 : matrix_of(product_, form.array);
            if (matrix < 0 || matrix > 1 || !ptx::reads(trace_.sites[form.site].kind)) continue;
            const trace::Access access = trace::decode(trace_, at);
            std::vector<std::pair<uint32_t, uint32_t>> cells;
            const uint32_t cols = matrix == 0 ? product_.k : product_.n;
            for_elements(trace_, access, [&](uint32_t, uint64_t element) {
                cells.emplace_back(static_cast<uint32_t>(element / cols),
                                   static_cast<uint32_t>(element % cols));
            });
            if (cells.empty()) continue;
            CubeLoad load{step, static_cast<uint32_t>(std::popcount(access.mask)), matrix,
                          rectangles_of(std::move(cells)), step};
            if (const auto transfer = trace::transfer_of(trace_, at); transfer && transfer->written)
                load.there =
                    index_.landings.visible_from(static_cast<uint32_t>(*transfer->written - index_.first))
                        .value_or(kNotThere);
            const auto number = static_cast<uint32_t>(made_.loads.size());
            for (const CellRect& rect : load.cells) place(rect, matrix, number, step);
            made_.loads.push_back(std::move(load));
        }
        for (PhaseSlab& slab : made_.phases)
            for (std::vector<CellRect>& tile : slab.tiles) tile = joined(std::move(tile));
    }

    // Into the slabs whose k it holds.
    void place(const CellRect& rect, int matrix, uint32_t number, uint32_t step) {
        auto [k, end] = k_of(matrix, rect);
        while (k < end) {
            const uint32_t known = phase_of_k_[k];
            uint32_t next = k + 1;
            while (next < end && phase_of_k_[next] == known) ++next;
            PhaseSlab& slab = made_.phases[known == kNotThere ? phase_of(step) : known];
            slab.tiles[static_cast<size_t>(matrix)].push_back(with_k(matrix, rect, k, next));
            if (slab.loads.empty() || slab.loads.back() != number) slab.loads.push_back(number);
            k = next;
        }
    }

    const trace::Trace& trace_;
    const BlockIndex& index_;
    const Product& product_ = *index_.product;
    CubeBlock made_;
    std::vector<uint32_t> phase_of_k_;
    std::map<std::pair<uint32_t, uint32_t>, uint64_t> of_k_;  // products by k and phase
};

// Adds a rectangle that continues the last one, or stands for itself.
void append(std::vector<CellRect>& to, const CellRect& rect) {
    if (!to.empty()) {
        CellRect& last = to.back();
        if (last == rect) return;
        if (last.row0 == rect.row0 && last.row1 == rect.row1 && last.col1 == rect.col0) {
            last.col1 = rect.col1;
            return;
        }
        if (last.col0 == rect.col0 && last.col1 == rect.col1 && last.row1 == rect.row0) {
            last.row1 = rect.row1;
            return;
        }
    }
    to.push_back(rect);
}

// Cells of the loads of a slab up to a step, and what of them lies in its range of k.
std::vector<CellRect> loaded_cells(const CubeBlock& block, const PhaseSlab& slab, int matrix, uint32_t step) {
    std::vector<CellRect> cells;
    for (const uint32_t number : slab.loads) {
        const CubeLoad& load = block.loads[number];
        if (load.step > step) break;
        if (load.matrix != matrix) continue;
        for (CellRect rect : load.cells) {
            const auto [k0, k1] = k_of(matrix, rect);
            if (!slab.box.empty())
                rect = with_k(matrix, rect, std::max(k0, slab.box.k0), std::min(k1, slab.box.k1));
            if (!rect.empty()) append(cells, rect);
        }
    }
    return joined(std::move(cells));
}

uint64_t area(const std::vector<CellRect>& rects) {
    uint64_t sum = 0;
    for (const CellRect& rect : rects) sum += uint64_t{rect.rows()} * rect.cols();
    return sum;
}

// What lies beyond rows x cols of a rectangle that begins inside.
void add_beyond(std::vector<CellRect>& to, const CellRect& tile, uint32_t rows, uint32_t cols) {
    const CellRect right{tile.row0, std::min(tile.row1, rows), std::max(tile.col0, cols), tile.col1},
        below{std::max(tile.row0, rows), tile.row1, tile.col0, tile.col1};
    for (const CellRect& rect : {right, below})
        if (!rect.empty()) to.push_back(rect);
}

void find_touched(CubeView& view, const trace::Trace& trace, const BlockIndex& index,
                  const BlockReplay* replay, uint32_t step) {
    const Product& product = *index.product;
    view.kind = kind_of(trace, index.first + step);
    const trace::Access access = trace::decode(trace, index.first + step);
    view.warp = access.warp, view.mask = access.mask;
    if (view.kind == StepKind::Barrier || access.array == trace::kNoArray) return;
    std::array<std::vector<std::pair<uint32_t, uint32_t>>, 3> cells;
    const auto add = [&](uint8_t array, uint64_t element) {
        const int matrix = array == trace::kNoArray ? -1 : matrix_of(product, array);
        if (matrix < 0) return;
        const uint32_t cols = std::max(trace.launch.arrays[array].cols, 1u);
        cells[static_cast<size_t>(matrix)].emplace_back(static_cast<uint32_t>(element / cols),
                                                        static_cast<uint32_t>(element % cols));
    };
    const bool shared = trace.launch.arrays[access.array].space == Space::Shared;
    for_elements(trace, access, [&](uint32_t, uint64_t element) {
        if (!shared) return add(access.array, element);
        if (replay == nullptr) return;
        const playback::Element source = replay->cell(access.array, element, step).source;
        add(source.array, source.index);
    });
    for (size_t i = 0; i < cells.size(); ++i) view.touched[i] = rectangles_of(std::move(cells[i]));
}

}  // namespace

void CubeBox::include(const CubeBox& box) {
    if (box.empty()) return;
    if (empty()) {
        *this = box;
        return;
    }
    of.include(box.of);
    k0 = std::min(k0, box.k0), k1 = std::max(k1, box.k1);
}

uint64_t PhaseSlab::tile_elements(int matrix) const { return area(tiles[static_cast<size_t>(matrix)]); }

std::vector<CellRect> joined(std::vector<CellRect> rects) {
    constexpr uint64_t kMostCells = 1 << 16;
    if (rects.size() <= 1) return rects;
    CellRect bounds;
    for (const CellRect& rect : rects) bounds.include(rect);
    const uint64_t cells = uint64_t{bounds.rows()} * bounds.cols();
    if (cells > kMostCells) {
        std::ranges::sort(rects, {},
                          [](const CellRect& r) { return std::tuple(r.row0, r.col0, r.row1, r.col1); });
        std::vector<CellRect> made;
        for (const CellRect& rect : rects) append(made, rect);
        return made;
    }
    std::vector<bool> covered(cells, false);
    for (const CellRect& rect : rects)
        for (uint32_t row = rect.row0; row < rect.row1; ++row)
            for (uint32_t col = rect.col0; col < rect.col1; ++col)
                covered[uint64_t{row - bounds.row0} * bounds.cols() + (col - bounds.col0)] = true;
    std::vector<CellRect> made, open;  // open: those that end in the row before
    for (uint32_t row = bounds.row0; row < bounds.row1; ++row) {
        std::vector<CellRect> here;
        for (uint32_t col = bounds.col0; col < bounds.col1;) {
            const auto at = [&](uint32_t c) {
                return covered[uint64_t{row - bounds.row0} * bounds.cols() + (c - bounds.col0)];
            };
            if (!at(col)) {
                ++col;
                continue;
            }
            uint32_t end = col + 1;
            while (end < bounds.col1 && at(end)) ++end;
            here.push_back({row, row + 1, col, end});
            col = end;
        }
        std::vector<CellRect> next;
        for (CellRect& run : here) {
            const auto above = std::ranges::find_if(
                open, [&](const CellRect& r) { return r.col0 == run.col0 && r.col1 == run.col1; });
            if (above != open.end()) {
                run.row0 = above->row0;
                open.erase(above);
            }
            next.push_back(run);
        }
        made.insert(made.end(), open.begin(), open.end());
        open = std::move(next);
    }
    made.insert(made.end(), open.begin(), open.end());
    return made;
}

CubeShape cube_shape(const Product& product) {
    return {product.m,
            product.k,
            product.n,
            product.tile,
            std::max(product.tile_rows, 1u),
            std::max(product.tile_cols, 1u),
            {product.M, product.N, product.P}};
}

std::optional<CubeBlock> cube_of_block(const trace::Trace& trace, const BlockIndex& index,
                                       const playback::BlockReplay* replay) {
    if (!index.product || index.steps == 0) return std::nullopt;
    return Builder(trace, index).build(replay);
}

std::optional<uint32_t> CubeTiles::block_at(uint32_t row, uint32_t col) const {
    const uint64_t at = uint64_t{row / tile_rows} * across + col / tile_cols;
    if (row / tile_rows >= down || col / tile_cols >= across || block_of[at] == kNoBlock) return std::nullopt;
    return block_of[at];
}

CubeTiles cube_tiles(const trace::Trace& trace, const CubeShape& shape) {
    CubeTiles tiles;
    tiles.tile_rows = shape.tile_rows, tiles.tile_cols = shape.tile_cols;
    tiles.down = (shape.m + tiles.tile_rows - 1) / tiles.tile_rows;
    tiles.across = (shape.n + tiles.tile_cols - 1) / tiles.tile_cols;
    tiles.block_of.assign(uint64_t{tiles.down} * tiles.across, CubeTiles::kNoBlock);
    for (uint32_t block = 0; block < trace.blocks.size(); ++block) {
        // A block stores at its end.
        const trace::Block& of = trace.blocks[block];
        for (uint64_t step = of.first + of.count; step-- > of.first;) {
            const trace::Form& form = trace.form_of(step);
            if (form.array != shape.arrays[2] || !ptx::writes(trace.sites[form.site].kind)) continue;
            const trace::Access access = trace::decode(trace, step);
            for_elements(trace, access, [&](uint32_t, uint64_t element) {
                const uint64_t at =
                    element / shape.n / tiles.tile_rows * tiles.across + element % shape.n / tiles.tile_cols;
                if (at < tiles.block_of.size()) tiles.block_of[at] = block;
            });
            break;
        }
    }
    return tiles;
}

std::vector<CellRect> cube_patch(const trace::Trace& trace, const BlockIndex& index, uint32_t thread) {
    if (thread < index.patches.size()) return index.patches[thread];
    const auto output = output_of(index, thread);
    if (!output || !index.product || output->array != index.product->P) return {};
    return {draw::cell_on_sheet(trace.launch.arrays[output->array], output->index)};
}

std::optional<uint32_t> middle_thread(const BlockIndex& index, const CubeBlock& block) {
    const CellRect& tile = block.tile;
    if (tile.empty()) return std::nullopt;
    const uint32_t row = tile.row0 + tile.rows() / 2, col = tile.col0 + tile.cols() / 2;
    if (!index.patches.empty()) return owner_of(index, row, col);
    const playback::Element middle{index.product->P, uint64_t{row} * index.product->n + col};
    const auto found = std::ranges::find(index.output, middle);
    if (found == index.output.end()) return std::nullopt;
    return static_cast<uint32_t>(found - index.output.begin());
}

CubeView cube_view(const trace::Trace& trace, const BlockIndex& index, const CubeBlock& block,
                   const playback::BlockReplay* replay, uint32_t step) {
    CubeView view;
    if (step >= index.steps) return view;
    const Product& product = *index.product;
    const auto last = static_cast<uint32_t>(block.phases.size()) - 1;
    view.after = index.phase_at(step) == analysis::kAfter;
    view.phase = std::min(index.phase_at(step), last);
    for (uint32_t phase = 0; phase <= last; ++phase) {
        const PhaseSlab& slab = block.phases[phase];
        view.all.include(slab.box);
        const bool done = phase < view.phase || view.after;
        if (done) view.done.include(slab.box);
        for (size_t matrix = 0; done && matrix < 2; ++matrix)
            for (const CellRect& rect : slab.tiles[matrix]) append(view.before[matrix], rect);
    }
    if (!view.after) {
        const PhaseSlab& slab = block.phases[view.phase];
        view.slab = slab.box;
        for (const WarpPart& part : slab.warps) {
            uint32_t k = part.box.k0;
            while (k < part.box.k1 && part.made[k - part.box.k0] <= step) ++k;
            if (k > part.box.k0) view.made.push_back({part.box.of, part.box.k0, k});
        }
        for (size_t matrix = 0; matrix < 2; ++matrix) {
            view.tile[matrix] = loaded_cells(block, slab, static_cast<int>(matrix), step);
            view.loaded[matrix] = area(view.tile[matrix]);
        }
        for (const uint32_t number : slab.loads)
            if (block.loads[number].step <= step) view.lane_loads += block.loads[number].lanes;
        for (uint32_t phase = view.phase + 1; phase <= last; ++phase) {
            const PhaseSlab& next = block.phases[phase];
            if (next.loads.empty() || block.loads[next.loads.front()].step > step) break;
            SlabAhead ahead{next.box, true};
            for (const uint32_t number : next.loads)
                ahead.there = ahead.there && block.loads[number].there <= step;
            view.ahead.push_back(ahead);
            for (size_t matrix = 0; matrix < 2; ++matrix)
                for (const CellRect& rect : loaded_cells(block, next, static_cast<int>(matrix), step))
                    append(view.early[matrix], rect);
        }
        if (!index.shared.empty()) {
            const CellRect tile{block.tile.row0 / product.tile_rows * product.tile_rows,
                                block.tile.row0 / product.tile_rows * product.tile_rows + product.tile_rows,
                                block.tile.col0 / product.tile_cols * product.tile_cols,
                                block.tile.col0 / product.tile_cols * product.tile_cols + product.tile_cols};
            const uint32_t depth =
                std::max(product.tile,
                         block.phases[0].box.empty() ? 1 : block.phases[0].box.k1 - block.phases[0].box.k0);
            const uint32_t k0 = view.slab.k0;
            add_beyond(view.beyond[0], {tile.row0, tile.row1, k0, k0 + depth}, product.m, product.k);
            add_beyond(view.beyond[1], {k0, k0 + depth, tile.col0, tile.col1}, product.k, product.n);
            add_beyond(view.beyond[2], tile, product.m, product.n);
        }
    }
    find_touched(view, trace, index, replay, step);
    if (replay != nullptr && !replay->full()) {
        Sources sources(trace, product, *replay);
        for (const playback::MultiplyStep& made :
             std::ranges::equal_range(replay->products(), step, {}, &playback::MultiplyStep::after_step))
            if (made.warp == view.warp) view.now.include(multiplied(sources, made).box);
    }
    std::vector<CellRect> stored;
    for (const std::vector<uint32_t>& of_warp : index.stores_of_warp)
        for (const uint32_t at : of_warp) {
            if (at > step) break;
            const trace::Access access = trace::decode(trace, index.first + at);
            if (access.array != product.P) continue;
            std::vector<std::pair<uint32_t, uint32_t>> cells;
            for_elements(trace, access, [&](uint32_t, uint64_t element) {
                cells.emplace_back(static_cast<uint32_t>(element / product.n),
                                   static_cast<uint32_t>(element % product.n));
            });
            for (const CellRect& rect : rectangles_of(std::move(cells))) append(stored, rect);
        }
    view.stored = joined(std::move(stored));
    return view;
}

namespace {

std::string box_text(const CubeBox& box) {
    return fmt::format("{} × {} × {}", box.of.rows(), box.of.cols(), box.k1 - box.k0);
}
std::string k_text(uint32_t k0, uint32_t k1) {
    return k1 == k0 + 1 ? fmt::format("k = {}", k0) : fmt::format("k = {} to {}", k0, k1 - 1);
}

CubeLine tile_line(const trace::Trace& trace, const BlockIndex& index, const PhaseSlab& slab,
                   const CubeView& view) {
    const Product& product = *index.product;
    const std::string m = name_in(index.notation, trace.launch.arrays[product.M]),
                      n = name_in(index.notation, trace.launch.arrays[product.N]);
    const uint64_t of_m = slab.tile_elements(0), of_n = slab.tile_elements(1);
    using Swatch = CubeLine::Swatch;
    if (index.shared.empty())
        return {Swatch::Rays, "no tiles: each thread loads its own factors",
                fmt::format("{} loaded {} so far", counted(view.loaded[0] + view.loaded[1], "element"),
                            times_in_words(view.lane_loads))};
    std::string uses;
    if (of_m > 0 && of_n > 0 && slab.products % of_m == 0 && slab.products % of_n == 0) {
        const uint64_t use_m = slab.products / of_m, use_n = slab.products / of_n;
        uses = use_m == use_n ? fmt::format("each used {}", times_in_words(use_m))
                              : fmt::format("used {} of {}, {} of {}", times_in_words(use_m), m,
                                            times_in_words(use_n), n);
    }
    if (view.loaded[0] < of_m || view.loaded[1] < of_n)
        return {Swatch::Tile,
                fmt::format("loaded for it: {} of {}, {} of {}", grouped(view.loaded[0]), m,
                            grouped(view.loaded[1]), n),
                of_m == of_n ? fmt::format("of 2 × {} elements", grouped(of_m))
                             : fmt::format("of {} and {} elements", grouped(of_m), grouped(of_n))};
    return {Swatch::Tile,
            of_m == of_n
                ? fmt::format("in shared memory: 2 × {} elements", grouped(of_m))
                : fmt::format("in shared memory: {} of {}, {} of {}", grouped(of_m), m, grouped(of_n), n),
            uses};
}

CubeLine thread_line(const trace::Trace& trace, const BlockIndex& index, uint32_t thread) {
    const std::vector<CellRect> patch = cube_patch(trace, index, thread);
    const Product& product = *index.product;
    std::string name = thread_name(trace.launch.block, thread, index.notation);
    const uint64_t elements = area(patch);
    if (elements == 0) return {CubeLine::Swatch::Thread, name + " is beyond the matrix", ""};
    if (elements == 1) {
        const auto at = static_cast<int64_t>(uint64_t{patch[0].row0} * product.n + patch[0].col0);
        return {CubeLine::Swatch::Thread,
                fmt::format("{}: {}", name, element_name(trace.launch.arrays[product.P], at, index.notation)),
                "one sum in a register, two factors a product"};
    }
    std::vector<bool> rows(product.m), cols(product.n);
    for (const CellRect& rect : patch) {
        std::fill(rows.begin() + rect.row0, rows.begin() + rect.row1, true);
        std::fill(cols.begin() + rect.col0, cols.begin() + rect.col1, true);
    }
    return {CubeLine::Swatch::Thread, fmt::format("{} owns {} of P", name, counted(elements, "element")),
            fmt::format("in registers: {} sums, and for each k {} + {} factors", elements,
                        std::ranges::count(rows, true), std::ranges::count(cols, true))};
}

}  // namespace

std::vector<CubeLine> cube_lines(const trace::Trace& trace, const BlockIndex& index, const CubeBlock& block,
                                 const CubeView& view, std::optional<uint32_t> thread) {
    using Swatch = CubeLine::Swatch;
    std::vector<CubeLine> lines;
    const Notation& notation = index.notation;
    const PhaseSlab& slab = block.phases[view.phase];
    if (!view.after && !view.slab.empty()) {
        const bool whole = slab.products == slab.box.products() || !block.from_values;
        std::string more = k_text(slab.box.k0, slab.box.k1);
        if (!block.from_values)
            more += ", by what it loads: the values are not known";
        else if (!whole)
            more += ", in " + box_text(slab.box);
        if (block.from_values && index.product->patch > 1 && slab.warps.size() > 1)
            more += fmt::format("; a warp makes {}", box_text(slab.warps.front().box));
        lines.push_back({Swatch::Now,
                         whole ? fmt::format("this phase: {} products", box_text(slab.box))
                               : fmt::format("this phase: {}", counted(slab.products, "product")),
                         more});
    }
    if (slab.mismatched > 0 && !view.after)
        lines.push_back({Swatch::Fault,
                         fmt::format("{} pair different k", counted(slab.mismatched, "product")),
                         "a value of another phase is multiplied"});
    if (slab.repeated > 0 && !view.after)
        lines.push_back(
            {Swatch::Fault,
             fmt::format("{} made again",
                         slab.repeated == 1 ? "one product is" : counted(slab.repeated, "product") + " are"),
             "the tiles still hold values of the phase before"});
    if (!view.after) lines.push_back(tile_line(trace, index, slab, view));
    for (const SlabAhead& ahead : view.ahead)
        lines.push_back({Swatch::Ahead,
                         fmt::format("{}: {}", ahead.there ? "there already" : "on its way",
                                     k_text(ahead.box.k0, ahead.box.k1)),
                         ahead.there ? "copied while the phase before was multiplied"
                                     : "copied to shared memory meanwhile"});
    if (!view.done.empty()) {
        const uint32_t phases = view.after ? static_cast<uint32_t>(block.phases.size()) : view.phase;
        lines.push_back({Swatch::Done,
                         phases == 1 ? phase_name(0, notation) + " is done"
                                     : fmt::format("{} phases are done", grouped(phases)),
                         view.after ? "P is stored" : "the sums stay in registers"});
    }
    if (thread) lines.push_back(thread_line(trace, index, *thread));
    if (!view.beyond[0].empty() || !view.beyond[1].empty())
        lines.push_back({Swatch::Beyond, "beyond the matrices", "no element is loaded there"});
    if (!view.before[0].empty()) lines.push_back({Swatch::Before, "loaded before", ""});
    return lines;
}

}  // namespace tilescope::look
