// Barriers in memory: rings of stages against closed forms, in any order of warps; all instructions against a twin; kernels
// that hang, with what they say.
#include <random>

#include <gtest/gtest.h>

#include "tests/twin/mbarrier.h"
#include "tests/unit/simt_words.h"

namespace tilescope::simt {
namespace {

using ptx::Signal;
using test::WordRun, test::WordStep;
using tilescope::test::Ring, tilescope::test::TwinBarriers;

std::vector<Ring> rings() {
    std::vector<Ring> all;
    std::mt19937 random(39);
    const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
    for (uint32_t i = 0; i < 24; ++i) {
        Ring ring;
        ring.stages = 1 + i % 4, ring.consumers = 1 + below(3), ring.trips = below(12);
        ring.by_state = i & 1, ring.all_lanes = i & 2, ring.elects = i & 4, ring.tests = i & 8;
        ring.one_waits = below(2);
        ring.expects = static_cast<Ring::Expects>(below(3));
        all.push_back(ring);
    }
    return all;
}

std::string text_of(const Ring& r) {
    return fmt::format("stages {} consumers {} trips {} state {} all {} elect {} test {} one {} expects {}",
                       r.stages, r.consumers, r.trips, r.by_state, r.all_lanes, r.elects, r.tests,
                       r.one_waits, static_cast<int>(r.expects));
}

// Plays what was observed by the twin's rules; visit(step, twin behind it).
template <class Visit>
void play(const WordRun& run, Visit visit) {
    TwinBarriers twin;
    for (size_t i = 0; i <= run.steps.size(); ++i) {
        for (const auto& [copy, at] : run.landed) {
            if (at != i) continue;
            const WordStep& step = run.steps[copy];
            for_lanes(step.mask, [&](uint32_t lane) {
                if (step.words[lane][1] != ptx::kNoBarrier)
                    twin.complete(step.words[lane][1], step.words[lane][0]);
            });
        }
        if (i == run.steps.size()) break;
        const WordStep& step = run.steps[i];
        if (!step.barrier && run.site_of(step).signal != Signal::None)
            for_lanes(step.mask, [&](uint32_t lane) {
                EXPECT_EQ(twin.apply(run.site_of(step).signal, static_cast<uint32_t>(step.address[lane]),
                                     step.words[lane].data()),
                          "")
                    << "step " << i;
            });
        visit(step, twin);
    }
}

TEST(Signals, RingsBringWhatTheyAreToInAnyOrder) {
    for (const Ring& ring : rings()) {
        SCOPED_TRACE(text_of(ring));
        const WordRun made(ring);
        for (const Schedule& schedule : test::schedules()) {
            WordRun run = made;
            run.options.schedule = schedule;
            ASSERT_EQ(run.fault(), "");
            ASSERT_EQ(run.words_of_buffer(1), ring.expected());

            // The k-th wait of a consumer for a full stage comes behind k phases, none of which another follows before
            // all consumers have read.
            std::map<std::pair<uint32_t, uint32_t>, int64_t> waits;
            TwinBarriers end;
            uint64_t copied = 0;
            play(run, [&](const WordStep& step, const TwinBarriers& twin) {
                if (step.barrier) return;
                const ptx::Site& site = run.site_of(step);
                if (site.copy && site.kind == ptx::SiteKind::Store) copied += step.pieces[0].data.size();
                if (site.signal == Signal::Wait && step.warp > 0) {
                    const auto at = static_cast<uint32_t>(step.address[std::countr_zero(step.mask)]);
                    ASSERT_EQ(twin.at.at(at).ended, ++waits[std::pair(step.warp, at)]);
                }
                end = twin;
            });
            EXPECT_EQ(copied, uint64_t{ring.trips} * ring.row_bytes());
            for (uint32_t s = 0; s < ring.stages; ++s) {
                const auto& full = end.at.at(ring.full_at(s));
                EXPECT_EQ(full.ended, ring.uses(s));
                EXPECT_EQ(full.lacks, ring.full_count());
                EXPECT_EQ(full.tx, 0);
                EXPECT_EQ(end.at.at(ring.empty_at(s)).ended, ring.uses(s));
            }

            // In the recorded order the same happens.
            WordRun again = made;
            again.options.schedule.kind = Schedule::Kind::Recorded;
            again.options.values = true;
            for (const WordStep& step : run.steps)
                again.options.recorded_order.push_back(static_cast<uint8_t>(step.warp));
            ASSERT_EQ(again.fault(), "");
            ASSERT_EQ(again.steps, run.steps);
            ASSERT_EQ(again.landed, run.landed);
        }
    }
}

// --- all instructions, by a twin

struct BarrierAct {
    Signal what{};
    uint32_t barrier = 0, mask = 0, number = 0, bytes = 0;
    bool by_state = false;
};

// One warp does anything to three barriers; out[act, lane] is what it got: pending_count of a state, whether a phase has
// ended.
TEST(Signals, EveryInstructionIsThatOfATwin) {
    constexpr uint32_t kActs = 200, kBarriers = 3;
    for (uint32_t seed = 1; seed <= 12; ++seed) {
        std::mt19937 random(seed);
        const auto below = [&](uint32_t n) { return static_cast<uint32_t>(random() % n); };
        TwinBarriers twin;
        std::vector<uint32_t> expected(size_t{kActs} * 32, 0);
        std::array<std::array<int64_t, 32>, kBarriers> phase_of_state{};
        std::array<uint32_t, kBarriers> with_state{};
        std::string body;
        for (uint32_t n = 0; n < kActs; ++n) {
            BarrierAct act;
            const auto lanes =
                below(2) ? 1u << below(32) : static_cast<uint32_t>(random() & random() & random());
            act.barrier = below(kBarriers), act.mask = lanes ? lanes : 1;
            const uint32_t at = 8 * act.barrier;
            static constexpr Signal kDone[] = {
                Signal::Arrive, Signal::Arrive, Signal::Arrive, Signal::Drop, Signal::Complete,
                Signal::Expect, Signal::Wait,   Signal::Wait,   Signal::Init, Signal::Invalidate};
            act.what = n < kBarriers ? Signal::Init : kDone[below(10)];
            if (n < kBarriers) act.barrier = n, act.mask = 1;
            if (n >= kBarriers && !twin.at.contains(at)) act.what = Signal::Init;
            if (act.what == Signal::Init || act.what == Signal::Invalidate) {
                if (n >= kBarriers && twin.at.contains(at) && below(8)) continue;
                act.mask = 1u << below(32);
            }
            const uint32_t slot = 8 * act.barrier;
            uint32_t words[2] = {1, 0};
            switch (act.what) {
                case Signal::Init: words[0] = 1 + below(70); break;
                case Signal::Expect: words[0] = 16 * below(8); break;
                case Signal::Complete: words[0] = 16 * below(8); break;
                case Signal::Arrive: words[0] = 1 + below(3), words[1] = below(3) ? 0 : 16 * below(8); break;
                case Signal::Drop: words[1] = below(3) ? 0 : 16; break;
                case Signal::Wait:
                    words[0] = below(2), act.by_state = below(2);
                    if (act.by_state) act.mask &= with_state[act.barrier];
                    break;
                default: break;
            }
            if (words[1] != 0) words[0] = 1;  // an arrival with bytes is one
            TwinBarriers after = twin;
            std::array<uint32_t, 32> got{};
            std::array<int64_t, 32> state{};
            bool allowed = act.mask != 0;
            for_lanes(act.mask, [&](uint32_t lane) {
                if (!allowed) return;
                const bool is_new = act.what == Signal::Init;
                if (!is_new && !after.at.contains(slot)) return void(allowed = false);
                const auto before = is_new ? tilescope::test::TwinBarrier{} : after.at.at(slot);
                if (act.what == Signal::Wait) {
                    const bool over = act.by_state ? before.ended != phase_of_state[act.barrier][lane]
                                                   : (before.ended & 1) != words[0];
                    got[lane] = over;
                    // A state says no more than whether its own phase, or the one before, has ended.
                    if (act.by_state && before.ended > phase_of_state[act.barrier][lane] + 1) allowed = false;
                    return;
                }
                state[lane] = before.ended;
                const bool gives = act.what == Signal::Arrive || act.what == Signal::Drop;
                if (gives) got[lane] = static_cast<uint32_t>(before.lacks);
                allowed = after.apply(act.what, slot, words).empty() &&
                          (!after.at.contains(slot) || after.at.at(slot).count > 0);
            });
            if (!allowed) continue;
            twin = after;
            if (act.what == Signal::Init || act.what == Signal::Invalidate) with_state[act.barrier] = 0;
            const std::string where = fmt::format("[bars+{}]", slot);
            std::string text;
            switch (act.what) {
                case Signal::Init:
                    text = fmt::format("mbarrier.init.shared::cta.b64 {}, {};", where, words[0]);
                    break;
                case Signal::Invalidate: text = fmt::format("mbarrier.inval.shared.b64 {};", where); break;
                case Signal::Expect:
                    text = fmt::format("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 {}, {};", where,
                                       words[0]);
                    break;
                case Signal::Complete:
                    text = fmt::format("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 {}, {};", where,
                                       words[0]);
                    break;
                case Signal::Wait:
                    text = fmt::format(
                        "mbarrier.{}_wait{}.shared::cta.b64 %q, {}, {};", below(2) ? "test" : "try",
                        act.by_state ? "" : ".parity", where,
                        act.by_state ? fmt::format("%state{}", act.barrier) : std::to_string(words[0]));
                    break;
                default: {
                    const bool drops = act.what == Signal::Drop;
                    text = fmt::format("mbarrier.arrive{}{}.shared::cta.b64 %state{}, {}, {};",
                                       drops ? "_drop" : "", words[1] != 0 ? ".expect_tx" : "", act.barrier,
                                       where, words[1] != 0 ? words[1] : words[0]);
                    for_lanes(act.mask,
                              [&](uint32_t lane) { phase_of_state[act.barrier][lane] = state[lane]; });
                    with_state[act.barrier] |= act.mask;
                }
            }
            body +=
                fmt::format("shr.u32 %r1, {}, %t;\nand.b32 %r1, %r1, 1;\nsetp.ne.u32 %p, %r1, 0;\n@%p {}\n",
                            act.mask, text);
            if (act.what == Signal::Arrive || act.what == Signal::Drop)
                body += fmt::format("mbarrier.pending_count.b64 %r2, %state{};\n", act.barrier);
            else if (act.what == Signal::Wait)
                body += "selp.u32 %r2, 1, 0, %q;\n";
            else
                continue;
            body += fmt::format("@%p st.global.u32 [%o+{}], %r2;\n", 128 * n);
            for_lanes(act.mask, [&](uint32_t lane) { expected[size_t{n} * 32 + lane] = got[lane]; });
        }
        WordRun run;
        run.program = test::program_of(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_0)
{
.reg .b32 %t; .reg .b32 %r<4>; .reg .b64 %o; .reg .b64 %d<4>; .reg .b64 %state<3>; .reg .pred %p; .reg .pred %q;
.shared .align 8 .b8 bars[24];
ld.param.u64 %o, [k_0];
mov.u32 %t, %tid.x;
mul.wide.u32 %d0, %t, 4;
add.s64 %o, %o, %d0;
)" + body + "ret;\n}\n",
                                       "k");
        run.launch.block = {32, 1, 1};
        run.launch.arguments = test_arguments({test::kOut});
        run.memory.buffers = {{"out", test::kOut, Bytes(size_t{kActs} * 128)}};
        ASSERT_EQ(run.fault(), "") << seed;
        ASSERT_EQ(run.words_of_buffer(0), expected) << seed;
        TwinBarriers end;
        play(run, [&](const WordStep&, const TwinBarriers& now) { end = now; });
        EXPECT_EQ(end.at, twin.at) << seed;
    }
}

