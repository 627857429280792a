// Stands in for window_commands.cpp and handout_command.cpp in a build without the window
// (TILESCOPE_APP=OFF): the command line then has everything but `open`, `render` and `compare`, and exports
// no pictures.
#include <fmt/format.h>

#include "app/cli/line.h"
#include "app/cli/pictures.h"

namespace tilescope::cli {

namespace {

int without_the_window() {
    refuse(kFailure,
           "this tilescope was built without the window; configure with -DTILESCOPE_APP=ON and build again");
}

// Known, so that what is missing is said whatever follows the name.
CliCommand missing(const char* name) {
    return {name, "Not in this build, which has no window", {}, without_the_window, false, true};
}

}  // namespace

CliCommand window_command() { return missing(""); }

int export_pictures(const ExportOptions& options) {
    refuse(kFailure,
           "this tilescope was built without the window and draws no {}; configure with "
           "-DTILESCOPE_APP=ON and build again",
           options.format);
}

int export_handout(const ExportOptions&) { return without_the_window(); }

std::vector<std::pair<std::string, std::string>> window_names(std::string_view) { return {}; }

CliCommand open_command() { return missing("open"); }
CliCommand render_command() { return missing("render"); }
CliCommand compare_command() { return missing("compare"); }

}  // namespace tilescope::cli
