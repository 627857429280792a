// The block's real time: barriers, waits and columns, against closed forms and slow twins.
#include <optional>
#include <random>

#include "app/look/timeline.h"
#include "tests/clocked.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

Recorded clocked(const char* kernel, kernels::Shape shape, uint32_t block = 0) {
    Recorded made = record(kernel, shape, block);
    made.trace = std::make_shared<const trace::Trace>(trace::with_clocks(*made.trace));
    made.index = index_block(made, block);
    made.replay = nullptr;
    return made;
}

// The clocks of the recording's own steps as given, in their order.
Recorded with_times(const Recorded& of, trace::Column times) {
    trace::Trace trace = *of.trace;
    trace.time = std::move(times);
    Recorded made = of;
    made.replay = nullptr;
    made.trace = std::make_shared<const trace::Trace>(std::move(trace));
    made.index = index_block(made, 0);
    return made;
}

// Two warps of 8 x 8 threads (T = 8), one phase: every number by hand.
class TwoWarps : public testing::Test {
protected:
    Recorded made = record("tiled", {8, 8, 8, 8});

    // Clocks 0, 10, 20, ... but that the steps of warp 1 from its first barrier on come `late` clocks later.
    Recorded late_by(uint32_t late) {
        trace::Column times;
        uint32_t clock = 0;
        bool second = false;
        for (uint32_t step = 0; step < made.index->steps; ++step) {
            const bool barrier = kind_of(*made.trace, step) == StepKind::Barrier;
            if (barrier && made.trace->warp_of(step) == 1 && !second) {
                clock += late;
                second = true;
            }
            times.push_back(clock);
            clock += 10;
        }
        return with_times(made, std::move(times));
    }
};

TEST_F(TwoWarps, TheFirstWaitsForTheLast) {
    for (const uint32_t late : {0u, 402u, 70'000u}) {
        const Recorded timed = late_by(late);
        ASSERT_TRUE(timed.index->clocked);
        ASSERT_EQ(timed.index->barriers.size(), 2u) << "one before and one behind the multiplication";
        const BarrierTimes& barrier = timed.index->barriers[0];
        ASSERT_EQ(barrier.arrivals.size(), 2u);
        EXPECT_EQ(barrier.last_warp, 1u);
        EXPECT_EQ(barrier.opens, barrier.last);
        EXPECT_EQ(barrier.skew(), late + 10) << "one arrives right behind the other, and later by so much";
        const uint32_t step = barrier.arrivals[0].step;
        EXPECT_EQ(barrier_of_step(*timed.index, step), &barrier);
        EXPECT_EQ(barrier_of_step(*timed.index, 0), nullptr);
        EXPECT_EQ(step_at_clock(*timed.trace, *timed.index, barrier.last), barrier.arrivals[1].step);
        EXPECT_EQ(step_at_clock(*timed.trace, *timed.index, barrier.last - 0.5),
                  barrier.arrivals[1].step - 1);
    }
}

TEST_F(TwoWarps, IsSaidInWords) {
    const Recorded timed = late_by(402);
    const BarrierTimes& barrier = timed.index->barriers[0];
    EXPECT_EQ(wait_words(*timed.trace, barrier, 0),
              "Warp 0 waited 412 clocks here; the warps came 412 clocks apart, warp 1 last.");
    EXPECT_EQ(wait_words(*timed.trace, barrier, 1),
              "Warp 1 did not wait here; the warps came 412 clocks apart, warp 1 last.");
    trace::Trace rated = *timed.trace;
    rated.meta.price.clock_mhz = 1980;
    EXPECT_EQ(wait_words(rated, barrier, 0),
              "Warp 0 waited 412 clocks (0.21 µs) here; the warps came 412 clocks apart, warp 1 last.");
    EXPECT_EQ(microseconds(rated.meta, 1980 * 12.34), "12.3 µs");
    EXPECT_EQ(microseconds(rated.meta, 1980 * 1234.0), "1.23 ms");
    EXPECT_EQ(microseconds(rated.meta, 8), "4 ns");
    EXPECT_EQ(microseconds(rated.meta, 198), "0.10 µs");
    EXPECT_EQ(microseconds(timed.trace->meta, 100), "");
}

TEST_F(TwoWarps, AWarpThatExitsHoldsTheOthersUpUntilItsLastRequest) {
    // Warp 1 makes its requests and never comes to a barrier.
    trace::Trace trace = *made.trace;
    trace::Trace cut = trace;
    cut.base.clear(), cut.key.clear();
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        if (trace.warp_of(step) == 1 && kind_of(trace, step) == StepKind::Barrier) continue;
        cut.base.push_back(trace.base[step]), cut.key.push_back(trace.key[step]);
    }
    cut.blocks[0].count = cut.key.size();
    uint32_t last = 0;
    for (uint64_t step = 0; step < cut.steps(); ++step) {
        cut.time.push_back(static_cast<uint32_t>(step) * 3);
        if (cut.warp_of(step) == 1) last = cut.time.back();
    }
    const auto index = index_block(cut, made.rule, 0);
    ASSERT_FALSE(index->barriers.empty());
    for (const BarrierTimes& barrier : index->barriers)
        EXPECT_EQ(barrier.opens, std::max(barrier.last, last));
    EXPECT_GT(last, index->barriers[0].last) << "or this test shows nothing";
}

