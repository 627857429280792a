// A launch, whatever it computes: entry, grid, block, arguments, and the arrays that they point to.
//
// Source: CUDA C++ Programming Guide, "Thread Hierarchy": the linear thread number of a block is
// x + y*Dx + z*Dx*Dy; warps are 32 consecutive linear thread numbers.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/element.h"
#include "core/base/members.h"

namespace tilescope {

inline constexpr int kWarpSize = 32;

// The most that a GPU has. Source: CUDA C++ Programming Guide, "Technical Specifications per Compute
// Capability"; shared memory of a block: compute capability 9.0 and 10.0; parameters: 12.1 and later.
inline constexpr uint64_t kMostSharedBytes = 232'448, kMostParameterBytes = 32'764;
inline constexpr uint64_t kMostConstantBytes = 64 << 10;
inline constexpr uint64_t kMostLocalBytes = 512 << 10;  // a thread

struct Dim3 {
    uint32_t x = 1, y = 1, z = 1;
    uint64_t count() const { return uint64_t{x} * y * z; }
    bool operator==(const Dim3&) const = default;
};

// visit(lane) for the active lanes of a mask, lowest first.
template <class Visit>
inline void for_lanes(uint32_t mask, Visit visit) {
    for (; mask != 0; mask &= mask - 1) visit(static_cast<uint32_t>(std::countr_zero(mask)));
}

// Local memory is a thread's own; constant memory is the same for all threads and read only.
enum class Space : uint8_t { Global, Shared, Local, Const };
inline constexpr size_t kSpaces = 4;

inline const char* name_of(Space space) {
    constexpr const char* kNames[kSpaces] = {"global", "shared", "local", "constant"};
    return kNames[static_cast<size_t>(space)];
}

// What the kernel does with an array: reads it, writes it, or both. Shared arrays live for a block only.
enum class ArrayRole : uint8_t { Input, Output, InOut, Shared };

// Where an array's extents come from: said by the launch or its source, worked out from the recorded strides,
// or not known, so that the array is one row.
enum class ExtentSource : uint8_t { Known, Inferred, Flat };

// What a global array holds before the launch: zeros, bytes that are stored, or small whole numbers that are
// made again from a seed (contents.h).
struct Contents {
    enum class Kind : uint8_t { Zeros, SmallIntegers, Stored } kind = Kind::Zeros;
    uint64_t seed = 0;                                    // SmallIntegers
    uint32_t stream = 0;                                  // SmallIntegers: tells arrays of one seed apart
    std::shared_ptr<const std::vector<std::byte>> bytes;  // Stored: as many as the array has
    bool operator==(const Contents& other) const {
        const bool same = bytes == other.bytes || (bytes && other.bytes && *bytes == *other.bytes);
        return kind == other.kind && seed == other.seed && stream == other.stream && same;
    }
};

// An array that a kernel touches. Global arrays are the memory that a launch's arguments point to; shared
// arrays are the __shared__ variables.
struct Array {
    std::string name;  // "M", "N", "P", "Mds", "Nds"
    Space space = Space::Global;
    ArrayRole role = ArrayRole::Input;
    ElementType type = ElementType::F32;
    uint8_t rank = 2;                         // how many of the extents it has: 1 to 3
    uint32_t slices = 1, rows = 1, cols = 0;  // elements; cols is the row pitch too, rows the pitch of slices
    ExtentSource extents = ExtentSource::Known;
    // Global: the virtual address of element 0 (256-byte aligned, as cudaMalloc aligns).
    // Shared: the byte offset of element 0 in the block's shared memory.
    uint64_t base = 0;
    std::string symbol;  // shared: the PTX symbol, "_ZZ5tiledE3Mds"
    Contents contents;   // global
    // Where its elements are parts of structs: what these have. Names and types of its elements follow from it.
    KnownMembers members{};

    uint32_t element_bytes() const { return size_of(type); }
    uint64_t elements() const { return uint64_t{slices} * rows * cols; }
    uint64_t bytes() const { return elements() * element_bytes(); }
    bool reads() const { return role == ArrayRole::Input || role == ArrayRole::InOut; }
    bool writes() const { return role == ArrayRole::Output || role == ArrayRole::InOut; }
    bool operator==(const Array&) const = default;
};

// Where an element lies in its array. The outermost index of an element outside it is below 0 or beyond the
// last, as the index arithmetic gives it.
struct Position {
    int64_t slice = 0, row = 0, col = 0;
    bool operator==(const Position&) const = default;
};

// A box around elements of an array, both corners in it.
struct ElementBox {
    Position first{INT64_MAX, INT64_MAX, INT64_MAX}, last{INT64_MIN, INT64_MIN, INT64_MIN};
    bool empty() const { return first.col > last.col; }
    bool one() const { return first == last; }
    void include(const Position& at) {
        first = {std::min(first.slice, at.slice), std::min(first.row, at.row), std::min(first.col, at.col)};
        last = {std::max(last.slice, at.slice), std::max(last.row, at.row), std::max(last.col, at.col)};
    }
};
inline Position position_of(const Array& array, int64_t element) {
    const auto floor_div = [](int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); };
    if (array.rank < 2 || array.cols == 0) return {0, 0, element};
    const int64_t row = floor_div(element, array.cols), col = element - row * array.cols;
    if (array.rank == 2 || array.rows == 0) return {0, row, col};
    const int64_t slice = floor_div(row, array.rows);
    return {slice, row - slice * array.rows, col};
}

