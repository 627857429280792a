// Stands in for app/cli/window_commands.cpp in a build without the window (TILESCOPE_APP=OFF): the command
// line then has everything but `open`, `render` and `compare`, and exports no pictures.
#include <fmt/format.h>

#include "app/cli/cli.h"
#include "app/cli/export_options.h"

namespace tilescope::cli {

void add_window(CLI::App&, Chosen& chosen) {
    chosen = [] {
        return fail(
            kFailure,
            "this tilescope was built without the window; configure with -DTILESCOPE_APP=ON and build again");
    };
}

int export_picture(const ExportOptions& options) {
    return fail(kFailure,
                fmt::format("this tilescope was built without the window and draws no {}; configure with "
                            "-DTILESCOPE_APP=ON and build again",
                            options.format));
}
int export_film(const ExportOptions& options) { return export_picture(options); }

void add_open(CLI::App&, Chosen&) {}
void add_render(CLI::App&, Chosen&) {}
void add_compare(CLI::App&, Chosen&) {}

}  // namespace tilescope::cli