// --- what hangs, and what is wrong

std::string hang_of(Ring ring) { return WordRun(ring).fault(); }

TEST(Signals, ARingThatHangsSaysWhatItWaitsFor) {
    Ring ring;  // 3 stages, 2 consumers, rows of 256 bytes
    const std::string never = ": no thread is left that could change it, so that the kernel never ends";
    ring.bytes_more = 256;
    EXPECT_EQ(hang_of(ring),
              "in block(0) lane 0 of warp 0 waits at line 20 for the end of a phase of parity 0 of empty[0], "
              "which is in "
              "phase 0, with 0 of 2 arrivals; lanes 0 to 31 of warp 1 wait at line 30 for the end of a phase "
              "of parity 0 "
              "of full[0], which is in phase 0, with 1 of 1 arrivals and 256 of 512 bytes (1 more warp waits "
              "likewise)" +
                  never);
    ring.bytes_more = -128;
    EXPECT_EQ(hang_of(ring),
              "in block(0) lane 0 of warp 0 waits at line 20 for the end of a phase of parity 0 of empty[0], "
              "which is in "
              "phase 0, with 0 of 2 arrivals; lanes 0 to 31 of warp 1 wait at line 30 for the end of a phase "
              "of parity 0 "
              "of full[0], which is in phase 0, with 1 of 1 arrivals and 256 of 128 bytes (1 more warp waits "
              "likewise)" +
                  never);
    ring.bytes_more = 0, ring.arrivals_more = 1;
    EXPECT_EQ(hang_of(ring),
              "in block(0) lane 0 of warp 0 waits at line 20 for the end of a phase of parity 0 of empty[0], "
              "which is in "
              "phase 0, with 2 of 3 arrivals; lanes 0 to 31 of warp 1 wait at line 30 for the end of a phase "
              "of parity 1 "
              "of full[0], which is in phase 1, with 0 of 1 arrivals (1 more warp waits likewise)" +
                  never);
    ring.arrivals_more = 0, ring.empty_parity = 0;
    EXPECT_EQ(hang_of(ring),
              "in block(0) lane 0 of warp 0 waits at line 20 for the end of a phase of parity 0 of empty[0], "
              "which is in "
              "phase 0, with 0 of 2 arrivals; lanes 0 to 31 of warp 1 wait at line 30 for the end of a phase "
              "of parity 0 "
              "of full[0], which is in phase 0, with 0 of 1 arrivals (1 more warp waits likewise)" +
                  never);
    ring.empty_parity = 1, ring.initialises = false;
    EXPECT_EQ(hang_of(ring),
              "thread[0] of block(0) uses empty[0] at line 20, which no thread has initialised");
    // In any order, and within the time of a test.
    ring.initialises = true, ring.bytes_more = 16;
    for (const Schedule& schedule : test::schedules(4)) {
        WordRun run(ring);
        run.options.schedule = schedule;
        const std::string said = run.fault();
        EXPECT_NE(said.find("full[0], which is in phase 0, with 1 of 1 arrivals and 256 of 272 bytes"),
                  std::string::npos)
            << said;
    }
}

