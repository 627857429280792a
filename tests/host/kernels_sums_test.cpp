// Sums of real recordings: closed forms, the walk over every thread, and what hardware counters say.
#include <algorithm>
#include <bit>
#include <map>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "core/analysis/summary.h"
#include "core/analysis/swaps.h"
#include "core/export/report.h"
#include "tests/host/kernels_walk.h"
#include "tests/loads.h"
#include "tests/opened.h"
#include "tests/twin/request.h"

namespace tilescope::kernels {
namespace {

using analysis::StepKind;
using analysis::Summary;
using analysis::Sums;

// Twenty launches: square, rectangular, with edges on every side, smaller than a tile; T from 2 to 32.
const Shape kSumShapes[] = {
    {4, 4, 4, 2},     {3, 3, 3, 2},     {8, 6, 10, 2},    {5, 9, 7, 2},    {1, 1, 1, 2},     {4, 4, 4, 4},
    {16, 8, 12, 4},   {7, 13, 9, 4},    {2, 17, 3, 4},    {16, 16, 16, 8}, {8, 24, 16, 8},   {9, 20, 23, 8},
    {30, 1, 17, 8},   {32, 16, 48, 16}, {20, 33, 17, 16}, {5, 5, 5, 16},   {40, 18, 16, 16}, {32, 32, 32, 32},
    {64, 32, 32, 32}, {33, 40, 35, 32}, {10, 70, 3, 32},
};

Summary summary_of(const trace::Trace& trace) {
    auto summary = analysis::summarize(trace);
    EXPECT_TRUE(summary) << summary.error().message;
    return summary ? *summary : Summary{};
}

// What a request of 4-byte accesses costs; the block's rows have `width` threads.
Sums slow_cost(const WarpAccess& access, const Array& array, uint32_t width) {
    Sums sums{.requests = 1, .lanes = static_cast<uint64_t>(std::popcount(access.mask))};
    sums.bytes = 4 * sums.lanes;
    twin::Addresses at{};
    for (size_t lane = 0; lane < at.size(); ++lane) at[lane] = array.base + 4 * access.element[lane];
    if (array.space == Space::Global) {
        const twin::GlobalCost cost = twin::global_cost(at, access.mask, 4, width, access.warp * 32);
        sums.sectors = cost.sectors, sums.ideal_sectors = cost.least, sums.lines = cost.lines;
        sums.block_sectors = cost.least_of_block();
    } else {
        const twin::SharedCost cost = twin::shared_cost(at, access.mask, 4, !access.store);
        sums.wavefronts = cost.wavefronts, sums.ideal_wavefronts = cost.least;
    }
    return sums;
}

TEST(Sums, AgreeWithAWalkOverEveryThread) {
    for (const KernelInfo& kernel : kernels_with_tile_width())
        for (const Shape& shape : kSumShapes) {
            SCOPED_TRACE(kernel.name + " T=" + std::to_string(shape.tile) + " " + std::to_string(shape.m) +
                         "x" + std::to_string(shape.k) + "x" + std::to_string(shape.n));
            const trace::Trace trace = recorded(kernel.name, shape);
            ASSERT_TRUE(trace.meta.complete) << trace.meta.incomplete_reason;
            const Summary summary = summary_of(trace);

            std::map<std::pair<int, bool>, Sums> expected, got;  // by array and direction
            std::map<int, std::map<uint64_t, uint32_t>> loads;
            for (uint32_t by = 0; by < trace.launch.grid.y; ++by)
                for (uint32_t bx = 0; bx < trace.launch.grid.x; ++bx)
                    walk_block(kernel.name, shape, bx, by, [&](const WarpAccess& a) {
                        expected[{a.array, a.store}] +=
                            slow_cost(a, trace.launch.arrays.at(a.array), shape.tile);
                        for (int lane = 0; lane < 32; ++lane)
                            if (a.array < 2 && (a.mask >> lane & 1)) ++loads[a.array][a.element[lane]];
                    });
            for (const analysis::SiteSums& site : summary.sites)
                if (site.sums.requests > 0)
                    got[{site.array, trace.sites[site.site].kind == ptx::SiteKind::Store}] += site.sums;
            EXPECT_EQ(got.size(), expected.size());
            for (const auto& [where, sums] : expected)
                EXPECT_EQ(got[where], sums)
                    << trace.launch.arrays[where.first].name << (where.second ? " store" : " load");

            Sums global_load = expected[{0, false}], shared_load = expected[{3, false}];
            global_load += expected[{1, false}];
            shared_load += expected[{4, false}];
            EXPECT_EQ(summary[StepKind::GlobalLoad], global_load);
            EXPECT_EQ(summary[StepKind::SharedLoad], shared_load);

            ASSERT_EQ(summary.reuse.size(), 2u);
            for (uint8_t array = 0; array < 2; ++array) {
                const std::vector<uint32_t> counts = analysis::loads_per_element(trace, array);
                for (uint64_t e = 0; e < counts.size(); ++e)
                    ASSERT_EQ(counts[e], loads[array].contains(e) ? loads[array][e] : 0) << "element " << e;
            }
        }
}

TEST(Sums, HaveTheirClosedForms) {
    for (const KernelInfo& kernel : kernels_with_tile_width())
        for (const Shape& s : kSumShapes) {
            SCOPED_TRACE(kernel.name + " T=" + std::to_string(s.tile) + " k=" + std::to_string(s.k));
            const Summary sums = summary_of(recorded(kernel.name, s));
            const uint64_t T = s.tile, m = s.m, k = s.k, n = s.n;
            const uint64_t blocks_m = up(s.m, s.tile), blocks_n = up(s.n, s.tile), trips = up(s.k, s.tile);
            const uint64_t blocks = blocks_m * blocks_n;
            EXPECT_EQ(sums.phases, kernel.tiled ? trips : k);
            EXPECT_EQ(sums.barriers_per_block, !kernel.tiled                       ? 0
                                               : kernel.name == "tiled_no_barrier" ? trips
                                                                                   : 2 * trips);
            EXPECT_EQ(sums[StepKind::GlobalStore].lanes, m * n);
            const uint64_t m_each = kernel.tiled ? blocks_n : n, n_each = kernel.tiled ? blocks_m : m;
            EXPECT_EQ(sums.reuse.at(0), (analysis::Reuse{"M", m * k, m * k * m_each, m_each, m_each}));
            EXPECT_EQ(sums.reuse.at(1), (analysis::Reuse{"N", k * n, k * n * n_each, n_each, n_each}));
            EXPECT_EQ(sums[StepKind::GlobalLoad].lanes, m * k * m_each + k * n * n_each);
            EXPECT_EQ(sums[StepKind::SharedLoad].lanes, kernel.tiled ? blocks * trips * 2 * T * T * T : 0);
            const uint64_t stores = kernel.name == "tiled_stale_edge" ? sums[StepKind::GlobalLoad].lanes
                                                                      : blocks * trips * 2 * T * T;
            EXPECT_EQ(sums[StepKind::SharedStore].lanes, kernel.tiled ? stores : 0);
            EXPECT_EQ(sums[StepKind::SharedLoad].requests,
                      kernel.tiled ? blocks * trips * 2 * T * up(s.tile * s.tile, 32) : 0);
        }
}

TEST(Sums, AreThoseOfHardwareCountersAt256) {
    const struct {
        const char* kernel;
        uint32_t tile;
        uint64_t requests, sectors;
    } cases[] = {{"tiled", 32, 32768, 131072},
                 {"untiled", 16, 1048576, 2097152},
                 {"untiled_swapped", 16, 1048576, 8912896}};
    for (const auto& c : cases) {
        const Summary sums = summary_of(recorded(c.kernel, {256, 256, 256, c.tile}, 0));
        EXPECT_EQ(sums[StepKind::GlobalLoad].requests, c.requests) << c.kernel;
        EXPECT_EQ(sums[StepKind::GlobalLoad].sectors, c.sectors) << c.kernel;
    }
}

// The conflicts of N's tile, which is kept transposed.
Sums nds(const trace::Trace& trace, const Summary& summary, ptx::SiteKind kind) {
    Sums sums;
    for (const analysis::SiteSums& site : summary.sites)
        if (site.array != trace::kNoArray && trace.launch.arrays[site.array].name == "Nds" &&
            trace.sites[site.site].kind == kind)
            sums += site.sums;
    return sums;
}

TEST(Sums, ATransposedTileConflictsThirtyTwoWaysAndPaddingCuresIt) {
    const trace::Trace bad = recorded("tiled_transposed", {64, 64, 64, 32});
    const Summary sums = summary_of(bad);
    for (const ptx::SiteKind kind : {ptx::SiteKind::Load, ptx::SiteKind::Store}) {
        const Sums of_nds = nds(bad, sums, kind);
        EXPECT_GT(of_nds.requests, 0u);
        EXPECT_EQ(of_nds.wavefronts, 32 * of_nds.requests);
        EXPECT_EQ(of_nds.bank_conflicts(), 31 * of_nds.requests);
    }
    const Summary cured = summary_of(recorded("tiled_padded", {64, 64, 64, 32}));
    EXPECT_EQ(cured[StepKind::SharedLoad].bank_conflicts(), 0u);
    EXPECT_EQ(cured[StepKind::SharedStore].bank_conflicts(), 0u);
    EXPECT_EQ(cured[StepKind::SharedLoad].requests, sums[StepKind::SharedLoad].requests);
}

TEST(Report, JsonHasTheSchemasKeysInTheirOrder) {
    const trace::Trace trace = recorded("tiled", {100, 70, 130, 16});
    const auto json = nlohmann::ordered_json::parse(report::to_json(trace, summary_of(trace)));
    const auto keys = [](const nlohmann::ordered_json& object) {
        std::vector<std::string> names;
        for (const auto& item : object.items()) names.push_back(item.key());
        return names;
    };
    using Names = std::vector<std::string>;
    EXPECT_EQ(keys(json), (Names{"schema", "kernel", "backend", "device", "launch", "blocks", "complete",
                                 "dropped", "steps", "phases", "barriers_per_block", "sites", "totals",
                                 "idle_lanes", "reuse", "result"}));
    EXPECT_EQ(json["schema"], "tilescope.report/1");
    EXPECT_EQ(keys(json["launch"]), (Names{"m", "k", "n", "tile", "grid", "block"}));
    EXPECT_EQ(json["launch"]["grid"], nlohmann::ordered_json({9, 7, 1}));
    EXPECT_EQ(json["blocks"], nlohmann::ordered_json({{"recorded", 63}, {"total", 63}}));
    EXPECT_EQ(keys(json["sites"][0]),
              (Names{"id", "line", "space", "op", "array", "bytes", "requests", "lanes", "sectors",
                     "ideal_sectors", "wavefronts", "ideal_wavefronts", "bank_conflicts"}));
    EXPECT_EQ(keys(json["totals"]), (Names{"global_load", "global_store", "shared_load", "shared_store"}));
    EXPECT_EQ(keys(json["totals"]["global_store"]),
              (Names{"requests", "lanes", "bytes", "sectors", "ideal_sectors", "efficiency"}));
    uint64_t requests = 0, lanes = 0;
    for (const auto& [name, sums] : json["totals"].items())
        requests += sums["requests"].get<uint64_t>(), lanes += sums["lanes"].get<uint64_t>();
    EXPECT_EQ(json["idle_lanes"],
              nlohmann::ordered_json({{"lanes", requests * 32 - lanes}, {"of", requests * 32}}));
    const auto& loads = json["totals"]["global_load"];
    EXPECT_DOUBLE_EQ(loads["efficiency"].get<double>(),
                     loads["bytes"].get<double>() / (32 * loads["sectors"].get<double>()));
    EXPECT_EQ(keys(json["totals"]["shared_store"]),
              (Names{"requests", "lanes", "wavefronts", "ideal_wavefronts", "bank_conflicts"}));
    EXPECT_EQ(json["reuse"]["M"],
              nlohmann::ordered_json({{"elements", 7000}, {"loads", 63000}, {"min", 9}, {"max", 9}}));
    EXPECT_EQ(json["result"], nlohmann::ordered_json({{"verified", true}, {"max_abs_error", 0.0}}));
    EXPECT_EQ(json["phases"], 5);
    EXPECT_EQ(json["complete"], true);
}

TEST(Report, SaysWhatWouldFreeConflictsAndNothingWhereThereAreNone) {
    const auto said = [](const char* kernel, const Shape& shape) {
        const auto recording = analysis::opened(recorded(kernel, shape));
        const auto improvements = analysis::improvements_of(*recording->trace);
        EXPECT_TRUE(improvements);
        const Summary summary = summary_of(*recording->trace);
        return std::pair{
            report::to_text(*recording, summary, nullptr, 0, &*improvements),
            nlohmann::json::parse(report::to_json(*recording, summary, nullptr, 0, &*improvements))};
    };
    const auto [text, json] = said("tiled_transposed", {64, 64, 64, 32});
    EXPECT_NE(text.find("what would free Nds"), std::string::npos) << text;
    EXPECT_NE(text.find("padding 1: rows of 33 elements in place of 32; 128 bytes more"), std::string::npos)
        << text;
    ASSERT_EQ(json["remedies"].size(), 1u);
    const auto& of = json["remedies"][0];
    EXPECT_EQ(of["array"], "Nds");
    EXPECT_EQ(of["unit"], "wavefronts");
    EXPECT_EQ(of["looked_at"], of["requests"]);
    uint64_t cost = 0, conflicts = 0;
    for (const auto& site : of["sites"]) cost += site["cost"].get<uint64_t>();
    for (const auto& site : json["sites"]) conflicts += site["bank_conflicts"].get<uint64_t>();
    EXPECT_EQ(cost, of["cost"]);
    EXPECT_EQ(of["cost"].get<uint64_t>() - of["ideal"].get<uint64_t>(), conflicts) << "all are of Nds";
    for (const auto& with : of["with"]) {
        EXPECT_EQ(with["cost"], of["ideal"]) << with;
        EXPECT_EQ(with["of_sites"].size(), of["sites"].size());
    }
    EXPECT_TRUE(said("tiled_padded", {64, 64, 64, 32}).second["remedies"].empty());

    // Thread x walks down the rows of M and P; with x and y swapped it walks along them, as `untiled` does.
    const auto swapped = said("untiled_swapped", {64, 64, 64, 16});
    ASSERT_FALSE(swapped.second["swaps"].empty()) << swapped.first;
    uint64_t sectors = 0, straight = 0;
    for (const auto& swap : swapped.second["swaps"])
        if (swap["of"] == "threads")
            for (const auto& site : swap["sites"]) sectors += site["swapped"].get<uint64_t>();
    for (const auto& site : said("untiled", {64, 64, 64, 16}).second["sites"])
        straight += site["sectors"].get<uint64_t>();
    EXPECT_EQ(sectors, straight);
}

TEST(Report, SaysWhatIsNotWholeWhereverSumsAppear) {
    trace::Trace trace = recorded("tiled", {4, 4, 4, 2});
    const Summary summary = summary_of(trace);
    EXPECT_EQ(report::to_text(trace, summary).find("not whole"), std::string::npos);
    trace.blocks[0].dropped = 3;
    const auto json = nlohmann::json::parse(report::to_json(trace, summary));
    EXPECT_EQ(json["complete"], false);
    EXPECT_EQ(json["dropped"], 3);
    EXPECT_FALSE(json["incomplete_reason"].get<std::string>().empty());
    const std::string text = report::to_text(trace, summary);
    EXPECT_NE(text.find("NOT WHOLE"), std::string::npos);
    size_t notes = 0;
    for (size_t at = 0; (at = text.find("(not whole)", at)) != std::string::npos; ++at) ++notes;
    EXPECT_EQ(notes, 5u);  // one at every table, and at the idle lanes
}

}  // namespace
}  // namespace tilescope::kernels
