// What recording needs: the code, the launch, and how to tell whether its result is right.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "core/base/launch.h"
#include "core/base/result.h"
#include "core/simt/memory.h"
#include "core/trace/trace.h"

namespace tilescope::kernels {

// Holds the outputs of a whole recording against what they must be. The memory is the launch's as the kernel
// left it: buffers in the order of the global arrays. Nothing is checked where `stop` ends it early.
using Check = std::function<trace::Verification(const trace::Trace&, const simt::GlobalMemory&,
                                                unsigned threads, const std::atomic<bool>* stop)>;

struct Plan {
    std::string kernel;  // what people call it: "tiled"
    // entry: the kernel's name in the PTX, or empty for the only one there. Global arrays whose base is 0 are
    // placed when the launch is made ready; shared arrays that nobody names are found in the PTX then.
    Launch launch;
    Schedule schedule;                // the order of warps, where none is asked for
    std::string source_name, source;  // "tiled.cu" and its text; the text is empty where it is not known
    std::string ptx_name, ptx;        // "tiled.t16.ptx" and its text
    Check check;                      // empty: the result is not checked
    std::shared_ptr<const ptx::Module> module{};  // the PTX parsed, where that was done before
    bool exchanges = true;                        // those among the lanes of a warp are steps
};

// Bases for the global arrays that have none yet (simt::place_buffers), in their order.
void place_arrays(Launch& launch);
// Gives tensor maps among its arguments the addresses of their arrays (Argument::map_of).
void place_maps(Launch& launch);

}  // namespace tilescope::kernels
