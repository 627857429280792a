// Exports of long blocks: they take no memory for the steps, and end soon after they are stopped.
#include <atomic>

#include <gtest/gtest.h>

#include "core/export/requests.h"
#include "tests/allocated.h"
#include "tests/opened.h"
#include "tests/unit/bombs.h"

namespace tilescope::report {
namespace {

template <class Write>
void expect_small_and_stopped(const trace::Trace& trace, const Write& write) {
    std::atomic<bool> stop = false;
    uint64_t pieces = 0;
    const int64_t most = most_allocated_by([&] {
        EXPECT_TRUE(write([](std::string_view) { return true; }, ExportProgress{nullptr, {&stop}}));
    });
    EXPECT_LT(most, 512 << 10) << trace.steps() << " steps";
    const Take until_second = [&](std::string_view) {
        if (++pieces == 2) stop = true;
        return true;
    };
    EXPECT_FALSE(write(until_second, ExportProgress{nullptr, {&stop}}));
    EXPECT_LT(pieces, 20u);
}

TEST(ExportLongBlocks, TakeNoMemoryForTheStepsAndCanBeStopped) {
    const trace::Trace trace = made_of({.name = "long", .steps = 80'000, .barrier_every = 100});
    const auto rule = analysis::phase_rule(trace);
    ASSERT_TRUE(rule);
    expect_small_and_stopped(trace, [&](const Take& take, const ExportProgress& progress) {
        return write_csv(trace, *rule, {}, false, take, progress);
    });
    expect_small_and_stopped(trace, [&](const Take& take, const ExportProgress& progress) {
        return write_trace_json(trace, *rule, {}, false, take, progress);
    });
    expect_small_and_stopped(trace, [&](const Take& take, const ExportProgress& progress) {
        return write_perfetto(trace, *rule, {}, take, progress);
    });
}

}  // namespace
}  // namespace tilescope::report
