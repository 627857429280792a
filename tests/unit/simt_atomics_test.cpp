// atom, red and the clock: what kernels need that write a buffer of their own beside their arrays.
#include <array>
#include <atomic>
#include <bit>
#include <functional>
#include <numeric>
#include <thread>

#include <gtest/gtest.h>

#include "tests/launches.h"
#include "tests/unit/simt_run.h"

namespace tilescope::simt {
namespace {

using test::kBase, test::kOut;

// `body` leaves its result in %d7, which goes to out[thread of the grid], 8 bytes each; [%i]: words.
struct Ran : test::KernelRun {
    std::vector<uint32_t> words;
    std::vector<uint64_t> out;

    // meanwhile: what a thread of the host does with the words.
    Ran(const std::string& body, std::vector<uint32_t> initial, Dim3 block, Dim3 grid = {}, unsigned cpus = 1,
        const std::function<void(uint32_t*)>& meanwhile = {}) {
        program = test::program_of(
            R"ptx(.version 6.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 k_0, .param .u64 k_1)
{
.shared .align 8 .b8 tile[256];
.reg .b32 %t;
.reg .b32 %r<12>;
.reg .b64 %i;
.reg .b64 %o;
.reg .b64 %d<9>;
.reg .pred %p<9>;
ld.param.u64 %i, [k_0];
ld.param.u64 %o, [k_1];
mov.u32 %t, %tid.x;
)ptx" + body +
                R"ptx(
mov.u32 %r9, %ctaid.x;
mov.u32 %r10, %ntid.x;
mad.lo.u32 %r9, %r9, %r10, %t;
mul.wide.u32 %d0, %r9, 8;
add.s64 %d0, %d0, %o;
st.global.u64 [%d0], %d7;
ret;
}
)ptx",
            "k");
        launch.block = block, launch.grid = grid;
        launch.arguments = test_arguments({kBase, kOut});
        options.threads = cpus;
        const size_t threads = block.count() * grid.count();
        memory.buffers = {{"words", kBase, Bytes(initial.size() * 4)}, {"out", kOut, Bytes(threads * 8)}};
        std::memcpy(memory.buffers[0].bytes.data(), initial.data(), initial.size() * 4);
        std::jthread host;
        if (meanwhile)
            host = std::jthread(meanwhile, reinterpret_cast<uint32_t*>(memory.buffers[0].bytes.data()));
        const Outcome outcome = run();
        if (meanwhile) host.join();
        EXPECT_TRUE(outcome.complete) << (outcome.fault ? outcome.fault->message : "");
        words.resize(initial.size()), out.resize(threads);
        std::memcpy(words.data(), memory.buffers[0].bytes.data(), initial.size() * 4);
        std::memcpy(out.data(), memory.buffers[1].bytes.data(), threads * 8);
    }
};

const std::string kShow = "\ncvt.u64.u32 %d7, %r1;";

