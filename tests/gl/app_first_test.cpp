// The first minute as it is drawn: each stop shows its panels and no other, whole at any size; and the small pictures
// of stops on the Lessons screen.
#include <map>
#include <set>

#include "tests/app_names.h"
#include "tests/gl/drawn.h"
#include "tests/gl/flaws.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

struct WindowSize {
    int width, height;
};
constexpr WindowSize kSizes[] = {{1280, 720}, {1600, 1000}, {1920, 1080}, {800, 1200}};

State at_first(size_t stop, bool lecture = false,
               const std::vector<lessons::Lesson>& lessons = lessons::lesson_list()) {
    State state;
    state.lessons.lessons = &lessons;
    state.session.assets.timings = Assets::of(kNoTimes);
    state.session.lecture = lecture;
    go_to_stop(state.lessons, state.session, 0, stop);
    update(state, true);
    update(state, true);
    return state;
}

// The numbers of the arrays that are drawn.
std::set<uint8_t> arrays_in(const draw::Inspection& seen) {
    std::set<uint8_t> arrays;
    for (const auto& [array, grid] : seen.grids) arrays.insert(array);
    return arrays;
}

TEST(FirstMinute, ShowsThePanelsOfItsStopAlone) {
    SKIP_WITHOUT_OPENGL();
    using session::Panel;
    for (const WindowSize& size : kSizes)
        for (const bool lecture : {false, true}) {
            if (lecture && size.width < 1024) continue;  // the bar's large type has no room there
            Drawn drawn(size.width, size.height);
            for (size_t stop = 0; stop < lessons::lesson_list()[0].stops.size(); ++stop) {
                SCOPED_TRACE(fmt::format("{}x{}{}, stop {}", size.width, size.height,
                                         lecture ? ", lecture" : "", stop + 1));
                State state = at_first(stop, lecture);
                const std::string words = drawn.words(state);
                for (const std::string& flaw : flaws(drawn.seen(), size.width, size.height))
                    ADD_FAILURE() << flaw;
                if (!state.session.unfolds() || state.session.question.open) continue;
                const auto has = [&](const char* text) { return words.find(text) != std::string::npos; };
                std::string said = state.lessons.standing.words;
                std::erase(said, ' ');
                EXPECT_TRUE(has(said.c_str())) << words;
                EXPECT_TRUE(has("PageDown:next"));
                EXPECT_EQ(has("Threads"), state.session.shows(Panel::Threads));
                EXPECT_EQ(has("tiled.cu"), state.session.shows(Panel::Source) && !lecture);
                EXPECT_EQ(has("atthebarrier"), state.session.shows(Panel::Request));
                EXPECT_FALSE(has("wholerecording")) << "its sums";
                EXPECT_FALSE(has("grid›block")) << "the overview";
                const look::BlockIndex& index = *state.session.block;
                std::set<uint8_t> arrays{index.product->M, index.product->N, index.product->P};
                if (state.session.shows(Panel::Tiles))
                    arrays.insert(index.shared.begin(), index.shared.end());
                EXPECT_EQ(arrays_in(drawn.seen()), arrays);
            }
        }
}

