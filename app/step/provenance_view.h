// Where a value comes from: what a click on an element of P, or on a shared cell, is answered with.
//
//   P[1,0]  <-  thread [1,0]  <-  phase 0   M[1,0] (loaded by [1,0]) in Mds[1,0]  *  N[0,0] (by [0,0]) in
//   Nds[0,0]
//                                           M[1,1] (loaded by [1,1]) in Mds[1,1]  *  N[1,0] (by [1,0]) in
//                                           Nds[1,0]
//                                 phase 1   ...
//
// Everything is followed through the recording, never computed from the kernel's formula: a product has two
// factors, a factor was read by a request from a shared cell or from global memory, a shared cell was filled
// by a store, and what was stored had been loaded by the storing lane. So a stale value shows as what it is.
// The requests that touched an element of M or N: touch_scan.h.
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
    uint8_t cell_array =
        trace::kNoArray;  // shared cell that it was read from; kNoArray: global memory itself
    uint64_t cell = 0;
    uint32_t read_step = playback::kNever;   // the request that fetched it for the product
    uint32_t store_step = playback::kNever;  // that put it into the shared cell
    uint32_t load_step = playback::kNever;   // that fetched it from global memory
    uint32_t thread = 0;                     // that loaded it, or stored the zero
    uint32_t used = 0;    // lane reads of the shared cell from this store to the next; 1 without a cell
    uint32_t loaded = 0;  // lane loads of the element by the whole block
    bool operator==(const FactorTrail&) const = default;
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
    std::vector<size_t> phases;          // the first product of each phase
    bool zeros = false, stale = false;   // some factor is a zero fill; is stale or was never stored
    std::optional<Value> stored;         // what the thread wrote to P
    double expected = 0;                 // the plain product of the recording's inputs
};

// O(k + requests of the block): once a click, not once a frame. element: linear, of the output array.
OutputTrail output_trail(const trace::Trace& trace, const BlockIndex& index,
                         const playback::BlockReplay& replay, uint64_t element);

// How many of its products lie at or before a step.
size_t products_done(const OutputTrail& trail, uint32_t step);

// One request that read a shared cell.
struct CellReader {
    uint32_t step = 0, warp = 0, lanes = 0;  // lanes: a mask of those that read this cell
    bool operator==(const CellReader&) const = default;
};
struct CellTrail {
    Origin origin = Origin::Nothing;
    Value value;
    uint8_t array = trace::kNoArray;  // element that it holds
    uint64_t index = 0;
    uint32_t store_step = playback::kNever, load_step = playback::kNever;
    uint32_t thread = 0;              // that stored it
    uint32_t reads = 0;               // by lanes, since it was stored
    std::vector<CellReader> readers;  // requests since, the latest kMostReaders of them
    static constexpr size_t kMostReaders = 256;
};
CellTrail cell_trail(const trace::Trace& trace, const BlockIndex& index, const playback::BlockReplay& replay,
                     uint8_t array, uint64_t cell, uint32_t step);

// "zero fill", "stale", ...: what a legend calls it.
const char* words_of(Origin origin);

// "at step 42", with " (clock 1,204)" where the block has clocks; steps count from 1, as on the screen.
std::string when_text(const trace::Trace& trace, const BlockIndex& index, uint32_t step);

// "M[3,19]: loaded once by thread[3,3] in phase 1 at step 133, used 16 times".
std::string factor_text(const trace::Trace& trace, const BlockIndex& index, const FactorTrail& factor);

// "once", "16 times".
std::string times_text(uint64_t times);

}  // namespace tilescope::step
