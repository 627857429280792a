// A product as a solid, against what the replayed block multiplied, loaded and stored, one by one.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>

#include <fmt/format.h>

#include "app/look/cube.h"
#include "core/playback/phase_table.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

using look::CubeBlock, look::CubeBox, look::CubeView, look::CellRect;

using CellAt = std::pair<uint32_t, uint32_t>;
using Cells = std::set<CellAt>;
struct Add {
    uint32_t row = 0, col = 0, k = 0, warp = 0, after = 0, phase = 0;
};

Cells cells_of(const std::vector<CellRect>& rects) {
    Cells cells;
    for (const CellRect& rect : rects)
        for (uint32_t row = rect.row0; row < rect.row1; ++row)
            for (uint32_t col = rect.col0; col < rect.col1; ++col)
                EXPECT_TRUE(cells.insert({row, col}).second) << "cell " << row << ", " << col << " twice";
    return cells;
}

// All multiply-adds of the block, each by the elements that its factors were loaded from.
struct Twin {
    const Recorded& made;
    const analysis::Product& product = *made.index->product;
    uint32_t last = std::max(made.index->phases.phases, 1u) - 1;
    std::vector<Add> adds{};
    uint64_t mismatched = 0;

    explicit Twin(const Recorded& of) : made(of) {
        const playback::PhaseWork work = playback::phase_work(*of.trace, *of.replay, of.index->phases);
        for (const playback::SummedInPhase& sum : work.sums)
            for (const auto& term : sum.terms) {
                const auto a = source(term.a), b = source(term.b);
                const bool straight = term.a.element == a || term.b.element == b;
                const playback::Element &m = a.array == product.M ? a : b, &n = a.array == product.M ? b : a;
                if (m.array != product.M || n.array != product.N) continue;
                const Add add{
                    static_cast<uint32_t>(m.index / product.k),
                    static_cast<uint32_t>(n.index % product.n),
                    static_cast<uint32_t>(m.index % product.k),
                    sum.thread / kWarpSize,
                    term.after_step,
                    straight ? std::min(sum.phase, last) : phase(sum.thread / kWarpSize, term.after_step)};
                if (add.k == n.index / product.n)
                    adds.push_back(add);
                else
                    ++mismatched;
            }
    }
    playback::Element source(const playback::Factor& factor) const {
        if (!factor.known()) return {};
        if (made.trace->launch.arrays[factor.element.array].space != Space::Shared) return factor.element;
        return made.replay->cell(factor.element.array, factor.element.index, factor.step).source;
    }
    uint32_t phase(uint32_t warp, uint32_t after) const {
        for (uint32_t step = after + 1; step-- > 0;)
            if (made.trace->warp_of(made.index->first + step) == warp)
                return std::min(made.index->phase_at(step), last);
        return std::min(made.index->phase_at(after), last);
    }
    template <class Which>
    CubeBox box(Which which) const {
        CubeBox all;
        for (const Add& add : adds)
            if (which(add)) all.include({{add.row, add.row + 1, add.col, add.col + 1}, add.k, add.k + 1});
        return all;
    }
    // Elements of M (0) or N (1) that were loaded up to a step, with their k.
    template <class Which>
    Cells loaded(uint8_t array, uint32_t step, Which which) const {
        Cells cells;
        const uint32_t cols = made.trace->launch.arrays[array].cols;
        for (uint32_t at = 0; at <= step && at < made.index->steps; ++at) {
            const trace::Access access = trace::decode(*made.trace, made.index->first + at);
            if (access.array != array || !ptx::reads(made.trace->sites[access.site].kind)) continue;
            look::for_elements(*made.trace, made.index->first + at, access, [&](uint32_t, uint64_t element) {
                const auto row = static_cast<uint32_t>(element / cols),
                           col = static_cast<uint32_t>(element % cols);
                if (which(array == product.M ? col : row)) cells.insert({row, col});
            });
        }
        return cells;
    }
};

