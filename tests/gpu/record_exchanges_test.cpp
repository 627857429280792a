// Shuffles, votes, matches and reductions of a warp, recorded on a GPU and on the CPU: the same lanes give to the
// same lanes, and what arrives leads to the same result.
#include <gtest/gtest.h>

#include "kernels/gpu/record_gpu.h"
#include "tests/launch_examples.h"
#include "tests/same_accesses.h"

namespace tilescope::gpu {
namespace {

TEST(RecordGpu, ExchangesAreTheSameOnBoth) {
    const auto opened = Device::open();
    if (!opened) GTEST_SKIP() << "needs an NVIDIA GPU";
    for (const kernels::Plan& plan : {kernels::warp_sums(), kernels::block_sums(), kernels::warp_talk()}) {
        SCOPED_TRACE(plan.kernel);
        simt::GlobalMemory on_gpu, on_cpu;
        GpuRecordOptions options;
        options.common.after = &on_gpu;
        const auto got = record_gpu(**opened, plan, options);
        ASSERT_TRUE(got) << got.error().message;
        const trace::Trace expected = kernels::recorded(plan, 1, &on_cpu);
        EXPECT_TRUE(ptx::has_exchanges(got->sites));
        EXPECT_EQ(trace::first_difference(expected, *got), "");
        ASSERT_EQ(on_gpu.buffers.size(), on_cpu.buffers.size());
        for (size_t i = 0; i < on_gpu.buffers.size(); ++i)
            EXPECT_TRUE(on_gpu.buffers[i].bytes == on_cpu.buffers[i].bytes) << on_gpu.buffers[i].name;
        // Each block runs again on the CPU as the GPU ran it.
        auto replayer = kernels::Replayer::of(*got);
        ASSERT_TRUE(replayer);
        struct Ignore final : simt::BlockObserver {
            void on_request(const simt::Request&) override {}
            void on_barrier(uint32_t, uint32_t, uint32_t) override {}
        } ignore;
        for (uint32_t block = 0; block < got->blocks.size(); ++block) {
            const auto same = replayer->replay(*got, block, ignore);
            EXPECT_TRUE(same) << same.error().message;
        }
    }
}

}  // namespace
}  // namespace tilescope::gpu
