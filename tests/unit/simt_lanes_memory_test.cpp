// Requests that move as a whole, in every version, against lanes that move one after the other.
#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "core/simt/lanes_memory.h"

namespace tilescope::simt {
namespace {

constexpr uint64_t kBase = 0x7000, kBytes = 8192;
constexpr uint32_t kWarps = 3;

struct MovedColumn {
    alignas(64) std::array<std::byte, 256> bytes{};
    bool operator==(const MovedColumn&) const = default;
};

uint64_t bits_at(const std::byte* at, uint32_t bytes, bool is_signed) {
    uint64_t bits = 0;
    std::memcpy(&bits, at, bytes);
    if (is_signed && bytes < 8 && (bits >> (8 * bytes - 1) & 1)) bits |= ~uint64_t{0} << 8 * bytes;
    return bits;
}

struct Random {
    std::mt19937_64 engine{7};
    uint64_t below(uint64_t n) { return engine() % n; }
};

// Addresses of a warp, as kernels have them or as they never would.
std::array<uint64_t, kWarpSize> addresses(Random& random, uint64_t bytes) {
    std::array<uint64_t, kWarpSize> address{};
    const uint64_t start = kBase + random.below(256) * bytes, stride = random.below(4) * bytes;
    const uint64_t row = uint64_t{1} << random.below(6), rows_apart = random.below(64) * bytes;
    const uint64_t kind = random.below(6);
    for (uint64_t lane = 0; lane < kWarpSize; ++lane)
        address[lane] = kind == 0   ? kBase + random.below(kBytes / bytes) * bytes
                        : kind == 1 ? start + 16 * bytes - lane % 16 * bytes
                                    : start + lane % row * stride + lane / row * rows_apart;
    if (random.below(6) == 0) address[random.below(kWarpSize)] += random.below(2) ? kBytes : 1;
    if (random.below(6) == 0) address[random.below(kWarpSize)] = kBase + kBytes - random.below(2 * bytes);
    return address;
}

TEST(LanesMemory, WholeRequestsMoveWhatTheirLanesWould) {
    Random random;
    for (int round = 0; round < 20'000; ++round) {
        const uint32_t element = 1u << random.below(4), elements = 1u << random.below(3),
                       bytes = element * elements;
        const bool is_load = random.below(2), is_signed = random.below(2), wide = random.below(2);
        const uint32_t registers = element == 8 || random.below(3) == 0 ? 8
                                   : element <= 2 && random.below(2)    ? 2
                                                                        : 4;
        const uint32_t slot = is_load ? registers == 8 ? 8 : 4 : element == 8 ? 8 : 4;
        const auto mask = static_cast<uint32_t>(random.below(3)   ? ~0u
                                                : random.below(2) ? random.engine() | 1u << random.below(32)
                                                                  : 0xFFu << 8 * random.below(4));
        const uint64_t offset = random.below(2) ? 0 : 0 - uint64_t{4096};

        std::vector<std::byte> memory(kBytes);
        for (std::byte& byte : memory) byte = static_cast<std::byte>(random.below(256));
        std::vector<MovedColumn> address(kWarps), data(size_t{kWarps} * elements);
        for (MovedColumn& column : data)
            for (std::byte& byte : column.bytes) byte = static_cast<std::byte>(random.below(256));
        std::array<LanePatterns, kWarps> patterns;
        std::vector<std::array<uint64_t, kWarpSize>> of_warp(kWarps, addresses(random, bytes));
        if (random.below(2)) of_warp[random.below(kWarps)] = addresses(random, bytes);
        std::array<uint32_t, kWarps> number{};
        for (size_t w = 0; w < kWarps; ++w) {
            for (size_t lane = 0; lane < kWarpSize; ++lane) {
                const uint64_t at = of_warp[w][lane] - offset;
                std::memcpy(address[w].bytes.data() + lane * (wide ? 8 : 4), &at, wide ? 8 : 4);
            }
            number[w] = patterns[w].find(address[w].bytes.data(), wide, mask);
        }

        // One lane after the other, up to the first warp with one that may not.
        std::vector<std::byte> memory_after = memory;
        std::vector<MovedColumn> data_after = data;
        uint32_t moved = 0;
        for (; moved < kWarps; ++moved) {
            bool fits = true;
            for_lanes(mask, [&](uint32_t lane) {
                const uint64_t at = of_warp[moved][lane] - kBase;
                fits = fits && at <= kBytes - bytes && (at + kBase) % bytes == 0;
            });
            if (!fits) break;
            for_lanes(mask, [&](uint32_t lane) {
                for (uint32_t i = 0; i < elements; ++i) {
                    std::byte* const at =
                        memory_after.data() + (of_warp[moved][lane] - kBase) + size_t{i} * element;
                    std::byte* const in_register =
                        data_after[moved * elements + i].bytes.data() + size_t{lane} * slot;
                    uint64_t value = bits_at(at, element, is_signed);
                    if (is_load && registers == 2) value &= is_signed ? 0xFFFF : ~uint64_t{0};
                    is_load ? std::memcpy(in_register, &value, slot) : std::memcpy(at, in_register, element);
                }
            });
        }

        for (const LaneVersion version : {LaneVersion::Portable, LaneVersion::Avx2}) {
            if (!supported(version)) continue;
            const MemoryLanes& lanes = memory_lanes(version);
            std::vector<std::byte> memory_now = memory;
            std::vector<MovedColumn> data_now = data;
            WarpRequests requests;
            requests.warps = kWarps, requests.elements = elements, requests.mask = mask,
            requests.offset = offset;
            requests.address = address[0].bytes.data(), requests.next_address = sizeof(MovedColumn);
            for (size_t i = 0; i < elements; ++i) {
                requests.data[i] = data_now[i].bytes.data();
                requests.next_data[i] = static_cast<ptrdiff_t>(elements * sizeof(MovedColumn));
            }
            requests.memory = memory_now.data(), requests.base = kBase, requests.most = kBytes - bytes;
            for (size_t w = 0; w < kWarps; ++w) requests.pattern[w] = &patterns[w][number[w]];
            const MoveLanes move =
                is_load ? lanes.load(element, is_signed, registers, wide) : lanes.store(element, wide);
            ASSERT_EQ(move(requests), moved) << round;
            ASSERT_EQ(memory_now, memory_after) << round;
            ASSERT_EQ(data_now, data_after) << round;
            for (uint32_t w = 0; w < moved; ++w)
                ASSERT_EQ(requests.start[w], of_warp[w][static_cast<size_t>(std::countr_zero(mask))]);
            // Lanes that have left their pattern do not move by it.
            const auto lane = static_cast<size_t>(31 - std::countl_zero(mask));
            if (lane == requests.pattern[0]->first) continue;
            MovedColumn other = address[0];
            other.bytes[lane * (wide ? 8 : 4)] ^= std::byte{4};
            requests.address = other.bytes.data();
            ASSERT_EQ(move(requests), 0u) << round;
            ASSERT_EQ(memory_now, memory_after) << round;
        }
    }
}

}  // namespace
}  // namespace tilescope::simt
