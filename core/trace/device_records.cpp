#include "core/trace/device_records.h"

#include <array>
#include <cstring>

#include <fmt/core.h>

namespace tilescope::trace {

using Kind = ptx::Code::Kind;

StreamReader::StreamReader(const DeviceLayout& layout, const ChunkTable& table,
                           std::span<const ChunkRef> chunks)
    : layout_(&layout),
      table_(&table),
      chunks_(chunks),
      code_mask_((1u << layout.code_bits) - 1),
      clock_mask_(UINT32_MAX >> layout.code_bits) {
    if (!chunks.empty()) {
        warp = chunks[0].stream >> 8;
        lane_ = chunks[0].stream & 0xFF;
        clock_ = chunks[0].clock;
    }
}

bool StreamReader::fail(const std::string& what) {
    problem = fmt::format(
        "a slot of chunk {} of the device trace buffer {}, which cannot be: the buffer is damaged; record "
        "again",
        chunks_[chunk_ - 1].number, what);
    return false;
}

// later: a full clock that was read after the last record.
void StreamReader::look_for_gap(uint64_t later) {
    if (later < clock_ || later - clock_ > clock_mask_) gap = true;
}

bool StreamReader::next_chunk() {
    if (chunk_ == chunks_.size()) {
        if (closed_ != 0) {
            look_for_gap(closed_);
            closed_ = 0;
        }
        return false;
    }
    const Chunk chunk = table_->chunk(chunks_[chunk_].number);
    if (chunk_ > 0) {
        look_for_gap(chunk.header.clock);
        gap = gap || sm != chunk.header.sm;
    }
    ++chunk_;
    sm = chunk.header.sm;
    clock_ = std::max(clock_, chunk.header.clock);
    closed_ = uint64_t{chunk.header.last_clock_high} << 32 | chunk.header.last_clock_low;
    at_ = chunk.slots;
    end_ = chunk.slots + chunk.bytes;
    written += ptx::kChunkHeaderBytes;
    return true;
}

bool StreamReader::next() {
    if (has_second_) {
        has_second_ = false;
        record = second_;
        return true;
    }
    if (run_ != nullptr) {
        read_of_run();
        return true;
    }
    for (;;) {
        while (at_ == end_)
            if (!next_chunk()) return false;
        if (read_slot()) return true;
        if (!problem.empty()) return false;
    }
}

// The clock of the record is that of the run's first site.
bool StreamReader::begin_run(const ptx::Code& code) {
    if (lane_ != ptx::kWarpStream)
        return fail(fmt::format("of lane {} begins a run, which only a whole warp writes", lane_));
    const uint32_t bytes = code.slots * ptx::kSlotBytes;
    if (end_ - at_ < static_cast<std::ptrdiff_t>(bytes)) return fail("begins a run where the chunk ends");
    run_ = at_;
    run_next_ = code.site;
    run_last_ = code.second;
    written += bytes;
    at_ += bytes;
    read_of_run();
    return true;
}

void StreamReader::read_of_run() {
    const ptx::RunPlace& place = layout_->places[run_next_];
    const SiteFacts& facts = layout_->sites[run_next_];
    if (place.clock != ptx::RunPlace::kNone) {
        uint16_t low = 0;
        std::memcpy(&low, run_ + 2 * place.clock, sizeof low);
        clock_ += static_cast<uint16_t>(low - static_cast<uint16_t>(clock_));
    }
    uint32_t base = 0;
    if (!facts.addressless()) std::memcpy(&base, run_ + 4 * place.base, sizeof base);
    record.clock = clock_;
    record.site = run_next_;
    record.mask = layout_->lanes[warp];
    record.address = base + static_cast<uint32_t>(place.offset);
    record.address = (record.address & UINT32_MAX) | (facts.space == Space::Global ? layout_->high : 0);
    ++records;
    if (run_next_++ == run_last_) run_ = nullptr;
}

// False for a pad, and where something is wrong.
bool StreamReader::read_slot() {
    std::array<uint32_t, 4> word;
    std::memcpy(word.data(), at_, sizeof(word));
    const uint32_t number = word[1] & code_mask_;
    if (number >= layout_->codes.size())
        return fail(fmt::format("has code {} of {}", number, layout_->codes.size()));
    const ptx::Code& code = layout_->codes[number];
    if (code.kind == Kind::Pad) {
        at_ = end_;
        return false;
    }
    const bool of_groups = code.of_groups();
    static constexpr SiteFacts kNoSite{.barrier = true};
    const SiteFacts& facts = of_groups ? kNoSite : layout_->sites[code.site];
    const uint32_t all = layout_->lanes[warp];
    clock_ += ((word[1] >> layout_->code_bits) - static_cast<uint32_t>(clock_)) & clock_mask_;
    record.clock = clock_;
    record.site = code.site;
    record.address = word[0];
    record.addresses = nullptr;
    record.narrow = code.kind == Kind::Narrow ? &facts.narrow : nullptr;
    record.returned = code.kind == Kind::Returned;
    record.has_words = code.kind == Kind::Words;
    record.group = of_groups ? &code : nullptr;
    if (code.kind == Kind::Pair) {
        const SiteFacts& second = layout_->sites[code.second];
        if (lane_ != ptx::kWarpStream)
            return fail(fmt::format("of lane {} holds a pair, which only a whole warp writes", lane_));
        if (!(facts.affine || facts.barrier) || !(second.affine || second.barrier))
            return fail("is a pair with a site whose addresses follow from no lane");
        record.mask = all;
        record.address |= facts.space == Space::Global ? layout_->high : 0;
        clock_ += word[3] - static_cast<uint32_t>(clock_);
        second_ = {};
        second_.clock = clock_;
        second_.site = code.second;
        second_.mask = all;
        second_.address = word[2] | (second.space == Space::Global ? layout_->high : 0);
        has_second_ = true;
        records += 2;
        written += ptx::kSlotBytes;
        at_ += ptx::kSlotBytes;
        return true;
    }
    if (code.kind == Kind::Run) return begin_run(code);
    record.mask = word[3];
    if (record.mask == 0 || (record.mask & ~all) != 0)
        return fail(fmt::format("has the active mask {:#x} where warp {} has {:#x}", record.mask, warp, all));
    uint32_t bytes = ptx::kSlotBytes;
    if (code.kind == Kind::Escape || code.kind == Kind::Returned || record.narrow || record.has_words) {
        const auto lanes = static_cast<uint32_t>(std::popcount(record.mask));
        bytes = record.has_words ? ptx::words_record_bytes(facts.words, lanes)
                : record.narrow  ? record.narrow->record_bytes()
                                 : ptx::kEscapeBytes;
        if (end_ - at_ < static_cast<std::ptrdiff_t>(bytes))
            return fail("begins the addresses of its lanes where the chunk ends");
        record.addresses = at_ + ptx::kSlotBytes;
    } else if (!facts.affine && !facts.barrier && (record.mask & (record.mask - 1)) != 0) {
        return fail(
            fmt::format("has one address for {} lanes at site {}, whose addresses follow from no lane",
                        std::popcount(record.mask), code.site));
    }
    if (facts.space == Space::Global) record.address |= uint64_t{word[2]} << 32;
    records += !record.returned && !of_groups;
    written += bytes;
    at_ += bytes;
    return true;
}

}  // namespace tilescope::trace