// A kernel of one barrier and 1,024 bytes of tile, for warps of 32: %t is the thread, %l its lane, %o its word of out, %i of
// in (word i is 1000 + i), %s of tile.
WordRun one_barrier(uint32_t count, const std::string& body, uint32_t threads = 32) {
    WordRun run;
    run.program = test::program_of(fmt::format(R"(.version 8.6
.target sm_90
.address_size 64
.visible .entry k(.param .u64 k_0, .param .u64 k_1)
{{
.reg .b32 %t; .reg .b32 %l; .reg .b32 %s; .reg .b32 %r<9>; .reg .b64 %i; .reg .b64 %o; .reg .b64 %d<9>; .reg .pred %p<9>;
.shared .align 128 .b8 tile[1024];
.shared .align 8 .b8 bar[8];
.loc 1 5 0
ld.param.u64 %i, [k_0];
ld.param.u64 %o, [k_1];
mov.u32 %t, %tid.x;
and.b32 %l, %t, 31;
mul.wide.u32 %d0, %t, 4;
add.s64 %i, %i, %d0;
add.s64 %o, %o, %d0;
shl.b32 %s, %t, 2;
mov.u32 %r0, tile;
add.u32 %s, %s, %r0;
setp.ne.u32 %p0, %t, 0;
@!%p0 mbarrier.init.shared::cta.b64 [bar], {};
bar.sync 0;
.loc 1 20 0
)",
                                               count) +
                                       body + "\nret;\n}\n.file 1 \"k.cu\"\n",
                                   "k");
    run.launch.block = {threads, 1, 1};
    run.launch.arguments = test_arguments({test::kIn, test::kOut});
    run.launch.arrays = {test_array("in", Space::Global, ArrayRole::Input, 1, 256, test::kIn),
                         test_array("out", Space::Global, ArrayRole::Output, 1, 256, test::kOut),
                         test_array("tile", Space::Shared, ArrayRole::Shared, 1, 256, 0, "tile"),
                         test_array("bar", Space::Shared, ArrayRole::Shared, 1, 1, 1024, "bar")};
    run.launch.arrays[3].type = ElementType::U64, run.launch.arrays[3].rank = 1;
    run.memory.buffers = {{"in", test::kIn, Bytes(1024)}, {"out", test::kOut, Bytes(1024)}};
    for (uint32_t i = 0; i < 256; ++i) {
        const uint32_t word = 1000 + i;
        std::memcpy(run.memory.buffers[0].bytes.data() + 4 * i, &word, 4);
    }
    return run;
}

TEST(Signals, WhatIsNoBarrierOrTooMuchIsSaid) {
    const auto fault = [](uint32_t count, const std::string& body) {
        return one_barrier(count, body).fault();
    };
    EXPECT_EQ(fault(3, "mbarrier.arrive.shared.b64 %d1, [bar], 2;"),
              "thread[1] of block(0) arrives 2 times at bar at line 20, whose phase 0 lacks 1 arrival");
    EXPECT_EQ(fault(0, ""),
              "thread[0] of block(0) initialises bar for 0 arrivals at line 5, which must be 1 to 1,048,575");
    EXPECT_EQ(fault(1, "mbarrier.init.shared.b64 [%s], 1;"),
              "thread[1] of block(0) takes byte 4 of shared memory for an mbarrier at line 20, which is not "
              "a multiple of 8");
    EXPECT_EQ(fault(1, "@!%p0 mbarrier.arrive.shared.b64 _, [tile];"),
              "thread[0] of block(0) uses the mbarrier at byte 0 of shared memory at line 20, which no "
              "thread has initialised");
    EXPECT_EQ(fault(1, "@!%p0 mbarrier.arrive.shared.b64 _, [tile+1032];"),
              "thread[0] of block(0) takes byte 1032 of shared memory for an mbarrier at line 20, outside "
              "the block's 1,032 "
              "bytes");
    EXPECT_EQ(fault(1, "@!%p0 mbarrier.arrive.b64 _, [%o];"),
              "thread[0] of block(0) takes address 0x20000 for an mbarrier at line 20, which is not in "
              "shared memory");
    EXPECT_EQ(fault(9, "@!%p0 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 1048576;"),
              "thread[0] of block(0) lets bar wait for 1,048,576 bytes at line 20, more than the 1,048,575 "
              "that it can count");
    EXPECT_EQ(fault(9, "@!%p0 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 1048576;"),
              "thread[0] of block(0) brings bar 1,048,576 bytes that it does not expect at line 20, more "
              "than the 1,048,575 "
              "that it can count");
    EXPECT_EQ(fault(1, "@!%p0 mbarrier.inval.shared.b64 [bar];\n@!%p0 mbarrier.arrive.shared.b64 _, [bar];"),
              "thread[0] of block(0) uses bar at line 20, which no thread has initialised");
}

// --- waits that are given up

// A loop that looks a few times and goes on, as a kernel does that has something else to do meanwhile.
TEST(Signals, AWaitIsGivenUpWhereNobodyElseCanGoOn) {
    const std::string body = R"(
mov.u32 %r1, 0;
mov.u32 %r2, 0;
AGAIN:
mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
@%p1 bra OVER;
add.u32 %r1, %r1, 1;
setp.lt.u32 %p2, %r1, 5;
@%p2 bra AGAIN;
mov.u32 %r2, 77;
@!%p0 mbarrier.arrive.shared::cta.b64 _, [bar];
OVER:
add.u32 %r2, %r2, %r1;
st.global.u32 [%o], %r2;)";
    WordRun run = one_barrier(1, body, 64);
    ASSERT_EQ(run.fault(), "");
    const auto out = run.words_of_buffer(1);
    EXPECT_EQ(out[0], 82u);  // thread 0 has looked five times
    // And in its recorded order, step by step.
    WordRun again = one_barrier(1, body, 64);
    again.options.schedule.kind = Schedule::Kind::Recorded;
    for (const WordStep& step : run.steps)
        again.options.recorded_order.push_back(static_cast<uint8_t>(step.warp));
    ASSERT_EQ(again.fault(), "");
    EXPECT_EQ(again.steps, run.steps);
    EXPECT_EQ(again.words_of_buffer(1), out);
}

