// What is known of a device trace buffer before a byte of it is read: the launch, what each code
// stands for, where each thread's address lies from its warp's first, and where arrays are to be moved.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "core/base/cluster.h"
#include "core/trace/device_buffer.h"

namespace tilescope::trace {

struct SiteFacts {
    bool barrier = false, atomic = false, later = false;  // later: a store that lands later (access.h)
    uint32_t bytes = 0;                                   // bytes per lane
    bool affine = false;
    Space space = Space::Global;
    ptx::Exchange exchange = ptx::Exchange::None;
    ptx::ExchangeOperands operands{};  // of an exchange
    uint32_t lanes = ~0u;              // that can take part
    ptx::NarrowAddresses narrow{};     // of a narrow record
    uint8_t words = 0;                 // beside the address of each lane
    ptx::Signal signal = ptx::Signal::None;
    ptx::Box box = ptx::Box::None;
    // Nothing is recorded of it but that it was executed.
    bool addressless() const { return barrier || ptx::is_of_matrices(exchange); }
};

// `shift` is added to addresses of the device in [first, first + bytes).
struct AddressShift {
    uint64_t first = 0, bytes = 0, shift = 0;
};

using Addresses = std::array<uint64_t, kWarpSize>;

struct DeviceLayout {
    uint32_t chunk_bytes = 0, code_bits = 0;
    std::vector<ptx::Code> codes;
    std::vector<SiteFacts> sites;
    std::vector<ptx::RunPlace> places;  // by site; checked for those in runs
    uint64_t high = 0;                  // high half of the global addresses in pairs and runs, in place

    Dim3 grid, cluster;
    uint32_t x0 = 0, y0 = 0, width = 0, height = 0;  // the window, clipped
    uint32_t warps = 0;
    bool one_barrier = false;                         // see ptx::Instrumented
    std::array<uint32_t, kMaxWarpsPerBlock> lanes{};  // by warp: the lanes that have a thread
    // By warp, then site: offset of each lane's address from that of thread (0, 0, 0).
    std::vector<std::array<uint64_t, kWarpSize>> offsets;

    std::array<std::vector<AddressShift>, kSpaces> moves;  // by space; empty where nothing is to be moved

    uint64_t blocks() const { return uint64_t{width} * height * grid.z; }
    simt::BlockId block(uint64_t number) const {
        return {x0 + static_cast<uint32_t>(number % width),
                y0 + static_cast<uint32_t>(number / width % height),
                static_cast<uint32_t>(number / width / height)};
    }
    // The rank in its cluster of a block by its number; 0 where there are none.
    uint32_t rank_of(uint64_t number) const {
        const simt::BlockId id = block(number);
        return rank_in_cluster(cluster, {id.x, id.y, id.z});
    }
    const std::array<uint64_t, kWarpSize>& offsets_of(uint32_t warp, uint32_t site) const {
        return offsets[warp * sites.size() + site];
    }
};

// The range that holds an address of the device; null for none.
const AddressShift* move_of(const std::vector<AddressShift>& moves, uint64_t address);
// Moves the lanes' addresses to where the trace has its arrays: each with its own array, one in no array with
// the array of the lowest lane. Addresses of shared memory become those that a recording keeps (cluster.h), for a block of
// that rank. True where all are moved alike.
bool place(const DeviceLayout& layout, uint32_t rank, uint32_t mask, Space space, Addresses& address);

Result<DeviceLayout> device_layout(const ptx::Instrumented& code, const DeviceBuffer& buffer,
                                   const DecodeOptions& options);

// --- its chunks, block by block, each block's in the order of its streams

struct ChunkRef {
    uint64_t clock = 0;   // when it was begun
    uint32_t stream = 0;  // warp << 8 | lane
    uint32_t number = 0;  // in the pool
    bool operator<(const ChunkRef& other) const {
        return stream != other.stream ? stream < other.stream
               : clock != other.clock ? clock < other.clock
                                      : number < other.number;
    }
};

struct Chunk {
    ptx::ChunkHeader header;
    const std::byte* slots = nullptr;  // behind the header
    uint32_t bytes = 0;                // of slots that are used, pads included
};

struct ChunkTable {
    const std::byte* pool = nullptr;  // what there is of chunk 0
    uint64_t pool_start = 0;
    uint32_t chunk_bytes = 0;
    std::vector<uint64_t> first;  // by block: its first chunk in refs; one entry more at the end
    std::vector<ChunkRef> refs;   // in no order within a block

    Chunk chunk(uint32_t number) const;  // number was checked
    std::span<ChunkRef> of_block(uint64_t block) {
        return std::span(refs).subspan(first[block], first[block + 1] - first[block]);
    }
};

// Checks every header.
Result<ChunkTable> chunk_table(const DeviceLayout& layout, const DeviceBuffer& buffer);

}  // namespace tilescope::trace
