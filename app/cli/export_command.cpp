// tilescope export FILE --format F -o OUT: a recording as text for other programs, its steps as pictures.
#include <atomic>
#include <memory>

#include <fmt/format.h>

#include "app/cli/block_choice.h"
#include "app/cli/cli.h"
#include "app/cli/export_options.h"
#include "app/cli/open_recording.h"
#include "app/cli/output.h"
#include "app/cli/output_file.h"
#include "app/cli/progress.h"
#include "app/cli/values.h"
#include "core/export/csv.h"
#include "core/export/perfetto.h"
#include "core/export/trace_json.h"

namespace tilescope::cli {

namespace {

enum class Text : uint8_t { Csv, Json, Perfetto };

struct Written {
    bool whole = false;
    Result<void> kept;
};

Written write(Text format, const trace::Trace& trace, const analysis::PhaseRule& rule,
              const report::Selected& selected, const ExportOptions& options, const std::atomic<bool>& stop,
              std::atomic<uint64_t>& done) {
    OutputFile file(options.output);
    const report::Take take = [&](std::string_view text) { return !stop && file.write(text); };
    const report::ExportProgress progress{&done};
    Written written;
    switch (format) {
        case Text::Csv:
            written.whole = report::write_csv(trace, rule, selected, options.lanes, take, progress);
            break;
        case Text::Json:
            written.whole = report::write_trace_json(trace, rule, selected, options.lanes, take, progress);
            break;
        case Text::Perfetto:
            written.whole = report::write_perfetto(trace, rule, selected, take, progress);
            break;
    }
    // Whether the disk was full is the file's to say.
    if (!stop) written.kept = file.keep();
    return written;
}

int export_text(Text format, const ExportOptions& options) {
    if (options.lecture)
        return fail(kWrongCall, "--lecture goes with pictures and films; leave it out for text");
    if (auto good = check_block(options.block); !good) return fail(kWrongCall, good.error().message);
    if (format == Text::Perfetto && options.lanes)
        return fail(kWrongCall, "--lanes goes with csv and json; leave it out for perfetto");
    if (auto good = check_output(options.output); !good) return fail(kFailure, good.error().message);
    const auto opened = open_recording(options.file);
    if (!opened) return fail(kFailure, opened.error().message);
    const trace::Trace& trace = opened->trace;
    report::Selected selected;
    if (!options.block.empty()) {
        const auto block = choose_block(options.block, trace, options.file);
        if (!block) return fail(kWrongCall, block.error().message);
        selected.block = *block;
    }
    if (!options.steps.empty()) {
        const auto steps = parse_steps(options.steps, trace);
        if (!steps) {
            return fail(kWrongCall, fmt::format("--steps '{}' are not steps of '{}'; give two numbers from 1 "
                                                "to {} as a:b",
                                                options.steps, options.file, trace.steps()));
        }
        selected.first = steps->first;
        selected.end = steps->second;
    }
    const uint64_t steps = report::steps_in(trace, selected);
    if (steps == 0 && !options.steps.empty()) {
        return fail(kWrongCall, fmt::format("none of steps {} is in block {}; leave out --steps or --block",
                                            options.steps, options.block));
    }
    const auto rule = analysis::phase_rule(trace);
    if (!rule) return fail(kFailure, rule.error().message);

    std::atomic<bool> stop{false};
    std::atomic<uint64_t> done{0};
    Written written;
    run_with_progress([&] { written = write(format, trace, *rule, selected, options, stop, done); }, stop,
                      done, steps, "steps");
    if (stop) return fail(kFailure, fmt::format("stopped; '{}' was not written", options.output));
    if (!written.kept) return fail(kFailure, written.kept.error().message);
    if (!written.whole) return fail(kFailure, fmt::format("'{}' could not be made", options.output));
    return kDone;
}

int run_export(const ExportOptions& options) {
    if (options.format == "csv") return export_text(Text::Csv, options);
    if (options.format == "json") return export_text(Text::Json, options);
    if (options.format == "perfetto") return export_text(Text::Perfetto, options);
    if (options.format == "png" || options.format == "svg") return export_picture(options);
    if (options.format == "gif" || options.format == "mp4") return export_film(options);
    return fail(kWrongCall,
                fmt::format("--format '{}' is not known; choose csv, json, perfetto, png, svg, gif or mp4",
                            options.format));
}

}  // namespace

void add_export(CLI::App& app, Chosen& chosen) {
    auto options = std::make_shared<ExportOptions>();
    CLI::App* command = app.add_subcommand(
        "export", "Write a recording for other programs, or its steps as pictures and films");
    command->add_option("FILE", options->file, kRecordingArgument)->required();
    command
        ->add_option("--format", options->format,
                     "csv, json, perfetto (for ui.perfetto.dev); png, svg; gif, mp4 (with ffmpeg)")
        ->required();
    command->add_option("--block", options->block, "Only this block, as x,y (all); csv, json, perfetto");
    command->add_option("--steps", options->steps,
                        "Only steps a to b, as a:b, both counted from 1 (all); not png, svg");
    command->add_flag("--lanes", options->lanes, "Every lane's access, not only every request; csv, json");
    command->add_option("--screen", options->screen, "The screen that pictures and films show (step)");
    command->add_option("--at", options->at,
                        "png, svg: the step, from 1 on, or first, middle or last (first)");
    command->add_option("--size", options->size, "Pictures: size in pixels (1600x1000; films 1280x720)");
    command->add_option("--theme", options->theme, "Pictures: light or dark (light)");
    command->add_flag("--lecture", options->lecture,
                      "Pictures and films: type, lines and colours for the back row");
    command->add_option("--fps", options->fps, "Films: steps a second, 1 to 50 (8)");
    command->add_option("-o,--output", options->output, "The file to write")->required();
    command->callback([options, &chosen] { chosen = [options] { return run_export(*options); }; });
}

}  // namespace tilescope::cli
