// What is made of a recording takes memory for what its steps touch, however far apart that lies, and no more
// than is allowed.
#include <functional>

#include <gtest/gtest.h>

#include "core/analysis/reuse.h"
#include "core/analysis/summary.h"
#include "core/hazards/hazards.h"
#include "core/recording/product.h"
#include "core/trace/claims.h"
#include "tests/allocated.h"
#include "tests/allowed_memory.h"
#include "tests/launches.h"
#include "tests/opened.h"

namespace tilescope {

int64_t most_allocated_by_work(const std::function<void()>& work) { return most_allocated_by(work); }

}  // namespace tilescope

namespace tilescope::analysis {
namespace {

constexpr int64_t kMebibyte = 1 << 20;

constexpr const char* kPtx = R"(.version 6.4
.target sm_70
.address_size 64
.visible .entry far(.param .u64 p)
{
    .reg .f32 %f<2>;
    .reg .b64 %rd<2>;
    ld.param.u64 %rd1, [p];
    ld.global.f32 %f1, [%rd1];
    st.global.f32 [%rd1], %f1;
    ret;
}
)";

// Requests whose lanes lie 64 MiB apart, the next request 1 KiB behind: every lane touches a page of its own.
trace::Trace far_apart(uint32_t steps, uint32_t blocks = 1) {
    trace::Trace trace;
    trace.meta.ptx = kPtx;
    trace.meta.complete = true;
    trace.launch = test_launch({test_array("x", Space::Global, ArrayRole::InOut, 1, 0xFFFF'FFFF, 0x1000)},
                               {blocks, 1, 1}, {32, 1, 1});
    trace.launch.entry = "far";
    trace.sites = {{0, 1, ptx::SiteKind::Load, Space::Global, 4, 0, 0, 9},
                   {1, 2, ptx::SiteKind::Store, Space::Global, 4, 0, 0, 10}};
    trace.forms.resize(2);
    for (uint32_t site = 0; site < 2; ++site) {
        trace::Form& form = trace.forms[site];
        form.site = site, form.array = 0, form.mask = ~0u, form.stride = 1 << 26;
    }
    for (uint32_t x = 0; x < blocks; ++x) {
        trace.blocks.emplace_back();
        trace.blocks.back().x = x;
        trace.blocks.back().first = trace.key.size();
        trace.blocks.back().count = 2 * steps;
        for (uint32_t step = 0; step < 2 * steps; ++step) {
            trace.key.push_back(step % 2);
            trace.base.push_back(1024 * (step / 2));
        }
    }
    return trace;
}

using AnalysisMemory = AllowedMemoryTest;

TEST_F(AnalysisMemory, CountsOfTheFarthestElementTakeAPage) {
    trace::Trace trace = far_apart(1);
    trace.forms[0].mask = 1u << 31;
    trace.base[0] = 0xFFFF'FFF8;
    trace.forms[0].base_high = 3;  // the last but one of four thousand million elements
    const int64_t most = most_allocated_by([&] {
        LoadCounter loads(trace);
        loads.add(0);
        loads.finish();
        EXPECT_FALSE(loads.full());
        int visited = 0;
        loads.of(0).each([&](uint64_t element, uint32_t count) {
            ++visited;
            EXPECT_EQ(element, 0xFFFF'FFFEu);
            EXPECT_EQ(count, 1u);
        });
        EXPECT_EQ(visited, 1);
    });
    EXPECT_LT(most, kMebibyte);
}

TEST_F(AnalysisMemory, CountsGrowWithWhatIsTouchedUpToALimit) {
    const trace::Trace trace = far_apart(2000);  // 64,000 pages
    const auto counted = [&](uint64_t most_bytes, bool& full) {
        return most_allocated_by([&] {
            LoadCounter loads(trace, most_bytes);
            for (uint64_t step = 0; step < trace.steps(); ++step) loads.add(step);
            loads.finish();
            full = loads.full();
        });
    };
    bool full = false;
    const int64_t all = counted(uint64_t{1} << 40, full);
    EXPECT_FALSE(full);
    EXPECT_LT(all, 64'000 * 400);
    EXPECT_LT(counted(2 * kMebibyte, full), 3 * kMebibyte);
    EXPECT_TRUE(full);
}

TEST_F(AnalysisMemory, SumsSayWhatTheyLack) {
    const trace::Trace trace = far_apart(500);
    ASSERT_TRUE(summarize(trace)) << summarize(trace).error().message;
    allow("0.004");
    const int64_t most = most_allocated_by([&] {
        const auto summary = summarize(trace);
        ASSERT_FALSE(summary);
        EXPECT_EQ(summary.error().message,
                  "counting how often each element is loaded takes more memory than the 0.004 GB that are "
                  "allowed; set TILESCOPE_MAX_MEMORY to more gigabytes");
    });
    EXPECT_LT(most, 6 * kMebibyte);
}

TEST_F(AnalysisMemory, HazardsSayWhatTheyDoNotLookAt) {
    HazardOptions options;
    options.threads = 1;
    for (const uint32_t blocks : {1u, 2u}) {
        const trace::Trace trace = far_apart(300, blocks);
        const auto whole = find_hazards(trace, options);
        ASSERT_TRUE(whole);
        EXPECT_EQ(whole->not_judged, "");
        allow("0.005");
        const int64_t most = most_allocated_by([&] {
            const auto cut = find_hazards(trace, options);
            ASSERT_TRUE(cut);
            EXPECT_NE(cut->not_judged.find("the others were not looked at"), std::string::npos);
        });
        EXPECT_LT(most, 8 * kMebibyte);
        unsetenv("TILESCOPE_MAX_MEMORY");
    }
}

// Two inputs and an output in the shape of a product, whose block touches what no product does.
TEST_F(AnalysisMemory, AProductTouchesWhatABlockOfItCan) {
    trace::Trace trace = far_apart(6000);
    trace.launch.arrays = {test_array("M", Space::Global, ArrayRole::Input, 60'000, 60'000, 0x1000),
                           test_array("N", Space::Global, ArrayRole::Input, 60'000, 60'000, 1ull << 36),
                           test_array("P", Space::Global, ArrayRole::Output, 60'000, 60'000, 1ull << 37)};
    trace.launch = test_launch(trace.launch.arrays, {1, 1, 1}, {32, 32, 1});
    trace.forms[1].array = 2;
    const int64_t most = most_allocated_by([&] { EXPECT_FALSE(product_of(trace)); });
    EXPECT_LT(most, 64 * kMebibyte);
}

}  // namespace
}  // namespace tilescope::analysis
