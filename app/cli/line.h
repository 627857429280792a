// The parser of the command line, made of the commands, and what is made of it: the words that can follow,
// for a shell, and the manual page.
#pragma once

#include <map>

#include <CLI/CLI.hpp>

#include "app/cli/command.h"

namespace tilescope::cli {

// The parser, and what to do once all is read.
struct CommandLine : CLI::App {
    using CLI::App::App;
    std::function<int()> chosen;                      // by the command that was called
    std::map<const CLI::Option*, const char*> takes;  // CommandOption::takes
};

// The parser with all commands.
std::unique_ptr<CommandLine> command_line();

// Reads the arguments into it: none where line.chosen is what to do, or the exit status where nothing is left
// to do (a wrong call, of which it has told; --help; --version).
std::optional<int> parse(CommandLine& line, int argc, const char* const* argv);

bool takes_value(const CLI::Option& option);  // else it is a flag

// What can follow these words, the last of which may be half typed: what `complete` prints (complete.cpp).
std::vector<std::string> completions(const CommandLine& line, std::vector<std::string> words);
// What the window has by names; the kind is "LESSON", "FIGURE" or "ACTION". None in a build without it.
std::vector<std::pair<std::string, std::string>> window_names(std::string_view kind);

// The manual page, as troff reads it (manual.cpp).
std::string manual(const CommandLine& line);

}  // namespace tilescope::cli
