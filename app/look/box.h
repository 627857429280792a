// A box in shared memory, laid out as it lies: which 16 bytes of which row are where. Of a copy of a tensor, whose swizzle
// exchanges chunks of 16 bytes, and of a tile that wgmma reads by a descriptor.
//
//   128 bytes a line         chunk 0 1 2 3 4 5 6 7 of its row
//   row 0                          0 1 2 3 4 5 6 7
//   row 1                          1 0 3 2 5 4 7 6
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/trace/trace.h"

namespace tilescope::look {

struct BoxView {
    static constexpr uint32_t kLine = 128, kChunk = 16;
    struct Chunk {
        uint32_t row = 0;      // of the box; of a tile, of A (column of B)
        uint32_t number = 0;   // along its row, or along k
        uint32_t bytes = 0;    // of it that lie here; 0: none
        uint32_t outside = 0;  // of these, that are filled as they lie outside the tensor
    };
    ptx::Box box = ptx::Box::None;
    uint64_t first = 0;             // byte of shared memory at which the first line begins, a multiple of 128
    std::vector<Chunk> chunks;      // 8 a line, in the order of their addresses
    uint32_t rows = 0, in_row = 0;  // rows, and chunks of one
    std::string
        verdict;  // "64 rows of 128 bytes, swizzle 128B: a chunk's number is xored with its row's, modulo 8"
    std::string note;  // what is easily got wrong, such as a tile off the swizzle's boundary; "" for nothing
    size_t lines() const { return chunks.size() / (kLine / kChunk); }
};

// step: of the trace. None of a step that is no box in shared memory, or whose map the recording lacks.
std::optional<BoxView> box_view(const trace::Trace& trace, uint64_t step);

}  // namespace tilescope::look
