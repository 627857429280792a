// Words shared by everything that speaks of a launch: grids, blocks, warps, memory spaces.
//
// Source: CUDA C++ Programming Guide, "Thread Hierarchy": the linear thread number of a block is
// x + y*Dx + z*Dx*Dy; warps are 32 consecutive linear thread numbers.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tilescope {

inline constexpr int kWarpSize = 32;

struct Dim3 {
    uint32_t x = 1, y = 1, z = 1;
    uint64_t count() const { return uint64_t{x} * y * z; }
    bool operator==(const Dim3&) const = default;
};

enum class Space : uint8_t { Global, Shared };

inline const char* name_of(Space space) { return space == Space::Global ? "global" : "shared"; }

enum class ArrayRole : uint8_t { Input, Output, Shared };

// An array that a kernel touches. Global arrays are the buffers that a launch binds to the
// kernel's pointer parameters; shared arrays are the __shared__ variables.
struct Array {
    std::string name;  // "M", "N", "P", "Mds", "Nds"
    Space space = Space::Global;
    ArrayRole role = ArrayRole::Input;
    uint32_t rows = 0, cols = 0;  // logical size, elements; cols is also the row pitch
    uint32_t element_bytes = 4;
    // Global: the virtual address of element 0 (256-byte aligned, as cudaMalloc aligns).
    // Shared: the byte offset of element 0 in the block's shared memory.
    uint64_t base = 0;
    int32_t parameter = -1;  // global: index of the kernel parameter bound to it
    std::string symbol;      // shared: the PTX symbol, "_ZZ5tiledE3Mds"
    uint64_t bytes() const { return uint64_t{rows} * cols * element_bytes; }
    bool operator==(const Array&) const = default;
};

// A half-open window of blocks [x0,x1) x [y0,y1); all z.
struct BlockWindow {
    uint32_t x0 = 0, x1 = UINT32_MAX, y0 = 0, y1 = UINT32_MAX;
    bool contains(uint32_t x, uint32_t y) const { return x >= x0 && x < x1 && y >= y0 && y < y1; }
    bool operator==(const BlockWindow&) const = default;
};

// The order in which the warps of a block take turns; one turn lasts until the warp has made one
// request or barrier.
//   fair     round robin, in the order of the warp numbers
//   greedy   the lowest-numbered warp that can run keeps running until it stands at a barrier
//   seeded   a pseudo-random warp each turn, the same for the same seed
// No order may be assumed of a real GPU; a kernel that is right under one and wrong under another
// has a race.
struct Schedule {
    enum class Kind : uint8_t { Fair, Greedy, Seeded, Recorded } kind = Kind::Fair;
    uint64_t seed = 0;
    bool operator==(const Schedule&) const = default;
};

}  // namespace tilescope
