// From a plan to a recording: check of the result, windows, any number of threads, size, file, replay.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>

#include <gtest/gtest.h>

#include "core/trace/file.h"
#include "kernels/run/record.h"
#include "kernels/textbook/reference.h"
#include "tests/unit/trace_compare.h"

namespace tilescope::kernels {
namespace {

trace::Trace record(const std::string& kernel, const Shape& shape, RecordOptions options = {}) {
    const auto sized = plan(kernel, shape);
    EXPECT_TRUE(sized);
    options.timestamp = false;
    auto trace = record_cpu(*sized, options);
    EXPECT_TRUE(trace) << trace.error().message;
    return *trace;
}

RecordOptions scheduled(Schedule::Kind kind, uint64_t seed = 0) {
    RecordOptions options;
    options.schedule = {kind, seed};
    return options;
}

TEST(Record, SameOnAnyNumberOfThreads) {
    for (const auto kind : {Schedule::Kind::Fair, Schedule::Kind::Greedy, Schedule::Kind::Seeded}) {
        RecordOptions options = scheduled(kind, 7);
        options.threads = 1;
        const trace::Trace one = record("tiled", {50, 40, 70, 16}, options);
        for (const unsigned threads : {2u, 5u}) {
            options.threads = threads;
            EXPECT_TRUE(same(one, record("tiled", {50, 40, 70, 16}, options)));
        }
    }
}

TEST(Record, TakesAtMostSixteenBytesARequest) {
    for (const KernelInfo& info : kernels_with_tile_width()) {
        for (const Shape& shape :
             {Shape{64, 64, 64, 16}, Shape{100, 70, 130, 16}, Shape{96, 96, 96, 32}, Shape{64, 64, 64, 8}}) {
            const trace::Trace trace = record(info.name, shape);
            const auto steps = static_cast<double>(trace.steps());
            EXPECT_LE(static_cast<double>(bytes_of(trace)) / steps, 16) << info.name << " T=" << shape.tile;
            EXPECT_LE(static_cast<double>(serialize(trace).size()) / steps, 16)
                << info.name << " T=" << shape.tile;
            EXPECT_TRUE(trace.irregular.empty()) << info.name;
        }
    }
}

TEST(Record, ReadsBackFromItsFile) {
    for (const KernelInfo& info : kernels_with_tile_width()) {
        const trace::Trace trace = record(info.name, {20, 18, 22, 8});
        const auto read = trace::deserialize(serialize(trace), "a.tsc");
        ASSERT_TRUE(read) << read.error().message;
        EXPECT_TRUE(same(trace, *read)) << info.name;
    }
}

// A file may name arrays of any size; memory for them is taken where a block runs again.
TEST(Record, RunsAgainWithArraysThatFitTheMemoryThatIsAllowed) {
    RecordOptions options;
    options.window = {0, 1, 0, 1};
    const trace::Trace trace = record("tiled", {288, 288, 288, 16}, options);
    EXPECT_TRUE(Replayer::of(trace));
    setenv("TILESCOPE_MAX_MEMORY", "0.0005", 1);
    EXPECT_TRUE(Replayer::of(trace)) << "no number that is allowed: as if there were none";
    setenv("TILESCOPE_MAX_MEMORY", "0.001", 1);
    const auto refused = Replayer::of(trace);
    unsetenv("TILESCOPE_MAX_MEMORY");
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().message,
              "running blocks again with 995 kB of arrays takes more memory than the 0.001 GB that are "
              "allowed; set TILESCOPE_MAX_MEMORY to more gigabytes");
}

TEST(Record, WindowHoldsTheBlocksOfTheWholeGrid) {
    RecordOptions options;
    options.window = {1, 3, 2, UINT32_MAX};
    const trace::Trace whole = record("tiled", {70, 20, 60, 16}),
                       part = record("tiled", {70, 20, 60, 16}, options);
    ASSERT_EQ(part.blocks.size(), 2u * 3);
    EXPECT_EQ(part.meta.window, (BlockWindow{1, 3, 2, 5}));
    EXPECT_TRUE(part.meta.complete);
    EXPECT_TRUE(part.meta.result.verified);
    for (const trace::Block& block : part.blocks) {
        const trace::Block& other = whole.blocks[block.y * 4 + block.x];
        ASSERT_EQ(block.count, other.count);
        for (uint64_t i = 0; i < block.count; ++i) {
            const trace::Access a = decode(part, block.first + i), b = decode(whole, other.first + i);
            ASSERT_TRUE(a.site == b.site && a.warp == b.warp && a.mask == b.mask && a.offset == b.offset);
        }
    }
    options.window = {4, 9, 0, 1};
    EXPECT_FALSE(record_cpu(*plan("tiled", {70, 20, 60, 16}), options));
}

TEST(Record, LargeMatricesCostWhatTheWindowCosts) {
    RecordOptions options;
    options.window = {10, 11, 20, 21};
    const trace::Trace trace = record("tiled", {2048, 64, 2048, 32}, options);
    EXPECT_EQ(trace.blocks.size(), 1u);
    EXPECT_TRUE(trace.meta.result.verified);
}

TEST(Record, TooLittleMemoryIsSaidBeforeTheRun) {
    setenv("TILESCOPE_MAX_MEMORY", "0.001", 1);
    const auto refused = record_cpu(*plan("tiled", {144, 144, 144, 16}), {});
    unsetenv("TILESCOPE_MAX_MEMORY");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("recording 81 blocks of more than "), std::string::npos)
        << refused.error().message;
    EXPECT_NE(refused.error().message.find(
                  "takes more memory than the 0.001 GB that are allowed; set TILESCOPE_MAX_MEMORY to more "
                  "gigabytes, or record a smaller window of blocks"),
              std::string::npos);
    EXPECT_TRUE(record("tiled", {144, 144, 144, 16}).meta.result.verified);
}