// Lane 0 waits for what the others of its warp bring, and they for it behind bar.warp.sync.
TEST(Signals, LanesOfAWarpWaitForEachOther) {
    for (const uint32_t waiter : {0u, 5u, 31u})
        for (const Schedule& schedule : test::schedules(2)) {
            WordRun run = one_barrier(31 * 2,
                                      fmt::format(R"(
setp.eq.u32 %p1, %l, {};
@!%p1 bra OTHERS;
WAIT:
mbarrier.test_wait.parity.shared::cta.b64 %p2, [bar], 0;
@!%p2 bra WAIT;
mov.u32 %r1, 5;
bra TOGETHER;
OTHERS:
mov.u32 %r1, 6;
mbarrier.arrive.shared::cta.b64 _, [bar];
TOGETHER:
bar.warp.sync -1;
st.global.u32 [%o], %r1;)",
                                                  waiter),
                                      64);
            run.options.schedule = schedule;
            ASSERT_EQ(run.fault(), "");
            const auto out = run.words_of_buffer(1);
            for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t % 32 == waiter ? 5u : 6u);
        }
}

// Four lanes copy in one step, each for a barrier of its own, and four warps wait for one each: the step lands as a whole,
// so that its bytes are told in time to all of them.
TEST(Signals, LanesCopyForBarriersOfTheirOwn) {
    for (const Schedule& schedule : test::schedules(4)) {
        WordRun run = one_barrier(1, R"(
shl.b32 %r1, %l, 3;
add.u32 %r1, %r1, %r0;
shl.b32 %r2, %l, 4;
add.u32 %r2, %r2, %r0;
mul.wide.u32 %d1, %l, 12;
add.s64 %d1, %i, %d1;
setp.lt.u32 %p1, %t, 4;
@%p1 mbarrier.init.shared::cta.b64 [%r1+512], 1;
@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r1+512], 16;
bar.sync 0;
@%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r2], [%d1], 16, [%r1+512];
shr.u32 %r3, %t, 5;
setp.eq.u32 %p2, %r3, 0;
@%p2 bra END;
shl.b32 %r4, %r3, 3;
add.u32 %r4, %r4, %r0;
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p3, [%r4+504], 0;
@!%p3 bra WAIT;
shl.b32 %r5, %r3, 4;
add.u32 %r5, %r5, %r0;
ld.shared.u32 %r6, [%r5-16];
st.global.u32 [%o], %r6;
END:)",
                                  160);
        run.options.schedule = schedule;
        ASSERT_EQ(run.fault(), "");
        const auto out = run.words_of_buffer(1);
        for (uint32_t t = 32; t < 160; ++t) EXPECT_EQ(out[t], 1000 + 4 * (t / 32 - 1));
        EXPECT_EQ(run.landed.size(), 1u);
        play(run, [](const WordStep&, const TwinBarriers&) {});
    }
}

