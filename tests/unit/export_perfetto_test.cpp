// Chrome trace events: the format's rules, event by event, and the figures against the recording.
//
// Rules: "Trace Event Format" (Google): every event has name, ph, pid and tid; X has ts and dur >= 0; C has
// ts and numbers as args; M has a name it knows and args. perfetto.dev, FAQ: events of a thread must nest.
#include <cmath>
#include <set>

#include "core/analysis/summary.h"
#include "core/export/perfetto.h"
#include "tests/unit/export_text.h"

namespace tilescope::report {
namespace {

std::string perfetto(const trace::Trace& trace, Selected selected = {}) {
    return gathered([&](const Take& take) { return write_perfetto(trace, by_hand::rule(), selected, take); });
}

int64_t ns(const Json& us) { return std::llround(us.get<double>() * 1000); }

void expect_rules(const Json& trace) {
    ASSERT_TRUE(trace.at("traceEvents").is_array());
    std::map<std::pair<int64_t, int64_t>, int64_t> end, began;  // of a thread's latest event
    std::map<std::pair<int64_t, std::string>, int64_t> counted;
    std::set<int64_t> named_processes;
    std::map<int64_t, int64_t> process_of;  // by thread
    std::set<std::pair<int64_t, int64_t>> named_threads;
    for (const Json& event : trace.at("traceEvents")) {
        const std::string ph = event.at("ph");
        ASSERT_TRUE(event.at("name").is_string());
        ASSERT_FALSE(event.at("name").get<std::string>().empty());
        ASSERT_TRUE(event.at("pid").is_number_unsigned());
        ASSERT_TRUE(event.at("tid").is_number_unsigned());
        const int64_t pid = event.at("pid"), tid = event.at("tid");
        ASSERT_GT(pid, 0);
        ASSERT_EQ(process_of.try_emplace(tid, pid).first->second, pid) << "a thread of two processes";
        if (ph == "X") {
            ASSERT_GE(event.at("ts").get<double>(), 0);
            ASSERT_GE(event.at("dur").get<double>(), 0);
            const int64_t ts = ns(event.at("ts")), dur = ns(event.at("dur"));
            if (began.count({pid, tid})) {
                ASSERT_GE(ts, (began[{pid, tid}])) << "in order";
                ASSERT_GE(ts, (end[{pid, tid}])) << "events of a warp overlap";
            }
            began[{pid, tid}] = ts;
            end[{pid, tid}] = ts + dur;
            ASSERT_TRUE((named_threads.count({pid, tid})));
            ASSERT_TRUE(named_processes.count(pid));
        } else if (ph == "C") {
            const std::string name = event.at("name");
            const int64_t ts = ns(event.at("ts"));
            if (counted.count({pid, name})) {
                ASSERT_GE(ts, (counted[{pid, name}]));
            }
            counted[{pid, name}] = ts;
            ASSERT_FALSE(event.at("args").empty());
            for (const auto& [key, value] : event.at("args").items()) ASSERT_TRUE(value.is_number()) << key;
        } else {
            ASSERT_EQ(ph, "M");
            const std::string name = event.at("name");
            const Json& args = event.at("args");
            if (name == "process_name" || name == "thread_name") {
                ASSERT_TRUE(args.at("name").is_string());
            } else {
                ASSERT_TRUE(name == "process_sort_index" || name == "thread_sort_index") << name;
                ASSERT_TRUE(args.at("sort_index").is_number());
            }
            if (name == "process_name") {
                ASSERT_TRUE(named_processes.insert(pid).second);
            }
            if (name == "thread_name") {
                ASSERT_TRUE((named_threads.insert({pid, tid}).second));
            }
        }
    }
}

std::vector<Json> events_of(const Json& trace, const char* ph) {
    std::vector<Json> events;
    for (const Json& event : trace.at("traceEvents"))
        if (event.at("ph") == ph) events.push_back(event);
    return events;
}

TEST(Perfetto, FollowsTheFormatsRules) {
    for (const bool clocked : {false, true}) {
        const trace::Trace trace = clocked ? trace::with_clocks(two_blocks()) : two_blocks();
        const Json json = Json::parse(perfetto(trace));
        expect_rules(json);
        EXPECT_EQ(events_of(json, "X").size(), trace.steps()) << "an event a step, none lost";
    }
}

TEST(Perfetto, OnACpuAStepIsAMicrosecondAndSaysSo) {
    const trace::Trace trace = two_blocks();
    const Json json = Json::parse(perfetto(trace));
    for (const Json& event : events_of(json, "X"))
        EXPECT_EQ(event.at("ts"), event.at("args").at("step").get<uint64_t>() - 1);
    const std::string time = json.at("otherData").at("time");
    EXPECT_NE(time.find("not a time"), std::string::npos) << time;
}

TEST(Perfetto, OnAGpuTimesAreTheClocksOfTheSm) {
    const trace::Trace trace = trace::with_clocks(two_blocks());
    const double mhz = trace.meta.price.clock_mhz;
    const Json json = Json::parse(perfetto(trace));
    for (const Json& event : events_of(json, "X")) {
        const uint64_t step = event.at("args").at("step").get<uint64_t>() - 1;
        EXPECT_NEAR(event.at("ts").get<double>(), trace.time[step] / mhz,
                    0.0011);  // blocks on SMs of their own
    }
    const std::string time = json.at("otherData").at("time");
    EXPECT_NE(time.find("1980 MHz"), std::string::npos) << time;
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
    trace.arrays[0].name = "M\xFF\"";
    EXPECT_NO_THROW(expect_rules(Json::parse(perfetto(trace))));
}

}  // namespace
}  // namespace tilescope::report
