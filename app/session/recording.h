// An opened recording and what is derived from it once. Both are never changed, so that screens and jobs can
// share them.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/draw/shown.h"
#include "core/analysis/phases.h"
#include "core/analysis/product.h"
#include "core/analysis/reuse.h"
#include "core/analysis/summary.h"
#include "core/base/result.h"
#include "core/trace/trace.h"

namespace tilescope::session {

struct Recording {
    std::shared_ptr<const trace::Trace> trace;
    analysis::PhaseRule rule;
    uint64_t serial = 0;  // of this run of the program: tells what was drawn of one from another
    std::string origin;   // file name, or "recorded now"
    std::optional<analysis::Product> product;  // the launch read as one, where it is one
    Notation notation;                         // in which it is spoken of
    analysis::Summary outline;  // which kinds of requests there are, before they are counted: 1 of each
};

Result<std::shared_ptr<const Recording>> make_recording(trace::Trace trace, std::string origin);
Result<std::shared_ptr<const Recording>> make_recording(std::shared_ptr<const trace::Trace> trace,
                                                        std::string origin);

// The same recording, with the same serial, spoken of in a wording.
std::shared_ptr<const Recording> worded(std::shared_ptr<const Recording> recording,
                                        const analysis::Wording& wording);

// How often elements were loaded, of the part of a large array that the recorded blocks touched: of 8192 x
// 8192 elements, 16 blocks touch 64 rows, and only those are kept.
//
//     +------------------+
//     |                  |
//     |##################|  <- box: counts [rows x cols] of it, row-major; all else was never loaded
//     |                  |
//     +------------------+
struct LoadsWindow {
    draw::CellRect box;           // on the array's sheet (draw/sheet.h)
    std::vector<uint32_t> loads;  // empty where nothing was loaded, or the box has more than asked for
    uint32_t most = 0;
};
// most: elements that the box may have.
LoadsWindow loads_window(const Array& array, const analysis::ElementCounts& counts, uint64_t most);

// What all steps of a recording come to. It takes longer than a frame: of 80 million steps about a second.
struct Totals {
    uint64_t serial = 0;  // of the recording
    analysis::Summary summary;
    // Loads of every element by all recorded blocks, by array, and the most of them; empty for arrays
    // too large to show as a map.
    std::vector<std::vector<uint32_t>> loads;
    std::vector<uint32_t> most_loads;
    // The same by array for those too large: the part that was loaded.
    std::vector<LoadsWindow> windows;
};
using MadeTotals = Result<std::shared_ptr<const Totals>>;
MadeTotals totals_of(const Recording& recording);

// Recordings of more steps have their totals, and blocks of more steps their index, made beside the window.
inline constexpr uint64_t kCountedAtOnce = 50'000;  // a few milliseconds

// The kernel accesses shared memory: what shows tiles has something to show. Told by its sites, so that it is
// known before anything is counted.
bool uses_shared(const trace::Trace& trace);

}  // namespace tilescope::session
