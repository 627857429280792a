// The schedule of an SM: placed by hand, and clock by clock against a slow twin.
#include <map>
#include <random>
#include <set>

#include "app/look/schedule.h"
#include "app/look/timeline.h"
#include "kernels/textbook/shipped.h"
#include "tests/clocked.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

using look::SmSchedule, look::SmTimes, look::ScheduleView;

uint64_t clocks_of(const trace::Trace& trace, uint32_t block) {
    const trace::Block& one = trace.blocks[block];
    return uint64_t{trace.time[one.first + one.count - 1]} - trace.time[one.first] + 1;
}

// Four blocks of two warps: three on SM 5, of which two overlap, one on SM 9.
trace::Trace four_blocks(uint64_t third_after) {
    trace::Trace trace = trace::with_clocks(kernels::recorded("tiled", {16, 16, 16, 8}));
    const auto place = [&](uint32_t block, uint32_t sm, uint64_t clock) {
        trace.blocks[block].sm = sm, trace.blocks[block].clock = clock;
    };
    place(0, 5, 1000), place(1, 5, 1100), place(3, 9, 50);
    place(2, 5, std::max(1000 + clocks_of(trace, 0), 1100 + clocks_of(trace, 1)) + third_after);
    return trace;
}

// What a warp is at a clock, told step by step.
struct Now {
    bool there = false, behind_load = false, at_barrier = false;
};
Now now_of(const trace::Trace& trace, const BlockIndex& index, uint32_t warp, uint64_t clock) {
    Now now;
    const std::vector<uint32_t>& steps = index.steps_of_warp[warp];
    if (steps.empty()) return now;
    const auto at = [&](uint32_t step) { return trace.time[index.first + step]; };
    uint64_t until = at(steps.back()) + 1;
    for (const BarrierTimes& barrier : index.barriers)
        for (const BarrierTimes::WarpArrival& arrival : barrier.arrivals) {
            if (arrival.warp != warp) continue;
            until = std::max<uint64_t>(until, barrier.opens);
            now.at_barrier = now.at_barrier || (arrival.clock <= clock && clock < barrier.opens);
        }
    now.there = at(steps.front()) <= clock && clock < until;
    for (size_t i = 0; i + 1 < steps.size(); ++i)
        now.behind_load =
            now.behind_load || (kind_of(trace, index.first + steps[i]) == StepKind::GlobalLoad &&
                                at(steps[i]) <= clock && clock < at(steps[i + 1]));
    return now;
}

std::map<uint32_t, std::shared_ptr<const BlockIndex>> indexes(const trace::Trace& trace,
                                                              const SmSchedule& schedule) {
    std::map<uint32_t, std::shared_ptr<const BlockIndex>> made;
    const auto rule = analysis::phase_rule(trace);
    EXPECT_TRUE(rule);
    for (const SmSchedule::Resident& one : schedule.blocks)
        made[one.block] = index_block(trace, *rule, one.block);
    return made;
}

