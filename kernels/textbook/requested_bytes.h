// How many bytes the threads of a launch ask global memory for, from recordings.
//
// What a block asks for depends on where the matrices end inside it, and on nothing else of its place. So
// there are four kinds of blocks at most:
//
//     interior  ...  interior  right edge         a matrix of one whole tile and what is left over has one
//        :              :          :              block of each kind; recorded on the CPU, each counts as
//     bottom edge    ...         corner           often as the launch has its kind
//
// k stays as it is. Sums are exact for all kernels that ship: tests compare them with whole recordings.
#pragma once

#include <cstdint>

#include "core/base/result.h"
#include "kernels/textbook/catalogue.h"

namespace tilescope::kernels {

struct RequestedBytes {
    uint64_t loaded = 0, stored = 0;
};

// Counted from the plan's own PTX. threads: CPU threads, 0 for all.
Result<RequestedBytes> requested_bytes(const TextbookPlan& plan, unsigned threads = 0);

}  // namespace tilescope::kernels
