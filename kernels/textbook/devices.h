// The devices that the program knows, from assets/devices, built into it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/limits/device_spec.h"

namespace tilescope::kernels {

// Ascending by compute capability.
const std::vector<analysis::SmLimits>& sm_limits();
const std::vector<analysis::DeviceSpec>& devices();

// By id ("rtx-3090"), name ("GeForce RTX 3090", in any case of letters) or compute capability ("8.6",
// "cc8.6": the first device of it); the error says what to give.
Result<analysis::DeviceSpec> device_named(std::string_view word);

// The device of a name as drivers say it ("NVIDIA H200"), null where none is known.
const analysis::DeviceSpec* find_driver_name(std::string_view name);

}  // namespace tilescope::kernels
