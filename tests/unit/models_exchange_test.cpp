// Shuffles, votes and reductions of a warp as steps: counted in closed form, and what is said of each.
#include <bit>
#include <set>

#include "app/look/exchange.h"
#include "app/look/request.h"
#include "app/step/flights.h"
#include "app/step/model.h"
#include "core/analysis/summary.h"
#include "core/base/contents.h"
#include "core/export/requests.h"
#include "core/hazards/hazards.h"
#include "tests/launch_examples.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

std::vector<uint32_t> exchanges_of(const Recorded& made, uint32_t warp) {
    std::vector<uint32_t> steps;
    for (uint32_t step = 0; step < made.index->steps; ++step)
        if (look::kind_of(*made.trace, made.index->first + step) == StepKind::Exchange &&
            made.trace->warp_of(made.index->first + step) == warp)
            steps.push_back(step);
    return steps;
}

look::ExchangeView view_at(const Recorded& made, uint32_t step) {
    return look::exchange_view(*made.trace, *made.index, made.replay.get(), step);
}

std::string verdict_at(const Recorded& made, uint32_t step) {
    return look::request_view(*made.trace, *made.index, step).verdict;
}

// Four warps of 32, and the first one again with what they left: five shuffles each.
TEST(ExchangeSteps, OfABlocksSumAreFiveAWarpAndFiveMore) {
    const trace::Trace trace = kernels::recorded(kernels::block_sums());
    for (const uint32_t block : {0u, 1u}) {
        const Recorded made = replayed(trace, block);
        const analysis::Summary summary = *analysis::summarize(made);
        EXPECT_EQ(summary.exchanges, 2u * 5 * (4 + 1));
        EXPECT_EQ(made.index->steps, 4u * (1 + 5 + 1 + 1) + 1 + 5 + 1);
        EXPECT_EQ(summary[StepKind::GlobalLoad].sectors, 2u * 4 * 4) << "exchanges ask for no memory";
        EXPECT_EQ(summary[StepKind::SharedLoad].wavefronts, 2u);
        EXPECT_EQ(summary.total().requests, 2u * (4 + 4 + 1 + 1));
        EXPECT_EQ(summary.barriers, 2u * 4);
        EXPECT_EQ(summary.phases, 1u);
        EXPECT_EQ(look::sums_so_far(*made.trace, *made.index, made.index->steps - 1).exchanges, 25u);
        for (uint32_t warp = 0; warp < 4; ++warp) {
            const std::vector<uint32_t> steps = exchanges_of(made, warp);
            ASSERT_EQ(steps.size(), warp == 0 ? 10u : 5u);
            double sum = 0;
            for (uint32_t lane = 0; lane < 32; ++lane)
                sum += number_of(initial_value(trace.launch.arrays[0], block * 128 + warp * 32 + lane));
            for (size_t i = 0; i < 5; ++i) {
                const look::ExchangeView view = view_at(made, steps[i]);
                const uint32_t by = 16u >> i;
                EXPECT_EQ(look::exchange_title(view), fmt::format("shuffles down by {}", by));
                EXPECT_EQ(view.moved(), ~0u >> by) << "all but the last";
                EXPECT_EQ(view.outside, ~(~0u >> by));
                EXPECT_EQ(view.absent, 0u);
                for (uint32_t lane = 0; lane < 32; ++lane)
                    EXPECT_EQ(view.from[lane], lane + by < 32 ? lane + by : lane);
            }
            // After the last one lane 0 adds what it gets to what it had.
            const Value got = made.replay->value(steps[4], 0, 0), had = made.replay->value(steps[4], 0, 1);
            const auto number = [](Value bits) { return number_of({ElementType::F32, bits.bits}); };
            EXPECT_EQ(number(got) + number(had), sum) << "warp " << warp;
        }
        EXPECT_EQ(verdict_at(made, exchanges_of(made, 1)[0]),
                  "16 lanes get another lane's value, 16 keep their own: 1 instruction, no memory");
    }
}

