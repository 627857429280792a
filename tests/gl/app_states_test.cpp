// Every screen in every state that it can be in, at the sizes of a laptop, a desk and a projector: it draws
// without an error of OpenGL, nothing lies outside the window or has no size, no text lies on another one,
// and what a viewer needs is not cut.
//
// TILESCOPE_KEEP_PICTURES=1 keeps the pictures in tests/states of the build folder, to be looked at.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "app/app.h"
#include "app/cli/pictures.h"
#include "app/input/overlays.h"
#include "app/platform/gl.h"
#include "app/session/session.h"
#include "core/trace/file.h"
#include "tests/app_names.h"
#include "tests/gl/canvas.h"
#include "tests/gl/drawn.h"
#include "tests/gl/flaws.h"
#include "tests/programs.h"
#include "tests/recorded.h"

namespace tilescope::app {
namespace {

const std::vector<kernels::Counters> kNoCounters;
const std::vector<analysis::DeviceSpec> kNoDevices;

using Traces = std::shared_ptr<const trace::Trace> (*)();

std::shared_ptr<const trace::Trace> of(const char* kernel, kernels::Shape shape, BlockWindow window = {}) {
    auto plan = kernels::plan(kernel, shape);
    EXPECT_TRUE(plan);
    kernels::RecordOptions options;
    options.window = window;
    options.timestamp = false;
    auto trace = kernels::record_cpu(*plan, options);
    EXPECT_TRUE(trace);
    return std::make_shared<const trace::Trace>(std::move(*trace));
}

std::shared_ptr<const trace::Trace> from_a_gpu() {
    auto trace =
        trace::read_file(std::string(TILESCOPE_SOURCE_DIR) + "/assets/recordings/tiled-64x64x64-t16.tsc");
    EXPECT_TRUE(trace);
    return std::make_shared<const trace::Trace>(std::move(*trace));
}

std::shared_ptr<const trace::Trace> full_buffer() {
    trace::Trace trace = *from_a_gpu();
    trace.meta.complete = false;
    trace.meta.incomplete_reason =
        "1,204 requests found no room in the device trace buffer of 64 KiB; record with a larger --buffer";
    trace.blocks[0].dropped = 37;
    trace.blocks[5].dropped = 1167;
    return std::make_shared<const trace::Trace>(std::move(trace));
}

struct Case {
    const char* name;
    Traces trace = nullptr;
    bool bare = false;    // no times, counters or devices ship
    uint32_t part = 4;    // of 8: where in the block the cursor stands
    bool hollow = false;  // stopped before its first block was done
};
const Case kCases[] = {
    {"nothing", nullptr},
    {"bare", nullptr, true},
    {"hollow", nullptr, false, 0, true},
    {"incomplete", full_buffer},
    {"one",
     [] {
         return of("tiled", {1, 1, 1, 2});
     }},
    {"four",
     [] {
         return of("tiled", {4, 4, 4, 2});
     }},
    {"untiled",
     [] {
         return of("untiled", {64, 64, 64, 16});
     }},
    {"edges",
     [] {
         return of("tiled", {100, 70, 130, 32});
     }},
    {"huge",
     [] {
         return of("tiled", {8192, 256, 8192, 16}, {100, 104, 200, 204});
     }},
    {"stale",
     [] {
         return of("tiled_stale_edge", {20, 20, 20, 8});
     },
     false, 7},
    {"race",
     [] {
         return of("tiled_no_barrier", {64, 64, 64, 16});
     }},
    {"clocks", from_a_gpu},
};

struct Look {
    const char* name;
    int width, height;
    Theme theme;
    bool lecture;
};
constexpr Look kLooks[] = {
    {"720", 1280, 720, Theme::Light, false},         {"720_lecture", 1280, 720, Theme::Light, true},
    {"1000_dark", 1600, 1000, Theme::Dark, false},   {"1080", 1920, 1080, Theme::Light, false},
    {"1080_lecture", 1920, 1080, Theme::Dark, true},
};

State state_of_case(const Case& what) {
    State state;
    if (what.trace != nullptr) {
        // Made once for all sizes.
        static std::map<std::string, std::shared_ptr<const session::Recording>> made;
        auto known = made.find(what.name);
        if (known == made.end()) {
            auto recording = session::make_recording(what.trace(), "test");
            EXPECT_TRUE(recording);
            known = made.emplace(what.name, *recording).first;
        }
        session::show(state.session, known->second);
        update(state, true);
        if (state.session.block) state.session.cursor.step = state.session.block->steps * what.part / 8;
    }
    if (what.hollow) show_hollow(state);
    if (what.bare) {
        state.session.assets.timings = session::Assets::of(kNoTimes);
        state.session.assets.counters = session::Assets::of(kNoCounters);
        state.session.assets.devices = session::Assets::of(kNoDevices);
        state.session.assets.recordings = session::Assets::of(kNothingShips);
    }
    state.session.gpu = {true, false, "there is no driver"};
    return state;
}

class Stage {
public:
    Stage(int width, int height) : width_(width), height_(height) {
        auto headless = platform::open_offscreen(width, height);
        EXPECT_TRUE(headless);
        headless_ = std::move(*headless);
        auto frame = Frame::create();
        EXPECT_TRUE(frame);
        frame_ = std::move(*frame);
        frame_->inspect(&seen);
    }
    void draw(State& state) {
        for (int i = 0; i < 2; ++i) frame_->build(state, {}, {width_, height_, 1}, true, true);
        frame_->render();
        EXPECT_EQ(glGetError(), static_cast<GLenum>(GL_NO_ERROR));
    }
    void keep(const std::string& name) {
        if (std::getenv("TILESCOPE_KEEP_PICTURES") == nullptr) return;
        const std::string folder = std::string(TILESCOPE_BINARY_DIR) + "/tests/states";
        std::filesystem::create_directories(folder);
        auto written = platform::write_png(headless_->read(), folder + "/" + name + ".png");
        EXPECT_TRUE(written);
    }
    draw::Inspection seen;

private:
    int width_, height_;
    std::unique_ptr<platform::Backend> headless_;
    std::unique_ptr<Frame> frame_;
};

class EveryScreen : public testing::TestWithParam<Look> {};

TEST_P(EveryScreen, InEveryState) {
    SKIP_WITHOUT_OPENGL();
    const Look& look = GetParam();
    Stage stage(look.width, look.height);
    for (const Case& what : kCases) {
        State state = state_of_case(what);
        state.session.theme = look.theme;
        state.session.lecture = look.lecture;
        for (const ScreenRow& screen : screens()) {
            // Of a recording, the other screens show the name alone.
            const bool shows =
                std::string_view(screen.option) == "step" || std::string_view(screen.option) == "compare";
            if (!shows && what.trace != nullptr && what.trace != from_a_gpu) continue;
            state.session.screen = screen.option;
            const std::string name = fmt::format("{}_{}_{}", screen.option, what.name, look.name);
            SCOPED_TRACE(name);
            stage.draw(state);
            stage.keep(name);
            EXPECT_GT(stage.seen.texts.size(), 0u);
            for (const std::string& flaw : flaws(stage.seen, look.width, look.height)) ADD_FAILURE() << flaw;
            expect_whole(stage.seen, state);
        }
    }
}

// The same of what lies over a screen.
TEST_P(EveryScreen, UnderEveryOverlay) {
    SKIP_WITHOUT_OPENGL();
    const Look& look = GetParam();
    Stage stage(look.width, look.height);
    const std::pair<const char*, void (*)(State&)> overlays[] = {
        {"keys", [](State& s) { s.input.show_keys = true; }},
        {"palette", [](State& s) { s.input.palette.open = true; }},
        {"open", [](State& s) { open_path_box(s.input, s.session, PathBox::Mode::Open); }},
        {"form", [](State& s) { s.input.form.open = true; }},
        {"program",
         [](State& s) {
             s.session.program = a_program_that_ran();
             s.session.screen = "program";
         }},
        {"program_fault",
         [](State& s) {
             s.session.program = a_program_that_ran(true);
             s.session.screen = "program";
         }},
        {"program_errors",
         [](State& s) {
             s.session.program = a_program_that_does_not_compile();
             s.session.screen = "program";
         }},
        {"program_form", [](State& s) { perform(s, "form:program"); }},
        {"programs",
         [](State& s) {
             s.session.assets.examples = session::Assets::of(a_few_examples());
             s.lessons.listed = s.lessons.lessons->size();
             s.session.screen = "lessons";
         }},
        {"lesson",
         [](State& s) {
             const auto& all = lessons::lesson_list();
             const auto banks = std::ranges::find(all, std::string_view("banks"), &lessons::Lesson::name);
             go_to_stop(s.lessons, s.session, static_cast<size_t>(banks - all.begin()), 1);
             update(s, true);
             update(s, true);
         }},
    };
    for (const auto& [name, open] : overlays) {
        SCOPED_TRACE(name);
        State state = state_of_case(kCases[5]);
        state.session.theme = look.theme;
        state.session.lecture = look.lecture;
        open(state);
        stage.draw(state);
        stage.keep(fmt::format("over_{}_{}", name, look.name));
        for (const std::string& flaw : flaws(stage.seen, look.width, look.height)) ADD_FAILURE() << flaw;
        expect_whole(stage.seen, state);
    }
}

TEST(Screens, AreWhatTheOptionTakes) {
    std::string options;
    for (const ScreenRow& screen : screens())
        options += (options.empty() ? "" : "|") + std::string(screen.option);
    // A program that is being run is no picture of a recording.
    EXPECT_EQ(options, std::string(cli::kScreenWords) + "|program");
}

TEST(Jobs, WhereMemoryEndsAResultIsAnError) {
    session::Jobs jobs;
    auto job = jobs.start([](session::Control&) -> Result<int> { throw std::bad_alloc(); });
    const auto result = job.take(true);
    ASSERT_TRUE(result && !*result);
    EXPECT_EQ(result->error().message, "this takes more than this machine's memory; open or record less");
}

INSTANTIATE_TEST_SUITE_P(Sizes, EveryScreen, testing::ValuesIn(kLooks),
                         [](const auto& of) { return "At" + std::string(of.param.name); });

}  // namespace
}  // namespace tilescope::app
