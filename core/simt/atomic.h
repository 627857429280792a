// atom and red on the words of a warp's lanes, one after the other, lowest first.
#pragma once

#include "core/simt/program.h"

namespace tilescope::simt {

// host: where the lanes' words lie, aligned. global: in global memory, whose words other threads may change at the same
// time, the host program's too. d: what each lane found, a column; b, c: its operands; returned, stored [32]: what was
// found and left.
void update_lanes(const MemoryAccess& access, uint32_t mask, bool global, std::byte* const* host,
                  std::byte* d, const std::byte* b, const std::byte* c, uint64_t* returned, uint64_t* stored);

}  // namespace tilescope::simt
