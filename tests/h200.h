// The device that most tests of modelled traffic and times stand on, with what is known of its caches.
#pragma once

#include "core/levels/levels.h"
#include "kernels/textbook/devices.h"

namespace tilescope {

inline analysis::LevelDevice h200() {
    return {*kernels::device_named("h200"), *kernels::find_levels("h200")};
}

}  // namespace tilescope
