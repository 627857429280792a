// JSON: parsed again, it holds the recording.
#include <bit>

#include "core/export/requests.h"
#include "tests/opened.h"
#include "tests/unit/export_text.h"
#include "tests/unit/trace_requests.h"

namespace tilescope::report {
namespace {

Json json_of(const trace::Trace& trace, Selected selected, bool lanes) {
    return Json::parse(gathered(
        [&](const Take& take) { return write_trace_json(trace, by_hand::rule(), selected, lanes, take); }));
}

TEST(TraceJson, SaysWhatWasRecorded) {
    const Json told = json_of(two_blocks(), {}, false);
    EXPECT_EQ(told.at("schema"), "tilescope.trace/1");
    EXPECT_EQ(told.at("kernel"), "tiled");
    EXPECT_EQ(told.at("backend"), "cpu");
    EXPECT_EQ(told.at("time"), "none: the order of the steps");
    EXPECT_EQ(told.at("complete"), true);
    EXPECT_EQ(told.at("arrays").at(3).at("name"), "Mds");
    EXPECT_EQ(told.at("sites").at(4).at("kind"), "barrier");
    EXPECT_EQ(told.at("blocks").at(1).at("x"), 1);
    EXPECT_FALSE(told.contains("clock_mhz"));
}

TEST(TraceJson, HoldsEveryLaneOfEveryStep) {
    const trace::Trace by_clock = trace::with_clocks(two_blocks());
    const trace::Trace irregular = trace::random_trace(5, 2, 2, 200);
    for (const trace::Trace* trace : {&by_clock, &irregular}) {
        const Json told = json_of(*trace, {}, true);
        ASSERT_EQ(told.at("steps").size(), trace->steps());
        for (uint64_t step = 0; step < trace->steps(); ++step) {
            const Json& row = told.at("steps").at(step);
            const trace::Access access = trace::AccessView(*trace, step).decoded();
            ASSERT_EQ(row.at("step"), step + 1);
            ASSERT_EQ(row.at("block"), trace::block_of(*trace, step));
            ASSERT_EQ(row.at("warp"), access.warp);
            ASSERT_EQ(row.at("mask"), access.mask);
            ASSERT_EQ(row.contains("clock"), !trace->time.empty());
            if (trace->sites[access.site].kind == ptx::SiteKind::Barrier) continue;
            ASSERT_EQ(row.contains("array"), access.array != trace::kNoArray);
            for (uint32_t lane = 0; lane < 32; ++lane) {
                const Json& address = row.at("addresses").at(lane);
                if (access.mask >> lane & 1)
                    ASSERT_EQ(address, access.offset[lane]);
                else
                    ASSERT_TRUE(address.is_null());
            }
        }
    }
}

TEST(TraceJson, FirstElementsAndCosts) {
    const trace::Trace trace = two_blocks();
    const Json told = json_of(trace, {}, false);
    const Json& load = told.at("steps").at(0);
    EXPECT_EQ(load.at("element"), Json::array({0, 0}));
    EXPECT_EQ(load.at("address"), 0x10000);
    EXPECT_EQ(load.at("least_sectors"), 4);
    EXPECT_FALSE(load.contains("wavefronts"));
    const Json& store = told.at("steps").at(trace.blocks[0].count - 1);
    EXPECT_TRUE(store.at("phase").is_null()) << "behind the loop";
}

TEST(TraceJson, APartAndNothingAtAll) {
    const trace::Trace trace = two_blocks();
    const Json all = json_of(trace, {}, false), part = json_of(trace, {3, 9, -1}, false);
    ASSERT_EQ(part.at("steps").size(), 6u);
    for (size_t i = 0; i < 6; ++i) EXPECT_EQ(part.at("steps").at(i), all.at("steps").at(i + 3));
    EXPECT_TRUE(json_of(trace::Trace{}, {}, false).at("steps").empty());
}

TEST(TraceJson, SaysWhyItIsNotWhole) {
    trace::Trace trace = two_blocks();
    trace.blocks[0].dropped = 7;
    const Json told = json_of(trace, {}, false);
    EXPECT_EQ(told.at("complete"), false);
    EXPECT_NE(told.at("incomplete_reason").get<std::string>().find("7 requests"), std::string::npos);
    EXPECT_EQ(told.at("blocks").at(0).at("dropped"), 7);
}

}  // namespace
}  // namespace tilescope::report
