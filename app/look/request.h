// One request, laid out (draw/shown.h), with a verdict in words.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/look/block_index.h"

namespace tilescope::look {

using draw::LaneView;
using draw::RequestView;
using draw::SectorView;
using draw::WordView;

// step: of the block. Its verdict says who reads what, in which pattern, at what cost:
//
//   32 lanes read 32 neighbours: 4 sectors of 4 needed
//   32 lanes read one column of M, a row (256 bytes) apart: 32 sectors where 4 would do
//   32 lanes read one word: a broadcast, 1 wavefront
//   32 lanes read 32 different words of bank 0: 32 wavefronts where 1 would do
//   32 lanes add to 3 words: one is hit 17 times, in as many turns; 1 sector of 1 needed
//   32 lanes read byte 8 of their own local memory: 4 sectors of 4 needed
//   32 lanes read one constant: a broadcast, 1 pass
//   2 of 8 warps have arrived; the block waits for the others.
RequestView request_view(const trace::Trace& trace, const BlockIndex& index, uint32_t step);

// "thread[1,3]: M[1,19] = byte 332 of M, sector 10", "thread[1,3]: Mds[1,3] = byte 76 of Mds, bank 19";
// for a lane that is not active, why.
std::string lane_text(const trace::Trace& trace, const RequestView& request, uint32_t lane);
// How that address comes about, step by step: "1·64 + 19 = 83", "83·4 = byte 332", "332/32 = sector 10".
std::vector<std::string> lane_formula(const trace::Trace& trace, const RequestView& request, uint32_t lane);

}  // namespace tilescope::look
