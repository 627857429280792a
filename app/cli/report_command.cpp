// tilescope report FILE [--json]: sums by site, by space, by array; what would make them less.
// tilescope table FILE [--block x,y] [--format text|csv|md] [--notation MNP|ABC|MdNdPd] [--column-first]:
// what each thread loads and multiplies in each phase.
#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/session/exported.h"
#include "core/analysis/summary.h"
#include "core/export/report.h"
#include "kernels/run/judged.h"

namespace tilescope::cli {

namespace {

struct ReportOptions {
    std::string file;
    bool json = false;

    OptionTable table() {
        return {{"FILE", &file, kRecordingArgument, "RECORDING", kRequired},
                {"--json", &json, "Print JSON (schema tilescope.report/1)"}};
    }
};

struct TableOptions {
    std::string file, block, format = "text", notation = "MNP";
    bool column_first = false;

    OptionTable table() {
        return {
            {"FILE", &file, kRecordingArgument, "RECORDING", kRequired},
            {"--block", &block, "The block, as x,y (the first one recorded)", "X,Y"},
            {"--format", &format, "text, csv or md (text)", "text|csv|md"},
            {"--notation", &notation, "What the matrices are called: MNP, ABC or MdNdPd (MNP)",
             "MNP|ABC|MdNdPd"},
            {"--column-first", &column_first, "Write x before y: M[x,y], thread[x,y]"},
        };
    }
};

int run_report(const ReportOptions& options) {
    uint64_t held = 0;
    const analysis::Recording recording = opened(options.file, 0, &held);
    const auto summary = need(analysis::summarize(recording));
    const auto hazards = kernels::judged(recording);
    const auto improvements = need(analysis::improvements_of(*recording.trace));
    return print(options.json ? report::to_json(recording, summary, &hazards, held, &improvements)
                              : report::to_text(recording, summary, &hazards, held, &improvements));
}

int run_table(const TableOptions& options) {
    using playback::TableFormat, analysis::MatrixNames;
    const auto asked = parse_block(options.block);
    const auto format = choose<TableFormat>(
        options.format,
        {{"text", TableFormat::Text}, {"csv", TableFormat::Csv}, {"md", TableFormat::Markdown}},
        "--format '{}' is not a format; choose text, csv or md");
    // What texts call the matrices and their tiles; the kernels say M, N, P.
    const auto names = choose<MatrixNames>(
        options.notation,
        {{"MNP", MatrixNames::MNP}, {"ABC", MatrixNames::ABC}, {"MdNdPd", MatrixNames::MdNdPd}},
        "--notation '{}' is not a notation; choose MNP, ABC or MdNdPd");
    analysis::Recording recording = opened(options.file);
    const trace::Trace& trace = *recording.trace;
    const uint32_t block = choose_block(asked, trace, options.file);
    recording.notation =
        analysis::notation_of(trace.launch, recording.product, {options.column_first, false, names});
    return print(need(session::phase_table_of(recording, block, format)));
}

}  // namespace

CliCommand report_command() {
    return command("report", "Print the sums of a recording, by site, space and array", run_report);
}

CliCommand table_command() {
    return command("table", "Print what each thread of a block loads and multiplies in each phase",
                   run_table);
}

}  // namespace tilescope::cli
