// Pictures and films of a recording: png, svg, gif, mp4.
#include "app/cli/cli.h"
#include "app/cli/export_options.h"

namespace tilescope::cli {

int export_picture(const ExportOptions&) { return fail(kFailure, "pictures are not made here yet; use render"); }
int export_film(const ExportOptions& options) { return export_picture(options); }

}  // namespace tilescope::cli
