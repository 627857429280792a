// Where the elements of a tile lie in an array of shared memory: read off the stores of a block, so that it is true
// whatever made it, padding or an exchange of address bits.
//
//   a tile of 8 x 64 halves in chunks of 16 bytes, each with the byte at which it lies:
//
//     N[0, ..]     0   16   32   48   64   80   96  112
//     N[1, ..]   144  128  176  160  208  192  240  224      rows of 128 bytes, Swizzle<3,4,3>
//     ...
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/look/block_index.h"
#include "core/analysis/remedy.h"
#include "core/playback/replay.h"

namespace tilescope::look {

struct TileLayout {
    uint8_t array = trace::kNoArray;   // of shared memory
    uint8_t source = trace::kNoArray;  // the global array whose elements lie in it
    int64_t row = 0, col = 0;     // of the source: the tile's first element; rows of all slices count through
    uint32_t rows = 0, cols = 0;  // of chunks
    uint32_t chunk = 4;           // bytes that stay together: of the widest access, or of an element
    uint32_t elements = 1;        // in a chunk
    std::vector<int64_t> at;      // [rows * cols] byte of the array; -1 where none of the block's lies
    bool cut = false;             // there is more than kMostLaidOut rows or columns

    int64_t byte(size_t r, size_t c) const { return at[r * cols + c]; }
};
inline constexpr uint32_t kMostLaidOut = 64;

// One for each array of shared memory and each global array whose elements lie in it, at a step, or where nothing was
// read from the array yet, when it first is.
std::vector<TileLayout> tile_layouts(const trace::Trace& trace, const BlockIndex& index,
                                     const playback::BlockReplay& replay, uint32_t step);

// How the bytes follow from row r and chunk c: start + r * pitch + c * step, through a swizzle where there is one.
// None where no such rule gives them all.
struct LayoutRule {
    int64_t start = 0, pitch = 0, step = 0;  // bytes
    std::optional<analysis::Remedy> swizzle{};
};
std::optional<LayoutRule> rule_of(const TileLayout& layout);

// What a warp pays that reads down the tile's first column, or along its first row, a chunk a lane.
analysis::RequestCost cost_of_column(const trace::Trace& trace, const TileLayout& layout);
analysis::RequestCost cost_of_row(const trace::Trace& trace, const TileLayout& layout);

// "Mds holds 16 rows of M: rows of 64 bytes, one after the other. To read down a column, 4 bytes a lane, takes 8
// wavefronts where 1 would do; along a row 1."
std::string layout_text(const trace::Trace& trace, const BlockIndex& index, const TileLayout& layout);

}  // namespace tilescope::look
