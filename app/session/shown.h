// An opened recording, what is made of it, and where playback stands in it. What is made is never changed, so
// that screens and jobs can share it; what takes long is made by jobs; of the blocks the latest few are kept.
//
//   recording --> totals           sums, loads of every element: once
//   block     --> index            phases, steps of every site and warp: microseconds to milliseconds
//             --> values, solid, faults    the block run again: up to a second
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/look/cube.h"
#include "app/look/faults.h"
#include "app/session/jobs.h"
#include "core/analysis/reuse.h"
#include "core/playback/cursor.h"
#include "kernels/run/record.h"

namespace tilescope::session {

struct Recording : analysis::Recording {
    uint64_t serial = 0;          // unique in this run: tells what was drawn of one recording from another
    std::string origin;           // file name, or "recorded now"
    analysis::Summary outline{};  // which kinds of requests there are, before they are counted: 1 of each
};
using MadeRecording = Result<std::shared_ptr<const Recording>>;

MadeRecording make_recording(std::shared_ptr<const trace::Trace> trace, std::string origin);
// Of a trace that was read or recorded, or why there is none.
MadeRecording make_recording(Result<trace::Trace> trace, std::string origin);
// Reads a file; open_bytes: of another recording that stays open.
MadeRecording read_recording(const std::string& path, const std::string& origin, uint64_t open_bytes = 0);

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
    std::vector<bool> even_loads;  // whether elements that were counted one by one were loaded equally often
    // By array, for arrays too large for that: the part that was loaded.
    std::vector<LoadsWindow> windows;
};
using MadeTotals = Result<std::shared_ptr<const Totals>>;
MadeTotals totals_of(const Recording& recording, Stop stop = {});

// Recordings of more steps have their totals, and blocks of more steps their index, made beside the window.
inline constexpr uint64_t kCountedAtOnce = 50'000;  // a few milliseconds

// The kernel accesses shared memory: what shows tiles has something to show. Told by its sites, so that it is
// known before anything is counted.
bool uses_shared(const trace::Trace& trace);

// What is made of one block; null until it is.
struct MadeBlock {
    std::shared_ptr<const look::BlockIndex> block;
    std::shared_ptr<const playback::BlockReplay> replay{};  // its values; null too where there can be none
    std::string no_values{};                                // why there are no values
    std::shared_ptr<const look::CubeBlock> cube{};      // of a product, with its values where there are any
    std::shared_ptr<const look::BlockFaults> faults{};  // made last
};

// The blocks of a recording that were shown last, and the jobs that make them: one of each kind at a time,
// and blocks that are passed by are left out.
struct ShownBlocks {
    enum class Ask : uint8_t { Values, Faults };  // Faults: without values, so without wrong elements of P

    std::deque<MadeBlock> made;  // each with its index
    using Replayer = std::optional<Result<kernels::Replayer>>;
    std::shared_ptr<Replayer> replayer{};  // made and used by the job that runs
    Job<MadeBlock> indexing, valuing;
};

struct Shown : MadeBlock {                       // of the cursor's block
    std::shared_ptr<const Recording> recording;  // null while none is open
    std::shared_ptr<const Totals> totals;        // of it; null while they are counted
    std::string uncounted;                       // why they cannot be counted, a sentence, once that was said
    playback::Cursor cursor;
    Job<MadeTotals> counting;
    std::shared_ptr<const look::SaidFaults>
        said;  // faults of the whole recording; null until they are judged
    Job<std::shared_ptr<const look::SaidFaults>> judging;
    ShownBlocks blocks;

    const trace::Trace& trace() const { return *recording->trace; }  // where there is one
};

// Another recording, from its first step.
void set(Shown& shown, std::shared_ptr<const Recording> recording,
         std::shared_ptr<const Totals> totals = nullptr);
// Its sums and loads, at once where that is quick. True while they are counted; errors go to message.
bool count(Shown& shown, Jobs& jobs, bool wait, std::string& message);
// What there is of the cursor's block, in a wording. True while some is still made; wait: make all now.
bool ready_block(Shown& shown, Jobs& jobs, ShownBlocks::Ask ask, const analysis::Wording& wording, bool wait);

}  // namespace tilescope::session
