// Instructions of a whole warp on matrices: their forms, who holds which element, and who asks for what.
//
//   mma, wmma.mma      D = A B + C       A has m x k elements, B k x n, C and D m x n
//   ldmatrix           8 x 8 matrices of 16-bit elements from shared memory; stmatrix: to it
//   movmatrix          transposes one that lies in registers
//   wmma.load, .store  one of A, B, C, D from or to memory
//
// A fragment is what a lane holds of a matrix: some registers, each of E elements (2 of 16 bits, 4 of 8, ...).
// With g = lane / 4 and t = lane % 4 (register i, its element e):
//
//   A    row g + 8 (i % 2), column E t + 4 E (i / 2) + e         t: 0   1   2   3 | 0   1   2   3
//   B    column g, row E t + 4 E i + e                           g 0  r0 r0 .. r0 | r2 r2 .. r2     A of m16n8k16,
//   C, D row g + 8 (i / 2), column 2 t + i % 2                     :                                its registers
//        of 16 bits: row g + 8 i, column 2 t + e                   8  r1 r1 .. r1 | r3 r3 .. r3
//
// Where m is 8 there are the rows g alone. m8n8k4 of f16 is another thing: four products of 8 x 8 x 4 side by side,
// each of eight lanes (quads p and p + 4 make product p).
//
// Which lane holds what of a wmma fragment PTX leaves open; here it is what the product's machine code needs on sm_90:
// fragments of m16n8 (or m8n8) beside each other, of the transposed product where n is 32. An f16 fragment of A or B
// has more registers than it needs; those behind hold the same once more.
//
// A sparse A (mma.sp) holds half of its columns; here they are numbered as they are stored. Which they are, metadata
// say: of each group of 4 columns (2 of tf32; 8 of 4 bits, which come in pairs) two numbers of 2 bits, the first group's
// lowest. Of the lanes 4 g .. 4 g + 3 a selector s names those whose registers count, L of them from s L on:
//
//   16, 32 bits   lane w of them has the groups 4 w .. 4 w + 3 of row g in its lower half, of row g + 8 in its upper
//   4, 8 bits     lane 2 w + h of them has the groups 8 w .. 8 w + 7 of row g + 8 h
//
// Source: PTX ISA, "Warp Level Matrix Multiply-Accumulate Instructions": "Matrix Fragments for mma.m8n8k4" to
// "m16n8k256"; "Matrix Fragments for WMMA"; "ldmatrix", "stmatrix", "movmatrix"; "Sparse matrix storage".
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/launch.h"
#include "core/ptx/ast.h"

namespace tilescope::ptx {

// clang-format off
enum class MatrixType : uint8_t {
    None, F16, BF16, TF32, F32, F64, S8, U8, S4, U4, B1, S32, E4M3, E5M2,
};
// clang-format on
const char* name_of(MatrixType type);                 // "f16"
MatrixType matrix_type_named(std::string_view name);  // None for a name that none has
uint32_t bits_of(MatrixType type);                    // of an element in a register or in memory
constexpr bool is_integer(MatrixType type) { return type >= MatrixType::S8 && type <= MatrixType::S32; }
// The type that the elements have in memory; bits, where there is none.
Type memory_type_of(MatrixType type);

enum class MatrixRole : uint8_t { A, B, C, D };

// A product, or one matrix of it that is loaded or stored.
struct MatrixForm {
    uint16_t m = 0, n = 0, k = 0;
    std::array<MatrixType, 4> types{};  // by MatrixRole; None for those that a load or store is not of
    bool wmma = false, sparse = false;
    bool a_by_columns = false, b_by_rows = false;  // of mma.m8n8k4 of f16, whose fragments differ then
    bool satfinite = false;                        // sums of integers stay at the ends of their range
    bool both = false;                             // of b1: .and, else .xor

