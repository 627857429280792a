// What is reported of a ring of stages: its sums have closed forms.
#include <gtest/gtest.h>

#include "tests/opened.h"
#include "tests/unit/words_trace.h"

namespace tilescope::report {
namespace {

TEST(RingReport, CountsSignalsWaitsAndBytes) {
    tilescope::test::Ring ring;
    ring.stages = 2, ring.consumers = 3, ring.trips = 5;
    const trace::Trace trace = trace::ring_trace(ring);
    const auto summary = analysis::summarize(trace);
    ASSERT_TRUE(summary) << summary.error().message;
    // Initialised once each; the producer expects once a trip, and each consumer arrives once.
    EXPECT_EQ(summary->signals, 2u * ring.stages + ring.trips + ring.trips * ring.consumers);
    EXPECT_EQ(summary->signal_waits, ring.trips * (1u + ring.consumers));
    const std::string text = to_text(trace, *summary);
    EXPECT_NE(text.find("24 mbarrier signals and 20 mbarrier waits\n"), std::string::npos) << text;
    const std::string json = to_json(trace, *summary);
    EXPECT_NE(json.find("\"signals\": 24"), std::string::npos) << json;
    EXPECT_NE(json.find("\"signal_waits\": 20"), std::string::npos) << json;
}

}  // namespace
}  // namespace tilescope::report
