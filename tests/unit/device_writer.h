// Writes a device trace buffer as an instrumented kernel does, a slot at a time; core/ptx/instrument.h
// draws it. What no kernel would have written is filled with 0xEE.
#pragma once

#include <array>
#include <cstring>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "core/trace/device_buffer.h"

namespace tilescope::trace::test {

// The code of a site's single; that of its escape is one more.
inline uint32_t single_of(uint32_t site) { return 1 + 2 * site; }
inline uint32_t escape_of(uint32_t site) { return 2 + 2 * site; }

// Singles and escapes of all sites; pairs may be pushed behind.
inline ptx::Instrumented instrumented(const std::vector<ptx::Site>& sites,
                                      const std::vector<ptx::LaneShape>& shapes, uint32_t code_bits = 8,
                                      uint32_t chunk_bytes = 512) {
    using Kind = ptx::Code::Kind;
    ptx::Instrumented code;
    code.sites = sites;
    code.shapes = shapes;
    code.code_bits = code_bits;
    code.chunk_bytes = chunk_bytes;
    code.codes.push_back({});
    for (uint32_t s = 0; s < sites.size(); ++s) {
        code.codes.push_back({Kind::Single, s, 0});
        code.codes.push_back({Kind::Escape, s, 0});
    }
    return code;
}

class DeviceWriter {
public:
    DeviceWriter(uint32_t code_bits, uint32_t chunk_bytes, uint64_t pool_start = 0)
        : code_bits_(code_bits), chunk_bytes_(chunk_bytes), pool_start_(pool_start) {}

    uint32_t sm = 7;
    uint32_t block = 0, warp = 0, lane = ptx::kWarpStream;  // whose stream is written to
    std::vector<uint32_t> dropped;
    std::vector<uint64_t> symbols;

    void to(uint32_t b, uint32_t w, uint32_t l = ptx::kWarpStream) { block = b, warp = w, lane = l; }

    void single(uint32_t code, uint64_t clock, uint64_t address, uint32_t mask) {
        room(16, clock);
        slot({low(address), tag(clock, code), high(address), mask});
    }
    void pair(uint32_t code, uint64_t clock, uint64_t address, uint64_t clock_b, uint64_t address_b) {
        room(16, clock);
        slot({low(address), tag(clock, code), low(address_b), low(clock_b)});
    }
    void escape(uint32_t code, uint64_t clock, uint32_t mask, const std::array<uint64_t, 32>& addresses) {
        room(272, clock);
        uint32_t first = 0;
        while ((mask >> first & 1) == 0) ++first;
        slot({low(addresses[first]), tag(clock, code), high(addresses[first]), mask});
        for (size_t i = 0; i < 32; i += 2)
            slot({low(addresses[i]), high(addresses[i]), low(addresses[i + 1]), high(addresses[i + 1])});
    }
    // lanes: by active lane, the lowest first, the two halves of its address and its words.
    void words(uint32_t code, uint64_t clock, uint32_t mask,
               const std::vector<std::vector<uint32_t>>& lanes) {
        std::vector<uint32_t> all;
        for (const auto& lane : lanes) all.insert(all.end(), lane.begin(), lane.end());
        all.resize((all.size() + 3) / 4 * 4, ~0u);
        room(static_cast<uint32_t>(16 + all.size() * 4), clock);
        slot({lanes[0][0], tag(clock, code), lanes[0][1], mask});
        for (size_t i = 0; i < all.size(); i += 4) slot({all[i], all[i + 1], all[i + 2], all[i + 3]});
    }
    // words[1] becomes the tag.
    void run(uint32_t code, uint64_t clock, std::vector<uint32_t> words) {
        words.resize((words.size() + 3) / 4 * 4, ~0u);
        words[1] = tag(clock, code);
        room(static_cast<uint32_t>(words.size() * 4), clock);
        for (size_t i = 0; i < words.size(); i += 4)
            slot({words[i], words[i + 1], words[i + 2], words[i + 3]});
    }
    // The streams end, in the order of their first chunks' blocks, warps and lanes.
    void close(uint64_t clock) {
        for (auto& [name, stream] : streams_) {
            if (stream.at == 0) continue;
            uint32_t words[8];
            std::memcpy(words, &pool_[stream.header], 32);
            words[4] = stream.at - stream.aligned;
            words[6] = low(clock), words[7] = high(clock);
            std::memcpy(&pool_[stream.header], words, 32);
        }
        streams_.clear();
    }
    // pool_ outlives what is returned.
    DeviceBuffer buffer() const {
        return {std::span<const std::byte>(pool_).subspan(pool_.empty() ? 0 : pool_start_), pool_start_,
                dropped, symbols};
    }
    std::vector<std::byte>& bytes() { return pool_; }
    size_t chunks() const { return pool_.size() / chunk_bytes_; }

private:
    struct Stream {
        uint32_t aligned = 0, header = 0, at = 0;  // offsets in the pool; at 0: no chunk yet
    };
    static uint32_t low(uint64_t value) { return static_cast<uint32_t>(value); }
    static uint32_t high(uint64_t value) { return static_cast<uint32_t>(value >> 32); }
    uint32_t tag(uint64_t clock, uint32_t code) const { return low(clock) << code_bits_ | code; }

    void room(uint32_t bytes, uint64_t clock) {
        Stream& stream = streams_[{block, warp, lane}];
        if (stream.at != 0) {
            const uint32_t end = stream.aligned + chunk_bytes_;
            if (stream.at + bytes <= end) return;
            if (stream.at < end) slot({0xDEAD, tag(clock, ptx::kPadCode), 0xDEAD, 0xDEAD});
        }
        stream.aligned = static_cast<uint32_t>(pool_.size());
        stream.header = stream.aligned + static_cast<uint32_t>(stream.aligned == 0 ? pool_start_ : 0);
        stream.at = stream.header + ptx::kChunkHeaderBytes;
        pool_.resize(pool_.size() + chunk_bytes_, std::byte{0xEE});
        const uint32_t words[8] = {block, warp | lane << 8, low(clock), high(clock), 0, sm, 0, 0};
        std::memcpy(&pool_[stream.header], words, 32);
        room(bytes, clock);  // a short first chunk may lack it
    }
    void slot(std::array<uint32_t, 4> words) {
        Stream& stream = streams_[{block, warp, lane}];
        std::memcpy(&pool_[stream.at], words.data(), 16);
        stream.at += 16;
    }

    uint32_t code_bits_, chunk_bytes_;
    uint64_t pool_start_;
    std::vector<std::byte> pool_;
    std::map<std::tuple<uint32_t, uint32_t, uint32_t>, Stream> streams_;
};

}  // namespace tilescope::trace::test
