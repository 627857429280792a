// Tensor maps: what cp.async.bulk.tensor is told of a tensor in global memory, and the box that it copies.
//
// A tensor has up to five dimensions; dimension 0 lies contiguous, the others are so many bytes apart. A box names its
// first element by coordinates. In shared memory its rows, along dimension 0, lie one behind the other, and a swizzle
// exchanges chunks of them by their address:
//
//      coordinates (x, y)             shared memory, 16-byte chunks of a box of 4 rows of 128 bytes, swizzle 128B
//      +----------------+
//      |    +-----+     |  row 0      0 1 2 3 4 5 6 7
//      |    | box |     |  row 1      1 0 3 2 5 4 7 6
//      |    +-----+     |  row 2      2 3 0 1 6 7 4 5
//      +----------------+  row 3      3 2 1 0 7 6 5 4
//
// Rows that are shorter than the swizzle's span lie a span apart. Coordinates are signed. A load fills elements outside the
// tensor with zeros, or with NaNs if the map says so; their bytes count for the mbarrier as those inside do. A store leaves
// out what is outside, but in whole chunks of 16 bytes: behind the last element of a row it writes up to 15 bytes more.
//
//   tile       box[i] elements of each dimension; with an element stride s each s-th of them, ceil(box[i] / s)
//   im2col     the dimensions are channels, then W (H, D), then N. `pixels` pixels of `channels` elements each, from the
//              coordinates on: along W, then H, then D, each within the tensor's extent moved by its corners, then N. The
//              offsets of the instruction are added to where a pixel lies
//   gather4    of a map of two dimensions: four rows that the instruction names; sm_100
//
// Source: PTX ISA, "Tensors", "cp.async.bulk.tensor"; CUDA Driver API, cuTensorMapEncodeTiled, cuTensorMapEncodeIm2col; what
// they leave open: an H200, asked by tests/gpu/tensors.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "core/base/element.h"
#include "core/base/result.h"
#include "core/ptx/swizzle.h"

