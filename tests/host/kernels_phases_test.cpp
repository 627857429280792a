// Phases of real recordings: by nvcc and clang alike, with faults, and against the walk over every thread.
#include <algorithm>
#include <map>

#include <gtest/gtest.h>

#include "core/analysis/summary.h"
#include "core/recording/phases.h"
#include "tests/file_text.h"
#include "tests/host/kernels_walk.h"
#include "tests/opened.h"

namespace tilescope::kernels {
namespace {

std::string read(const std::string& path) { return file_text(std::string(TILESCOPE_SOURCE_DIR) + path); }

// block, warp, phase, array, store -> (lane, element), sorted
using AccessKey = std::tuple<uint32_t, uint32_t, uint32_t, int, bool>;
using Accesses = std::map<AccessKey, std::vector<std::pair<uint32_t, uint64_t>>>;

Accesses accesses_of(const trace::Trace& trace) {
    const auto rule = analysis::phase_rule(trace);
    EXPECT_TRUE(rule) << rule.error().message;
    Accesses all;
    for (uint32_t block = 0; block < trace.blocks.size(); ++block) {
        const analysis::PhaseMap map = phases_of_block(trace, *rule, block);
        for (uint64_t i = 0; i < trace.blocks[block].count; ++i) {
            const trace::Access a = trace::decode(trace, trace.blocks[block].first + i);
            if (a.array == trace::kNoArray) continue;
            const bool store = trace.sites[a.site].kind == ptx::SiteKind::Store;
            auto& lanes = all[{block, a.warp, map.phase[i], a.array, store}];
            for (uint32_t lane = 0; lane < 32; ++lane)
                if (a.mask >> lane & 1) lanes.emplace_back(lane, a.offset[lane] / 4);
        }
    }
    for (auto& [key, lanes] : all) std::sort(lanes.begin(), lanes.end());
    return all;
}

Accesses walked_accesses(const std::string& kernel, const Shape& shape, const trace::Trace& trace) {
    Accesses all;
    for (uint32_t block = 0; block < trace.blocks.size(); ++block) {
        walk_block(kernel, shape, trace.blocks[block].x, trace.blocks[block].y, [&](const WarpAccess& a) {
            auto& lanes = all[{block, a.warp, a.phase, a.array, a.store}];
            for (uint32_t lane = 0; lane < 32; ++lane)
                if (a.mask >> lane & 1) lanes.emplace_back(lane, a.element[lane]);
        });
    }
    for (auto& [key, lanes] : all) std::sort(lanes.begin(), lanes.end());
    return all;
}

// Shapes of one tile width: full, with edges, one phase, an odd number of phases, fewer than a tile.
std::vector<Shape> shapes(uint32_t T) {
    return {{T, T, T, T},
            {2 * T, 4 * T, T, T},
            {T + 1, 3 * T + 1, 2 * T - 1, T},
            {T - 1, 5, T + 3, T},
            {3, 2 * T - 1, 2, T}};
}

TEST(Phases, AreThoseOfTheSource) {
    for (const KernelInfo& kernel : kernels_with_tile_width())
        for (const uint32_t T : {2u, 4u, 8u})
            for (const Shape& shape : shapes(T)) {
                const trace::Trace trace = recorded(kernel.name, shape);
                EXPECT_EQ(accesses_of(trace), walked_accesses(kernel.name, shape, trace))
                    << kernel.name << " T=" << T << " k=" << shape.k;
            }
}

TEST(Phases, AndAccessesAreTheSameByNvccAndByClang) {
    for (const KernelInfo& kernel : kernels_with_tile_width())
        for (const char* file : {"nvcc/%.default.ptx", "nvcc/%.O1.ptx", "nvrtc/%.default.ptx",
                                 "nvrtc/%.min.ptx", "clang/%.O1.ptx", "clang/%.O2.ptx", "clang/%.O3.ptx"}) {
            std::string name = file;
            name.replace(name.find('%'), 1, kernel.name);
            const std::string text = read("/tests/data/ptx/" + name);
            for (Shape shape : shapes(kTileOfData)) {
                auto by_clang = plan(kernel.name, shape);
                ASSERT_TRUE(by_clang) << by_clang.error().message;
                TextbookPlan other = *by_clang;
                other.ptx = text;
                other.ptx_name = name;
                const trace::Trace a = recorded(*by_clang), b = recorded(other);
                ASSERT_TRUE(b.meta.complete) << name << ": " << b.meta.incomplete_reason;
                EXPECT_EQ(accesses_of(a), accesses_of(b)) << name << " k=" << shape.k;
            }
        }
}

TEST(Phases, ClosingBarrierInsideTheInnerLoopGivesNoMorePhases) {
    // The fault: T barriers where one would do. The shipped PTX with its closing barrier moved.
    auto moved = plan("tiled", {8, 10, 8, 4});
    ASSERT_TRUE(moved);
    std::string& ptx = moved->ptx;
    const size_t closing = ptx.rfind("bar.sync");
    ASSERT_NE(closing, std::string::npos);
    ptx.erase(closing, ptx.find('\n', closing) - closing);
    const size_t product = ptx.find("fma.rn.f32");
    ASSERT_NE(product, std::string::npos);
    ptx.insert(ptx.find('\n', product) + 1, "\tbar.sync \t0;\n");
    const trace::Trace trace = recorded(*moved);
    ASSERT_TRUE(trace.meta.complete) << trace.meta.incomplete_reason;
    EXPECT_TRUE(trace.meta.result.verified);  // right, only slow
    const auto summary = analysis::summarize(trace);
    ASSERT_TRUE(summary) << summary.error().message;
    EXPECT_EQ(summary->phases, 3u);
    EXPECT_EQ(summary->barriers_per_block, 3u * (1 + 4));
}

TEST(Phases, CountBarrierIntervalsWarpByWarp) {
    const trace::Trace trace = recorded("tiled", {32, 48, 32, 16});
    const auto rule = analysis::phase_rule(trace);
    ASSERT_TRUE(rule);
    const analysis::PhaseMap map = phases_of_block(trace, *rule, 0);
    EXPECT_EQ(map.phases, 3u);
    EXPECT_EQ(map.barriers, 6u);
    for (uint64_t i = 0; i < trace.blocks[0].count; ++i) {
        const bool after = map.phase[i] == analysis::kAfter;
        // Loads and their barrier in the even intervals, products in the odd ones.
        EXPECT_EQ(map.interval[i] / 2, after ? 3 : map.phase[i]) << i;
    }
}

}  // namespace
}  // namespace tilescope::kernels
