// atom and red on the words of a warp's lanes, one after the other, lowest first; and of elements side by side.
#pragma once

#include <cstddef>
#include <optional>

#include "core/simt/program.h"

namespace tilescope::simt {

// host: where the lanes' words lie, aligned. global: in global memory, whose words other threads may change at the same
// time, the host program's too. d: what each lane found, a column; b, c: its operands; returned, stored [32]: what was
// found and left.
void update_lanes(const MemoryAccess& access, uint32_t mask, bool global, std::byte* const* host,
                  std::byte* d, const std::byte* b, const std::byte* c, uint64_t* returned, uint64_t* stored);

// How a copy in bulk updates elements of a type (cp.reduce.async.bulk): add, min, max, inc, dec, and, or, xor. Nothing where
// none does.
std::optional<MemoryAccess> bulk_update(ptx::Atomic how, ptx::Type element);
// Updates elements of global memory, each as one by its like in `by`, which then holds what was left there. bytes: of whole
// elements.
void update_row(const MemoryAccess& access, std::byte* to, std::byte* by, size_t bytes);

}  // namespace tilescope::simt
