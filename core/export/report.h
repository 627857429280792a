// `tilescope report`: the sums of a recording as JSON (schema tilescope.report/1) or as text.
//
// JSON holds every number as a number, 0 where it does not apply (the wavefronts of a global site, the
// sectors of a shared one). Besides the schema's keys there may be
//   "array": null              a site that nothing was recorded at, or that touched no known array
//   "efficiency"               bytes that lanes asked for, of those of the sectors; null without a sector
//   "idle_lanes"               lanes of all requests' warps that touched nothing, and all lanes of those warps
//   "incomplete_reason"        the sentence that says why "complete" is false
//   "launch"                   m, k, n and tile of a product, entry and arguments of any other launch
//   "result": "checked":false  the result was not checked; "verified" is then false too
//   "faults": [...]            what core/hazards/hazards.h finds, where it was asked for, remarks too (their
//                              "severity" says so); [] where nothing is at fault. Threads and blocks are [x,y,z], cells
//                              [row,col]; "step" counts from 1; "phase" is null behind the loop
//   "faults_not_judged"        the sentence that says what could not be looked at
//   "remedies": [...]          what core/analysis/remedy.h finds for arrays whose requests cost more than the least:
//                              what their sites cost now and with each remedy; by "row_bytes" and "padding" in
//                              elements, or by "swizzle": [bits, base, shift] of byte offsets
//   "swaps": [...]             what core/analysis/swaps.h finds: what sites cost, and would with other lanes
//   "held_blocks"              how many blocks were run again when the recording was opened, and did its steps
//   "wrong", "wrong_elements"  of a result that is not verified: how many, and the first of them as [row,col]
// "max_abs_error" is null where the result holds a NaN (JSON knows none). "complete" is true only for a
// recording that holds every step of every block of its window and dropped nothing.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/analysis/summary.h"
#include "core/analysis/swaps.h"
#include "core/hazards/hazards.h"
#include "core/trace/trace.h"

namespace tilescope::report {

// hazards, improvements: null leaves them out. held: how many blocks were run again and did the recorded steps.
std::string to_json(const analysis::Recording& recording, const analysis::Summary& summary,
                    const analysis::Hazards* hazards = nullptr, uint64_t held = 0,
                    const analysis::Improvements* improvements = nullptr);
std::string to_text(const analysis::Recording& recording, const analysis::Summary& summary,
                    const analysis::Hazards* hazards = nullptr, uint64_t held = 0,
                    const analysis::Improvements* improvements = nullptr);

// Whether sums over the recording are sums over all that its blocks did; if not, the sentence that says so.
bool whole(const trace::Trace& trace);
std::string why_not_whole(const trace::Trace& trace);

// --- what the report and the exports say the same way

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

//   what would free Nds   line  requests  wavefronts  ideal  padding 1  Swizzle<5,2,5>
//   shared store            22       512       4 096    512        512             512
//     padding 1: rows of 33 elements in place of 32; 128 bytes more
std::string improvements_to_text(const trace::Trace& trace, const analysis::Improvements& improvements);
nlohmann::ordered_json remedies_to_json(const trace::Trace& trace,
                                        const std::vector<analysis::Remedies>& all);
nlohmann::ordered_json swaps_to_json(const trace::Trace& trace, const std::vector<analysis::Swap>& swaps);

}  // namespace tilescope::report
