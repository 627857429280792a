// The parser, made of the commands' tables, and the program's one way in and out.
#include "app/cli/line.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include "core/base/file.h"
#include "core/base/text.h"
#include "core/base/version.h"

namespace tilescope::cli {

namespace {

constexpr const char* kAbout =
    "Shows what a GPU's threads do to memory: records a compiled CUDA kernel and lets you walk through it.\n"
    "Without a command it opens the window.";

// What CLI11 says, in the form of our other sentences: on one line and without a full stop.
std::string sentence_of(const CLI::ParseError& error) {
    std::string text = error.what();
    std::replace(text.begin(), text.end(), '\n', ' ');
    while (!text.empty() && (text.back() == '.' || text.back() == ' ')) text.pop_back();
    if (text.size() > 1 && text[0] >= 'A' && text[0] <= 'Z' && text[1] >= 'a') text[0] += 'a' - 'A';
    return text;
}

std::string help_of(const CLI::App& app) {
    for (const CLI::App* command : app.get_subcommands())
        return fmt::format("tilescope {} --help", command->get_name());
    return "tilescope --help";
}

void add(CommandLine& line, CLI::App& to, const CommandOption& option) {
    CLI::Option* const added = std::visit(
        [&](auto* into) {
            if constexpr (std::is_same_v<decltype(into), bool*>)
                return to.add_flag(option.names, *into, option.about);
            else
                return to.add_option(option.names, *into, option.about);
        },
        option.into);
    line.takes[added] = option.takes;
    if (*option.takes && !added->get_positional()) added->type_name(option.takes);
    if (option.giving & kRequired) added->required();
    if (option.giving & kNotZero) added->check(CLI::Range(uint64_t{1}, UINT64_MAX));
    if (option.giving & kOneValue) added->expected(1);
    if (option.giving & kSeveral) added->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    if (option.giving & kSingleWords) added->allow_extra_args(false);
}

void add(CommandLine& line, const CliCommand& command) {
    CLI::App* to = &line;
    if (*command.name) {
        to = line.add_subcommand(command.name, command.about);
        to->callback([&line, run = command.run] { line.chosen = run; });
    } else {
        line.chosen = command.run;
    }
    if (command.hidden) to->group("");
    if (command.any_words && to != &line) to->allow_extras();
    for (const CommandOption& option : command.options) add(line, *to, option);
}

}  // namespace

std::unique_ptr<CommandLine> command_line() {
    auto line = std::make_unique<CommandLine>(kAbout, "tilescope");
    line->set_version_flag("--version", fmt::format("tilescope {}", kVersion));
    line->require_subcommand(0, 1);
    line->option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::Throw);
    for (MakeCommand* make :
         {window_command, open_command, kernels_command, devices_command, record_command, recordings_command,
          report_command, table_command, time_command, limits_command, roofline_command, levels_command,
          compare_command, render_command, export_command, capture_command, capture_launch_command,
          complete_command, manual_command})
        add(*line, make());
    // After the commands, which would inherit it.
    line->footer(
        "Exit status: 0 done, 1 failure, 2 wrong call.\nStart with:\n  tilescope record tiled --tile 2 --m 4 "
        "--k 4 --n 4 -o lecture.tsc\n  tilescope table lecture.tsc");
    return line;
}

bool takes_value(const CLI::Option& option) { return option.get_expected_max() != 0; }

std::optional<int> parse(CommandLine& line, int argc, const char* const* argv) {
    try {
        line.parse(argc, argv);
        return std::nullopt;
    } catch (const CLI::CallForHelp&) {
        return print(line.help());  // or that of the command given
    } catch (const CLI::CallForVersion& version) {
        return print(fmt::format("{}\n", version.what()));
    } catch (const CLI::ParseError& error) {
        return fail(kWrongCall,
                    fmt::format("{}; '{}' lists what can be given", sentence_of(error), help_of(line)));
    }
}

int run(int argc, char** argv) {
    remove_unfinished_on_signals();
    try {
        const auto line = command_line();
        const auto ended = parse(*line, argc, argv);
        return ended ? *ended : line->chosen();
    } catch (const Refused& refused) {
        return fail(refused.status, refused.message);
    } catch (const std::bad_alloc&) {
        return fail(kFailure, "there is not enough memory for this; record fewer blocks or smaller sizes");
    } catch (const std::exception& error) {
        return fail(kFailure,
                    fmt::format("something unforeseen went wrong ({}); please report it", error.what()));
    }
}

int fail(Status status, std::string_view message) {
    // What the window says as well ends in a full stop there.
    if (message.ends_with('.') && !message.ends_with("..")) message.remove_suffix(1);
    std::fprintf(stderr, "tilescope: %s\n", one_sentence(message).c_str());
    return status;
}

int print(std::string_view text) {
    errno = 0;
    const std::string shown = printable(text);
    const bool written = std::fwrite(shown.data(), 1, shown.size(), stdout) == shown.size();
    if (!written || std::fflush(stdout) != 0)
        return fail(kFailure, fmt::format("standard output cannot be written: {}", std::strerror(errno)));
    return kDone;
}

}  // namespace tilescope::cli
