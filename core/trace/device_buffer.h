// Reads what an instrumented kernel left in a device trace buffer; core/ptx/instrument.h draws it.
//
//   chunks --> streams (by block, warp, lane; in the order of their clocks)
//          --> records with unrolled clocks --> a block's steps, in the order of the clock
//          --> BlockRecorder, and from there on everything is as on the CPU
//
// Never trusts the buffer: what cannot be is an error that says so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/ptx/instrument.h"
#include "core/trace/builder.h"

namespace tilescope::trace {

// One launch's buffer, on the host.
struct DeviceBuffer {
    std::span<const std::byte> pool;  // from pool_start to the end of the last chunk begun
    uint64_t pool_start = 0;          // bytes that chunk 0 lacks at its front (see ControlBlock)
    std::vector<uint32_t> dropped;    // by block of the window
    std::vector<uint64_t> symbols;    // device addresses of the variables, as Instrumented::symbols
};

struct DecodeOptions {
    Dim3 grid, block, cluster;
    BlockWindow window;  // blocks of this launch, clipped to the grid
    // Shared arrays with the bases that the trace gives them, global ones at their device addresses.
    // Addresses in a shared or constant variable of Instrumented::symbols are moved from where the device has
    // it to Array::base of the array of that symbol.
    const std::vector<Array>* arrays = nullptr;     // outlives the recorders
    const std::vector<ptx::Site>* sites = nullptr;  // outlives the recorders
    // Device address of a global array -> the address that the trace gives it; by array. Equal to
    // Array::base where the trace keeps the device's own.
    std::vector<uint64_t> device_base;
    // Variables of local memory: where the trace has them in a thread's.
    struct Local {
        std::string symbol;
        uint64_t offset = 0, bytes = 0;
    };
    std::vector<Local> local;
    // The tensor map at an address of the trace, or that many bytes behind the kernel's first parameter, with addresses of
    // the trace; none where there is none. Called from several threads; null: there are none.
    std::function<std::optional<PlacedMap>(uint64_t address, bool in_parameters)> map_at;
    unsigned threads = 0;
};

struct Decoded {
    // Every block of the window, in its order, with clocks.
    std::vector<std::unique_ptr<BlockRecorder>> blocks;
    uint64_t written = 0;  // bytes of headers and slots that hold something
    uint64_t records = 0;  // requests and barriers
    uint64_t dropped = 0;
    // A stream's clock could not be unrolled: times of its block are not to be trusted.
    bool clock_gaps = false;
};

Result<Decoded> decode_device_buffer(const ptx::Instrumented& code, const DeviceBuffer& buffer,
                                     const DecodeOptions& options);

}  // namespace tilescope::trace
