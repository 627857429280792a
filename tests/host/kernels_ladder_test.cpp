// The kernels whose threads own several elements of P each: right on edges and rectangles by both compilers'
// PTX, the counts that their texts speak of in closed form, and the tile of P that a recording tells of.
#include <map>
#include <random>
#include <set>
#include <tuple>

#include <gtest/gtest.h>

#include "core/analysis/summary.h"
#include "core/recording/product.h"
#include "kernels/textbook/requested_bytes.h"
#include "tests/opened.h"
#include "tests/recorded.h"

namespace tilescope::kernels {
namespace {

using analysis::StepKind;

constexpr uint32_t kDepth = 8;  // columns of M and rows of N that a phase takes, in all of them

struct Rung {
    const char* kernel;
    uint32_t patch;           // elements of P, a thread
    uint32_t reads;           // of shared memory that feed as many products
    bool wide_reads;          // of four elements each
    uint32_t wide_m, wide_n;  // elements that a load of M and one of N brings
    bool ahead = false;       // reads are one step ahead of the products, and a phase has one barrier
};
constexpr Rung kRungs[] = {{"register_column", 8, 9, false, 1, 1},
                           {"register_tile", 64, 16, false, 1, 1},
                           {"vector_loads", 64, 4, true, 4, 4},
                           {"warp_tile", 64, 4, true, 4, 4},
                           {"double_buffer", 128, 6, true, 1, 4, true}};

class Ladder : public testing::TestWithParam<Rung> {};

// What holds of all that have a tile of their own, those of halves among them.
class EveryRung : public testing::TestWithParam<std::string> {
protected:
    uint32_t patch() const {  // elements of P, a thread; with TMA a warp owns none
        const KernelInfo& info = *find(GetParam());
        const BlockTile tile = *info.own_tile;
        const auto owners = static_cast<uint32_t>(tile.threads.count()) - (info.boxes.empty() ? 0 : 32);
        return tile.rows * tile.cols / owners;
    }
};

TEST_P(EveryRung, IsRightOnEdgesAndRectangles) {
    std::vector<Shape> shapes{{1, 1, 1, 0},    {128, 8, 128, 0}, {100, 70, 130, 0}, {257, 13, 129, 0},
                              {31, 40, 62, 0}, {64, 12, 260, 0}, {136, 72, 264, 0}};
    std::mt19937 random(7);
    const auto upto = [&](uint32_t most) { return static_cast<uint32_t>(random() % most) + 1; };
    for (int i = 0; i < 4; ++i) shapes.push_back({upto(300), upto(30), upto(300), 0});
    for (const Shape& shape : shapes) {
        SCOPED_TRACE(testing::Message() << shape.m << " x " << shape.k << " x " << shape.n);
        auto sized = plan(GetParam(), shape);
        ASSERT_TRUE(sized) << sized.error().message;
        for (const std::string_view ptx : {sized->ptx, std::string(shipped_nvrtc_ptx(GetParam(), 0))}) {
            sized->ptx = ptx;
            const trace::Trace trace = recorded(*sized);
            ASSERT_TRUE(trace.meta.complete) << trace.meta.incomplete_reason;
            EXPECT_TRUE(trace.meta.result.checked);
            EXPECT_TRUE(trace.meta.result.verified);
            EXPECT_EQ(trace.meta.result.max_abs_error, 0);
            EXPECT_TRUE(analysis::product_of(trace));
        }
    }
}

TEST_P(Ladder, CountsAreTheirClosedForms) {
    const auto& [kernel, patch, reads, wide_reads, wide_m, wide_n, ahead] = GetParam();
    const BlockTile tile = *find(kernel)->own_tile;
    const uint64_t phases = 3, m = 2 * tile.rows, k = phases * kDepth, n = 3 * tile.cols, blocks = 2 * 3;
    const trace::Trace trace =
        recorded(kernel, {static_cast<uint32_t>(m), static_cast<uint32_t>(k), static_cast<uint32_t>(n), 0});
    const auto sums = analysis::summarize(trace);
    ASSERT_TRUE(sums) << sums.error().message;
    EXPECT_EQ(sums->phases, phases);
    EXPECT_EQ(sums->barriers_per_block, ahead ? phases + 1 : 2 * phases);
    // Every block loads its rows of M and its columns of N once: 2 m k n / tile where the tile is square.
    const uint64_t loaded_m = m * k * (n / tile.cols), loaded_n = k * n * (m / tile.rows);
    EXPECT_EQ((*sums)[StepKind::GlobalLoad].bytes, 4 * (loaded_m + loaded_n));
    EXPECT_EQ((*sums)[StepKind::GlobalLoad].lanes, loaded_m / wide_m + loaded_n / wide_n);
    EXPECT_EQ((*sums)[StepKind::GlobalStore].lanes, m * n);
    EXPECT_EQ((*sums)[StepKind::SharedLoad].lanes,
              m * k * n / patch * reads + (ahead ? m * n / patch * reads : 0));
    EXPECT_EQ(sums->reuse.at(0),
              (analysis::Reuse{"M", m * k, m * k * (n / tile.cols), n / tile.cols, n / tile.cols}));
    EXPECT_EQ(sums->reuse.at(1),
              (analysis::Reuse{"N", k * n, k * n * (m / tile.rows), m / tile.rows, m / tile.rows}));
    EXPECT_EQ(trace.launch.grid.count(), blocks);
    EXPECT_EQ(uint64_t{tile.rows} * tile.cols, uint64_t{patch} * trace.launch.block.count());
}

// What warp_tile is for: lanes side by side read 16 bytes side by side, where those of vector_loads are 32
// bytes apart, so that every other one of eight meets another in its banks.
TEST(LadderBanks, WarpTilesReadWithoutConflicts) {
    const auto reads_of = [](const char* kernel) {
        const auto sums = analysis::summarize(recorded(kernel, {128, 16, 128, 0}));
        return sums ? (*sums)[StepKind::SharedLoad] : analysis::Sums{};
    };
    const analysis::Sums before = reads_of("vector_loads"), after = reads_of("warp_tile");
    EXPECT_EQ(after.requests, before.requests);
    EXPECT_EQ(after.bank_conflicts(), 0u);
    // Half of the reads are of Nds: 2 loads by each of 8 warps in each of 16 steps along k.
    EXPECT_EQ(before.bank_conflicts(), uint64_t{2 * 8 * 16} * 4);
}

// From the recording alone, also where blocks are cut by the matrices' edges.
TEST_P(EveryRung, ARecordingTellsTheTileOfABlock) {
    const std::string& kernel = GetParam();
    const BlockTile tile = *find(kernel)->own_tile;
    const Shape shape{tile.rows + 5, 9, 2 * tile.cols + 3, 0};
    const auto sized = plan(kernel, shape);
    ASSERT_TRUE(sized);
    for (const BlockWindow& window : {BlockWindow{}, BlockWindow{1, 2, 0, 1}, BlockWindow{2, 3, 1, 2}}) {
        RecordOptions options;
        options.window = window;
        const auto trace = record_cpu(*sized, options);
        ASSERT_TRUE(trace) << trace.error().message;
        const auto product = analysis::product_of(*trace);
        ASSERT_TRUE(product);
        EXPECT_EQ(product->tile, 0u);
        EXPECT_EQ(std::tuple(product->m, product->k, product->n), std::tuple(shape.m, shape.k, shape.n));
        EXPECT_EQ(std::pair(product->tile_rows, product->tile_cols), std::pair(tile.rows, tile.cols))
            << window.x0 << "," << window.y0;
        if (window.x0 < 2) EXPECT_EQ(product->patch, patch());
        EXPECT_EQ(shape_of(*product), shape);
        EXPECT_EQ(analysis::title_of(analysis::with_rule(*trace)), kernel + " " + product->sizes());
        EXPECT_EQ(analysis::stem_of(analysis::with_rule(*trace)),
                  fmt::format("{}-{}x{}x{}", kernel, shape.m, shape.k, shape.n));
    }
}

// Loops over registers alone are unrolled: sums are in registers, and what the texts say of loads and
// products can be counted.
TEST_P(Ladder, KeepsAThreadsSumsInRegisters) {
    const Rung& rung = GetParam();
    const auto count_of = [](std::string_view text, std::string_view what) {
        size_t found = 0;
        for (size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++found;
        return found;
    };
    const std::string_view ptx = shipped_ptx(rung.kernel, 0);
    for (const std::string_view text : {ptx, shipped_nvrtc_ptx(rung.kernel, 0)}) {
        ASSERT_FALSE(text.empty());
        EXPECT_EQ(text.find(".local"), std::string_view::npos);
        EXPECT_EQ(count_of(text, "bar.sync"), 2u);
    }
    // A loop over the depth of a tile that holds two sets in turn is unrolled, behind the first set's reads.
    const size_t steps = rung.ahead ? kDepth : 1, before = rung.ahead ? rung.reads : 0;
    EXPECT_EQ(count_of(ptx, "ld.shared"), before + rung.reads * steps);
    EXPECT_EQ(count_of(ptx, rung.wide_reads ? "ld.shared.v4.f32" : "ld.shared.f32"),
              before + rung.reads * steps);
    EXPECT_EQ(count_of(ptx, "fma.rn.f32"), rung.patch * steps);
}

TEST_P(EveryRung, BytesAskedForAreThoseOfAWholeRecording) {
    for (const Shape& shape : {Shape{300, 20, 270, 0}, Shape{5, 9, 7, 0}, Shape{256, 8, 128, 0}}) {
        const auto sized = plan(GetParam(), shape);
        ASSERT_TRUE(sized);
        const auto bytes = requested_bytes(*sized, 1);
        ASSERT_TRUE(bytes) << bytes.error().message;
        const auto sums = analysis::summarize(recorded(*sized));
        ASSERT_TRUE(sums);
        EXPECT_EQ(bytes->loaded, (*sums)[StepKind::GlobalLoad].bytes);
        EXPECT_EQ(bytes->stored, (*sums)[StepKind::GlobalStore].bytes);
    }
}

// By the PTX that ships: what the texts say of halves.
TEST(HalfLadder, CountsAreTheirClosedForms) {
    const auto count_of = [](std::string_view text, std::string_view what) {
        size_t found = 0;
        for (size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++found;
        return found;
    };
    constexpr uint64_t kPhases = 2;
    for (const std::string& kernel : names_without_tile_width(ElementType::F16)) {
        SCOPED_TRACE(kernel);
        const BlockTile tile = *find(kernel)->own_tile;
        const bool fragments = kernel == "wmma_tile", ahead = kernel == "mma_stages",
                   boxes = !find(kernel)->boxes.empty();
        const uint64_t depth = boxes ? 64 : 32;
        const std::string_view ptx = shipped_ptx(kernel, 0);
        EXPECT_EQ(ptx.find(".local"), std::string_view::npos) << "sums are in registers";
        EXPECT_EQ(shipped_nvrtc_ptx(kernel, 0).find(".local"), std::string_view::npos);
        // A warp's elements of P, 16 columns of M at a time; one step of a phase is behind the other in the text.
        // A warpgroup's, of 64 x 128, are the four warps' together.
        const uint64_t products = depth / 16 * 64 * 64 / (16 * 8);
        EXPECT_EQ(count_of(ptx, "mma.sync"), boxes ? 0 : fragments ? 2 * 4 : products);
        EXPECT_EQ(count_of(ptx, "wgmma.mma_async"), boxes ? depth / 16 * 128 * 128 / (64 * 128) : 0);
        EXPECT_EQ(count_of(ptx, "ldmatrix"),
                  fragments || boxes ? 0 : (depth / 16 + (ahead ? 1 : 0)) * (64 + 64) / 16);
        EXPECT_EQ(count_of(ptx, "wmma.load"), fragments ? 2 * 4 : 0);
        EXPECT_EQ(count_of(ptx, "bar.sync"), boxes ? 1 : fragments ? 3 : 2);
        const uint64_t m = tile.rows, k = kPhases * depth, n = 2 * tile.cols;
        const auto sums = analysis::summarize(recorded(
            kernel, {static_cast<uint32_t>(m), static_cast<uint32_t>(k), static_cast<uint32_t>(n), 0}));
        ASSERT_TRUE(sums) << sums.error().message;
        EXPECT_EQ(sums->phases, kPhases);
        EXPECT_EQ((*sums)[StepKind::GlobalLoad].bytes, 2 * (2 * m * k + k * n));
        EXPECT_EQ((*sums)[StepKind::GlobalStore].bytes, 4 * m * n);
    }
}

// Each block's boxes, expected bytes and arrivals: a phase brings a box of M and two of N to a stage, told to one barrier, and
// each of four warps gives every stage back but the last, which nobody fills again.
TEST(HalfLadder, BoxesComeToARing) {
    constexpr uint64_t kPhases = 5, kStages = 3;
    const trace::Trace trace = recorded("wgmma_ring", {128, 64 * kPhases, 256, 0});
    std::map<ptx::Signal, uint64_t> signals;
    uint64_t boxes = 0, expected = 0, places = 0;
    std::set<uint64_t> stages;
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        const trace::Access access = trace::decode(trace, step);
        const ptx::Site& site = trace.sites[access.site];
        if (site.signal != ptx::Signal::None) ++signals[site.signal];
        if (site.signal == ptx::Signal::Arrive) expected += trace::words_of(trace, step, 0)[1];
        if (site.box != ptx::Box::Tensor) continue;
        EXPECT_EQ(access.mask, 1u);
        const Array& array = trace.launch.arrays[access.array];
        if (site.kind != ptx::SiteKind::Store) continue;
        ++boxes, places += access.offset[0] % 1024;
        if (array.name == "Mds") stages.insert(access.offset[0]);
    }
    const uint64_t blocks = trace.launch.grid.count();
    EXPECT_EQ(blocks, 2u);
    EXPECT_EQ(boxes, blocks * kPhases * 3);
    EXPECT_EQ(places, 0u) << "swizzles repeat every 1,024 bytes";
    EXPECT_EQ(stages.size(), kStages);
    EXPECT_EQ(expected, blocks * kPhases * 2 * 64 * (128 + 128));
    EXPECT_EQ(signals[ptx::Signal::Init], blocks * 2 * kStages);
    EXPECT_EQ(signals[ptx::Signal::Arrive], blocks * (kPhases + 4 * (kPhases - 1)));
    EXPECT_EQ(signals[ptx::Signal::Wait], blocks * (kPhases + 4 * kPhases));
}

// What the eight rows that ldmatrix reads at once meet: those of Mds, 64 bytes apart, in every other bank of eight, those
// of Nds, 256 bytes apart, in one; and nothing where they are swizzled.
TEST(HalfLadder, SwizzledTilesHaveNoConflicts) {
    const auto reads_of = [](const char* kernel) {
        const auto sums = analysis::summarize(recorded(kernel, {128, 32, 128, 0}));
        return sums ? (*sums)[StepKind::SharedLoad] : analysis::Sums{};
    };
    const analysis::Sums before = reads_of("mma_tile"), after = reads_of("mma_swizzled");
    EXPECT_EQ(after.requests, before.requests);
    EXPECT_EQ(after.wavefronts, 4 * after.requests);
    EXPECT_EQ(before.wavefronts, (4 * 4 + 4 * 8) * before.requests / 2) << "one request of each";
}

INSTANTIATE_TEST_SUITE_P(Kernels, EveryRung, testing::ValuesIn(names_without_tile_width()),
                         [](const auto& suite) { return suite.param; });
INSTANTIATE_TEST_SUITE_P(Kernels, Ladder, testing::ValuesIn(kRungs),
                         [](const auto& suite) { return std::string(suite.param.kernel); });

}  // namespace
}  // namespace tilescope::kernels
