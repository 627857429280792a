// Stands in for window_commands.cpp in a build without the window (TILESCOPE_APP=OFF): the command
// line then has everything but `open`, `render` and `compare`, and exports no pictures.
#include <fmt/format.h>

#include "app/cli/cli.h"

namespace tilescope::cli {

namespace {

int without_the_window() {
    refuse(kFailure,
           "this tilescope was built without the window; configure with -DTILESCOPE_APP=ON and build again");
}

// Known, so that what is missing is said whatever follows the name.
void add_missing(CLI::App& app, Chosen& chosen, const char* name) {
    CLI::App* command = app.add_subcommand(name, "Not in this build, which has no window");
    command->allow_extras();
    command->callback([&chosen] { chosen = without_the_window; });
}

}  // namespace

void add_window(CLI::App&, Chosen& chosen) { chosen = without_the_window; }

int export_pictures(const ExportOptions& options) {
    refuse(kFailure,
           "this tilescope was built without the window and draws no {}; configure with "
           "-DTILESCOPE_APP=ON and build again",
           options.format);
}

void add_open(CLI::App& app, Chosen& chosen) { add_missing(app, chosen, "open"); }
void add_render(CLI::App& app, Chosen& chosen) { add_missing(app, chosen, "render"); }
void add_compare(CLI::App& app, Chosen& chosen) { add_missing(app, chosen, "compare"); }

}  // namespace tilescope::cli
