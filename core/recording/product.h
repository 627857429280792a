// Reading a launch as the product of two matrices, P = M N: the one place that knows what M, N and P, m, k, n
// and the tile width T are. A recording says nothing of them; everything else works from its arrays, sites
// and phases, and asks here for what only a product has.
//
//                  N  (k x n)
//                  [      ]
//     M  (m x k)   P  (m x n)          a block owns a tile of P, a thread of it a patch of that tile
//     [      ]     [      ]
//
// In most kernels a block of T x T threads owns T x T elements, one a thread: T is then the tile's width and
// the block's. Elsewhere a thread owns several elements, and tile and block differ; there is no T then.
//
// A launch is one where its arrays can be the three matrices, and its first whole block loads what a product
// needs for the elements that it stores: all of their rows of M and all of their columns of N. A matrix
// addition has arrays of the same extents and loads less. How large a block's tile is follows from what that
// block stores and where in the grid it stands.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/words.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {

struct Product {
    uint8_t M = 0, N = 0, P = 0;  // indices into Launch::arrays
    uint32_t m = 0, k = 0, n = 0;
    uint32_t tile = 0;  // T: the block has T x T threads, an element each; 0 where there is no T
    // Rows and columns of P that a whole block owns: T x T where there is a T. A grid of a single row or
    // column of blocks shows no more of them than the matrix has.
    uint32_t tile_rows = 0, tile_cols = 0;
    uint32_t patch = 1;  // elements of P that a thread owns: the most that one stores

    // Multiplications and additions for one element of P.
    uint64_t flop_an_element() const { return 2 * uint64_t{k}; }
    // How often the product needs an element of an input: n uses of M's, m of N's; 0 for other arrays.
    uint64_t uses_of(uint8_t array) const { return array == M ? n : array == N ? m : 0; }
    // Sizes by their names in files and options: m, k, n, and tile, or tile_rows and tile_cols without a T.
    std::vector<std::pair<const char*, uint32_t>> sizes_by_name() const;
    bool is_output(uint8_t array) const { return array == P; }
    std::string sizes(std::string_view times = "×") const;  // "64×64×64"
    bool operator==(const Product&) const = default;
};

// nothing where the launch is no product.
std::optional<Product> product_of(const trace::Trace& trace);

// What an element of P, by its linear number, must be: from the contents of M and N before the launch.
double expected_element(const trace::Trace& trace, const Product& product, uint64_t element);

// Which element of P a thread computes, as a class writes it: Row = by T + ty, Col = bx T + tx, or with x and
// y exchanged.
struct Mapping {
    struct Index {
        bool block_y = true, thread_y = true;  // else x
        bool operator==(const Index&) const = default;
    };
    Index row, col{false, false};
    bool operator==(const Mapping&) const = default;
};
// The one that gives the element of every store to P in the blocks that are looked at: the first one, one off
// the grid's diagonal, the last one. Nothing where none does, and where there is no T.
std::optional<Mapping> mapping_of(const trace::Trace& trace, const Product& product);

// What texts call the matrices and their tiles, as array names for Notation::renamed.
enum class MatrixNames : uint8_t { MNP, ABC, MdNdPd };
std::vector<std::pair<std::string, std::string>> renamed(const Launch& launch, const Product& product,
                                                         MatrixNames names);

// How a reader likes things written, whatever the launch; and the notation of one launch that follows.
struct Wording {
    bool x_first = false, phases_from_1 = false;
    MatrixNames names = MatrixNames::MNP;
    bool operator==(const Wording&) const = default;
};
Notation notation_of(const Launch& launch, const std::optional<Product>& product, const Wording& wording);

}  // namespace tilescope::analysis
