// Which addresses of a kernel are the same function of the lane at every execution of a site.
//
// A value of a launch is, in every thread of a block,
//
//     uniform + x * tid.x + y * tid.y + z * tid.z        (modulo 2^32 or 2^64)
//
// where the uniform part is anything that all threads of the block share (a loop counter, blockIdx,
// a parameter) and x, y, z are known numbers: the launch's parameters and block are given, so that
// `row * k` has the coefficient k. An address of that form needs no lane but one to be recorded: the
// others lie at known distances from it.
//
// A number that a thread makes of its own number alone, by and, or, xor and shifts to the right as addresses are swizzled,
// is one more summand, known for each thread. Where it makes the lanes of each warp of a block lie at the same distances,
// an address needs no more than one lane either.
//
// The analysis is conservative. A register that is assigned more than once is uniform only where no
// branch that threads may take differently decides which assignment it holds; what is loaded from
// memory, and what is made by operations other than adding, subtracting, scaling and shifting
// left, is unknown unless all its operands are uniform.
//
// Widening a 32-bit value to 64 bits keeps the form only where no lane wraps around. Such
// instructions are listed: if in every thread -2^30 <= value < 2^30, lanes that lie less than 2^30
// apart modulo 2^32 lie that far apart exactly, so whoever relies on a site must check
// that range of the listed operands while the kernel runs.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <vector>

#include "core/base/launch.h"
#include "core/ptx/ast.h"
#include "core/ptx/sites.h"

namespace tilescope::ptx {

// What is known of a launch before it runs.
struct LaunchFacts {
    Dim3 grid, block;
    std::vector<uint64_t> parameters;  // as the launch binds them, in order
};

// How a site's address differs from lane to lane.
struct LaneShape {
    bool affine = false;          // else each lane's address is anyone's guess
    int64_t x = 0, y = 0, z = 0;  // bytes for a step of tid.x, tid.y, tid.z
    bool operator==(const LaneShape&) const = default;
};

// A widening that some address relies on.
struct Widening {
    uint32_t instruction = 0;  // it widens its one source that is not the same in all lanes
    uint8_t operand = 0;       // which of its operands that is
    bool is_signed = false;    // -2^30 <= value < 2^30 must hold; unsigned: value < 2^30
};

struct AffineAddresses {
    std::vector<LaneShape> shapes;  // by site id; barriers have none
    // By site, of some that are not affine: how far each lane's address lies above lane 0's, in every warp.
    std::map<uint32_t, std::array<uint64_t, kWarpSize>> distances;
    std::vector<Widening> widened;  // ascending by instruction
};

AffineAddresses affine_addresses(const Kernel& kernel, const std::vector<Site>& sites,
                                 const LaunchFacts& facts);

}  // namespace tilescope::ptx
