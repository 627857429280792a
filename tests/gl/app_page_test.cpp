// A block's phases on a page, as pictures: a storyboard and a poster; of every kernel nothing that is written is
// cut, outside the page or on another text.
#include <filesystem>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "app/drawn_exports.h"
#include "core/trace/file.h"
#include "tests/app_names.h"
#include "tests/file_text.h"
#include "tests/gl/drawn.h"
#include "tests/launch_examples.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

State page(const char* kernel, kernels::Shape shape, State::Page page) {
    State state;
    show_trace(state, kernels::recorded(kernel, shape));
    state.session.text_scale = kPageText;
    EXPECT_TRUE(make_page(state, page));
    return state;
}

TEST(Page, StoryboardOfATiledProduct) {
    SKIP_WITHOUT_OPENGL();
    test::expect_golden(picture(page("tiled", {64, 64, 64, 16}, State::Page::Storyboard), 1600, 900),
                        "page_storyboard");
}

TEST(Page, PosterOfAProductWhosePhasesAreManyInTheDark) {
    SKIP_WITHOUT_OPENGL();
    State state = page("tiled", {32, 80, 32, 8}, State::Page::Poster);
    state.session.theme = Theme::Dark;
    test::expect_golden(picture(std::move(state), 1400, 1980), "page_poster_dark");
}

TEST(Page, IsWrittenWhole) {
    SKIP_WITHOUT_OPENGL();
    Drawn slide(1600, 900), sheet(1400, 1980);
    for (const std::string& kernel : kernels::names_of_kernels()) {
        const bool tile = std::ranges::count(kernels::names_without_tile_width(), kernel) == 0;
        if (kernel == "mma_stages") continue;  // of which there is none
        for (const auto which : {State::Page::Storyboard, State::Page::Poster}) {
            SCOPED_TRACE(kernel);
            const uint32_t k = kernels::find(kernel)->boxes.empty() ? 44 : 136;  // of several phases
            State state = page(kernel.c_str(),
                               tile ? kernels::Shape{20, 52, 20, 8} : kernels::Shape{70, k, 72, 0}, which);
            const bool poster = which == State::Page::Poster;
            Drawn& drawn = poster ? sheet : slide;
            drawn.frames(state);
            const auto& texts = drawn.seen().texts;
            EXPECT_GT(texts.size(), 30u);
            for (size_t i = 0; i < texts.size(); ++i) {
                EXPECT_FALSE(texts[i].cut) << texts[i].text;
                EXPECT_LE(texts[i].max.x, poster ? 1400 : 1600) << texts[i].text;
                EXPECT_LE(texts[i].max.y, poster ? 1980 : 900) << texts[i].text;
                for (size_t j = 0; j < i; ++j)
                    EXPECT_FALSE(texts[i].min.x < texts[j].max.x - 1 && texts[j].min.x < texts[i].max.x - 1 &&
                                 texts[i].min.y < texts[j].max.y - 4 && texts[j].min.y < texts[i].max.y - 4)
                        << texts[i].text << " lies on " << texts[j].text;
            }
        }
    }
}

// Tiles that are copied ahead are not those of the phase, and a tensor core's products are not told one by one.
TEST(Page, OfStagesOnTensorCoresIsRefused) {
    State state;
    show_trace(state, kernels::recorded("mma_stages", {70, 44, 72, 0}));
    const auto made = make_page(state, State::Page::Poster);
    ASSERT_FALSE(made);
    EXPECT_NE(made.error().message.find("'mma_stages' loads its tiles ahead"), std::string::npos)
        << made.error().message;
}

// Of a launch that is no product there is none, and one sentence says so.
TEST(Page, OfNoProductIsRefused) {
    State state;
    show_trace(state, kernels::recorded(kernels::vector_add()));
    const auto can = make_page(state, State::Page::Storyboard);
    ASSERT_FALSE(can);
    EXPECT_NE(can.error().message.find("no product of two matrices"), std::string::npos);
}

// --- what the window draws for paper is, byte for byte, what the command line draws

namespace fs = std::filesystem;

class DrawnExports : public testing::Test {
protected:
    const std::string path = fs::temp_directory_path() / ("tilescope-drawn-" + std::to_string(getpid()));
    ~DrawnExports() override { fs::remove(path); }

