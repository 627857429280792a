// tilescope export --format png|svg|gif|mp4: a step as a picture, a range of steps as a film.
#include <atomic>
#include <memory>

#include <fmt/format.h>

#include "app/cli/cli.h"
#include "app/cli/export_options.h"
#include "app/cli/output.h"
#include "app/cli/output_file.h"
#include "app/cli/picture_options.h"
#include "app/cli/progress.h"
#include "app/cli/values.h"
#include "app/run.h"

namespace tilescope::cli {

namespace {

// A film longer than this is a mistake: at 8 frames a second it takes six minutes to look at.
constexpr uint64_t kMostFrames = 3000;
constexpr uint32_t kMostFps = 50;  // a GIF counts in hundredths of a second, and viewers slow down below two

// --screen, --size and --theme, before the recording is opened; -1 where they are good.
int picture_of(const ExportOptions& options, const char* usual_size, Picture& picture) {
    const std::string size = options.size.empty() ? usual_size : options.size;
    auto made = parse_picture(options.screen, size, options.theme);
    if (!made) return fail(kWrongCall, made.error().message);
    picture = *made;
    picture.lecture = options.lecture;
    if (auto good = check_output(options.output); !good) return fail(kFailure, good.error().message);
    return -1;
}

int wrong(const char* what, const ExportOptions& options) {
    return fail(kWrongCall,
                fmt::format("{} does not go with --format {}; leave it out", what, options.format));
}

int film(app::State state, const ExportOptions& options, app::FilmOptions film) {
    OutputFile file(options.output);
    film.path = file.temporary();
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> done{0};
    film.stop = &stop;
    film.done = &done;
    Result<void> made;
    run_with_progress([&] { made = app::render_film(std::move(state), film); }, stop, done,
                      film.end - film.first, "frames");
    if (stop) return fail(kFailure, fmt::format("stopped; '{}' was not written", options.output));
    if (!made) return fail(kFailure, made.error().message);
    if (auto kept = file.keep(); !kept) return fail(kFailure, kept.error().message);
    return kDone;
}

}  // namespace

int export_picture(const ExportOptions& options) {
    if (options.lanes) return wrong("--lanes", options);
    if (!options.steps.empty()) return wrong("--steps", options);
    if (!options.block.empty()) return wrong("--block", options);
    Picture picture;
    if (const int status = picture_of(options, "1600x1000", picture); status >= 0) return status;
    auto state = picture_state(options.file, picture);
    if (!state) return fail(kFailure, state.error().message);
    if (auto good = show_step(*state, options.at, options.file); !good)
        return fail(kWrongCall, good.error().message);
    app::RenderOptions render;
    render.width = static_cast<int>(picture.width);
    render.height = static_cast<int>(picture.height);
    render.path = options.output;
    if (options.format == "png") {
        const auto good = app::render_png(std::move(*state), render);
        return good ? static_cast<int>(kDone) : fail(kFailure, good.error().message);
    }
    const auto text = app::render_svg(std::move(*state), render);
    if (!text) return fail(kFailure, text.error().message);
    const auto good = write_text(options.output, *text);
    return good ? static_cast<int>(kDone) : fail(kFailure, good.error().message);
}

int export_film(const ExportOptions& options) {
    if (options.lanes) return wrong("--lanes", options);
    if (!options.block.empty()) return wrong("--block", options);
    if (options.fps < 1 || options.fps > kMostFps)
        return fail(kWrongCall,
                    fmt::format("--fps {} cannot be shown; choose 1 to {}", options.fps, kMostFps));
    Picture picture;
    if (const int status = picture_of(options, "1280x720", picture); status >= 0) return status;
    app::FilmOptions film_options;
    if (options.format == "mp4") {
        film_options.format = platform::Film::Format::Mp4;
        if (picture.width % 2 != 0 || picture.height % 2 != 0)
            return fail(
                kWrongCall,
                fmt::format("--size {} cannot be an mp4, whose sides are even; add a pixel", options.size));
    }
    auto state = picture_state(options.file, picture);
    if (!state) return fail(kFailure, state.error().message);
    const trace::Trace& trace = state->session.trace();
    const auto steps = options.steps.empty() ? std::optional(std::pair{uint64_t{0}, trace.steps()})
                                             : parse_steps(options.steps, trace);
    if (!steps || steps->first == steps->second) {
        return fail(kWrongCall,
                    fmt::format("--steps '{}' are not steps of '{}'; give two numbers from 1 to {} as a:b",
                                options.steps, options.file, trace.steps()));
    }
    if (steps->second - steps->first > kMostFrames) {
        return fail(
            kWrongCall,
            fmt::format("a film of {} steps is too long; choose at most {} of them, such as "
                        "--steps {}:{}",
                        steps->second - steps->first, kMostFrames, steps->first + 1, steps->first + 200));
    }
    film_options.width = static_cast<int>(picture.width);
    film_options.height = static_cast<int>(picture.height);
    film_options.fps = options.fps;
    film_options.first = steps->first;
    film_options.end = steps->second;
    return film(std::move(*state), options, film_options);
}

}  // namespace tilescope::cli
