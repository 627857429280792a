// What pictures are drawn from that several screens show, as plain data: look works it out of a recording,
// draw draws it. Nothing here knows a recording, a state or a window.
//
//   CellRect        a part of a matrix
//   RequestView     one request: its 32 lanes, the sectors or banks that they meet, a verdict in words
//   OlderView       what a GPU of older rules would have made of it
//   GateView        who has come to a barrier at a step, and who has not
//   BarrierTimes    when each warp came to a barrier, and when it opened
//   TimelineView    a block's time from left to right: phases, barriers, a row per warp
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis/cost.h"
#include "core/base/words.h"
#include "core/recording/step_kind.h"
#include "core/trace/trace.h"

namespace tilescope::draw {

using analysis::StepKind;

// Of cells of a matrix, half open: rows [row0, row1), columns [col0, col1).
struct CellRect {
    uint32_t row0 = 0, row1 = 0, col0 = 0, col1 = 0;
    bool empty() const { return row0 >= row1 || col0 >= col1; }
    uint32_t rows() const { return empty() ? 0 : row1 - row0; }
    uint32_t cols() const { return empty() ? 0 : col1 - col0; }
    bool contains(uint32_t row, uint32_t col) const {
        return row >= row0 && row < row1 && col >= col0 && col < col1;
    }
    void include(uint32_t row, uint32_t col) { include(CellRect{row, row + 1, col, col + 1}); }
    void include(const CellRect& b) {
        if (b.empty()) return;
        *this = empty() ? b
                        : CellRect{std::min(row0, b.row0), std::max(row1, b.row1), std::min(col0, b.col0),
                                   std::max(col1, b.col1)};
    }
    bool operator==(const CellRect&) const = default;
};

// One request, laid out.
//
//   global   lanes 0..31  ->  lines of 128 bytes, each of four 32-byte sectors
//   shared   lanes 0..31  ->  32 banks, the different words of a bank stacked: as many wavefronts as
//                             the highest stack has words
//   local    as global, the words of the lanes' own memory side by side as the hardware interleaves them
//   atomics  lanes 0..31  ->  the different addresses, on each as many lanes as meet there
//   constant the same
struct LaneView {
    bool active = false;
    bool exists = false;  // the block has a thread in this lane
    uint32_t thread = 0;  // linear number in the block
    uint64_t offset = 0;  // bytes from the start of the array
    uint64_t index = 0;   // element
    uint32_t sector = 0;  // global: index into RequestView::sectors
    uint32_t bank = 0;    // shared
};

struct SectorView {
    uint64_t number = 0;      // of the array: byte offset / 32
    uint32_t lanes = 0;       // those that touch it
    uint32_t bytes_used = 0;  // of its 32, by any lane
};

struct LineView {  // a line of 128 bytes of which at least one sector is touched
    uint64_t number = 0;
    std::array<int32_t, 4> sector{-1, -1, -1, -1};  // index into RequestView::sectors, -1 for not touched
};

struct WordView {
    uint64_t number = 0;  // byte address in shared memory / 4; of RequestView::addresses: the address
    uint32_t lanes = 0;
};

struct RequestView {
    StepKind kind = StepKind::GlobalLoad;
    uint32_t step = 0, site = 0, line = 0, warp = 0, mask = 0, bytes = 0;
    uint8_t array = trace::kNoArray;
    std::string array_name;  // in the notation
    Notation notation;
    std::array<LaneView, 32> lanes;
    ElementBox touched;                           // of the array
    std::vector<SectorView> sectors;              // global, ascending
    std::vector<LineView> lines;                  // global, ascending
    std::array<std::vector<WordView>, 32> banks;  // shared
    std::vector<WordView> addresses;              // atomics and constant memory, ascending
    ptx::Atomic atomic = ptx::Atomic::None;
    analysis::Cost cost;
    bool good = true;       // costs no more than the least
    std::string title;      // "Warp 0 loads from M"
    std::string verdict;    // "32 lanes read 32 neighbours: 4 sectors of 4 needed"
    std::string mask_note;  // "" where all 32 lanes are active
};

// What an older GPU would have made of a request to global memory (look/older.h): transactions, one after
// the other, each of a half warp.
struct OlderView {
    const char* gpu = nullptr;     // "G80"
    const char* rule = nullptr;    // "half warps, in order"
    const char* source = nullptr;  // document and section
    struct Transaction {
        int64_t offset = 0;  // bytes from the start of the array
        uint32_t bytes = 0, used = 0;
        uint32_t lanes = 0;  // a mask of those that it serves
    };
    std::vector<Transaction> transactions;
    std::string verdict;  // "32 transactions of 32 bytes: 1,024 bytes moved for 128 needed"
    bool good = true;     // no more transactions than half warps need at least
};

// A barrier of a block with several warps as a gate, at a step: each of its warps is on the way to it or held
// by it, until the last one opens it for all.
struct GateView {
    uint32_t number = 0;  // from 0, of the block's barriers
    bool open = false;    // the last one arrives at this very step
    uint32_t held = 0;    // warps that have arrived
    struct Warp {
        uint32_t warp = 0;
        bool held = false;
        uint32_t since = 0;  // the step at which it arrives
    };
    std::vector<Warp> warps;  // ascending
};

// Steps [first, end) of the block during which a phase is the latest one begun.
struct PhaseSpan {
    uint32_t phase = 0;  // analysis::kAfter for what follows the loop
    uint32_t first = 0, end = 0;
};

// One barrier of a block with clocks, as its warps came to it (look/timeline.h); clocks from the block's
// first step.
struct BarrierTimes {
    struct Arrival {
        uint32_t warp = 0, step = 0, clock = 0;
    };
    uint32_t number = 0;            // barriers that its warps have passed before it
    uint32_t first = 0, last = 0;   // clocks of the first and the last arrival
    uint32_t opens = 0;             // clock from which the block goes on
    uint32_t last_warp = 0;         // that the others waited for
    std::vector<Arrival> arrivals;  // in the order of the steps
    uint32_t skew() const { return last - first; }
};

// What a warp does, or that it waits (Barrier), from `first` to before `end`: positions of the axis, cut to
// what is shown.
struct TimelineMark {
    uint32_t first = 0, end = 0;
    StepKind kind = StepKind::GlobalLoad;
};

enum class TimeAxis : uint8_t { Steps, Clocks };

// All positions are of the axis: steps of the block, or clocks since its first step.
struct TimelineView {
    TimeAxis axis = TimeAxis::Steps;
    uint32_t first = 0, end = 0;  // shown
    uint32_t columns = 0;
    std::vector<PhaseSpan> phases;                 // those in view
    std::vector<uint32_t> barriers;                // at which a barrier was complete
    std::vector<std::vector<TimelineMark>> warps;  // ascending, without overlap
    std::vector<std::vector<TimelineMark>> waits;  // at barriers; by warp, the same; Clocks only
};

}  // namespace tilescope::draw
