// wgmma.mma_async: D = A B + D by the four warps of a warpgroup, A of 64 x k, B of k x n elements.
//
// B, and A unless it is in registers, lie in shared memory; a 64-bit descriptor says how:
//
//   bit 0-13   start address / 16           46-48  unused
//      16-29   leading byte offset / 16     49-51  base offset: the line, modulo 8, at which the swizzle's pattern begins
//      32-45   stride byte offset / 16      62-63  swizzle: 0 none, 1 128B, 2 64B, 3 32B
//
// The address of an element before the swizzle, from the start address on. S is the swizzle's span, r the element's row
// of A (column of B), k its place along k, both in bytes where they lie contiguous:
//
//   K-major   none      16 (r % 8) + SBO (r / 8) + LBO (k / 16) + k % 16       core matrices of 8 rows x 16 bytes
//             swizzle    S (r % 8) + SBO (r / 8) + k                           LBO is not used
//   MN-major  none      16 (k % 8) + LBO (k / 8) + SBO (r / 16) + r % 16       only elements of 16 bits
//             swizzle    S (k % 8) + SBO (k / 8) + LBO (r / S) + r % S
//
// One instruction multiplies 32 bytes of k (f16: 16 elements); the next 32 bytes of a K-major tile with a swizzle begin
// 32 bytes on, at descriptor + 2, since the pattern follows the address.
//
// Each warp w holds the rows 16 w .. 16 w + 15 of A and D as mma.m16n8 does, D in n / 8 tiles of 8 columns (matrix.h).
//
// Source: PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions": "Register Fragments", "Shared Memory Matrix
// Layout", "Matrix Descriptor", "wgmma.mma_async".
#pragma once

#include <cstdint>
#include <optional>

#include "core/ptx/matrix.h"
#include "core/ptx/swizzle.h"

namespace tilescope::ptx {

inline constexpr uint32_t kWarpgroupRows = 64, kWarpsOfGroup = 4, kMostColumns = 256;
inline constexpr uint32_t kBytesAlongK = 32;  // of one instruction; of a sparse A as it is stored

// Columns of A that one instruction multiplies: 16 of 16 bits, 8 of tf32, 32 of 8 bits, 256 of 1 bit.
uint32_t k_of_warpgroup(MatrixType factor, bool sparse = false);
// The form of wgmma.mma_async with these types; none where PTX has no such. c is of d's type.
std::optional<MatrixForm> warpgroup_form(uint32_t n, MatrixType d, MatrixType a, MatrixType b,
                                         bool sparse = false);
// Of wgmma.mma_async: the form that the suffixes name; none where PTX has no such.
std::optional<MatrixForm> warpgroup_form(const Instruction& instruction);
// Whether the instruction may have its matrix MN-major in shared memory: elements of 16 bits alone.
bool may_be_transposed(const MatrixForm& form);
// 32-bit registers that each thread holds of D, or of an A in registers.
uint32_t warpgroup_registers(const MatrixForm& form, MatrixRole role);
// Where element `held.element` of a lane's register lies; of D, and of an A in registers.
MatrixPlace warpgroup_place(const MatrixForm& form, MatrixRole role, uint32_t warp,
                            const FragmentPlace& held);
// Who holds an element of D, or of an A in registers: the warp (0 to 3), and what of it.
struct WarpgroupHolder {
    uint8_t warp = 0;
    FragmentPlace held;
    bool operator==(const WarpgroupHolder&) const = default;
};
WarpgroupHolder warpgroup_holder(const MatrixForm& form, MatrixRole role, const MatrixPlace& place);

// A matrix in shared memory.
struct MatrixDescriptor {
    uint32_t address = 0;             // bytes; a multiple of 16 below 256 KiB
    uint32_t leading = 0;             // LBO, bytes
    uint32_t stride = 0;              // SBO, bytes
    uint8_t base_offset = 0;          // 128-byte lines
    Swizzle swizzle = Swizzle::None;  // none, 32B, 64B or 128B
    bool operator==(const MatrixDescriptor&) const = default;
};
MatrixDescriptor matrix_descriptor(uint64_t bits);
uint64_t bits_of(const MatrixDescriptor& descriptor);

// Byte address in shared memory of the element of A in row `row`, or of B in column `row`, at `k`; of a sparse A the k-th
// that is stored. bits: of an element; of 1 bit, the byte that holds it. transposed: MN-major.
uint32_t address_of_element(const MatrixDescriptor& descriptor, bool transposed, uint32_t bits, uint32_t row,
                            uint32_t k);

}  // namespace tilescope::ptx
