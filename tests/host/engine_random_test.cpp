// Random kernels (tests/random_kernel.h) by both engines.
#include <cstdlib>

#include "core/simt/program.h"
#include "tests/host/engine_both.h"
#include "tests/random_launch.h"

namespace tilescope {
namespace {

// TILESCOPE_RANDOM_KERNELS: how many, in place of a few.
TEST(EngineRandom, KernelsLeaveTheSame) {
    const char* const asked = std::getenv("TILESCOPE_RANDOM_KERNELS");
    const uint64_t count = asked ? std::strtoull(asked, nullptr, 10) : 3;
    for (uint64_t seed = 0; seed < count; ++seed) {
        SCOPED_TRACE(seed);
        const test::RandomLaunch made(seed);
        const auto module = ptx::parse(made.kernel.emit(), "random.ptx");
        ASSERT_TRUE(module);
        const auto program = simt::prepare(*module, "random");
        ASSERT_TRUE(program);
        const test::Ran ran = test::expect_same(**program, made.launch, made.memory);
        ASSERT_EQ(ran.compiled, made.kernel.blocks());
        ASSERT_EQ(ran.memory.buffers[1].bytes, test::bytes_of(made.out));
        ASSERT_EQ(ran.memory.buffers[2].bytes, test::bytes_of(made.counters));
        ASSERT_FALSE(testing::Test::HasFailure());
    }
}

}  // namespace
}  // namespace tilescope
