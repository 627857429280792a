// One block of a device trace buffer: its streams put in one order, and handed to a recorder.
#pragma once

#include <cstdint>
#include <memory>

#include "core/trace/device_chunks.h"

namespace tilescope::trace {

struct DecodedBlock {
    std::unique_ptr<BlockRecorder> recorder;
    uint64_t written = 0, records = 0;
    bool clock_gaps = false;
};

// Sorts the block's chunks in the table: blocks may be decoded side by side, each once.
Result<DecodedBlock> decode_block(const DeviceLayout& layout, ChunkTable& table, uint64_t block,
                                  uint32_t dropped, const DecodeOptions& options);

}  // namespace tilescope::trace
