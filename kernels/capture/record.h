// Records a launch of a running program, before the program's own launch goes on:
//
//   what its pointers lead to is saved      whole allocations, as the driver knows them
//   the instrumented kernel runs            in the program's context, on the very arguments; each run begins with the
//                                           memory put back
//   the memory is put back                  and the program's launch begins as if nothing had been
//
//   parameters   | a | n | b |              a, b: addresses that lie in an allocation
//   allocation   | ....... a ++++++++ b +++++ ..... |    arrays: from a pointer to the next one, cut behind what the
//                                                         recording touches
//
// Of arguments that a Python program has named (--python) the arrays are its tensors, by their names and shapes.
//
// Launches that cannot be recorded so are refused before anything is touched: cooperative ones, those that are
// captured into a graph, and kernels that take memory from the device's heap.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/capture/driver_calls.h"
#include "kernels/capture/launch_rows.h"
#include "kernels/gpu/driver.h"
#include "kernels/launched/describe.h"
#include "kernels/launched/tensor_maps.h"

namespace tilescope::capture {

// A launch as the driver is given it.
struct SeenLaunch {
    LaunchShape shape;
    void* stream = nullptr;
    void** parameters = nullptr;  // or:
    void** extra = nullptr;
    bool cooperative = false;
    Dim3 cluster;
    // What a Python program says of its arguments, as a launch.json; empty for nothing (kernels/alone/written.h).
    std::string told;
    const launched::DriverMaps* maps = nullptr;  // that the program has had made
};

// The bytes of each parameter. sizes, alignments: in bytes, of each. Empty where the launch has none of the two ways.
std::vector<std::vector<std::byte>> parameter_bytes(const SeenLaunch& launch,
                                                    const std::vector<uint64_t>& sizes,
                                                    const std::vector<uint64_t>& alignments);

// Why such a launch cannot be recorded; "" where it can.
std::string why_not_recorded(const SeenLaunch& launch);

struct ModuleToRecord {
    std::string ptx, name;   // its text, and what that is called
    std::string entry;       // of the kernel
    void* module = nullptr;  // the program's own CUmodule, which has its variables
};

// The path of the recording goes to `recorded`. number: of the launch.
launched::CapturedLaunch record_launch(const CaptureApi& api, gpu::Device& device, const ModuleToRecord& of,
                                       const SeenLaunch& launch, const launched::Orders& orders,
                                       uint64_t number);

}  // namespace tilescope::capture
