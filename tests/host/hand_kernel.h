// Kernels written by hand, recorded in two ways: by the interpreter, and by their own instrumented code.
// Both must hold the same requests, lane for lane, and leave the same result, bit for bit.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/ptx/parse.h"
#include "tests/host/instrumented_run.h"
#include "tests/host/same_requests.h"
#include "tests/launches.h"

namespace tilescope {

// `far` lies 16 GiB behind `in`, where 32-bit indices of `in` that wrap point to.
inline constexpr uint64_t kIn = 0x7F00'0000'0000, kOut = 0x7F00'0001'0000;
inline constexpr uint64_t kFar = kIn + (uint64_t{1} << 34) - 64;

// A kernel of pointers to in and out (160 words each), with shared memory `tile` (128 words).
inline std::string hand_kernel(const std::string& body) {
    return R"(
.version 6.2
.target sm_70
.address_size 64
.visible .entry k(.param .u64 k_0, .param .u64 k_1)
{
    .shared .align 4 .b8 tile[512];
    .reg .b32 %t; .reg .b32 %r<12>; .reg .b64 %i; .reg .b64 %o; .reg .b64 %d<9>; .reg .pred %p<9>;
)" + body + "\n}\n";
}

// Leaves the thread's number in its block in %t, and its elements of in and of out in %i and %o.
inline constexpr const char* kThreadOfHand = R"(
    mov.u32 %r0, %tid.z;
    mov.u32 %r1, %ntid.y;
    mov.u32 %r2, %tid.y;
    mad.lo.u32 %r0, %r0, %r1, %r2;
    mov.u32 %r1, %ntid.x;
    mov.u32 %r2, %tid.x;
    mad.lo.u32 %t, %r0, %r1, %r2;
    ld.param.u64 %i, [k_0];
    ld.param.u64 %o, [k_1];
    mul.wide.u32 %d0, %t, 4;
    add.s64 %i, %i, %d0;
    add.s64 %o, %o, %d0;
    mov.u32 %r3, 5;
    mov.u32 %r4, 0;
)";

struct HandRun {
    Dim3 grid{2, 1, 1}, block{32, 1, 1};
    BlockWindow window;
    bool far = false;       // there is such an array
    bool may_fail = false;  // the instrumented run, with a reason in run.problem

    InstrumentedRun run;
    trace::Trace expected, got;

    // Records both ways; `run.options` says how to instrument. The caller compares.
    void record(const std::string& text) {
        const auto module = ptx::parse(text, "hand.ptx");
        ASSERT_TRUE(module) << module.error().message;
        const auto program = simt::prepare(*module, "k");
        ASSERT_TRUE(program) << program.error().message;
        const std::vector<ptx::Site> sites = simt::sites_of(**program);
        std::vector<Array> arrays = {test_array("in", Space::Global, ArrayRole::Input, 1, 160, kIn),
                                     test_array("out", Space::Global, ArrayRole::Output, 1, 160, kOut),
                                     test_array("tile", Space::Shared, ArrayRole::Shared, 1, 128, 0, "tile")};
        Launch launch;
        launch.grid = grid, launch.block = block;
        simt::RunOptions one_thread;
        one_thread.threads = 1;
        one_thread.window = window;
        launch.arguments = test_arguments({kIn, kOut});
        simt::GlobalMemory before;
        before.buffers = {{"in", kIn, simt::Bytes(640)}, {"out", kOut, simt::Bytes(640)}};
        if (far) {
            arrays.push_back(test_array("far", Space::Global, ArrayRole::Input, 1, 64, kFar));
            before.buffers.push_back({"far", kFar, simt::Bytes(256)});
        }
        for (uint32_t i = 0; i < 160; ++i) {
            const uint32_t value = i * 7 % 13;
            std::memcpy(&before.buffers[0].bytes[4 * i], &value, 4);
        }

        const uint32_t width = std::min(window.x1, grid.x) - window.x0,
                       height = std::min(window.y1, grid.y) - window.y0;
        std::vector<std::unique_ptr<trace::BlockRecorder>> recorders(uint64_t{width} * height * grid.z);
        simt::GlobalMemory plain = before;
        const auto outcome = simt::run(**program, launch, plain, one_thread, [&](const simt::BlockId& b) {
            auto& recorder = recorders[(uint64_t{b.z} * height + b.y - window.y0) * width + b.x - window.x0];
            recorder = std::make_unique<trace::BlockRecorder>(arrays, sites, b);
            return recorder.get();
        });
        ASSERT_TRUE(outcome);
        ASSERT_TRUE(outcome->complete) << (outcome->fault ? outcome->fault->message : "");
        const trace::Meta meta;
        expected = trace::assemble(meta, test_launch(arrays, grid, block), sites, std::move(recorders));
        EXPECT_GT(expected.steps(), 0u);
        if (run.options.windowed) {  // blocks outside the window run as well
            plain = before;
            one_thread.window = {};
            ASSERT_TRUE(simt::run(**program, launch, plain, one_thread, nullptr));
        }

        run.threads = 1;
        const bool ran = run.run(*module, "k", launch, window, before, arrays, sites);
        if (!ran && may_fail) return;
        ASSERT_TRUE(ran) << run.problem;
        EXPECT_TRUE(same_bits(plain, run.memory));
        got = trace::assemble(meta, test_launch(arrays, grid, block), sites, std::move(run.decoded.blocks));
    }
};

// In every way of instrumenting.
inline void expect_same_by_hand(const std::string& text, Dim3 grid, Dim3 block,
                                const BlockWindow& window = {}) {
    for (const uint32_t chunk_bytes : {512u, 4096u})
        for (const bool exact : {false, true})
            for (const bool same_high : {false, true})
                for (const bool windowed : {false, true}) {
                    SCOPED_TRACE(testing::Message() << text << block.x << " x " << block.y << " x " << block.z
                                                    << " exact " << exact << " windowed " << windowed);
                    HandRun hand;
                    hand.grid = grid, hand.block = block, hand.window = window;
                    hand.run.options.chunk_bytes = chunk_bytes;
                    hand.run.options.exact = exact;
                    hand.run.options.windowed = windowed;
                    hand.run.options.same_high = same_high, hand.run.options.high = kIn >> 32;
                    hand.record(text);
                    if (testing::Test::HasFatalFailure()) return;
                    EXPECT_EQ(hand.run.flags, 0u);
                    expect_same_requests(hand.expected, hand.got);
                }
}

}  // namespace tilescope
