// What needs the picture: the window with nothing given, `open FILE`, and `render FILE -o OUT.png`.
#include <chrono>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "app/cli/cli.h"
#include "app/cli/open_recording.h"
#include "app/cli/output.h"
#include "app/cli/picture_options.h"
#include "app/cli/values.h"
#include "app/compare/opening.h"
#include "app/run.h"
#include "kernels/run/record.h"
#include "kernels/textbook/catalogue.h"

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

std::optional<draw::Theme> theme_of(const Options& options) {
    return options.theme.empty() ? draw::Theme::Light : parse_theme(options.theme);
}

int wrong_theme(const std::string& theme) {
    return fail(kWrongCall, fmt::format("--theme '{}' is not known; choose light or dark", theme));
}

int show(Result<app::State> state, const Options& options, draw::Theme theme) {
    if (!state) return fail(kFailure, state.error().message);
    state->session.theme = theme;
    app::WindowOptions window;
    window.keep_theme = !options.theme.empty();
    if (auto good = app::run_window(std::move(*state), window); !good)
        return fail(kFailure, good.error().message);
    return kDone;
}

int run_open(const Options& options) {
    const auto theme = theme_of(options);
    if (!theme) return wrong_theme(options.theme);
    app::State state;
    session::open(state.session, options.file, options.file, false, [file = options.file] {
        auto opened = open_recording(file);
        return opened ? session::make_recording(std::move(opened->trace), std::move(opened->origin))
                      : session::MadeRecording(opened.error());
    });
    // What cannot be opened is mostly told at once; a large recording is read while the window comes up.
    const auto& job = state.session.opening->job;
    if (job.ready(std::chrono::milliseconds(200)) && !job.get())
        return fail(kFailure, job.get().error().message);
    return show(std::move(state), options, *theme);
}

// The kernel that a newcomer sees first is recorded on the CPU even where there is a GPU: opening a GPU takes
// longer than this small recording and the first frame together. From the form it is auto.
int run_default_window(const Options& options) {
    const auto theme = theme_of(options);
    if (!theme) return wrong_theme(options.theme);
    const kernels::Preset& preset = kernels::presets()[2];
    const auto plan = kernels::plan(preset.kernel, preset.shape);
    if (!plan) return fail(kFailure, plan.error().message);
    auto trace = kernels::record_cpu(*plan, {});
    if (!trace) return fail(kFailure, trace.error().message);
    return show(state_of(std::move(*trace), "recorded now, on the CPU"), options, *theme);
}

int run_render(const Options& options) {
    auto picture =
        parse_picture(options.screen, options.size, options.theme.empty() ? "light" : options.theme);
    if (!picture) return fail(kWrongCall, picture.error().message);
    picture->lecture = options.lecture;
    if (auto good = check_output(options.output); !good) return fail(kFailure, good.error().message);
    auto state = picture_state(options.file, *picture);
    if (!state) return fail(kFailure, state.error().message);
    if (!options.with.empty()) {
        auto other = state_of_file(options.with);
        if (!other) return fail(kFailure, other.error().message);
        compare::set_beside(state->compare, std::move(other->session.recording));
    }
    if (auto good = show_step(*state, options.at, options.file); !good)
        return fail(kWrongCall, good.error().message);
    app::RenderOptions render;
    render.width = static_cast<int>(picture->width);
    render.height = static_cast<int>(picture->height);
    render.path = options.output;
    if (auto good = app::render_png(std::move(*state), render); !good)
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