TEST(Clocks, AreThoseOfARecordingThatHasThemInOrder) {
    const Recorded made = record("tiled", {16, 16, 16, 8});
    EXPECT_FALSE(made.index->clocked);
    EXPECT_TRUE(made.index->barriers.empty());
    trace::Column times(made.trace->steps(), 7);
    EXPECT_TRUE(with_times(made, times).index->clocked) << "all at once is an order";
    times[3] = 6;
    EXPECT_FALSE(with_times(made, times).index->clocked) << "a clock that runs backwards";
    times.pop_back();
    EXPECT_FALSE(with_times(made, times).index->clocked) << "one clock is missing";
    EXPECT_TRUE(clock_timeline(*made.trace, *made.index, 0, 100, 10).phases.empty());
}

TEST(Clocks, ThatAWarpStandsAtABarrierAre) {
    const Recorded made = clocked("tiled", {32, 32, 32, 16});
    for (const BarrierTimes& barrier : made.index->barriers) {
        for (const BarrierTimes::WarpArrival& arrival : barrier.arrivals) {
            if (arrival.clock == barrier.opens) continue;
            EXPECT_EQ(barrier_at(*made.index, arrival.warp, arrival.clock), &barrier);
            EXPECT_EQ(barrier_at(*made.index, arrival.warp, barrier.opens - 1), &barrier);
            EXPECT_NE(barrier_at(*made.index, arrival.warp, barrier.opens), &barrier);
            EXPECT_EQ(barrier_at(*made.index, arrival.warp, arrival.clock - 1), nullptr);
        }
    }
    EXPECT_EQ(barrier_at(*made.index, 0, UINT32_MAX), nullptr);
    EXPECT_EQ(block_time(*made.trace, *made.index),
              counted(last_clock(*made.trace, *made.index) + 1, "clock") + " of SM 17, about " +
                  microseconds(made.trace->meta, last_clock(*made.trace, *made.index) + 1) + " at 1,980 MHz");
}

// The kind that a column shows, by looking at every step: nothing where no step lies in it.
std::optional<StepKind> slow_kind(const Recorded& made, uint32_t warp, uint32_t first, uint32_t end) {
    constexpr StepKind kLoudest[] = {StepKind::GlobalStore, StepKind::SharedStore, StepKind::GlobalLoad,
                                     StepKind::SharedLoad, StepKind::Barrier};
    for (const StepKind kind : kLoudest) {
        for (uint32_t step = 0; step < made.index->steps; ++step) {
            const uint64_t at = made.index->first + step;
            if (made.trace->warp_of(at) == warp && made.trace->time[at] >= first &&
                made.trace->time[at] < end && kind_of(*made.trace, at) == kind)
                return kind;
        }
    }
    return std::nullopt;
}

