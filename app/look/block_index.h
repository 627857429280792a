// What is looked up again and again about one block of a recording, made once when playback enters
// the block: its phases, the steps of every site and warp, the tiles it touches in each phase, and
// running sums, so that any frame of any step is built in microseconds.
//
//   steps    0 ........ 255 | 256 ...... 511 | 512 ..
//   sums     checkpoint 0     checkpoint 1     ...      sums so far = checkpoint + at most 255 steps
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/draw/sheet.h"
#include "core/analysis/summary.h"
#include "core/base/words.h"
#include "core/playback/replay.h"
#include "core/recording/pipeline.h"
#include "core/recording/recording.h"
#include "core/recording/signals.h"
#include "core/trace/access.h"
#include "core/trace/trace.h"

namespace tilescope::look {

using analysis::kind_of;
using analysis::SplitSums;
using analysis::StepKind;
using draw::CellRect;

// The elements of an array that a request touches, lane by lane: of a vector access several a lane. None of a
// barrier, and of what lies outside every array. what(lane, element). access: the step, decoded.
template <class What>
void for_elements(const trace::Trace& trace, uint64_t step, const trace::Access& access, What what) {
    if (access.array == trace::kNoArray) return;
    const uint64_t width = std::max(trace.launch.arrays[access.array].element_bytes(), 1u);
    trace::for_pieces(trace, step, access, [&](uint32_t lane, uint64_t offset, uint64_t bytes) {
        const uint64_t last = (offset + std::max<uint64_t>(bytes, 1) - 1) / width;
        for (uint64_t element = offset / width; element <= last; ++element) what(lane, element);
    });
}

template <class What>
void for_elements(const trace::Trace& trace, uint64_t step, What what) {
    for_elements(trace, step, trace::decode(trace, step), what);
}

// Cells of a matrix, (row, column), as rectangles: runs along a row, and runs below each other joined.
std::vector<CellRect> rectangles_of(std::vector<std::pair<uint32_t, uint32_t>> cells);

// The line that is shown for a site: of the source, or of the PTX if there is no source; from 1; 0: none.
uint32_t shown_line(const trace::Trace& trace, const ptx::Site& site);

// Steps [first, end) of the block during which a phase is the latest one begun.
struct PhaseSpan {
    uint32_t phase = 0;  // analysis::kAfter for what follows the loop
    uint32_t first = 0, end = 0;
};

// A barrier of a block with clocks, as its warps reached it (timeline.h). Clocks count from the first step.
struct BarrierTimes {
    struct WarpArrival {
        uint32_t warp = 0, step = 0, clock = 0;
    };
    uint32_t number = 0;                // barriers that its warps have passed before it
    uint32_t first = 0, last = 0;       // clocks of the first and the last arrival
    uint32_t opens = 0;                 // clock from which the block goes on
    uint32_t last_warp = 0;             // the warp that the others waited for
    std::vector<WarpArrival> arrivals;  // in the order of the steps
    uint32_t skew() const { return last - first; }
};

struct BlockIndex {
    uint32_t block = 0;
    std::string why_not;  // a sentence, where it takes more memory than is left: it is then empty
    uint64_t first = 0;   // the block's first step in the trace
    uint32_t steps = 0;
    uint32_t warps = 0;
    std::optional<analysis::Product> product;  // of the launch
    Notation notation;                         // notation of all that is said of the block
    std::vector<uint8_t> shared;               // arrays of the launch that lie in shared memory
    std::vector<ElementType> exchanged;        // by site: exchanged_types() (exchange.h)
    analysis::PhaseMap phases;
    std::vector<PhaseSpan> spans;
    std::vector<std::vector<uint32_t>> steps_of_site;
    std::vector<std::vector<uint32_t>> steps_of_warp;
    std::vector<std::vector<uint32_t>> arrivals;       // by barrier interval: the steps at which warps arrive
    trace::Arrivals landings;                          // where what is written later is there
    std::shared_ptr<const analysis::Signals> signals;  // barriers in memory; null where there are none
    std::shared_ptr<const analysis::Pipeline>
        pipeline;                        // stages that copies fill by them; null where there are none
    bool clocked = false;                // every step has its SM's clock
    std::vector<BarrierTimes> barriers;  // its barriers, if it has clocks
    // Bounding boxes of the elements touched: by global array, one a slice; and in each phase (the last:
    // behind the loop), by array, phase and slice. A block that touches very many has one for all slices.
    std::vector<std::vector<CellRect>> touched;
    struct TouchedTile {
        uint32_t phase = 0, slice = 0;
        uint8_t array = trace::kNoArray;
        CellRect box;
    };
    std::vector<TouchedTile> touched_in_phase;
    // By thread: the element that it stores last; one of no array where it stores none.
    std::vector<playback::Element> output;
    std::vector<uint32_t> lanes_of_warp;  // by warp: its lanes that load or store anything, as a mask
    // By warp: its steps that store to global arrays which the kernel writes.
    std::vector<std::vector<uint32_t>> stores_of_warp;
    // Of a product whose threads own several elements, by thread: all that it stores, as rectangles.
    std::vector<std::vector<CellRect>> patches;
    static constexpr uint32_t kCheckpointSteps = 256;
    std::vector<SplitSums> checkpoints;

