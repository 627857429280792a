// When a block's barriers let its warps go on.
//
//   warp 0  arrives | ............ waits ............ | asks
//   warp 1            arrives late                    | asks
//                          ^ last arrival             ^ no request before this
//
// A warp issues on for a moment behind BAR.SYNC, whose blocking is deferred, and so it may read the clock of
// its next record before the barrier has let it go (seen on an H200: up to some 170 clocks). The request
// itself cannot be made before the last warp has arrived. So the clock of what follows a barrier counts as
// one after the last arrival at least: times then never contradict what a barrier means.
#pragma once

#include <cstdint>
#include <vector>

#include "core/trace/device_records.h"

namespace tilescope::trace {

// The last arrival at each barrier of a block, in order. Empty where arrivals cannot be matched: named or
// partial barriers, or a warp that comes in different parts. Reads the streams to their ends.
std::vector<uint64_t> last_arrivals(const DeviceLayout& layout, std::vector<StreamReader> readers);

}  // namespace tilescope::trace