// Where an element lies among the structs of an array that has members: in which one, and at which of its bytes.
struct StructPlace {
    int64_t index = 0;
    uint32_t offset = 0;
};
inline StructPlace struct_place(const Array& array, int64_t element) {
    const int64_t size = array.members.of->bytes, at = element * array.element_bytes();
    const int64_t index = at / size - (at % size < 0 ? 1 : 0);
    return {index, static_cast<uint32_t>(at - index * size)};
}

// Whether names of the array's elements say structs and members: it is a row of structs, or its innermost
// extent is one struct.
inline bool has_structs(const Array& array) {
    return array.members.of && array.cols > 0 &&
           (array.rank < 2 || uint64_t{array.cols} * array.element_bytes() == array.members.of->bytes);
}
// The member that has the element; null for arrays of anything else, and for bytes between members.
inline const Member* member_of(const Array& array, uint64_t element) {
    if (!has_structs(array)) return nullptr;
    return member_at(*array.members.of, struct_place(array, static_cast<int64_t>(element)).offset);
}
// Whether an element is not the first one of its member.
inline bool goes_on_member(const Array& array, uint64_t element) {
    const Member* const member = member_of(array, element);
    return member && struct_place(array, static_cast<int64_t>(element)).offset != member->offset;
}
// The type of a value that begins with an element and of which `bytes` bytes are there: its member's, which may
// be wider than an element; bits where they are less than the member.
inline ElementType type_at(const Array& array, uint64_t element, uint64_t bytes) {
    const Member* const member = member_of(array, element);
    if (!member) return array.type;
    const bool whole = !goes_on_member(array, element) && size_of(member->type) <= bytes;
    if (!whole) return bits_of_size(array.element_bytes());
    return size_of(member->type) < array.element_bytes() ? array.type : member->type;
}

// One argument of the kernel.
struct Argument {
    std::string name;  // "width"; "" where nobody says
    ElementType type = ElementType::U64;
    uint64_t value = 0;               // its bits, where it points to no array
    int32_t array = -1;               // index into Launch::arrays of the array that it points to
    uint64_t offset = 0;              // bytes from that array's first byte
    std::vector<std::byte> object{};  // bytes of a struct passed by value; empty for others
    int32_t map_of =
        -1;  // the array whose tensor map the object is, where it still lacks the address; not in a file
    bool operator==(const Argument&) const = default;
};

// A tensor map that copies of the launch use, as core/ptx/tensor_map.h encodes it.
struct PlacedMap {
    uint64_t address =
        0;  // in global memory, or with in_parameters from the first byte of the kernel's parameters on
    bool in_parameters = false;
    std::vector<std::byte> bytes;
};

struct Launch {
    std::string entry;  // the kernel's name in the PTX
    Dim3 grid, block;
    Dim3 cluster;                 // blocks that share their shared memory (cluster.h); 1 × 1 × 1: none
    uint32_t dynamic_shared = 0;  // bytes per block, beside those that the kernel declares
    std::vector<Argument> arguments;
    std::vector<Array> arrays;
    std::vector<PlacedMap> maps;  // those in global memory hold whatever the arrays' contents say

    // The bits that the kernel is given for an argument: an address where it points to an array.
    uint64_t bits_of(const Argument& argument) const {
        if (argument.array < 0) return argument.value;
        return arrays[static_cast<size_t>(argument.array)].base + argument.offset;
    }
    std::vector<uint64_t> parameters() const {
        std::vector<uint64_t> bits;
        for (const Argument& argument : arguments) bits.push_back(bits_of(argument));
        return bits;
    }
};

// A half-open window of blocks [x0,x1) x [y0,y1) x [z0,z1). What is recorded has all z.
struct BlockWindow {
    uint32_t x0 = 0, x1 = UINT32_MAX, y0 = 0, y1 = UINT32_MAX, z0 = 0, z1 = UINT32_MAX;
    bool contains(uint32_t x, uint32_t y) const { return x >= x0 && x < x1 && y >= y0 && y < y1; }
    bool operator==(const BlockWindow&) const = default;
};

// The order in which the warps of a block take turns. A turn lasts until the warp has made one request or
// arrived at a barrier.
//   fair     round robin, in the order of the warp numbers
//   greedy   the lowest-numbered warp that can run does, until it waits at a barrier
//   seeded   a pseudo-random warp each turn, the same for the same seed
// No order may be assumed of a real GPU. A kernel that is right in one order and wrong in another has a race.
struct Schedule {
    enum class Kind : uint8_t { Fair, Greedy, Seeded, Recorded } kind = Kind::Fair;
    uint64_t seed = 0;
    bool operator==(const Schedule&) const = default;
};

}  // namespace tilescope
