// How ImGui's lists are drawn.
#include "app/platform/gl.h"
#include "tests/gl/canvas.h"

namespace tilescope::draw {
namespace {

using test::pixel;
const Palette& kLight = palette(Theme::Light);

int questions = 0;
void count_integers(GLenum, GLint*) { ++questions; }
GLboolean count_switches(GLenum) { return ++questions, GLboolean{0}; }

// A question waits until all that was drawn is done, where commands go to another process, as in a browser.
TEST(ListRenderer, AsksOpenGlForNothing) {
    SKIP_WITHOUT_OPENGL();
    test::Canvas canvas(200, 160);
    const std::vector<Cell> cells(12, cell(Ink::GlobalLoad));
    canvas.grids().set_cells(1, 1, 3, 4, cells);
    const auto draw = [&] {
        return canvas.frame(kLight, [&](ImDrawList& list) {
            canvas.grids().draw(list, 1, {20, 10, 40, {0, 0}, {200, 160}}, kLight, 1);
            list.AddText({20, 140}, kLight[Ink::Text], "behind the grid");
        });
    };
    const platform::Image usual = draw();
    const auto integers = std::exchange(glad_glGetIntegerv, count_integers);
    const auto switches = std::exchange(glad_glIsEnabled, count_switches);
    const platform::Image again = draw();
    glad_glGetIntegerv = integers, glad_glIsEnabled = switches;
    EXPECT_EQ(questions, 0);
    EXPECT_EQ(again.rgba, usual.rgba);
    EXPECT_EQ(glGetError(), GLenum{GL_NO_ERROR});
}

TEST(ListRenderer, DrawsMoreVerticesThanAnIndexCounts) {
    SKIP_WITHOUT_OPENGL();
    constexpr int kSide = 160;  // rectangles in a row and in a column, of 4 vertices each
    static_assert(kSide * kSide * 4 > 65536 && sizeof(ImDrawIdx) == 2);
    test::Canvas canvas(kSide, kSide);
    const auto color = [](int x, int y) { return IM_COL32(x, y, 100, 255); };
    const platform::Image image = canvas.frame(kLight, [&](ImDrawList& list) {
        for (int y = 0; y < kSide; ++y)
            for (int x = 0; x < kSide; ++x) {
                const ImVec2 low{static_cast<float>(x), static_cast<float>(y)};
                list.AddRectFilled(low, {low.x + 1, low.y + 1}, color(x, y));
            }
    });
    for (int y = 0; y < kSide; ++y)
        for (int x = 0; x < kSide; ++x) ASSERT_EQ(pixel(image, x, y), color(x, y)) << x << "," << y;
}

}  // namespace
}  // namespace tilescope::draw
