// Random kernels (tests/random_kernel.h) by both engines.
#include <cstdlib>

#include "core/simt/program.h"
#include "tests/host/engine_both.h"
#include "tests/random_kernel.h"

namespace tilescope {
namespace {

using test::RandomKernel;

std::vector<std::byte> bytes_of(const std::vector<uint32_t>& words) {
    std::vector<std::byte> bytes(words.size() * sizeof(uint32_t));
    std::memcpy(bytes.data(), words.data(), bytes.size());
    return bytes;
}

// TILESCOPE_RANDOM_KERNELS: how many, in place of a few.
TEST(EngineRandom, KernelsLeaveTheSame) {
    const char* const asked = std::getenv("TILESCOPE_RANDOM_KERNELS");
    const uint64_t count = asked ? std::strtoull(asked, nullptr, 10) : 10;
    for (uint64_t seed = 0; seed < count; ++seed) {
        SCOPED_TRACE(seed);
        const RandomKernel kernel(seed);
        const std::vector<uint32_t> in = RandomKernel::inputs(seed);
        std::vector<uint32_t> out, counters = RandomKernel::counters();
        kernel.evaluate(in, out, counters);
        const auto module = ptx::parse(kernel.emit(), "random.ptx");
        ASSERT_TRUE(module);
        const auto program = simt::prepare(*module, "random");
        ASSERT_TRUE(program);
        const auto bases = simt::place_buffers({in.size() * 4, out.size() * 4, counters.size() * 4});
        simt::GlobalMemory memory;
        memory.buffers = {{"in", bases[0], bytes_of(in)},
                          {"out", bases[1], std::vector<std::byte>(out.size() * 4)},
                          {"counters", bases[2], bytes_of(RandomKernel::counters())}};
        Launch launch;
        launch.grid = {kernel.blocks(), 1, 1};
        launch.block = {kernel.threads(), 1, 1};
        launch.arguments = test_arguments({bases[0], bases[1], bases[2]});
        const test::Ran ran = test::expect_same(**program, launch, memory);
        ASSERT_EQ(ran.compiled, kernel.blocks());
        ASSERT_EQ(ran.memory.buffers[1].bytes, bytes_of(out));
        ASSERT_EQ(ran.memory.buffers[2].bytes, bytes_of(counters));
        ASSERT_FALSE(testing::Test::HasFailure());
    }
}

}  // namespace
}  // namespace tilescope