// Copies of cp.async arrive at a barrier: with .noinc in place of one of its arrivals, else beside them.
TEST(Signals, CopiesOfThreadsArrive) {
    for (const bool noinc : {false, true})
        for (const Schedule& schedule : test::schedules(4)) {
            WordRun run = one_barrier(
                32,
                fmt::format(R"(
setp.ge.u32 %p1, %t, 32;
@%p1 bra READER;
cp.async.ca.shared.global [%s], [%i], 4;
cp.async.ca.shared.global [%s+128], [%i+128], 4;
cp.async.mbarrier.arrive{}.shared::cta.b64 [bar];
{}
ret;
READER:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
@!%p2 bra READER;
ld.shared.u32 %r1, [%s-128];
ld.shared.u32 %r2, [%s];
add.u32 %r1, %r1, %r2;
st.global.u32 [%o], %r1;)",
                            noinc ? ".noinc" : "", noinc ? "" : "mbarrier.arrive.shared::cta.b64 _, [bar];"),
                64);
            run.options.schedule = schedule;
            ASSERT_EQ(run.fault(), "");
            const auto out = run.words_of_buffer(1);
            for (uint32_t t = 32; t < 64; ++t) EXPECT_EQ(out[t], (1000 + t - 32) + (1000 + t));
            play(run, [&](const WordStep& step, const TwinBarriers& twin) {
                if (!step.barrier && run.site_of(step).signal == Signal::Wait)
                    EXPECT_EQ(twin.at.at(1024).ended, 1);
            });
        }
    // Without .noinc nobody else's arrival comes.
    EXPECT_NE(one_barrier(32, R"(
cp.async.ca.shared.global [%s], [%i], 4;
cp.async.mbarrier.arrive.shared::cta.b64 [bar];
WAIT:
mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
@!%p2 bra WAIT;)")
                  .fault()
                  .find("bar, which is in phase 0, with 0 of 32 arrivals"),
              std::string::npos);
}

}  // namespace
}  // namespace tilescope::simt
