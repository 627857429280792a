// The device trace buffer: a pool of chunks, a control block and a count of dropped requests for each block
// of the window. core/ptx/instrument.h says how the device writes it, core/trace/device_buffer.h reads it.
#pragma once

#include <array>
#include <cstdint>

#include "core/ptx/instrument.h"
#include "core/trace/device_buffer.h"
#include "kernels/gpu/driver.h"

namespace tilescope::gpu {

class TraceBuffer {
public:
    // bytes: room for what the device writes, headers included; the first chunk is cut to fit.
    static Result<TraceBuffer> make(Device& device, uint64_t bytes, uint64_t blocks,
                                    const ptx::Instrumented& code);

    Result<void> reset(Device& device);
    uint64_t control() const { return control_.address(); }
    uint64_t bytes() const { return bytes_; }

    struct Drained {
        trace::DeviceBuffer buffer;  // its pool is host memory of this object
        uint32_t flags = 0;
        uint64_t dropped = 0;
    };
    // blocks: of the launch's window. Copies to one of two host buffers (`turn` modulo 2); the other stays
    // readable.
    Result<Drained> drain(Device& device, uint64_t blocks, unsigned turn);

private:
    Memory pool_, control_, dropped_;
    std::array<HostMemory, 2> host_;
    uint64_t bytes_ = 0;
    uint64_t aligned_ = 0;  // address of the first chunk's aligned start
    uint64_t lacks_ = 0;    // bytes that the first chunk lacks at its front
    uint32_t chunks_ = 0, chunk_bytes_ = 0, symbols_ = 0;
};

}  // namespace tilescope::gpu
