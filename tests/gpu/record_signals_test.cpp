// Barriers in memory, copies in bulk and products of warpgroups, recorded on a GPU and on the CPU: the same accesses and words of every warp, and
// the same results. What the GPU recorded runs again in its own order.
#include <gtest/gtest.h>

#include "kernels/gpu/record_gpu.h"
#include "tests/launch_examples.h"
#include "tests/same_accesses.h"
#include "tests/signal_kernels.h"

namespace tilescope::gpu {
namespace {

kernels::Plan signal_plan(const SignalKernel& kernel, uint32_t trips) {
    Array in = kernels::global_array("in", ArrayRole::Input, ElementType::F32, {kSignalFloats});
    in.contents = {Contents::Kind::SmallIntegers, 1, 0, {}};
    kernels::Plan plan = kernels::by_hand(
        kernel.name, kernel.threads,
        {in, kernels::global_array("out", ArrayRole::Output, ElementType::F32, {kSignalFloats})}, "", "");
    plan.launch.arguments.push_back({"n", ElementType::U32, trips, -1, 0});
    for (const int32_t array : {0, 1}) {
        if (!kernel.has_maps) break;
        const ptx::TensorMapBytes bytes = ptx::encode(signal_map(0));
        Argument& map = plan.launch.arguments.emplace_back();
        map.object.assign(bytes.begin(), bytes.end());
        map.map_of = array;
    }
    plan.ptx = kernel.ptx;
    return plan;
}

TEST(RecordGpu, BarriersInMemoryAndCopiesInBulkAreTheSameOnBoth) {
    const auto opened = Device::open();
    if (!opened) GTEST_SKIP() << "needs an NVIDIA GPU";
    if ((*opened)->info().major < 9) GTEST_SKIP() << "needs compute capability 9.0";
    for (const SignalKernel& kernel : signal_kernels())
        for (const uint32_t trips : {0u, 1u, 7u, 15u})
            for (const uint32_t blocks : {1u, 300u}) {
                SCOPED_TRACE(fmt::format("{}, {} trips, {} blocks", kernel.name, trips, blocks));
                kernels::Plan plan = signal_plan(kernel, trips);
                plan.launch.grid = {blocks, 1, 1};  // which all do the same
                simt::GlobalMemory on_gpu, on_cpu;
                GpuRecordOptions options;
                options.common.after = &on_gpu;
                options.timeout_s = 10;
                const auto got = record_gpu(**opened, plan, options);
                ASSERT_TRUE(got) << got.error().message;
                EXPECT_TRUE(got->meta.complete) << got->meta.incomplete_reason;
                const trace::Trace expected = kernels::recorded(plan, 1, &on_cpu);
                EXPECT_EQ(trace::first_difference(expected, *got), "");
                for (size_t i = 0; i < on_gpu.buffers.size(); ++i)
                    EXPECT_TRUE(on_gpu.buffers[i].bytes == on_cpu.buffers[i].bytes) << on_gpu.buffers[i].name;
                auto replayer = kernels::Replayer::of(*got);
                ASSERT_TRUE(replayer);
                struct Ignore final : simt::BlockObserver {
                    void on_request(const simt::Request&) override {}
                    void on_barrier(uint32_t, uint32_t, uint32_t) override {}
                } ignore;
                const auto same = replayer->replay(*got, blocks / 2, ignore);
                EXPECT_TRUE(same) << same.error().message;
            }
}

}  // namespace
}  // namespace tilescope::gpu
