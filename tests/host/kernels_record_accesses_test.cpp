// What is recorded is what a thread-by-thread reading of the kernels does, for every kernel on many launches.
#include <algorithm>
#include <map>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/run/record.h"
#include "kernels/textbook/reference.h"
#include "tests/host/kernels_walk.h"

namespace tilescope::kernels {
namespace {

constexpr Shape kRecordShapes[] = {
    {4, 4, 4, 2},     {3, 3, 3, 2},     {1, 1, 1, 2},     {5, 7, 3, 2},     {8, 6, 10, 2},
    {16, 16, 16, 4},  {9, 5, 13, 4},    {1, 20, 4, 4},    {17, 4, 3, 4},    {24, 24, 24, 8},
    {25, 23, 9, 8},   {8, 40, 16, 8},   {32, 32, 32, 16}, {33, 17, 20, 16}, {16, 50, 40, 16},
    {15, 15, 15, 16}, {64, 32, 64, 32}, {40, 33, 70, 32}, {31, 1, 65, 32},  {32, 64, 32, 32},
    {2, 3, 33, 32},
};

// What one thread does to one array between two barriers: elements in order.
// Which of two arrays comes first is the compiler's choice, so arrays and operations stand apart.
struct Stream {
    uint32_t interval = 0;  // barriers that the thread has passed
    std::string array;
    bool store = false;
    auto operator<=>(const Stream&) const = default;
};
struct ThreadWalk {
    std::map<Stream, std::vector<uint64_t>> elements;
    uint32_t barriers = 0;
};

// The threads of a block as the kernel's source has them.
std::vector<ThreadWalk> walk_threads(const TextbookPlan& plan, uint32_t bx, uint32_t by) {
    const bool tiled = plan.kernel.starts_with("tiled");
    const uint32_t of_phase = !tiled ? 0 : plan.kernel == "tiled_no_barrier" ? 1 : 2;
    const uint32_t barriers = of_phase * up(plan.shape.k, std::max(plan.shape.tile, 1u));
    std::vector<ThreadWalk> threads(plan.launch.block.count(), ThreadWalk{{}, barriers});
    walk_block(plan.kernel, plan.shape, bx, by, [&](const WarpAccess& access) {
        constexpr const char* kNames[] = {"M", "N", "P", "Mds", "Nds"};
        const bool reads_tile = access.array > 2 && !access.store;  // behind a barrier of its phase
        const uint32_t interval =
            access.phase == ~0u ? barriers : access.phase * of_phase + (reads_tile ? 1 : 0);
        for_lanes(access.mask, [&](uint32_t lane) {
            threads.at(access.warp * kWarpSize + lane)
                .elements[{interval, kNames[access.array], access.store}]
                .push_back(access.element[lane]);
        });
    });
    return threads;
}

// Per thread of a block: its streams as recorded. Per warp: how many requests made them.
struct Recorded {
    std::vector<ThreadWalk> threads;
    std::map<std::pair<uint32_t, Stream>, uint64_t> requests;
};

Recorded recorded_of(const trace::Trace& trace, const trace::Block& block) {
    Recorded recorded;
    recorded.threads.resize(trace.launch.block.count());
    for (uint64_t step = block.first; step < block.first + block.count; ++step) {
        const trace::Access access = trace::decode(trace, step);
        const ptx::Site& site = trace.sites[access.site];
        const uint32_t first = access.warp * kWarpSize + static_cast<uint32_t>(std::countr_zero(access.mask));
        if (site.kind != ptx::SiteKind::Barrier) {
            const Stream stream{recorded.threads[first].barriers, trace.launch.arrays.at(access.array).name,
                                site.kind == ptx::SiteKind::Store};
            recorded.requests[{access.warp, stream}] += site.bytes / 4;
        }
        for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
            if (!(access.mask >> lane & 1)) continue;
            ThreadWalk& thread = recorded.threads.at(access.warp * kWarpSize + lane);
            if (site.kind == ptx::SiteKind::Barrier) {
                ++thread.barriers;
                continue;
            }
            const Stream stream{thread.barriers, trace.launch.arrays[access.array].name,
                                site.kind == ptx::SiteKind::Store};
            for (uint32_t word = 0; word < site.bytes / 4; ++word)  // of a vector access
                thread.elements[stream].push_back(access.offset[lane] / 4 + word);
        }
    }
    return recorded;
}

void expect_walks(const TextbookPlan& plan, const trace::Trace& trace) {
    ASSERT_EQ(trace.blocks.size(), plan.launch.grid.count());
    for (const trace::Block& block : trace.blocks) {
        const Recorded recorded = recorded_of(trace, block);
        const std::vector<ThreadWalk> threads = walk_threads(plan, block.x, block.y);
        std::map<std::pair<uint32_t, Stream>, uint64_t> longest;
        for (uint32_t t = 0; t < plan.launch.block.count(); ++t) {
            const ThreadWalk& walk = threads[t];
            ASSERT_EQ(recorded.threads[t].barriers, walk.barriers) << "thread " << t;
            ASSERT_EQ(recorded.threads[t].elements, walk.elements)
                << "thread " << t << " of block " << block.x << "," << block.y;
            for (const auto& [stream, elements] : walk.elements) {
                uint64_t& most = longest[{t / kWarpSize, stream}];
                most = std::max<uint64_t>(most, elements.size());
            }
        }
        // Lanes that do the same do it in one request. The store into a tile is two where some lanes store
        // what they loaded and others zero.
        for (const auto& [who, requests] : recorded.requests) {
            const bool tile_store = who.second.store && who.second.array != "P";
            ASSERT_GE(requests, longest[who]);
            ASSERT_LE(requests, tile_store ? 2 * longest[who] : longest[who]) << who.second.array;
        }
    }
}

class RecordedAccesses : public testing::TestWithParam<std::string> {};

TEST_P(RecordedAccesses, AreThoseOfEveryThread) {
    for (const Shape& shape : kRecordShapes) {
        SCOPED_TRACE(testing::Message()
                     << shape.m << " x " << shape.k << " x " << shape.n << ", T = " << shape.tile);
        const auto sized = plan(GetParam(), shape);
        ASSERT_TRUE(sized) << sized.error().message;
        const auto trace = record_cpu(*sized, {});
        ASSERT_TRUE(trace) << trace.error().message;
        ASSERT_TRUE(trace->meta.complete) << trace->meta.incomplete_reason;
        expect_walks(*sized, *trace);
        EXPECT_TRUE(trace->meta.result.checked);
        EXPECT_TRUE(trace->meta.result.verified || made_wrong(GetParam()));
        if (trace->meta.result.verified) EXPECT_EQ(trace->meta.result.max_abs_error, 0);
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, RecordedAccesses, testing::ValuesIn([] {
                             std::vector<std::string> names;
                             for (const KernelInfo& kernel : kernels_with_tile_width())
                                 names.push_back(kernel.name);
                             return names;
                         }()),
                         [](const auto& suite) { return suite.param; });

}  // namespace
}  // namespace tilescope::kernels
