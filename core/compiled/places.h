// What a micro-operation reads and writes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/simt/program.h"

namespace tilescope::compiled {

// One column or predicate that a micro-operation reads or writes.
struct Place {
    simt::Ref ref = 0;
    uint8_t bytes = 0;  // of a slot; 0: a predicate
    bool is_written = false, is_read = false;
};

// The columns that a micro-operation reads and writes; false where its kind is not one of compiled kernels.
bool places_of(const simt::Program& program, uint32_t op, std::vector<Place>& places);

// Whether its result in a lane follows from what that lane holds, and from nothing else.
bool is_own(const ptx::Operation& does);

// Whether the micro-operation is what lanes do together behind a Converge.
bool follows_converge(const simt::Program& program, uint32_t op);

}  // namespace tilescope::compiled