    uint32_t phase_at(uint32_t step) const { return step < phases.phase.size() ? phases.phase[step] : 0; }
};

// The index of block `block`, in the recording's notation; empty for a block without steps, and when stopped.
// It takes a small multiple of the block's steps, and no more than a quarter of the memory that is left.
std::shared_ptr<const BlockIndex> index_block(const analysis::Recording& recording, uint32_t block,
                                              Stop stop = {});

// The tile of a phase in an array: what the block touches of it in that phase; of a product's output, which
// is touched once, what it touches at all. Empty where it touches nothing.
CellRect tile_of_phase(const trace::Trace& trace, const BlockIndex& index, uint8_t array, uint32_t phase);
// The same slice by slice, of the slices that are touched; one rectangle where the array has no slices.
std::vector<CellRect> slices_of_phase(const trace::Trace& trace, const BlockIndex& index, uint8_t array,
                                      uint32_t phase);

// Sums over the block's steps 0..step, inclusive.
SplitSums sums_so_far(const trace::Trace& trace, const BlockIndex& index, uint32_t step);

// [blocks + 1]: the sums of all blocks before each one; the last are those of the whole recording. An Error
// where they take more memory or accesses than are allowed, or where it was stopped.
Result<std::vector<SplitSums>> sums_before_blocks(const trace::Trace& trace, Stop stop = {});

// How many requests (or barrier arrivals) of a site the block has made in steps 0..step, inclusive.
uint64_t hits_so_far(const BlockIndex& index, uint32_t site, uint32_t step);

// What a step that is half of a cp.async copies: into which array the load goes, and behind which step of the
// block, counted from 1, all of its threads have waited for it; none where they do not.
struct CopyView {
    uint8_t from = trace::kNoArray, to = trace::kNoArray;
    std::optional<uint32_t> behind;
};
// None where the step is no copy.
std::optional<CopyView> copy_of(const trace::Trace& trace, const BlockIndex& index, uint32_t step);

// The next step at which the block does what stands on a line of the source, from the start again behind the
// last one; none where it never does.
std::optional<uint32_t> next_step_of_line(const trace::Trace& trace, const BlockIndex& index, uint32_t line,
                                          uint32_t step);

// "phase 2 (3rd of 4)", "phase 3 of 4" where they count from 1, "after the last phase"; "" for a single
// phase.
std::string phase_text(const BlockIndex& index, uint32_t step);

// The element that a thread of the block stores to a global array last, if it stores any.
std::optional<playback::Element> output_of(const BlockIndex& index, uint32_t thread);
// What lanes of a warp store to global arrays: in the phase of a step where they store anything in it, else in
// the whole block. Of very many requests the first ones.
struct StoredElements {
    std::vector<std::pair<uint32_t, playback::Element>> by_lane;  // lane, element: each once
    bool of_phase = false;                                        // of the step's phase only
};
StoredElements stored_by(const trace::Trace& trace, const BlockIndex& index, uint32_t warp, uint32_t mask,
                         std::optional<uint32_t> step);
// The thread of this block that stores an element last; none where it stores none of it.
std::optional<uint32_t> storer_of(const trace::Trace& trace, const BlockIndex& index,
                                  const playback::Element& element);
// Of a product whose threads own several elements: the thread of this block that stores an element of P.
std::optional<uint32_t> owner_of(const BlockIndex& index, uint32_t row, uint32_t col);
// There, what a thread stores, or the first rectangle of it where there are several: "P[8..15,0..7]"; "" of a
// thread that stores nothing.
std::string patch_text(const trace::Trace& trace, const BlockIndex& index, uint32_t thread);

}  // namespace tilescope::look
