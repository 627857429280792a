// The list of a recording's faults and remarks: the one that record, report and the window say.
#pragma once

#include "core/hazards/hazards.h"

namespace tilescope::kernels {

// What core/hazards finds, said with what was read where running its blocks again is a matter of milliseconds.
analysis::Hazards judged(const analysis::Recording& recording, const analysis::HazardOptions& options = {});

}  // namespace tilescope::kernels
