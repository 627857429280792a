// Stands in for window_commands.cpp in a build without the window (TILESCOPE_APP=OFF): the command line then
// has everything but `open` and `render`, and exports no pictures; nor has a handout any.
#include <fmt/format.h>

#include "app/cli/line.h"
#include "app/cli/pictures.h"
#include "app/lessons/figures/figure.h"

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

std::vector<std::string> lesson_pictures(const lessons::Lesson&) { return {}; }

std::vector<std::pair<std::string, std::string>> window_names(std::string_view) { return {}; }

CliCommand open_command() { return missing("open"); }
CliCommand render_command() { return missing("render"); }

}  // namespace tilescope::cli

namespace tilescope::lessons {

// Each is drawn by its own file, so that there are none here, and no lesson that stands on one.
std::span<const Figure> figures() { return {}; }

}  // namespace tilescope::lessons
