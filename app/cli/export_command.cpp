// tilescope export FILE --format F -o OUT: a recording as text for other programs, its steps as pictures.
#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/cli.h"
#include "core/export/csv.h"
#include "core/export/perfetto.h"
#include "core/export/trace_json.h"

namespace tilescope::cli {

namespace {

// Whether all of it could be made; the error is the file's, such as a full disk.
Result<bool> write(const trace::Trace& trace, const analysis::PhaseRule& rule,
                   const report::Selected& selected, const ExportOptions& options,
                   const std::atomic<bool>& stop, std::atomic<uint64_t>& done) {
    OutputFile file(options.output);
    const report::Take take = [&](std::string_view text) { return !stop && file.write(text); };
    const report::ExportProgress progress{&done};
    bool whole = false;
    if (options.format == "csv")
        whole = report::write_csv(trace, rule, selected, options.lanes, take, progress);
    else if (options.format == "json")
        whole = report::write_trace_json(trace, rule, selected, options.lanes, take, progress);
    else
        whole = report::write_perfetto(trace, rule, selected, take, progress);
    if (stop) return false;
    if (auto kept = file.keep(); !kept) return kept.error();
    return whole;
}

int export_text(const ExportOptions& options) {
    if (options.lecture) refuse(kWrongCall, "--lecture goes with pictures and films; leave it out for text");
    need(check_block(options.block), kWrongCall);
    if (options.format == "perfetto" && options.lanes)
        refuse(kWrongCall, "--lanes goes with csv and json; leave it out for perfetto");
    need(check_output(options.output));
    const auto opened = need(open_recording(options.file));
    const trace::Trace& trace = opened.trace;
    report::Selected selected;
    if (!options.block.empty())
        selected.block = need(choose_block(options.block, trace, options.file), kWrongCall);
    if (!options.steps.empty()) {
        const auto [first, end] = need(choose_steps(options.steps, trace, options.file), kWrongCall);
        selected.first = first;
        selected.end = end;
    }
    const uint64_t steps = report::steps_in(trace, selected);
    if (steps == 0 && !options.steps.empty()) {
        refuse(kWrongCall, "none of steps {} is in block {}; leave out --steps or --block", options.steps,
               options.block);
    }
    const auto rule = need(analysis::phase_rule(trace));
    const auto written = with_progress(steps, "steps", [&](const auto& stop, auto& done) {
        return write(trace, rule, selected, options, stop, done);
    });
    if (!written) refuse(kFailure, "stopped; '{}' was not written", options.output);
    if (!need(*written)) refuse(kFailure, "'{}' could not be made", options.output);
    return kDone;
}

int run_export(const ExportOptions& options) {
    const auto is_one_of = [&](const auto&... formats) { return ((options.format == formats) || ...); };
    if (is_one_of("csv", "json", "perfetto")) return export_text(options);
    if (is_one_of("png", "svg", "gif", "mp4")) return export_pictures(options);
    refuse(kWrongCall, "--format '{}' is not known; choose csv, json, perfetto, png, svg, gif or mp4",
           options.format);
}

}  // namespace

void add_export(CLI::App& app, Chosen& chosen) {
    const auto [command, options] =
        add_command(app, chosen, "export",
                    "Write a recording for other programs, or its steps as pictures and films", run_export);
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
}

}  // namespace tilescope::cli
