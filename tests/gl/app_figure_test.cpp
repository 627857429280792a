// The figures of the lessons, drawn: nothing cut, at two sizes, in both themes and for the back row; and
// golden pictures of some.
#include <random>

#include <fmt/format.h>

#include "tests/gl/compare_drawn.h"
#include "tests/gl/flaws.h"
#include "tests/launch_examples.h"
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

// What every figure looks like as it opens, at its least and its most, and somehow.
std::vector<std::vector<int>> settings_of(const lessons::Figure& figure) {
    std::vector<std::vector<int>> all{lessons::first_set(figure), {}, {}};
    for (const lessons::FigureParameter& parameter : figure.parameters) {
        all[1].push_back(parameter.least);
        all[2].push_back(parameter.most);
    }
    std::mt19937 random(3);
    for (int round = 0; round < 8; ++round) {
        all.emplace_back();
        for (const lessons::FigureParameter& parameter : figure.parameters) {
            const auto steps = static_cast<uint32_t>((parameter.most - parameter.least) / parameter.step) + 1;
            all.back().push_back(parameter.least +
                                 parameter.step * static_cast<int>(static_cast<uint32_t>(random()) % steps));
        }
    }
    return all;
}

TEST(FigurePictures, NothingIsCutOrLiesOnAnother) {
    SKIP_WITHOUT_OPENGL();
    // The lowest window is what the strip of a lesson leaves.
    for (const auto& [width, height] : {std::pair{1280, 720}, {1920, 1080}, {1280, 630}}) {
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
                    // Of the recording that is open, where it shows nothing else and finds it there.
                    const std::string of_open =
                        figure.recorded_alone ? figure.concludes_of(set, state.session) : "";
                    EXPECT_TRUE(says(words, !figure.recorded_alone ? "model"
                                            : of_open.empty()      ? "not recorded"
                                                                   : "recorded"));
                    EXPECT_TRUE(says(words, of_open.empty() ? figure.concludes(set) : of_open));
                    EXPECT_EQ(spoilt(drawn.seen(), width, height), "");
                }
            }
    }
}

State with_schedule(const char* recording, const std::vector<int>& set = {}) {
    State state;
    auto trace = kernels::open_shipped(*kernels::find_shipped_recording(recording));
    EXPECT_TRUE(trace);
    show_trace(state, std::move(*trace));
    lessons::show_figure(state.lessons, state.session, *lessons::find_figure("schedule"), set);
    return state;
}

// While the blocks are dealt, each has ended, runs or waits; first nearly all wait, and at last all have ended.
TEST(FigurePictures, BlocksAreDealtWhileItPlays) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1600, 1000);
    struct Counted {
        int ended = 0, run = 0, wait = 0;
    };
    const auto counted_at = [&](int time) {
        const std::string at = std::to_string(time);
        State state = with_figure("blocks", {{"blocks", "100"}, {"sms", "8"}, {"slots", "4"}, {"time", at}});
        drawn.words(state);
        Counted counted{-1, -1, -1};
        for (const draw::Written& text : drawn.seen().texts) {
            Counted now;
            int all = 0;
            if (std::sscanf(text.text.c_str(), "%d of %d blocks ha%*[a-z] ended, %d run%*[s,] %d", &now.ended,
                            &all, &now.run, &now.wait) != 4)
                continue;
            EXPECT_EQ(all, 100);
            EXPECT_EQ(now.ended + now.run + now.wait, all);
            counted = now;
        }
        return counted;
    };
    Counted last;
    for (const int time : {0, 20, 60, 110, 160, 200, 239}) {
        const Counted now = counted_at(time);
        ASSERT_GE(now.ended, 0) << time;
        const int of_sm = 8 * 4;  // that run at once at most
        EXPECT_LE(now.run, of_sm) << time;
        EXPECT_GE(now.ended, last.ended) << time;
        last = now;
    }
    EXPECT_EQ(counted_at(0).ended, 0);
    EXPECT_EQ(counted_at(0).run, 1) << "the first block begins";
    EXPECT_EQ(counted_at(240).ended, -1) << "played to its end it is as it opens: no moment is told";
}

// All blocks on one SM, at the same time or one after the other, in more warps than there is room for.
TEST(FigurePictures, TheScheduleOfOneBlockOrMany) {
    SKIP_WITHOUT_OPENGL();
    const lessons::Figure& figure = *lessons::find_figure("schedule");
    for (const char* name : {"tiled-64x64x64-t16", "tiled_transposed-64x64x64-t32", "tiled-16x16x16-t4"})
        for (const uint64_t apart :
             {uint64_t{0}, uint64_t{900}, uint64_t{40'000}, uint64_t{50'000'000'000}}) {
            auto trace = kernels::open_shipped(*kernels::find_shipped_recording(name));
            ASSERT_TRUE(trace);
            for (size_t at = 0; at < trace->blocks.size() && apart > 0; ++at)
                trace->blocks[at].sm = 3, trace->blocks[at].clock = 7'000 + at * apart;
            State state;
            show_trace(state, *trace);
            for (const auto& [width, height] : {std::pair{1280, 720}, {1920, 1080}, {1280, 630}}) {
                Drawn drawn(width, height);
                for (const bool lecture : {false, true})
                    for (const std::vector<int>& set : {std::vector<int>{0, 0, 0}, {0, 3, 30}, {0, 6, 99}}) {
                        state.session.lecture = lecture;
                        lessons::show_figure(state.lessons, state.session, figure, set);
                        SCOPED_TRACE(fmt::format("{} {} {}{} {}", name, apart, height,
                                                 lecture ? " lecture" : "", fmt::join(set, ",")));
                        const std::string words = drawn.words(state);
                        EXPECT_TRUE(says(words, "recorded"));
                        EXPECT_TRUE(says(words, figure.concludes_of(set, state.session)));
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

TEST(FigurePictures, TheScheduleOfAnSm) {
    SKIP_WITHOUT_OPENGL();
    golden_of(with_schedule("tiled-64x64x64-t16"), "schedule");
}

// Chunks of 16 bytes by rows, as bytes; and a swizzled tile of floats in its banks, in the dark and for the back row.
TEST(FigurePictures, OfATileInTheBanks) {
    SKIP_WITHOUT_OPENGL();
    const auto of = [](const kernels::Plan& plan, const std::vector<int>& set) {
        State state;
        show_trace(state, kernels::recorded(plan));
        lessons::show_figure(state.lessons, state.session, *lessons::find_figure("layout"), set);
        return state;
    };
    golden_of(of(kernels::rows_of_halves(), {1, 1}), "layout_bytes");
    State dark = of(kernels::swizzled_tile(), {1, 0});
    dark.session.theme = Theme::Dark;
    golden_of(std::move(dark), "layout_swizzled_dark");
    State lecture = of(kernels::swizzled_tile(), {1, 0});
    lecture.session.lecture = true;
    golden_of(std::move(lecture), "layout_swizzled_lecture");
}

TEST(FigurePictures, OfFragments) {
    SKIP_WITHOUT_OPENGL();
    golden_of(with_figure("fragments"), "fragments");
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