// A value is written as what it is taken for behind the shuffle, and travels between threads.
TEST(ExchangeSteps, SayWhatArrives) {
    const Recorded made = replayed(kernels::recorded(kernels::block_sums()));
    const uint32_t step = exchanges_of(made, 2)[1];
    const uint32_t site = made.trace->form_of(made.index->first + step).site;
    EXPECT_EQ(made.index->exchanged[site], ElementType::F32);
    const look::ExchangeView view = view_at(made, step);
    const auto text = [&](uint32_t lane) {
        return short_value({ElementType::F32, made.replay->value(step, lane, 0).bits});
    };
    EXPECT_EQ(caption(*made.trace, *made.index, made.replay.get(), step),
              fmt::format(
                  "Warp 2 shuffles down by 8: lane 0 gets lane 8's {}, lane 1 gets lane 9's {} and so on; 8 "
                  "lanes keep their own.",
                  text(0), text(1)));
    const look::RequestView request = look::request_view(*made.trace, *made.index, step, made.replay.get());
    EXPECT_EQ(lane_text(*made.trace, request, 30), "thread[94]: lane 30 keeps its own " + text(30));
    EXPECT_TRUE(request.good);
    EXPECT_TRUE(lane_formula(*made.trace, request, 0).empty());
    const auto flights = step::loads_to_threads(*made.trace, *made.index, *made.replay, step);
    ASSERT_EQ(flights.size(), 24u);
    for (uint32_t lane = 0; lane < 24; ++lane) {
        EXPECT_EQ(flights[lane].from, (playback::Element{step::kOfThreads, 64 + lane + 8}));
        EXPECT_EQ(flights[lane].to, (playback::Element{step::kOfThreads, 64 + lane}));
        EXPECT_EQ(short_value(flights[lane].value), text(lane));
    }
}

TEST(ExchangeSteps, OfVotesMatchesAndReductions) {
    const Recorded made = replayed(kernels::recorded(kernels::warp_talk()));
    const std::vector<uint32_t> steps = exchanges_of(made, 0);
    ASSERT_EQ(steps.size(), 5u);
    const look::ExchangeView ballot = view_at(made, steps[0]), match = view_at(made, steps[2]),
                             sum = view_at(made, steps[3]);
    EXPECT_EQ(ballot.yes, 0xFFFFFu);
    EXPECT_EQ(ballot.gets[31], "0x000fffff");
    EXPECT_EQ(ballot.gives[31], "false");
    EXPECT_EQ(verdict_at(made, steps[0]),
              "20 of 32 lanes vote for it, each gets the mask 0x000fffff: 1 instruction, no memory");
    EXPECT_EQ(verdict_at(made, steps[1]),
              "20 of 32 lanes vote for it, each gets true: 1 instruction, no memory");
    EXPECT_EQ(match.groups, (std::vector<uint32_t>{0xFF, 0xFF00, 0xFF'0000, 0xFF00'0000}));
    EXPECT_EQ(
        verdict_at(made, steps[2]),
        "32 lanes hold 4 different values, each gets the mask of those that hold its own: 1 instruction, no "
        "memory");
    EXPECT_EQ(match.gives[17], "2");
    EXPECT_EQ(sum.groups, std::vector<uint32_t>{~0u});
    EXPECT_EQ(verdict_at(made, steps[3]),
              "32 lanes give a value each, and each gets what these make together: 1 instruction, no memory");
    EXPECT_EQ(caption(*made.trace, *made.index, made.replay.get(), steps[0]),
              "Warp 0 votes by ballot: 20 of 32 lanes vote for it, each gets the mask 0x000fffff.");
    for (uint32_t lane = 0; lane < 32; ++lane) {
        EXPECT_EQ(sum.gives[lane], std::to_string(lane));
        EXPECT_EQ(sum.gets[lane], std::to_string(31 * 32 / 2));
        // What is stored: the ballot's count, the sum, and by the shuffle lane + 4 or, at the end, the lane.
        EXPECT_EQ(made.replay->value(made.index->steps - 1, lane).bits,
                  20 + 496 + (lane < 28 ? lane + 4 : lane));
    }
    EXPECT_EQ(caption(*made.trace, *made.index, made.replay.get(), steps[3]),
              "Warp 0 adds up its lanes' values: each of 32 lanes gets 496.");
}

// The first 20 lanes shuffle alone, with a mask that names all: the last four of them read lanes that are elsewhere.
TEST(ExchangeSteps, MarkLanesThatReadAnAbsentOne) {
    const Recorded made = replayed(kernels::recorded(kernels::warp_talk(0xFFFFF)));
    const uint32_t step = exchanges_of(made, 0).back();
    const look::ExchangeView view = view_at(made, step);
    EXPECT_EQ(view.mask, 0xFFFFFu);
    EXPECT_EQ(view.absent, 0xF0000u);
    EXPECT_EQ(view.moved(), 0xFFFFu);
    const look::RequestView request = look::request_view(*made.trace, *made.index, step, made.replay.get());
    EXPECT_FALSE(request.good);
    EXPECT_EQ(request.verdict,
              "16 lanes get another lane's value; 4 lanes read a lane that takes no part: what they get is "
              "undefined: 1 instruction, no memory");
    EXPECT_EQ(lane_text(*made.trace, request, 17), "thread[17]: lane 17 reads lane 21, which takes no part");
    EXPECT_EQ(lane_text(*made.trace, request, 25), "thread[25]: switched off in this request");
}

