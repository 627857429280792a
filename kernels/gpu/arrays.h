// A launch's global arrays on a device: one allocation, so that if possible addresses have the same high
// half.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "kernels/gpu/driver.h"
#include "kernels/run/ready.h"

namespace tilescope::gpu {

// Where an array lies already.
struct ArrayPlace {
    uint64_t address = 0;
    std::byte* host = nullptr;  // its address for the host, where it is the host's memory
    bool kept = false;          // what it holds is there, and is put back by somebody else
};

struct DeviceArrays {
    Memory memory;                     // holds the arrays that have no place of their own
    std::vector<ArrayPlace> places;    // by array of the launch; empty: all lie in `memory`
    std::vector<uint64_t> base;        // by array of the launch: device address; 0 for shared ones
    std::vector<uint64_t> parameters;  // the kernel's parameters: its arguments with these addresses
    std::map<size_t, std::vector<std::byte>> objects;  // as LaunchOptions has them
    bool same_high = false;  // all lie within one 4 GiB whose addresses begin with `high`
    uint32_t high = 0;
};

// Fills the arrays from the launch: those that have a place where they are, the others in memory that it
// allocates, with the gaps that the launch leaves between them. Variables of the module have no address
// before it is loaded. A launch whose objects hold addresses can be recorded in its places only, but for tensor maps of
// Tilescope's own, which are encoded anew.
Result<DeviceArrays> place_arrays(Device& device, const kernels::ReadyLaunch& ready,
                                  const std::vector<ArrayPlace>& places = {});

// The tensor map that a launch has at an address or so many bytes behind its first parameter: among its maps, in what an
// array of it holds in the beginning, or in an argument. parameters: where each of them begins.
std::optional<PlacedMap> map_in_launch(const Launch& launch, const std::vector<uint64_t>& parameters,
                                       uint64_t address, bool in_parameters);

// Gives the arrays that are variables the addresses that they have in this module, and writes to them, and to
// its constants, what the launch has.
Result<void> place_variables(Device& device, DeviceArrays& arrays, const std::shared_ptr<void>& module,
                             const kernels::ReadyLaunch& ready);

// Fills them again, as the launch begins, but for those that somebody else does.
Result<void> upload_arrays(Device& device, const DeviceArrays& arrays, const kernels::ReadyLaunch& ready);

// Brings the outputs back into ready.memory, but for those in a place that is kept.
Result<void> download_outputs(Device& device, const DeviceArrays& arrays, kernels::ReadyLaunch& ready);

}  // namespace tilescope::gpu