void expect_like_twin(const trace::Trace& trace, const SmSchedule& schedule, uint64_t first, uint64_t end,
                      uint32_t columns) {
    const auto index = indexes(trace, schedule);
    const ScheduleView view = schedule_view(trace, schedule, first, end, columns);
    ASSERT_EQ(view.levels.size(), std::min<uint64_t>(columns, end - first));
    const uint64_t count = view.levels.size();
    for (uint64_t column = 0; column < count; ++column) {
        const auto begin = [&](uint64_t of) { return first + ((end - first) * of + count - 1) / count; };
        ScheduleView::Level sum;
        for (uint64_t at = begin(column); at < begin(column + 1); ++at)
            for (const SmSchedule::Resident& one : schedule.blocks) {
                if (at < one.at) continue;
                for (uint32_t warp = 0; warp < one.warps; ++warp) {
                    const Now now = now_of(trace, *index.at(one.block), warp, at - one.at);
                    sum.there += now.there, sum.behind_load += now.behind_load,
                        sum.at_barrier += now.at_barrier;
                }
            }
        const auto wide = static_cast<double>(begin(column + 1) - begin(column));
        ASSERT_NEAR(view.levels[column].there, sum.there / wide, 1e-9) << column;
        ASSERT_NEAR(view.levels[column].behind_load, sum.behind_load / wide, 1e-9) << column;
        ASSERT_NEAR(view.levels[column].at_barrier, sum.at_barrier / wide, 1e-9) << column;
    }
    if (count != end - first) return;
    // A column a clock: every step of a warp that has the clock for itself is a mark, and every mark a step.
    for (size_t at = 0; at < schedule.blocks.size(); ++at) {
        const SmSchedule::Resident& one = schedule.blocks[at];
        std::vector<std::map<uint64_t, std::set<StepKind>>> steps(one.warps);
        const trace::Block& block = trace.blocks[one.block];
        for (uint64_t step = block.first; step < block.first + block.count; ++step)
            steps[trace.warp_of(step)][one.at + trace.time[step]].insert(kind_of(trace, step));
        for (uint32_t warp = 0; warp < one.warps; ++warp) {
            std::map<uint64_t, StepKind> drawn;
            for (const TimelineMark& mark : view.rows.warps[view.first_row[at] + warp])
                for (uint32_t column = mark.first; column < mark.end; ++column)
                    drawn[first + column] = mark.kind;
            size_t inside = 0;
            for (const auto& [clock, kinds] : steps[warp]) {
                if (clock < first || clock >= end) continue;
                ++inside;
                ASSERT_TRUE(drawn.contains(clock));
                EXPECT_EQ(drawn[clock], *std::ranges::max_element(
                                            kinds, {}, [](StepKind kind) { return row_of(kind).loudness; }));
            }
            EXPECT_EQ(drawn.size(), inside);
        }
    }
}

TEST(Schedule, PlacesTheBlocksOfAnSmOnItsClock) {
    const trace::Trace trace = four_blocks(40);
    EXPECT_EQ(look::sms_with_blocks(trace), (std::vector<uint32_t>{5, 9}));
    const SmSchedule made = look::sm_schedule(trace, 5);
    ASSERT_EQ(made.blocks.size(), 3u);
    EXPECT_EQ(made.slots, 2u) << "two overlap, and the third follows both";
    EXPECT_EQ(made.warps, 6u);
    EXPECT_EQ(made.blocks[0].at, 0u);
    EXPECT_EQ(made.blocks[1].at, 100u);
    EXPECT_EQ(made.blocks[2].at, trace.blocks[2].clock - 1000);
    EXPECT_EQ(made.blocks[0].slot, 0u);
    EXPECT_EQ(made.blocks[1].slot, 1u);
    EXPECT_EQ(made.blocks[2].slot, 0u);
    EXPECT_TRUE(made.cuts.empty());
    EXPECT_EQ(made.clocks, made.blocks[2].at + clocks_of(trace, 2));
    EXPECT_EQ(look::sm_schedule(trace, 9).blocks.size(), 1u);
    EXPECT_TRUE(look::sm_schedule(trace, 6).blocks.empty());
}

