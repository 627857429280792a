// The strip of the lesson that runs: which stop this is, what to look at, and where to go on.
#pragma once

#include "app/panels/ui.h"

namespace tilescope::panels {

// 0 where no lesson runs.
float lesson_height(Ui& ui, float width);
void lesson_strip(Ui& ui, const Rect& rect);

}  // namespace tilescope::panels
