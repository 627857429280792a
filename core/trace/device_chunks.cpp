#include <cstring>

#include <fmt/core.h>

#include "core/trace/device_layout.h"

namespace tilescope::trace {

namespace {

using ptx::kChunkHeaderBytes;
using ptx::kSlotBytes;

Error damaged(uint32_t number, const std::string& what) {
    return Error{fmt::format(
        "chunk {} of the device trace buffer {}, which cannot be: the buffer is damaged; record again",
        number, what)};
}

Result<void> check(const DeviceLayout& layout, const ptx::ChunkHeader& header, uint32_t number,
                   uint64_t front) {
    if (header.block >= layout.blocks())
        return damaged(number, fmt::format("names block {} of {}", header.block, layout.blocks()));
    const uint32_t warp = header.stream & 0xFF, lane = header.stream >> 8;
    if (warp >= layout.warps) return damaged(number, fmt::format("names warp {} of {}", warp, layout.warps));
    if (lane != ptx::kWarpStream && (lane >= kWarpSize || (layout.lanes[warp] >> lane & 1) == 0))
        return damaged(number, fmt::format("names lane {} of warp {}", lane, warp));
    if (header.used != 0 && (header.used < front + kChunkHeaderBytes || header.used > layout.chunk_bytes ||
                             header.used % kSlotBytes != 0)) {
        return damaged(number,
                       fmt::format("says that {} of its {} bytes are used", header.used, layout.chunk_bytes));
    }
    return {};
}

}  // namespace

Chunk ChunkTable::chunk(uint32_t number) const {
    const uint64_t front = number == 0 ? pool_start : 0;
    const std::byte* start = pool + (uint64_t{number} * chunk_bytes + front - pool_start);
    Chunk chunk;
    std::memcpy(&chunk.header, start, kChunkHeaderBytes);
    chunk.slots = start + kChunkHeaderBytes;
    chunk.bytes = static_cast<uint32_t>((chunk.header.used == 0 ? chunk_bytes : chunk.header.used) - front -
                                        kChunkHeaderBytes);
    return chunk;
}

Result<ChunkTable> chunk_table(const DeviceLayout& layout, const DeviceBuffer& buffer) {
    ChunkTable table;
    table.pool = buffer.pool.data();
    table.pool_start = buffer.pool_start;
    table.chunk_bytes = layout.chunk_bytes;
    table.first.assign(layout.blocks() + 1, 0);
    if (buffer.pool.empty()) return table;
    const uint64_t bytes = buffer.pool.size() + buffer.pool_start;
    if (buffer.pool_start % kSlotBytes != 0 || buffer.pool_start > layout.chunk_bytes - kChunkHeaderBytes ||
        bytes % layout.chunk_bytes != 0 || bytes / layout.chunk_bytes > UINT32_MAX) {
        return Error{fmt::format(
            "a device trace buffer of {} bytes that begins {} bytes into its first chunk is no whole number "
            "of chunks of {} bytes; read it to the end of the last chunk begun",
            buffer.pool.size(), buffer.pool_start, layout.chunk_bytes)};
    }
    const auto count = static_cast<uint32_t>(bytes / layout.chunk_bytes);
    std::vector<uint32_t> block_of(count);
    std::vector<ChunkRef> refs(count);
    for (uint32_t i = 0; i < count; ++i) {
        const uint64_t front = i == 0 ? table.pool_start : 0;
        ptx::ChunkHeader header;
        std::memcpy(&header, table.pool + (uint64_t{i} * layout.chunk_bytes + front - table.pool_start),
                    kChunkHeaderBytes);
        if (auto ok = check(layout, header, i, front); !ok) return ok.error();
        block_of[i] = header.block;
        refs[i] = {header.clock, (header.stream & 0xFF) << 8 | header.stream >> 8, i};
        ++table.first[header.block + 1];
    }
    for (uint64_t b = 0; b < layout.blocks(); ++b) table.first[b + 1] += table.first[b];
    std::vector<uint64_t> next(table.first.begin(), table.first.end() - 1);
    table.refs.resize(count);
    for (uint32_t i = 0; i < count; ++i) table.refs[next[block_of[i]]++] = refs[i];
    return table;
}

}  // namespace tilescope::trace
