// Runs an instrumented kernel in the interpreter, as a GPU would: the pool of chunks and the control block
// are buffers beside the kernel's own; what it leaves in them is read back.
#pragma once

#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/ptx/instrument.h"
#include "core/ptx/parse.h"
#include "core/simt/interpreter.h"
#include "core/trace/device_buffer.h"

namespace tilescope {

struct InstrumentedRun {
    ptx::InstrumentOptions options;
    uint32_t chunks = 1024;
    uint64_t pool_start = 0;  // bytes that chunk 0 lacks
    unsigned threads = 2;
    Schedule schedule;

    // After run():
    ptx::Instrumented code;
    trace::Decoded decoded;
    simt::GlobalMemory memory;  // of the kernel
    uint32_t flags = 0, chunks_begun = 0;
    std::string problem;

    // arrays: with the bases of the trace; sites: the kernel's. False, with `problem`, on failure.
    bool run(const ptx::Module& module, const std::string& kernel, const Launch& launch,
             const BlockWindow& window, const simt::GlobalMemory& before, const std::vector<Array>& arrays,
             const std::vector<ptx::Site>& sites) {
        options.launch = {launch.grid, launch.block, launch.parameters()};
        auto made = ptx::instrument(module, kernel, options);
        if (!made) return problem = made.error().message, false;
        code = std::move(*made);
        const auto program = simt::prepare(code.module, kernel);
        if (!program) return problem = program.error().message, false;

        const uint32_t x1 = std::min(window.x1, launch.grid.x), y1 = std::min(window.y1, launch.grid.y);
        const uint32_t width = x1 - window.x0, height = y1 - window.y0;
        const uint64_t blocks = uint64_t{width} * height * launch.grid.z;
        constexpr uint64_t kPool = 0x6000'0000'0000, kControl = 0x6100'0000'0000, kDropped = 0x6200'0000'0000;
        memory = before;
        const size_t own = memory.buffers.size();
        memory.buffers.push_back(
            {"pool", kPool + pool_start,
             simt::Bytes(uint64_t{chunks} * code.chunk_bytes - pool_start, std::byte{0xEE})});
        memory.buffers.push_back({"control", kControl, simt::Bytes(40 + 8 * code.symbols.size())});
        memory.buffers.push_back({"dropped", kDropped, simt::Bytes(4 * blocks)});
        ptx::ControlBlock control;
        control.chunks = chunks;
        control.pool = kPool, control.pool_start = kPool + pool_start, control.dropped = kDropped;
        control.symbols = static_cast<uint32_t>(code.symbols.size());
        std::memcpy(memory.buffers[own + 1].bytes.data(), &control, sizeof(control));

        Launch recorded = launch;
        for (const uint64_t bits :
             {kControl, uint64_t{window.x0}, uint64_t{window.y0}, uint64_t{width}, uint64_t{height}})
            recorded.arguments.push_back({"", ElementType::U64, bits, -1, 0});
        simt::RunOptions how;
        if (!options.windowed) how.window = window;
        how.threads = threads;
        how.schedule = schedule;
        const auto outcome = simt::run(**program, recorded, memory, how, nullptr);
        if (!outcome) return problem = outcome.error().message, false;
        if (outcome->fault) return problem = outcome->fault->message, false;

        std::memcpy(&control, memory.buffers[own + 1].bytes.data(), sizeof(control));
        flags = control.flags;
        chunks_begun = std::min(control.next_chunk, chunks);
        trace::DeviceBuffer buffer;
        buffer.pool =
            std::span<const std::byte>(memory.buffers[own].bytes)
                .first(chunks_begun == 0 ? 0 : uint64_t{chunks_begun} * code.chunk_bytes - pool_start);
        buffer.pool_start = pool_start;
        buffer.dropped.resize(blocks);
        std::memcpy(buffer.dropped.data(), memory.buffers[own + 2].bytes.data(), 4 * blocks);
        buffer.symbols.resize(code.symbols.size());
        if (!code.symbols.empty())
            std::memcpy(buffer.symbols.data(), memory.buffers[own + 1].bytes.data() + 40,
                        8 * code.symbols.size());

        trace::DecodeOptions decode;
        decode.grid = launch.grid, decode.block = launch.block, decode.window = window;
        decode.arrays = &arrays, decode.sites = &sites;
        decode.threads = threads;
        decode.map_at = [&](uint64_t address, bool in_parameters) -> std::optional<PlacedMap> {
            for (size_t i = 0; in_parameters && i < launch.arguments.size(); ++i)
                if (code.parameters[i] == address &&
                    launch.arguments[i].object.size() == ptx::kTensorMapBytes)
                    return PlacedMap{address, true, launch.arguments[i].object};
            return std::nullopt;
        };
        for (const ptx::Symbol& symbol : ptx::find_kernel(module, kernel)->symbols)
            if (symbol.space == ptx::StateSpace::Local)
                decode.local.push_back({symbol.name, 0, symbol.bytes()});  // one a kernel, in these tests
        auto read = trace::decode_device_buffer(code, buffer, decode);
        if (!read) return problem = read.error().message, false;
        decoded = std::move(*read);
        memory.buffers.resize(own);
        return true;
    }
};

}  // namespace tilescope
