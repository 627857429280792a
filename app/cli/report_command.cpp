// tilescope report FILE [--json]: sums by site, by space, by array.
// tilescope table FILE [--block x,y] [--format text|csv|md] [--notation MNP|ABC|MdNdPd] [--column-first]:
// what each thread loads and multiplies in each phase.
#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/cli.h"
#include "core/analysis/hazards.h"
#include "core/analysis/phases.h"
#include "core/analysis/product.h"
#include "core/analysis/summary.h"
#include "core/export/report.h"
#include "core/playback/phase_table.h"
#include "core/playback/replay.h"
#include "kernels/run/record.h"

namespace tilescope::cli {

namespace {

struct Options {
    std::string file;
    bool json = false;  // report
    std::string block, format = "text", notation = "MNP";
    bool column_first = false;
};

int run_report(const Options& options) {
    const auto opened = need(open_recording(options.file));
    const trace::Trace& trace = opened.trace;
    const auto summary = need(analysis::summarize(trace));
    const auto hazards = need(analysis::find_hazards(trace));
    return print(options.json ? report::to_json(trace, summary, &hazards)
                              : report::to_text(trace, summary, &hazards));
}

std::optional<playback::TableFormat> parse_format(const std::string& text) {
    if (text == "text") return playback::TableFormat::Text;
    if (text == "csv") return playback::TableFormat::Csv;
    if (text == "md") return playback::TableFormat::Markdown;
    return std::nullopt;
}

// What texts call the matrices and their tiles; the kernels say M, N, P.
std::optional<analysis::MatrixNames> parse_names(const std::string& text) {
    if (text == "MNP") return analysis::MatrixNames::MNP;
    if (text == "ABC") return analysis::MatrixNames::ABC;
    if (text == "MdNdPd") return analysis::MatrixNames::MdNdPd;
    return std::nullopt;
}

int run_table(const Options& options) {
    need(check_block(options.block), kWrongCall);
    const auto format = parse_format(options.format);
    if (!format) refuse(kWrongCall, "--format '{}' is not a format; choose text, csv or md", options.format);
    const auto names = parse_names(options.notation);
    if (!names)
        refuse(kWrongCall, "--notation '{}' is not a notation; choose MNP, ABC or MdNdPd", options.notation);
    const auto opened = need(open_recording(options.file));
    const trace::Trace& trace = opened.trace;
    const uint32_t block =
        need(choose_block(options.block, trace, options.file), trace.blocks.empty() ? kFailure : kWrongCall);
    const auto rule = need(analysis::phase_rule(trace));
    auto replayer = need(kernels::Replayer::of(trace));
    playback::BlockReplay replay(trace, block);
    need(replayer.replay(trace, block, replay));
    replay.finish();
    const analysis::PhaseMap phases = analysis::phases_of_block(trace, rule, block);
    const Notation notation = analysis::notation_of(trace.launch, analysis::product_of(trace),
                                                    {options.column_first, false, *names});
    return print(playback::print(playback::phase_table(trace, replay, phases, notation), *format));
}

}  // namespace

void add_report(CLI::App& app, Chosen& chosen) {
    const auto [command, options] = add_command(
        app, chosen, "report", "Print the sums of a recording, by site, space and array", run_report);
    command->add_option("FILE", options->file, kRecordingArgument)->required();
    command->add_flag("--json", options->json, "Print JSON (schema tilescope.report/1)");
}

void add_table(CLI::App& app, Chosen& chosen) {
    const auto [command, options] =
        add_command(app, chosen, "table",
                    "Print what each thread of a block loads and multiplies in each phase", run_table);
    command->add_option("FILE", options->file, kRecordingArgument)->required();
    command->add_option("--block", options->block, "The block, as x,y (the first one recorded)");
    command->add_option("--format", options->format, "text, csv or md (text)");
    command->add_option("--notation", options->notation,
                        "What the matrices are called: MNP, ABC or MdNdPd (MNP)");
    command->add_flag("--column-first", options->column_first, "Write x before y: M[x,y], thread[x,y]");
}

}  // namespace tilescope::cli
