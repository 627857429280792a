// Who holds which element of the matrices that a warp multiplies by mma or wmma, as core/ptx/matrix.h says.
//
//   A of m16n8k16, lane 5:       0  1   2  3   4  5 ..
//                           0 |  0  0   1  1   2  2       the lane that holds the element
//                           1 |  4  4 [a0 a1]  6  6       a0, a1: the first two of the lane's fragment, both in register 0
//
// An element of a fragment is written A(1,2), row and column in its tile, so that it is not taken for one of an array.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/look/block_index.h"
#include "core/ptx/matrix.h"

namespace tilescope::look {

// A, B, C or D with the holder of each element, of several registers the first.
struct FragmentTile {
    ptx::MatrixForm form;
    ptx::MatrixRole role = ptx::MatrixRole::A;
    uint32_t rows = 0, columns = 0;           // of one product
    uint32_t beside = 1;                      // elements that lie side by side in a register
    bool down = false;                        // in a column, not in a row
    std::vector<ptx::FragmentPlace> holders;  // [product][row][column]

    const ptx::FragmentPlace& holder(const ptx::MatrixPlace& at) const {
        return holders[(size_t{at.product} * rows + at.row) * columns + at.column];
    }
};
FragmentTile fragment_tile(const ptx::MatrixForm& form, ptx::MatrixRole role);

// The product of several side by side (mma.m8n8k4 of f16) that a lane takes part in.
uint8_t product_of_lane(const ptx::MatrixForm& form, uint32_t lane);

// "mma.m16n8k16", "wmma.m16n16k16"; what they multiply is said beside it: "f16".
std::string form_name(const ptx::MatrixForm& form);
// "A(1,2)"; of elements that lie side by side from there on "A(1,2..3)".
std::string fragment_element(ptx::MatrixRole role, const ptx::MatrixPlace& at, uint32_t count = 1,
                             bool down = false);
// "a2", as the PTX ISA counts a lane's elements over its registers.
std::string fragment_name(const ptx::MatrixForm& form, ptx::MatrixRole role, const ptx::FragmentPlace& held);
// "register 1", "the lower half of register 1", "byte 2 of register 1", "bits 8 to 11 of register 1"
std::string register_part(const ptx::MatrixForm& form, ptx::MatrixRole role, const ptx::FragmentPlace& held);
// "A(1,2): lane 5 holds it as a0, the lower half of register 0"
std::string holder_text(const FragmentTile& tile, const ptx::MatrixPlace& at);

// What a lane holds, a register one after the other: "A(1,2..3)". Registers that hold the same once more are left out.
std::vector<std::string> held_by_register(const FragmentTile& tile, uint32_t lane);
// "8 elements of A in 4 registers: A(1,2..3), A(9,2..3), A(1,10..11), A(9,10..11)"; "in 8 registers, each 2 times" where
// others hold the same once more.
std::string held_text(const FragmentTile& tile, uint32_t lane);

// --- of a recording

// What a warp multiplies at a step.
struct FragmentsView {
    uint32_t step = 0, warp = 0;
    std::vector<FragmentTile> tiles;                         // A, B and D
    std::array<std::vector<std::string>, 4> register_names;  // by role, as the PTX calls them
    const playback::MatrixStep* held = nullptr;              // where the block's values are known
    // Then by tile, element by element as FragmentTile::holders: values in their own type.
    std::vector<std::vector<std::string>> values;
};
// The product of matrices that a step is, or else the last one of its warp before it; the next one of a step that brings
// fragments, and where there is none before. None where the warp multiplies none.
std::optional<uint32_t> product_near(const trace::Trace& trace, const BlockIndex& index, uint32_t step);
bool multiplies_matrices(const trace::Trace& trace);  // any of its sites does
// step: of a product of matrices.
FragmentsView fragments_view(const trace::Trace& trace, const BlockIndex& index,
                             const playback::BlockReplay* replay, uint32_t step);

// A register of a lane.
struct FragmentRow {
    std::string names;     // "a0 a1"
    std::string elements;  // "A(1,2..3)"
    std::string reg;       // "%r12"; "" where the PTX does not say
    std::string values;    // "3, -2"
    // "As[1,2..3] = A[65,18..19]": where they came from; "computed"; of D "C was 3"; "" where that is not known
    std::string from;
};
std::vector<FragmentRow> rows_of_lane(const trace::Trace& trace, const BlockIndex& index,
                                      const playback::BlockReplay* replay, const FragmentsView& view,
                                      const FragmentTile& tile, uint32_t lane);
// "A(3,5) = -2: lane 14 holds it as a5, the upper half of register 2 (%r9); from As[3,5], which holds A[67,21]"; of D
// what C was.
std::string element_text(const trace::Trace& trace, const BlockIndex& index,
                         const playback::BlockReplay* replay, const FragmentsView& view,
                         const FragmentTile& tile, const ptx::MatrixPlace& at);

}  // namespace tilescope::look