void hold(const Recorded& made, std::mt19937& random) {
    const auto block = look::cube_of_block(*made.trace, *made.index, made.replay.get());
    ASSERT_TRUE(block);
    ASSERT_TRUE(block->from_values);
    const Twin twin(made);
    const analysis::Product& product = twin.product;
    ASSERT_EQ(block->phases.size(), made.index->phases.phases);
    uint64_t mismatched = 0;
    for (uint32_t phase = 0; phase < block->phases.size(); ++phase) {
        const look::PhaseSlab& slab = block->phases[phase];
        const auto here = [&](const Add& add) { return add.phase == phase; };
        EXPECT_EQ(slab.box, twin.box(here)) << "phase " << phase;
        EXPECT_EQ(slab.products, static_cast<uint64_t>(std::ranges::count_if(twin.adds, here)));
        mismatched += slab.mismatched;
        for (const look::WarpPart& part : slab.warps)
            EXPECT_EQ(part.box, twin.box([&](const Add& add) { return here(add) && add.warp == part.warp; }));
        // A k that a phase before had is of that phase's tiles.
        const auto had = [&](uint32_t k) {
            return std::ranges::any_of(
                block->phases.begin(), block->phases.begin() + phase,
                [&](const look::PhaseSlab& of) { return k >= of.box.k0 && k < of.box.k1; });
        };
        const auto in_slab = [&](uint32_t k) { return k >= slab.box.k0 && k < slab.box.k1 && !had(k); };
        EXPECT_EQ(slab.repeated, static_cast<uint64_t>(std::ranges::count_if(
                                     twin.adds, [&](const Add& add) { return here(add) && had(add.k); })));
        EXPECT_EQ(cells_of(slab.tiles[0]), twin.loaded(product.M, UINT32_MAX - 1, in_slab));
        EXPECT_EQ(cells_of(slab.tiles[1]), twin.loaded(product.N, UINT32_MAX - 1, in_slab));
    }
    EXPECT_EQ(mismatched, twin.mismatched);
    // Every product of the block's elements of P is made once in the whole column, but for those that are made again.
    std::set<std::tuple<uint32_t, uint32_t, uint32_t>> products;
    for (const Add& add : twin.adds) products.insert({add.row, add.col, add.k});
    uint64_t repeated = 0, all = 0;
    for (const look::PhaseSlab& slab : block->phases) repeated += slab.repeated, all += slab.products;
    EXPECT_GT(all, 0u);
    EXPECT_LE(all - repeated, products.size());
    if (repeated == 0 && mismatched == 0) {
        EXPECT_EQ(all, products.size());
        EXPECT_EQ(all, cells_of({block->tile}).size() * product.k);
    }

    for (int times = 0; times < 12; ++times) {
        const uint32_t step = random() % made.index->steps;
        const CubeView view = look::cube_view(*made.trace, *made.index, *block, made.replay.get(), step);
        const uint32_t warp = made.trace->warp_of(made.index->first + step);
        EXPECT_EQ(view.now, twin.box([&](const Add& add) { return add.after == step && add.warp == warp; }))
            << "step " << step;
        EXPECT_EQ(view.done, twin.box([&](const Add& add) { return view.after || add.phase < view.phase; }));
        Cells stored;
        for (uint32_t at = 0; at <= step; ++at) {
            const trace::Access access = trace::decode(*made.trace, made.index->first + at);
            if (access.array == product.P)
                look::for_elements(*made.trace, made.index->first + at, access,
                                   [&](uint32_t, uint64_t element) {
                                       stored.insert({static_cast<uint32_t>(element / product.n),
                                                      static_cast<uint32_t>(element % product.n)});
                                   });
        }
        EXPECT_EQ(cells_of(view.stored), stored);
        if (view.after) continue;
        const auto in_slab = [&](uint32_t k) {
            return k >= view.slab.k0 && k < view.slab.k1 && (view.done.empty() || k >= view.done.k1);
        };
        EXPECT_EQ(cells_of(view.tile[0]), twin.loaded(product.M, step, in_slab));
        EXPECT_EQ(cells_of(view.tile[1]), twin.loaded(product.N, step, in_slab));
        // What a warp has made: no k of which a product is missing, and all before the first such one.
        std::map<uint32_t, uint32_t> made_to;
        for (const CubeBox& box : view.made)
            for (const look::WarpPart& part : block->phases[view.phase].warps)
                if (part.box.of == box.of && part.box.k0 == box.k0) made_to[part.warp] = box.k1;
        for (const look::WarpPart& part : block->phases[view.phase].warps) {
            uint32_t first = part.box.k1;
            for (const Add& add : twin.adds)
                if (add.phase == view.phase && add.warp == part.warp && add.after > step)
                    first = std::min(first, add.k);
            EXPECT_EQ(made_to.contains(part.warp) ? made_to[part.warp] : part.box.k0, first);
        }
    }

    // A thread's patch is what it stores.
    std::map<uint32_t, Cells> stores;
    for (uint32_t at = 0; at < made.index->steps; ++at) {
        const trace::Access access = trace::decode(*made.trace, made.index->first + at);
        if (access.array != product.P) continue;
        look::for_elements(*made.trace, made.index->first + at, access, [&](uint32_t lane, uint64_t element) {
            stores[access.warp * kWarpSize + lane].insert(
                {static_cast<uint32_t>(element / product.n), static_cast<uint32_t>(element % product.n)});
        });
    }
    for (uint32_t thread = 0; thread < made.trace->launch.block.count(); ++thread)
        EXPECT_EQ(cells_of(look::cube_patch(*made.trace, *made.index, thread)), stores[thread]) << thread;
    const auto middle = look::middle_thread(*made.index, *block);
    ASSERT_TRUE(middle);
    EXPECT_TRUE(stores[*middle].contains(
        {block->tile.row0 + block->tile.rows() / 2, block->tile.col0 + block->tile.cols() / 2}));
}

