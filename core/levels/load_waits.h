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
    // Nor in one where so many comparisons are too few: pairs of loads by basic blocks.
    static constexpr size_t kMostCompared = size_t{1} << 30;
    LoadWaits(const ptx::Kernel& kernel, const ptx::ControlFlow& flow, const std::vector<ptx::Site>& sites);

    // The loads whose data have to be there before a load can be asked for; all are sites. They come earlier
    // in the text's order of execution, loops left out.
    const std::vector<uint32_t>& waited_for(uint32_t load) const { return waited_for_[load]; }

private:
    std::vector<std::vector<uint32_t>> waited_for_;  // by site
};

}  // namespace tilescope::analysis