// Clocks of [first, end) that a warp stands at barriers, one by one.
uint32_t slow_wait(const Recorded& made, uint32_t warp, uint32_t first, uint32_t end) {
    uint32_t clocks = 0;
    for (uint32_t clock = first; clock < end; ++clock) {
        bool waits = false;
        for (const auto& arrivals : made.index->arrivals) {
            uint32_t own = UINT32_MAX, last = 0;
            for (const uint32_t step : arrivals) {
                const uint64_t at = made.index->first + step;
                last = std::max(last, made.trace->time[at]);
                if (made.trace->warp_of(at) == warp) own = made.trace->time[at];
            }
            waits |= own <= clock && clock < last;
        }
        clocks += waits ? 1 : 0;
    }
    return clocks;
}

void expect_columns(const Recorded& made, uint32_t first, uint32_t end, uint32_t columns) {
    const TimelineView view = clock_timeline(*made.trace, *made.index, first, end, columns);
    ASSERT_GT(view.end, view.first);
    const uint64_t shown = view.end - view.first, count = std::min<uint64_t>(columns, shown);
    for (uint32_t warp = 0; warp < view.warps.size(); ++warp) {
        for (uint64_t column = 0; column < count; ++column) {
            // The clocks c with floor((c - first) * count / shown) == column.
            uint32_t from = view.first + static_cast<uint32_t>(shown * column / count);
            while ((from - view.first) * count / shown < column) ++from;
            uint32_t to = from;
            while (to < view.end && (to - view.first) * count / shown == column) ++to;
            std::optional<StepKind> kind;
            for (const TimelineMark& mark : view.warps[warp]) {
                if (mark.first < to && mark.end > from) {
                    EXPECT_LE(mark.first, from) << "whole columns only";
                    EXPECT_GE(mark.end, to) << "whole columns only";
                    kind = mark.kind;
                }
            }
            EXPECT_EQ(kind, slow_kind(made, warp, from, to)) << "warp " << warp << " column " << column;
            bool waits = false;
            for (const TimelineMark& wait : view.waits[warp]) waits |= wait.first < to && wait.end > from;
            const uint32_t waited = slow_wait(made, warp, from, to);
            EXPECT_EQ(waits, waited > 0 && waited * 2 >= to - from)
                << "warp " << warp << " column " << column;
        }
    }
}

TEST(ClockTimeline, EqualsItsSlowTwinOnRandomTimes) {
    const Recorded plain = record("tiled", {8, 16, 8, 8});
    std::mt19937 random(7);
    for (int round = 0; round < 12; ++round) {
        trace::Column times;
        uint32_t clock = static_cast<uint32_t>(random() % 5);
        for (uint32_t step = 0; step < plain.index->steps; ++step) {
            times.push_back(clock);
            clock += static_cast<uint32_t>(random() % 3 == 0 ? random() % 40 : random() % 3);
        }
        const Recorded made = with_times(plain, std::move(times));
        const uint32_t end = last_clock(*made.trace, *made.index) + 1;
        expect_columns(made, 0, end, 1 + static_cast<uint32_t>(random() % 90));
        const uint32_t first = static_cast<uint32_t>(random() % end);
        expect_columns(made, first, first + 1 + static_cast<uint32_t>(random() % 200), 50);
    }
}

// What a click on a warp's bar takes: of each warp its last step until then.
TEST(Timeline, ARowShowsItsWarpsLastStep) {
    const Recorded made = clocked("tiled", {32, 32, 32, 16});
    std::vector<std::optional<uint32_t>> last(made.index->warps);
    for (uint32_t step = 0; step < made.index->steps; ++step) {
        last[made.trace->warp_of(made.index->first + step)] = step;
        for (uint32_t warp = 0; warp < made.index->warps; ++warp)
            ASSERT_EQ(look::step_of_warp(*made.index, warp, step), last[warp]) << step << " of " << warp;
    }
    EXPECT_EQ(look::step_of_warp(*made.index, made.index->warps, 5), std::nullopt);
}

