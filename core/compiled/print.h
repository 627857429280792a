// A kernel as C: its micro-operations, by what is known of their values in one launch.
//
//   blocks of the kernel     labels; those with accesses stand there twice: for a whole warp, whose accesses are
//                            checked once for many and moved as vectors, and for a part of one
//   registers                s12  the same in all lanes, or the first lane's where lanes differ by a shape
//                            v12  a column       p8  a predicate, a bit a lane
//   a fault, and what is not understood    return kGivenUp: the block is run by the interpreter instead
#pragma once

#include <string>
#include <vector>

#include "core/compiled/values.h"

namespace tilescope::compiled {

// Accesses that are checked together.
struct Group {
    ptx::StateSpace space{};
    bool loads = false, stores = false;
};
inline constexpr uint32_t kSharedGroup = 0, kConstGroup = 1, kFirstGroup = 2;

struct Printed {
    std::string text;
    std::vector<Group> groups;        // from kFirstGroup on
    std::vector<int32_t> firsts;      // tables whose first lanes are Warp::firsts
    std::vector<int32_t> predicates;  // those whose words are Warp::predicates
    uint32_t saved_bytes = 0;         // of Warp::saved
};

Printed print(const simt::Program& program, const Values& values);

}  // namespace tilescope::compiled
