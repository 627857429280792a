// Which loads of a kernel wait for each other.
//
// A warp has its loads of global memory under way together until it needs what one of them brings. Which
// loads it asks for before that is up to ptxas, which moves loads up within straight code, and makes straight
// code of a branch that skips a few instructions; it moves none past other branches, nor past barriers. So a
// load waits for an earlier one where its address needs what that brings, or where a branch or a barrier
// stands between a use of that and itself:
//
//     if (aligned) a = ld else a = ...; st a; if (aligned) b = ld else ...      b waits for a
//     if (inside) a = ld; st a; if (inside) b = ld; st b                        both are under way together
//     a = ld; st a; barrier; b = ld                                             b waits for a
//
// Source: cuobjdump of vector_loads and of tiled, whose loads are those.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ptx/cfg.h"
#include "core/ptx/sites.h"

namespace tilescope::analysis {

class LoadWaits {
public:
    // In a kernel with more loads than this none is said to wait, as each is compared with every other one.
    static constexpr size_t kMost = 512;
    LoadWaits(const ptx::Kernel& kernel, const ptx::ControlFlow& flow, const std::vector<ptx::Site>& sites);

    // Whether a load can be asked for only when an earlier one's data are there; both are sites. The earlier
    // one comes first in the text's order of execution, loops left out.
    bool waits(uint32_t load, uint32_t earlier) const {
        const int32_t a = number_[load], b = number_[earlier];
        return a >= 0 && b >= 0 && waits_[static_cast<size_t>(b) * count_ + static_cast<size_t>(a)] != 0;
    }

private:
    std::vector<int32_t> number_;  // by site: of loads of global memory, -1 for others
    size_t count_ = 0;
    std::vector<uint8_t> waits_;  // by earlier load and load
};

}  // namespace tilescope::analysis
