// Stands in for app/cli/window_commands.cpp in a build without the window (TILESCOPE_APP=OFF): the command
// line then has everything but `open` and `render`.
#include "app/cli/cli.h"

namespace tilescope::cli {

void add_window(CLI::App&, Chosen& chosen) {
    chosen = [] {
        return fail(
            kFailure,
            "this tilescope was built without the window; configure with -DTILESCOPE_APP=ON and build again");
    };
}

void add_open(CLI::App&, Chosen&) {}
void add_render(CLI::App&, Chosen&) {}

}  // namespace tilescope::cli