TEST(Record, FaultsOfTheKernelsAreCaught) {
    EXPECT_FALSE(
        record("tiled_no_barrier", {64, 64, 64, 16}, scheduled(Schedule::Kind::Greedy)).meta.result.verified);
    EXPECT_TRUE(record("tiled", {64, 64, 64, 16}, scheduled(Schedule::Kind::Greedy)).meta.result.verified);
    const auto stale = record("tiled_stale_edge", {3, 3, 3, 2}).meta.result;
    EXPECT_FALSE(stale.verified);
    EXPECT_GT(stale.wrong, 0u);
    EXPECT_TRUE(std::isfinite(stale.max_abs_error));
    EXPECT_TRUE(record("tiled_stale_edge", {4, 4, 4, 2}).meta.result.verified);
}

TEST(Record, StoppedRecordingSaysSo) {
    const std::atomic<bool> stop = true;
    RecordOptions options;
    options.stop = &stop;
    const trace::Trace trace = record("tiled", {256, 256, 256, 16}, options);
    EXPECT_FALSE(trace.meta.complete);
    EXPECT_FALSE(trace.meta.incomplete_reason.empty());
    EXPECT_FALSE(trace.meta.result.checked);
    EXPECT_TRUE(trace::deserialize(serialize(trace), "a.tsc"));
}

TEST(Record, FaultKeepsWhatWasRecordedTheSameOnAnyThreads) {
    // P bound to too small a place: its last rows are outside.
    auto sized = *plan("tiled", {64, 32, 64, 16});
    sized.launch.arrays[2].rows = 40;
    RecordOptions options;
    options.timestamp = false;
    options.threads = 1;
    const auto one = record_cpu(sized, options);
    ASSERT_TRUE(one) << one.error().message;
    EXPECT_FALSE(one->meta.complete);
    EXPECT_NE(one->meta.incomplete_reason.find("P"), std::string::npos) << one->meta.incomplete_reason;
    EXPECT_GT(one->steps(), 0u);
    options.threads = 5;
    EXPECT_TRUE(same(*one, *record_cpu(sized, options)));
}

// The check itself, on results made wrong by hand.
// A module's kernels may each have a name of their own for their dynamic shared memory.
TEST(Record, DynamicSharedMemoryIsOneArray) {
    Plan plan;
    plan.ptx_name = "two.ptx";
    plan.ptx = R"(
.version 7.0
.target sm_70
.address_size 64
.extern .shared .align 4 .b8 others[];
.extern .shared .align 4 .b8 own[];
.visible .entry other() { .reg .b32 %r; mov.u32 %r, others; ret; }
.visible .entry k()
{
    .reg .b32 %r<3>;
    mov.u32 %r1, own;
    mov.u32 %r2, 7;
    st.shared.u32 [%r1], %r2;
    ret;
}
)";
    plan.kernel = plan.launch.entry = "k";
    plan.launch.grid = {1, 1, 1}, plan.launch.block = {1, 1, 1};
    plan.launch.dynamic_shared = 64;
    const auto trace = record_cpu(plan, {});
    ASSERT_TRUE(trace) << trace.error().message;
    ASSERT_EQ(trace->launch.arrays.size(), 1u);
    EXPECT_EQ(trace->launch.arrays[0].name, "own");
    EXPECT_EQ(trace->launch.arrays[0].bytes(), 64u);
}

