// Random kernels run by the interpreter, against the same kernels evaluated thread by thread.
#include <cstring>

#include <gtest/gtest.h>

#include "tests/random_kernel.h"
#include "tests/unit/simt_run.h"

namespace tilescope::simt {
namespace {

using tilescope::test::RandomKernel;

std::vector<std::byte> bytes_of(const std::vector<uint32_t>& words) {
    std::vector<std::byte> bytes(words.size() * sizeof(uint32_t));
    std::memcpy(bytes.data(), words.data(), bytes.size());
    return bytes;
}

std::vector<uint32_t> words_of(const std::vector<std::byte>& bytes) {
    std::vector<uint32_t> words(bytes.size() / sizeof(uint32_t));
    std::memcpy(words.data(), bytes.data(), bytes.size());
    return words;
}

TEST(SimtRandom, KernelsLeaveWhatTheirTreesLeave) {
    constexpr Schedule kSchedules[] = {
        {Schedule::Kind::Fair, 0}, {Schedule::Kind::Greedy, 0}, {Schedule::Kind::Seeded, 7}};
    for (uint64_t seed = 0; seed < 1000; ++seed) {
        const RandomKernel kernel(seed);
        const std::vector<uint32_t> in = RandomKernel::inputs(seed);
        std::vector<uint32_t> out, counters = RandomKernel::counters();
        kernel.evaluate(in, out, counters);

        const auto program = test::program_of(kernel.emit(), "random");
        const auto bases = place_buffers({in.size() * 4, out.size() * 4, counters.size() * 4});
        GlobalMemory memory;
        memory.buffers = {{"in", bases[0], bytes_of(in)},
                          {"out", bases[1], std::vector<std::byte>(out.size() * 4)},
                          {"counters", bases[2], bytes_of(RandomKernel::counters())}};
        Launch launch;
        launch.grid = {kernel.blocks(), 1, 1};
        launch.block = {kernel.threads(), 1, 1};
        launch.arguments = test_arguments({bases[0], bases[1], bases[2]});
        RunOptions options;
        options.threads = 1 + seed % 2;
        options.schedule = kSchedules[seed % 3];
        const auto outcome = run(*program, launch, memory, options, {});
        ASSERT_TRUE(outcome) << seed << ": " << outcome.error().message;
        ASSERT_TRUE(outcome->complete) << seed << ": " << (outcome->fault ? outcome->fault->message : "");
        ASSERT_EQ(words_of(memory.buffers[1].bytes), out) << "seed " << seed << "\n" << kernel.emit();
        ASSERT_EQ(words_of(memory.buffers[2].bytes), counters) << "seed " << seed;
    }
}

}  // namespace
}  // namespace tilescope::simt
