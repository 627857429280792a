// Chrome trace events: the format's rules, event by event, and the figures against the recording.
#include <cmath>
#include <set>

#include "core/analysis/summary.h"
#include "core/export/requests.h"
#include "tests/chrome_trace.h"
#include "tests/opened.h"
#include "tests/unit/export_text.h"

namespace tilescope::report {
namespace {

std::string perfetto(const trace::Trace& trace, Selected selected = {}) {
    return gathered([&](const Take& take) { return write_perfetto(trace, by_hand::rule(), selected, take); });
}

void expect_rules(const Json& trace) { EXPECT_EQ(test::ChromeTraceRules::broken(trace), ""); }

std::vector<Json> events_of(const Json& trace, const char* ph) {
    std::vector<Json> events;
    for (const Json& event : trace.at("traceEvents"))
        if (event.at("ph") == ph) events.push_back(event);
    return events;
}

TEST(Perfetto, FollowsTheFormatsRules) {
    for (const bool clocked : {false, true}) {
        const trace::Trace trace = clocked ? trace::with_clocks(two_blocks()) : two_blocks();
        const Json told = Json::parse(perfetto(trace));
        expect_rules(told);
        EXPECT_EQ(events_of(told, "X").size(), trace.steps()) << "an event a step, none lost";
    }
}

// The validator is held against damage of every kind that it is to see.
TEST(Perfetto, WhatBreaksARuleIsSeen) {
    const Json good = Json::parse(perfetto(two_blocks()));
    const auto first = [&](const char* ph) {
        size_t i = 0;
        while (good["traceEvents"][i]["ph"] != ph) ++i;
        return i;
    };
    const size_t m = first("M"), c = first("C"), x = first("X");
    const std::tuple<size_t, const char*, Json, const char*> damages[] = {
        {x, "ts", "0", "ts is no time"},
        {x, "ts", -1, "ts is no time"},
        {x, "ts", 1e6, "not in the order of time"},
        {x, "dur", nullptr, "dur is no time"},
        {x, "ph", "Q", "ph is not known"},
        {x, "ph", "B", "a B without its E"},
        {x, "ph", "E", "an E without its B"},
        {x, "name", "", "name is no text"},
        {x, "tid", 1.5, "tid is no number"},
        {x, "pid", "1", "pid is no number"},
        {x, "pid", 77, "two processes"},
        {x, "tid", 4711, "a thread without a name"},
        {x, "args", Json::array(), "args is no object"},
        {x, "cat", 3, "cat is no text"},
        {c, "args", {{"sectors", "1"}}, "no number"},
        {c, "args", Json::object(), "a counter of nothing"},
        {c, "ts", 1e6, "goes back in time"},
        {m, "name", "process_title", "not known"},
        {m, "args", {{"title", "a"}}, "without its args"},
        {m, "args", {{"name", 1}}, "another type"}};
    for (const auto& [event, key, value, rule] : damages) {
        Json damaged = good;
        damaged["traceEvents"][event][key] = value;
        const std::string said = test::ChromeTraceRules::broken(damaged);
        EXPECT_NE(said.find(rule), std::string::npos) << key << " " << value << ": " << said;
    }
    Json overlap = good;
    overlap["traceEvents"][x]["dur"] = 2.5;
    EXPECT_NE(test::ChromeTraceRules::broken(overlap).find("overlaps"), std::string::npos);
    Json unit = good;
    unit["displayTimeUnit"] = "us";
    EXPECT_NE(test::ChromeTraceRules::broken(unit), "");
    EXPECT_NE(test::ChromeTraceRules::broken(Json::array()), "");
}

TEST(Perfetto, OnACpuAStepIsAMicrosecondAndSaysSo) {
    const trace::Trace trace = two_blocks();
    const Json told = Json::parse(perfetto(trace));
    for (const Json& event : events_of(told, "X"))
        EXPECT_EQ(event.at("ts"), event.at("args").at("step").get<uint64_t>() - 1);
    const std::string time = told.at("otherData").at("time");
    EXPECT_NE(time.find("not a time"), std::string::npos) << time;
}

TEST(Perfetto, OnAGpuTimesAreTheClocksOfTheSm) {
    const trace::Trace trace = trace::with_clocks(two_blocks());
    const double mhz = trace.meta.price.clock_mhz;
    const Json told = Json::parse(perfetto(trace));
    for (const Json& event : events_of(told, "X")) {
        const uint64_t step = event.at("args").at("step").get<uint64_t>() - 1;
        EXPECT_NEAR(event.at("ts").get<double>(), trace.time[step] / mhz,
                    0.0011);  // blocks on SMs of their own
    }
    const std::string time = told.at("otherData").at("time");
    EXPECT_NE(time.find("1980 MHz"), std::string::npos) << time;
}

// A rate that no clock has is none; clocks of any size stay times.
TEST(Perfetto, RatesAndClocksThatCannotBeStayTimes) {
    for (const double mhz : {5e-324, 1e-9, 0.5, 1e300}) {
        trace::Trace trace = trace::with_clocks(two_blocks());
        trace.meta.price.clock_mhz = mhz;
        const Json told = Json::parse(perfetto(trace));
        expect_rules(told);
        const std::string time = told.at("otherData").at("time");
        EXPECT_NE(time.find("states no rate"), std::string::npos) << time;
    }
    trace::Trace trace = trace::with_clocks(two_blocks());
    trace.meta.price.clock_mhz = 1;
    trace.blocks[0].sm = trace.blocks[1].sm = 5;
    trace.blocks[0].clock = 0;
    trace.blocks[1].clock = UINT64_MAX - (uint64_t{1} << 40);
    for (const Json& event : events_of(Json::parse(perfetto(trace)), "X"))
        EXPECT_LT(event.at("ts").get<double>(), 1e16);
}

TEST(Perfetto, BlocksOfOneSmStandAsTheyRan) {
    trace::Trace trace = trace::with_clocks(two_blocks());
    trace.blocks[0].sm = trace.blocks[1].sm = 5;
    trace.blocks[0].clock = 50'000;
    trace.blocks[1].clock = 50'000 - 1980;  // a microsecond earlier
    std::map<uint64_t, double> ts;
    for (const Json& event : events_of(Json::parse(perfetto(trace)), "X"))
        ts[event.at("args").at("step").get<uint64_t>() - 1] = event.at("ts");
    EXPECT_EQ(ts[trace.blocks[1].first], 0);
    EXPECT_EQ(ts[trace.blocks[0].first], 1);
}

// A request lasts until the warp's next step; a barrier until the last warp has come.
TEST(Perfetto, DurationsEndAtTheNextStepOrTheBarriersOpening) {
    const trace::Trace trace = two_blocks();
    std::vector<int64_t> dur(trace.steps());
    for (const Json& event : events_of(Json::parse(perfetto(trace)), "X"))
        dur[event.at("args").at("step").get<uint64_t>() - 1] = event.at("dur");
    for (uint32_t b = 0; b < 2; ++b) {
        const trace::Block& block = trace.blocks[b];
        const analysis::PhaseMap phases = phases_of_block(trace, by_hand::rule(), b);
        for (uint64_t step = block.first; step < block.first + block.count; ++step) {
            uint64_t next = step + 1, opens = step;
            while (next < block.first + block.count && trace.warp_of(next) != trace.warp_of(step)) ++next;
            const bool last = next == block.first + block.count;
            const bool barrier = trace.sites[trace.form_of(step).site].kind == ptx::SiteKind::Barrier;
            for (uint64_t other = block.first; other < block.first + block.count; ++other)
                if (trace.sites[trace.form_of(other).site].kind == ptx::SiteKind::Barrier &&
                    phases.interval[other - block.first] == phases.interval[step - block.first])
                    opens = std::max(opens, other);
            const uint64_t until = barrier ? std::max(opens, step + 1) : last ? step + 1 : next;
            EXPECT_EQ(dur[step], static_cast<int64_t>(until - step)) << step;
        }
    }
}

TEST(Perfetto, CountersEndAtTheBlocksSums) {
    const trace::Trace trace = two_blocks();
    std::map<std::pair<int64_t, std::string>, uint64_t> last;
    for (const Json& event : events_of(Json::parse(perfetto(trace)), "C"))
        last[{event.at("pid"), event.at("name")}] = event.at("args").begin().value();
    for (uint32_t b = 0; b < 2; ++b) {
        const trace::Block& block = trace.blocks[b];
        const analysis::Sums sums = analysis::sums_of_steps(trace, block.first, block.first + block.count);
        EXPECT_EQ((last[{b + 1, "sectors so far"}]), sums.sectors);
        EXPECT_EQ((last[{b + 1, "wavefronts so far"}]), sums.wavefronts);
    }
}

TEST(Perfetto, APartHasTheEventsOfTheWhole) {
    const trace::Trace trace = trace::with_clocks(two_blocks());
    std::map<uint64_t, Json> whole;
    for (const Json& event : events_of(Json::parse(perfetto(trace)), "X"))
        whole[event.at("args").at("step")] = event;
    const Json part = Json::parse(perfetto(trace, {10, 40, 0}));
    expect_rules(part);
    const auto events = events_of(part, "X");
    EXPECT_EQ(events.size(), 30u);
    for (const Json& event : events) EXPECT_EQ(event, whole[event.at("args").at("step")]);
    EXPECT_TRUE(Json::parse(perfetto(trace, {0, 0, -1})).at("traceEvents").empty());
}

TEST(Perfetto, NamesThatAreNoUtf8AreReplaced) {
    trace::Trace trace = two_blocks();
    trace.meta.kernel = "caf\xE9 \"\n";
    trace.launch.arrays[0].name = "M\xFF\"";
    EXPECT_NO_THROW(expect_rules(Json::parse(perfetto(trace))));
}

}  // namespace
}  // namespace tilescope::report
