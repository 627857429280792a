// A ring of stages on the Step screen: who waits for whom, what its buffers hold, and a copy in bulk.
#include "tests/gl/compare_drawn.h"
#include "tests/ring_of_stages.h"

namespace tilescope::app {
namespace {

// At the n-th step of a kind, of that warp.
State ring_at(look::StepKind kind, uint32_t warp, uint32_t nth) {
    const trace::Trace trace = kernels::recorded(kernels::ring_of_stages({}));
    uint32_t at = 0;
    for (uint32_t step = 0, seen = 0; step < trace.steps(); ++step)
        if (look::kind_of(trace, step) == kind && trace.warp_of(step) == warp && seen++ == nth) at = step;
    State state = alone(trace);
    state.session.screen = "step";
    state.session.cursor.step = at;
    return state;
}

TEST(PipelineScreen, AWaitAndTheRing) {
    SKIP_WITHOUT_OPENGL();
    State state = ring_at(look::StepKind::SignalWait, 2, 4);
    golden(state, 1280, 720, "pipeline_wait");
    state.session.theme = draw::Theme::Dark;
    golden(std::move(state), 1920, 1080, "pipeline_wait_dark");
}

TEST(PipelineScreen, ACopyInBulk) {
    SKIP_WITHOUT_OPENGL();
    State state = ring_at(look::StepKind::GlobalLoad, 0, 4);
    golden(state, 1600, 1000, "pipeline_copy");
    state.session.lecture = true;
    golden(std::move(state), 1280, 720, "pipeline_copy_lecture");
}

}  // namespace
}  // namespace tilescope::app
