// What needs the picture: the window with nothing given, `open FILE`, `render FILE -o OUT.png`, and what
// export makes of a recording's steps: a step as a picture, a range of steps as a film.
#include <chrono>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/cli/arguments.h"
#include "app/cli/cli.h"
#include "app/compare/model.h"
#include "app/run.h"
#include "kernels/run/record.h"
#include "kernels/textbook/catalogue.h"

namespace tilescope::cli {

namespace {

constexpr uint32_t kLeastSide = 200, kMostSide = 8192;  // pixels; OpenGL 3.3 devices render at least 8192
// A film longer than this is a mistake: at 8 frames a second it takes six minutes to look at.
constexpr uint64_t kMostFrames = 3000;
constexpr uint32_t kMostFps = 50;  // a GIF counts in hundredths of a second, and viewers slow down below two

struct WindowOptions {
    std::string file;
    std::string theme;  // "" for the one remembered
};

draw::Theme theme_of(const std::string& theme) {
    if (theme.empty() || theme == "light") return draw::Theme::Light;
    if (theme == "dark") return draw::Theme::Dark;
    refuse(kWrongCall, "--theme '{}' is not known; choose light or dark", theme);
}

int show(app::State state, const WindowOptions& options, draw::Theme theme) {
    state.session.theme = theme;
    app::WindowOptions window;
    window.keep_theme = !options.theme.empty();
    need(app::run_window(std::move(state), window));
    return kDone;
}

int run_open(const WindowOptions& options) {
    const draw::Theme theme = theme_of(options.theme);
    app::State state;
    session::open(state.session, options.file, options.file, false, [file = options.file] {
        auto opened = open_recording(file);
        return opened ? session::make_recording(std::move(opened->trace), std::move(opened->origin))
                      : session::MadeRecording(opened.error());
    });
    // What cannot be opened is mostly told at once; a large recording is read while the window comes up.
    const auto& job = state.session.opening->job;
    if (job.ready(std::chrono::milliseconds(200))) need(job.get());
    return show(std::move(state), options, theme);
}

app::State state_of(trace::Trace trace, std::string origin) {
    app::State state;
    session::show(state.session, need(session::make_recording(std::move(trace), std::move(origin))));
    return state;
}

app::State state_of_file(const std::string& file) {
    auto opened = need(open_recording(file));
    return state_of(std::move(opened.trace), std::move(opened.origin));
}

// The kernel that a newcomer sees first is recorded on the CPU even where there is a GPU: opening a GPU takes
// longer than this small recording and the first frame together. From the form it is auto.
int run_default_window(const WindowOptions& options) {
    const draw::Theme theme = theme_of(options.theme);
    const kernels::Preset& preset = kernels::presets()[2];
    const auto plan = need(kernels::plan(preset.kernel, preset.shape));
    auto trace = need(kernels::record_cpu(plan, {}));
    return show(state_of(std::move(trace), "recorded now, on the CPU"), options, theme);
}

std::string screen_names() {
    std::vector<std::string> names;
    for (const app::ScreenRow& screen : app::screens()) names.emplace_back(screen.option);
    return fmt::format("{}", fmt::join(names, ", "));
}

bool is_film(const ExportOptions& options) { return options.format == "gif" || options.format == "mp4"; }

// What a picture shows, and how large it is: pixels.
struct Picture {
    std::string screen;
    draw::Theme theme = draw::Theme::Light;
    int width = 0, height = 0;
};

Picture picture_of(const ExportOptions& options) {
    const draw::Theme theme = theme_of(options.theme);
    const app::ScreenRow* const screen = app::find_screen(options.screen);
    if (!screen) refuse(kWrongCall, "--screen '{}' is not known; choose {}", options.screen, screen_names());
    const std::string usual = is_film(options) ? "1280x720" : "1600x1000";
    const auto sides = parse_pair(options.size.empty() ? usual : options.size, 'x');
    const auto fits = [](uint32_t side) { return side >= kLeastSide && side <= kMostSide; };
    if (!sides || !fits(sides->first) || !fits(sides->second)) {
        refuse(kWrongCall, "--size '{}' is not a size; give it as WxH in pixels, each from {} to {}",
               options.size, kLeastSide, kMostSide);
    }
    if (options.format == "mp4" && (sides->first % 2 != 0 || sides->second % 2 != 0))
        refuse(kWrongCall, "--size {} cannot be an mp4, whose sides are even; add a pixel", options.size);
    return {screen->option, theme, static_cast<int>(sides->first), static_cast<int>(sides->second)};
}

int write_picture(app::State state, const ExportOptions& options, const Picture& picture) {
    if (!options.with.empty()) {
        auto other = state_of_file(options.with);
        compare::set_beside(state.compare, std::move(other.session.recording));
    }
    const trace::Trace& trace = state.session.trace();
    const auto step = need(choose_step(options.at, trace, options.file), kWrongCall);
    const uint32_t block = trace::block_of(trace, step);
    state.session.cursor = {block, static_cast<uint32_t>(step - trace.blocks[block].first)};
    const app::RenderOptions render{picture.width, picture.height, 1, options.output};
    if (options.format == "svg")
        need(write_text(options.output, need(app::render_svg(std::move(state), render))));
    else
        need(app::render_png(std::move(state), render));
    return kDone;
}

int write_film(app::State state, const ExportOptions& options, const Picture& picture) {
    const trace::Trace& trace = state.session.trace();
    const std::string& asked = options.steps.empty() ? std::string("first:last") : options.steps;
    const auto [first, end] = need(choose_steps(asked, trace, options.file), kWrongCall);
    if (end - first > kMostFrames) {
        refuse(kWrongCall,
               "a film of {} steps is too long; choose at most {} of them, such "
               "as --steps {}:{}",
               end - first, kMostFrames, first + 1, first + 200);
    }
    OutputFile file(options.output);
    app::FilmOptions film;
    film.format = options.format == "mp4" ? platform::Film::Format::Mp4 : platform::Film::Format::Gif;
    film.width = picture.width;
    film.height = picture.height;
    film.fps = options.fps;
    film.path = file.temporary();
    film.first = first;
    film.end = end;
    const auto made = with_progress(end - first, "frames", [&](const auto& stop, auto& done) {
        film.stop = &stop;
        film.done = &done;
        return app::render_film(std::move(state), film);
    });
    if (!made) refuse(kFailure, "stopped; '{}' was not written", options.output);
    need(*made);
    need(file.keep());
    return kDone;
}

}  // namespace

int export_pictures(const ExportOptions& options) {
    const bool film = is_film(options);
    for (const auto& [given, what] : {std::pair{options.lanes, "--lanes"},
                                      {!film && !options.steps.empty(), "--steps"},
                                      {!options.block.empty(), "--block"}}) {
        if (!given) continue;
        refuse(kWrongCall, "{} does not go with --format {}; leave it out", what, options.format);
    }
    if (film && (options.fps < 1 || options.fps > kMostFps))
        refuse(kWrongCall, "--fps {} cannot be shown; choose 1 to {}", options.fps, kMostFps);
    const Picture picture = picture_of(options);
    need(check_output(options.output));
    app::State state = state_of_file(options.file);
    state.session.screen = picture.screen;
    state.session.theme = picture.theme;
    state.session.lecture = options.lecture;
    return film ? write_film(std::move(state), options, picture)
                : write_picture(std::move(state), options, picture);
}

void add_window(CLI::App& app, Chosen& chosen) {
    auto options = std::make_shared<WindowOptions>();
    app.add_option("--theme", options->theme, "Colours of the window: light or dark (as last time)");
    chosen = [options] { return run_default_window(*options); };
}

void add_open(CLI::App& app, Chosen& chosen) {
    const auto [command, options] =
        add_command(app, chosen, "open", "Open the window on a recording", run_open);
    command->add_option("FILE", options->file, kRecordingArgument)->required();
    command->add_option("--theme", options->theme, "Colours: light or dark (as last time)");
}

void add_render(CLI::App& app, Chosen& chosen) {
    const auto [command, options] = add_command(
        app, chosen, "render", "Draw a step of a recording as a PNG, without a display", export_pictures);
    command->add_option("FILE", options->file, kRecordingArgument)->required();
    command->add_option("--screen", options->screen,
                        fmt::format("The screen to draw: {} (step)", screen_names()));
    command->add_option("--with", options->with, "The recording that the Compare screen sets beside it");
    command->add_option("--at", options->at, "The step, from 1 on, or first, middle or last (first)");
    command->add_option("--size", options->size, "Size in pixels (1600x1000)");
    command->add_option("--theme", options->theme, "Colours: light or dark (light)");
    command->add_flag("--lecture", options->lecture, "Type, lines and colours for the back row");
    command->add_option("-o,--output", options->output, "The picture to write")->required();
}

}  // namespace tilescope::cli
