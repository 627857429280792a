#pragma once

#include <functional>

#include "core/base/turns.h"

namespace tilescope::web {

// From now on work and the window do: `window` is called before each picture of the browser until it returns false, and may
// wait for work.
void take_turns(std::function<bool()> window);

// What runs just now may wait (Turns::wait).
bool may_wait();

}  // namespace tilescope::web
