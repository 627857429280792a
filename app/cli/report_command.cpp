// tilescope report FILE [--json]: sums by site, by space, by array.
#include <memory>

#include "app/cli/cli.h"
#include "app/cli/open_recording.h"
#include "core/analysis/hazards.h"
#include "core/analysis/summary.h"
#include "core/export/report.h"

namespace tilescope::cli {

namespace {

struct Options {
    std::string file;
    bool json = false;
};

int run_report(const Options& options) {
    const auto opened = open_recording(options.file);
    if (!opened) return fail(kFailure, opened.error().message);
    const trace::Trace& trace = opened->trace;
    const auto summary = analysis::summarize(trace);
    if (!summary) return fail(kFailure, summary.error().message);
    const auto hazards = analysis::find_hazards(trace);
    if (!hazards) return fail(kFailure, hazards.error().message);
    return print(options.json ? report::to_json(trace, *summary, &hazards.value())
                              : report::to_text(trace, *summary, &hazards.value()));
}

}  // namespace

void add_report(CLI::App& app, Chosen& chosen) {
    auto options = std::make_shared<Options>();
    CLI::App* command =
        app.add_subcommand("report", "Print the sums of a recording, by site, space and array");
    command->add_option("FILE", options->file, kRecordingArgument)->required();
    command->add_flag("--json", options->json, "Print JSON (schema tilescope.report/1)");
    command->callback([options, &chosen] { chosen = [options] { return run_report(*options); }; });
}

}  // namespace tilescope::cli
