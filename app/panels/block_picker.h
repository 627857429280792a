// The overview of a launch's grid in the form that records: a drag picks a window of blocks, arrow keys move
// it, Shift and an arrow key makes it larger or smaller.
#pragma once

#include "app/panels/ui.h"

namespace tilescope::panels {

// Inside an ImGui window. Writes form.window.
void block_picker(Ui& ui, app::RecordForm& form);

}  // namespace tilescope::panels
