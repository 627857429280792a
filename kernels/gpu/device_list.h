// What GPUs there are, as the driver states it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "kernels/gpu/driver.h"
#include "kernels/gpu/driver_api.h"

namespace tilescope::gpu {

inline constexpr int kOldestMajor = 7;  // Volta: the first whose threads each have a program counter

// Starts the driver and asks it. An error where there is no GPU.
Result<std::vector<DeviceInfo>> list_devices(const DriverApi& api);

// The version in the text of /proc/driver/nvidia/version: "580.159.04", "" where there is none.
std::string version_in(std::string_view proc_text);

// The driver's version from /proc or NVML, "" where neither tells.
std::string driver_version();

}  // namespace tilescope::gpu
