// Stands in for the window in a build without one (TILESCOPE_APP=OFF): the command line then has all
// but `open` and `render`.
#include "app/app.h"

namespace tilescope::app {

namespace {
const Error kNoWindow{
    "this tilescope was built without the window; configure with -DTILESCOPE_APP=ON and build again"};
}

Result<void> run_window(State, const WindowOptions&) { return kNoWindow; }
bool has_display() { return false; }
Result<void> render_png(State, const RenderOptions&) { return kNoWindow; }

}  // namespace tilescope::app