    MatrixType type(MatrixRole role) const { return types[static_cast<size_t>(role)]; }
    uint32_t rows(MatrixRole role) const { return role == MatrixRole::B ? k : m; }
    uint32_t columns(MatrixRole role) const;  // those that are stored
    uint32_t products() const;                // side by side: 4 of m8n8k4 of f16, else 1
    uint32_t register_bytes(MatrixRole role) const { return type(role) == MatrixType::F64 ? 8 : 4; }
    uint32_t elements(MatrixRole role) const { return 8 * register_bytes(role) / bits_of(type(role)); }
    uint32_t registers(MatrixRole role) const;
    // Multiplications and additions of the warp.
    uint64_t flop() const { return uint64_t{2} * m * n * columns(MatrixRole::A) * products(); }
    bool operator==(const MatrixForm&) const = default;
};

// Of mma and wmma: the form that the suffixes name; none where PTX has no such.
std::optional<MatrixForm> matrix_form(const Instruction& instruction);
// Those of products that are not sparse, with A and B of one type, C and D of one: mma's, then wmma's, as PTX lists them.
std::vector<MatrixForm> product_forms();
// Which matrix a wmma.load or wmma.store is of.
MatrixRole matrix_role(const Instruction& instruction);
// Of wmma.load and wmma.store: whether rows lie one behind the other in memory, or columns.
bool by_rows(const Instruction& instruction);
// Elements from one row, or column, to the next, where the instruction names none.
uint32_t natural_stride(const MatrixForm& form, MatrixRole role, bool by_rows);

// The first device, 80 for sm_80, and version of PTX, 70 for 7.0, that have an instruction on matrices.
struct DeviceNeeds {
    uint32_t target = 0, version = 0;
};
DeviceNeeds needs_of_matrices(const Instruction& instruction);

// Of ldmatrix and stmatrix: 1, 2 or 4.
uint32_t matrices_of(const Instruction& instruction);
bool is_transposed(const Instruction& instruction);  // .trans

// A matrix of 8 rows of 8 elements of 16 bits that a warp holds, two elements in a register of each lane.
struct MovedPlace {
    uint8_t row = 0, column = 0;
    bool operator==(const MovedPlace&) const = default;
};
// Where element 0 or 1 of a lane's register lies: of ldmatrix the row that some lane points to, and the element in it.
constexpr MovedPlace moved_place(uint32_t lane, uint32_t element, bool transposed) {
    const auto g = static_cast<uint8_t>(lane / 4), along = static_cast<uint8_t>(lane % 4 * 2 + element);
    return transposed ? MovedPlace{along, g} : MovedPlace{g, along};
}

// The i-th operand that is a fragment, counted among all operands: how many registers, and of how many bytes.
struct Fragment {
    uint32_t registers = 0, bytes = 4;
};
Fragment fragment_of(const Instruction& instruction, size_t operand);

struct MatrixPlace {
    uint16_t row = 0, column = 0;
    uint8_t product = 0;
    bool operator==(const MatrixPlace&) const = default;
};
struct FragmentPlace {
    uint8_t lane = 0, index = 0, element = 0;  // index: of the register
    bool operator==(const FragmentPlace&) const = default;
};
MatrixPlace place_of(const MatrixForm& form, MatrixRole role, const FragmentPlace& held);
// Who holds an element, of several registers the first; none for an element that the matrix does not have.
std::optional<FragmentPlace> holder_of(const MatrixForm& form, MatrixRole role, const MatrixPlace& place);

// Of mma.sp: how many selectors there are, from 0 on.
uint32_t selectors_of(const MatrixForm& form);
// The column of A that a row's stored column is; metadata: [32], by lane.
uint32_t column_of_stored(const MatrixForm& form, uint32_t selector, const uint32_t* metadata, uint32_t row,
                          uint32_t stored);

// One request that an instruction on matrices makes of memory.
//
//   ldmatrix, stmatrix  lane 8 j + r gives the address of row r of matrix j, 16 bytes
//   wmma of A or B in   the same, with addresses that follow from the instruction's one and its stride: 16 bits, and
//   shared memory       less where the elements of a register lie side by side
//   wmma, 16 bits that  every lane asks for the words of the transposed matrix, which a movmatrix puts right
//   do not lie so
//   wmma, others        every lane asks for what it holds, as many elements at once as lie side by side
//
// That is what nvcc 13.0 makes of every wmma.load and wmma.store for sm_90.
struct MatrixRequest {
    uint32_t lanes = ~0u;  // that ask
    uint32_t bytes = 16;   // each of them
    uint8_t matrices =
        0;  // of 8 x 8 elements of 16 bits, which other lanes receive; 0: a lane gets what it asks for
    bool transposed = false;
    uint8_t first = 0;                           // register that the first bytes go to
    uint8_t element = 0;                         // and element in it
    std::array<MatrixPlace, kWarpSize> place{};  // wmma: of the first element, by lane
};
// None for instructions that are not on matrices, or ask for no memory.
std::vector<MatrixRequest> requests_of(const Instruction& instruction);

// What is wrong with the suffixes of an instruction on matrices, as the end of a sentence; empty where nothing is.
// Sets its space and types.
std::string read_matrix_suffixes(Instruction& made, size_t in_name);

}  // namespace tilescope::ptx
