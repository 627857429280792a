// Stands in for window_commands.cpp and handout_command.cpp in a build without the window
// (TILESCOPE_APP=OFF): the command line then has everything but `open`, `render` and `compare`, and exports
// no pictures.
#include <fmt/format.h>

#include "app/cli/cli.h"

namespace tilescope::cli {

namespace {

int without_the_window() {
    refuse(kFailure,
           "this tilescope was built without the window; configure with -DTILESCOPE_APP=ON and build again");
}

// Known, so that what is missing is said whatever follows the name.
void add_missing(CommandLine& line, const char* name) {
    CLI::App* const command = line.add_subcommand(name, "Not in this build, which has no window");
    command->allow_extras();
    command->callback([&line] { line.chosen = without_the_window; });
}

}  // namespace

void add_window(CommandLine& line) { line.chosen = without_the_window; }

int export_pictures(const ExportOptions& options) {
    refuse(kFailure,
           "this tilescope was built without the window and draws no {}; configure with "
           "-DTILESCOPE_APP=ON and build again",
           options.format);
}

int export_handout(const ExportOptions&) { return without_the_window(); }

std::vector<std::pair<std::string, std::string>> window_names(std::string_view) { return {}; }

void add_open(CommandLine& line) { add_missing(line, "open"); }
void add_render(CommandLine& line) { add_missing(line, "render"); }
void add_compare(CommandLine& line) { add_missing(line, "compare"); }

}  // namespace tilescope::cli
