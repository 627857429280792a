#include "app/cli/cli.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <new>

#include <fmt/format.h>

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

int parse_and_run(int argc, char** argv) {
    CLI::App app{kAbout, "tilescope"};
    app.set_version_flag("--version", fmt::format("tilescope {}", kVersion));
    app.require_subcommand(0, 1);
    app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::Throw);
    Chosen chosen;
    add_window(app, chosen);
    add_open(app, chosen);
    add_kernels(app, chosen);
    add_devices(app, chosen);
    add_record(app, chosen);
    add_recordings(app, chosen);
    add_report(app, chosen);
    add_table(app, chosen);
    add_time(app, chosen);
    add_limits(app, chosen);
    add_roofline(app, chosen);
    add_compare(app, chosen);
    add_render(app, chosen);
    add_export(app, chosen);
    // After the commands, which would inherit it.
    app.footer(
        "Exit status: 0 done, 1 failure, 2 wrong call.\n"
        "Start with:\n"
        "  tilescope record tiled --tile 2 --m 4 --k 4 --n 4 -o lecture.tsc\n"
        "  tilescope table lecture.tsc");
    try {
        app.parse(argc, argv);
    } catch (const CLI::CallForHelp&) {
        return print(app.help());  // or that of the command given
    } catch (const CLI::CallForVersion&) {
        return print(fmt::format("tilescope {}\n", kVersion));
    } catch (const CLI::ParseError& error) {
        return fail(kWrongCall,
                    fmt::format("{}; '{}' lists what can be given", sentence_of(error), help_of(app)));
    }
    return chosen();
}

}  // namespace

int run(int argc, char** argv) {
    try {
        return parse_and_run(argc, argv);
    } catch (const std::bad_alloc&) {
        return fail(kFailure, "there is not enough memory for this; record fewer blocks or smaller sizes");
    } catch (const std::exception& error) {
        return fail(kFailure,
                    fmt::format("something unforeseen went wrong ({}); please report it", error.what()));
    }
}

int fail(Status status, std::string_view message) {
    std::string line(message);
    std::replace(line.begin(), line.end(), '\n', ' ');
    std::fprintf(stderr, "tilescope: %s\n", line.c_str());
    return status;
}

int print(std::string_view text) {
    errno = 0;
    const bool written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
    if (!written || std::fflush(stdout) != 0)
        return fail(kFailure, fmt::format("standard output cannot be written: {}", std::strerror(errno)));
    return kDone;
}

}  // namespace tilescope::cli
