// The manual page tilescope(1), made from the parser of the command line, so that it says what --help says:
//
//   tilescope manual | man -l -
#include <string>

#include "app/cli/line.h"
#include "core/base/version.h"

namespace tilescope::cli {

namespace {

struct Said {
    const char *name, *means;
};
// What the program looks for in its environment, and where it keeps things.
constexpr Said kEnvironment[] = {
    {"TILESCOPE_MAX_MEMORY", "Gigabytes that an opened recording and what is made of it may take (1)"},
    {"TILESCOPE_CLANG", "The clang++ that compiles CUDA programs (the newest one of PATH)"},
    {"TILESCOPE_NVCC", "The nvcc that --compiler nvcc calls (that of PATH or of /usr/local/cuda)"},
    {"TILESCOPE_CUDART", "The library that takes the place of NVIDIA's runtime (libtilescope_cudart.so)"},
    {"TILESCOPE_CAPTURE_LIBRARY",
     "The library that sees launches of running programs (libtilescope_capture.so)"},
    {"TILESCOPE_PROGRESS", "Set: progress is written to stderr as to a terminal, whatever it is"},
    {"TILESCOPE_TIMING", "Set: the window says how long its first frame and its slow frames took"},
};
constexpr Said kFiles[] = {
    {"~/.config/tilescope/settings.json",
     "What the window remembers; below XDG_CONFIG_HOME where that is set"},
    {"~/.cache/tilescope", "Programs that were compiled; below XDG_CACHE_HOME where that is set"},
};

// As troff prints it and nothing else; a line that begins with a dot or a quote would be a request.
std::string plain(std::string_view text) {
    std::string out;
    for (const char c : text) {
        if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
        if (c == '\\')
            out += "\\e";
        else if (c == '-')
            out += "\\-";
        else
            out += c;
    }
    return out;
}

std::string bold(std::string_view text) { return "\\fB" + plain(text) + "\\fR"; }
std::string slanted(std::string_view text) { return "\\fI" + plain(text) + "\\fR"; }

// A term and below it what it means.
std::string entry(const std::string& term, std::string_view means) {
    return fmt::format(".TP\n{}\n{}\n", term, plain(means));
}

std::string value_of(const CLI::Option& option) {
    return takes_value(option) ? " " + slanted(option.get_type_name()) : "";
}

// "FILE [OPTION...]": what follows the command's name.
std::string call_of(const CLI::App& command) {
    std::string call;
    for (const CLI::Option* option : command.get_options()) {
        const bool several = option->get_expected_max() > 1;
        if (!option->get_positional()) continue;
        const std::string name = slanted(option->get_name()) + (several ? "..." : "");
        call += option->get_required() ? " " + name : " [" + name + "]";
    }
    return call + " [" + slanted("OPTION") + "...]";
}

std::string options_of(const CLI::App& command) {
    std::string text;
    for (const CLI::Option* option : command.get_options()) {
        if (option == command.get_help_ptr() && command.get_parent() != nullptr)
            continue;  // of every command
        std::string names;
        for (const std::string& name : option->get_snames()) names += bold("-" + name) + ", ";
        for (const std::string& name : option->get_lnames()) names += bold("--" + name) + ", ";
        if (option->get_positional()) names = slanted(option->get_name()) + ", ";
        names.resize(names.size() - 2);
        text += entry(names + (option->get_positional() ? "" : value_of(*option)), option->get_description());
    }
    return text;
}

struct ManualOptions {
    OptionTable table() { return {}; }
};

int run_manual(const ManualOptions&) { return print(manual(*command_line())); }

}  // namespace

std::string manual(const CommandLine& line) {
    const std::string about = line.get_description();
    std::string text = fmt::format(".TH TILESCOPE 1 \"\" \"Tilescope {}\" \"User Commands\"\n", kVersion);
    text += ".SH NAME\ntilescope \\- shows what a GPU's threads do to memory\n.SH SYNOPSIS\n";
    text += bold("tilescope") + " [" + slanted("OPTION") + "...]\n";
    const auto commands = line.get_subcommands([](const CLI::App* one) { return !one->get_group().empty(); });
    for (const CLI::App* command : commands)
        text +=
            fmt::format(".br\n{} {}{}\n", bold("tilescope"), bold(command->get_name()), call_of(*command));
    text += ".SH DESCRIPTION\n" + plain(about) + "\n.SH OPTIONS\n" + options_of(line);
    for (const CLI::App* command : commands)
        text += fmt::format(".SH {}\n{}{}\n.PP\n{}.\n{}", plain(command->get_name()),
                            bold("tilescope " + command->get_name()), call_of(*command),
                            plain(command->get_description()), options_of(*command));
    text += ".SH ENVIRONMENT\n";
    for (const Said& one : kEnvironment) text += entry(bold(one.name), one.means);
    text += ".SH FILES\n";
    for (const Said& one : kFiles) text += entry(slanted(one.name), one.means);
    return text + ".SH EXIT STATUS AND FIRST COMMANDS\n.nf\n" + plain(line.get_footer()) + "\n.fi\n";
}

CliCommand manual_command() {
    CliCommand made = command("manual", "Print the manual page, for man -l -", run_manual);
    made.hidden = true;
    return made;
}

}  // namespace tilescope::cli