namespace tilescope::ptx {

inline constexpr size_t kMostDimensions = 5;

// In the order of CUtensorMapDataType. The last three are packed.
// clang-format off
enum class TensorType : uint8_t {
    U8, U16, U32, S32, U64, S64, F16, F32, F64, BF16, F32Ftz, TF32, TF32Ftz, U4x16, U4x16Padded, U6x16Padded,
};
// clang-format on
inline constexpr size_t kTensorTypes = 16;
const char* name_of(TensorType type);  // as the driver's header calls it: "FLOAT16"
uint32_t size_of(TensorType type);     // bytes of an element; 0 of the packed ones
bool is_float(TensorType type);
ElementType element_of(TensorType type);                        // as it is shown; B8 of the packed ones
std::optional<TensorType> tensor_type_of(ElementType element);  // none where no tensor map has such elements

struct TensorMap {
    TensorType type = TensorType::F32;
    uint8_t rank = 0;      // 1 to 5; im2col: 3 to 5
    uint64_t address = 0;  // of element 0, in global memory
    std::array<uint64_t, kMostDimensions> extent{};
    std::array<uint64_t, kMostDimensions - 1> stride{};  // bytes; [i] of dimension i + 1
    std::array<uint32_t, kMostDimensions> box{};         // elements; not of im2col
    std::array<uint32_t, kMostDimensions> element_stride{1, 1, 1, 1, 1};
    uint8_t interleave = 0;    // 0: none, 1: 16 bytes, 2: 32 bytes
    uint8_t l2_promotion = 0;  // 0: none, 1: 64 bytes, 2: 128 bytes, 3: 256 bytes
    Swizzle swizzle = Swizzle::None;
    bool fills_with_nan = false;
    bool im2col = false;
    std::array<int32_t, 3> lower_corner{}, upper_corner{};  // im2col: of W, H, D
    uint32_t channels = 0, pixels = 0;                      // im2col: of a pixel, of a column
    bool operator==(const TensorMap&) const = default;
};

// What cuTensorMapEncodeTiled and cuTensorMapEncodeIm2col are both given, in the driver's numbers.
struct TensorMapArguments {
    uint32_t type = 0, rank = 0;  // rank: at most kMostDimensions
    uint64_t address = 0;
    const uint64_t *extents = nullptr, *strides = nullptr;  // of `rank` and rank - 1 elements
    const uint32_t* element_strides = nullptr;
    uint32_t interleave = 0, swizzle = 0, promotion = 0, fill = 0;
};
// The map that they ask for, without what one form alone has. Numbers beyond a byte become 255, which check() refuses.
TensorMap map_of(const TensorMapArguments& given);

// What the driver refuses on a GPU of this major compute capability, as a sentence that names its argument: "boxDim[0] is
// 300; it must be 1 to 256".
Result<void> check(const TensorMap& map, uint32_t major = 9);
// What the driver takes and Tilescope cannot run: interleaved layouts, packed types.
Result<void> runs_here(const TensorMap& map);

// The 128 bytes of a CUtensorMap as Tilescope writes them. NVIDIA's own contents are documented nowhere; these begin
// with a mark and end with a sum of the others, so that neither is taken for the other.
inline constexpr size_t kTensorMapBytes = 128, kTensorMapAlignment = 64;
using TensorMapBytes = std::array<std::byte, kTensorMapBytes>;
TensorMapBytes encode(const TensorMap& map);
// None for other bytes, and for a map that check() refuses.
std::optional<TensorMap> decode(const TensorMapBytes& bytes);

// Which box an instruction asks for.
struct TensorBox {
    std::array<int32_t, kMostDimensions> at{};  // coordinates; gather4: of dimension 0, then the four rows
    std::array<uint16_t, 3> offset{};           // im2col: of W, H, D
    bool gathers = false;                       // gather4, scatter4
    bool stores = false;                        // to global memory
    uint32_t shared = 0;                        // address in shared memory
};

// What ends a kernel: a box that begins off a boundary of 16 bytes in global or of 128 in shared memory, a store to
// negative coordinates, a first pixel of im2col that is not between the corners.
Result<void> check(const TensorMap& map, const TensorBox& box);

// Elements of a row of the box, and rows; what expect_tx must count, outside or not.
uint32_t row_elements(const TensorMap& map);
uint64_t row_count(const TensorMap& map, bool gathers = false);
uint64_t box_bytes(const TensorMap& map, bool gathers = false);
// Bytes from one row to the next in shared memory: the swizzle's span where the rows are shorter.
uint32_t row_pitch(const TensorMap& map);

// A row of a box. Of its bytes those in [inside, inside + inside_bytes) lie in the tensor, the first of them at `global`.
struct TensorRow {
    uint64_t global = 0;
    uint32_t inside = 0, inside_bytes = 0;
    uint32_t shared = 0;  // address of its first byte, before the swizzle
    uint32_t bytes = 0;
};

// A part of a row that lies contiguous in both memories, at most 16 bytes.
struct TensorPiece {
    uint64_t global = 0;
    bool outside = false;  // filled; `global` means nothing
    uint32_t shared = 0;   // after the swizzle
    uint32_t bytes = 0;
};

// The rows of a box, one after the other.
class TensorRows {
public:
    // The map is one that check() and runs_here() allow; row_count() rows, which the caller has found to be few enough.
    TensorRows(const TensorMap& map, const TensorBox& box);
    bool next(TensorRow& row);

private:
    const TensorMap& map_;
    TensorBox box_;
    uint64_t left_;
    uint32_t shared_;
    std::array<uint32_t, kMostDimensions> index_{};    // tile, gather4: within the box
    std::array<int64_t, kMostDimensions> position_{};  // of the row's first element
};

// fn(const TensorPiece&) for each piece of a row, in the order of its bytes.
template <class Fn>
void for_pieces(Swizzle swizzle, const TensorRow& row, Fn fn) {
    const uint32_t most = std::min<uint32_t>(rule_of(swizzle).chunk, 16);
    for (uint32_t from = 0; from < row.bytes;) {
        const uint32_t shared = row.shared + from, end = row.inside + row.inside_bytes;
        uint32_t to = std::min(row.bytes, from + most - shared % most);
        const bool outside = from < row.inside || from >= end;
        if (from < row.inside)
            to = std::min(to, row.inside);
        else if (!outside)
            to = std::min(to, end);
        fn(TensorPiece{row.global + (from - row.inside), outside, swizzled(swizzle, shared), to - from});
        from = to;
    }
}

// fn(const TensorPiece&) for each piece of a box that is loaded, or stored.
template <class Fn>
void for_pieces(const TensorMap& map, const TensorBox& box, Fn fn) {
    TensorRow row;
    for (TensorRows rows(map, box); rows.next(row);) for_pieces(map.swizzle, row, fn);
}

// What each two bytes outside the tensor are filled with, whatever the type.
uint16_t filled(const TensorMap& map);
// What a load makes of an element of 32 bits: of tf32 rounded to the nearest, of two as near the even one, a NaN 0x7FFFE000.
// Stores, and all other types, FTZ too, copy bits.
uint32_t loaded(TensorType type, uint32_t bits);

}  // namespace tilescope::ptx
