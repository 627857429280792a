// A command of the program: its name, its options as a table, and the function that runs it. line.cpp makes
// the parser of these; the completion of shells and the manual page follow.
//
//   exit status   0 done   1 failure   2 wrong call
//   errors        one plain sentence on standard error, "tilescope: ...": what was wrong and what to do
//
// Beside it stands what every command says the same way. What arguments name is in arguments.h, files and
// long work in work.h.
#pragma once

#include <charconv>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>

#include "core/base/result.h"

namespace tilescope::cli {

enum Status : int { kDone = 0, kFailure = 1, kWrongCall = 2 };

// Parses and runs; returns the exit status. Catches what libraries throw.
int run(int argc, char** argv);

// How an option is given, where it is not once or never.
enum Giving : uint8_t {
    kRequired = 1,
    kNotZero = 2,
    kSeveral = 4,      // values of all its occurrences are taken
    kSingleWords = 8,  // one value at each occurrence: what follows is something else
    kOneValue = 16     // the same, and --help shows no list
};

struct CommandOption {
    const char* names;  // "--json", "-o,--output"; without dashes a place: "FILE"
    // Where the value goes; a bool is a flag.
    std::variant<bool*, uint32_t*, uint64_t*, std::string*, std::optional<uint32_t>*, std::optional<double>*,
                 std::vector<uint32_t>*, std::vector<uint64_t>*, std::vector<std::string>*>
        into;
    std::string about;
    // What is given in its place, which --help and the manual page print and a shell is told: words parted by
    // strokes, or the name of a kind of thing (complete.cpp); "" for a number, and for nothing to say.
    const char* takes = "";
    int giving = 0;  // bits of Giving
};
using OptionTable = std::vector<CommandOption>;

struct CliCommand {
    const char* name;  // "" for what is done without a command
    const char* about;
    OptionTable options;
    std::function<int()> run;
    bool hidden = false;     // --help does not list it
    bool any_words = false;  // whatever follows is passed over
};

// `run` gets Options as they were given, or as they stand when nothing is given. They list themselves
// (table()), unless several commands share them.
template <class Options>
CliCommand command(
    const char* name, const char* about, int (*run)(const Options&),
    OptionTable (*table)(std::type_identity_t<Options>&) = [](std::type_identity_t<Options>& options) {
        return options.table();
    }) {
    auto options = std::make_shared<Options>();
    return {name, about, table(*options), [options, run] { return run(*options); }};
}

// In the order in which --help lists them.
using MakeCommand = CliCommand();
MakeCommand window_command, open_command, kernels_command, devices_command, record_command,
    recordings_command, report_command, table_command, time_command, limits_command, roofline_command,
    levels_command, compare_command, render_command, export_command, capture_command, capture_launch_command,
    complete_command, manual_command;

// What --help says of such an argument, and its place.
inline constexpr const char* kRecordingArgument = "A recording: a .tsc file, or a name from 'recordings'";

// --- what a command says

// Prints "tilescope: <message>" to standard error, on one line, and returns the status given. What a terminal
// would obey is left out of it, and of what print() prints (core/base/text.h).
int fail(Status status, std::string_view message);

// Ends the command with that status and sentence, from wherever it is; run() prints it.
struct Refused {
    Status status;
    std::string message;
};
template <class... Args>
[[noreturn]] void refuse(Status status, fmt::format_string<Args...> sentence, Args&&... args) {
    throw Refused{status, fmt::format(sentence, std::forward<Args>(args)...)};
}

// What a command needs to go on; where there is none, that ends it with the error's sentence.
template <class T>
T need(Result<T> made, Status status = kFailure) {
    if (!made) throw Refused{status, made.error().message};
    if constexpr (!std::is_void_v<T>) return std::move(*made);
}

// Prints to standard output; kFailure where that cannot be written (a full disk).
int print(std::string_view text);

// --- words and numbers, each read whole

// "1024".
template <class Number>
std::optional<Number> parse_number(std::string_view text) {
    Number value{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

// "16x8" with separator 'x', "3,0" with ','.
using NumberPair = std::pair<uint32_t, uint32_t>;
std::optional<NumberPair> parse_pair(std::string_view text, char separator);

// One of a few words; the sentence says of another word what there is to choose from.
template <class Value>
Value choose(std::string_view word, std::initializer_list<std::pair<std::string_view, Value>> words,
             fmt::format_string<std::string_view&> sentence) {
    for (const auto& [name, value] : words)
        if (name == word) return value;
    refuse(kWrongCall, sentence, word);
}

}  // namespace tilescope::cli