TEST(Atomics, LanesGoInOrderAndSeeWhatWasThere) {
    struct Case {
        const char* how;
        uint32_t start;
        uint32_t (*next)(uint32_t old, uint32_t lane);
    };
    const Case cases[] = {
        {"add.u32", 5, [](uint32_t o, uint32_t l) { return o + l; }},
        {"add.s32", 0xFFFF'FFF0, [](uint32_t o, uint32_t l) { return o + l; }},
        {"and.b32", 0xFF, [](uint32_t o, uint32_t l) { return o & l; }},
        {"or.b32", 64, [](uint32_t o, uint32_t l) { return o | l; }},
        {"xor.b32", 64, [](uint32_t o, uint32_t l) { return o ^ l; }},
        {"min.u32", 7, [](uint32_t o, uint32_t l) { return std::min(o, l); }},
        {"max.u32", 7, [](uint32_t o, uint32_t l) { return std::max(o, l); }},
        {"min.s32", 0xFFFF'FFFE, [](uint32_t o, uint32_t) { return o; }},
        {"max.s32", 0xFFFF'FFFE,
         [](uint32_t o, uint32_t l) { return o == 0xFFFF'FFFE ? l : std::max(o, l); }},
        {"inc.u32", 9, [](uint32_t o, uint32_t l) { return o >= l ? 0 : o + 1; }},
        {"dec.u32", 3, [](uint32_t o, uint32_t l) { return o == 0 || o > l ? l : o - 1; }},
        {"exch.b32", 99, [](uint32_t, uint32_t l) { return l; }},
    };
    for (const Case& c : cases)
        for (const bool shared : {false, true}) {
            SCOPED_TRACE(c.how);
            const std::string set =
                shared ? "mov.u32 %r3, " + std::to_string(c.start) + ";\nst.shared.u32 [tile+4], %r3;\n" : "";
            const std::string at = shared ? ".shared." : ".relaxed.gpu.global.";
            const std::string where = shared ? "[tile+4]" : "[%i+4]";
            const Ran ran(set + "atom" + at + c.how + " %r1, " + where + ", %t;" + kShow, {0, c.start},
                          {20, 1, 1});
            uint32_t word = c.start;
            for (uint32_t lane = 0; lane < 20; ++lane) {
                EXPECT_EQ(ran.out[lane], word) << lane;
                word = c.next(word, lane);
            }
            if (!shared) EXPECT_EQ(ran.words[1], word);
        }
}

TEST(Atomics, AThreadOfTheHostMayAddToTheSameWord) {
    constexpr uint32_t kPasses = 20'000, kLanes = 32;
    const Ran ran("again:\nred.global.add.u32 [%i], 1;\nadd.u32 %r1, %r1, 1;\nsetp.lt.u32 %p1, %r1, " +
                      std::to_string(kPasses) + ";\n@%p1 bra again;",
                  {0}, {kLanes, 1, 1}, {}, 1, [](uint32_t* words) {
                      const std::atomic_ref<uint32_t> word(*words);
                      for (uint32_t i = 0; i < kPasses * kLanes; ++i) word.fetch_add(1);
                  });
    EXPECT_EQ(ran.words[0], 2 * kPasses * kLanes);
}

TEST(Atomics, CompareAndSwapAndSixtyFourBits) {
    const Ran swapped("atom.global.cas.b32 %r1, [%i], %t, 100;" + kShow, {3, 0}, {8, 1, 1});
    EXPECT_EQ(swapped.out, (std::vector<uint64_t>{3, 3, 3, 3, 100, 100, 100, 100}));
    EXPECT_EQ(swapped.words[0], 100u);
    const Ran wide("cvt.u64.u32 %d1, %t;\nshl.b64 %d1, %d1, 31;\natom.global.add.u64 %d7, [%i], %d1;", {1, 0},
                   {3, 1, 1});
    EXPECT_EQ(wide.out, (std::vector<uint64_t>{1, 1, 1 + (uint64_t{1} << 31)}));
    EXPECT_EQ(wide.words, (std::vector<uint32_t>{0x8000'0001, 1}));
    const Ran generic("atom.max.s64 %d7, [%i], -7;\nmov.u64 %d7, 0;", {0, 0x8000'0000}, {1, 1, 1});
    EXPECT_EQ(generic.words, (std::vector<uint32_t>{0xFFFF'FFF9, 0xFFFF'FFFF}));
}

TEST(Atomics, OnlyActiveLanesUpdate) {
    const Ran ran(
        R"ptx(setp.lt.u32 %p1, %t, 5;
mov.u64 %d7, 0;
@%p1 red.global.add.u32 [%i], 3;
@!%p1 red.global.add.u32 [%i+4], 1;)ptx",
        {0, 0}, {40, 1, 1});
    EXPECT_EQ(ran.words, (std::vector<uint32_t>{15, 35}));
}

TEST(Atomics, AreAtomicAmongBlocksOnSeveralThreads) {
    // Every thread takes 40 tickets: none is given twice.
    const Ran ran(
        R"ptx(mov.u32 %r2, 0;
mov.u64 %d7, 0;
$again:
atom.global.add.u32 %r1, [%i], 1;
cvt.u64.u32 %d1, %r1;
add.s64 %d7, %d7, %d1;
add.u32 %r2, %r2, 1;
setp.lt.u32 %p1, %r2, 40;
@%p1 bra $again;)ptx",
        {0}, {96, 1, 1}, {16, 1, 1}, 4);
    const uint64_t tickets = 40u * 96 * 16;
    EXPECT_EQ(ran.words[0], tickets);
    EXPECT_EQ(std::accumulate(ran.out.begin(), ran.out.end(), uint64_t{0}), tickets * (tickets - 1) / 2);
}

TEST(Atomics, AddFloats) {
    constexpr uint32_t kSmall = 1;  // the least subnormal number
    const Ran ran(
        R"ptx(mov.u64 %d7, 0;
red.global.add.f32 [%i], 0f3F800000;
atom.global.add.f64 %d1, [%i+8], 0d3FE0000000000000;
red.global.add.f32 [%i+4], 0f00000000;
st.shared.u32 [tile], 1;
atom.shared.add.f32 %r1, [tile], 0f00000000;
ld.shared.u32 %r2, [tile];
cvt.u64.u32 %d7, %r2;)ptx",
        {0, kSmall, 0, 0}, {3, 1, 1});
    EXPECT_EQ(std::bit_cast<float>(ran.words[0]), 3.0F);
    EXPECT_EQ(ran.words[1], 0u);  // global memory flushes it, shared memory does not
    EXPECT_EQ(ran.out[0], kSmall);
    EXPECT_EQ((std::bit_cast<double>(std::array{ran.words[2], ran.words[3]})), 1.5);
}

TEST(Atomics, FaultAsOtherAccesses) {
    test::KernelRun run;
    run.program = test::program_of(
        R"ptx(.version 6.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 k_0)
{
.reg .b64 %o;
ld.param.u64 %o, [k_0];
red.global.add.u32 [%o+64], 1;
ret;
}
)ptx",
        "k");
    run.launch.arguments = test_arguments({kBase});
    run.memory.buffers = {{"x", kBase, Bytes(64)}};
    const Outcome outcome = run.run();
    ASSERT_TRUE(outcome.fault);
    EXPECT_EQ(outcome.fault->kind, Fault::Kind::OutOfBounds);
    EXPECT_NE(outcome.fault->message.find("updates"), std::string::npos) << outcome.fault->message;
    run.memory.buffers[0].bytes.resize(68);
    EXPECT_TRUE(run.run().complete);
    EXPECT_EQ(run.memory.buffers[0].bytes[64], std::byte{1});
}

TEST(Clock, IncreasesFromOneInstructionToTheNext) {
    const Ran ran(
        R"ptx(mov.u64 %d1, %clock64;
mov.u64 %d2, %clock64;
mov.u32 %r1, %clock;
mov.u32 %r2, %clock_hi;
cvt.u64.u32 %d3, %r1;
setp.lt.u64 %p1, %d1, %d2;
setp.lt.and.u64 %p1, %d2, %d3, %p1;
setp.eq.and.u32 %p1, %r2, 0, %p1;
selp.u64 %d7, 1, 0, %p1;)ptx",
        {0}, {33, 1, 1});
    for (const uint64_t ok : ran.out) EXPECT_EQ(ok, 1u);
}

// One clock for all warps: what a warp does after a barrier is later than what any did before it, and
// no two warps ever read the same.
TEST(Clock, IsTheBlocks) {
    for (const auto kind : {Schedule::Kind::Fair, Schedule::Kind::Greedy}) {
        test::KernelRun run;
        run.program = test::program_of(
            R"ptx(.version 6.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 k_0)
{
.reg .b64 %o;
.reg .b64 %d<4>;
.reg .b32 %t;
mov.u32 %t, %tid.x;
ld.param.u64 %o, [k_0];
mul.wide.u32 %d0, %t, 16;
add.s64 %o, %o, %d0;
mov.u64 %d1, %clock64;
st.global.u64 [%o], %d1;
bar.sync 0;
mov.u64 %d2, %clock64;
st.global.u64 [%o+8], %d2;
ret;
}
)ptx",
            "k");
        run.launch.block = {128, 1, 1};
        run.options.schedule.kind = kind;
        run.launch.arguments = test_arguments({kBase});
        run.memory.buffers = {{"x", kBase, Bytes(128 * 16)}};
        ASSERT_TRUE(run.run().complete);
        std::vector<uint64_t> clock(256);
        std::memcpy(clock.data(), run.memory.buffers[0].bytes.data(), 128 * 16);
        uint64_t last_before = 0, first_after = UINT64_MAX;
        std::vector<uint64_t> seen;
        for (size_t warp = 0; warp < 4; ++warp)
            for (size_t k = 0; k < 2; ++k) {
                const uint64_t at = clock[warp * 64 + k];
                for (size_t lane = 0; lane < 32; ++lane) EXPECT_EQ(clock[(warp * 32 + lane) * 2 + k], at);
                (k ? first_after : last_before) = k ? std::min(first_after, at) : std::max(last_before, at);
                seen.push_back(at);
            }
        EXPECT_LT(last_before, first_after);
        std::sort(seen.begin(), seen.end());
        EXPECT_EQ(std::adjacent_find(seen.begin(), seen.end()), seen.end());
    }
}

TEST(Vectors, OfRegistersAndConstantsAreStoredUnderAPredicate) {
    const Ran ran(
        R"ptx(setp.eq.u32 %p1, %t, 2;
mov.u64 %d7, 0;
mov.u32 %r1, 11;
mov.u64 %d1, 0x500000006;
mov.b64 {%r2, %r3}, %d1;
mov.b64 %d2, {%r3, %r2};
@%p1 st.global.v4.b32 [%i], {%r1, 77, %r2, -1};
@!%p1 bra.uni $skip;
st.global.v2.b64 [%i+16], {%d2, 9};
$skip:)ptx",
        std::vector<uint32_t>(8), {4, 1, 1});
    EXPECT_EQ(ran.words, (std::vector<uint32_t>{11, 77, 6, 0xFFFF'FFFF, 5, 6, 9, 0}));
    const Ran back(
        R"ptx(ld.global.v4.b32 {%r1, %r2, %r3, %r4}, [%i];
ld.relaxed.gpu.global.v2.b64 {%d1, %d2}, [%i+16];
xor.b32 %r1, %r1, %r4;
xor.b32 %r2, %r2, %r3;
mov.b64 %d7, {%r1, %r2};
xor.b64 %d7, %d7, %d1;
xor.b64 %d7, %d7, %d2;
fence.acq_rel.gpu;
membar.gl;)ptx",
        {1, 2, 4, 8, 16, 32, 64, 128}, {1, 1, 1});
    EXPECT_EQ(back.out[0], (uint64_t{6 ^ 32 ^ 128} << 32 | (9 ^ 16 ^ 64)));
}

TEST(GenericAddresses, AreAskedWhichSpaceTheyAreIn) {
    for (const auto& [space, bit] : {std::pair{"shared", 1}, {"global", 2}, {"local", 4}}) {
        const Ran ran(
            R"ptx(mov.u64 %d1, tile;
cvta.shared.u64 %d1, %d1;
mov.u64 %d7, 0;
isspacep.)ptx" + std::string(space) +
                " %p1, %d1;\nisspacep." + space +
                R"ptx( %p2, %i;
selp.u64 %d2, 1, 0, %p1;
selp.u64 %d3, 2, 0, %p2;
or.b64 %d7, %d2, %d3;)ptx",
            {0}, {2, 1, 1});
        EXPECT_EQ(ran.out[1], static_cast<uint64_t>(bit & 3)) << space;
    }
}

}  // namespace
}  // namespace tilescope::simt
