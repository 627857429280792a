// A launch's global arrays on a device: one allocation, so that all addresses have the same high half where
// they can.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/gpu/driver.h"
#include "kernels/run/ready.h"

namespace tilescope::gpu {

struct DeviceArrays {
    Memory memory;
    std::vector<uint64_t> base;        // by array of the launch: device address; 0 for shared ones
    std::vector<uint64_t> parameters;  // of the kernel: its arguments with these addresses
    bool same_high = false;            // they lie within one 4 GiB whose addresses begin with `high`
    uint32_t high = 0;
};

// Allocates the arrays with the gaps that the launch leaves between them, and fills them from it.
Result<DeviceArrays> place_arrays(Device& device, const kernels::ReadyLaunch& ready);

// Fills them again, as the launch begins.
Result<void> upload_arrays(Device& device, const DeviceArrays& arrays, const kernels::ReadyLaunch& ready);

// Brings the outputs back into ready.memory.
Result<void> download_outputs(Device& device, const DeviceArrays& arrays, kernels::ReadyLaunch& ready);

}  // namespace tilescope::gpu
