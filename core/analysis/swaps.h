// What narrow requests to global memory would cost if other lanes did the same work: nothing is moved in memory.
//
//   loop      lane l does in a loop's trip t what lane t did in trip l: the loop and the lanes change places
//   threads   thread[y,x] does what thread[x,y] did, in blocks as wide as high: x and y change places
//
//   a[lane * n + t], t = 0, 1, ...       lanes a row apart, trips side by side: 32 sectors, swapped 4
//   M[threadIdx.x * n + threadIdx.y]     swapped: M[threadIdx.y * n + threadIdx.x]
//
// Worked out from the recorded addresses: the requests of a warp at a site, 32 trips at a time, or those of all warps
// of a block in the same trip, are dealt to lanes anew and judged again. Whether the program may be changed so is for
// its author to say: sums of a loop are then in other lanes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/analysis/remedy.h"

namespace tilescope::analysis {

enum class SwapKind : uint8_t { Loop, Threads };

struct SwappedSite {
    uint32_t site = 0;
    uint64_t requests = 0, least = 0;  // that were looked at, and the least that they cost
    uint64_t cost = 0, swapped = 0;    // sectors, or wavefronts of shared memory; as it is, and swapped
};
struct Swap {
    SwapKind kind = SwapKind::Loop;
    std::vector<SwappedSite> sites;
};

// Loop: the sites of global memory that would cost less. Threads: all sites of global and shared memory, if those of
// global memory cost less together. Nothing where that spares less than a quarter. An Error where it was stopped.
Result<std::vector<Swap>> swaps_of(const trace::Trace& trace, Stop stop = {});

// All that would help.
struct Improvements {
    std::vector<Remedies> arrays;
    std::vector<Swap> swaps;
};
Result<Improvements> improvements_of(const trace::Trace& trace, Stop stop = {});

}  // namespace tilescope::analysis