    // Turns of the window, until the export has ended.
    std::string exported(State& state, const char* id) {
        Drawn window(1280, 720);
        DrawnExport drawn;
        session::start_export(state.session, *session::find_export(id), path);
        for (int turn = 0; turn < 2000 && state.session.exporting; ++turn) {
            window.frames(state, {}, 1, false);
            drawn.go_on(state);
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
        EXPECT_FALSE(state.session.exporting);
        EXPECT_EQ(state.session.message, "Exported as '" + path + "'.");
        return file_text(path);
    }
    static State at_a_lesson() {
        State state;
        state.session.screen = "lessons";
        state.lessons.listed = 1;
        update(state, true);
        EXPECT_EQ(state.session.lesson, lessons::lesson_list()[1].name);
        return state;
    }
    static Result<std::string> offscreen(const State& state, int width, int height) {
        return render_svg(state, {width, height, ""});
    }
};

// Dropped together; a third is left out.
TEST(DroppedFiles, OfTwoRecordingsTheSecondStandsBesideTheFirst) {
    SKIP_WITHOUT_OPENGL();
    const fs::path folder = fs::temp_directory_path() / ("tilescope-two-" + std::to_string(getpid()));
    fs::create_directories(folder);
    platform::Input input;
    for (const uint32_t side : {4u, 8u}) {
        input.dropped.push_back(folder / (std::to_string(side) + ".tsc"));
        ASSERT_TRUE(
            trace::write_file(kernels::recorded("tiled", {side, side, side, 2}), input.dropped.back()));
    }
    State state;
    Drawn window(1280, 720);
    window.frames(state, input, 1);
    window.frames(state, {}, 3);
    ASSERT_TRUE(state.session.recording);
    EXPECT_EQ(state.session.recording->origin, input.dropped[0]);
    ASSERT_TRUE(state.session.pair.other.recording) << state.session.message;
    EXPECT_EQ(state.session.pair.other.recording->origin, input.dropped[1]);
    // Where the first cannot be read it says so, and nothing stands beside what was open.
    State other;
    input.dropped[0] = folder / "nothing.tsc";
    window.frames(other, input, 1);
    window.frames(other, {}, 3);
    EXPECT_NE(other.session.message, "");
    EXPECT_FALSE(other.session.pair.other.recording);
    fs::remove_all(folder);
}

TEST_F(DrawnExports, PagesAreTheCommandLines) {
    SKIP_WITHOUT_OPENGL();
    for (const auto& [id, page] :
         {std::pair{"page_storyboard", State::Page::Storyboard}, {"page_poster", State::Page::Poster}}) {
        State state;
        show_trace(state, kernels::recorded("tiled", {32, 32, 32, 8}));
        state.session.cursor.block = 6;
        state.session.theme = Theme::Dark;
        state.session.lecture = true;
        update(state, true);
        const std::string made = exported(state, id);
        auto paper = page_of(state.session.recording, 6, Theme::Dark, page);
        ASSERT_TRUE(paper) << paper.error().message;
        const auto [width, height, name] = size_of(page);
        EXPECT_EQ(made, *offscreen(*paper, width, height)) << id;
    }
}

TEST_F(DrawnExports, HandoutsAreTheCommandLines) {
    SKIP_WITHOUT_OPENGL();
    State state = at_a_lesson();
    const std::string made = exported(state, "lesson_html");
    const lessons::Lesson& lesson = lessons::lesson_list()[1];
    auto handout = lessons::handout_of(lesson);
    ASSERT_TRUE(handout);
    State paper = on_paper(lesson);
    for (size_t at = 0; at < lesson.stops.size(); ++at)
        handout->stops[at].svg = *picture_of_stop(paper, at, offscreen);
    EXPECT_EQ(made, html_of(*handout));
}

TEST_F(DrawnExports, AreStoppedBetweenTwoPictures) {
    SKIP_WITHOUT_OPENGL();
    State state = at_a_lesson();
    Drawn window(1280, 720);
    DrawnExport drawn;
    session::start_export(state.session, *session::find_export("lesson_html"), path);
    const size_t stops = lessons::lesson_list()[1].stops.size();
    for (int turn = 0; turn < 2000 && state.session.exporting->stops_done == 0; ++turn) {
        drawn.go_on(state);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    window.frames(state, {}, 1, false);
    EXPECT_EQ(state.session.message,
              fmt::format("Exporting to '{}': 1 of {} stops; Shift + Esc stops it.", path, stops));
    session::stop_export(state.session);
    drawn.go_on(state);
    EXPECT_EQ(state.session.message, "Stopped; '" + path + "' was not written.");
    EXPECT_FALSE(state.session.exporting);
    EXPECT_FALSE(fs::exists(path));
}

}  // namespace
}  // namespace tilescope::app
