#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/launched/filled.h"

namespace tilescope::launched {
namespace {

// Against a flag for each byte.
TEST(FilledMap, IsAFlagForEachByte) {
    std::mt19937 random(7);
    for (int round = 0; round < 200; ++round) {
        const uint64_t bytes = 1 + random() % 97;
        FilledMap map(bytes);
        std::vector<bool> flags(bytes);
        for (int step = 0; step < 20; ++step) {
            const uint64_t at = random() % bytes, count = random() % (bytes - at + 1);
            const bool filled = random() % 4 != 0;
            map.set(at, count, filled);
            std::fill_n(flags.begin() + static_cast<ptrdiff_t>(at), count, filled);
            for (uint64_t i = 0; i < bytes; ++i) ASSERT_EQ(map.is_filled(i), flags[i]) << round << " " << i;
            ASSERT_EQ(map.whole(), std::find(flags.begin(), flags.end(), false) == flags.end());
            std::vector<std::byte> data(bytes);
            for (uint64_t i = 0; i < bytes; ++i) data[i] = std::byte{static_cast<uint8_t>(flags[i])};
            ASSERT_TRUE(map.rest_is_zero(data.data()));
            const uint64_t odd = random() % bytes;
            data[odd] = std::byte{9};
            ASSERT_EQ(map.rest_is_zero(data.data()), flags[odd]);
            ASSERT_EQ(map.copy().whole(), map.whole());
        }
    }
}

}  // namespace
}  // namespace tilescope::launched
