// Two recordings on one playhead: closed forms of what they cost, and where B stands while A is walked.
#include <algorithm>
#include <random>

#include <fmt/format.h>

#include "app/compare/state.h"
#include "app/look/pick.h"
#include "tests/app_names.h"
#include "tests/loads.h"
#include "tests/unit/view_walked.h"

namespace tilescope::app {
namespace {

Counters counters_at_end(const Walked& a, const Walked& b) {
    return counters(Lock::Phase, a.compared(), *a.made.index, a.made.index->steps - 1, b.compared(),
                    *b.made.index, b.made.index->steps - 1);
}

constexpr kernels::Shape kShape{64, 64, 64, 16};

// 16 blocks of 8 warps. Untiled: 64 trips of two loads a warp. A request's 32 lanes are 2 rows of 16: of M
// two elements in two sectors, of N 16 neighbours in two. Tiled: 4 phases of two loads, two rows of 16 each:
// 4 sectors.
TEST(Compare, TilesDivideTheLoadsByT) {
    const Walked a = walked("untiled", kShape), b = walked("tiled", kShape);
    const Counters made = counters_at_end(a, b);
    EXPECT_EQ(whole(made, "load requests"), (Count{16 * 8 * 64 * 2, 16 * 8 * 4 * 2}));
    EXPECT_EQ(whole(made, "load sectors"), (Count{16 * 8 * 64 * 4, 16 * 8 * 4 * 2 * 4}));
    EXPECT_EQ(whole(made, "bytes loaded"),
              (Count{uint64_t{64 * 64 * 64 * 2 * 4}, uint64_t{64 * 64 * 64 * 2 * 4 / 16}}));
    EXPECT_EQ(whole(made, "barrier arrivals"), (Count{0, 16 * 8 * 4 * 2}));
    EXPECT_EQ(ratio_text(whole(made, "load requests")), "0.0625");
    EXPECT_EQ(whole(made, "load sectors").ratio(), 0.125);
    EXPECT_EQ(ratio_text(whole(made, "barrier arrivals")), "") << "nothing to divide by";
    EXPECT_EQ(
        headline(a.compared(), b.compared()),
        "B, tiled T=16: 16 times fewer load requests and 8 times fewer load sectors than A in the whole "
        "run.");
    EXPECT_EQ(caveat(a.compared(), b.compared()), "");
}

TEST(Compare, WhereLoadsAreAlikeTheStoresTell) {
    const Walked a = walked("tiled", kShape);
    Walked b = walked("tiled", kShape);
    EXPECT_TRUE(
        headline(a.compared(), b.compared()).starts_with("The same requests in both in the whole run: "));
    b.side.before.back()[StepKind::GlobalStore].sectors *= 4;
    EXPECT_EQ(headline(a.compared(), b.compared()),
              "A, tiled T=16: 4 times fewer store sectors than B in the whole run.");
}

// Every element of M is loaded once by each of the n columns' threads, or by each of the n/T tiles'.
TEST(Compare, LoadsOfAnElementAreNOrNOverT) {
    const kernels::Shape shape{32, 48, 64, 16};
    for (const auto& [kernel, m_text, n_text] :
         {std::tuple{"untiled", "64 loads each = n", "32 loads each = m"},
          std::tuple{"tiled", "4 loads each = n/T", "2 loads each = m/T"}}) {
        const trace::Trace trace = kernels::recorded(kernel, shape);
        EXPECT_EQ(
            loads_label(trace, analysis::product_of(trace), 0, analysis::loads_per_element(trace, 0)).text(),
            m_text);
        EXPECT_EQ(
            loads_label(trace, analysis::product_of(trace), 1, analysis::loads_per_element(trace, 1)).text(),
            n_text);
    }
}

// Of a width that T does not divide the last tile is a part of one, and is loaded all the same.
TEST(Compare, LoadsOfAnElementAreRoundedUpWhereTDoesNotDivide) {
    for (const kernels::Shape shape : {kernels::Shape{33, 40, 70, 16}, {20, 7, 9, 8}, {5, 5, 6, 4}}) {
        const trace::Trace trace = kernels::recorded("tiled", shape);
        for (const auto& [array, width, name] :
             {std::tuple{uint8_t{0}, shape.n, 'n'}, std::tuple{uint8_t{1}, shape.m, 'm'}}) {
            const std::vector<uint32_t> loads = analysis::loads_per_element(trace, array);
            const uint32_t tiles = (width + shape.tile - 1) / shape.tile;
            EXPECT_EQ(loads, std::vector<uint32_t>(loads.size(), tiles));
            EXPECT_EQ(loads_label(trace, analysis::product_of(trace), array, loads).text(),
                      fmt::format("{} loads each = {}/T rounded up", tiles, name));
        }
    }
}

// Nobody does better by having less to do.
TEST(Compare, DifferentWorkIsNotCalledBetter) {
    const Walked a = walked("tiled", {16, 16, 16, 8}), b = walked("tiled", {32, 16, 32, 16});
    EXPECT_EQ(headline(a.compared(), b.compared()),
              "Different work. For each multiplication B loads 2 × fewer elements than A in the whole run.");
    for (const CounterRow& row : counters_at_end(a, b).rows) EXPECT_FALSE(row.merit) << row.what;
    EXPECT_FALSE(counters_at_end(a, b).products);
    EXPECT_EQ(speed_text(a.compared(), b.compared(), kernels::shipped_timings(), kernels::shipped_counters()),
              "");
    // Launches that are no product, by the sizes of their arrays.
    Walked one = walked("tiled", {16, 16, 16, 8}), other = walked("tiled", {16, 16, 16, 8});
    one.side.product = other.side.product = std::nullopt;
    EXPECT_EQ(caveat(one.compared(), other.compared()), "");
    other.side.arrays[0].second *= 2;
    EXPECT_EQ(caveat(one.compared(), other.compared()), "") << "laid out otherwise, with as many bytes";
    other.side.before.back()[StepKind::GlobalLoad].bytes *= 2;
    EXPECT_TRUE(caveat(one.compared(), other.compared()).starts_with("Different work: the arrays"));
    EXPECT_EQ(headline(one.compared(), other.compared()),
              "Different work: fewer requests do not mean better.");
}

// The measured ratio beside that of the requests, and what L2 was not read for: all from what is given.
TEST(Compare, HowMuchFasterIsSaidWithWhatTheCacheHad) {
    const Walked a = walked("untiled", kShape), b = walked("tiled", kShape);
    kernels::Timings times;
    times.device = "X";
    const auto row = [](const char* kernel, uint32_t n, double ms) {
        kernels::Timing made;
        made.kernel = kernel, made.m = made.k = made.n = n, made.tile = 16;
        made.verified = true, made.median_ms = made.low_ms = made.high_ms = ms;
        return made;
    };
    times.rows = {row("untiled", 512, 8), row("tiled", 512, 2), row("untiled", 64, 3), row("tiled", 64, 1)};
    const auto said = [&](const std::vector<kernels::Counters>& counters) {
        return speed_text(a.compared(), b.compared(), {times}, counters);
    };
    EXPECT_EQ(
        said({}),
        "X, width 64, T=16: tiled 1.00 ms, untiled 3.00 ms: only 3 times as fast with 16 times fewer load "
        "requests.");
    kernels::Counters counted;
    counted.device = "X";
    const auto counts = [](const char* kernel, double asked, double read) {
        kernels::CounterRow made;
        made.kernel = kernel, made.m = made.k = made.n = 64, made.tile = 16;
        made.counters = {{"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", asked},
                         {"lts__t_sectors_op_read.sum", read}};
        return made;
    };
    counted.rows = {counts("untiled", 1000, 100), counts("tiled", 100, 80)};
    EXPECT_TRUE(
        said({counted}).ends_with(" load requests, because the L1 cache serves at least 90 % of untiled's "
                                  "load sectors and 20 % of tiled's."))
        << said({counted});
    counted.rows[1] = counts("tiled", 100, 130);
    EXPECT_TRUE(said({counted}).ends_with(" at least 90 % of untiled's load sectors.")) << said({counted});
    counted.device = "Y";
    EXPECT_EQ(said({counted}), said({})) << "counted on another device";
    times.rows[2].high_ms = 4, times.rows[3].high_ms = 3.5;
    EXPECT_EQ(
        said({counted}),
        "X, width 64, T=16: tiled 1.00 ms, untiled 3.00 ms: no difference beyond the spread of the runs.");
    times.rows.resize(3);
    EXPECT_EQ(said({}), "") << "one of the two was not timed at this size";
    times.rows = {row("untiled", 64, 3), row("tiled", 64, 1)};
    Walked cut = walked("untiled", kShape);
    cut.side.before.back()[StepKind::GlobalLoad].requests = 0;
    EXPECT_EQ(speed_text(cut.compared(), b.compared(), {times}, {}), "") << "no loads were recorded";
}

// Of 3 x 2 blocks of a larger grid only their columns and rows ask.
TEST(Compare, OfAWindowItsBlocksLoad) {
    for (const auto& [kernel, m_text, n_text] :
         {std::tuple{"untiled", "24 loads each = 3 blocks \u00d7 T", "16 loads each = 2 blocks \u00d7 T"},
          std::tuple{"tiled", "3 loads each = 3 blocks", "2 loads each = 2 blocks"}}) {
        const auto plan = kernels::plan(kernel, {64, 32, 64, 8});
        ASSERT_TRUE(plan);
        kernels::RecordOptions options;
        options.window = {1, 4, 2, 4};
        const auto trace = kernels::record_cpu(*plan, options);
        ASSERT_TRUE(trace);
        EXPECT_EQ(loads_label(*trace, analysis::product_of(*trace), 0, analysis::loads_per_element(*trace, 0))
                      .text(),
                  m_text);
        EXPECT_EQ(loads_label(*trace, analysis::product_of(*trace), 1, analysis::loads_per_element(*trace, 1))
                      .text(),
                  n_text);
    }
}

// Swapped, lanes walk rows: of M 16 elements of one column, a row apart, in 16 sectors; of N two in one.
TEST(Compare, TheSwappedMappingNeedsMoreSectorsForTheSameRequests) {
    const Walked a = walked("untiled", kShape), b = walked("untiled_swapped", kShape);
    const Counters made = counters_at_end(a, b);
    EXPECT_EQ(whole(made, "load requests").ratio(), 1.0);
    EXPECT_EQ(whole(made, "bytes loaded").ratio(), 1.0);
    EXPECT_EQ(whole(made, "load sectors"), (Count{16 * 8 * 64 * (2 + 2), 16 * 8 * 64 * (16 + 1)}));
    EXPECT_EQ(whole(made, "load sectors").ratio(), 4.25);
    EXPECT_EQ(whole(made, "store sectors").fewer(), -1);
    EXPECT_TRUE(headline(a.compared(), b.compared()).starts_with("A, untiled T=16: "));
}

// At the first step untiled has asked for less, and the sentence of so far says so; that of the whole run stays.
TEST(Compare, TheSentenceIsOfSoFarOrOfTheWholeRun) {
    const Walked a = walked("untiled", kShape), b = walked("tiled", kShape);
    const auto said = [&](uint32_t step) {
        const uint32_t other =
            partner_step(Lock::Phase, a.compared(), *a.made.index, {0, step}, b.compared(), *b.made.index);
        const Costs costs =
            costs_so_far(Lock::Phase, a.compared(), *a.made.index, step, b.compared(), *b.made.index, other);
        return headline(a.compared(), b.compared(), &costs);
    };
    EXPECT_EQ(said(0), "A, untiled T=16: 2 times fewer load sectors than B so far.");
    const uint32_t last = a.made.index->steps - 1;
    EXPECT_EQ(said(last),
              "B, tiled T=16: 16 times fewer load requests and 8 times fewer load sectors than A so far.")
        << "a block is as all of them are";
    const Costs none;
    EXPECT_EQ(headline(a.compared(), b.compared(), &none),
              "The same requests in both so far: 0 loads, 0 sectors.");
    Costs one;
    one.b[StepKind::GlobalLoad].requests = 3;
    EXPECT_EQ(headline(a.compared(), b.compared(), &one), "Only B has loaded anything so far.");
}

// Untiled, a request for M asks for 2 elements in 2 sectors, one for N for 16 neighbours in 2: 128 bytes of 64 that
// are moved. All lanes work; of a product of 10 x 10 with T = 8 some lie outside.
TEST(Compare, EfficiencyAndIdleLanes) {
    const Walked a = walked("untiled", kShape), b = walked("tiled", kShape);
    const Counters made = counters_at_end(a, b);
    const auto row = [](const Counters& of, std::string_view what) {
        const auto found = std::ranges::find(of.rows, what, &CounterRow::what);
        return found == of.rows.end() ? CounterRow{} : *found;
    };
    const CounterRow efficiency = row(made, compare::kEfficiency);
    EXPECT_EQ(counter_text(efficiency, efficiency.whole.a, efficiency.whole_of.a), "200 %");
    EXPECT_EQ(counter_text(efficiency, efficiency.whole.b, efficiency.whole_of.b), "100 %");
    EXPECT_FALSE(efficiency.merit) << "more is better, and shared bytes are another thing";
    EXPECT_EQ(row(made, compare::kIdle).what, "") << "no lane is idle";
    const Walked edge = walked("tiled", {10, 10, 10, 8}), whole = walked("tiled", {16, 16, 16, 8});
    const Counters edges = counters_at_end(edge, whole);
    const CounterRow idle = row(edges, compare::kIdle), share = row(edges, compare::kIdleShare);
    EXPECT_GT(idle.whole.a, 0u);
    EXPECT_EQ(idle.whole.b, 0u);
    EXPECT_EQ(share.whole.a, idle.whole.a);
    EXPECT_EQ(share.whole_of.a, edge.side.before.back().total().requests * 32);
    EXPECT_EQ(counter_text(share, 0, 0), "-");
}

TEST(Compare, SoFarIsExactlyTheSumOfTheSteps) {
    const Walked a = walked("tiled", {50, 40, 30, 16}, 2), b = walked("untiled_swapped", {50, 40, 30, 16}, 1);
    std::mt19937 random(5);
    for (int i = 0; i < 12; ++i) {
        const auto sa = static_cast<uint32_t>(random() % a.made.index->steps),
                   sb = static_cast<uint32_t>(random() % b.made.index->steps);
        for (const Lock lock : {Lock::Phase, Lock::Share}) {
            const Counters made =
                counters(lock, a.compared(), *a.made.index, sa, b.compared(), *b.made.index, sb);
            EXPECT_EQ(made.of_run, lock == Lock::Share);
            const uint64_t from_a = made.of_run ? 0 : a.made.index->first,
                           from_b = made.of_run ? 0 : b.made.index->first;
            const auto slow_a = analysis::sums_of_steps(*a.made.trace, from_a, a.made.index->first + sa + 1);
            const auto slow_b = analysis::sums_of_steps(*b.made.trace, from_b, b.made.index->first + sb + 1);
            uint64_t fast_a = 0, fast_b = 0, waves_a = 0;
            for (const CounterRow& row : made.rows) {
                if (row.what == "load sectors" || row.what == "store sectors")
                    fast_a += row.so_far.a, fast_b += row.so_far.b;
                if (row.what == "wavefronts") waves_a = row.so_far.a;
            }
            EXPECT_EQ(fast_a, slow_a.sectors);
            EXPECT_EQ(fast_b, slow_b.sectors);
            EXPECT_EQ(waves_a, slow_a.wavefronts);
        }
    }
}

TEST(Compare, ARecordingFollowsItselfStepByStep) {
    const Walked a = walked("tiled", kShape, 5);
    for (const Lock lock : {Lock::Step, Lock::Phase, Lock::Share}) {
        for (uint32_t step = 0; step < a.made.index->steps; ++step) {
            const playback::Cursor at{5, step};
            ASSERT_EQ(partner_block(lock, a.compared(), at, a.compared()), 5u);
            ASSERT_EQ(partner_step(lock, a.compared(), *a.made.index, at, a.compared(), *a.made.index), step);
        }
    }
}

// By phase B stands where it has seen as much of k, and never goes back.
TEST(Compare, LockedByPhaseBothHaveSeenTheSameK) {
    const Walked a = walked("untiled", kShape), b = walked("tiled", kShape);
    uint32_t before = 0;
    for (uint32_t step = 0; step < a.made.index->steps; ++step) {
        const uint32_t there =
            partner_step(Lock::Phase, a.compared(), *a.made.index, {0, step}, b.compared(), *b.made.index);
        ASSERT_GE(there, before);
        before = there;
    }
    for (const PhaseSpan& span : a.made.index->spans) {
        if (span.phase == analysis::kAfter) continue;
        const uint32_t there = partner_step(Lock::Phase, a.compared(), *a.made.index, {0, span.first},
                                            b.compared(), *b.made.index);
        uint32_t latest = 0;
        for (const PhaseSpan& of : b.made.index->spans)
            if (of.first <= there) latest = of.phase;
        EXPECT_EQ(latest, span.phase / 16) << "k = " << span.phase;
    }
    EXPECT_EQ(before, b.made.index->steps - 1);
}

TEST(Compare, LockedByStepTheShorterOneWaitsAtItsEnd) {
    const Walked a = walked("untiled", kShape), b = walked("tiled", {64, 16, 64, 16});
    ASSERT_LT(b.made.index->steps, a.made.index->steps);
    const auto there = [&](uint32_t step) {
        return partner_step(Lock::Step, a.compared(), *a.made.index, {0, step}, b.compared(), *b.made.index);
    };
    EXPECT_EQ(there(7), 7u);
    EXPECT_EQ(there(a.made.index->steps - 1), b.made.index->steps - 1);
}

// Blocks belong together by what they compute: four of T = 16 to one of T = 32, swapped ones turned.
TEST(Compare, BlocksBelongTogetherByTheirElements) {
    const Walked a = walked("tiled", kShape), b = walked("tiled", {64, 64, 64, 32}),
                 swapped = walked("untiled_swapped", kShape);
    for (uint32_t block = 0; block < a.made.trace->blocks.size(); ++block) {
        const trace::Block& mine = a.made.trace->blocks[block];
        const auto& theirs =
            b.made.trace->blocks[partner_block(Lock::Step, a.compared(), {block, 0}, b.compared())];
        EXPECT_EQ(theirs.x, mine.x / 2);
        EXPECT_EQ(theirs.y, mine.y / 2);
        const auto& turned =
            swapped.made.trace
                ->blocks[partner_block(Lock::Phase, a.compared(), {block, 0}, swapped.compared())];
        EXPECT_EQ(turned.x, mine.y);
        EXPECT_EQ(turned.y, mine.x);
    }
}

TEST(Compare, LockedByShareTheEndsMeet) {
    const Walked a = walked("tiled", kShape), b = walked("tiled", {64, 64, 64, 32});
    EXPECT_EQ(partner_block(Lock::Share, a.compared(), {0, 0}, b.compared()), 0u);
    const auto last_a = static_cast<uint32_t>(a.made.trace->blocks.size() - 1);
    const auto end = static_cast<uint32_t>(a.made.trace->blocks[last_a].count - 1);
    EXPECT_EQ(partner_block(Lock::Share, a.compared(), {last_a, end}, b.compared()), 3u);
    const auto last_b = index_block(b.made, 3);
    EXPECT_EQ(partner_step(Lock::Share, a.compared(), *a.made.index, {last_a, end}, b.compared(), *last_b),
              last_b->steps - 1);
}

TEST(Compare, SaysWhatIsWrongAndWhatCannotBeCompared) {
    const Walked a = walked("tiled_stale_edge", {20, 20, 20, 8}), b = walked("tiled", {20, 20, 20, 8}),
                 other = walked("tiled", {16, 16, 16, 8});
    const std::string said = headline(a.compared(), b.compared());
    EXPECT_TRUE(said.starts_with("A's result is wrong in ")) << said;
    EXPECT_TRUE(said.ends_with("; B's is right.")) << said;
    EXPECT_NE(caveat(b.compared(), other.compared()).find("20×20×20 in A, 16×16×16 in B"), std::string::npos);
    Walked cut = walked("tiled", {20, 20, 20, 8});
    trace::Trace trace = *cut.made.trace;
    trace.meta.complete = false;
    cut.made.trace = std::make_shared<const trace::Trace>(std::move(trace));
    EXPECT_EQ(caveat(b.compared(), cut.compared()).rfind("B: Not whole", 0), 0u);
}

// In lockstep the race of a kernel without its barrier can end well; nobody is to call it the better one.
TEST(Compare, ARightResultOfARaceIsLuck) {
    const Walked racing = walked("tiled_no_barrier", {4, 2, 4, 2}), sound = walked("tiled", {4, 2, 4, 2});
    ASSERT_TRUE(racing.made.trace->meta.result.verified) << "one phase: nothing is stored over";
    compare::Run a = racing.compared(), b = sound.compared();
    const auto merits = [&] {
        const Counters made = counters(Lock::Phase, a, *racing.made.index, 0, b, *sound.made.index, 0);
        return std::count_if(made.rows.begin(), made.rows.end(), [](const CounterRow& r) { return r.merit; });
    };
    EXPECT_TRUE(headline(a, b).starts_with("A, tiled_no_barrier")) << "it has fewer barriers";
    EXPECT_GT(merits(), 0);
    a.faults = 3;
    EXPECT_EQ(headline(a, b),
              "A is at fault at 3 steps of this block, B at none; A's right result was luck.");
    EXPECT_EQ(merits(), 0);
    EXPECT_EQ(headline(b, a),
              "B is at fault at 3 steps of this block, A at none; B's right result was luck.");
}

TEST(Compare, TheSameThingIsPickedInBoth) {
    const trace::Trace a = kernels::recorded("tiled", {64, 64, 64, 16}),
                       b = kernels::recorded("tiled", {64, 32, 64, 32});
    look::Pick thread;
    thread.kind = look::Pick::Kind::Thread;
    thread.thread = 16 * 3 + 5;
    EXPECT_EQ(same_pick(a, b, thread).thread, 32u * 3 + 5);
    EXPECT_EQ(same_pick(b, a, same_pick(a, b, thread)).thread, thread.thread);
    thread.thread = 32 * 20 + 5;
    EXPECT_EQ(same_pick(b, a, thread).kind, look::Pick::Kind::None) << "row 20 of 16";
    look::Pick element;
    element.kind = look::Pick::Kind::Element;
    element.index = 64 * 7 + 9;  // M[7,9]
    EXPECT_EQ(same_pick(a, b, element).index, 32u * 7 + 9);
    element.index = 64 * 7 + 40;
    EXPECT_EQ(same_pick(a, b, element).kind, look::Pick::Kind::None) << "M has 32 columns there";
}

TEST(Compare, EveryPresetCanBePlanned) {
    for (const session::ComparePreset& preset : session::compare_presets())
        for (const session::ComparePreset::Part* part : {&preset.a, &preset.b})
            EXPECT_TRUE(kernels::plan(part->kernel, part->shape)) << preset.title;
}

TEST(Compare, AtTheEndOfABlockBothAreDone) {
    const Walked a = walked("tiled", kShape), b = walked("tiled", {64, 64, 64, 32});
    for (const auto& [from, to] : {std::pair{&a, &b}, std::pair{&b, &a}}) {
        EXPECT_EQ(partner_step(Lock::Phase, from->compared(), *from->made.index,
                               {0, from->made.index->steps - 1}, to->compared(), *to->made.index),
                  to->made.index->steps - 1);
    }
}

// The other way round, against looking at every step of A.
TEST(Compare, AStepOfBLeadsToTheFirstStepOfAThatBringsItThere) {
    const Walked a = walked("untiled", kShape, 5), b = walked("tiled", kShape, 5);
    for (const Lock lock : {Lock::Step, Lock::Phase, Lock::Share}) {
        for (uint32_t wanted = 0; wanted < b.made.index->steps; wanted += 37) {
            uint32_t slow = a.made.index->steps - 1;
            for (uint32_t step = a.made.index->steps; step-- > 0;) {
                const uint32_t there =
                    partner_step(lock, a.compared(), *a.made.index, {5, step}, b.compared(), *b.made.index);
                if (there >= wanted) slow = step;
            }
            ASSERT_EQ(leading_step(lock, a.compared(), *a.made.index, b.compared(), *b.made.index, wanted),
                      slow)
                << wanted;
        }
    }
}

// Small matrices whole; of a window of a large launch, pages of what was touched.
TEST(Compare, ThePartOfAMatrixThatIsShown) {
    EXPECT_EQ(part_shown(64, 64, {0, 64, 0, 64}, {16, 32, 0, 16}), (CellRect{0, 64, 0, 64}));
    EXPECT_EQ(part_shown(4, 4, {0, 2, 0, 4}, {}), (CellRect{0, 4, 0, 4}));
    EXPECT_EQ(part_shown(8192, 8192, {}, {}), (CellRect{0, 8192, 0, 8192})) << "nothing touched";
    EXPECT_EQ(part_shown(8192, 8192, {0, 8192, 0, 8192}, {}), (CellRect{0, 8192, 0, 8192}));
    const CellRect rows{3200, 3264, 0, 8192}, cols{0, 8192, 1600, 1664};
    EXPECT_EQ(part_shown(8192, 8192, rows, {3216, 3232, 4112, 4128}), (CellRect{3200, 3264, 4096, 4160}));
    EXPECT_EQ(part_shown(8192, 8192, cols, {4112, 4128, 1616, 1632}), (CellRect{4096, 4160, 1600, 1664}));
    EXPECT_EQ(part_shown(8192, 8192, rows, {}), (CellRect{3200, 3264, 0, 64})) << "after the last phase";
    for (uint32_t at = 0; at < 8192; at += 16) {
        const CellRect part = part_shown(8190, 8190, {8130, 8190, 0, 8190}, {8130, 8146, at, at + 16});
        ASSERT_TRUE(part.contains(8130, std::min(at, 8189u))) << at;
        ASSERT_LE(part.col1, 8190u);
        ASSERT_LE(part.row1, 8190u);
    }
}

TEST(Compare, WhatWasLoadedIsBoxedAndCounted) {
    std::mt19937 random(3);
    trace::Trace trace;
    trace.launch.arrays = {test_array("M", Space::Global, ArrayRole::Input, 64, 64, 0)};
    for (int i = 0; i < 50; ++i) {
        const CellRect part{static_cast<uint32_t>(random() % 9), 0, static_cast<uint32_t>(random() % 9), 0};
        CellRect whole = part;
        whole.row1 = part.row0 + 1 + static_cast<uint32_t>(random() % 6);
        whole.col1 = part.col0 + 1 + static_cast<uint32_t>(random() % 6);
        std::vector<uint32_t> loads(size_t{whole.rows()} * whole.cols());
        CellRect slow;
        for (size_t at = 0; at < loads.size(); ++at) {
            loads[at] = random() % 4 == 0 ? 7 : 0;
            if (loads[at] > 0)
                slow.include(whole.row0 + static_cast<uint32_t>(at / whole.cols()),
                             whole.col0 + static_cast<uint32_t>(at % whole.cols()));
        }
        const LoadsSummary made = loads_summary(trace, {}, 0, {loads, whole, false});
        ASSERT_EQ(made.box, slow);
        ASSERT_EQ(made.label.text(), slow.empty() ? "never loaded" : "7 loads each");
    }
    const std::vector<uint32_t> none;
    EXPECT_TRUE(loads_summary(trace, {}, 0, {none, {}}).box.empty());
    EXPECT_EQ(loads_label(trace, {}, 0, {0, 4, 9}).text(), "4 to 9 loads each");
    EXPECT_EQ(loads_label(trace, {}, 0, {0, 1}).text(), "1 load each");
}

// Of one dimension, wrapped at 32; of two; of three, slices beside each other.
TEST(Compare, WhatWasLoadedIsBoxedWhereItIsDrawn) {
    std::mt19937 random(4);
    trace::Trace trace;
    trace.launch.arrays = {test_array("x", Space::Global, ArrayRole::Input, 1, 200, 0),
                           test_array("M", Space::Global, ArrayRole::Input, 9, 40, 0),
                           test_array("v", Space::Global, ArrayRole::Input, 5, 7, 0)};
    trace.launch.arrays[0].rank = 1;
    trace.launch.arrays[2].rank = 3;
    trace.launch.arrays[2].slices = 6;
    for (size_t array = 0; array < 3; ++array) {
        const Sheet sheet(trace.launch.arrays[array]);
        for (int i = 0; i < 50; ++i) {
            std::vector<uint32_t> loads(trace.launch.arrays[array].elements());
            CellRect slow;
            for (int loaded = 0; loaded < 3; ++loaded) {
                const size_t at = random() % loads.size();
                loads[at] = 1;
                slow.include(sheet.cell(at));
            }
            ASSERT_EQ(loads_summary(trace, {}, array, {loads, {0, sheet.rows, 0, sheet.cols}}).box, slow);
        }
    }
}

TEST(Compare, NumbersAreShortAndRatiosAreFractions) {
    EXPECT_EQ(short_count(0), "0");
    EXPECT_EQ(short_count(999'999), "999,999");
    EXPECT_EQ(short_count(2'097'152), "2.10 M");
    EXPECT_EQ(short_count(9'996'000), "10.0 M");
    EXPECT_EQ(short_count(268'435'456), "268 M");
    EXPECT_EQ(short_count(999'600'000), "1.00 G");
    EXPECT_EQ(short_count(4'294'967'296), "4.29 G");
}

TEST(Compare, FewerIsNoMeritWhereTheResultIsWrong) {
    const Walked wrong = walked("tiled_no_barrier", kShape), right = walked("tiled", kShape),
                 untiled = walked("untiled", kShape);
    for (const CounterRow& row : counters_at_end(wrong, right).rows) EXPECT_FALSE(row.merit) << row.what;
    for (const CounterRow& row : counters_at_end(untiled, right).rows)
        EXPECT_EQ(row.merit, !row.least && row.whole.a > 0 && row.whole.b > 0) << row.what;
}

}  // namespace
}  // namespace tilescope::app
