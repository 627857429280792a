// What there is to see of a block's solid at a step, and what is said beside it.
#include <algorithm>

#include <fmt/format.h>

#include "app/look/cube_cells.h"

namespace tilescope::look {
namespace {

using playback::BlockReplay;

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
            if (!rect.empty()) append_cells(cells, rect);
        }
    }
    return joined(std::move(cells));
}

// What lies beyond rows x cols of a rectangle that begins inside.
void add_beyond(std::vector<CellRect>& to, const CellRect& tile, uint32_t rows, uint32_t cols) {
    const CellRect right{tile.row0, std::min(tile.row1, rows), std::max(tile.col0, cols), tile.col1},
        below{std::max(tile.row0, rows), tile.row1, tile.col0, tile.col1};
    for (const CellRect& rect : {right, below})
        if (!rect.empty()) to.push_back(rect);
}

void find_touched(CubeView& view, const trace::Trace& trace, const BlockIndex& index, const CubeShape& shape,
                  const BlockReplay* replay, uint32_t step) {
    view.kind = kind_of(trace, index.first + step);
    const trace::Access access = trace::decode(trace, index.first + step);
    view.warp = access.warp, view.mask = access.mask;
    if (view.kind == StepKind::Barrier || access.array == trace::kNoArray) return;
    std::array<std::vector<std::pair<uint32_t, uint32_t>>, 3> cells;
    const auto add = [&](uint8_t array, uint64_t element) {
        const int matrix = array == trace::kNoArray ? -1 : matrix_of(shape, array);
        if (matrix < 0) return;
        const uint32_t cols = std::max(trace.launch.arrays[array].cols, 1u);
        cells[static_cast<size_t>(matrix)].emplace_back(static_cast<uint32_t>(element / cols),
                                                        static_cast<uint32_t>(element % cols));
    };
    const bool shared = trace.launch.arrays[access.array].space == Space::Shared;
    for_elements(trace, index.first + step, access, [&](uint32_t, uint64_t element) {
        if (!shared) return add(access.array, element);
        if (replay == nullptr) return;
        const playback::Element source = replay->cell(access.array, element, step).source;
        add(source.array, source.index);
    });
    for (size_t i = 0; i < cells.size(); ++i) view.touched[i] = rectangles_of(std::move(cells[i]));
}

}  // namespace

CubeView cube_view(const trace::Trace& trace, const BlockIndex& index, const CubeBlock& block,
                   const playback::BlockReplay* replay, uint32_t step) {
    CubeView view;
    if (step >= index.steps) return view;
    const CubeShape& shape = block.shape;
    const auto last = static_cast<uint32_t>(block.phases.size()) - 1;
    view.after = index.phase_at(step) == analysis::kAfter;
    view.phase = std::min(index.phase_at(step), last);
    for (uint32_t phase = 0; phase <= last; ++phase) {
        const PhaseSlab& slab = block.phases[phase];
        view.all.include(slab.box);
        const bool done = phase < view.phase || view.after;
        if (done) view.done.include(slab.box);
        for (size_t matrix = 0; done && matrix < 2; ++matrix)
            for (const CellRect& rect : slab.tiles[matrix]) append_cells(view.before[matrix], rect);
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
            view.loaded[matrix] = area_of(view.tile[matrix]);
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
                    append_cells(view.early[matrix], rect);
        }
        if (!index.shared.empty()) {
            const CellRect tile{block.tile.row0 / shape.tile_rows * shape.tile_rows,
                                block.tile.row0 / shape.tile_rows * shape.tile_rows + shape.tile_rows,
                                block.tile.col0 / shape.tile_cols * shape.tile_cols,
                                block.tile.col0 / shape.tile_cols * shape.tile_cols + shape.tile_cols};
            const uint32_t depth =
                std::max(shape.tile,
                         block.phases[0].box.empty() ? 1 : block.phases[0].box.k1 - block.phases[0].box.k0);
            const uint32_t k0 = view.slab.k0;
            add_beyond(view.beyond[0], {tile.row0, tile.row1, k0, k0 + depth}, shape.m, shape.k);
            add_beyond(view.beyond[1], {k0, k0 + depth, tile.col0, tile.col1}, shape.k, shape.n);
            add_beyond(view.beyond[2], tile, shape.m, shape.n);
        }
    }
    find_touched(view, trace, index, shape, replay, step);
    for (const CubeProducts& made : std::ranges::equal_range(block.made, step, {}, &CubeProducts::after_step))
        if (made.warp == view.warp) view.now.include(made.box);
    std::vector<CellRect> stored;
    for (const std::vector<uint32_t>& of_warp : index.stores_of_warp)
        for (const uint32_t at : of_warp) {
            if (at > step) break;
            const trace::Access access = trace::decode(trace, index.first + at);
            if (access.array != shape.arrays[2]) continue;
            std::vector<std::pair<uint32_t, uint32_t>> cells;
            for_elements(trace, index.first + at, access, [&](uint32_t, uint64_t element) {
                cells.emplace_back(static_cast<uint32_t>(element / shape.n),
                                   static_cast<uint32_t>(element % shape.n));
            });
            for (const CellRect& rect : rectangles_of(std::move(cells))) append_cells(stored, rect);
        }
    view.stored = joined(std::move(stored));
    return view;
}

