// The glossary over a screen, and what is said of a word that the mouse rests on.
#include <functional>

#include "app/look/terms.h"
#include "tests/app_names.h"
#include "tests/gl/drawn.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

State shown_tiled() {
    State state;
    show_trace(state, kernels::recorded("tiled", {64, 64, 64, 16}));
    state.session.gpu = {true, false, "there is no driver"};
    return state;
}

TEST(GlossaryPicture, WordsOfTheScreenComeFirst) {
    SKIP_WITHOUT_OPENGL();
    State state = shown_tiled();
    open_glossary(state.input);
    test::expect_golden(picture(std::move(state), 1280, 720), "glossary");
}

TEST(GlossaryPicture, WhatIsTypedInTheDark) {
    SKIP_WITHOUT_OPENGL();
    State state = shown_tiled();
    state.session.theme = Theme::Dark;
    open_glossary(state.input);
    set_text(state.input.glossary.query, "bank");
    test::expect_golden(picture(std::move(state), 1280, 720), "glossary_dark");
}

TEST(GlossaryPicture, ForTheBackRow) {
    SKIP_WITHOUT_OPENGL();
    State state = shown_tiled();
    state.session.lecture = true;
    open_glossary(state.input);
    state.input.glossary.chosen = 4;
    test::expect_golden(picture(std::move(state), 1280, 720), "glossary_lecture");
}

// Windows too low for a list: nothing is found, or its rows have no room, and what says how far down it is has none.
TEST(OverlayPicture, ListsWithoutRoomOrHits) {
    SKIP_WITHOUT_OPENGL();
    const State shown = shown_tiled();
    const std::function<void(State&, const char*)> lists[] = {
        [](State& state, const char* typed) {
            open_glossary(state.input);
            set_text(state.input.glossary.query, typed);
        },
        [](State& state, const char* typed) {
            state.input.palette.open = true;
            set_text(state.input.palette.query, typed);
        },
        [](State& state, const char* typed) {
            input::open_path_box(state.input, state.session, input::PathBox::Mode::Open);
            set_text(state.input.path.path, typed);
        },
        [](State& state, const char*) { state.session.screen = "lessons"; },
        [](State& state, const char*) { state.input.show_keys = true; },
    };
    for (const auto& [width, height] : {std::pair{700, 205}, {700, 60}, {320, 120}, {64, 64}, {1280, 240}}) {
        Drawn drawn(width, height);
        for (const bool lecture : {false, true})
            for (const auto& open : lists)
                for (const char* typed : {"", "zzz", "bank"}) {
                    State state = shown;
                    state.session.lecture = lecture;
                    open(state, typed);
                    EXPECT_EQ(drawn.picture(state).width, width);
                }
    }
}

// The words of a frame, each with where it stands.
struct Place {
    const look::Term* term;
    draw::Rect box;
    std::string text;
};
std::vector<Place> words_on(const Drawn& drawn) {
    std::vector<Place> places;
    for (const draw::Written& written : drawn.seen().texts) {
        if (written.cut) continue;
        const auto said = look::terms_in(written.text);
        // The first one, where it begins the text: no width is needed to find it.
        if (!said.empty() && said[0].first == 0)
            places.push_back({said[0].term, {written.min, written.max}, written.text});
    }
    return places;
}

bool overlap(const draw::Rect& a, const draw::Rect& b) {
    return a.min.x < b.max.x && b.min.x < a.max.x && a.min.y < b.max.y && b.min.y < a.max.y;
}

class Pointing : public testing::TestWithParam<const char*> {};

