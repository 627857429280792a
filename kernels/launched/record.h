// Chosen launches become recordings: the arrays with what they hold before the launch, run and recorded by
// kernels::record_cpu, and what the kernel left put back into device memory.
//
//   all blocks        the recorded run is the launch
//   some (--blocks)   these are recorded from the contents before; the launch itself runs unrecorded
//   too many          the same with the first blocks, as many as find room
//   not possible      the launch runs unrecorded, and the line of the launch says why
//   on a GPU          recorded there, or by the interpreter where it cannot be; then memory is put back, and
//                     the launch runs unrecorded
//
// The arrays are the allocations that arguments point to, pointers in structs among them, and the module's
// variables that the kernel names (describe.h). Where a kernel finds its way to other memory, through a
// pointer that lies in memory, the recording is begun again with that memory as one more array.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/simt/interpreter.h"
#include "core/trace/trace.h"
#include "kernels/launched/describe.h"
#include "kernels/launched/memory.h"
#include "kernels/launched/orders.h"
#include "kernels/launched/tensor_maps.h"

namespace tilescope::launched {

// What a recording needs of the program that launches.
struct LaunchingProgram {
    const Orders& orders;
    const std::string& source;  // text of its source; empty where it is not known
    KnownMemory& memory;
    DeviceHeap& heap;
    gpu::Device* device;     // the GPU that its launches run on; null: the interpreter
    const DriverMaps& maps;  // that this GPU's driver has made for it
};

// What the recording of a launch is called: KERNEL.NUMBER.tsc.
std::string file_name(const std::string& kernel, uint64_t number);

// Whether every request lies in one of the arrays: those that do not, go to memory that the recording does
// not know, or to nobody's.
bool inside_arrays(const trace::Trace& trace);

// Whether the program's launch of that number is to be recorded.
bool is_chosen(const Orders& orders, const LoadedKernel& kernel, uint64_t number);

struct RecordedLaunch {
    bool ran = false;  // the launch is done: device memory is as it left it
    std::optional<simt::Fault> fault;
    bool stopped = false;
    std::string path, why_not;        // path of the recording, or why there is none
    std::vector<uint64_t> stored;     // bases of the allocations that it changed, where it ran
    std::vector<LaunchFault> faults;  // what the recording proves
    std::string remark;               // what else is to be known of it; empty
};
// run: how the launch itself would run.
RecordedLaunch record(const LaunchingProgram& program, const LoadedKernel& kernel, const Launch& launch,
                      uint64_t number, const simt::RunOptions& run);

}  // namespace tilescope::launched