// Exchanges change nothing of what is found about memory: the same kernel without them as steps.
TEST(ExchangeSteps, LeaveSumsHazardsAndPhasesAsTheyWere) {
    for (const kernels::Plan& plan : {kernels::block_sums(), kernels::warp_sums(), kernels::warp_talk()}) {
        kernels::Plan without = plan;
        without.exchanges = false;
        const auto a = *analysis::opened(kernels::recorded(plan)),
                   b = *analysis::opened(kernels::recorded(without));
        EXPECT_FALSE(ptx::has_exchanges(b.trace->sites));
        analysis::Summary sums = *analysis::summarize(a), plain = *analysis::summarize(b);
        EXPECT_EQ(a.trace->steps() - sums.exchanges, b.trace->steps());
        EXPECT_GT(sums.exchanges, 0u);
        EXPECT_EQ(plain.exchanges, 0u);
        EXPECT_EQ(sums.phases, plain.phases);
        sums.exchanges = 0;
        EXPECT_EQ(static_cast<analysis::SplitSums&>(sums), static_cast<analysis::SplitSums&>(plain));
        const auto found = analysis::find_hazards(a), before = analysis::find_hazards(b);
        EXPECT_EQ(found.found.size(), before.found.size());
        // A recording from before runs again as it was, and its file is of the version that it had.
        auto replayer = kernels::Replayer::of(*b.trace);
        ASSERT_TRUE(replayer);
        playback::BlockReplay replay(*b.trace, 0);
        const auto same = replayer->replay(*b.trace, 0, replay);
        EXPECT_TRUE(same) << same.error().message;
    }
}

std::string exported(const analysis::Recording& recording, auto write) {
    std::string text;
    write(recording, [&](std::string_view part) { return text += part, true; });
    return text;
}

TEST(ExchangeSteps, AreExportedWithTheirLanes) {
    const auto made = *analysis::opened(kernels::recorded(kernels::warp_talk(0xFFFFF)));
    const auto csv = [](bool lanes) {
        return [lanes](const auto& recording, const report::Take& take) {
            report::write_csv(recording, {}, lanes, take);
        };
    };
    const std::string steps = exported(made, csv(false)), lanes = exported(made, csv(true));
    EXPECT_NE(steps.find(",phase,exchange,from\r\n"), std::string::npos);
    EXPECT_NE(steps.find("exchange,,,0xffffffff,,,,32,,,,,0,ballot,0x000fffff\r\n"), std::string::npos)
        << steps;
    EXPECT_NE(steps.find(",shuffle_down,4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23\r\n"),
              std::string::npos)
        << steps;
    EXPECT_NE(lanes.find("exchange,,,0x000fffff,3,3,,,,0,shuffle_down,7\r\n"), std::string::npos) << lanes;
    EXPECT_NE(lanes.find("exchange,,,0xffffffff,25,25,,,,0,ballot,0\r\n"), std::string::npos) << lanes;
    // As many cells in each line as in the first.
    for (const std::string* text : {&steps, &lanes}) {
        std::set<std::ptrdiff_t> cells;
        for (size_t from = 0; from < text->size(); from = text->find("\r\n", from) + 2)
            cells.insert(std::count(text->begin() + static_cast<std::ptrdiff_t>(from),
                                    text->begin() + static_cast<std::ptrdiff_t>(text->find("\r\n", from)),
                                    ','));
        EXPECT_EQ(cells.size(), 1u) << *text;
    }
    const std::string json = exported(made, [](const auto& recording, const report::Take& take) {
        report::write_trace_json(recording, {}, false, take);
    });
    EXPECT_NE(json.find(R"("exchange":"match_any")"), std::string::npos) << json;
    EXPECT_NE(json.find(R"("yes":1048575)"), std::string::npos);
    EXPECT_NE(json.find(R"("from":[4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,null)"),
              std::string::npos);
    const std::string events = exported(made, [](const auto& recording, const report::Take& take) {
        report::write_perfetto(recording, {}, take);
    });
    EXPECT_NE(events.find(R"("name":"reduce","cat":"exchange")"), std::string::npos) << events;
}

}  // namespace
}  // namespace tilescope::app
