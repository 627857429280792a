// A thousand random kernels on a GPU: each leaves what its tree leaves when it is evaluated thread by thread,
// as the interpreter does (tests/unit/simt_random_test.cpp).
#include <cstring>

#include <gtest/gtest.h>

#include "kernels/gpu/driver.h"
#include "tests/random_kernel.h"

namespace tilescope::gpu {
namespace {

using test::RandomKernel;

TEST(RecordRandom, KernelsLeaveWhatTheirTreesLeave) {
    const auto opened = Device::open();
    if (!opened) GTEST_SKIP() << "needs an NVIDIA GPU";
    Device& device = **opened;
    const auto placed = [&](const std::vector<uint32_t>& words, const char* what) {
        auto memory = device.allocate(words.size() * sizeof(uint32_t), what);
        EXPECT_TRUE(memory && device.upload(*memory, 0, words.data(), words.size() * sizeof(uint32_t)))
            << what;
        return memory ? *memory : Memory{};
    };
    for (uint64_t seed = 0; seed < 1000; ++seed) {
        const RandomKernel kernel(seed);
        const std::vector<uint32_t> in = RandomKernel::inputs(seed);
        std::vector<uint32_t> out, counters = RandomKernel::counters();
        kernel.evaluate(in, out, counters);

        const auto function = device.load(kernel.emit(), "random.ptx", "random");
        ASSERT_TRUE(function) << seed << ": " << function.error().message;
        const Memory on_in = placed(in, "in"), on_out = placed(std::vector<uint32_t>(out.size()), "out"),
                     on_counters = placed(RandomKernel::counters(), "counters");
        const auto ms = device.launch(*function, {kernel.blocks(), 1, 1}, {kernel.threads(), 1, 1},
                                      {on_in.address(), on_out.address(), on_counters.address()});
        ASSERT_TRUE(ms) << seed << ": " << ms.error().message;
        std::vector<uint32_t> made(out.size()), counted(counters.size());
        ASSERT_TRUE(device.download(made.data(), on_out, 0, made.size() * sizeof(uint32_t)));
        ASSERT_TRUE(device.download(counted.data(), on_counters, 0, counted.size() * sizeof(uint32_t)));
        ASSERT_EQ(made, out) << "seed " << seed;
        ASSERT_EQ(counted, counters) << "seed " << seed;
    }
}

}  // namespace
}  // namespace tilescope::gpu
