// What needs the picture: the window with nothing given, `open FILE`, and `render FILE -o OUT.png`.
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/app.h"
#include "app/cli/cli.h"
#include "app/cli/open_recording.h"
#include "app/cli/output.h"
#include "app/cli/values.h"
#include "app/compare_session.h"
#include "app/screens/screens.h"
#include "app/session.h"
#include "kernels/catalogue.h"
#include "kernels/record.h"

namespace tilescope::cli {

namespace {

struct Options {
    std::string file;
    std::string with;   // the second recording of the Compare screen; "" for none
    std::string theme;  // "" for the one remembered, light in pictures
    bool lecture = false;
    std::string screen = "step";
    std::string at = "first";
    std::string size = "1600x1000";
    std::string output;
};

constexpr uint32_t kLeastSide = 200, kMostSide = 8192;  // pixels; OpenGL 3.3 devices render at least 8192

Result<app::State> state_of(Result<trace::Trace> trace, std::string origin) {
    if (!trace) return trace.error();
    auto session =
        app::make_session(std::make_shared<const trace::Trace>(std::move(*trace)), std::move(origin));
    if (!session) return session.error();
    app::State state;
    app::show_session(state, std::move(*session));
    return state;
}

Result<app::State> state_of(Result<OpenedRecording> opened) {
    if (!opened) return opened.error();
    return state_of(std::move(opened->trace), std::move(opened->origin));
}

// "step, compare": what --screen takes.
std::string screen_names() {
    std::string names;
    for (const app::ScreenInfo& info : app::screens())
        names += (names.empty() ? "" : ", ") + std::string(info.option);
    return names;
}

std::optional<app::Theme> theme_of(const Options& options) {
    return options.theme.empty() ? app::Theme::Light : parse_theme(options.theme);
}

int wrong_theme(const std::string& theme) {
    return fail(kWrongCall, fmt::format("--theme '{}' is not known; choose light or dark", theme));
}

int show(Result<app::State> state, const Options& options, app::Theme theme) {
    if (!state) return fail(kFailure, state.error().message);
    state->theme = theme;
    app::WindowOptions window;
    window.keep_theme = !options.theme.empty();
    if (auto good = app::run_window(std::move(*state), window); !good)
        return fail(kFailure, good.error().message);
    return kDone;
}

int run_open(const Options& options) {
    const auto theme = theme_of(options);
    if (!theme) return wrong_theme(options.theme);
    return show(state_of(open_recording(options.file)), options, *theme);
}

// The kernel that a newcomer sees first is recorded on the CPU even where there is a GPU: opening a GPU takes
// longer than this small recording and the first frame together. From the form it is auto.
int run_default_window(const Options& options) {
    const auto theme = theme_of(options);
    if (!theme) return wrong_theme(options.theme);
    const kernels::Preset& preset = kernels::presets()[2];
    const auto plan = kernels::plan(preset.kernel, preset.shape);
    if (!plan) return fail(kFailure, plan.error().message);
    return show(state_of(kernels::record_cpu(*plan, {}), "recorded now, on the CPU"), options, *theme);
}

int run_render(const Options& options) {
    const auto theme = theme_of(options);
    if (!theme) return wrong_theme(options.theme);
    const app::ScreenInfo* const screen = app::find_screen(options.screen);
    if (!screen) {
        return fail(kWrongCall,
                    fmt::format("--screen '{}' is not known; choose {}", options.screen, screen_names()));
    }
    const auto size = parse_pair(options.size, 'x');
    auto fits = [](uint32_t side) { return side >= kLeastSide && side <= kMostSide; };
    if (!size || !fits(size->first) || !fits(size->second)) {
        return fail(kWrongCall,
                    fmt::format("--size '{}' is not a size; give it as WxH in pixels, each from {} to {}",
                                options.size, kLeastSide, kMostSide));
    }
    if (auto good = check_output(options.output); !good) return fail(kFailure, good.error().message);
    auto state = state_of(open_recording(options.file));
    if (!state) return fail(kFailure, state.error().message);
    if (!options.with.empty()) {
        auto other = state_of(open_recording(options.with));
        if (!other) return fail(kFailure, other.error().message);
        app::compare_with(*state, std::move(*other->session));
    }
    const trace::Trace& trace = *state->session->trace;
    const auto step = parse_step(options.at, trace);
    if (!step) {
        return fail(kWrongCall,
                    fmt::format("--at '{}' is not a step of '{}'; give a number from 1 to {}, first, middle "
                                "or last",
                                options.at, options.file, trace.steps()));
    }
    state->theme = *theme;
    state->teach.lecture = options.lecture;
    state->screen = screen->screen;
    const uint32_t block = trace::block_of(trace, *step);
    state->cursor = {block, static_cast<uint32_t>(*step - trace.blocks[block].first)};
    app::RenderOptions picture;
    picture.width = static_cast<int>(size->first);
    picture.height = static_cast<int>(size->second);
    picture.path = options.output;
    if (auto good = app::render_png(std::move(*state), picture); !good)
        return fail(kFailure, good.error().message);
    return kDone;
}

}  // namespace

void add_window(CLI::App& app, Chosen& chosen) {
    auto options = std::make_shared<Options>();
    app.add_option("--theme", options->theme, "Colours of the window: light or dark (as last time)");
    chosen = [options] { return run_default_window(*options); };
}

void add_open(CLI::App& app, Chosen& chosen) {
    auto options = std::make_shared<Options>();
    CLI::App* command = app.add_subcommand("open", "Open the window on a recording");
    command->add_option("FILE", options->file, kRecordingArgument)->required();
    command->add_option("--theme", options->theme, "Colours: light or dark (as last time)");
    command->callback([options, &chosen] { chosen = [options] { return run_open(*options); }; });
}

void add_render(CLI::App& app, Chosen& chosen) {
    auto options = std::make_shared<Options>();
    CLI::App* command =
        app.add_subcommand("render", "Draw a step of a recording as a PNG, without a display");
    command->add_option("FILE", options->file, kRecordingArgument)->required();
    command->add_option("--screen", options->screen,
                        fmt::format("The screen to draw: {} (step)", screen_names()));
    command->add_option("--with", options->with, "The recording that the Compare screen sets beside it");
    command->add_option("--at", options->at, "The step, from 1 on, or first, middle or last (first)");
    command->add_option("--size", options->size, "Size in pixels (1600x1000)");
    command->add_option("--theme", options->theme, "Colours: light or dark (light)");
    command->add_flag("--lecture", options->lecture, "Type, lines and colours for the back row");
    command->add_option("-o,--output", options->output, "The picture to write")->required();
    command->callback([options, &chosen] { chosen = [options] { return run_render(*options); }; });
}

}  // namespace tilescope::cli
