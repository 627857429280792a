// tilescope table FILE [--block x,y] [--format text|csv|md]: what each thread loads and multiplies in each
// phase.
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "app/cli/cli.h"
#include "app/cli/open_recording.h"
#include "app/cli/values.h"
#include "core/analysis/phases.h"
#include "core/playback/phase_table.h"
#include "core/playback/replay.h"
#include "kernels/record.h"

namespace tilescope::cli {

namespace {

struct Options {
    std::string file;
    std::string block;
    std::string format = "text";
};

std::optional<playback::TableFormat> parse_format(const std::string& text) {
    if (text == "text") return playback::TableFormat::Text;
    if (text == "csv") return playback::TableFormat::Csv;
    if (text == "md") return playback::TableFormat::Markdown;
    return std::nullopt;
}

// The index of block (x,y) among the recorded ones, or -1.
int64_t index_of(const trace::Trace& trace, uint32_t x, uint32_t y) {
    for (size_t i = 0; i < trace.blocks.size(); ++i) {
        if (trace.blocks[i].x == x && trace.blocks[i].y == y) return static_cast<int64_t>(i);
    }
    return -1;
}

int run_table(const Options& options) {
    const auto wanted = options.block.empty() ? std::nullopt : parse_pair(options.block, ',');
    if (!options.block.empty() && !wanted) {
        return fail(kWrongCall,
                    fmt::format("--block '{}' is not a block; give it as x,y, such as 0,0", options.block));
    }
    const auto format = parse_format(options.format);
    if (!format) {
        return fail(kWrongCall,
                    fmt::format("--format '{}' is not a format; choose text, csv or md", options.format));
    }
    const auto opened = open_recording(options.file);
    if (!opened) return fail(kFailure, opened.error().message);
    const trace::Trace* const trace = &opened->trace;
    if (trace->blocks.empty())
        return fail(kFailure, fmt::format("'{}' holds no blocks; record it again", options.file));
    const trace::Block& first = trace->blocks.front();
    const trace::Block& last = trace->blocks.back();
    const auto [x, y] = wanted.value_or(std::pair{first.x, first.y});
    const int64_t index = index_of(*trace, x, y);
    if (index < 0) {
        return fail(
            kWrongCall,
            fmt::format("block {},{} is not in '{}', which holds blocks {},{} to {},{}; choose one of them",
                        x, y, options.file, first.x, first.y, last.x, last.y));
    }
    const auto block = static_cast<uint32_t>(index);
    const auto rule = analysis::phase_rule(*trace);
    if (!rule) return fail(kFailure, rule.error().message);
    auto replayer = kernels::Replayer::of(*trace);
    if (!replayer) return fail(kFailure, replayer.error().message);
    playback::BlockReplay replay(*trace, block);
    if (auto done = replayer->replay(*trace, block, replay); !done)
        return fail(kFailure, done.error().message);
    replay.finish();
    const analysis::PhaseMap phases = analysis::phases_of_block(*trace, *rule, block);
    return print(playback::print(playback::phase_table(*trace, replay, phases), *format));
}

}  // namespace

void add_table(CLI::App& app, Chosen& chosen) {
    auto options = std::make_shared<Options>();
    CLI::App* command =
        app.add_subcommand("table", "Print what each thread of a block loads and multiplies in each phase");
    command->add_option("FILE", options->file, kRecordingArgument)->required();
    command->add_option("--block", options->block, "The block, as x,y (the first one recorded)");
    command->add_option("--format", options->format, "text, csv or md (text)");
    command->callback([options, &chosen] { chosen = [options] { return run_table(*options); }; });
}

}  // namespace tilescope::cli
