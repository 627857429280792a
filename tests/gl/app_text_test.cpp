// Text from files on a screen: however long it is, a frame costs what is shown of it. Texts of a megabyte
// would keep these tests busy for hours if they were measured letter by letter.
#include "tests/app_names.h"
#include "tests/gl/compare_drawn.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

constexpr size_t kMegabyte = 1 << 20;

void expect_cuts(const draw::Font& font) {
    // Against the obvious way: one character less at a time.
    const auto slow = [&](std::string text, float width) {
        if (draw::text_size(font, text).x <= width) return text;
        while (!text.empty()) {
            text.pop_back();
            if (draw::text_size(font, text + "\u2026").x <= width) return text + "\u2026";
        }
        return text;
    };
    const std::string ascii = "thread[1,3] reads M[3,0] at line 23, outside M's 3 × 4 elements";
    for (float width = 0; width < 500; width += 7.5f)
        EXPECT_EQ(draw::elided(font, ascii, width), slow(ascii, width));
    // No character is split.
    const std::string wide = "8 \u00d7 8 \u2026 \u00d7\u00d7\u00d7\u00d7\u00d7\u00d7";
    for (float width = 0; width < 200; width += 1)
        EXPECT_EQ(draw::elided(font, wide, width).find("\uFFFD"), std::string::npos);
    for (const std::string letter : {"M", ".", "\u00d7", "\xff", "a ", "\n"}) {
        std::string text;
        while (text.size() < kMegabyte) text += letter;
        EXPECT_LE(draw::text_size(font, draw::elided(font, text, 300)).x, 300);
        EXPECT_LT(draw::wrapped(font, text, 300).size(), 5000u);
        EXPECT_GT(draw::text_size(font, text).x, 300);
    }
    EXPECT_EQ(draw::text_size(font, "a\nb").y, draw::text_size(font, "a b").y) << "one line";
}

TEST(LongText, IsCutWhereItEnds) {
    SKIP_WITHOUT_OPENGL();
    test::Canvas canvas(64, 64);
    canvas.frame(draw::palette(draw::Theme::Light),
                 [&](ImDrawList&) { expect_cuts(canvas.fonts().of(draw::Face::Text, draw::Size::Body)); });
}

struct Tooltips : testing::TestWithParam<std::pair<int, int>> {};  // width and height of the window

// What is said beside the mouse stands in lines no wider than half the window, one below the other, and whole
// in it, wherever the mouse is.
TEST_P(Tooltips, AreWholeInTheWindow) {
    SKIP_WITHOUT_OPENGL();
    size_t long_ones = 0;
    Drawn drawn(GetParam().first, GetParam().second);
    const auto width = static_cast<float>(GetParam().first), height = static_cast<float>(GetParam().second);
    State state;
    show_trace(state, kernels::recorded("tiled", {64, 64, 64, 16}));
    state.session.screen = "timing";
    drawn.frames(state);
    for (float y = 10; y < height; y += 24)
        for (float x = width * 0.1f; x < width; x += width * 0.28f) {
            platform::Input input;
            input.mouse_x = x, input.mouse_y = y;
            drawn.frames(state, input, 1, false);
            std::vector<draw::Written> said;  // over all else
            for (const draw::Written& text : drawn.seen().texts)
                if (text.list != drawn.seen().texts.front().list) said.push_back(text);
            long_ones += said.size() > 1;
            for (size_t i = 0; i < said.size(); ++i) {
                EXPECT_LE(said[i].max.x - said[i].min.x, width / 2) << said[i].text;
                EXPECT_TRUE(said[i].min.x >= 0 && said[i].max.x <= width && said[i].min.y >= 0 &&
                            said[i].max.y <= height)
                    << said[i].text << " at " << x << ", " << y;
                if (i > 0) EXPECT_GE(said[i].min.y, said[i - 1].max.y) << said[i].text;
            }
        }
    EXPECT_GT(long_ones, 10u) << "bars, and lines of kernels";
}
INSTANTIATE_TEST_SUITE_P(Sizes, Tooltips, testing::Values(std::pair{1280, 720}, std::pair{960, 600}),
                         [](const auto& size) { return "At" + std::to_string(size.param.first); });

TEST(LongText, OfARecordingIsDrawnOnEveryScreen) {
    SKIP_WITHOUT_OPENGL();
    trace::Trace trace = kernels::recorded("tiled", {8, 8, 8, 4});
    const std::string name = "\x1b[31m" + std::string(kMegabyte, 'n');
    std::string words;
    while (words.size() < kMegabyte) words += "a \xff";
    trace.meta.kernel = trace.meta.device = trace.meta.driver = trace.meta.source_name = trace.meta.ptx_name =
        name;
    trace.meta.complete = false;
    trace.meta.incomplete_reason = words;
    for (Array& array : trace.launch.arrays) array.name = name;
    trace.meta.source = words + "\n" + name + "\n" + std::string(kMegabyte, '\n');
    for (ptx::Site& site : trace.sites) site.line = 1 + site.id % 2;
    State state;
    show_trace(state, std::make_shared<const trace::Trace>(std::move(trace)), name.c_str());
    Drawn drawn(1280, 800);
    for (const ScreenRow& screen : screens()) {
        state.session.screen = screen.option;
        state.session.message = words;
        drawn.frames(state);
    }
    EXPECT_LT(window_title(state).size(), 1000u);
}

}  // namespace
}  // namespace tilescope::app
