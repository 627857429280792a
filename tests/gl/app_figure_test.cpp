// The figures of the lessons, drawn: nothing cut, at two sizes, in both themes and for the back row; and
// golden pictures of some.
#include <fmt/format.h>

#include "tests/gl/compare_drawn.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

using Set = std::vector<std::pair<std::string_view, std::string_view>>;

State with_figure(const char* name, const Set& set = {}) {
    State state;
    show_trace(state, kernels::recorded("tiled", {4, 4, 4, 2}));
    const lessons::Figure& figure = *lessons::find_figure(name);
    std::vector<int> all = lessons::first_set(figure);
    for (const auto& [parameter, value] : set)
        for (size_t at = 0; at < all.size(); ++at)
            if (figure.parameters[at].name == parameter)
                all[at] = setting_of(figure.parameters[at], value).value_or(all[at]);
    lessons::show_figure(state.lessons, state.session, figure, all);
    return state;
}

// What every figure looks like at its least, at its most, and as it opens.
std::vector<std::vector<int>> settings_of(const lessons::Figure& figure) {
    std::vector<std::vector<int>> all{lessons::first_set(figure), {}, {}};
    for (const lessons::Parameter& parameter : figure.parameters) {
        all[1].push_back(parameter.least);
        all[2].push_back(parameter.most);
    }
    return all;
}

// Of the text that lies on the page, what is cut, leaves the window, or lies on another.
std::string spoilt(const draw::Inspection& seen, int width, int height) {
    std::string all;
    for (size_t at = 0; at < seen.texts.size(); ++at) {
        const draw::Written& one = seen.texts[at];
        if (one.cut) all += "cut: " + one.text + "\n";
        if (one.min.x < 0 || one.min.y < 0 || one.max.x > static_cast<float>(width) ||
            one.max.y > static_cast<float>(height))
            all += "outside: " + one.text + "\n";
        for (size_t other = 0; other < at; ++other) {
            const draw::Written& before = seen.texts[other];
            // Lines of text stand as close as their heights allow.
            const float over = std::min(one.max.y, before.max.y) - std::max(one.min.y, before.min.y);
            const float beside = std::min(one.max.x, before.max.x) - std::max(one.min.x, before.min.x);
            if (one.list == before.list && over > 3 && beside > 1)
                all += "'" + one.text + "' lies on '" + before.text + "'\n";
        }
    }
    return all;
}

TEST(FigurePictures, NothingIsCutOrLiesOnAnother) {
    SKIP_WITHOUT_OPENGL();
    for (const auto& [width, height] : {std::pair{1280, 720}, {1920, 1080}}) {
        Drawn drawn(width, height);
        for (const bool lecture : {false, true})
            for (const lessons::Figure& figure : lessons::figures()) {
                State state = with_figure(figure.name.data());
                state.session.lecture = lecture;
                for (const std::vector<int>& set : settings_of(figure)) {
                    lessons::show_figure(state.lessons, state.session, figure, set);
                    SCOPED_TRACE(fmt::format("{} {}{} {}", figure.name, height, lecture ? " lecture" : "",
                                             fmt::join(set, ",")));
                    const std::string words = drawn.words(state);
                    EXPECT_TRUE(says(words, std::string(figure.title)));
                    EXPECT_TRUE(says(words, "model"));
                    EXPECT_TRUE(says(words, figure.concludes(set)));
                    EXPECT_EQ(spoilt(drawn.seen(), width, height), "");
                }
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

TEST(FigurePictures, TheListOfThem) {
    SKIP_WITHOUT_OPENGL();
    State state;
    state.session.screen = "lessons";
    state.lessons.listed = state.lessons.lessons->size();
    golden_of(std::move(state), "list");
}

TEST(FigurePictures, FixedPartsOfAnSm) {
    SKIP_WITHOUT_OPENGL();
    golden_of(with_figure("partition"), "partition");
}

TEST(FigurePictures, DivergenceInALecture) {
    SKIP_WITHOUT_OPENGL();
    State state = with_figure("divergence");
    state.session.lecture = true;
    golden_of(std::move(state), "divergence_lecture");
}

TEST(FigurePictures, LatencyOfADeviceInTheDark) {
    SKIP_WITHOUT_OPENGL();
    State state = with_figure("latency", {{"warps", "13"}, {"device", "H200"}});
    state.session.theme = draw::Theme::Dark;
    golden_of(std::move(state), "latency_device_dark");
}

TEST(FigurePictures, TheKindsOfMemory) {
    SKIP_WITHOUT_OPENGL();
    golden_of(with_figure("memory"), "memory");
}

TEST(FigurePictures, BurstsInTheDark) {
    SKIP_WITHOUT_OPENGL();
    State state = with_figure("bursts", {{"stride", "4"}, {"apart", "7"}});
    state.session.theme = draw::Theme::Dark;
    golden_of(std::move(state), "bursts_dark");
}

TEST(FigurePictures, WhyTilesHelpInALecture) {
    SKIP_WITHOUT_OPENGL();
    State state = with_figure("tiles_help");
    state.session.lecture = true;
    golden_of(std::move(state), "tiles_help_lecture");
}

TEST(FigurePictures, TileWidths) {
    SKIP_WITHOUT_OPENGL();
    golden_of(with_figure("tile_width", {{"device", "GeForce GTX 280 (GT200)"}}), "tile_width");
}

}  // namespace
}  // namespace tilescope::app
