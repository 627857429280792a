// Recordings that a small file holds and that take long to look at: what is made of them ends within the
// memory and the accesses that are allowed, and says what it left out.
#include <atomic>
#include <functional>

#include <gtest/gtest.h>

#include "core/analysis/summary.h"
#include "core/hazards/hazards.h"
#include "core/recording/phases.h"
#include "core/trace/claims.h"
#include "tests/allowed_memory.h"
#include "tests/opened.h"
#include "tests/unit/bombs.h"

namespace tilescope {

int64_t most_allocated_by_work(const std::function<void()>& work);  // analysis_memory_test.cpp

namespace analysis {
namespace {

using Bombs = AllowedMemoryTest;

Bomb ten_blocks(uint64_t steps) { return {.name = "ten", .blocks = 10, .steps = steps}; }

TEST_F(Bombs, AreCountedInTheMemoryThatIsLeft) {
    constexpr int64_t kTables = 3 << 20;  // of the first forms, whatever the recording is
    for (const Bomb& bomb : bombs(2)) {
        allow("1");
        const trace::Trace trace = made_of(bomb);
        allow("0.01");
        const auto left = static_cast<int64_t>(trace::memory_left(trace));
        const int64_t most = most_allocated_by_work([&] {
            if (const auto summary = summarize(trace); !summary)
                EXPECT_NE(summary.error().message.find("set TILESCOPE_MAX_MEMORY"), std::string::npos)
                    << bomb.name;
        });
        EXPECT_LT(most, left + kTables) << bomb.name;
        const int64_t searched = most_allocated_by_work([&] {
            const auto hazards = find_hazards(trace, {.threads = 2});
            ASSERT_TRUE(hazards) << bomb.name;
        });
        EXPECT_LT(searched, 2 * left + kTables) << bomb.name;
    }
}

TEST_F(Bombs, HazardsAreLookedForInTheFirstBlocksAndThatIsSaid) {
    const trace::Trace trace = made_of(ten_blocks(500));  // 3,340 accesses of 32 lanes far apart
    EXPECT_EQ(find_hazards(trace)->not_judged, "the recording is not whole: barriers were not judged");
    allow("0.001");
    for (const unsigned threads : {1u, 3u}) {
        const auto hazards = find_hazards(trace, {.threads = threads});
        ASSERT_TRUE(hazards);
        EXPECT_TRUE(hazards->not_judged.starts_with(
            "hazards were looked for in the first 4 of 10 blocks: more would take more memory or accesses "
            "than are allowed; set TILESCOPE_MAX_MEMORY to more gigabytes"))
            << hazards->not_judged;
        for (const Hazard& hazard : hazards->found) EXPECT_LE(hazard.blocks, 4u);
    }
}

TEST_F(Bombs, ABlockTooLongToBeLaidOutIsNotSearched) {
    const trace::Trace trace = made_of({.name = "one", .steps = 60'000});
    EXPECT_FALSE(faulty_cells(trace, *phase_rule(trace), 0).not_looked);
    allow("0.002");
    const FaultyCells cells = faulty_cells(trace, *phase_rule(trace), 0);
    EXPECT_TRUE(cells.not_looked);
    EXPECT_TRUE(cells.cells.empty());
    EXPECT_NE(find_hazards(trace)->not_judged.find("in the first 0 of 1 block:"), std::string::npos);
}

// More forms than are remembered, in turn: each request is judged anew.
TEST_F(Bombs, JudgingManyFormsEndsInASentence) {
    trace::Trace trace = made_of({.name = "forms", .steps = 100'000, .forms = 50'001, .barrier_every = 0});
    for (trace::Form& form : trace.forms) form.site = 1;  // stores alone: no loads are counted
    trace.forms[0].array = 0;
    ASSERT_TRUE(summarize(trace)) << summarize(trace).error().message;
    allow("0.004");
    const auto summary = summarize(trace);
    ASSERT_FALSE(summary);
    EXPECT_EQ(
        summary.error().message,
        "judging what each request costs takes more than the 1,600,000 lane accesses that are looked at; "
        "record a smaller window of blocks, or set TILESCOPE_MAX_MEMORY to more gigabytes");
}

TEST_F(Bombs, CountingEndsWhenItIsNotWantedAnyMore) {
    const trace::Trace trace = made_of(ten_blocks(5000));
    std::atomic<bool> stop = true;
    const auto summary = summarize(trace, {&stop});
    ASSERT_FALSE(summary);
    EXPECT_EQ(summary.error().message, kStopped);
    HazardOptions options;
    options.stop = {&stop};
    EXPECT_TRUE(find_hazards(trace, options)->found.empty());
    EXPECT_FALSE(find_hazards(trace)->found.empty());
}

}  // namespace
}  // namespace analysis
}  // namespace tilescope
