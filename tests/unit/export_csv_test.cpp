// CSV: every figure of every line against the recording, one by one.
#include <bit>
#include <sstream>

#include "core/export/requests.h"
#include "tests/opened.h"
#include "tests/unit/export_text.h"
#include "tests/unit/trace_requests.h"

namespace tilescope::report {
namespace {

using Fields = std::map<std::string, std::string>;

std::vector<std::string> split(const std::string& line) {
    std::vector<std::string> fields(1);
    for (const char c : line)
        if (c == ',')
            fields.emplace_back();
        else
            fields.back() += c;
    return fields;
}

std::vector<Fields> lines_of(const std::string& csv) {
    std::vector<Fields> rows;
    std::vector<std::string> heading;
    for (size_t at = 0; at < csv.size();) {
        const size_t end = csv.find("\r\n", at);
        EXPECT_NE(end, std::string::npos) << "a line without its end";
        if (end == std::string::npos) break;
        const std::vector<std::string> fields = split(csv.substr(at, end - at));
        at = end + 2;
        if (heading.empty()) {
            heading = fields;
            continue;
        }
        EXPECT_EQ(fields.size(), heading.size());
        Fields row;
        for (size_t i = 0; i < std::min(fields.size(), heading.size()); ++i) row[heading[i]] = fields[i];
        rows.push_back(row);
    }
    return rows;
}

std::vector<Fields> csv_of(const trace::Trace& trace, const analysis::PhaseRule& rule, Selected selected,
                           bool lanes) {
    return lines_of(
        gathered([&](const Take& take) { return write_csv(trace, rule, selected, lanes, take); }));
}

// Four rows of 32 bytes, 48 bytes apart: sectors 0, 1 and 2, 3, 4 and 5.
TEST(Csv, TheFirstLineOfATiledProduct) {
    const trace::Trace trace = two_blocks();
    const std::string csv = gathered([&](const Take& take) {
        return write_csv(trace, by_hand::rule(), {0, 1, -1}, false, take);
    });
    EXPECT_EQ(csv,
              "block_x,block_y,block_z,step,warp,site,line,kind,space,array,mask,address,row,col,lanes,"
              "sectors,least_sectors,wavefronts,least_wavefronts,phase\r\n"
              "0,0,0,1,0,0,10,load,global,M,0xffffffff,0x10000,0,0,32,6,4,,,0\r\n");
}

TEST(Csv, ALineARequestWithEveryFigureOfIt) {
    for (const bool clocked : {false, true}) {
        const trace::Trace trace = clocked ? trace::with_clocks(two_blocks()) : two_blocks();
        const auto rows = csv_of(trace, by_hand::rule(), {}, false);
        ASSERT_EQ(rows.size(), trace.steps());
        std::vector<analysis::PhaseMap> phases;
        for (uint32_t b = 0; b < 2; ++b) phases.push_back(phases_of_block(trace, by_hand::rule(), b));
        for (uint64_t step = 0; step < trace.steps(); ++step) {
            const Fields& row = rows[step];
            const trace::Access access = trace::AccessView(trace, step).decoded();
            const ptx::Site& site = trace.sites[access.site];
            const uint32_t block = trace::block_of(trace, step);
            EXPECT_EQ(row.at("step"), std::to_string(step + 1));
            EXPECT_EQ(row.at("block_x"), std::to_string(trace.blocks[block].x));
            EXPECT_EQ(row.at("warp"), std::to_string(access.warp));
            EXPECT_EQ(row.at("line"), std::to_string(site.line));
            EXPECT_EQ(std::stoul(row.at("mask"), nullptr, 16), access.mask);
            EXPECT_EQ(row.at("lanes"), std::to_string(std::popcount(access.mask)));
            EXPECT_EQ(row.count("clock"), clocked ? 1u : 0u);
            if (clocked) EXPECT_EQ(row.at("clock"), std::to_string(trace.time[step]));
            const uint32_t phase = phases[block].phase[step - trace.blocks[block].first];
            EXPECT_EQ(row.at("phase"), phase == analysis::kAfter ? "after" : std::to_string(phase));
            const analysis::Cost cost = analysis::cost_of(trace, step);
            if (site.kind == ptx::SiteKind::Barrier) {
                EXPECT_EQ(row.at("kind"), "barrier");
                EXPECT_EQ(row.at("address") + row.at("sectors") + row.at("wavefronts"), "");
                continue;
            }
            EXPECT_EQ(std::stoull(row.at("address"), nullptr, 16),
                      access.offset[std::countr_zero(access.mask)]);
            if (site.space == Space::Global) {
                EXPECT_EQ(row.at("sectors"), std::to_string(cost.global.sectors));
                EXPECT_EQ(row.at("least_sectors"), std::to_string(cost.global.ideal_sectors));
                EXPECT_EQ(row.at("wavefronts"), "");
            } else {
                EXPECT_EQ(row.at("wavefronts"), std::to_string(cost.shared.wavefronts));
                EXPECT_EQ(row.at("sectors"), "");
            }
        }
    }
}

TEST(Csv, ALineAnAccessHoldsEveryLanesElement) {
    const trace::Trace trace = two_blocks();
    const auto rows = csv_of(trace, by_hand::rule(), {}, true);
    size_t at = 0;
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        const trace::Access access = trace::decode(trace, step);
        const bool barrier = trace.sites[access.site].kind == ptx::SiteKind::Barrier;
        for (uint32_t lane = 0; lane < 32; ++lane) {
            if (!(access.mask >> lane & 1) || (barrier && lane > 0)) continue;
            ASSERT_LT(at, rows.size());
            const Fields& row = rows[at++];
            ASSERT_EQ(row.at("step"), std::to_string(step + 1));
            if (barrier) continue;
            const uint64_t element = access.offset[lane] / 4, cols = trace.launch.arrays[access.array].cols;
            ASSERT_EQ(row.at("lane"), std::to_string(lane));
            ASSERT_EQ(row.at("thread"), std::to_string(access.warp * 32 + lane));
            ASSERT_EQ(row.at("row"), std::to_string(element / cols));
            ASSERT_EQ(row.at("col"), std::to_string(element % cols));
        }
    }
    EXPECT_EQ(at, rows.size());
}

TEST(Csv, BlocksAndStepsAreAPartOfTheWhole) {
    const trace::Trace trace = two_blocks();
    const auto all = csv_of(trace, by_hand::rule(), {}, false);
    const uint64_t half = trace.blocks[1].first;
    EXPECT_EQ(csv_of(trace, by_hand::rule(), {0, UINT64_MAX, 1}, false),
              std::vector(all.begin() + static_cast<ptrdiff_t>(half), all.end()));
    EXPECT_EQ(csv_of(trace, by_hand::rule(), {half - 3, half + 5, -1}, false),
              std::vector(all.begin() + static_cast<ptrdiff_t>(half - 3),
                          all.begin() + static_cast<ptrdiff_t>(half + 5)));
    EXPECT_TRUE(csv_of(trace, by_hand::rule(), {0, half, 1}, false).empty());
    EXPECT_EQ(steps_in(trace, {half - 3, half + 5, -1}), 8u);
    EXPECT_EQ(steps_in(trace, {0, half, 1}), 0u);
}

// Requests of every kind, also outside every array and at addresses of 47 bits.
TEST(Csv, IrregularRequestsComeOutExactly) {
    const trace::Trace trace = trace::random_trace(11, 2, 1, 400);
    analysis::PhaseRule rule = by_hand::rule();
    for (const bool lanes : {false, true}) {
        for (const Fields& row : csv_of(trace, rule, {}, lanes)) {
            if (row.at("kind") == "barrier") continue;
            const uint64_t step = std::stoull(row.at("step")) - 1;
            const trace::Access access = trace::AccessView(trace, step).decoded();
            const auto lane = lanes ? std::stoi(row.at("lane")) : std::countr_zero(access.mask);
            ASSERT_EQ(std::stoull(row.at("address"), nullptr, 16), access.offset[lane]) << step;
        }
    }
}

TEST(Csv, EndsWhereItsTakerHasHadEnough) {
    const trace::Trace trace = trace::random_trace(3, 1, 1, 4000);
    int pieces = 0;
    EXPECT_FALSE(write_csv(trace, by_hand::rule(), {}, true, [&](std::string_view) { return ++pieces < 2; }));
    EXPECT_EQ(pieces, 2);
}

}  // namespace
}  // namespace tilescope::report
