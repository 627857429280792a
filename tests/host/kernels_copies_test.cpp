// cp.async from the recording to its faults: two requests and where the bytes arrive, in a file and out of
// it, with values, and read before the wait. Expected: closed forms.
#include <algorithm>

#include <gtest/gtest.h>

#include "core/analysis/summary.h"
#include "core/base/contents.h"
#include "core/hazards/hazards.h"
#include "core/playback/replay.h"
#include "core/trace/file.h"
#include "kernels/run/record.h"
#include "tests/host/hand_kernel.h"
#include "tests/host/hazards_of.h"
#include "tests/launches.h"
#include "tests/opened.h"
#include "tests/recorded.h"
#include "tests/unit/trace_forge.h"

namespace tilescope::kernels {
namespace {

using analysis::Hazard;
using analysis::HazardKind;
using analysis::StepKind;

constexpr uint32_t kThreads = 64;

// A block of two warps; %s is a thread's word of tile, %x that of the thread 63 further on or back.
Plan plan_of_copies(const std::string& body) {
    Plan plan;
    plan.launch = test_launch({test_array("in", Space::Global, ArrayRole::Input, 1, 160, kIn),
                               test_array("out", Space::Global, ArrayRole::Output, 1, 160, kOut),
                               test_array("tile", Space::Shared, ArrayRole::Shared, 1, 128, 0)},
                              {1, 1, 1}, {kThreads, 1, 1});
    plan.ptx_name = "hand.ptx";
    plan.ptx = hand_kernel(std::string(kThreadOfHand) + R"(
    .reg .b32 %s; .reg .b32 %x;
    mov.u32 %r5, tile;
    shl.b32 %s, %t, 2;
    add.u32 %s, %s, %r5;
    xor.b32 %x, %t, 63;
    shl.b32 %x, %x, 2;
    add.u32 %x, %x, %r5;
)" + body + "\n    ret;") +
               ".file 1 \"hand.cu\"\n";
    return plan;
}

const std::string kAsk = ".loc 1 10 0\ncp.async.ca.shared.global [%s], [%i], 4;\ncp.async.commit_group;\n",
                  kWait = "cp.async.wait_group 0;\n", kBarrier = ".loc 1 12 0\nbar.sync 0;\n",
                  kLookAcross = ".loc 1 13 0\nld.shared.u32 %r6, [%x];\n",
                  kLookOwn = ".loc 1 13 0\nld.shared.u32 %r6, [%s];\n",
                  kPut = ".loc 1 14 0\nst.global.u32 [%o], %r6;\n";

trace::Trace recorded_copies(const std::string& body) { return recorded(plan_of_copies(body)); }

TEST(RecordedCopies, AreALoadAndAStoreThatArrivesAtTheWait) {
    const trace::Trace trace = recorded_copies(kAsk + kWait + kBarrier + kLookAcross + kPut);
    // Each warp: load, store, barrier, load, store; the warps in turn, a copy in one.
    ASSERT_EQ(trace.steps(), 10u);
    for (const uint64_t step : {0u, 2u}) {
        for (const uint64_t half : {step, step + 1}) {
            const auto transfer = trace::transfer_of(trace, half);
            ASSERT_TRUE(transfer);
            EXPECT_EQ(transfer->read, step);
            EXPECT_EQ(transfer->written, step + 1);
        }
        EXPECT_FALSE(trace::lands_later(trace, step));
        EXPECT_TRUE(trace::lands_later(trace, step + 1));
    }
    EXPECT_FALSE(trace::transfer_of(trace, 4));
    EXPECT_EQ(trace.arrival, (std::vector<uint32_t>{2, 4}));
    const trace::Arrivals arrivals(trace, trace.blocks[0]);
    EXPECT_EQ(arrivals.visible_from(1), 2u);
    EXPECT_EQ(arrivals.visible_from(3), 4u);
    EXPECT_EQ(arrivals.visible_from(2), 3u) << "a load, which lands at once";
    const auto sums = analysis::summarize(trace);
    ASSERT_TRUE(sums) << sums.error().message;
    EXPECT_EQ((*sums)[StepKind::GlobalLoad].requests, 2u);
    EXPECT_EQ((*sums)[StepKind::GlobalLoad].sectors, 8u);  // 64 words of 4 bytes
    EXPECT_EQ((*sums)[StepKind::SharedStore].requests, 2u);
    EXPECT_EQ((*sums)[StepKind::SharedStore].wavefronts, 2u);
}

TEST(RecordedCopies, WithoutAWaitNeverArrive) {
    const trace::Trace trace = recorded_copies(kAsk + kBarrier + kLookAcross + kPut);
    EXPECT_EQ(trace.arrival, (std::vector<uint32_t>{trace::kNeverWaited, trace::kNeverWaited}));
    const trace::Arrivals arrivals(trace, trace.blocks[0]);
    EXPECT_EQ(arrivals.later().size(), 2u);
    EXPECT_EQ(arrivals.visible_from(1), std::nullopt);
    EXPECT_EQ(trace::ArrivalCursor(arrivals).next(UINT32_MAX - 1), std::nullopt);
}

TEST(RecordedCopies, GoThroughAFile) {
    const trace::Trace trace = recorded_copies(kAsk + kBarrier + kWait + kLookAcross + kPut);
    const std::string bytes = trace::serialize(trace);
    EXPECT_EQ(trace::get<uint32_t>(bytes, 8), trace::kCopiesVersion);
    const auto read = trace::deserialize(bytes, "copies.tsc");
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(read->arrival, trace.arrival);
    EXPECT_EQ(read->key, trace.key);
    ASSERT_EQ(read->sites.size(), trace.sites.size());
    for (size_t i = 0; i < trace.sites.size(); ++i) EXPECT_EQ(read->sites[i].copy, trace.sites[i].copy);
    EXPECT_EQ(trace::serialize(*read), bytes);
    // What has no copies is of the version that older programs read.
    const std::string plain = trace::serialize(recorded_copies(kLookOwn + kPut));
    EXPECT_EQ(trace::get<uint32_t>(plain, 8), trace::kFileVersion);
}

TEST(RecordedCopies, DamageIsRefused) {
    const trace::Trace trace = recorded_copies(kAsk + kWait + kBarrier + kLookAcross + kPut);
    const auto error_of = [](const trace::Trace& damaged) {
        const auto read = trace::deserialize(trace::serialize(damaged), "copies.tsc");
        return read ? std::string() : read.error().message;
    };
    const auto says = [&](auto change, const std::string& part) {
        trace::Trace damaged = trace;
        change(damaged);
        EXPECT_NE(error_of(damaged).find(part), std::string::npos) << error_of(damaged);
    };
    EXPECT_EQ(error_of(trace), "");
    says([](trace::Trace& t) { t.arrival[0] = 1; }, "arrives before it is asked for");
    says([](trace::Trace& t) { t.arrival[1] = 11; }, "arrives before it is asked for, or behind");
    says([](trace::Trace& t) { t.arrival.pop_back(); }, "has 2 copies, and says where 1 arrived");
    says([](trace::Trace& t) { t.sites[0].copy = false; }, "half of a copy");
    says([](trace::Trace& t) { t.sites[1].copy = false; }, "half of a copy");
    says([](trace::Trace& t) { t.sites[1].bytes = 8; }, "half of a copy");
    std::string older = trace::serialize(trace);
    trace::set<uint32_t>(older, 8, 2);
    trace::set<uint32_t>(older, 28, trace::crc32c(std::string_view(older).substr(0, 28)));
    const auto read = trace::deserialize(older, "copies.tsc");
    EXPECT_FALSE(read);
}

TEST(RecordedCopies, ValuesAreThereFromTheWaitOn) {
    // Filled with 5; copied; read before the wait (and told as a fault), and behind it.
    const trace::Trace trace = recorded_copies("st.shared.u32 [%s], %r3;\n" + kAsk + kLookOwn + kWait +
                                               ".loc 1 15 0\nld.shared.u32 %r7, [%s];\n" + kPut);
    auto replayer = Replayer::of(trace);
    ASSERT_TRUE(replayer) << replayer.error().message;
    playback::BlockReplay replay(trace, 0);
    const auto ok = replayer->replay(trace, 0, replay, {});
    ASSERT_TRUE(ok) << ok.error().message;
    replay.finish();
    // Warp 0: store 0, copy 2 and 3, load 6, load 8; in turns with warp 1.
    uint32_t store = 0, early = 0, late = 0;
    for (uint32_t step = 0; step < trace.steps(); ++step) {
        if (trace.warp_of(step) != 0) continue;
        const ptx::Site& site = trace.sites[trace.form_of(step).site];
        if (trace::lands_later(trace, step)) store = step;
        if (site.line == 13) early = step;
        if (site.line == 15) late = step;
    }
    ASSERT_TRUE(store < early && early < late);
    const auto in = [&](uint32_t i) { return initial_value(trace.launch.arrays[0], i).bits; };
    for (uint32_t t = 0; t < 32; ++t) {
        EXPECT_EQ(replay.value(early, t).bits, 5u);
        EXPECT_EQ(replay.value(late, t).bits, in(t));
        EXPECT_EQ(replay.value(store, t).bits, in(t));
        const playback::CellState before = replay.cell(2, t, early), after = replay.cell(2, t, late);
        EXPECT_EQ(before.value.bits, 5u);
        EXPECT_EQ(before.reads, 1u);
        EXPECT_EQ(after.value.bits, in(t));
        EXPECT_EQ(after.step, store);
        EXPECT_EQ(after.reads, 1u);
        EXPECT_EQ(after.since, trace::Arrivals(trace, trace.blocks[0]).visible_from(store));
        EXPECT_EQ(after.source, (playback::Element{0, t}));
    }
}

// Of each copy of each warp, block by block: how many of the warp's own steps come before it arrives.
std::vector<std::vector<uint32_t>> own_steps_before_arrivals(const trace::Trace& trace) {
    std::vector<std::vector<uint32_t>> all;
    for (const trace::Block& block : trace.blocks) {
        const trace::Arrivals arrivals(trace, block);
        for (uint32_t warp = 0; warp < 2; ++warp) {
            std::vector<uint32_t>& of_warp = all.emplace_back();
            for (uint64_t step = block.first; step < block.first + block.count; ++step) {
                if (trace.warp_of(step) != warp || !trace::lands_later(trace, step)) continue;
                const uint32_t arrival = arrivals.visible_from(static_cast<uint32_t>(step - block.first))
                                             .value_or(trace::kNeverWaited);
                uint32_t own = arrival;
                for (uint32_t i = 0; arrival != trace::kNeverWaited && i < arrival; ++i)
                    own -= trace.warp_of(block.first + i) != warp;
                of_warp.push_back(own);
            }
        }
    }
    return all;
}

TEST(RecordedCopies, TheInstrumentedKernelRecordsTheSame) {
    const std::string begin = std::string(kThreadOfHand) + R"(
    .reg .b32 %s;
    mov.u32 %r5, tile;
    shl.b32 %s, %t, 2;
    add.u32 %s, %s, %r5;
    and.b32 %r7, %t, 4;
    setp.eq.u32 %p1, %r7, 0;
    setp.lt.u32 %p2, %t, 40;
)",
                      end = "bar.sync 0;\nld.shared.u32 %r6, [%s];\nst.global.u32 [%o], %r6;\nret;";
    const std::string ask = "cp.async.ca.shared.global [%s], [%i], 4;\n", commit = "cp.async.commit_group;\n";
    for (const std::string& body : {
             ask + commit + kWait, ask + "cp.async.wait_all;\n",
             ask + commit,                                                         // nobody waits
             "cp.async.ca.shared.global [%s], [%i], 4, %r7;\n" + commit + kWait,   // half of the lanes read
             "cp.async.ca.shared.global [%s], [%i], 4, 0;\n" + commit + kWait,     // none does
             "@%p1 " + ask + "@!%p1 st.shared.u32 [%s], %r7;\n" + commit + kWait,  // half of them copy
             ask + commit + "ld.shared.u32 %r8, [%s+4];\n@%p2 " + kWait + commit,  // a warp waits in part
             ask + commit + "cp.async.ca.shared.global [%s+256], [%i], 4;\n" + commit +
                 "cp.async.wait_group 1;\nst.global.u32 [%o], %r7;\n" + kWait,  // two groups, two waits
         }) {
        SCOPED_TRACE(body);
        const std::string text = hand_kernel(begin + body + end);
        expect_same_by_hand(text, {2, 1, 1}, {64, 1, 1});
        if (testing::Test::HasFailure()) return;
        HandRun hand;
        hand.block = {64, 1, 1};
        hand.record(text);
        ASSERT_FALSE(testing::Test::HasFatalFailure());
        EXPECT_FALSE(hand.got.arrival.empty());
        EXPECT_EQ(own_steps_before_arrivals(hand.got), own_steps_before_arrivals(hand.expected));
    }
}

TEST(ReadBeforeWait, IsNotWhereAWaitAndABarrierStandBetween) {
    EXPECT_TRUE(hazards_of(recorded_copies(kAsk + kWait + kBarrier + kLookAcross + kPut)).found.empty());
    EXPECT_TRUE(hazards_of(recorded_copies(kAsk + kWait + kLookOwn + kPut)).found.empty());
}

// All of one kind, in all 64 cells.
void expect_early(const std::string& body, const std::string& sentence) {
    SCOPED_TRACE(body);
    const trace::Trace trace = recorded_copies(body);
    const auto found = hazards_of(trace).found;
    ASSERT_EQ(found.size(), 1u);
    const Hazard& h = found[0];
    EXPECT_EQ(h.kind, HazardKind::ReadBeforeWait);
    EXPECT_EQ(std::tuple(h.line, h.other_line, h.other_stores), std::tuple(13u, 10u, true));
    EXPECT_EQ(h.count, kThreads);
    EXPECT_EQ(h.sentence, sentence);
    const auto rule = analysis::phase_rule(trace);
    ASSERT_TRUE(rule);
    const auto cells = analysis::faulty_cells(trace, *rule, 0).cells;
    ASSERT_EQ(cells.size(), kThreads);
    for (uint32_t cell = 0; cell < kThreads; ++cell) {
        EXPECT_EQ(cells[cell].element, cell);
        EXPECT_EQ(cells[cell].example.b.thread, cell);
        EXPECT_EQ(trace.sites[trace.form_of(cells[cell].told_step).site].line, 13u);
    }
}

TEST(ReadBeforeWait, IsAReadThatNoWaitComesBefore) {
    const std::string said =
        "tile[0,0]: thread[63] reads at line 13 in phase 0 what thread[0] copies there at line 10, before a "
        "barrier behind that thread's wait";
    expect_early(kAsk + kBarrier + kLookAcross + kPut, said);          // no wait at all
    expect_early(kAsk + kBarrier + kWait + kLookAcross + kPut, said);  // a wait behind the barrier
    expect_early(kAsk + kWait + kLookAcross + kPut, said);             // no barrier
    expect_early(kAsk + "cp.async.wait_group 1;\n" + kBarrier + kLookAcross + kPut, said);  // for too few
}

TEST(ReadBeforeWait, IsAThreadsOwnReadBeforeItsWait) {
    expect_early(
        kAsk + kLookOwn + kWait + kPut,
        "tile[0,0]: thread[0] reads at line 13 in phase 0 before it waits for its own copy there of line 10");
}

TEST(ReadBeforeWait, IsACopyIntoWhatOthersStillRead) {
    expect_early(
        ".loc 1 9 0\nst.shared.u32 [%s], %r3;\n" + kBarrier + kLookAcross + kAsk + kWait + kPut,
        "tile[0,0]: thread[63] reads at line 13 in phase 0 and thread[0] copies to it at line 10 in phase 0, "
        "with no barrier between");
}

TEST(ReadBeforeWait, TheBarrierBeforeACopyKeepsItFromWhatOthersRead) {
    // The copy is asked for behind the second barrier, and is waited for behind the third.
    const trace::Trace trace = recorded_copies(
        ".loc 1 9 0\nst.shared.u32 [%s], %r3;\n.loc 1 20 0\nbar.sync 0;\n" + kLookAcross +
        ".loc 1 21 0\nbar.sync 0;\n" + kAsk + ".loc 1 9 0\nst.shared.u32 [%s+256], %r3;\n" +
        ".loc 1 22 0\nbar.sync 0;\n.loc 1 23 0\nld.shared.u32 %r7, [%x+256];\n" + kWait + kPut);
    EXPECT_TRUE(hazards_of(trace).found.empty());
}

}  // namespace
}  // namespace tilescope::kernels