std::string box_text(const CubeBox& box) {
    return fmt::format("{} × {} × {}", box.of.rows(), box.of.cols(), box.k1 - box.k0);
}

namespace {

std::string k_text(uint32_t k0, uint32_t k1) {
    return k1 == k0 + 1 ? fmt::format("k = {}", k0) : fmt::format("k = {} to {}", k0, k1 - 1);
}

CubeLine tile_line(const trace::Trace& trace, const BlockIndex& index, const CubeShape& shape,
                   const PhaseSlab& slab, const CubeView& view) {
    const std::string m = name_in(index.notation, trace.launch.arrays[shape.arrays[0]]),
                      n = name_in(index.notation, trace.launch.arrays[shape.arrays[1]]);
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

CubeLine thread_line(const trace::Trace& trace, const BlockIndex& index, const CubeBlock& block,
                     uint32_t thread) {
    const CubeShape& shape = block.shape;
    const std::vector<CellRect> patch = cube_patch(trace, index, thread);
    std::string name = thread_name(trace.launch.block, thread, index.notation);
    const uint64_t elements = area_of(patch);
    if (elements == 0)
        return {CubeLine::Swatch::Thread,
                name + (block.on_tensor_cores ? " owns no element of P" : " is beyond the matrix"), ""};
    if (elements == 1) {
        const auto at = static_cast<int64_t>(uint64_t{patch[0].row0} * shape.n + patch[0].col0);
        return {CubeLine::Swatch::Thread,
                fmt::format("{}: {}", name,
                            element_name(trace.launch.arrays[shape.arrays[2]], at, index.notation)),
                "one sum in a register, two factors a product"};
    }
    const std::string owns = fmt::format("{} owns {} of P", name, counted(elements, "element"));
    if (block.on_tensor_cores)
        return {CubeLine::Swatch::Thread, owns, fmt::format("in registers: {}", counted(elements, "sum"))};
    std::vector<bool> rows(shape.m), cols(shape.n);
    for (const CellRect& rect : patch) {
        std::fill(rows.begin() + rect.row0, rows.begin() + rect.row1, true);
        std::fill(cols.begin() + rect.col0, cols.begin() + rect.col1, true);
    }
    return {CubeLine::Swatch::Thread, owns,
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
        const bool whole = slab.products == slab.box.products();
        std::string more = k_text(slab.box.k0, slab.box.k1);
        if (!block.from_values)
            more += block.on_tensor_cores ? ", by what it loads, on tensor cores"
                                          : ", by what it loads: the values are not known";
        else if (!whole)
            more += ", in " + box_text(slab.box);
        if (block.from_values && block.shape.patch > 1 && slab.warps.size() > 1)
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
    if (!view.after) lines.push_back(tile_line(trace, index, block.shape, slab, view));
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
    if (thread) lines.push_back(thread_line(trace, index, block, *thread));
    if (!view.beyond[0].empty() || !view.beyond[1].empty())
        lines.push_back({Swatch::Beyond, "beyond the matrices", "no element is loaded there"});
    if (!view.before[0].empty()) lines.push_back({Swatch::Before, "loaded before", ""});
    return lines;
}

}  // namespace tilescope::look
