// What is said about time: whose it is, what recording it cost, and how long the kernel really takes.
//
// A modelled time is never said. A measured one is named with the device that it was measured on.
#pragma once

#include <string>
#include <vector>

#include "core/trace/trace.h"
#include "kernels/timings.h"

namespace tilescope::view {

// "SM clocks, NVIDIA H200"; "logical steps, CPU lockstep".
std::string time_kind(const trace::Meta& meta);

// Who recorded it: "NVIDIA H200, driver 580.159.04, 3 launches"; "CPU lockstep".
std::string recorder(const trace::Meta& meta);

// "Recording took 4.1 times the kernel's own time: 1.20 ms against 0.29 ms."; "" where it was not measured.
std::string price_text(const trace::Meta& meta);

// The kernel's time beside the untiled kernel's (the untiled ones': beside the tiled kernel's), in one
// sentence:
//
//   tiled 0.290 ms, untiled 1.31 ms at width 1024, T=16: 4.5 times faster; measured on NVIDIA H200.
//   No times measured at width 64, T=16. Nearest: tiled 6.10 µs, untiled 7.32 µs at width 256, T=16: ...
//
// Both times are of one launch and one device: of the recording's own where there are timings of it, else
// of the first that measured both. A recording that timed its kernel itself says that time. Widths are near
// by the ratio of their work, m k n.
std::string times_text(const trace::Meta& meta, const std::vector<kernels::Timings>& timings);

// Three digits: "128 ms", "1.31 ms", "0.290 ms", "6.10 µs".
std::string milliseconds(double ms);

}  // namespace tilescope::view