// On every screen, wherever a word begins a text: after a moment it is explained, beside the text and not on
// it; or what is pointed at says something of its own.
TEST_P(Pointing, ExplainsAWordBesideItAfterAMoment) {
    SKIP_WITHOUT_OPENGL();
    State state = shown_tiled();
    state.session.screen = GetParam();
    Drawn drawn(1280, 720);
    drawn.frames(state);
    size_t explained = 0;
    for (const Place& place : words_on(drawn)) {
        platform::Input input;
        input.mouse_x = place.box.min.x + 3;
        input.mouse_y = (place.box.min.y + place.box.max.y) / 2;
        input.dt = 0.05;
        drawn.frames(state, input, 3, false);
        const auto tip = [&]() -> const draw::Written* {
            for (const draw::Written& one : drawn.seen().texts)
                if (one.text == place.term->word && !overlap({one.min, one.max}, place.box)) {
                    const draw::Written* const next = &one + 1;
                    if (next < drawn.seen().texts.data() + drawn.seen().texts.size() &&
                        std::string(place.term->means).starts_with(next->text))
                        return &one;
                }
            return nullptr;
        };
        EXPECT_EQ(tip(), nullptr) << place.text << ": the mouse may only be passing";
        input.dt = 0.5;
        drawn.frames(state, input, 2, false);
        const draw::Written* const said = tip();
        if (said == nullptr) continue;
        ++explained;
        // All that was written from the word on is the explanation.
        for (const draw::Written* one = said; one < &drawn.seen().texts.back() + 1; ++one) {
            EXPECT_FALSE(overlap({one->min, one->max}, place.box)) << place.text << ": " << one->text;
            EXPECT_TRUE(one->min.x >= 0 && one->max.x <= 1280 && one->min.y >= 0 && one->max.y <= 720)
                << one->text;
            EXPECT_FALSE(one->cut) << one->text;
        }
    }
    EXPECT_GE(explained, 1u);
}
INSTANTIATE_TEST_SUITE_P(Screens, Pointing,
                         testing::Values("step", "compare", "timing", "levels", "limits", "lessons"));

TEST(PointedWords, AreNotCodeNorWhatStandsUnderAnOverlay) {
    SKIP_WITHOUT_OPENGL();
    State state = shown_tiled();
    Drawn drawn(1280, 720);
    drawn.frames(state);
    const auto all = words_on(drawn);
    ASSERT_FALSE(all.empty());
    platform::Input input;
    input.mouse_x = all[0].box.min.x + 3;
    input.mouse_y = (all[0].box.min.y + all[0].box.max.y) / 2;
    input.dt = 1;
    state.input.palette.open = true;
    drawn.frames(state, input, 3, false);
    EXPECT_EQ(state.input.resting.term, nullptr);
}

TEST(PointedWords, StandOutWithWhatTheyMean) {
    SKIP_WITHOUT_OPENGL();
    State state = shown_tiled();
    state.session.theme = Theme::Dark;
    Drawn drawn(1280, 720);
    drawn.frames(state);
    for (const Place& place : words_on(drawn)) {
        if (std::string_view(place.term->word) != "request" || place.box.min.x < 640) continue;
        platform::Input input;
        input.mouse_x = place.box.min.x + 8;
        input.mouse_y = (place.box.min.y + place.box.max.y) / 2;
        input.dt = 0.5;
        drawn.frames(state, input, 3, false);
        return test::expect_golden(drawn.picture(), "glossary_pointed_dark");
    }
    FAIL() << "the table of sums has a column of requests";
}

// G on a word opens the glossary there.
TEST(PointedWords, OpenTheGlossaryWhereTheyStand) {
    SKIP_WITHOUT_OPENGL();
    State state = shown_tiled();
    Drawn drawn(1280, 720);
    drawn.frames(state);
    for (const Place& place : words_on(drawn)) {
        platform::Input input;
        input.mouse_x = place.box.min.x + 3;
        input.mouse_y = (place.box.min.y + place.box.max.y) / 2;
        input.dt = 1;
        drawn.frames(state, input, 3, false);
        if (state.input.resting.term == nullptr) continue;
        EXPECT_EQ(state.input.resting.term, place.term) << place.text;
        perform(state, "glossary");
        drawn.frames(state, input, 1, false);
        const auto list = glossary_list(state.input.glossary);
        EXPECT_EQ(list.terms.at(state.input.glossary.chosen), place.term);
        EXPECT_LT(state.input.glossary.chosen, list.here) << "it stands on the screen";
        state.input.glossary.open = false;
    }
}

}  // namespace
}  // namespace tilescope::app
