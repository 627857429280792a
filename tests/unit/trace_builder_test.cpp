// What goes into a recorder comes out of the trace, lane for lane.
#include <algorithm>
#include <bit>

#include <gtest/gtest.h>

#include "core/trace/fit.h"
#include "tests/launches.h"
#include "tests/unit/trace_requests.h"

namespace tilescope::trace {
namespace {

uint64_t address_of(const Trace& trace, const Access& access, int lane) {
    return access.offset[lane] + (access.array == kNoArray ? 0 : trace.launch.arrays[access.array].base);
}

void expect_same(const Trace& trace, const std::vector<PlainStep>& plain) {
    ASSERT_EQ(trace.steps(), plain.size());
    for (size_t i = 0; i < plain.size(); ++i) {
        const Access access = decode(trace, i);
        ASSERT_EQ(access.site, plain[i].site) << i;
        ASSERT_EQ(access.warp, plain[i].warp) << i;
        ASSERT_EQ(access.mask, plain[i].mask) << i;
        if (plain[i].barrier) {
            ASSERT_EQ(access.array, kNoArray);
            continue;
        }
        const Space space =
            access.array == kNoArray ? trace.form_of(i).space : trace.launch.arrays[access.array].space;
        ASSERT_EQ(space, plain[i].space) << i;
        for (int lane = 0; lane < 32; ++lane) {
            if (plain[i].mask >> lane & 1) {
                ASSERT_EQ(address_of(trace, access, lane), plain[i].address[lane])
                    << "step " << i << " lane " << lane;
            } else {
                ASSERT_EQ(access.offset[lane], 0u);
            }
        }
    }
}

TEST(TraceBuilder, RandomRequestsDecodeToWhatWentIn) {
    for (uint64_t seed = 1; seed <= 4; ++seed) {
        std::vector<PlainStep> plain;
        const Trace trace = random_trace(seed, 2, 2, 2000, &plain);
        expect_same(trace, plain);
    }
}

TEST(TraceBuilder, EveryKindOfFormIsMet) {
    const Trace trace = random_trace(5, 1, 1, 4000);
    const auto some = [&](auto&& holds) {
        return std::any_of(trace.forms.begin(), trace.forms.end(), holds);
    };
    EXPECT_TRUE(some([](const Form& f) { return f.irregular >= 0 && f.wide; }));
    EXPECT_TRUE(some([](const Form& f) { return f.irregular >= 0 && !f.wide; }));
    EXPECT_TRUE(some([](const Form& f) { return f.base_high > 0 && f.array == 0; }));
    EXPECT_TRUE(some([](const Form& f) { return f.irregular < 0 && f.width < 32; }));
    EXPECT_TRUE(some(
        [](const Form& f) { return f.array == kNoArray && f.space == Space::Shared && f.site != kBarrier; }));
}

TEST(TraceBuilder, ArrayIsNamedOnlyWhereAllLanesLieInIt) {
    const Trace trace = random_trace(6, 1, 1, 4000);
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        const Access access = decode(trace, step);
        for (int lane = 0; lane < 32 && access.array != kNoArray; ++lane) {
            const uint64_t last = access.offset[lane] + trace.sites[access.site].bytes;
            ASSERT_TRUE(!(access.mask >> lane & 1) || last <= trace.launch.arrays[access.array].bytes());
        }
    }
}

Trace record(const std::vector<PlainStep>& steps) {
    const auto sites = test_sites();
    const auto arrays = test_arrays();
    std::vector<std::unique_ptr<BlockRecorder>> blocks;
    blocks.push_back(std::make_unique<BlockRecorder>(arrays, sites, simt::BlockId{}));
    for (const PlainStep& step : steps) feed(*blocks.back(), step);
    Meta meta;
    meta.complete = true;
    return assemble(meta, test_launch(arrays), sites, std::move(blocks));
}

PlainStep load(uint32_t mask, uint64_t start, uint64_t row_bytes, uint64_t width) {
    PlainStep step;
    step.site = kLoadGlobal;
    step.mask = mask;
    for (uint64_t lane = 0; lane < 32; ++lane)
        step.address[lane] = start + 4 * (lane % width) + row_bytes * (lane / width);
    return step;
}

TEST(TraceBuilder, EqualPatternsShareAForm) {
    const uint64_t M = test_arrays()[0].base;
    const Trace trace =
        record({load(~0u, M, 400, 8), load(~0u, M + 4000, 400, 8), load(~0u, M + 64, 400, 8)});
    ASSERT_EQ(trace.forms.size(), 1u);
    EXPECT_EQ(trace.forms[0].width, 8);
    EXPECT_EQ(trace.forms[0].stride, 4);
    EXPECT_EQ(trace.forms[0].stride2, 400);
    EXPECT_EQ(trace.base[1], 4000u);
}

TEST(TraceBuilder, InactiveLanesConstrainNothing) {
    const uint64_t M = test_arrays()[0].base;
    // Only the left half of each row of 8 is active: the same form however the rest would go on.
    PlainStep first = load(0x0F0F0F0F, M, 400, 8), second = first;
    for (int lane = 0; lane < 32; ++lane)
        if (!(second.mask >> lane & 1)) second.address[lane] = 12345;
    EXPECT_EQ(record({first, second}).forms.size(), 1u);
    // One active lane determines no stride.
    const Trace one = record({load(0x100, M, 400, 8), load(0x100, M, 4, 32)});
    ASSERT_EQ(one.forms.size(), 1u);
    EXPECT_EQ(one.forms[0].stride, 0);
    EXPECT_EQ(one.forms[0].stride2, 0);
}

TEST(TraceBuilder, ManyRegularRequestsTakeEightBytesEach) {
    std::vector<PlainStep> steps;
    for (uint64_t i = 0; i < 4000; ++i)
        steps.push_back(load(~0u, test_arrays()[0].base + 64 * i, 160000, 16));
    const Trace trace = record(steps);
    EXPECT_EQ(trace.forms.size(), 1u);
    EXPECT_LT(static_cast<double>(bytes_of(trace)) / static_cast<double>(trace.steps()), 8.1);
}

TEST(TraceBuilder, SameTraceWhateverOrderTheBlocksCameIn) {
    const auto sites = test_sites();
    const auto arrays = test_arrays();
    const auto make = [&](std::vector<uint32_t> order) {
        std::vector<std::unique_ptr<BlockRecorder>> blocks;
        for (const uint32_t id : order) {
            RandomSteps random(id);
            blocks.push_back(
                std::make_unique<BlockRecorder>(arrays, sites, simt::BlockId{id % 3, id / 3, 0}));
            for (int i = 0; i < 300; ++i) feed(*blocks.back(), random.next(sites, arrays));
        }
        return assemble({}, test_launch(arrays), sites, std::move(blocks));
    };
    const Trace a = make({0, 1, 2, 3, 4, 5}), b = make({4, 2, 0, 5, 1, 3});
    EXPECT_EQ(a.key, b.key);
    EXPECT_EQ(a.base, b.base);
    EXPECT_EQ(a.forms, b.forms);
    EXPECT_EQ(a.irregular, b.irregular);
    for (uint32_t i = 0; i < 6; ++i) {
        EXPECT_EQ(a.blocks[i].x, i % 3);
        EXPECT_EQ(a.blocks[i].y, i / 3);
        EXPECT_EQ(a.blocks[i].first, 300u * i);
    }
    // Forms are numbered by first use.
    uint32_t next = 0;
    for (const uint32_t key : a.key) {
        ASSERT_LE(key & 0xFFFFFF, next);
        next = std::max(next, (key & 0xFFFFFF) + 1);
    }
}

TEST(TraceBuilder, TooManyFormsAreCountedAndSaid) {
    const auto sites = test_sites();
    const auto arrays = test_arrays();
    std::vector<std::unique_ptr<BlockRecorder>> blocks;
    blocks.push_back(std::make_unique<BlockRecorder>(arrays, sites, simt::BlockId{}));
    std::vector<PlainStep> steps;
    for (uint64_t i = 0; i < 10; ++i) {
        steps.push_back(load(~0u, arrays[0].base, 100 * i, 16));
        feed(*blocks.back(), steps.back());
    }
    Meta meta;
    meta.complete = true;
    const Trace trace = assemble(meta, test_launch(arrays), sites, std::move(blocks), 7);
    EXPECT_EQ(dropped_of(trace), 3u);
    EXPECT_FALSE(trace.meta.complete);
    EXPECT_EQ(trace.meta.incomplete_reason.substr(0, 26), "3 requests were dropped be");
    steps.resize(7);
    expect_same(trace, steps);
}

TEST(TraceBuilder, TimesStayWithTheirStepsWhereFormsAreDropped) {
    const auto sites = test_sites();
    const auto arrays = test_arrays();
    std::vector<std::unique_ptr<BlockRecorder>> recorders;
    for (uint32_t x = 0; x < 3; ++x) {
        recorders.push_back(std::make_unique<BlockRecorder>(arrays, sites, simt::BlockId{x, 0, 0}));
        for (uint32_t i = 0; i < 12 && x != 1; ++i) {  // six forms, each twice
            recorders.back()->set_time(100 * x + i);
            feed(*recorders.back(), load(~0u >> (i % 6), arrays[0].base, 4, 32));
        }
    }
    EXPECT_EQ(recorders[0]->dropped(), 0u);
    const Trace trace = assemble({}, test_launch(arrays), sites, std::move(recorders), 4);
    ASSERT_EQ(trace.blocks.size(), 3u);
    EXPECT_EQ(trace.blocks[0].dropped, 4u);
    EXPECT_EQ(trace.blocks[2].dropped, 4u);
    EXPECT_EQ(trace.time, (Column{0, 1, 2, 3, 6, 7, 8, 9, 200, 201, 202, 203, 206, 207, 208, 209}));
}

TEST(TraceBuilder, GenericSiteSettlesToSharedWhereAllWentThere) {
    PlainStep step;
    step.site = kLoadGeneric;
    step.mask = ~0u;
    step.space = Space::Shared;
    EXPECT_EQ(record({step}).sites[kLoadGeneric].space, Space::Shared);
    EXPECT_EQ(record({load(~0u, test_arrays()[0].base, 4, 32)}).sites[kLoadGeneric].space, Space::Global);
}

TEST(TraceBuilder, BlockOfAStep) {
    const Trace trace = random_trace(7, 3, 2, 5);
    for (uint64_t step = 0; step < trace.steps(); ++step) EXPECT_EQ(block_of(trace, step), step / 5);
    Trace gaps = trace;  // blocks that recorded nothing
    gaps.blocks.insert(gaps.blocks.begin() + 2, Block{2, 0, 0, 10, 0, 0, 0, 0});
    EXPECT_EQ(block_of(gaps, 9), 1u);
    EXPECT_EQ(block_of(gaps, 10), 3u);
}

TEST(TraceFit, CountsWidthsAndDirections) {
    Affine affine;
    std::array<int64_t, 32> offset{};
    for (int lane = 0; lane < 32; ++lane) offset[lane] = -4 * (lane % 4) + 1000 * (lane / 4);
    ASSERT_TRUE(fit_affine(~0u, offset, affine));
    EXPECT_EQ(affine.width, 4);
    EXPECT_EQ(affine.stride, -4);
    EXPECT_EQ(affine.stride2, 1000);
    offset[17] += 1;
    EXPECT_FALSE(fit_affine(~0u, offset, affine));
    EXPECT_TRUE(fit_affine(~(1u << 17), offset, affine));
}

}  // namespace
}  // namespace tilescope::trace
