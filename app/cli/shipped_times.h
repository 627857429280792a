// Where there is no GPU: the rows of the times that ship that a call of `tilescope time` asks for.
#pragma once

#include <optional>
#include <vector>

#include "app/cli/time_options.h"
#include "kernels/textbook/timings.h"

namespace tilescope::cli {

// From the first device whose times of that compiler's PTX have every kernel, size and tile width of the job,
// in the job's order. cuBLAS is left out where it was not measured, unless nothing else was asked for.
std::optional<kernels::Timings> shipped_times(
    const TimeJob& job, const std::string& compiler,
    const std::vector<kernels::Timings>& shipped = kernels::shipped_timings());

}  // namespace tilescope::cli
