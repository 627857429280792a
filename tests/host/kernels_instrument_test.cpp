// Instrumented kernels run in the interpreter and record what the interpreter itself records, request for
// request and lane for lane, and leave the same result, bit for bit.
#include <filesystem>

#include <gtest/gtest.h>

#include "core/ptx/parse.h"
#include "kernels/run/ready.h"
#include "kernels/run/record.h"
#include "kernels/textbook/reference.h"
#include "tests/file_text.h"
#include "tests/host/instrumented_run.h"
#include "tests/host/same_requests.h"
#include "tests/recorded.h"

namespace tilescope::kernels {
namespace {

struct Both {
    trace::Trace cpu, recorded;
    InstrumentedRun run;
};

// Records a plan both ways and compares. `run` says how.
void record_both(const TextbookPlan& plan, Both& both, const BlockWindow& window = {}, bool whole = true) {
    RecordOptions options;
    options.window = window;
    options.timestamp = false;
    auto cpu = record_cpu(plan, options);
    ASSERT_TRUE(cpu) << cpu.error().message;
    both.cpu = std::move(*cpu);
    auto ready = make_ready(plan, 1'000'000'000, "a test");
    ASSERT_TRUE(ready) << ready.error().message;

    simt::GlobalMemory plain = ready->memory;  // the result without recording
    simt::RunOptions same_blocks;
    same_blocks.threads = 2;
    same_blocks.schedule = plan.schedule;
    if (!both.run.options.windowed) same_blocks.window = window;
    ASSERT_TRUE(simt::run(*ready->program, ready->launch, plain, same_blocks, nullptr));
    both.run.schedule = plan.schedule;
    both.run.options.same_high = true;
    both.run.options.high = static_cast<uint32_t>(plan.launch.arrays[0].base >> 32);
    ASSERT_TRUE(both.run.run(*ready->module, ready->launch.entry, ready->launch, window, ready->memory,
                             both.cpu.launch.arrays, both.cpu.sites))
        << both.run.problem;
    EXPECT_EQ(both.run.flags, 0u);
    EXPECT_FALSE(both.run.decoded.clock_gaps);
    EXPECT_TRUE(same_bits(plain, both.run.memory));
    trace::Meta meta = both.cpu.meta;
    meta.backend = trace::Backend::Gpu;
    both.recorded =
        trace::assemble(meta, both.cpu.launch, both.cpu.sites, std::move(both.run.decoded.blocks));
    EXPECT_EQ(both.recorded.time.size(), both.recorded.steps());
    if (!whole) return;
    EXPECT_EQ(both.run.decoded.dropped, 0u);
    EXPECT_EQ(both.run.decoded.records, both.cpu.steps());
    expect_same_requests(both.cpu, both.recorded);
}

constexpr Shape kInstrumentShapes[] = {{4, 4, 4, 2},     {3, 3, 3, 2},     {9, 5, 13, 4},    {25, 23, 9, 8},
                                       {32, 32, 32, 16}, {33, 17, 20, 16}, {40, 33, 70, 32}, {31, 1, 65, 32}};

class Instrumented : public testing::TestWithParam<std::string> {};

TEST_P(Instrumented, RecordsWhatTheInterpreterRecords) {
    for (const Shape& shape : kInstrumentShapes) {
        SCOPED_TRACE(testing::Message()
                     << shape.m << " x " << shape.k << " x " << shape.n << ", T = " << shape.tile);
        const auto sized = plan(GetParam(), shape);
        ASSERT_TRUE(sized) << sized.error().message;
        Both both;
        both.run.options.chunk_bytes = 512;
        both.run.chunks = 1 << 14;
        record_both(*sized, both);
    }
}

TEST_P(Instrumented, RecordsEveryLaneWhereNothingIsBelieved) {
    const auto sized = plan(GetParam(), {19, 21, 18, 8});
    ASSERT_TRUE(sized) << sized.error().message;
    Both both;
    both.run.options.exact = true;
    both.run.chunks = 1 << 13;
    record_both(*sized, both);
}

TEST_P(Instrumented, RecordsAWindow) {
    const auto sized = plan(GetParam(), {40, 20, 40, 8});
    ASSERT_TRUE(sized) << sized.error().message;
    Both both;
    both.run.options.windowed = true;
    both.run.pool_start = 448;
    both.run.options.chunk_bytes = 512;
    both.run.chunks = 1 << 13;
    record_both(*sized, both, {1, 3, 2, 9});
    EXPECT_EQ(both.recorded.blocks.size(), 6u);
}

TEST_P(Instrumented, CountsWhatFindsNoRoom) {
    const auto sized = plan(GetParam(), {32, 32, 32, 16});
    ASSERT_TRUE(sized) << sized.error().message;
    for (const uint32_t chunks : {0u, 1u, 7u, 40u}) {
        Both both;
        both.run.options.chunk_bytes = 512;
        both.run.chunks = chunks;
        record_both(*sized, both, {}, false);
        EXPECT_GT(both.run.decoded.dropped, 0u);
        EXPECT_EQ(both.run.decoded.dropped + both.run.decoded.records, both.cpu.steps()) << chunks;
        for (size_t b = 0; b < both.cpu.blocks.size(); ++b) {
            const trace::Block& block = both.recorded.blocks[b];
            EXPECT_EQ(block.count + block.dropped, both.cpu.blocks[b].count);
        }
    }
}

std::vector<std::string> names_to_instrument() {
    std::vector<std::string> all;
    for (const KernelInfo& kernel : kernels_with_tile_width()) all.push_back(kernel.name);
    return all;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Instrumented, testing::ValuesIn(names_to_instrument()),
                         [](const auto& suite) { return suite.param; });

TEST(InstrumentedPtx, OfEveryCompiler) {
    int files = 0;
    for (const char* compiler : {"clang", "nvcc", "nvrtc"}) {
        const auto folder = std::filesystem::path(TILESCOPE_SOURCE_DIR "/tests/data/ptx") / compiler;
        for (const auto& entry : std::filesystem::directory_iterator(folder)) {
            const std::string file = entry.path().filename().string(),
                              kernel = file.substr(0, file.find('.'));
            if (!find(kernel)) continue;
            SCOPED_TRACE(entry.path());
            auto sized = plan(kernel, {9, 10, 11, kTileOfData});
            ASSERT_TRUE(sized) << sized.error().message;
            sized->ptx = file_text(entry.path());
            sized->ptx_name = file;
            Both both;
            both.run.chunks = 1 << 12;
            record_both(*sized, both);
            ++files;
        }
    }
    EXPECT_GE(files, 40);
}

}  // namespace
}  // namespace tilescope::kernels
