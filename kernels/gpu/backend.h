// Where a recording is made: one decision, for the window and the command line alike.
//
//   cpu    the lockstep interpreter: every machine, any order of warps, logical steps
//   gpu    the instrumented kernel on NVIDIA's GPU: real clocks
//   auto   the GPU where there is one that records, else the CPU; a chosen order of warps is the CPU's,
//          since a GPU has its own
//
// With auto a GPU that cannot record (no driver, a compute capability that the PTX is too new for, a kernel
// that faults) is no failure: the CPU records, and a sentence says why. Asked for by name, it is an Error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace tilescope::trace {
struct Trace;
}
namespace tilescope::kernels {
struct Plan;
}

namespace tilescope::gpu {

struct GpuRecordOptions;  // record_gpu.h, which only those who record need

enum class BackendChoice : uint8_t { Auto, Cpu, Gpu };

inline constexpr const char* kBackendNames[] = {"auto", "cpu", "gpu"};  // in the order of BackendChoice
std::optional<BackendChoice> backend_of(std::string_view name);

// What a GPU would add, for places that must say that there is none.
inline constexpr const char* kWithAGpu =
    "With an NVIDIA GPU, kernels are recorded while they really run, with the clocks of its SMs and measured "
    "times.";

// Records, and leaves in `said` on what, and why where auto had to leave a GPU: "on the GPU, NVIDIA H200,
// ...", "on the CPU, in lockstep", "on the CPU, in lockstep, because ...". The options beyond `common` are
// the GPU's and do nothing on a CPU.
Result<trace::Trace> record(const kernels::Plan& plan, const GpuRecordOptions& options, BackendChoice choice,
                            std::string& said);

}  // namespace tilescope::gpu
