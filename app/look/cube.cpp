// A block of a product as a solid: which multiply-adds its warps make in which phase, and what they load for it.
#include "app/look/cube.h"

#include <algorithm>
#include <bit>
#include <map>
#include <unordered_map>

#include "app/look/cube_cells.h"
#include "core/base/turns.h"

namespace tilescope::look {
namespace {

using analysis::Product;
using playback::BlockReplay;

constexpr uint32_t kNotThere = UINT32_MAX;

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
    Sources(const trace::Trace& trace, const CubeShape& shape, const BlockReplay& replay)
        : trace_(trace), shape_(shape), replay_(replay) {}

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
        const int matrix = element.array == trace::kNoArray ? -1 : matrix_of(shape_, element.array);
        if (matrix < 0 || matrix > 1 || (into.matrix >= 0 && into.matrix != matrix)) return;
        const uint32_t cols = matrix == 0 ? shape_.k : shape_.n;
        into.matrix = matrix;
        into.from_global = !shared;
        into.row[lane] = static_cast<uint32_t>(element.index / cols);
        into.col[lane] = static_cast<uint32_t>(element.index % cols);
        into.bounds.include(into.row[lane], into.col[lane]);
        into.mask |= 1u << lane;
    }

    const trace::Trace& trace_;
    const CubeShape& shape_;
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
        for (uint32_t step = 0; step < index_.steps && !made_.on_tensor_cores; ++step)
            made_.on_tensor_cores =
                trace_.sites[trace_.form_of(index_.first + step).site].exchange == ptx::Exchange::Multiply;
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
        Sources sources(trace_, made_.shape, replay);
        std::map<std::pair<uint32_t, uint32_t>, std::map<uint32_t, uint32_t>> made;  // phase, warp; k: step
        uint64_t all = 0;
        for (const playback::MultiplyStep& step : replay.products()) {
            let_others_go_on();
            const Multiplied one = multiplied(sources, step);
            if (one.products + one.mismatched == 0) continue;
            PhaseSlab& slab = made_.phases[phase_of(step, one.from_global)];
            const auto phase = static_cast<uint32_t>(&slab - made_.phases.data());
            slab.products += one.products, slab.mismatched += one.mismatched, all += one.products;
            if (one.products == 0) continue;
            made_.made.push_back({step.after_step, step.warp, one.box});
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
            slab.products = slab.box.products();
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
            let_others_go_on();
            const uint64_t at = index_.first + step;
            const trace::Form& form = trace_.form_of(at);
            const int matrix = form.array == trace::kNoArray ? -1 : matrix_of(made_.shape, form.array);
            if (matrix < 0 || matrix > 1 || !ptx::reads(trace_.sites[form.site].kind)) continue;
            const trace::Access access = trace::decode(trace_, at);
            std::vector<std::pair<uint32_t, uint32_t>> cells;
            const uint32_t cols = matrix == 0 ? product_.k : product_.n;
            for_elements(trace_, at, access, [&](uint32_t, uint64_t element) {
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

uint64_t PhaseSlab::tile_elements(int matrix) const { return area_of(tiles[static_cast<size_t>(matrix)]); }

CubeShape cube_shape(const Product& product) {
    return {product.m,
            product.k,
            product.n,
            product.tile,
            std::max(product.tile_rows, 1u),
            std::max(product.tile_cols, 1u),
            product.patch,
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
            for_elements(trace, step, [&](uint32_t, uint64_t element) {
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

}  // namespace tilescope::look
