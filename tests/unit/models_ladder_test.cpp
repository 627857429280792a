// Kernels whose threads own a patch of P, on the Step screen: who owns which elements, by the formulas of
// their sources; where every factor of a sum came from; and what is said of reads and products.
#include <fmt/format.h>

#include "app/look/pick.h"
#include "app/step/model.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

constexpr uint32_t kDepth = 8;

// The thread that owns an element of block (0,0)'s tile, as the sources have it.
uint32_t owner_by_source(const std::string& kernel, uint32_t row, uint32_t col) {
    if (kernel == "register_column") return row / 8 * 64 + col;
    if (kernel == kernels::top_of_ladder()) {
        const uint32_t warp = row / 64 * 2 + col / 64;
        return warp * 32 + row % 16 / 4 * 8 + col % 32 / 4;
    }
    if (kernel != "warp_tile") return row / 8 * 16 + col / 8;
    const uint32_t warp = row / 32 * 2 + col / 64;
    return warp * 32 + row % 16 / 4 * 8 + col % 32 / 4;
}

class LadderView : public testing::TestWithParam<std::string> {
protected:
    // Cut by the edges in all directions, and more than one phase.
    Recorded made_ = record(GetParam().c_str(), {21, 11, 38, 0});
};

TEST_P(LadderView, EveryElementHasItsThreadAndItsProducts) {
    const analysis::Product& product = *made_.index->product;
    for (uint32_t row = 0; row < product.m; ++row)
        for (uint32_t col = 0; col < product.n; ++col) {
            const uint64_t element = uint64_t{row} * product.n + col;
            const uint32_t owner = owner_by_source(GetParam(), row, col);
            ASSERT_EQ(look::owner_of(*made_.index, row, col), owner) << row << "," << col;
            EXPECT_EQ(made_.replay->thread_of_output({product.P, element}), owner);
            if ((row * 7 + col) % 29 != 0) continue;  // a trail takes a walk over the block
            const OutputTrail trail = output_trail(*made_.trace, *made_.index, *made_.replay, element);
            ASSERT_EQ(trail.thread, owner);
            ASSERT_TRUE(trail.stored);
            EXPECT_EQ(number_of(trail.stored->value), trail.expected);
            ASSERT_EQ(trail.products.size(), 2 * kDepth) << "beyond k are zeros";
            for (uint32_t k = 0; k < 2 * kDepth; ++k) {
                const ProductTrail& term = trail.products[k];
                // Where tiles are copied ahead, a phase reads the first factors of the next one.
                const bool ahead = GetParam() == kernels::top_of_ladder() && k > 0 && k % kDepth == 0;
                EXPECT_EQ(term.phase, k / kDepth - (ahead ? 1 : 0));
                if (k >= product.k) {
                    EXPECT_EQ(term.m.origin, Origin::ZeroFill);
                    continue;
                }
                EXPECT_EQ(term.m.element, (playback::Element{product.M, uint64_t{row} * product.k + k}));
                EXPECT_EQ(term.n.element, (playback::Element{product.N, uint64_t{k} * product.n + col}));
                EXPECT_EQ(term.m.loaded, 1u);
                EXPECT_EQ(term.n.loaded, 1u);
                EXPECT_LT(term.m.load_step, term.m.store_step);
                EXPECT_LT(term.m.store_step, term.m.read_step);
            }
            const auto sum = made_.replay->running_sum({product.P, element}, made_.index->steps - 1);
            ASSERT_TRUE(sum);
            EXPECT_EQ(number_of(*sum), trail.expected);
            const uint32_t half = trail.products[kDepth - 1].after_step;
            EXPECT_EQ(made_.replay->running_sum({product.P, element}, half), trail.products[kDepth - 1].sum);
        }
}

TEST_P(LadderView, PatchesPartTheTile) {
    const analysis::Product& product = *made_.index->product;
    std::vector<uint32_t> owned(product.m * product.n);
    for (const auto& patch : made_.index->patches)
        for (const CellRect& rect : patch)
            for (uint32_t row = rect.row0; row < rect.row1; ++row)
                for (uint32_t col = rect.col0; col < rect.col1; ++col) ++owned[row * product.n + col];
    EXPECT_EQ(owned, std::vector<uint32_t>(owned.size(), 1));
}

TEST_P(LadderView, WhatIsSaidOfReadsAndProducts) {
    const std::string kernel = GetParam();
    // In register_column the reads of Mds lie between the products, in the others before them all.
    const bool one_by_one = kernel == "register_column", ahead = kernel == kernels::top_of_ladder();
    const std::string said =
        one_by_one ? "adds one product to one of its sums."
                   : fmt::format("adds {} products, one a sum, from {} reads.", ahead ? 128 : 64,
                                 kernel == "register_tile" ? 16
                                 : ahead                   ? 6
                                                           : 4);
    uint32_t times = 0;
    for (uint32_t step = 0; step < made_.index->steps; ++step)
        if (caption(*made_.trace, *made_.index, made_.replay.get(), step).find(said) != std::string::npos)
            ++times;
    EXPECT_EQ(times, made_.index->warps * 2 * kDepth * (one_by_one ? 8 : 1));
}

INSTANTIATE_TEST_SUITE_P(Kernels, LadderView,
                         testing::ValuesIn(kernels::names_without_tile_width(ElementType::F32)),
                         [](const auto& suite) { return suite.param; });

TEST(LadderPick, AThreadIsToldByItsPatch) {
    const Recorded made = record("register_tile", {128, 8, 128, 0});
    const look::Relations of = look::relations(*made.trace, *made.index, made.replay.get(),
                                               {.kind = look::Pick::Kind::Thread, .thread = 17}, 0);
    ASSERT_GE(of.lines.size(), 2u);
    EXPECT_EQ(of.lines[1], "computes P[8..15,8..15]: 64 elements");
}

}  // namespace
}  // namespace tilescope::app
