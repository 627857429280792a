// A recording that is opened, held against its own code.
//
// A file says which steps its blocks did, and brings the PTX, the arguments and the contents that they came of. So
// some of its blocks are run again and every step is compared: the site, the warp, the lanes and their addresses.
// A recording that differs is not whole, and its result counts for nothing.
//
//   which blocks    the first, the last and others spread between them, while they take few steps
//   which launches  those whose blocks do the same steps in any order: nothing is loaded from an array that is
//                   stored to, nothing depends on a clock or an SM's number. Where the result is said to be
//                   verified, all of them; each element of it that such a block stores is computed again as well
//
// What takes more memory or instructions than is spared for this is not held; held() says how many blocks were.
#pragma once

#include <cstdint>

#include "core/base/result.h"
#include "core/trace/trace.h"

namespace tilescope::kernels {

// The trace of a file, with the number of blocks that were run again and were the same. It is marked as not whole
// where one was not.
struct HeldTrace {
    trace::Trace trace;
    uint64_t blocks = 0;
};
HeldTrace held(trace::Trace trace);
// The same of what a reader gave.
Result<trace::Trace> held(Result<trace::Trace> read);

}  // namespace tilescope::kernels
