// The figures of the lessons, drawn: what each says stands there whole, at two sizes, on the desk and for the
// back row; and golden pictures of some.
#include <fmt/format.h>

#include "tests/gl/compare_drawn.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

State with_figure(const char* name) {
    State state;
    show_trace(state, kernels::recorded("tiled", {4, 4, 4, 2}));
    lessons::show_figure(state.lessons, state.session, *lessons::find_figure(name));
    return state;
}

TEST(FigurePictures, SayTheirTitleAndWhatTheyConclude) {
    SKIP_WITHOUT_OPENGL();
    for (const auto& [width, height] : {std::pair{1280, 720}, {1920, 1080}})
        for (const bool lecture : {false, true}) {
            Drawn drawn(width, height);
            for (const lessons::Figure& figure : lessons::figures()) {
                State state = with_figure(figure.name.data());
                state.session.lecture = lecture;
                SCOPED_TRACE(fmt::format("{} {}{}", figure.name, height, lecture ? " lecture" : ""));
                EXPECT_TRUE(says(drawn.words(state), std::string(figure.title)));
                EXPECT_TRUE(says(drawn.words(state), "model"));
                EXPECT_TRUE(says(drawn.words(state), figure.concludes(state.lessons.shown->set)));
            }
        }
}

void golden_of(State state, const std::string& name) {
    test::expect_golden(picture(std::move(state), 1280, 720), "figure_" + name);
}

TEST(FigurePictures, Latency) {
    SKIP_WITHOUT_OPENGL();
    golden_of(with_figure("latency"), "latency");
}

TEST(FigurePictures, BlocksInTheDark) {
    SKIP_WITHOUT_OPENGL();
    State state = with_figure("blocks");
    state.session.theme = draw::Theme::Dark;
    golden_of(std::move(state), "blocks_dark");
}

TEST(FigurePictures, TheGateInALecture) {
    SKIP_WITHOUT_OPENGL();
    State state = with_figure("gate");
    state.session.lecture = true;
    golden_of(std::move(state), "gate_lecture");
}

}  // namespace
}  // namespace tilescope::app
