// PTX and recordings from strangers, recorded and run again: what does not end, and what takes too much, ends
// in a sentence.
#include <atomic>
#include <cstdlib>
#include <thread>

#include <gtest/gtest.h>

#include "core/trace/file.h"
#include "kernels/run/record.h"
#include "tests/allowed_memory.h"
#include "tests/launches.h"
#include "tests/recorded.h"

namespace tilescope::kernels {
namespace {

// A kernel `k` of one warp with an array `a` of 32 words. The body has %rd1, the thread's element of it, and
// %r1, which is 0.
Plan plan_of_stranger(const std::string& body, const std::string& variables = "", uint32_t blocks = 1) {
    Plan plan;
    plan.kernel = "k";
    plan.ptx_name = "k.ptx";
    plan.ptx = ".version 7.0\n.target sm_70\n.address_size 64\n" + variables +
               R"(.visible .entry k(.param .u64 k_0)
{
    .reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .f32 %f<8>; .reg .pred %p<4>;
    mov.u32 %r0, %tid.x;
    mov.u32 %r1, 0;
    ld.param.u64 %rd1, [k_0];
    mul.wide.u32 %rd2, %r0, 4;
    add.s64 %rd1, %rd1, %rd2;
)" + body + "\n    ret;\n}\n";
    plan.launch =
        test_launch({test_array("a", Space::Global, ArrayRole::InOut, 1, 32, 0)}, {blocks, 1, 1}, {32, 1, 1});
    return plan;
}

// The recording of one PTX with the PTX of another, which must have the same sites.
trace::Trace disguised(const std::string& recorded_as, const std::string& runs_as) {
    trace::Trace trace = recorded(plan_of_stranger(recorded_as));
    trace.meta.ptx = plan_of_stranger(runs_as).ptx;
    trace.module = nullptr;
    return trace;
}

constexpr const char* kEndless = "L: add.u32 %r1, %r1, 1; bra L;\n";

struct Ignore final : simt::BlockObserver {
    void on_request(const simt::Request&) override {}
    void on_barrier(uint32_t, uint32_t, uint32_t) override {}
};

std::string problem_of_replay(const trace::Trace& trace, const ReplayOptions& options = {}) {
    auto replayer = Replayer::of(trace);
    if (!replayer) return replayer.error().message;
    Ignore ignore;
    const auto done = replayer->replay(trace, 0, ignore, options);
    return done ? "" : done.error().message;
}

TEST(Strangers, AnEndlessLoopBetweenOrBehindTheStepsEndsTheReplay) {
    const std::string load = "ld.global.u32 %r2, [%rd1];\n", store = "st.global.u32 [%rd1], %r1;\n";
    const ReplayOptions few{nullptr, 100'000};
    const std::string between = problem_of_replay(disguised(load + store, load + kEndless + store), few);
    EXPECT_TRUE(
        between.starts_with("block(0) does not run again as it was recorded: it ends after 1 of 2 "
                            "steps, because thread[0] of block(0) has run 100128 "))
        << between;
    EXPECT_TRUE(between.ends_with("the kernel counts as never ending; record it again")) << between;
    const std::string behind = problem_of_replay(disguised(load + store, load + store + kEndless), few);
    EXPECT_NE(behind.find("it goes on after 2 of 2 steps, because"), std::string::npos) << behind;
    const auto flop = count_flop(disguised(load + store, load + store + kEndless), few);
    ASSERT_FALSE(flop);
    EXPECT_EQ(flop.error().message, behind);
}

// Much arithmetic between two accesses is honest.
TEST(Strangers, LongArithmeticRunsAgain) {
    const trace::Trace trace = recorded(plan_of_stranger(R"(
    ld.global.f32 %f1, [%rd1];
L:  fma.rn.f32 %f1, %f1, %f1, %f1;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 20000;
    @%p1 bra L;
    st.global.f32 [%rd1], %f1;)"));
    EXPECT_EQ(problem_of_replay(trace), "");
}

TEST(Strangers, ReplayIsStopped) {
    const std::string load = "ld.global.u32 %r2, [%rd1];\n";
    const trace::Trace trace = disguised(load + load, load + kEndless + load);
    std::atomic<bool> stop = false;
    std::jthread later([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(30));
        stop = true;
    });
    EXPECT_EQ(problem_of_replay(trace, {&stop, UINT64_MAX / 2}), "running block(0) again was stopped");
}

// A kernel that traps was recorded as incomplete, and runs again up to there.
TEST(Strangers, AFaultThatWasRecordedIsNone) {
    const trace::Trace trace = recorded(plan_of_stranger("ld.global.u32 %r2, [%rd1]; trap;"));
    EXPECT_FALSE(trace.meta.complete);
    EXPECT_EQ(problem_of_replay(trace), "");
    const std::string load = "ld.global.u32 %r2, [%rd1];\n";
    EXPECT_NE(problem_of_replay(disguised(load, load + "trap;\n")).find("ran into a trap"),
              std::string::npos);
}

// What observers keep of each product would be gigabytes here.
TEST(Strangers, ProductsWithoutEnd) {
    const AllowedMemory memory("0.01");
    const std::string problem = problem_of_replay(recorded(plan_of_stranger(R"(
    ld.global.f32 %f1, [%rd1];
L:  fma.rn.f32 %f2, %f1, %f1, %f2;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 100000;
    @%p1 bra L;
    st.global.f32 [%rd1], %f2;)")));
    EXPECT_EQ(problem,
              "running block(0) again, for all that it multiplies, takes more memory than the 0.01 GB that "
              "are allowed; set TILESCOPE_MAX_MEMORY to more gigabytes");
}

TEST(Strangers, ARecordingWithoutEndIsKeptAsFarAsMemoryGoes) {
    const AllowedMemory memory("0.01");
    const trace::Trace trace =
        recorded(plan_of_stranger("L: ld.global.u32 %r2, [%rd1]; add.u32 %r1, %r1, 1; bra L;\n"));
    EXPECT_FALSE(trace.meta.complete);
    EXPECT_EQ(
        trace.meta.incomplete_reason,
        "the recording takes more memory than the 0.01 GB that are allowed; set TILESCOPE_MAX_MEMORY to "
        "more gigabytes, or record a smaller window of blocks");
    EXPECT_GT(trace.steps(), 100'000u);
    EXPECT_LT(trace::bytes_of(trace), 10'000'000u);
    EXPECT_TRUE(trace::deserialize(serialize(trace), "a.tsc"));
    // Forms that never come again take more than their steps.
    const trace::Trace odd = recorded(plan_of_stranger(R"(
    mul.lo.u32 %r3, %r0, %r0;
L:  add.u32 %r1, %r1, %r3;
    shr.u32 %r4, %r1, 27;
    mul.wide.u32 %rd2, %r4, 4;
    ld.param.u64 %rd3, [k_0];
    add.s64 %rd3, %rd3, %rd2;
    add.u32 %r3, %r3, %r0;
    mul.lo.u32 %r3, %r3, 1664525;
    ld.global.u32 %r2, [%rd3];
    bra L;
)"));
    EXPECT_FALSE(odd.meta.complete);
    EXPECT_GT(odd.forms.size(), 1000u);
    EXPECT_LT(trace::bytes_of(odd), 10'000'000u);
}

TEST(Strangers, TheFirstBlockIsCountedNoLongerThanItMatters) {
    const AllowedMemory memory("0.01");
    const auto refused = record_cpu(
        plan_of_stranger("L: ld.global.u32 %r2, [%rd1]; add.u32 %r1, %r1, 1; bra L;\n", "", 100), {});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("recording 100 blocks of more than "), std::string::npos)
        << refused.error().message;
}

TEST(Strangers, MemoryThatPtxClaims) {
    const auto problem = [](const std::string& variables, const std::string& body) {
        const auto trace = record_cpu(plan_of_stranger(body + "ld.global.u32 %r2, [%rd1];", variables), {});
        return trace ? "" : trace.error().message;
    };
    const std::string takes = "mov.u64 %rd2, x;\n";
    EXPECT_EQ(
        problem(".const .b8 x[2000000000];\n", takes),
        "kernel 'k' declares 2,000,000,000 bytes of constant memory, more than the 65,536 that a GPU has; "
        "declare less");
    EXPECT_EQ(
        problem(".global .b8 x[2000000000];\n", takes),
        "recording k with 128 bytes of arrays, and 2.00 GB of variables and registers, takes more memory "
        "than the 1 GB that are allowed; set TILESCOPE_MAX_MEMORY to more gigabytes");
    EXPECT_EQ(
        problem("", ".local .b8 x[600000];\n" + takes),
        "kernel 'k' declares 600,000 bytes of local memory, more than the 524,288 that a GPU has; declare "
        "less");
    EXPECT_EQ(
        problem("", ".shared .b8 x[300000];\n" + takes),
        "kernel 'k' declares 300,000 bytes of shared memory, more than the 232,448 that a GPU has; declare "
        "less");
    EXPECT_EQ(problem(".const .b8 x[60000];\n.global .b8 y[1000000];\n", takes), "");
    std::string shared;
    for (int i = 0; i < 300; ++i) shared += ".shared .b8 s" + std::to_string(i) + "[4];\n";
    EXPECT_EQ(
        problem("", shared),
        "k.ptx cannot be recorded: its launch has 255 arrays, more than the 254 that a recording can hold");
}

TEST(Strangers, MatricesAreInTheEstimate) {
    RecordOptions one;
    one.window = {0, 1, 0, 1};
    const auto refused = record_cpu(*plan("untiled", {46000, 46000, 46000, 16}), one);
    ASSERT_FALSE(refused);
    EXPECT_EQ(
        refused.error().message,
        "recording untiled with 25.4 GB of arrays takes more memory than the 1 GB that are allowed; set "
        "TILESCOPE_MAX_MEMORY to more gigabytes");
}

TEST(Strangers, WhatAReaderWouldRefuseIsNotRecorded) {
    std::string lines(250'000, '\n');
    const auto refused = record_cpu(plan_of_stranger("ld.global.u32 %r2, [%rd1];", lines), {});
    ASSERT_FALSE(refused);
    EXPECT_EQ(
        refused.error().message,
        "a recording of k could not be opened again: its PTX has 250,015 lines, more than the 200,000 that "
        "a recording can hold; record a smaller kernel or launch");
    Plan long_source = plan_of_stranger("ld.global.u32 %r2, [%rd1];");
    long_source.source = lines;
    EXPECT_FALSE(record_cpu(long_source, {}));
}

}  // namespace
}  // namespace tilescope::kernels
