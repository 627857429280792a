// The Program screen, the strip of a program that runs, the form that asks for one, and the programs that
// ship, as pictures.
#include "app/programs/model.h"
#include "tests/app_names.h"
#include "tests/gl/drawn.h"
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
