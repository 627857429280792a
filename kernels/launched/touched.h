// Which parts of its arrays a window of blocks touches, for launches whose arrays are larger than a recording
// may be.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "core/base/launch.h"
#include "core/simt/interpreter.h"
#include "kernels/launched/memory.h"

namespace tilescope::launched {

// By base of each allocation that the blocks touch: how many of its first bytes hold all that they do. They run in
// a copy of this process (fork(2)), whose pages are copied as they are written, so that memory stays as it is.
// Nothing where they do not end in some seconds, or fail.
std::optional<std::map<uint64_t, uint64_t>> touched_by(const simt::Program& program, const Launch& launch,
                                                       const KnownMemory& memory, const BlockWindow& window);

// Cuts the arrays to these parts, rounded up; elements keep their indices.
void cut_arrays(Launch& launch, const std::map<uint64_t, uint64_t>& touched);

uint64_t bytes_of_arrays(const Launch& launch);  // of those in global memory

}  // namespace tilescope::launched
