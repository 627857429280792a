// Launches that are no product on every screen: pictures, no empty panel, and no word of a product.
#include "tests/gl/compare_drawn.h"
#include "tests/launch_examples.h"

namespace tilescope::app {
namespace {

State launch_at(const kernels::Plan& plan, uint32_t step) {
    State state = alone(kernels::recorded(plan));
    state.session.screen = "step";
    state.session.cursor.step = step;
    return state;
}

void both_sizes(State state, const std::string& name) {
    golden(state, 1280, 720, name);
    state.session.theme = draw::Theme::Dark;
    golden(std::move(state), 1920, 1080, name + "_dark");
}

TEST(Launches, AVectorAddOnDoubles) {
    SKIP_WITHOUT_OPENGL();
    both_sizes(launch_at(kernels::vector_add(), 4), "launch_vector_add");
}

TEST(Launches, AThreeDimensionalStencil) {
    SKIP_WITHOUT_OPENGL();
    both_sizes(launch_at(kernels::stencil(), 9), "launch_stencil");
}

TEST(Launches, AHistogramOfIntegers) {
    SKIP_WITHOUT_OPENGL();
    both_sizes(launch_at(kernels::histogram(), 20), "launch_histogram");
}

TEST(Launches, ComparedWithEachOther) {
    SKIP_WITHOUT_OPENGL();
    State state = pair(kernels::recorded(kernels::stencil()), kernels::recorded(kernels::histogram()));
    golden(state, 1280, 720, "launch_compare");
}

// No times of it ship: what its recording counts stands where the times of kernels would.
TEST(Launches, OnTheTimingScreen) {
    SKIP_WITHOUT_OPENGL();
    State state = launch_at(kernels::stencil(), 9);
    state.session.screen = "timing";
    state.timing.device = "GeForce RTX 3090";
    golden(state, 1280, 720, "launch_timing");
}

// A product has tiles, matrices M, N and P, sums and factors; nothing else does.
TEST(Launches, NoScreenSpeaksOfAProduct) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    for (const kernels::Plan& plan : kernels::launch_examples()) {
        for (const char* screen : {"step", "timing", "compare"}) {
            State state = launch_at(plan, 3);
            state.session.screen = screen;
            set_beside(state.session, recording_of(kernels::recorded(kernels::vector_add())));
            // What was measured for comparison are products, and says so.
            const std::string all = drawn.words(state);
            std::string words = all.substr(0, all.find("Measured"));
            for (size_t at = 0; (at = words.find("tilescope")) != std::string::npos;) words.erase(at, 9);
            for (const char* word :
                 {"T=", "n/T", "m/T", "=n", "=m", "tile", "matri", "M[", "N[", "P[", "itssum", "factor"})
                EXPECT_EQ(words.find(word), std::string::npos)
                    << plan.kernel << " on " << screen << " says '" << word << "': " << words;
        }
    }
}

}  // namespace
}  // namespace tilescope::app
