// Random kernels run by the interpreter, against the same kernels evaluated thread by thread.
#include <gtest/gtest.h>

#include "tests/random_launch.h"
#include "tests/unit/simt_run.h"

namespace tilescope::simt {
namespace {

using tilescope::test::bytes_of;

TEST(SimtRandom, KernelsLeaveWhatTheirTreesLeave) {
    constexpr Schedule kSchedules[] = {
        {Schedule::Kind::Fair, 0}, {Schedule::Kind::Greedy, 0}, {Schedule::Kind::Seeded, 7}};
    for (uint64_t seed = 0; seed < 1000; ++seed) {
        tilescope::test::RandomLaunch made(seed);
        const auto program = test::program_of(made.kernel.emit(), "random");
        RunOptions options;
        options.threads = 1 + seed % 2;
        options.schedule = kSchedules[seed % 3];
        const auto outcome = run(*program, made.launch, made.memory, options, {});
        ASSERT_TRUE(outcome) << seed << ": " << outcome.error().message;
        ASSERT_TRUE(outcome->complete) << seed << ": " << (outcome->fault ? outcome->fault->message : "");
        ASSERT_EQ(made.memory.buffers[1].bytes, bytes_of(made.out)) << "seed " << seed << "\n"
                                                                    << made.kernel.emit();
        ASSERT_EQ(made.memory.buffers[2].bytes, bytes_of(made.counters)) << "seed " << seed;
    }
}

}  // namespace
}  // namespace tilescope::simt
