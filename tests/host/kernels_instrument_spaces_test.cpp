// Instrumented kernels with atomics, and with local, constant and generic memory: what they record when they
// run in the interpreter is what the interpreter itself records, and so is what the atomics gave back.
#include <gtest/gtest.h>

#include "kernels/run/ready.h"
#include "kernels/run/record.h"
#include "tests/host/instrumented_run.h"
#include "tests/host/same_requests.h"
#include "tests/random_kernel.h"
#include "tests/same_threads.h"

namespace tilescope::kernels {
namespace {

Array words(const std::string& name, const std::vector<uint32_t>& values) {
    Array array;
    array.name = name;
    array.type = ElementType::U32;
    array.rank = 1;
    array.cols = static_cast<uint32_t>(values.size());
    array.role = ArrayRole::InOut;
    array.contents.kind = Contents::Kind::Stored;
    const auto* const first = reinterpret_cast<const std::byte*>(values.data());
    array.contents.bytes = std::make_shared<const std::vector<std::byte>>(first, first + 4 * values.size());
    return array;
}

Plan plan_with_arrays(const std::string& ptx, const Dim3& grid, const Dim3& block,
                      std::vector<Array> arrays) {
    Plan plan;
    plan.kernel = "kernel";
    plan.ptx = ptx;
    plan.ptx_name = "kernel.ptx";
    plan.launch.grid = grid, plan.launch.block = block;
    for (Array& array : arrays) {
        plan.launch.arguments.push_back(
            {array.name, ElementType::U64, 0, static_cast<int32_t>(plan.launch.arrays.size()), 0});
        plan.launch.arrays.push_back(std::move(array));
    }
    place_arrays(plan.launch);
    return plan;
}

void expect_both_record_the_same(const Plan& plan, bool exact = false) {
    RecordOptions options;
    options.threads = 1;  // so that atomics find the same
    options.timestamp = false;
    simt::GlobalMemory after;
    options.after = &after;
    const auto cpu = record_cpu(plan, options);
    ASSERT_TRUE(cpu) << cpu.error().message;
    ASSERT_TRUE(cpu->meta.complete) << cpu->meta.incomplete_reason;
    const auto ready = make_ready(plan, 1'000'000'000, "a test");
    ASSERT_TRUE(ready) << ready.error().message;
    InstrumentedRun run;
    run.threads = 1;
    run.chunks = 1 << 13;
    run.options.exact = exact;
    run.options.same_high = true;
    run.options.high = static_cast<uint32_t>(plan.launch.arrays[0].base >> 32);
    ASSERT_TRUE(run.run(*ready->module, ready->launch.entry, ready->launch, {}, ready->memory,
                        cpu->launch.arrays, cpu->sites))
        << run.problem;
    EXPECT_TRUE(same_bits(after, run.memory));
    EXPECT_EQ(run.decoded.dropped, 0u);
    trace::Meta meta = cpu->meta;
    meta.backend = trace::Backend::Gpu;
    const trace::Trace recorded =
        trace::assemble(meta, cpu->launch, cpu->sites, std::move(run.decoded.blocks));
    EXPECT_EQ(trace::difference_of_threads(*cpu, recorded), "");
    EXPECT_EQ(recorded.returned.size(), cpu->returned.size());
}

TEST(InstrumentedSpaces, RandomKernelsWithAtomics) {
#ifdef __SANITIZE_ADDRESS__
    constexpr uint64_t kKernels = 20;  // which the sanitizers make ten times as slow
#else
    constexpr uint64_t kKernels = 100;
#endif
    for (uint64_t seed = 0; seed < kKernels; ++seed) {
        SCOPED_TRACE(seed);
        const test::RandomKernel kernel(seed);
        const uint64_t threads = uint64_t{kernel.threads()} * kernel.blocks();
        expect_both_record_the_same(
            plan_with_arrays(
                kernel.emit(), {kernel.blocks(), 1, 1}, {kernel.threads(), 1, 1},
                {words("in", test::RandomKernel::inputs(seed)), words("out", std::vector<uint32_t>(threads)),
                 words("counters", test::RandomKernel::counters())}),
            seed % 5 == 0);
    }
}

constexpr const char* kHead = ".version 7.0\n.target sm_70\n.address_size 64\n";

// A ticket for each odd thread, by a global counter; what it drew is stored, so that returned values matter,
// and a red whose result nobody asks for.
TEST(InstrumentedSpaces, WhatAtomicsGaveBack) {
    const std::string ptx = std::string(kHead) + R"(
.visible .entry kernel(.param .u64 tickets, .param .u64 drawn) {
    .reg .b64 %d<6>; .reg .b32 %r<8>; .reg .pred %p;
    ld.param.u64 %d1, [tickets];
    ld.param.u64 %d2, [drawn];
    mov.u32 %r1, %tid.x;
    mov.u32 %r4, %ctaid.x;
    mov.u32 %r5, %ntid.x;
    mad.lo.u32 %r6, %r4, %r5, %r1;
    and.b32 %r2, %r1, 1;
    setp.eq.u32 %p, %r2, 1;
    mov.u32 %r3, 7;
    @%p atom.global.add.u32 %r3, [%d1], 1;
    red.global.add.u32 [%d1+4], %r1;
    mul.wide.u32 %d3, %r6, 4;
    add.u64 %d4, %d2, %d3;
    st.global.u32 [%d4], %r3;
    mul.wide.u32 %d3, %r3, 8;
    add.u64 %d4, %d2, %d3;
    atom.global.exch.b64 %d5, [%d4+1024], %d3;
    ret;
})";
    const Plan plan = plan_with_arrays(
        ptx, {3, 1, 1}, {48, 1, 1},
        {words("tickets", std::vector<uint32_t>(4)), words("drawn", std::vector<uint32_t>(1024))});
    RecordOptions options;
    options.threads = 1;
    const auto cpu = record_cpu(plan, options);
    ASSERT_TRUE(cpu) << cpu.error().message;
    const auto ready = make_ready(plan, 1'000'000'000, "a test");
    ASSERT_TRUE(ready) << ready.error().message;
    InstrumentedRun run;
    run.threads = 1;
    ASSERT_TRUE(
        run.run(*ready->module, "kernel", ready->launch, {}, ready->memory, cpu->launch.arrays, cpu->sites))
        << run.problem;
    const trace::Trace recorded =
        trace::assemble(cpu->meta, cpu->launch, cpu->sites, std::move(run.decoded.blocks));
    expect_same_requests(*cpu, recorded);
    ASSERT_FALSE(cpu->returned.empty());
    // In the interpreter a block runs warp by warp whether it is instrumented or not.
    EXPECT_EQ(recorded.returned, cpu->returned);
}

// Lanes of one load in four spaces, and the same spaces by their own instructions.
TEST(InstrumentedSpaces, LocalConstantAndGenericMemory) {
    const std::string ptx = std::string(kHead) + R"(
.const .align 4 .u32 table[4] = {3, 1, 4, 1};
.visible .entry kernel(.param .u64 out) {
    .local .align 8 .b8 depot[32];
    .shared .align 4 .u32 tile[64];
    .reg .b64 %d<9>; .reg .b32 %r<9>; .reg .pred %p<4>;
    ld.param.u64 %d1, [out];
    mov.u32 %r1, %tid.x;
    mul.wide.u32 %d2, %r1, 4;
    mov.u64 %d3, depot;
    and.b64 %d4, %d2, 28;
    add.u64 %d4, %d3, %d4;
    st.local.u32 [%d4], %r1;
    st.local.v2.u32 [depot+8], {%r1, %r1};
    ld.local.u32 %r2, [%d4];
    and.b32 %r3, %r1, 3;
    mul.wide.u32 %d5, %r3, 4;
    mov.u64 %d6, table;
    add.u64 %d6, %d6, %d5;
    ld.const.u32 %r4, [%d6];
    ld.const.u32 %r5, [table+8];
    mov.u64 %d7, tile;
    add.u64 %d7, %d7, %d2;
    st.shared.u32 [%d7], %r4;
    cvta.shared.u64 %d7, %d7;
    cvta.local.u64 %d4, %d4;
    cvta.const.u64 %d6, %d6;
    add.u64 %d8, %d1, %d2;
    setp.eq.u32 %p1, %r3, 1;
    setp.eq.u32 %p2, %r3, 2;
    setp.eq.u32 %p3, %r3, 3;
    mov.u64 %d5, %d8;
    selp.b64 %d5, %d7, %d5, %p1;
    selp.b64 %d5, %d4, %d5, %p2;
    selp.b64 %d5, %d6, %d5, %p3;
    ld.u32 %r6, [%d5];
    add.u32 %r6, %r6, %r2;
    add.u32 %r6, %r6, %r5;
    st.global.u32 [%d8], %r6;
    ret;
})";
    for (const bool exact : {false, true})
        expect_both_record_the_same(
            plan_with_arrays(ptx, {2, 1, 1}, {64, 1, 1}, {words("out", std::vector<uint32_t>(64, 5))}),
            exact);
}

}  // namespace
}  // namespace tilescope::kernels
