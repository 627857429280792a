// A request's verdict in words: who reads what, in which pattern, at what cost.
//
//   32 lanes read 32 neighbours: 4 sectors of 4 needed
//   32 lanes read one column of M, a row (256 bytes) apart: 32 sectors where 4 would do
//   32 lanes read one word: a broadcast, 1 wavefront
//   32 lanes read 32 different words of bank 0: 32 wavefronts where 1 would do
#pragma once

#include <string>

#include "core/trace/trace.h"

namespace tilescope::view {

struct BlockIndex;
struct RequestView;

// Of a memory request whose lanes, sectors, banks and cost are filled in.
std::string request_verdict(const trace::Trace& trace, const RequestView& view);

// "2 of 8 warps have arrived; the block waits for the others."
std::string barrier_verdict(const BlockIndex& index, uint32_t step);

}  // namespace tilescope::view
