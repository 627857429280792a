// How many registers an instrumented kernel may use.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/gpu/driver.h"

namespace tilescope::gpu {

// Loads the instrumented kernel with so few registers that as many blocks share an SM as of the plain one:
// blocks outside the window then run as they would have. Where all blocks are recorded, fewer blocks are
// better than registers that go to memory and back.
//   plain: the kernel as it is; warps: of a block; all_recorded: no block runs outside the window
Result<Function> load_recording(Device& device, const std::string& ptx, const std::string& ptx_name,
                                const std::string& kernel, const Function& plain, uint64_t warps,
                                bool all_recorded);

}  // namespace tilescope::gpu
