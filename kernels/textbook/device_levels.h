// What is known of the memory levels of the devices that ship (assets/devices).
#pragma once

#include <string_view>

#include "core/levels/spec.h"

namespace tilescope::kernels {

// By a device's id; null where nothing is known of its levels.
const analysis::LevelSpec* find_levels(std::string_view id);

// The one that is taken where nobody asks for another: its constants were measured.
inline constexpr const char* kLevelDevice = "h200";

}  // namespace tilescope::kernels
