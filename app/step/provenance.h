// Where a value comes from: what a click on an element, or on a shared cell, is answered with.
//
//   P[1,0]  <-  thread [1,0]  <-  phase 0   M[1,0] (by [1,0]) in Mds[1,0]  *  N[0,0] (by [0,0]) in Nds[0,0]
//                                           M[1,1] (by [1,1]) in Mds[1,1]  *  N[1,0] (by [1,0]) in Nds[1,0]
//                                 phase 1   ...          (by [1,0]): loaded by that thread
//
// Everything is followed through the recording, never computed from the kernel's formula: a product has two
// factors, a factor was read by a request from a shared cell or from global memory, a shared cell was filled
// by a store, and what was stored had been loaded by the storing lane. So a stale value shows as what it is.
//
// Of any other element: every request of the recording that touched it. A recording is looked through from
// its first step on, a part at a time, so that a click into ten million steps stalls nothing:
//
//   steps   0 ..... next | ............ end      `next` moves; what was found so far is shown
//
// Most steps are told by their form alone: its array, and how far from its base its lanes reach, as was seen
// at the first step of the form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/look/block_index.h"
#include "core/playback/replay.h"

namespace tilescope::step {

using look::BlockIndex;

enum class Origin : uint8_t {
    Element,   // an element of M or N, stored in the phase that reads it
    ZeroFill,  // a constant zero stood in for an element outside the matrix
    Stale,     // stored in an earlier phase than the one that reads it
    Computed,  // neither: worked out by the kernel
    Nothing,   // read before anything was stored
};

// One factor of a product. Steps are of the block, playback::kNever where there is none.
struct FactorTrail {
    Origin origin = Origin::Nothing;
    Value value;
    uint8_t array = trace::kNoArray;  // element of a global array that it is, kNoArray for a zero fill
    uint64_t index = 0;
    uint8_t cell_array = trace::kNoArray;  // shared cell that it was read from; kNoArray: global memory
    uint64_t cell = 0;
    uint32_t read_step = playback::kNever;   // the request that fetched it for the product
    uint32_t store_step = playback::kNever;  // that put it into the shared cell
    uint32_t load_step = playback::kNever;   // that fetched it from global memory
    uint32_t thread = 0;                     // that loaded it, or stored the zero
    uint32_t used = 0;    // lane reads of the shared cell from this store to the next; 1 without a cell
    uint32_t loaded = 0;  // lane loads of the element by the whole block
};

// sum = the sum before it + m.value * n.value, right after `after_step`, in phase `phase`.
struct ProductTrail {
    uint32_t after_step = 0, phase = 0;
    FactorTrail m, n;
    Value sum;
};

struct OutputTrail {
    uint64_t element = 0;
    bool here = false;    // a thread of this block stores it
    uint32_t thread = 0;  // that does
    uint32_t store_step = playback::kNever;
    std::vector<ProductTrail> products;  // in the order in which they were added
    bool zeros = false, stale = false;   // some factor is a zero fill; is stale or was never stored
    std::optional<Value> stored;         // what the thread wrote to P
    double expected = 0;                 // the plain product of the recording's inputs
};

// O(steps of the block): once a click, not once a frame. element: linear, of the output array.
OutputTrail output_trail(const trace::Trace& trace, const BlockIndex& index,
                         const playback::BlockReplay& replay, uint64_t element);

// How many of its products lie at or before a step.
size_t products_done(const OutputTrail& trail, uint32_t step);

// One request that touched an element or a shared cell.
struct Touch {
    uint64_t step = 0;             // of the recording
    uint32_t warp = 0, lanes = 0;  // lanes: a mask of those that touched it
    bool store = false;
    bool operator==(const Touch&) const = default;
};

struct CellTrail {
    Origin origin = Origin::Nothing;
    playback::CellState held;
    uint32_t load_step = playback::kNever;
    std::vector<Touch> readers;  // requests since, the latest kMostReaders of them
    static constexpr size_t kMostReaders = 256;
};
CellTrail cell_trail(const trace::Trace& trace, const BlockIndex& index, const playback::BlockReplay& replay,
                     uint8_t array, uint64_t cell, uint32_t step);

struct TouchScan {
    uint8_t array = trace::kNoArray;
    uint64_t element = 0;
    uint64_t next = 0;             // first step not looked at
    uint64_t requests = 0;         // that touched it, in the steps looked at
    uint64_t lanes = 0;            // lane accesses, likewise
    uint32_t blocks = 0;           // recorded blocks that touched it
    uint64_t block_end = 0;        // behind the steps of the last of them
    std::vector<Touch> touches{};  // the first kMost of them
    static constexpr size_t kMost = 100'000;
    bool done(const trace::Trace& trace) const { return next >= trace.steps(); }

    struct Reach {
        int64_t lowest = INT64_MAX / 4, highest = INT64_MIN / 4;  // bytes from the base
    };
    std::vector<std::optional<Reach>> reach{};  // by form, of those met
};

// array: index into trace.launch.arrays, a global one.
TouchScan begin_scan(const trace::Trace& trace, uint8_t array, uint64_t element);

// Looks at up to `steps` more steps.
void go_on(TouchScan& scan, const trace::Trace& trace, uint64_t steps);

// "zero fill", "stale", ...: what a legend calls it.
const char* words_of(Origin origin);

// "at step 42", with " (clock 1,204)" where the block has clocks; steps count from 1, as on the screen.
std::string when_text(const trace::Trace& trace, const BlockIndex& index, uint32_t step);

// "row 3 of M times column 5 of N", of an element of P.
std::string factors_text(const trace::Trace& trace, const BlockIndex& index, uint64_t element);

// "M[3,19]: loaded once by thread[3,3] in phase 1 at step 133, used 16 times".
std::string factor_text(const trace::Trace& trace, const BlockIndex& index, const FactorTrail& factor);

// "once", "16 times"; "phase 2", "after the last phase".
std::string times_text(uint64_t times);
std::string phase_words(uint32_t phase, const Notation& notation);

}  // namespace tilescope::step
