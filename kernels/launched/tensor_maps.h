// Tensor maps of launches. On a GPU what the 128 bytes of a map say is documented nowhere, so that each is
// known by its bytes, and by what the driver was given for it:
//
//   the driver makes a map             made(bytes, map)
//   a kernel's argument has its bytes  Tilescope's own take their place; the GPU gets the driver's again (gpu::place_arrays)
//   memory has them                    Launch::maps says what lies there; the memory stays as it is
//
// The tensors become arrays of the launch, with the shape that their map says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/base/launch.h"
#include "core/ptx/tensor_map.h"
#include "kernels/launched/memory.h"

namespace tilescope::launched {

class DriverMaps {
public:
    void made(const ptx::TensorMapBytes& bytes, const ptx::TensorMap& map) { maps_[bytes] = map; }
    // Null for bytes that no known map has. The pointer holds until the next one is made.
    const ptx::TensorMap* find(const ptx::TensorMapBytes& bytes) const;

private:
    std::map<ptx::TensorMapBytes, ptx::TensorMap> maps_;
};

// A map among bytes.
struct FoundMap {
    uint64_t at = 0;  // bytes from the first one
    ptx::TensorMap map;
    bool own = false;  // Tilescope's own bytes, as the stand-in's runtime writes them without a GPU
};
// Those that begin at multiples of 64 bytes, as maps must.
std::vector<FoundMap> maps_in(std::span<const std::byte> bytes, const DriverMaps& known);
// Puts Tilescope's own bytes in place of those that were found there.
void write_own(std::span<std::byte> bytes, std::span<const FoundMap> found);

PlacedMap placed_map(uint64_t address, const ptx::TensorMap& map);  // in global memory

// The tensor as an array without a name: rows as far apart as its first stride says, slices of them. None for packed
// types, and where its strides are no rows of rows.
std::optional<Array> tensor_of(const ptx::TensorMap& map);

// How far behind a pointer maps in memory are looked for, in bytes.
inline constexpr uint64_t kMapsBehindPointer = 4096;

// Does all this for a launch whose memory is known: its arguments, and what lies behind the pointers among them.
void take_maps(Launch& launch, KnownMemory& memory, const DriverMaps& known);

}  // namespace tilescope::launched
