// The Program screen, the strip of a program that runs, the form that asks for one, and the programs that
// ship, as pictures.
#include <cstdlib>
#include <filesystem>

#include "app/programs/model.h"
#include "tests/app_names.h"
#include "tests/gl/drawn.h"
#include "tests/gl/flaws.h"
#include "tests/programs.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

State state_of_program(session::Program program, draw::Theme theme = draw::Theme::Light) {
    State state;
    state.session.theme = theme;
    state.session.screen = "program";
    state.session.gpu = {true, false, "there is no driver"};
    state.programs.chosen = programs::first_choice(program);
    if (!program.ended.list) state.programs.follows = program.running;
    state.session.program = std::move(program);
    return state;
}

TEST(ProgramScreen, ShowsTheLaunches) {
    SKIP_WITHOUT_OPENGL();
    test::expect_golden(picture(state_of_program(a_program_that_ran()), 1280, 720), "program_launches");
    test::expect_golden(picture(state_of_program(a_program_that_ran(), draw::Theme::Dark), 1600, 1000),
                        "program_launches_dark");
}

TEST(ProgramScreen, ShowsAFault) {
    SKIP_WITHOUT_OPENGL();
    test::expect_golden(picture(state_of_program(a_program_that_ran(true)), 1280, 720), "program_fault");
}

TEST(ProgramScreen, ShowsItRunning) {
    SKIP_WITHOUT_OPENGL();
    test::expect_golden(picture(state_of_program(a_program_that_runs()), 1280, 720), "program_running");
}

TEST(ProgramScreen, ShowsWhatTheCompilerSays) {
    SKIP_WITHOUT_OPENGL();
    test::expect_golden(
        picture(state_of_program(a_program_that_does_not_compile(), draw::Theme::Dark), 1280, 720),
        "program_errors_dark");
}

TEST(ProgramScreen, IsAskedForInTheForm) {
    SKIP_WITHOUT_OPENGL();
    State state = state_of_program(a_program_that_ran());
    perform(state, "form:program");
    state.input.form.program.arguments = "-n 1024 \"two words\"";
    test::expect_golden(picture(state, 1280, 720), "program_form");
}

TEST(ProgramScreen, LessonsListThoseThatShip) {
    SKIP_WITHOUT_OPENGL();
    State state;
    state.session.assets.examples = session::Assets::of(a_few_examples());
    state.session.screen = "lessons";
    state.lessons.listed = state.lessons.lessons->size() + 1;  // behind the figures
    test::expect_golden(picture(state, 1280, 720), "program_examples");
}

// While no program is open those that ship are there to be opened, as on the Lessons screen, by keys and the mouse.
TEST(ProgramScreen, ShowsThoseThatShipWhileNoneIsOpen) {
    SKIP_WITHOUT_OPENGL();
    State state;
    state.session.assets.examples = session::Assets::of(a_few_examples());
    state.session.screen = "program";
    test::expect_golden(picture(state, 1280, 720), "program_none");
    for (const auto& [width, height] : {std::pair{1280, 720}, {1920, 1080}, {800, 1200}})
        for (const bool lecture : {false, true}) {
            if (lecture && width < 1024) continue;  // the bar's large type has no room there
            state.session.lecture = lecture;
            Drawn drawn(width, height);
            const std::string words = drawn.words(state);
            EXPECT_NE(words.find("Noprogramisopen."), std::string::npos) << words;
            EXPECT_NE(words.find("Programstoopen"), std::string::npos) << words;
            EXPECT_EQ(flaws(drawn.seen(), width, height), std::vector<std::string>()) << width;
        }
    state.session.lecture = false;
    Drawn drawn(1280, 720);
    drawn.frames(state);
    const std::string cache = std::string(TILESCOPE_BINARY_DIR) + "/tests/cache";
    std::filesystem::create_directories(cache);
    const char* const was = std::getenv("XDG_CACHE_HOME");
    const std::string kept = was != nullptr ? was : "";
    setenv("XDG_CACHE_HOME", cache.c_str(), 1);
    state.session.own_program = "/nowhere/tilescope";  // which would compile and run it
    for (const draw::Written& text : drawn.seen().texts) {
        if (text.text != "histogram") continue;
        platform::Input input;
        input.mouse_x = text.min.x + 2, input.mouse_y = (text.min.y + text.max.y) / 2;
        drawn.frames(state, input, 1);
        input.mouse_down[0] = true;
        drawn.frames(state, input, 1);
        break;
    }
    was != nullptr ? setenv("XDG_CACHE_HOME", kept.c_str(), 1) : unsetenv("XDG_CACHE_HOME");
    ASSERT_TRUE(state.session.program) << state.session.message;
    EXPECT_EQ(state.session.program->name, "histogram.cu");
    EXPECT_EQ(state.programs.shipped.chosen, 2u);
}

// A step under a strip while a program runs; its buttons lead to it and end it.
TEST(ProgramScreen, AStripSaysThatOneRuns) {
    SKIP_WITHOUT_OPENGL();
    State state = state_of_program(a_program_that_runs());
    state.session.screen = "limits";
    Drawn drawn(1280, 720);
    const std::string words = drawn.words(state);
    EXPECT_NE(words.find("transpose.cuRunning7launchessofar2recorded"), std::string::npos) << words;
    const auto press = [&](const char* label) {
        for (const draw::Written& text : drawn.seen().texts) {
            if (text.text != label) continue;
            platform::Input input;
            input.mouse_x = (text.min.x + text.max.x) / 2;
            input.mouse_y = (text.min.y + text.max.y) / 2;
            drawn.frames(state, input, 1);
            input.mouse_down[0] = true;
            drawn.frames(state, input, 1);
            return;
        }
        ADD_FAILURE() << "no button " << label;
    };
    press("Cancel");
    EXPECT_TRUE(state.session.program->hearing->cancelled);
    drawn.frames(state);
    press("Show");
    EXPECT_EQ(state.session.screen, "program");
}

TEST(ProgramPicture, OneThatIsDroppedIsNotRunUnasked) {
    SKIP_WITHOUT_OPENGL();
    State state;
    show_trace(state, kernels::recorded("tiled", {4, 4, 4, 2}));
    platform::Input input;
    input.dropped = {"/nowhere/of a stranger.cu"};
    Drawn drawn(1280, 720);
    drawn.frames(state, input, 1);
    EXPECT_FALSE(state.session.program);
    const std::string words = drawn.words(state);
    EXPECT_NE(words.find("ofastranger.cu"), std::string::npos) << words;
    EXPECT_NE(words.find("Aprogramrunsonthismachine,asyou."), std::string::npos) << words;
}

}  // namespace
}  // namespace tilescope::app
