// Faults on the Step screen: the faulty kernels' cells are marked and said, sound kernels have none.
#include <cmath>
#include <random>
#include <regex>

#include <fmt/format.h>

#include "app/input/overlays.h"
#include "app/look/faults.h"
#include "app/step/model.h"
#include "kernels/run/judged.h"
#include "kernels/textbook/shipped.h"
#include "tests/app_names.h"
#include "tests/twin/recording.h"
#include "tests/unit/keys.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {
namespace {

BlockFaults faults_of(const Recorded& made) { return block_faults(made, *made.index, made.replay.get()); }

TEST(Faults, SoundKernelsHaveNone) {
    for (const char* kernel : {"tiled", "untiled", "tiled_transposed", "tiled_padded"}) {
        const BlockFaults faults = faults_of(record(kernel, {10, 7, 9, 4}, 8));
        EXPECT_FALSE(faults.any()) << kernel;
        EXPECT_FALSE(next_fault(faults, 0)) << kernel;
    }
}

TEST(Faults, AStaleEdgeIsMarkedSaidAndMakesPWrong) {
    const Recorded made = record("tiled_stale_edge", {3, 3, 3, 2}, 0);
    const BlockFaults faults = faults_of(made);
    ASSERT_FALSE(faults.steps.empty());
    const auto step = next_fault(faults, 0);
    ASSERT_TRUE(step);
    EXPECT_NE(fault_caption(*made.trace, faults, *step), "");
    EXPECT_EQ(fault_caption(*made.trace, faults, 0), "");
    size_t marked = 0;
    for (const uint8_t shared : made.index->shared)
        marked += faulty_at(*made.trace, faults, shared, *step).size();
    EXPECT_GT(marked, 0u);
    // P[y,x] of block (0,0) is right but for a stale product in phase 1: all four are wrong.
    ASSERT_FALSE(faults.wrong.empty());
    for (const WrongElement& wrong : faults.wrong) {
        EXPECT_NE(number_of(wrong.stored), wrong.expected);
        EXPECT_LT(wrong.element % 3, 2u);
        EXPECT_LT(wrong.element / 3, 2u);
    }
}

TEST(Faults, NextAndPreviousWalkThroughAllOfThem) {
    const BlockFaults faults = faults_of(record("tiled_stale_edge", {10, 7, 9, 4}, 0));
    std::vector<uint32_t> forwards, backwards;
    if (!faults.steps.empty() && faults.steps[0] == 0) forwards.push_back(0);
    for (auto at = next_fault(faults, 0); at; at = next_fault(faults, *at)) forwards.push_back(*at);
    EXPECT_EQ(forwards, faults.steps);
    for (auto at = previous_fault(faults, UINT32_MAX); at; at = previous_fault(faults, *at))
        backwards.insert(backwards.begin(), *at);
    EXPECT_EQ(backwards, faults.steps);
}

TEST(Faults, KeysGoToThem) {
    const Recorded made = record("tiled_stale_edge", {3, 3, 3, 2}, 0);
    app::State state = state_of(made);
    ASSERT_TRUE(app::perform(state, "next_fault")) << "not looked for yet: nothing happens";
    EXPECT_EQ(state.session.cursor.step, 0u);
    state.session.faults = std::make_shared<const BlockFaults>(faults_of(made));
    app::perform(state, "next_fault");
    EXPECT_EQ(state.session.cursor.step, *next_fault(*state.session.faults, 0));
    for (int i = 0; i < 1000; ++i) app::perform(state, "next_fault");
    EXPECT_EQ(state.session.cursor.step, state.session.faults->steps.back());
    EXPECT_NE(state.session.message, "");
}

// Every race of a block is told by a pair that the walk finds to be as it is said.
struct Seen {
    uint32_t overwritten = 0, early = 0, right = 0, equal = 0;
};
void expect_pairs_of_the_walk(const trace::Trace& trace, bool closes, Seen& seen) {
    using analysis::ReadOrder;
    const twin::Recording f(std::make_shared<const trace::Trace>(trace));
    for (uint32_t block = 0; block < trace.blocks.size(); ++block) {
        const Recorded made = replayed(trace, block);
        const BlockFaults faults = faults_of(made);
        const auto accesses = twin::accesses_of(f, block);
        // closes: the barrier that is there closes a phase; else it stands between its stores and its loads.
        const auto phase_of = [&](const twin::CellAccess& one) {
            return one.store || closes ? one.interval : one.interval - 1;
        };
        const uint64_t first = trace.blocks[block].first;
        for (const analysis::FaultyCell& cell : faults.found.cells) {
            const analysis::HazardExample& e = cell.example;
            ASSERT_EQ(cell.kind, analysis::HazardKind::Race);
            if (trace.sites[e.b.site].kind != ptx::SiteKind::Load) continue;
            const twin::Accesses& of_cell = accesses.at({e.array, e.element});
            const auto is_load = [&](const twin::CellAccess& one) {
                return !one.store && one.step + first == e.b.step && one.thread == e.b.thread;
            };
            ASSERT_EQ(std::ranges::count_if(of_cell, is_load), 1);
            const twin::CellAccess& load = *std::ranges::find_if(of_cell, is_load);
            const auto from = twin::store_before(of_cell, load);
            const auto of_phase = [&](uint32_t phase) {
                const auto found = std::ranges::find_if(
                    of_cell, [&](const twin::CellAccess& one) { return one.store && one.interval == phase; });
                EXPECT_NE(found, of_cell.end()) << "nothing was stored in phase " << phase;
                return found == of_cell.end() ? NAN : found->value;
            };
            const double should = of_phase(phase_of(load));
            EXPECT_EQ(e.read.stored, from.has_value());
            if (from) {
                EXPECT_EQ(number_of(e.read.value), load.value);
                EXPECT_EQ(e.read.phase, phase_of(*from));
            }
            ASSERT_TRUE(e.read.known);
            if (!e.other.known) {  // nothing was stored before that another order could read
                EXPECT_EQ(e.order, ReadOrder::Right);
                EXPECT_EQ(number_of(e.read.value), should);
                EXPECT_EQ(std::ranges::find(of_cell, true, &twin::CellAccess::store)->step + first, e.a.step);
                continue;
            }
            const bool wrong = !from || phase_of(*from) != phase_of(load);
            EXPECT_EQ(analysis::reads_wrong(e), wrong);
            const std::string said = analysis::sentence_of(trace, cell.kind, e);
            EXPECT_EQ(said.find("by luck") == std::string::npos, wrong && e.read.value != e.other.value)
                << said;
            const auto told = [&](double value, uint32_t phase) {
                return fmt::format("phase {}'s {}", phase, value_text(value_of(static_cast<float>(value))));
            };
            if (e.order == ReadOrder::Overwritten) {
                ASSERT_TRUE(from);
                EXPECT_EQ(from->step + first, e.a.step) << "a: the last store before the load";
                EXPECT_EQ(from->thread, e.a.thread);
                EXPECT_GT(phase_of(*from), phase_of(load));
            }
            if (wrong) {
                EXPECT_EQ(number_of(e.other.value), should);
                EXPECT_EQ(cell.told_step + first, e.b.step);
                EXPECT_NE(said.find("instead of " + told(should, phase_of(load))), std::string::npos) << said;
                ++(e.order == ReadOrder::Early ? seen.early : seen.overwritten);
            } else {
                EXPECT_EQ(e.order, ReadOrder::Right);
                EXPECT_EQ(number_of(e.read.value), should);
                EXPECT_NE(said.find(told(should, phase_of(load))), std::string::npos) << said;
                ++seen.right;
            }
            seen.equal += wrong && e.read.value == e.other.value;
            // Of all loads of the cell in the interval: where one read a wrong value, one that did is told.
            bool differs = false, of_two_warps = false;
            for (const twin::CellAccess& one : of_cell) {
                if (one.store || made.index->phases.interval[one.step] != e.interval) continue;
                const auto read = twin::store_before(of_cell, one);
                if (!read || phase_of(*read) == phase_of(one) || one.value == of_phase(phase_of(one)))
                    continue;
                differs = true;
                of_two_warps =
                    of_two_warps || (phase_of(*read) > phase_of(one) && read->thread / 32 != one.thread / 32);
            }
            if (differs) EXPECT_TRUE(analysis::reads_wrong(e) && analysis::reads_other_value(e)) << said;
            if (of_two_warps) EXPECT_NE(e.a.thread / 32, e.b.thread / 32) << said;
        }
    }
}

TEST(Faults, RacesAreToldByPairsThatAWalkInRecordedOrderFinds) {
    std::mt19937 random(9);
    Seen seen;
    for (int launch = 0; launch < 24; ++launch) {
        const uint32_t T = kernels::kTiles[launch % 4];  // up to 16
        const auto size = [&] { return 1 + static_cast<uint32_t>(random() % (2 * T)); };
        const kernels::Shape shape{size(), T + 1 + static_cast<uint32_t>(random() % (2 * T)), size(), T};
        // One of the two barriers is left out: the one that closes a phase, or the other.
        const bool closes = launch % 3 == 2;
        auto plan = kernels::plan(closes ? "tiled" : "tiled_no_barrier", shape);
        ASSERT_TRUE(plan);
        if (closes) plan->ptx.replace(plan->ptx.find("bar.sync"), std::string("bar.sync \t0;").size(), "");
        kernels::RecordOptions options;
        options.timestamp = false;
        options.schedule = Schedule{static_cast<Schedule::Kind>(random() % 3), random()};
        const auto trace = kernels::record_cpu(*plan, options);
        ASSERT_TRUE(trace) << trace.error().message;
        SCOPED_TRACE(fmt::format("{} × {} × {}, T = {}, {}", shape.m, shape.k, shape.n, T, closes));
        expect_pairs_of_the_walk(*trace, closes, seen);
    }
    EXPECT_GT(seen.overwritten, 500u);
    EXPECT_GT(seen.early, 500u);
    EXPECT_GT(seen.right, 500u);
    EXPECT_GT(seen.equal, 10u);
}

// Question: what goes wrong without the second barrier? The key to the next fault goes to a load that reads a
// wrong value, and both values are said.
TEST(Faults, TheFirstFaultOfAMissingBarrierIsAWrongValue) {
    const Recorded made = record("tiled_no_barrier", {64, 64, 64, 16});
    const BlockFaults faults = faults_of(made);
    const auto step = next_fault(faults, 0);
    ASSERT_TRUE(step);
    EXPECT_EQ(kind_of(*made.trace, made.index->first + *step), StepKind::SharedLoad);
    const std::string said = fault_caption(*made.trace, faults, *step);
    EXPECT_TRUE(said.starts_with("Race: ")) << said;
    EXPECT_NE(said.find(" now reads phase 1's "), std::string::npos) << said;
    EXPECT_NE(said.find(" instead of phase 0's "), std::string::npos) << said;
}

// On Mds it is a race within a warp, on Nds one of two warps: the key leads to both, first to what the strip names.
TEST(Faults, TheKeyLeadsToTheFaultThatTheStripNames) {
    auto plan = kernels::plan("tiled_no_barrier", {32, 32, 32, 16});
    ASSERT_TRUE(plan);
    kernels::RecordOptions options;
    options.timestamp = false;
    options.schedule = Schedule{Schedule::Kind::Fair, 0};
    auto trace = kernels::record_cpu(*plan, options);
    ASSERT_TRUE(trace);
    const Recorded made = replayed(std::move(*trace));
    const BlockFaults faults = faults_of(made);
    ASSERT_TRUE(faults.all_right) << "else the loads that went wrong are told";
    const look::SaidFaults said = look::said_faults(*made.trace, kernels::judged(made));
    ASSERT_TRUE(said.placed);
    EXPECT_EQ(said.block, 0u);
    const auto step = next_fault(faults, 0);
    ASSERT_TRUE(step);
    EXPECT_EQ(*step, said.step);
    for (const analysis::SaidFault& one : said.said) {
        // The window writes a true minus, reports one of ASCII.
        const std::string sentence = std::regex_replace(analysis::sentence_of(*made.trace, one, {}),
                                                        std::regex(" -(\\d)"), " \u2212$1");
        EXPECT_TRUE(std::ranges::any_of(faults.steps, [&](uint32_t at) {
            return fault_caption(*made.trace, faults, at).find(sentence) != std::string::npos;
        })) << sentence;
    }
    EXPECT_EQ(said.said.size(), 2u);
}

// The same kernel on a GPU had a right result: no load is said to have gone wrong.
TEST(Faults, ARightResultOfARaceIsSaidToBeLuck) {
    const auto* shipped = kernels::find_shipped_recording("tiled_no_barrier-64x64x64-t16");
    ASSERT_NE(shipped, nullptr);
    auto trace = kernels::open_shipped(*shipped);
    ASSERT_TRUE(trace && trace->meta.result.verified);
    const Recorded made = replayed(std::move(*trace));
    const BlockFaults faults = faults_of(made);
    const auto step = next_fault(faults, 0);
    ASSERT_TRUE(step);
    const std::string said = fault_caption(*made.trace, faults, *step);
    EXPECT_TRUE(said.starts_with("Race, no value wrong in this block: ")) << said;
    EXPECT_NE(said.find("right by luck"), std::string::npos) << said;
}

}  // namespace
}  // namespace tilescope::app
