// One request, laid out, with a verdict in words.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/look/block_index.h"
#include "app/look/box.h"
#include "app/look/exchange.h"
#include "app/look/pipeline.h"
#include "app/look/signal.h"
#include "core/analysis/cost.h"

namespace tilescope::look {

// One request, laid out.
//
//   global   lanes 0..31  ->  lines of 128 bytes, each of four 32-byte sectors
//   shared   lanes 0..31  ->  32 banks, once for each group of lanes that is served together
//                             (analysis::LaneGroups), the different words of a bank stacked: a group takes as
//                             many wavefronts as its highest stack has words. Of ldmatrix and its kin lanes point to
//                             rows of 16 bytes, and others receive them
//   local    as global, the words of the lanes' own memory side by side as the hardware interleaves them
//   atomics  lanes 0..31  ->  the different addresses, on each as many lanes as meet there
//   constant the same
//   exchanges            lanes 0..31  ->  lanes 0..31 (exchange.h)
//   copies in bulk       as global; of shared memory the part of its array alone: in how many passes a unit of its own
//                        reads or fills the banks is not documented, and nothing is claimed of it
//   signals              the barriers in memory, each with its phase, arrivals and bytes (signal.h)
struct LaneView {
    bool active = false;
    bool exists = false;  // the block has a thread in this lane
    uint32_t thread = 0;  // linear number in the block
    uint64_t offset = 0;  // bytes from the start of the array
    uint64_t bytes = 0;   // that it touches, in `pieces` stretches; the first one begins there
    uint32_t pieces = 0;
    uint64_t index = 0;   // element
    uint32_t sector = 0;  // global: index into RequestView::sectors
    uint32_t bank = 0;    // shared
    uint64_t word = 0;    // shared: the first one, as WordView numbers it
};

// Bytes of a request that lie side by side: one such for each active lane; of a copy in bulk as many as it has rows.
struct PieceView {
    uint32_t lane = 0;
    uint64_t offset = 0, bytes = 0;  // from the start of the array
};

struct SectorView {
    uint64_t number = 0;      // its number in the array: byte offset / 32
    uint32_t lanes = 0;       // those that touch it
    uint32_t bytes_used = 0;  // how many of its 32 bytes any lane uses
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
    std::string array_name;  // name of the array in the notation
    Notation notation;
    std::array<LaneView, 32> lanes;
    ElementBox touched;                           // the elements of the array that are touched, as a box
    std::vector<PieceView> pieces;                // in the order of the lanes
    std::vector<SectorView> sectors;              // global, ascending
    std::vector<LineView> lines;                  // global, ascending
    std::array<std::vector<WordView>, 32> banks;  // shared: the words of all lanes
    std::vector<uint32_t> groups;                 // shared: lanes that are served together, in their order
    uint32_t group_lanes = 32;                    // shared: lanes that a group has at most
    std::vector<WordView> addresses;              // atomics and constant memory, ascending
    ptx::Atomic atomic = ptx::Atomic::None;
    uint8_t matrices = 0;      // shared: ptx::Site::matrices, 8 rows of 16 bytes each
    bool transposed = false;   // these are, on their way
    ExchangeView exchange;     // of an exchange among the lanes
    SignalView signal;         // of what is done to a barrier in memory, or a wait for it
    PipelineView pipeline;     // there, and of a copy in bulk: the stages of the block's ring, if it has one
    bool box = false;          // of another shape than `bytes` a lane: bytes is that of the lane with most
    bool elsewhere = false;    // in shared memory of other blocks of the cluster; array_name says whose
    uint64_t array_bytes = 0;  // of the whole array
    std::string counted_by;    // barrier to which a copy in bulk reports its bytes; "" for none
    std::optional<BoxView> lies;  // of a box in shared memory whose rows are exchanged: how it lies there
    analysis::Cost cost;
    bool good = true;       // costs no more than the least that the block's shape allows
    bool least = true;      // nor than the least of all (analysis::SectorCost)
    std::string title;      // "Warp 0 loads from M"
    std::string verdict;    // "32 lanes read 32 neighbours: 4 sectors of 4 needed"
    std::string mask_note;  // "" where all 32 lanes are active
};

// step: of the block. Its verdict says who reads what, in which pattern, at what cost:
//
//   32 lanes read 32 neighbours: 4 sectors of 4 needed
//   32 lanes read one column of M, a row (256 bytes) apart: 32 sectors where 4 would do
//   32 lanes read one word: a broadcast, 1 wavefront
//   32 lanes read 32 different words of bank 0: 32 wavefronts where 1 would do
//   32 lanes add to 3 words: one is hit 17 times, in as many turns; 1 sector of 1 needed
//   32 lanes read byte 8 of their own local memory: 4 sectors of 4 needed
//   32 lanes read one constant: a broadcast, 1 pass
//   16 lanes get another lane's value, 16 keep their own: 1 instruction, no memory
//   1 lane asks for 1,024 bytes in bulk: 32 sectors of 32 needed
//   1 lane fills 1,024 bytes in bulk. What that takes of the banks is not modelled
//   32 lanes read 128 bytes of another block's shared memory. What that takes is not modelled
//   2 of 8 warps have arrived; the block waits for the others.
//
// replay: where the block's values are known; only an exchange shows any.
RequestView request_view(const trace::Trace& trace, const BlockIndex& index, uint32_t step,
                         const playback::BlockReplay* replay = nullptr);

// Of a copy in bulk, where its bytes go or come from in the block's memory: "Warp 0 copies to stage[0,0..255] in bulk:
// 1 lane, 1,024 bytes. They are there before step 39, and full[0] counts them."
std::string bulk_caption(const trace::Trace& trace, const BlockIndex& index, const RequestView& request,
                         const CopyView& copy, const std::string& where);

// Whether what it costs is known, so that it can be judged: not of copies in bulk in shared memory, nor of other blocks'.
bool is_judged(const RequestView& request);

// The words of a request to shared memory and what they cost, by its lanes' offsets.
void lay_out_banks(const trace::Trace& trace, RequestView& request);

// The words that the lanes of a group ask of a bank, one upon the other; the tallest stack of a group, which makes
// its wavefronts; the tallest stack of a bank, over all groups.
std::vector<WordView> stack_of(const RequestView& request, uint32_t group, size_t bank);
size_t tallest_of_group(const RequestView& request, uint32_t group);
size_t tallest_of_bank(const RequestView& request, size_t bank);

std::string matrices_text(uint32_t count);  // "1 matrix", "4 matrices"
// Of a request that moves matrices: element 0 or 1 of what a lane gets of one of them (of stmatrix: gives).
struct MovedElement {
    uint32_t pointer = 0;  // lane that gives the address of its row
    uint32_t column = 0;   // in the row, of 8 elements of 16 bits
};
MovedElement moved_element(const RequestView& request, uint32_t lane, uint32_t matrix, uint32_t element);
// "gets elements 2 and 3 of the rows of lanes 1, 9, 17 and 25"; transposed "gets element 1 of the rows of lanes 2 and 3"
std::string moved_text(const RequestView& request, uint32_t lane);

// "thread[1,3]: M[1,19] = byte 332 of M, sector 10", "thread[1,3]: Mds[1,3] = byte 76 of Mds, bank 19";
// for a lane that is not active, why.
std::string lane_text(const trace::Trace& trace, const RequestView& request, uint32_t lane);
// How that address comes about, step by step: "1·64 + 19 = 83", "83·4 = byte 332", "332/32 = sector 10".
std::vector<std::string> lane_formula(const trace::Trace& trace, const RequestView& request, uint32_t lane);

}  // namespace tilescope::look
