// A recording as Chrome trace events (JSON), which ui.perfetto.dev and chrome://tracing open.
//
//   process   a block: "block 1,0", with its SM on a GPU
//   thread    a warp of it
//   X         a request, from its step to the warp's next one; a barrier, from the warp's arrival to the
//             barrier's opening, which is the arrival of the last warp. What is between that and the warp's
//             next request is no event: nothing was recorded there
//   C         sectors and wavefronts of the block so far, sampled where there are very many steps
//   M         names and order of processes and threads
//
//   GPU   ts is the SM's clock in microseconds at the rate that the driver states, from the first recorded
//         clock of that SM on: blocks of one SM stand as they ran, clocks of two SMs cannot be compared
//   CPU   ts is the step's number, a microsecond each: an order, no time; otherData says so
//
// Events of a track must nest, so none may reach past the next one's start. Times are whole nanoseconds; on a
// GPU an event ends one before the next begins, since readers take fractions of microseconds as floating
// point and may lose one. Thread numbers are unique over all processes: some readers tell threads apart by
// them alone. Process 0 is left to the operating systems that have one.
//
// Size: a million steps are about 220 MB of JSON. A browser's Perfetto has to fit into the browser's limit of
// memory (typically 2 GB), several times the trace; beyond that, choose blocks or steps, or run its
// trace_processor beside it.
//
// Sources: "Trace Event Format" (Google), sections "Complete Events", "Counter Events", "Metadata Events";
// perfetto.dev, "FAQ" (overlapping events in JSON traces), "Visualising large traces".
#pragma once

#include "core/export/requests.h"

namespace tilescope::report {

inline constexpr uint64_t kMostCounterSamples = 100'000;

// Events of selected steps only, each the same as in the export of all; counters count from the block's first
// step on. False where `take` ended it.
bool write_perfetto(const analysis::Recording& recording, const Selected& selected, const Take& take,
                    ExportProgress progress = {});

}  // namespace tilescope::report
