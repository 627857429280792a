// tilescope export FILE --format F -o OUT: a recording as text, its steps as pictures, a lesson as a handout.
#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/pictures.h"
#include "app/cli/work.h"
#include "app/session/exported.h"
#include "core/base/words.h"

namespace tilescope::cli {

namespace {

int export_text(const ExportOptions& options) {
    if (options.lecture) refuse(kWrongCall, "--lecture goes with pictures and films; leave it out for text");
    if (options.subject) refuse(kWrongCall, "--subject goes with pictures and films; leave it out for text");
    const auto block = parse_block(options.block);
    if (options.format == "perfetto" && options.lanes)
        refuse(kWrongCall, "--lanes goes with csv and json; leave it out for perfetto");
    check_output(options.output, {options.file});
    const analysis::Recording recording = opened(options.file);
    const trace::Trace& trace = *recording.trace;
    report::Selected selected;
    if (block) selected.block = choose_block(block, trace, options.file);
    if (!options.steps.empty())
        std::tie(selected.first, selected.end) = choose_steps(options.steps, trace, options.file);
    const uint64_t steps = report::steps_in(trace, selected);
    if (steps == 0 && !options.steps.empty()) {
        refuse(kWrongCall, "none of steps {} is in block {}; leave out --steps or --block", options.steps,
               options.block);
    }
    if (!block && options.steps.empty()) {
        const uint64_t bytes = session::bytes_exported(trace, selected, options.format, options.lanes);
        if (bytes > session::kMostExported)
            refuse(kWrongCall,
                   "'{}' has {} steps, whose export takes minutes and about {}; choose some with --block or "
                   "--steps, "
                   "or all of them with --steps first:last",
                   options.file, grouped(steps), bytes_text(bytes));
    }
    const std::string unwritten = fmt::format("'{}' was not written", options.output);
    with_progress(steps, "steps", unwritten, [&](const auto& stop, auto& done) -> Result<void> {
        OutputFile file(options.output, {options.file});
        const report::Take take = [&](std::string_view text) { return !stop && file.write(text); };
        const report::ExportProgress progress{&done, {&stop}};
        session::write_requests(recording, selected, options.format, options.lanes, take, progress);
        if (!stop) keep(file, options.output);
        return {};
    });
    return kDone;
}

int run_export(const ExportOptions& options) {
    const auto is_one_of = [&](const auto&... formats) { return ((options.format == formats) || ...); };
    if (options.format == "html") {
        if (options.lesson.empty() || !options.file.empty())
            refuse(kWrongCall, "--format html is of a lesson; name it with --lesson and leave out FILE");
        return export_handout(options);
    }
    if (!options.lesson.empty()) refuse(kWrongCall, "--lesson goes with --format html");
    if (options.file.empty())
        refuse(kWrongCall, "the recording is missing; name a .tsc file, or one of 'recordings'");
    if (is_one_of("csv", "json", "perfetto")) return export_text(options);
    if (is_one_of("png", "svg", "gif", "mp4", "storyboard", "poster")) return export_pictures(options);
    refuse(kWrongCall,
           "--format '{}' is not known; choose csv, json, perfetto, png, svg, gif, mp4, storyboard, poster "
           "or html",
           options.format);
}

}  // namespace

CliCommand export_command() {
    return command(
        "export",
        "Write a recording for other programs, its steps as pictures and films, or a lesson as a page",
        run_export, [](auto& o) -> OptionTable {
            return {
                {"FILE", &o.file, kRecordingArgument, "RECORDING"},
                {"--format", &o.format,
                 "csv, json, perfetto (for ui.perfetto.dev); png, svg; gif, mp4 (with ffmpeg); storyboard, "
                 "poster (a "
                 "block's phases on a page, to a .svg, .png or .html file); html",
                 "csv|json|perfetto|png|svg|gif|mp4|storyboard|poster|html", kRequired},
                {"--lesson", &o.lesson,
                 "html: the lesson that the handout is of, by its name, or a .json file", "LESSON|FILE.json"},
                {"--block", &o.block,
                 "Only this block, as x,y (all); csv, json, perfetto, storyboard, poster (the first)", "X,Y"},
                {"--steps", &o.steps, "Only steps a to b, as a:b, both counted from 1 (all); not png, svg",
                 "A:B"},
                {"--lanes", &o.lanes, "Every lane's access, not only every request; csv, json"},
                {"--screen", &o.screen, "The screen that pictures and films show (step)", kScreenWords},
                {"--with", &o.with, "The recording that the Compare and the Race screen set beside it",
                 "RECORDING"},
                {"--at", &o.at, "png, svg: the step, from 1 on, or first, middle or last (first)", "STEP"},
                {"--size", &o.size, "Pictures: size in pixels (1600x1000; films 1280x720)", "WxH"},
                {"--theme", &o.theme, "Pictures: light or dark (light)", "light|dark"},
                {"--lecture", &o.lecture, "Pictures and films: type, lines and colours for the back row"},
                {"--subject", &o.subject,
                 "Pictures and films: the matrices, tiles and threads alone, without bar and panels"},
                {"--seconds", &o.seconds,
                 "Films: seconds that a step lasts, 0.2 to 20 (as long as its caption takes to read); that a "
                 "race lasts, 2 to 60 (12)",
                 "SECONDS"},
                {"--fps", &o.fps,
                 "Films without motion, a picture a step: steps a second, 1 to 50; of a race: pictures a "
                 "second (20)",
                 "NUMBER"},
                {"-o,--output", &o.output, "The file to write", "PATH", kRequired},
            };
        });
}

}  // namespace tilescope::cli