TEST(Cube, IsWhatTheBlockMultipliesLoadsAndStores) {
    std::mt19937 random(7);
    const auto kernels = kernels::kernels_with_tile_width();
    for (int times = 0; times < 10; ++times) {
        const std::string kernel = kernels[random() % kernels.size()].name;
        const uint32_t tile = 2u << random() % 3;  // 2, 4, 8
        const auto size = [&] { return 1 + static_cast<uint32_t>(random() % 20); };
        const kernels::Shape shape{size(), size(), size(), tile};
        SCOPED_TRACE(fmt::format("{} {}x{}x{} T={}", kernel, shape.m, shape.k, shape.n, tile));
        trace::Trace trace = kernels::recorded(kernel, shape);
        const auto block = static_cast<uint32_t>(random() % trace.blocks.size());
        hold(replayed(std::move(trace), block), random);
    }
}

TEST(Cube, HoldsForEveryKernelOfTheCatalogue) {
    std::mt19937 random(11);
    for (const std::string& kernel : kernels::names_of_kernels()) {
        SCOPED_TRACE(kernel);
        const bool tile = std::ranges::count(kernels::names_without_tile_width(), kernel) == 0;
        const Recorded made =
            record(kernel.c_str(), tile ? kernels::Shape{10, 9, 12, 4} : kernels::Shape{40, 12, 36, 0});
        if (kernels::input_of(kernel) == ElementType::F32) {
            hold(made, random);
            continue;
        }
        // Of what a tensor core multiplies the products are not told one by one: slabs are those of the loads.
        const auto block = look::cube_of_block(*made.trace, *made.index, made.replay.get());
        ASSERT_TRUE(block);
        EXPECT_FALSE(block->from_values);
        EXPECT_EQ(block->phases.size(), made.index->phases.phases);
    }
}

}  // namespace
}  // namespace tilescope::app
