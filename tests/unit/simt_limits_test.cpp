// The interpreter's bounds: instructions of a block, memory, observers that have seen enough or throw.
#include <algorithm>
#include <memory>
#include <new>
#include <vector>

#include <gtest/gtest.h>

#include "tests/unit/simt_run.h"

namespace tilescope::simt {
namespace {

using test::KernelRun;

// One array `a` of 64 words, whose address is the only parameter.
KernelRun run_of(const std::string& body, uint32_t blocks = 1, const std::string& variables = "") {
    KernelRun run;
    run.program = test::program_of(".version 7.0\n.target sm_70\n.address_size 64\n" + variables +
                                       R"ptx(.visible .entry k(.param .u64 k_0)
{
.reg .b32 %r<8>; .reg .b64 %rd<4>; .reg .f32 %f<8>; .reg .pred %p<4>;
ld.param.u64 %rd1, [k_0];
)ptx" + body + "\nret;\n}\n",
                                   "k");
    const uint64_t base = place_buffers({256})[0];
    run.memory.buffers.push_back({"a", base, Bytes(256)});
    run.launch.arrays.push_back(test_array("a", Space::Global, ArrayRole::InOut, 1, 64, base));
    run.launch.arguments = test_arguments({base});
    run.launch.block = {32, 1, 1};
    run.launch.grid = {blocks, 1, 1};
    return run;
}

TEST(SimtLimits, BuffersAreAlignedWhateverTheAllocatorGives) {
    const auto aligned = [](const std::byte* first) {
        return reinterpret_cast<uintptr_t>(first) % kHostAlignment == 0;
    };
    std::vector<Bytes> held;
    std::vector<std::shared_ptr<std::byte>> zeros;
    for (size_t size = 1; size < 300; size += 7) {
        EXPECT_TRUE(aligned(held.emplace_back(size).data())) << size;
        const std::byte* const first = zeros.emplace_back(untouched_zeros(size)).get();
        ASSERT_TRUE(first && aligned(first)) << size;
        EXPECT_TRUE(std::all_of(first, first + size, [](std::byte b) { return b == std::byte{0}; })) << size;
    }
    EXPECT_FALSE(untouched_zeros(UINT64_MAX));
}

TEST(SimtLimits, InstructionsOfABlock) {
    // It counts, so that it is not one that waits.
    KernelRun run = run_of("L: ld.global.u32 %r1, [%rd1]; add.u32 %r2, %r2, 1; bra L;");
    run.launch.block = {64, 1, 1};
    run.options.max_instructions_per_block = 1000;
    const Outcome outcome = run.run();
    ASSERT_TRUE(outcome.fault);
    EXPECT_EQ(outcome.fault->kind, Fault::Kind::NeverEnds);
    EXPECT_NE(outcome.fault->message.find("has run 1001 instructions with the others of its block"),
              std::string::npos)
        << outcome.fault->message;
    EXPECT_EQ(outcome.instructions, 1001u);
    run.options.max_instructions_per_warp = 100;
    EXPECT_NE(run.run().fault->message.find("has run 100 instructions and"), std::string::npos);
}

struct Enough final : BlockObserver {
    uint64_t steps = 0, ended = 0;
    void on_request(const Request&) override { enough = ++steps == 5; }
    void on_barrier(uint32_t, uint32_t, uint32_t) override {}
    void on_end() override { ++ended; }
};

TEST(SimtLimits, AnObserverThatHasSeenEnough) {
    KernelRun run = run_of("L: ld.global.u32 %r1, [%rd1]; bra L;");
    Enough observer;
    const auto outcome = simt::run(*run.program, run.launch, run.memory, run.options,
                                   [&](const BlockId&) { return &observer; });
    ASSERT_TRUE(outcome);
    EXPECT_TRUE(outcome->stopped);
    EXPECT_FALSE(outcome->complete);
    EXPECT_EQ(observer.steps, 5u);
    EXPECT_EQ(observer.ended, 1u);
}

// On whichever thread: the caller gets it, and the program goes on.
TEST(SimtLimits, WhatAnObserverThrowsReachesTheCaller) {
    struct Throws final : BlockObserver {
        void on_request(const Request&) override { throw std::bad_alloc(); }
        void on_barrier(uint32_t, uint32_t, uint32_t) override {}
    } observer;
    KernelRun run = run_of("ld.global.u32 %r1, [%rd1];", 1000);
    for (const unsigned threads : {1u, 4u}) {
        run.options.threads = threads;
        EXPECT_THROW((void)simt::run(*run.program, run.launch, run.memory, run.options,
                                     [&](const BlockId&) { return &observer; }),
                     std::bad_alloc);
    }
}

TEST(SimtLimits, MemoryOfARun) {
    KernelRun run = run_of(".local .b8 l[1000];\nst.local.u32 [l], %r1; ld.global.u32 %r1, [x];", 1,
                           ".global .b8 x[1000000];\n");
    run.launch.block = {1024, 1, 1};
    const uint64_t bytes = memory_of(*run.program, run.launch, false);
    EXPECT_GT(bytes, 1'000'000u + 1024 * 1000);
    EXPECT_LT(bytes, 3'000'000u);
    EXPECT_GT(memory_of(*run.program, run.launch, true), bytes);
    run.options.memory = bytes;
    EXPECT_TRUE(run.run().complete);
    run.options.memory = bytes - 1;
    const auto refused = run.try_run();
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("kernel 'k' takes 2."), std::string::npos)
        << refused.error().message;
    run.options.memory = 1'000'000'000;
    run.launch.dynamic_shared = 300'000;
    EXPECT_NE(run.try_run().error().message.find("takes 300,000 bytes of shared memory a block"),
              std::string::npos);
}