// The first lesson's stops with the sums beside what they show.
TEST(FirstMinute, SumsAreShownWhereAStopNamesThem) {
    SKIP_WITHOUT_OPENGL();
    std::vector<lessons::Lesson> with_sums = lessons::lesson_list();
    std::erase_if(with_sums[0].stops, [](const lessons::LessonStop& stop) {
        return stop.panels == session::kAllPanels || stop.ask.has_value();
    });
    for (lessons::LessonStop& stop : with_sums[0].stops)
        stop.panels |= static_cast<uint8_t>(session::Panel::Sums);
    // All of them are the whole screen, which a lecture shows in its own way.
    with_sums[0].stops.back().panels &=
        static_cast<uint8_t>(~static_cast<unsigned>(session::Panel::Timeline));
    for (const WindowSize& size : kSizes)
        for (const bool lecture : {false, true}) {
            if (lecture && size.width < 1024) continue;  // the bar's large type has no room there
            Drawn drawn(size.width, size.height);
            for (size_t stop = 0; stop < with_sums[0].stops.size(); ++stop) {
                SCOPED_TRACE(fmt::format("{}x{}{}, stop {}", size.width, size.height,
                                         lecture ? ", lecture" : "", stop + 1));
                State state = at_first(stop, lecture, with_sums);
                const bool shown = drawn.words(state).find("wholerecording") != std::string::npos;
                const session::Session& session = state.session;
                const bool beside =  // what has the room of a low window in a lecture
                    session.shows(session::Panel::Source) || session.shows(session::Panel::Request);
                EXPECT_TRUE(shown || (lecture && beside && size.height <= 720));
                for (const std::string& flaw : flaws(drawn.seen(), size.width, size.height))
                    ADD_FAILURE() << flaw;
            }
        }
}

// Nothing but the matrices, as large as there is room for: they take most of the height.
TEST(FirstMinute, BeginsWithThreeLargeMatrices) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1280, 720);
    State state = at_first(0);
    drawn.frames(state);
    float top = 720, bottom = 0;
    for (const auto& [array, grid] : drawn.seen().grids) {
        top = std::min(top, grid.y);
        bottom = std::max(bottom, grid.y + grid.pitch * 4);
    }
    EXPECT_GT(bottom - top, 720 * 0.7f);
    // The frames are the selection's alone: a row of M, a column of N and an element of P.
    size_t frames = 0;
    for (const auto& [array, mark] : drawn.seen().marks) frames += mark.fill == 0 ? 1 : 0;
    EXPECT_EQ(frames, 3u);
}

TEST(FirstMinute, LooksAsItDoes) {
    SKIP_WITHOUT_OPENGL();
    test::expect_golden(picture(at_first(0), 1280, 720), "first_matrices");
    State barrier = at_first(4, true);
    barrier.session.theme = Theme::Dark;
    test::expect_golden(picture(std::move(barrier), 1280, 720), "first_barrier_lecture_dark");
}

// Of each lesson, in the sizes that a list is looked at: no word cut or on another, and pictures that stay.
TEST(StopPictures, StandBesideTheStops) {
    SKIP_WITHOUT_OPENGL();
    for (const bool lecture : {false, true}) {
        Drawn drawn(1280, 720);
        State state;
        show_trace(state, kernels::recorded("tiled", {4, 4, 4, 2}));
        state.session.lecture = lecture;
        state.session.screen = "lessons";
        size_t pictures = 0, figures = 0;
        for (size_t at = 0; at < lessons::lesson_list().size(); ++at) {
            SCOPED_TRACE(lessons::lesson_list()[at].name);
            state.lessons.listed = at;
            drawn.frames(state);
            EXPECT_EQ(state.lessons.pictures[at].size(), lessons::lesson_list()[at].stops.size());
            for (size_t stop = 0; stop < lessons::lesson_list()[at].stops.size(); ++stop) {
                const bool recorded = !is_modelled(lessons::lesson_list()[at].stops[stop]);
                EXPECT_EQ(state.lessons.pictures[at][stop] != nullptr, recorded);
                pictures += recorded;
            }
            std::map<std::pair<size_t, size_t>, const void*> drawn_once;
            for (const auto& [of, figure] : state.lessons.small_figures) {
                EXPECT_FALSE(figure.corners.empty()) << of.second + 1;
                drawn_once[of] = figure.corners.data();
                figures += of.first == at;
            }
            drawn.frames(state);
            for (const auto& [of, figure] : state.lessons.small_figures)
                EXPECT_EQ(drawn_once[of], figure.corners.data()) << "drawn anew";
        }
        EXPECT_GT(pictures, 100u);
        if (!lecture) EXPECT_GT(figures, 15u);
    }
}

}  // namespace
}  // namespace tilescope::app