TEST(ClockTimeline, HasEveryClockWhereThereIsRoom) {
    const Recorded made = clocked("tiled", {32, 32, 32, 16});
    const uint32_t end = last_clock(*made.trace, *made.index) + 1;
    const TimelineView view = clock_timeline(*made.trace, *made.index, 0, UINT32_MAX, 1u << 20);
    EXPECT_EQ(view.axis, TimeAxis::Clocks);
    EXPECT_EQ(view.end, end);
    uint64_t waited = 0, expected = 0;
    for (const auto& waits : view.waits)
        for (const TimelineMark& wait : waits) waited += wait.end - wait.first;
    for (const BarrierTimes& barrier : made.index->barriers)
        for (const auto& arrival : barrier.arrivals) expected += barrier.opens - arrival.clock;
    EXPECT_EQ(waited, expected) << "each clock of each wait is a column";
    ASSERT_EQ(view.phases.size(), 3u);
    EXPECT_EQ(view.phases.front().first, 0u);
    EXPECT_EQ(view.phases.back().end, end);
    for (size_t i = 1; i < view.phases.size(); ++i) EXPECT_EQ(view.phases[i].first, view.phases[i - 1].end);
    EXPECT_EQ(view.barriers.size(), 4u);
}

TEST(ClockTimeline, DrawsNoMoreThanTheScreenHasRoomFor) {
    const Recorded made = clocked("tiled", {32, 1024, 32, 32});
    ASSERT_GT(made.index->steps, 70'000u);
    const TimelineView view = clock_timeline(*made.trace, *made.index, 0, UINT32_MAX, 900);
    for (const auto& marks : view.warps) EXPECT_LE(marks.size(), 900u);
    for (const auto& waits : view.waits) EXPECT_LE(waits.size(), 900u);
}

TEST(ClockTimeline, ZoomsAboutAPositionAndOutToAllOfIt) {
    const ClockWindow half = zoomed({}, 10'000, 0.25, 2);
    EXPECT_EQ(half, (ClockWindow{1250, 6250})) << "clock 2,500 stays a quarter along";
    EXPECT_EQ(zoomed(half, 10'000, 0.25, 0.5), ClockWindow{}) << "and back";
    EXPECT_EQ(zoomed({}, 10'000, 0, 2), (ClockWindow{0, 5000}));
    EXPECT_EQ(zoomed({}, 10'000, 1, 2), (ClockWindow{5000, 10'000}));
    ClockWindow close;
    for (int i = 0; i < 40; ++i) close = zoomed(close, 10'000, 0.5, 2);
    EXPECT_EQ(close.end - close.first, 64);
    EXPECT_TRUE(zoomed({}, 50, 0.5, 2).whole()) << "a block that short is always whole";
    EXPECT_EQ(zoomed({9000, 9900}, 10'000, 0, 0.5), (ClockWindow{8200, 10'000})) << "not beyond the end";
}

TEST(ClockTimeline, FollowsTheCursor) {
    EXPECT_TRUE(following({}, 10'000, 9999).whole());
    EXPECT_EQ(following({1000, 2000}, 10'000, 1999), (ClockWindow{1000, 2000}));
    EXPECT_EQ(following({1000, 2000}, 10'000, 2000), (ClockWindow{1900, 2900}));
    EXPECT_EQ(following({1000, 2000}, 10'000, 9990), (ClockWindow{9000, 10'000}));
    EXPECT_EQ(following({1000, 2000}, 10'000, 20), (ClockWindow{0, 1000}));
}

TEST(ClockTimeline, TicksAreRoundNumbers) {
    EXPECT_EQ(ticks(0, 10, 10), (std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
    EXPECT_EQ(ticks(0, 10'001, 6), (std::vector<uint32_t>{0, 2000, 4000, 6000, 8000, 10000}));
    EXPECT_EQ(ticks(900, 2100, 4), (std::vector<uint32_t>{1000, 1500, 2000}));
    EXPECT_EQ(ticks(0, UINT32_MAX, 3), (std::vector<uint32_t>{0, 2'000'000'000, 4'000'000'000}));
    EXPECT_TRUE(ticks(5, 5, 4).empty());
    EXPECT_TRUE(ticks(0, 10, 0).empty());
}

}  // namespace
}  // namespace tilescope::app
