// A recording as one JSON object, schema tilescope.trace/1, written as it goes:
//
//   { "schema": "tilescope.trace/1",
//     "tool_version", "kernel", "backend": "cpu" or "gpu", "device", "driver",
//     "time": "SM clocks since the block's first step" or "none: the order of the steps",
//     "clock_mhz"           GPU recordings that state it
//     "launch": {"m","k","n","tile","grid":[x,y,z],"block":[x,y,z]}      of a product; of any other launch
//               {"entry","grid","block","dynamic_shared","arguments":
//               [{"name","type","value" or "array","offset"}]},
//     "seed"                where arrays were filled from one
//     "complete", "incomplete_reason"     as in tilescope.report/1
//     "arrays": [{"name","space","rows","cols","element_bytes","base"}],
//               and "type" where it is not "f32", "slices" of three extents, "rank": 1 of one
//     "sites":  [{"id","kind","space","bytes","line","column","ptx_line"}],
//     "blocks": [{"index","x","y","z","first_step","steps","dropped","sm","clock"}],
//     "steps":  [{"step","block","clock","warp","site","array","mask","address","element","phase",
//                 "sectors","least_sectors" or "wavefronts","least_wavefronts"}] }
//
// "step" counts from 1; "block" is the index in "blocks", "site" and "array" those in theirs (no "array"
// where the request lies in none). "address" and "element" ([row, col], or as many indices as the array has
// extents) are the first active lane's; a barrier has neither. "phase" is a number from 0, null behind the
// loop. "mask" is a number, lane 0 its lowest bit.
// With lanes, "addresses" and "elements" hold 32 entries each, null for lanes that are not active (and for
// addresses that are not those of an element), in place of "address" and "element".
//
// A change that would break a reader gets another number in "schema"; a reader passes over keys it does not
// know.
#pragma once

#include "core/export/requests.h"

namespace tilescope::report {

// False where `take` ended it.
bool write_trace_json(const analysis::Recording& recording, const Selected& selected, bool lanes,
                      const Take& take, ExportProgress progress = {});

}  // namespace tilescope::report
