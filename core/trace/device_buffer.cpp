#include "core/trace/device_buffer.h"

#include <atomic>
#include <mutex>

#include "core/base/parallel.h"
#include "core/trace/device_records.h"

namespace tilescope::trace {

Result<Decoded> decode_device_buffer(const ptx::Instrumented& code, const DeviceBuffer& buffer,
                                     const DecodeOptions& options) {
    const auto layout = device_layout(code, buffer, options);
    if (!layout) return layout.error();
    auto table = chunk_table(*layout, buffer);
    if (!table) return table.error();
    const uint64_t blocks = layout->blocks();
    std::vector<DecodedBlock> made(blocks);
    std::atomic<uint64_t> first_bad{UINT64_MAX};
    std::mutex mutex;  // for what follows
    Error problem;

    for_each_index(blocks, options.threads, [&](uint64_t b) {
        if (b > first_bad) return;
        auto block = decode_block(*layout, *table, b, buffer.dropped[b], options);
        if (block) {
            made[b] = std::move(*block);
            return;
        }
        const std::lock_guard lock(mutex);
        if (b < first_bad) {  // the same one on any number of threads
            first_bad = b;
            problem = block.error();
        }
    });
    if (first_bad != UINT64_MAX) return problem;
    Decoded decoded;
    decoded.blocks.reserve(blocks);
    for (uint64_t b = 0; b < blocks; ++b) {
        decoded.blocks.push_back(std::move(made[b].recorder));
        decoded.written += made[b].written;
        decoded.records += made[b].records;
        decoded.dropped += buffer.dropped[b];
        decoded.clock_gaps = decoded.clock_gaps || made[b].clock_gaps;
    }
    return decoded;
}

}  // namespace tilescope::trace
