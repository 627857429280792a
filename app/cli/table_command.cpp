// tilescope table FILE [--block x,y] [--format text|csv|md] [--notation MNP|ABC|MdNdPd] [--column-first]:
// what each thread loads and multiplies in each phase.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/cli/block_choice.h"
#include "app/cli/cli.h"
#include "app/cli/open_recording.h"
#include "core/analysis/phases.h"
#include "core/analysis/product.h"
#include "core/playback/phase_table.h"
#include "core/playback/replay.h"
#include "kernels/run/record.h"

namespace tilescope::cli {

namespace {

struct Options {
    std::string file;
    std::string block;
    std::string format = "text";
    std::string notation = "MNP";
    bool column_first = false;
};

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
    if (auto good = check_block(options.block); !good) return fail(kWrongCall, good.error().message);
    const auto format = parse_format(options.format);
    if (!format) {
        return fail(kWrongCall,
                    fmt::format("--format '{}' is not a format; choose text, csv or md", options.format));
    }
    const auto names = parse_names(options.notation);
    if (!names) {
        return fail(kWrongCall, fmt::format("--notation '{}' is not a notation; choose MNP, ABC or MdNdPd",
                                            options.notation));
    }
    const auto opened = open_recording(options.file);
    if (!opened) return fail(kFailure, opened.error().message);
    const trace::Trace* const trace = &opened->trace;
    if (trace->blocks.empty())
        return fail(kFailure, fmt::format("'{}' holds no blocks; record it again", options.file));
    const auto chosen = choose_block(options.block, *trace, options.file);
    if (!chosen) return fail(kWrongCall, chosen.error().message);
    const uint32_t block = *chosen;
    const auto rule = analysis::phase_rule(*trace);
    if (!rule) return fail(kFailure, rule.error().message);
    auto replayer = kernels::Replayer::of(*trace);
    if (!replayer) return fail(kFailure, replayer.error().message);
    playback::BlockReplay replay(*trace, block);
    if (auto done = replayer->replay(*trace, block, replay); !done)
        return fail(kFailure, done.error().message);
    replay.finish();
    const analysis::PhaseMap phases = analysis::phases_of_block(*trace, *rule, block);
    const Notation notation = analysis::notation_of(trace->launch, analysis::product_of(*trace),
                                                    {options.column_first, false, *names});
    return print(playback::print(playback::phase_table(*trace, replay, phases, notation), *format));
}

}  // namespace

void add_table(CLI::App& app, Chosen& chosen) {
    auto options = std::make_shared<Options>();
    CLI::App* command =
        app.add_subcommand("table", "Print what each thread of a block loads and multiplies in each phase");
    command->add_option("FILE", options->file, kRecordingArgument)->required();
    command->add_option("--block", options->block, "The block, as x,y (the first one recorded)");
    command->add_option("--format", options->format, "text, csv or md (text)");
    command->add_option("--notation", options->notation,
                        "What the matrices are called: MNP, ABC or MdNdPd (MNP)");
    command->add_flag("--column-first", options->column_first, "Write x before y: M[x,y], thread[x,y]");
    command->callback([options, &chosen] { chosen = [options] { return run_table(*options); }; });
}

}  // namespace tilescope::cli
