// `tilescope report`: the sums of a recording as JSON (schema tilescope.report/1) or as text.
//
// JSON holds every number as a number, 0 where it does not apply (the wavefronts of a global site, the
// sectors of a shared one). Besides the schema's keys there may be
//   "array": null              a site that nothing was recorded at, or that touched no known array
//   "incomplete_reason"        the sentence that says why "complete" is false
//   "launch"                   m, k, n and tile of a product, entry and arguments of any other launch
//   "result": "checked":false  the result was not checked; "verified" is then false too
//   "faults": [...]            what core/hazards/hazards.h finds, where it was asked for; [] where
//                              nothing is at fault. Threads and blocks are [x,y,z], cells
//                              [row,col]; "step" counts from 1; "phase" is null behind the loop
//   "faults_not_judged"        the sentence that says what could not be looked at
//   "wrong", "wrong_elements"  of a result that is not verified: how many, and the first of them as [row,col]
// "max_abs_error" is null where the result holds a NaN (JSON knows none). "complete" is true only for a
// recording that holds every step of every block of its window and dropped nothing.
#pragma once

#include <string>

#include "core/analysis/summary.h"
#include "core/hazards/hazards.h"
#include "core/trace/trace.h"

namespace tilescope::report {

// hazards: null leaves the faults out.
std::string to_json(const analysis::Recording& recording, const analysis::Summary& summary,
                    const analysis::Hazards* hazards = nullptr);
std::string to_text(const analysis::Recording& recording, const analysis::Summary& summary,
                    const analysis::Hazards* hazards = nullptr);

// Whether sums over the recording are sums over all that its blocks did; if not, the sentence that says so.
bool whole(const trace::Trace& trace);
std::string why_not_whole(const trace::Trace& trace);

}  // namespace tilescope::report
