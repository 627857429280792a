// Faults on the Step screen: the faulty kernels' cells are marked and said, sound kernels have none.
#include <cmath>
#include <map>
#include <random>

#include <fmt/format.h>

#include "app/input/overlays.h"
#include "app/look/faults.h"
#include "app/step/model.h"
#include "core/base/contents.h"
#include "kernels/textbook/shipped.h"
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

// What every shared load found, by a walk in the recorded order that knows nothing of the search: a cell
// holds what its last store put there, and that is the element that the lane loaded before, or a zero.
struct Walk {
    struct Stored {
        uint32_t step = 0, thread = 0, phase = 0;
        double value = 0;
    };
    struct Found {
        uint32_t phase = 0;
        double value = NAN;  // of nothing
        bool any = false;
        Stored from;
    };
    using Cell = std::pair<uint8_t, uint64_t>;
    std::map<Cell, std::vector<Stored>> stores;
    std::map<std::pair<uint32_t, uint32_t>, Found> loads;  // (step, thread)
    std::map<Cell, std::vector<std::pair<uint32_t, uint32_t>>> loads_of;

    double of_phase(const Cell& cell, uint32_t phase) const {
        for (const Stored& one : stores.at(cell))
            if (one.phase == phase) return one.value;
        ADD_FAILURE() << "nothing was stored in phase " << phase;
        return NAN;
    }
};

// closes: the barrier that is there closes a phase; else it stands between its stores and its loads.
Walk walk(const trace::Trace& trace, uint32_t block, bool closes) {
    Walk walk;
    std::map<Walk::Cell, Walk::Stored> memory;
    std::map<std::pair<uint32_t, uint32_t>, double> loaded;  // (thread, line), until it is stored
    std::vector<uint32_t> barriers(32, 0);
    for (uint32_t step = 0; step < trace.blocks[block].count; ++step) {
        const trace::Access access = trace::decode(trace, trace.blocks[block].first + step);
        const ptx::Site& site = trace.sites[access.site];
        uint32_t& passed = barriers[access.warp];
        if (site.kind == ptx::SiteKind::Barrier) {
            ++passed;
            continue;
        }
        const Array& array = trace.launch.arrays[access.array];
        const bool store = site.kind == ptx::SiteKind::Store;
        for_lanes(access.mask, [&](uint32_t lane) {
            const uint32_t thread = access.warp * kWarpSize + lane;
            const uint64_t element = access.offset[lane] / 4;
            const Walk::Cell cell{access.array, element};
            if (array.space == Space::Global) {
                if (!store) loaded[{thread, site.line}] = number_of(initial_value(array, element));
                return;
            }
            if (store) {  // what the line loaded, or the zero fill
                const auto found = loaded.find({thread, site.line});
                const double value = found == loaded.end() ? 0 : found->second;
                if (found != loaded.end()) loaded.erase(found);
                memory[cell] = {step, thread, passed, value};
                walk.stores[cell].push_back(memory[cell]);
                return;
            }
            Walk::Found found{closes ? passed : passed - 1, NAN, memory.contains(cell), {}};
            if (found.any) found.from = memory[cell], found.value = memory[cell].value;
            walk.loads[{step, thread}] = found;
            walk.loads_of[cell].emplace_back(step, thread);
        });
    }
    return walk;
}

// Every race of a block is told by a pair that the walk finds to be as it is said.
struct Seen {
    uint32_t overwritten = 0, early = 0, right = 0, equal = 0;
};
void expect_pairs_of_the_walk(const trace::Trace& trace, bool closes, Seen& seen) {
    using analysis::ReadOrder;
    for (uint32_t block = 0; block < trace.blocks.size(); ++block) {
        const Recorded made = replayed(trace, block);
        const BlockFaults faults = faults_of(made);
        const Walk twin = walk(trace, block, closes);
        const uint64_t first = trace.blocks[block].first;
        for (const analysis::FaultyCell& cell : faults.found.cells) {
            const analysis::HazardExample& e = cell.example;
            ASSERT_EQ(cell.kind, analysis::HazardKind::Race);
            if (trace.sites[e.b.site].kind != ptx::SiteKind::Load) continue;
            const auto at = twin.loads.find({static_cast<uint32_t>(e.b.step - first), e.b.thread});
            ASSERT_NE(at, twin.loads.end());
            const Walk::Found& load = at->second;
            const Walk::Cell where{e.array, e.element};
            const double should = twin.of_phase(where, load.phase);
            EXPECT_EQ(e.read.stored, load.any);
            if (load.any) {
                EXPECT_EQ(number_of(e.read.value), load.value);
                EXPECT_EQ(e.read.phase, load.from.phase);
            }
            ASSERT_TRUE(e.read.known);
            if (!e.other.known) {  // nothing was stored before that another order could read
                EXPECT_EQ(e.order, ReadOrder::Right);
                EXPECT_EQ(number_of(e.read.value), should);
                EXPECT_EQ(twin.stores.at(where).front().step + first, e.a.step);
                continue;
            }
            const bool wrong = !load.any || load.from.phase != load.phase;
            EXPECT_EQ(analysis::reads_wrong(e), wrong);
            const std::string said = analysis::sentence_of(trace, cell.kind, e);
            EXPECT_EQ(said.find("by luck") == std::string::npos, wrong && e.read.value != e.other.value)
                << said;
            const auto told = [&](double value, uint32_t phase) {
                return fmt::format("phase {}'s {}", phase, value_text(value_of(static_cast<float>(value))));
            };
            if (e.order == ReadOrder::Overwritten) {
                EXPECT_EQ(load.from.step + first, e.a.step) << "a: the last store before the load";
                EXPECT_EQ(load.from.thread, e.a.thread);
                EXPECT_GT(load.from.phase, load.phase);
            }
            if (wrong) {
                EXPECT_EQ(number_of(e.other.value), should);
                EXPECT_EQ(cell.told_step + first, e.b.step);
                EXPECT_NE(said.find("instead of " + told(should, load.phase)), std::string::npos) << said;
                ++(e.order == ReadOrder::Early ? seen.early : seen.overwritten);
            } else {
                EXPECT_EQ(e.order, ReadOrder::Right);
                EXPECT_EQ(number_of(e.read.value), should);
                EXPECT_NE(said.find(told(should, load.phase)), std::string::npos) << said;
                ++seen.right;
            }
            seen.equal += wrong && e.read.value == e.other.value;
            // Of all loads of the cell in the interval: where one read a wrong value, one that did is told.
            bool differs = false, of_two_warps = false;
            for (const auto& load_at : twin.loads_of.at(where)) {
                const auto& [step, thread] = load_at;
                const Walk::Found& one = twin.loads.at(load_at);
                if (made.index->phases.interval[step] != e.interval || !one.any) continue;
                if (one.from.phase == one.phase || one.value == twin.of_phase(where, one.phase)) continue;
                differs = true;
                of_two_warps =
                    of_two_warps || (one.from.phase > one.phase && one.from.thread / 32 != thread / 32);
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
        SCOPED_TRACE(fmt::format("{} x {} x {}, T = {}, {}", shape.m, shape.k, shape.n, T, closes));
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
