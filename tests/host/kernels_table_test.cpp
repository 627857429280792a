// The lecture's tables, from recordings of the kernels.
#include <bit>
#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "core/base/contents.h"
#include "core/playback/phase_table.h"
#include "core/recording/phases.h"
#include "core/recording/product.h"
#include "tests/host/kernels_walk.h"
#include "tests/opened.h"

namespace tilescope::kernels {
namespace {

using Lines = std::vector<std::string>;

playback::PhaseTable table_of(const std::string& kernel, const Shape& shape, uint32_t block = 0) {
    const trace::Trace trace = recorded(kernel, shape);
    auto replayer = Replayer::of(trace);
    EXPECT_TRUE(replayer) << replayer.error().message;
    const auto rule = analysis::phase_rule(trace);
    EXPECT_TRUE(rule) << rule.error().message;
    playback::BlockReplay replay(trace, block);
    const auto replayed = replayer->replay(trace, block, replay);
    EXPECT_TRUE(replayed) << replayed.error().message;
    replay.finish();
    return phase_table(trace, replay, phases_of_block(trace, *rule, block));
}

std::string cell(const char* array, uint32_t row, uint32_t col) {
    return std::string(array) + "[" + std::to_string(row) + "," + std::to_string(col) + "]";
}

TEST(Table, TiledFourByFourIsTheLectures) {
    const playback::PhaseTable table = table_of("tiled", {4, 4, 4, 2});
    ASSERT_EQ(table.phases, 2u);
    ASSERT_EQ(table.rows.size(), 4u);
    for (uint32_t y = 0; y < 2; ++y)
        for (uint32_t x = 0; x < 2; ++x) {
            const auto& row = table.rows[y * 2 + x];
            EXPECT_EQ(row.x, x);
            EXPECT_EQ(row.y, y);
            for (uint32_t p = 0; p < 2; ++p) {
                EXPECT_EQ(row.phase[p].loads, (Lines{cell("M", y, 2 * p + x) + " -> " + cell("Mds", y, x),
                                                     cell("N", 2 * p + y, x) + " -> " + cell("Nds", y, x)}));
                EXPECT_EQ(row.phase[p].multiplies, cell("P", y, x) + " += " + cell("Mds", y, 0) + "*" +
                                                       cell("Nds", 0, x) + " + " + cell("Mds", y, 1) + "*" +
                                                       cell("Nds", 1, x));
            }
        }
}

// Four warps multiply, two m64n128k16 for each 16 of k; thread 128 asks for a box of M and two of N a phase.
TEST(Table, CopiesInBulkAreOneAndProductsOfMatricesAreCounted) {
    const playback::PhaseTable table = table_of("wgmma_ring", {128, 192, 128, 0});
    ASSERT_EQ(table.rows.size(), 160u);
    ASSERT_EQ(table.phases, 3u);
    for (uint32_t thread = 0; thread < 160; ++thread)
        for (uint32_t p = 0; p < 3; ++p) {
            const auto& phase = table.rows[thread].phase[p];
            EXPECT_EQ(phase.multiplies, thread < 128 ? "8 products of matrices" : "");
            const uint32_t k = 64 * p, last = k + 63;
            const auto copy = [](const std::string& from, const std::string& to, const std::string& into) {
                return from + " to " + to + " -> " + into + " on";
            };
            if (thread != 128) EXPECT_EQ(phase.loads, Lines{});
            if (thread != 128) continue;
            EXPECT_EQ(phase.loads,
                      (Lines{copy(cell("M", 0, k), cell("M", 127, last), cell("Mds", 128 * p, 0)),
                             copy(cell("N", k, 0), cell("N", last, 63), cell("Nds", 128 * p, 0)),
                             copy(cell("N", k, 64), cell("N", last, 127), cell("Nds", 128 * p + 64, 0))}));
        }
}

TEST(Table, UntiledFourByFourIsTheLectures) {
    const playback::PhaseTable table = table_of("untiled", {4, 4, 4, 2});
    ASSERT_EQ(table.phases, 4u);
    ASSERT_EQ(table.rows.size(), 4u);
    for (const auto& row : table.rows)
        for (uint32_t p = 0; p < 4; ++p) {
            EXPECT_EQ(row.phase[p].loads, (Lines{cell("M", row.y, p), cell("N", p, row.x)}));
            EXPECT_EQ(row.phase[p].multiplies,
                      cell("P", row.y, row.x) + " += " + cell("M", row.y, p) + "*" + cell("N", p, row.x));
        }
}

TEST(Table, ThreeByThreeWithTilesOfTwoFillsWithZeroInTheFirstPhaseAlready) {
    const playback::PhaseTable table = table_of("tiled", {3, 3, 3, 2}, 3);  // block 1,1
    EXPECT_EQ(table.block_x, 1u);
    EXPECT_EQ(table.block_y, 1u);
    ASSERT_EQ(table.phases, 2u);
    EXPECT_EQ(table.rows[0].phase[0].loads, (Lines{"M[2,0] -> Mds[0,0]", "N[0,2] -> Nds[0,0]"}));
    EXPECT_EQ(table.rows[1].phase[0].loads, (Lines{"M[2,1] -> Mds[0,1]", "0 -> Nds[0,1]"}));
    EXPECT_EQ(table.rows[2].phase[0].loads, (Lines{"0 -> Mds[1,0]", "N[1,2] -> Nds[1,0]"}));
    EXPECT_EQ(table.rows[3].phase[1].loads, (Lines{"0 -> Mds[1,1]", "0 -> Nds[1,1]"}));
    EXPECT_EQ(table.rows[0].phase[1].multiplies, "P[2,2] += Mds[0,0]*Nds[0,0] + Mds[0,1]*Nds[1,0]");
    EXPECT_EQ(table.rows[3].phase[0].multiplies, "(no element) += Mds[1,0]*Nds[0,1] + Mds[1,1]*Nds[1,1]");
}

TEST(Table, APaddedTransposedTileIsNamedByItsCells) {
    const playback::PhaseTable table = table_of("tiled_padded", {4, 4, 4, 2});
    EXPECT_EQ(table.rows[1].phase[0].loads, (Lines{"M[0,1] -> Mds[0,1]", "N[0,1] -> Nds[1,0]"}));
    EXPECT_EQ(table.rows[1].phase[0].multiplies, "P[0,1] += Mds[0,0]*Nds[1,0] + Mds[0,1]*Nds[1,1]");
}

// --- the same as data, by the step at which it happens

struct Walked {
    trace::Trace trace;
    analysis::PhaseMap phases;
    std::unique_ptr<playback::BlockReplay> replay;
};

Walked walked(const std::string& kernel, const Shape& shape, uint32_t block = 0) {
    Walked made{recorded(kernel, shape), {}, nullptr};
    auto replayer = Replayer::of(made.trace);
    const auto rule = analysis::phase_rule(made.trace);
    EXPECT_TRUE(replayer && rule);
    made.phases = phases_of_block(made.trace, *rule, block);
    made.replay = std::make_unique<playback::BlockReplay>(made.trace, block);
    EXPECT_TRUE(replayer->replay(made.trace, block, *made.replay));
    made.replay->finish();
    return made;
}

class Work : public testing::TestWithParam<std::pair<const char*, Shape>> {};

// Every load is looked up in the recording at its step, as is every store of what it brought; sums add up as
// they go.
TEST_P(Work, HappensAtTheStepsThatItNames) {
    const auto& [kernel, shape] = GetParam();
    const uint32_t block = 1;
    const Walked of = walked(kernel, shape, block);
    const uint64_t first = of.trace.blocks[block].first;
    const playback::PhaseWork work = playback::phase_work(of.trace, *of.replay, of.phases);
    const auto touches = [&](uint32_t thread, const playback::Element& element, uint32_t step) {
        const trace::Access access = trace::decode(of.trace, first + step);
        const uint32_t lane = thread % kWarpSize;
        return access.warp == thread / kWarpSize && (access.mask >> lane & 1) != 0 &&
               access.array == element.array &&
               access.offset[lane] == element.index * of.trace.launch.arrays[element.array].element_bytes();
    };
    uint64_t loaded = 0;
    for (const playback::LoadedInPhase& load : work.loads) {
        if (load.load_step != playback::kNever) {
            ++loaded;
            EXPECT_TRUE(touches(load.thread, load.from, load.load_step));
            EXPECT_EQ(of.phases.phase[load.load_step], load.phase);
            EXPECT_EQ(number_of(load.value),
                      number_of(initial_value(of.trace.launch.arrays[load.from.array], load.from.index)));
        }
        for (const auto& stored : load.to) {
            EXPECT_TRUE(touches(load.thread, stored.cell, stored.step));
            if (load.load_step != playback::kNever) EXPECT_GT(stored.step, load.load_step);
        }
    }
    uint64_t lanes = 0;
    for (uint64_t step = first; step < first + of.trace.blocks[block].count; ++step) {
        const trace::Access access = trace::decode(of.trace, step);
        const bool load =
            access.array != trace::kNoArray && of.trace.sites[access.site].kind == ptx::SiteKind::Load;
        if (load && of.trace.launch.arrays[access.array].space == Space::Global)
            lanes += static_cast<uint64_t>(std::popcount(access.mask));
    }
    EXPECT_EQ(loaded, lanes) << "each lane's load once";

    std::map<uint32_t, uint64_t> products;  // by thread
    for (const playback::SummedInPhase& sum : work.sums) {
        products[sum.thread] += sum.terms.size();
        uint32_t before = 0;
        for (const auto& term : sum.terms) {
            EXPECT_GE(term.after_step, before);
            before = term.after_step;
            for (const playback::Factor& factor : {term.a, term.b})
                if (factor.known()) EXPECT_LE(factor.step, term.after_step);
            ASSERT_TRUE(of.replay->running_sum(sum.thread, term.after_step));
        }
        EXPECT_EQ(number_of(*of.replay->running_sum(sum.thread, before)), number_of(sum.terms.back().sum));
    }
    const uint64_t each = of.phases.phases * (std::string(kernel).starts_with("tiled") ? shape.tile : 1);
    for (const auto& [thread, count] : products) EXPECT_EQ(count, each) << "thread " << thread;
}

// What is worked out of some threads and phases is that part of the whole.
TEST_P(Work, OfAWindowIsThatPartOfTheWhole) {
    const auto& [kernel, shape] = GetParam();
    const Walked of = walked(kernel, shape);
    const playback::TableWindow window{1, 1 + shape.tile * shape.tile / 2, 1, 2};
    const auto whole = playback::phase_work(of.trace, *of.replay, of.phases);
    const auto part = playback::phase_work(of.trace, *of.replay, of.phases, window);
    const auto key = [](const playback::LoadedInPhase& load) {
        return std::tuple(load.thread, load.phase, load.from.array, load.from.index, load.load_step,
                          load.to.size());
    };
    std::vector<decltype(key(whole.loads[0]))> expected, got;
    for (const auto& load : whole.loads)
        if (window.has(load.thread, load.phase)) expected.push_back(key(load));
    for (const auto& load : part.loads) got.push_back(key(load));
    EXPECT_FALSE(expected.empty());
    EXPECT_EQ(got, expected);
    std::vector<std::tuple<uint32_t, uint32_t, size_t>> sums, of_part;
    for (const auto& sum : whole.sums)
        if (window.has(sum.thread, sum.phase)) sums.emplace_back(sum.thread, sum.phase, sum.terms.size());
    for (const auto& sum : part.sums) of_part.emplace_back(sum.thread, sum.phase, sum.terms.size());
    EXPECT_FALSE(sums.empty());
    EXPECT_EQ(of_part, sums);
}

INSTANTIATE_TEST_SUITE_P(Table, Work,
                         testing::Values(std::pair{"tiled", Shape{4, 4, 4, 2}},
                                         std::pair{"tiled", Shape{16, 16, 16, 8}},
                                         std::pair{"untiled", Shape{8, 8, 8, 4}},
                                         std::pair{"tiled_transposed", Shape{16, 16, 16, 4}}));

// --- which element a thread computes

TEST(Mapping, OfEveryTextbookKernelIsItsSources) {
    for (const char* kernel :
         {"tiled", "untiled", "tiled_padded", "tiled_transposed", "tiled_swapped", "untiled_swapped"}) {
        const trace::Trace trace = recorded(kernel, {16, 16, 24, 4});
        const auto product = analysis::product_of(trace);
        ASSERT_TRUE(product) << kernel;
        const auto mapping = analysis::mapping_of(trace, *product);
        ASSERT_TRUE(mapping) << kernel;
        const bool turned = std::string_view(kernel) == "untiled_swapped";
        const analysis::Mapping usual{}, swapped{{false, false}, {true, true}};
        EXPECT_EQ(*mapping, turned ? swapped : usual) << kernel;
    }
}

// A block on the diagonal cannot tell by from bx: with one recorded block the usual reading stands.
TEST(Mapping, OfASingleBlockIsTheUsualOne) {
    const trace::Trace trace = recorded("untiled", {4, 4, 4, 4});
    const auto mapping = analysis::mapping_of(trace, *analysis::product_of(trace));
    ASSERT_TRUE(mapping);
    EXPECT_EQ(*mapping, analysis::Mapping{});
}

}  // namespace
}  // namespace tilescope::kernels
