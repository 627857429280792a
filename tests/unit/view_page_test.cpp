// The program as a page has it: what it cannot do is not offered, files come and go through the page, and what is seen is
// said as text.
#include <fmt/format.h>

#include "app/lessons/asking.h"
#include "app/spoken.h"
#include "tests/unit/keys.h"

namespace tilescope::app {
namespace {

class InAPage : public Keys {
protected:
    InAPage() { state.session.can = platform::kOfAPage; }
    std::vector<std::string> found(const char* query) const {
        std::vector<std::string> ids;
        for (const input::Command& one : find_commands(state.session, offers(), query)) ids.push_back(one.id);
        return ids;
    }
    bool offers_any(const char* query, std::string_view id) const {
        return std::ranges::any_of(found(query), [&](const std::string& one) { return one.starts_with(id); });
    }
};

TEST_F(InAPage, NothingIsOfferedThatCannotBeDone) {
    const State desktop = state_of(made);
    for (const auto& [query, id] :
         std::initializer_list<std::pair<const char*, const char*>>{{"film", "action:film"},
                                                                    {"GIF", "export:film"},
                                                                    {"mark steps", "action:mark"},
                                                                    {"open program", "example:"},
                                                                    {"record a program", "form:program"},
                                                                    {"leave Tilescope", "action:quit"},
                                                                    {"add a stop", "action:add_stop"}}) {
        EXPECT_FALSE(offers_any(query, id)) << query;
        const auto all = find_commands(desktop.session, offers(), query);
        EXPECT_TRUE(std::ranges::any_of(all, [&](const auto& one) { return one.id.starts_with(id); }))
            << query << ": a desktop has it";
    }
    for (const auto& [query, id] :
         std::initializer_list<std::pair<const char*, const char*>>{{"requests CSV", "export:trace_csv"},
                                                                    {"poster", "export:page_poster"},
                                                                    {"whole screen", "action:full_screen"}})
        EXPECT_TRUE(offers_any(query, id)) << query;
    handle_input(state, press(Key::Q, false, true));
    EXPECT_FALSE(state.quits) << "its tab is the browser's";
    handle_input(state, press(Key::F, true, true));
    EXPECT_FALSE(input::overlay_open(state.input));
    state.session.screen = "lessons";
    for (int row = 0; row < 200; ++row) handle_input(state, press(Key::Down));
    EXPECT_EQ(state.lessons.listed, state.lessons.lessons->size()) << "figures are the last row";
}

TEST_F(InAPage, AProgramIsToldWhereItCanBeRun) {
    session::open_file(state.session, "/files/1/a.cu");
    EXPECT_EQ(state.session.message, platform::kProgramsElsewhere);
    EXPECT_FALSE(state.session.program);
}

TEST_F(InAPage, AKernelAloneIsRecordedAsItIsOpened) {
    session::Session& session = state.session;
    session::open_file(session, TILESCOPE_SOURCE_DIR "/assets/ptx/untiled.ptx");
    update(state, true);
    EXPECT_TRUE(session.message.empty()) << session.message;
    EXPECT_EQ(session.recording->origin.rfind("tilescope record untiled.ptx --kernel untiled --grid ", 0), 0u)
        << session.recording->origin;
    EXPECT_TRUE(session.trace().meta.complete);
    const auto before = session.recording->serial;
    session::open_file(session, TILESCOPE_SOURCE_DIR "/assets/ptx/absent.ptx");
    update(state, true);
    EXPECT_NE(session.message.find("absent.ptx"), std::string::npos) << session.message;
    EXPECT_EQ(session.recording->serial, before);
}

TEST_F(InAPage, NoPathIsAskedFor) {
    handle_input(state, press(Key::O, false, true));
    state.session.ask(session::wish::OpenBeside{});
    update(state, true);
    EXPECT_FALSE(input::overlay_open(state.input));
    session::remember_file(state.session, "/etc/passwd");
    EXPECT_TRUE(state.session.recent_files.empty()) << "its files are gone when it is loaded anew";
}

// Without eyes: what a step does, and what a question asks without its answer.
TEST_F(InAPage, WhatIsSeenIsSaid) {
    EXPECT_EQ(spoken(state), step::caption_of(state.session));
    state.session.message = "A message.";
    EXPECT_TRUE(spoken(state).starts_with("A message. ")) << spoken(state);
    state.session.message.clear();
    state.session.screen = "timing";
    EXPECT_EQ(spoken(state), "Timing screen");
    EXPECT_EQ(spoken(State()), "") << "nothing is open";
}

TEST(Spoken, QuestionsAreAskedAndNotAnswered) {
    size_t asked = 0;
    for (size_t lesson = 0; lesson < lessons::lesson_list().size(); ++lesson) {
        const lessons::Lesson& of = lessons::lesson_list()[lesson];
        for (size_t stop = 0; stop < of.stops.size(); ++stop) {
            if (!of.stops[stop].ask) continue;
            SCOPED_TRACE(fmt::format("{} {}", of.name, stop + 1));
            State state;
            go_to_stop(state.lessons, state.session, lesson, stop);
            for (int i = 0; i < 3; ++i) update(state, true);
            ASSERT_TRUE(state.lessons.asked);
            const lessons::Standing& here = state.lessons.standing;
            const std::string before = spoken(state);
            EXPECT_NE(before.find(here.asks), std::string::npos) << before;
            for (const std::string& choice : here.choices)
                EXPECT_NE(before.find(choice), std::string::npos) << before;
            if (!here.words.empty()) EXPECT_EQ(before.find(here.words), std::string::npos) << before;
            reveal(state.lessons, state.session);
            const std::string after = spoken(state);
            EXPECT_NE(after.find(state.lessons.asked->verdict), std::string::npos) << after;
            EXPECT_EQ(before.find(state.lessons.asked->verdict), std::string::npos) << before;
            ++asked;
        }
        if (asked > 30) break;
    }
    EXPECT_GT(asked, 10u);
}

}  // namespace
}  // namespace tilescope::app