TEST(Schedule, LeavesOutALongTimeWithoutABlock) {
    const trace::Trace trace = four_blocks(1'000'000'000);
    const SmSchedule made = look::sm_schedule(trace, 5), close = look::sm_schedule(four_blocks(40), 5);
    ASSERT_EQ(made.cuts.size(), 1u);
    EXPECT_EQ(made.blocks[2].at + made.cuts[0].clocks, trace.blocks[2].clock - 1000) << "none is lost";
    EXPECT_LT(made.clocks, close.clocks + close.clocks / 10);
    EXPECT_GT(made.cuts[0].at, made.blocks[1].at + made.blocks[1].clocks);
    EXPECT_LT(made.cuts[0].at, made.blocks[2].at);
    // Nobody could ask in it, so it is no gap.
    EXPECT_LT(look::sm_times(trace, made).gap, 2000u);
}

TEST(Schedule, SaysWhatItDoesNotHold) {
    trace::Trace trace = four_blocks(40);
    const SmSchedule few = look::sm_schedule(trace, 5, 1);
    EXPECT_EQ(few.blocks.size(), 1u);
    EXPECT_EQ(few.beyond, 2u);
    const trace::Block& block = trace.blocks[1];
    std::swap(trace.time[block.first], trace.time[block.first + block.count - 1]);
    EXPECT_EQ(look::sm_schedule(trace, 5).backwards, 1u);
    EXPECT_EQ(look::sm_schedule(trace, 5).blocks.size(), 2u);
    trace.meta.backend = trace::Backend::Cpu;
    EXPECT_TRUE(look::sms_with_blocks(trace).empty());
    EXPECT_EQ(look::sm_schedule(trace, 5).clocks, 0u);
}

TEST(Schedule, ShowsEachClockAsTheStepsTell) {
    const trace::Trace trace = four_blocks(40);
    const SmSchedule made = look::sm_schedule(trace, 5);
    expect_like_twin(trace, made, 0, made.clocks, static_cast<uint32_t>(made.clocks));
    std::mt19937 random(4);
    for (int round = 0; round < 6; ++round) {
        const uint64_t first = random() % made.clocks;
        expect_like_twin(trace, made, first, first + 1 + random() % (made.clocks - first),
                         1 + static_cast<uint32_t>(random()) % 90);
    }
}

// Of a recording that an H200 made: the sums of all clocks, of a block's barriers, and of its longest gap.
TEST(Schedule, OfARecordingFromAGpuAgreesWithItsBlocks) {
    for (const char* name : {"tiled-64x64x64-t16", "tiled-100x70x130-t16", "untiled-64x64x64-t16"}) {
        const kernels::ShippedRecording* const shipped = kernels::find_shipped_recording(name);
        ASSERT_NE(shipped, nullptr);
        const auto trace = kernels::open_shipped(*shipped);
        ASSERT_TRUE(trace);
        const std::vector<uint32_t> sms = look::sms_with_blocks(*trace);
        ASSERT_FALSE(sms.empty());
        size_t blocks = 0;
        for (const uint32_t sm : sms) {
            const SmSchedule made = look::sm_schedule(*trace, sm);
            blocks += made.blocks.size();
            const SmTimes times = look::sm_times(*trace, made);
            uint64_t held = 0, gap = 0, behind = 0, all = 0;
            for (const auto& one : indexes(*trace, made)) {
                const auto& index = one.second;
                for (const BarrierTimes& barrier : index->barriers)
                    for (const auto& arrival : barrier.arrivals) held += barrier.opens - arrival.clock;
                const auto at = [&](uint32_t step) { return trace->time[index->first + step]; };
                for (uint32_t step = 0; step + 1 < index->steps && made.blocks.size() == 1; ++step)
                    gap = std::max<uint64_t>(gap, at(step + 1) - at(step));
                for (const auto& steps : index->steps_of_warp)
                    for (size_t i = 0; i + 1 < steps.size(); ++i) {
                        const uint64_t clocks = at(steps[i + 1]) - at(steps[i]);
                        all += clocks;
                        if (kind_of(*trace, index->first + steps[i]) == StepKind::GlobalLoad)
                            behind += clocks;
                    }
            }
            EXPECT_EQ(times.at_barrier, held) << name << " SM " << sm;
            EXPECT_EQ(times.behind_load, behind) << name << " SM " << sm;
            EXPECT_EQ(times.warps, all) << name << " SM " << sm;
            if (made.blocks.size() == 1) EXPECT_EQ(times.gap, gap) << name << " SM " << sm;
        }
        EXPECT_EQ(blocks, trace->blocks.size());
        const SmSchedule first = look::sm_schedule(*trace, sms[0]);
        expect_like_twin(*trace, first, 0, first.clocks, 40);
    }
}

}  // namespace
}  // namespace tilescope::app