TEST(Verify, FindsWhatIsWrong) {
    const Shape shape{20, 10, 30, 8};
    trace::Trace trace = record("tiled", shape);
    const auto product = reference_product(make_input(1, 0, 200), make_input(1, 1, 300), 20, 10, 30);
    std::vector<float> P(product.begin(), product.end());
    EXPECT_TRUE(verify(trace, *find("tiled"), shape, 1, P.data()).verified);
    P[77] += 1;
    P[500] = std::numeric_limits<float>::quiet_NaN();
    const auto wrong = verify(trace, *find("tiled"), shape, 1, P.data());
    EXPECT_TRUE(wrong.checked);
    EXPECT_FALSE(wrong.verified);
    EXPECT_EQ(wrong.wrong, 2u);
    EXPECT_EQ(wrong.first_wrong, 77);
    EXPECT_EQ(wrong.max_abs_error, 1);
    // A block that never stored: every element that it owns is wrong.
    P.assign(product.begin(), product.end());
    for (uint64_t step = 0; step < trace.blocks[0].count; ++step) {
        const trace::Form& form = trace.form_of(step);
        if (form.array == 2) trace.key[step] = trace.key[0];
    }
    EXPECT_EQ(verify(trace, *find("tiled"), shape, 1, P.data()).wrong, 64u);
}

TEST(Inputs, AreSmallWholeNumbersWithoutZero) {
    std::array<int, 19> seen{};
    const auto M = make_input(3, 0, 18000), N = make_input(3, 1, 18000);
    for (const float value : M) {
        ASSERT_EQ(value, std::round(value));
        ASSERT_LE(std::fabs(value), 9);
        ++seen[static_cast<size_t>(value + 9)];
    }
    for (int i = 0; i < 19; ++i)
        EXPECT_TRUE(i == 9 ? seen[i] == 0 : seen[i] > 800 && seen[i] < 1200) << i - 9 << ": " << seen[i];
    EXPECT_NE(M, N);
    EXPECT_NE(M, make_input(4, 0, 18000));
    EXPECT_EQ(M[1234], input_value(3, 0, 1234));
}

struct Counter final : simt::BlockObserver {
    uint64_t steps = 0, products = 0, valued = 0;
    void on_request(const simt::Request& request) override { ++steps, valued += request.value != nullptr; }
    void on_barrier(uint32_t, uint32_t, uint32_t) override { ++steps; }
    void on_multiplication(const simt::Multiplication& product) override {
        products += static_cast<uint64_t>(std::popcount(product.mask));
    }
};

TEST(Replay, MakesEveryBlockAgainInAnyOrder) {
    for (const KernelInfo& info : kernels_with_tile_width()) {
        for (const auto kind : {Schedule::Kind::Fair, Schedule::Kind::Seeded}) {
            const Shape shape{20, 12, 18, 8};
            const trace::Trace trace = record(info.name, shape, scheduled(kind, 5));
            auto replayer = Replayer::of(trace);
            ASSERT_TRUE(replayer) << replayer.error().message;
            for (const uint32_t block : {8u, 0u, 4u, 4u}) {
                Counter counter;
                const auto done = replayer->replay(trace, block, counter);
                ASSERT_TRUE(done) << info.name << ": " << done.error().message;
                EXPECT_EQ(counter.steps, trace.blocks[block].count);
                EXPECT_GT(counter.products, 0u);
                EXPECT_GT(counter.valued, 0u);
            }
        }
    }
}

TEST(Replay, DifferenceIsAnError) {
    trace::Trace trace = record("tiled", {20, 12, 18, 8});
    auto replayer = Replayer::of(trace);
    ASSERT_TRUE(replayer);
    Counter counter;
    trace.base[trace.blocks[1].first + 3] += 4;
    const auto moved = replayer->replay(trace, 1, counter);
    ASSERT_FALSE(moved);
    EXPECT_NE(moved.error().message.find("block(0,1) does not run again as it was recorded: at its step"),
              std::string::npos);
    EXPECT_TRUE(replayer->replay(trace, 0, counter));
    trace.blocks[0].count -= 1;
    EXPECT_FALSE(replayer->replay(trace, 0, counter));
}

TEST(Replay, ALaunchThatIsNotItsPtxsIsAnError) {
    trace::Trace odd = record("tiled", {20, 12, 18, 8});
    EXPECT_EQ(odd.launch.arrays[3].symbol, "_ZZ5tiledE3Mds");
    odd.launch.arrays[3].symbol = "_ZZ5tiledE3Xds";
    const auto replayer = Replayer::of(odd);
    ASSERT_FALSE(replayer);
    EXPECT_NE(replayer.error().message.find("has no shared array Mds"), std::string::npos)
        << replayer.error().message;
}

}  // namespace
}  // namespace tilescope::kernels
