// A launch's way through the memory levels (core/levels/levels.h), of a recording or of a plan of any size.
//
// A plan is not recorded whole. The blocks of two corners of its grid are, and all others are these,
// relocated (core/levels/corner_blocks.h). A kernel for which that is not true is recorded whole, unless too
// large.
#pragma once

#include "core/base/result.h"
#include "core/levels/levels.h"
#include "core/trace/trace.h"
#include "kernels/run/plan.h"

namespace tilescope::kernels {

// Of a launch that is yet to be recorded, on the CPU.
Result<analysis::Levels> levels_of(const Plan& plan, const analysis::LevelDevice& on,
                                   const analysis::LevelOptions& options);
// Of a recording: of all of its blocks where it holds the whole grid, else as of its plan.
Result<analysis::Levels> levels_of(const trace::Trace& trace, const analysis::LevelDevice& on,
                                   const analysis::LevelOptions& options);

}  // namespace tilescope::kernels
