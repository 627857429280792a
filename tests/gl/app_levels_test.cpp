// The Levels screen as pictures.
#include "tests/gl/compare_drawn.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

State levels_at(const char* kernel, const kernels::Shape& shape, uint32_t step, levels::By by) {
    State state = alone(kernels::recorded(kernel, shape));
    state.session.screen = levels::kScreen.option;
    state.session.cursor.step = step;
    state.levels.by = by;
    return state;
}

// The step asks again for what the block has loaded.
TEST(LevelsScreen, AtAStep) {
    SKIP_WITHOUT_OPENGL();
    golden(levels_at("untiled", {64, 64, 64, 16}, 71, levels::By::Array), 1280, 720, "levels_light");
}

// 32 lines of one column, by phase.
TEST(LevelsScreen, AColumn) {
    SKIP_WITHOUT_OPENGL();
    State state = levels_at("untiled_swapped", {64, 64, 64, 32}, 0, levels::By::Phase);
    state.session.theme = draw::Theme::Dark;
    golden(std::move(state), 1920, 1080, "levels_dark");
}

TEST(LevelsScreen, ForTheBackRow) {
    SKIP_WITHOUT_OPENGL();
    State state = levels_at("tiled", {64, 64, 64, 16}, 1, levels::By::Site);
    state.session.lecture = true;
    golden(std::move(state), 1280, 720, "levels_lecture");
}

}  // namespace
}  // namespace tilescope::app
