// One request, laid out for the request panel: its 32 lanes, the sectors or banks that they meet, and
// a verdict in words.
//
//   global   lanes 0..31  ->  lines of 128 bytes, each of four 32-byte sectors
//   shared   lanes 0..31  ->  32 banks, the different words of a bank stacked: as many wavefronts as
//                             the highest stack has words
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "app/view/block_index.h"
#include "core/analysis/cost.h"
#include "core/trace/trace.h"

namespace tilescope::view {

struct LaneView {
    bool active = false;
    bool exists = false;        // the block has a thread in this lane
    uint32_t thread = 0;        // linear number in the block
    uint64_t offset = 0;        // bytes from the start of the array
    uint64_t index = 0;         // element
    uint32_t row = 0, col = 0;  // of the element
    uint32_t sector = 0;        // global: index into RequestView::sectors
    uint32_t bank = 0;          // shared
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
    uint64_t number = 0;  // byte address in shared memory / 4
    uint32_t lanes = 0;
};

struct RequestView {
    StepKind kind = StepKind::GlobalLoad;
    uint32_t step = 0, site = 0, line = 0, warp = 0, mask = 0, bytes = 0;
    uint8_t array = trace::kNoArray;
    std::string array_name;
    std::array<LaneView, 32> lanes;
    CellRect touched;                             // elements, bounding box
    std::vector<SectorView> sectors;              // global, ascending
    std::vector<LineView> lines;                  // global, ascending
    std::array<std::vector<WordView>, 32> banks;  // shared
    analysis::Cost cost;
    bool good = true;       // costs no more than the least
    std::string title;      // "Warp 0 loads from M"
    std::string verdict;    // "32 lanes read 32 neighbours: 4 sectors of 4 needed"
    std::string mask_note;  // "" where all 32 lanes are active
};

// step: of the block.
RequestView request_view(const trace::Trace& trace, const BlockIndex& index, uint32_t step);

// "thread (3,1): M[1,19] = byte 332 of M, sector 10", "thread (3,1): Mds[1,3] = byte 76 of Mds, bank 19";
// for a lane that is not active, why.
std::string lane_text(const trace::Trace& trace, const RequestView& request, uint32_t lane);
// How that address comes about, step by step: "1·64 + 19 = 83", "83·4 = byte 332", "332/32 = sector 10".
std::vector<std::string> lane_formula(const trace::Trace& trace, const RequestView& request, uint32_t lane);

}  // namespace tilescope::view
