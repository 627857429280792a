// The devices of assets/devices, built into the program, and what is known of their levels of memory.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/levels/spec.h"
#include "core/limits/device_spec.h"

namespace tilescope::kernels {

// Ascending by compute capability.
const std::vector<analysis::SmLimits>& sm_limits();
const std::vector<analysis::DeviceSpec>& devices();

// Finds a device by id ("rtx-3090"), name ("GeForce RTX 3090", in any case of letters) or compute capability
// ("8.6",
// "cc8.6": the first device of it); the error says what to give.
Result<analysis::DeviceSpec> device_named(std::string_view word);

// The device of a name as drivers say it ("NVIDIA H200"), null where none is known.
const analysis::DeviceSpec* find_driver_name(std::string_view name);

// The levels of a device by its id; null where nothing is known of them.
const analysis::LevelSpec* find_levels(std::string_view id);
// The devices whose levels are known; and by their ids, "h100 or h200".
const std::vector<const analysis::DeviceSpec*>& level_devices();
std::string level_devices_text();
// The one that is taken where nobody asks for another: its constants were measured.
inline constexpr const char* kLevelDevice = "h200";

}  // namespace tilescope::kernels
