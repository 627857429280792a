// One register in every thread of a block, as far as it is known; and what an instruction makes of it.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ptx/affine.h"

namespace tilescope::ptx {

inline constexpr uint64_t kMeeting = uint64_t{1} << 63;  // AffineValue::definition: a block where paths met

// uniform part + x * tid.x + y * tid.y + z * tid.z, modulo the register's width. Predicates: affine with
// zero coefficients where all threads agree. The default knows nothing.
struct AffineValue {
    bool affine = false;
    bool constant = false;  // the uniform part is `number`
    uint64_t number = 0;
    uint64_t definition = 0;      // else it is what this definition made
    int32_t block = -1;           // basic block that holds the definition
    int64_t x = 0, y = 0, z = 0;  // of 32-bit registers, in the range of 32 bits

    bool uniform() const { return affine && x == 0 && y == 0 && z == 0; }
    bool number_alone() const { return uniform() && constant; }
};

bool same(const AffineValue& a, const AffineValue& b);
// One of the two, all threads of the block the same one: affine where the coefficients are equal. A
// constant where both are; else the caller names the meeting.
AffineValue join(const AffineValue& a, const AffineValue& b);

// Changes the registers that an instruction writes. Returns the operand that it widens, where that is not the
// same in all threads and the result is claimed to be affine; else -1.
int apply(const Kernel& kernel, const LaunchFacts& facts, uint32_t instruction, int32_t block,
          std::vector<AffineValue>& values);

}  // namespace tilescope::ptx
