// What the report and the exports say the same way in JSON, and the report's part on faults: what
// core/hazards/hazards.h found, and the wrong elements of the result.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/hazards/hazards.h"
#include "core/trace/trace.h"

namespace tilescope::report {

// {"m","k","n","tile"} of a product; {} of any other launch.
nlohmann::ordered_json sizes_to_json(const analysis::Recording& recording);
// {"m","k","n","tile","grid":[x,y,z],"block":[x,y,z]} of a product; of any other launch
// {"entry","grid","block","dynamic_shared","arguments":[{"name","type","value" or "array" and "offset"}]}.
nlohmann::ordered_json launch_to_json(const analysis::Recording& recording);
// [row,col]; [col] of an array of one extent, [slice,row,col] of three.
nlohmann::ordered_json index_to_json(const Array& array, uint64_t element);

nlohmann::ordered_json faults_to_json(const trace::Trace& trace, const analysis::Hazards& hazards);

//   faults
//     race on Mds, lines 22 and 34: 768 times in 16 blocks, both threads in one warp
//       Mds[0,0]: thread[0,0] stores at line 22 ...
std::string faults_to_text(const trace::Trace& trace, const analysis::Hazards& hazards);

}  // namespace tilescope::report
