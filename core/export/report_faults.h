// The report's part on faults: what analysis/hazards.h found, and the wrong elements of the result.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "core/analysis/hazards.h"
#include "core/trace/trace.h"

namespace tilescope::report {

nlohmann::ordered_json faults_to_json(const trace::Trace& trace, const analysis::Hazards& hazards);

//   faults
//     race on Mds, lines 22 and 34: 768 times in 16 blocks, both threads in one warp
//       Mds[0,0]: thread (0,0) stores at line 22 ...
std::string faults_to_text(const trace::Trace& trace, const analysis::Hazards& hazards);

}  // namespace tilescope::report
