// A product as a solid of m x n x k multiply-adds: one for each element of P and each k.
//
//               N (k x n)
//              +----------+       A block is a column of it along k, a phase a slab of that column. The tiles
//             /  ##      /        of M and N that the phase needs are the slab's two shadows on the faces. A
//            +----------+         thread is a line along k, or a bundle of lines where it owns several
//      /|    +----------+         elements of P.
//     / |    |          |
//    |##|    |  +--+    |         Which multiply-adds a phase makes is read out of the block's values: what
//    |# |    |  |##|    |         was multiplied, and which elements of M and N the factors were loaded from.
//    | /     |  +--+    |         Where there are no values, the loads of a phase stand for its slab.
//    |/      +----------+
//   M (m x k)   P (m x n)
//
// A multiply-add belongs to the phase in which its warp makes it, as that of the warp's last step before it
// says; where it takes a factor straight from global memory, to the phase of that load: compilers write
// several trips of such a loop into one.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/look/block_index.h"
#include "core/playback/replay.h"

namespace tilescope::look {

// Rows and columns of P and a range of k, half open.
struct CubeBox {
    CellRect of;
    uint32_t k0 = 0, k1 = 0;
    bool empty() const { return of.empty() || k0 >= k1; }
    uint64_t products() const { return empty() ? 0 : uint64_t{of.rows()} * of.cols() * (k1 - k0); }
    void include(const CubeBox& box);
    bool operator==(const CubeBox&) const = default;
};
std::string box_text(const CubeBox& box);  // "64 × 64 × 32"

// What a warp multiplies in a phase.
struct WarpPart {
    uint32_t warp = 0;
    CubeBox box;
    // By k from box.k0 on: the step after which the last product with that k was made.
    std::vector<uint32_t> made;
};

struct PhaseSlab {
    CubeBox box;            // bounds all multiply-adds of the phase
    uint64_t products = 0;  // multiply-adds in it; where the slab is of loads, all that they feed
    // Those that pair an element of M with one of N of another k: a stale or early value was multiplied.
    uint64_t mismatched = 0;
    uint64_t repeated = 0;  // those with a k that a phase before had: what it left in the tiles is used again
    std::vector<WarpPart> warps;
    std::array<std::vector<CellRect>, 2>
        tiles;                                 // elements of M and of N that are loaded for it, in any phase
    std::vector<uint32_t> loads;               // numbers of CubeBlock::loads, by step
    uint64_t tile_elements(int matrix) const;  // 0: M, 1: N
};

// A request that loads elements of M or N, whatever it does with them.
struct CubeLoad {
    uint32_t step = 0, lanes = 0;
    int matrix = 0;               // 0: M, 1: N
    std::vector<CellRect> cells;  // of the matrix
    uint32_t there = 0;           // step of the block from which on what it brings can be read
};

// What of the product a picture asks for: its sizes, its matrices, and what a block owns of P.
struct CubeShape {
    uint32_t m = 0, k = 0, n = 0;
    uint32_t tile = 0;                      // T; 0 where there is none
    uint32_t tile_rows = 1, tile_cols = 1;  // of P, a block
    uint32_t patch = 1;                     // elements of P, a thread
    std::array<uint8_t, 3> arrays{};        // M, N and P, as the launch numbers them
};
CubeShape cube_shape(const analysis::Product& product);

// What a warp multiplies at once, behind a step of the block.
struct CubeProducts {
    uint32_t after_step = 0, warp = 0;
    CubeBox box;
};

// What of a block is the same at every step. It takes a look at each of its steps and products: once a block.
struct CubeBlock {
    uint32_t block = 0;
    CubeShape shape;
    bool from_values = false;      // else the slabs are those of the loads
    bool on_tensor_cores = false;  // warps multiply whole matrices: no product is told by itself
    CellRect tile;  // elements of P that the block stores; where it stores none, that it multiplies for
    std::vector<PhaseSlab> phases;
    std::vector<CubeLoad> loads;     // by step
    std::vector<CubeProducts> made;  // by step
};
// Nothing of a launch that is no product, and of a block that recorded no step. replay: null while there are
// no values.
std::optional<CubeBlock> cube_of_block(const trace::Trace& trace, const BlockIndex& index,
                                       const playback::BlockReplay* replay);

// Which block makes which tile of P, read from what the recorded blocks store.
struct CubeTiles {
    uint32_t tile_rows = 1, tile_cols = 1;  // of P, a block
    uint32_t down = 0, across = 0;          // tiles of P
    std::vector<uint32_t> block_of;         // [down * across]: index into the trace's blocks; kNoBlock
    static constexpr uint32_t kNoBlock = UINT32_MAX;
    std::optional<uint32_t> block_at(uint32_t row, uint32_t col) const;  // of an element of P
};
CubeTiles cube_tiles(const trace::Trace& trace, const CubeShape& shape);

// A slab that is not multiplied yet, of which elements were asked for. there: all of them have arrived.
struct SlabAhead {
    CubeBox box;
    bool there = false;
};

// What there is to see at a step.
struct CubeView {
    uint32_t phase = 0;         // of the step; the last one behind it
    bool after = false;         // all phases are done
    CubeBox slab, done, all;    // of this phase; those before it; the whole column
    std::vector<CubeBox> made;  // by the phase's warps so far
    CubeBox now;                // the multiply-adds that follow this very step
    std::vector<SlabAhead> ahead;
    // On the faces M and N: tiles of phases before; what was loaded of this phase's; and of later ones'.
    std::array<std::vector<CellRect>, 2> before, tile, early;
    std::array<uint64_t, 2> loaded{};  // elements of this phase's tiles so far
    uint64_t lane_loads = 0;           // lanes that loaded one of them so far
    // The step's request on the faces M, N and P: what it touches, or what the shared cells that it reads hold.
    std::array<std::vector<CellRect>, 3> touched;
    StepKind kind = StepKind::GlobalLoad;
    uint32_t warp = 0, mask = 0;
    std::vector<CellRect> stored;  // of P, so far
    // Where the tiles reach beyond M, N and P.
    std::array<std::vector<CellRect>, 3> beyond;
};
CubeView cube_view(const trace::Trace& trace, const BlockIndex& index, const CubeBlock& block,
                   const playback::BlockReplay* replay, uint32_t step);

// Elements of P that a thread owns, by what it stores.
std::vector<CellRect> cube_patch(const trace::Trace& trace, const BlockIndex& index, uint32_t thread);
// The thread that owns the element in the middle of what the block stores; none where it stores none.
std::optional<uint32_t> middle_thread(const BlockIndex& index, const CubeBlock& block);

// What is said beside the picture: a headline and a quiet line. swatch: what it explains.
struct CubeLine {
    enum class Swatch : uint8_t { Now, Done, Tile, Before, Ahead, Thread, Beyond, Fault, Rays, Nothing };
    Swatch swatch = Swatch::Nothing;
    std::string words, more;
};
std::vector<CubeLine> cube_lines(const trace::Trace& trace, const BlockIndex& index, const CubeBlock& block,
                                 const CubeView& view, std::optional<uint32_t> thread);

}  // namespace tilescope::look
