#include "kernels/gpu/trace_buffer.h"

#include <algorithm>
#include <numeric>

#include <fmt/format.h>

namespace tilescope::gpu {

namespace {

constexpr uint64_t kMostChunks = 0x7FFF'FFFF;  // the device's counter of chunks may run a little beyond

}  // namespace

Result<TraceBuffer> TraceBuffer::make(Device& device, uint64_t bytes, uint64_t blocks,
                                      const ptx::Instrumented& code) {
    const uint64_t chunk = code.chunk_bytes;
    uint64_t least = ptx::kSlotBytes;
    for (const uint32_t longest : ptx::bytes_of_steps(code)) least = std::max<uint64_t>(least, longest);
    least += ptx::kChunkHeaderBytes;
    bytes = bytes / ptx::kSlotBytes * ptx::kSlotBytes;
    if (bytes < least) {
        return Error{
            fmt::format("a trace buffer of {} bytes holds no request; choose at least {}", bytes, least)};
    }
    TraceBuffer buffer;
    buffer.chunk_bytes_ = code.chunk_bytes;
    // A first chunk too short for a header and a slot is left out.
    uint64_t chunks = (bytes + chunk - 1) / chunk;
    uint64_t lacks = chunks * chunk - bytes;
    if (chunk - lacks < least) {
        --chunks;
        lacks = 0;
        bytes = chunks * chunk;
    }
    if (chunks > kMostChunks) {
        return Error{fmt::format("a trace buffer of {} bytes has more than {} chunks; choose a smaller one",
                                 bytes, kMostChunks)};
    }
    buffer.bytes_ = bytes;
    buffer.chunks_ = static_cast<uint32_t>(chunks);
    buffer.lacks_ = lacks;
    buffer.symbols_ = static_cast<uint32_t>(code.symbols.size());
    auto pool = device.allocate((chunks + 1) * chunk, "the trace buffer");
    if (!pool) return pool.error();
    auto control = device.allocate(sizeof(ptx::ControlBlock) + 8 * uint64_t{buffer.symbols_},
                                   "the trace buffer's control block");
    if (!control) return control.error();
    auto dropped = device.allocate(4 * blocks, "the counts of dropped requests");
    if (!dropped) return dropped.error();
    buffer.pool_ = *pool;
    buffer.control_ = *control;
    buffer.dropped_ = *dropped;
    buffer.aligned_ = (pool->address() + chunk - 1) / chunk * chunk;
    return buffer;
}

Result<void> TraceBuffer::reset(Device& device) {
    ptx::ControlBlock control;
    control.chunks = chunks_;
    control.pool = aligned_;
    control.pool_start = aligned_ + lacks_;
    control.dropped = dropped_.address();
    control.symbols = symbols_;
    if (auto ok = device.fill(dropped_, 0); !ok) return ok;
    return device.upload(control_, 0, &control, sizeof control);
}

Result<TraceBuffer::Drained> TraceBuffer::drain(Device& device, uint64_t blocks, unsigned turn) {
    ptx::ControlBlock control;
    if (auto ok = device.download(&control, control_, 0, sizeof control); !ok) return ok.error();
    Drained drained;
    drained.flags = control.flags;
    trace::DeviceBuffer& buffer = drained.buffer;
    buffer.pool_start = lacks_;
    buffer.symbols.resize(symbols_);
    if (symbols_ > 0) {
        if (auto ok =
                device.download(buffer.symbols.data(), control_, sizeof control, 8 * uint64_t{symbols_});
            !ok)
            return ok.error();
    }
    buffer.dropped.resize(blocks);
    if (auto ok = device.download(buffer.dropped.data(), dropped_, 0, 4 * blocks); !ok) return ok.error();
    drained.dropped = std::accumulate(buffer.dropped.begin(), buffer.dropped.end(), uint64_t{0});
    const uint64_t chunks = std::min(control.next_chunk, control.chunks);
    if (chunks == 0) return drained;
    const uint64_t used = chunks * chunk_bytes_ - lacks_;
    HostMemory& host = host_[turn % 2];
    if (host.bytes() < used) {
        host = {};
        auto made = device.allocate_host(used, "the copy of the trace buffer");
        if (!made) return made.error();
        host = *made;
    }
    if (auto ok = device.download(host.data(), pool_, aligned_ + lacks_ - pool_.address(), used); !ok)
        return ok.error();
    buffer.pool = {host.data(), used};
    return drained;
}

}  // namespace tilescope::gpu
