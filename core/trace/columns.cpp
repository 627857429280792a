// Columns and checksums of the trace file; format.h describes both.
#include <memory>

#include "core/trace/format.h"

namespace tilescope::trace {

namespace {

// The last base of each form and warp, or of one that shares its slot.
struct LastBases {
    static constexpr int kBits = 14;
    std::array<uint32_t, 1u << kBits> base{};

    uint32_t& of(uint32_t key) { return base[key * 0x9E37'79B1u >> (32 - kBits)]; }
};

// Eight tables: table[i][b] is the CRC of byte b followed by i zero bytes, so that 8 bytes go at once
// ("slicing by 8", Kounavis and Berry, 2005).
constexpr std::array<std::array<uint32_t, 256>, 8> make_tables() {
    constexpr uint32_t kReversedPolynomial = 0x82F6'3B78u;
    std::array<std::array<uint32_t, 256>, 8> table{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? kReversedPolynomial : 0);
        table[0][byte] = crc;
    }
    for (uint32_t byte = 0; byte < 256; ++byte)
        for (size_t i = 1; i < 8; ++i)
            table[i][byte] = table[i - 1][byte] >> 8 ^ table[0][table[i - 1][byte] & 0xFF];
    return table;
}

constexpr auto kCrcTables = make_tables();

uint32_t byte_at(std::string_view bytes, size_t i) { return static_cast<uint8_t>(bytes[i]); }

}  // namespace

uint32_t crc32c(std::string_view bytes, uint32_t crc) {
    crc = ~crc;
    while (bytes.size() >= 8) {
        for (size_t i = 0; i < 4; ++i) crc ^= byte_at(bytes, i) << 8 * i;
        uint32_t next = 0;
        for (size_t i = 0; i < 4; ++i)
            next ^= kCrcTables[7 - i][crc >> 8 * i & 0xFF] ^ kCrcTables[3 - i][byte_at(bytes, 4 + i)];
        crc = next;
        bytes.remove_prefix(8);
    }
    for (size_t i = 0; i < bytes.size(); ++i)
        crc = crc >> 8 ^ kCrcTables[0][(crc ^ byte_at(bytes, i)) & 0xFF];
    return ~crc;
}

void bases_to_differences(const uint32_t* keys, uint32_t* bases, uint64_t count) {
    const auto last = std::make_unique<LastBases>();
    for (uint64_t i = 0; i < count; ++i) {
        uint32_t& before = last->of(keys[i]);
        const uint32_t base = bases[i];
        bases[i] = base - before;
        before = base;
    }
}

void differences_to_bases(const uint32_t* keys, uint32_t* bases, uint64_t count) {
    const auto last = std::make_unique<LastBases>();
    for (uint64_t i = 0; i < count; ++i) {
        uint32_t& before = last->of(keys[i]);
        bases[i] = before += bases[i];
    }
}

void times_to_differences(uint32_t* times, uint64_t count) {
    for (uint64_t i = count; i-- > 1;) times[i] -= times[i - 1];
}

void differences_to_times(uint32_t* times, uint64_t count) {
    for (uint64_t i = 1; i < count; ++i) times[i] += times[i - 1];
}

}  // namespace tilescope::trace
