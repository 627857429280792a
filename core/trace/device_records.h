// One stream of a device trace buffer, record by record, its clocks unrolled.
//
//   header's clock   C                                     64 bits
//   tag's clock      t1 = (C + a) mod 2^w                  w = 32 - code_bits: the next time that is
//                    t2 = (C + a + b) mod 2^w              t1 modulo 2^w, at or after the one before
//
// which is right where records lie less than 2^w clocks apart. The clock at the start of the next
// chunk, or at the stream's end, tells: where it is 2^w or more after the last record, either they do not,
// or nothing happened for that long, and nobody knows which.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "core/trace/device_layout.h"

namespace tilescope::trace {

struct DeviceRecord {
    uint64_t clock = 0;
    uint64_t address = 0;  // of the lowest active lane, as on the device
    uint32_t site = 0, mask = 0;
    const std::byte* addresses = nullptr;          // escapes, by lane; perhaps not aligned
    const ptx::NarrowAddresses* narrow = nullptr;  // not null: these are parts of them
    bool returned = false;                         // these are what an atomic gave back, and no addresses
    bool has_words = false;                        // these are of the active lanes alone, each with its words
    const ptx::Code* group = nullptr;              // not null: a commit or a wait, of no site
};

class StreamReader {
public:
    // chunks: of one stream, in order; all three outlive the reader.
    StreamReader(const DeviceLayout& layout, const ChunkTable& table, std::span<const ChunkRef> chunks);

    // Makes `record` the next one. False at the end, and where `problem` is set.
    bool next();

    DeviceRecord record;
    uint32_t warp = 0, sm = 0;          // of the latest chunk
    uint64_t records = 0, written = 0;  // records and bytes read so far
    bool gap = false;                   // the clock could not be unrolled, or the stream changed its SM
    std::string problem;

private:
    bool next_chunk();
    void look_for_gap(uint64_t later);
    bool read_slot();
    bool begin_run(const ptx::Code& code);
    void read_of_run();
    bool fail(const std::string& what);

    const DeviceLayout* layout_;
    const ChunkTable* table_;
    std::span<const ChunkRef> chunks_;
    size_t chunk_ = 0;  // the next one
    const std::byte *at_ = nullptr, *end_ = nullptr;
    uint64_t clock_ = 0, closed_ = 0;
    uint32_t lane_ = 0, code_mask_ = 0, clock_mask_ = 0;
    bool has_second_ = false;
    DeviceRecord second_;                   // the other half of a pair
    const std::byte* run_ = nullptr;        // the words of the run that is being read
    uint32_t run_next_ = 0, run_last_ = 0;  // sites of it
};

// One block of the buffer: its streams put in one order, and handed to a recorder.
struct DecodedBlock {
    std::unique_ptr<BlockRecorder> recorder;
    uint64_t written = 0, records = 0;
    bool clock_gaps = false;
};

// Sorts the block's chunks in the table: blocks may be decoded side by side, each once.
Result<DecodedBlock> decode_block(const DeviceLayout& layout, ChunkTable& table, uint64_t block,
                                  uint32_t dropped, const DecodeOptions& options);

}  // namespace tilescope::trace