// What has to be cleared is looked for as far as that takes no time: all registers are, where the branches are many,
// though they lead to one place.
TEST(SimtLimits, BranchesWithManyRegisters) {
    const auto cleared = [](int many) {
        std::string sum, branches;
        for (int i = 0; i < many; ++i) {
            const std::string number = std::to_string(i);
            sum += "mov.u32 %m" + number + ", 1;\nadd.u32 %r1, %r1, %m" + number + ";\n";
            branches += "@%p1 bra L;\n";
        }
        const KernelRun run = run_of(".reg .b32 %m<" + std::to_string(many) +
                                     ">;\nmov.u32 %r1, 0;\nsetp.eq.u32 %p1, %r1, 0;\n" + sum + branches +
                                     "L: st.global.u32 [%rd1], %r1;");
        uint32_t bytes = 0;
        for (const Program::RegisterRange& range : run.program->cleared) bytes += range.bytes;
        return bytes;
    };
    EXPECT_LT(cleared(100), 100 * kColumnBytes);
    EXPECT_GT(cleared(20'000), 20'000 * kColumnBytes);
}

// A parameter's number has no 8 bits.
TEST(SimtLimits, ManyParameters) {
    std::string parameters;
    for (int i = 0; i < 300; ++i) parameters += ", .param .u32 p" + std::to_string(i);
    KernelRun run = run_of("ret;");
    run.program = test::program_of(
        R"ptx(.version 7.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 q)ptx" +
            parameters +
            R"ptx()
{
.reg .b32 %r<8>; .reg .b64 %rd<4>;
ld.param.u64 %rd1, [q];
ld.param.u32 %r1, [p290];
st.global.u32 [%rd1], %r1;
ret;
}
)ptx",
        "k");
    const uint64_t base = run.launch.arguments[0].value;
    run.launch.arguments = test_arguments({base});
    for (uint64_t i = 0; i < 300; ++i) run.launch.arguments.push_back({"", ElementType::U32, i + 7, -1, 0});
    ASSERT_TRUE(run.run().complete);
    uint32_t stored = 0;
    std::memcpy(&stored, run.memory.buffers[0].bytes.data(), 4);
    EXPECT_EQ(stored, 297u);
}

// Products that nothing takes are reported when no register holds them, not all at the warp's end.
TEST(SimtLimits, ProductsThatNothingTakes) {
    KernelRun run = run_of(R"(
    ld.global.f32 %f1, [%rd1];
L:  mul.rn.f32 %f2, %f1, %f1;
    add.u32 %r1, %r1, 1;
    setp.lt.u32 %p1, %r1, 5000;
    @%p1 bra L;
    ld.global.f32 %f3, [%rd1];
    add.rn.f32 %f4, %f2, %f3;
    st.global.f32 [%rd1], %f4;)");
    run.options.values = true;
    EXPECT_TRUE(run.run().complete);
    const std::vector<test::Event>& events = run.events[0];
    ASSERT_EQ(events.size(), 3u);
    EXPECT_GT(events[0].products.size(), 3000u);
    size_t all = 0;
    for (const test::Event& event : events) all += event.products.size();
    EXPECT_EQ(all, 5000u);
    // The last one went into the sum that was stored.
    ASSERT_FALSE(events[1].products.empty());
    EXPECT_EQ(events[1].products.front().result[0], events[2].origin[0]);
}

}  // namespace
}  // namespace tilescope::simt
