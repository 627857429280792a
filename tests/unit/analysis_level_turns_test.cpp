// Whose turn it is, against twins that look at all.
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "core/levels/ready_queue.h"

namespace {

using namespace tilescope::analysis;

struct SlowReadyQueue {
    std::vector<double> times;
    double next(double now, double pipe_free) const {
        if (times.empty()) return kNever;
        return std::max({std::ranges::min(times), now, pipe_free});
    }
    uint64_t at(double now) const {
        uint64_t bits = 0;
        for (size_t i = 0; i < times.size(); ++i) bits |= uint64_t{times[i] <= now} << i;
        return bits;
    }
};

// As an SM does it: a block that is ready has its turn, which keeps the pipe busy; then it waits, goes on at
// once, or ends, and another one begins. Times are few, so that many are the same.
TEST(ReadyQueue, IsWhatALookAtAllBlocksFinds) {
    std::mt19937 random(7);
    const auto below = [&](uint32_t most) { return static_cast<uint32_t>(random() % most); };
    for (const uint32_t most : {1u, 2u, 3u, 32u, ReadyQueue::kMost}) {
        ReadyQueue ready;
        SlowReadyQueue twin;
        double now = 0, pipe_free = 0;
        EXPECT_EQ(ready.next(pipe_free), kNever);
        for (uint32_t turn = 0; turn < 3000; ++turn) {
            while (twin.times.size() < most && (twin.times.empty() || below(4) == 0)) {
                twin.times.push_back(now + below(9));
                ready.add(twin.times.back());
            }
            ASSERT_EQ(ready.next(pipe_free), twin.next(now, pipe_free));
            now = ready.next(pipe_free);
            const uint64_t bits = ready.at(now);
            ASSERT_EQ(bits, twin.at(now));
            const auto count = static_cast<uint32_t>(std::popcount(bits));
            const size_t block = bit_number(bits, below(count));
            ASSERT_TRUE(bits >> block & 1);
            ASSERT_EQ(ready.time(block), twin.times[block]);
            pipe_free = now + below(3);
            if (below(8) == 0) {
                twin.times.erase(twin.times.begin() + static_cast<std::ptrdiff_t>(block));
                ready.remove(block);
            } else {
                twin.times[block] = below(2) ? pipe_free : now + below(40);
                ready.set(block, twin.times[block], pipe_free);
            }
        }
    }
}

TEST(ReadyQueue, BitsAreCountedFromTheLowest) {
    constexpr uint64_t kBits = uint64_t{1} << 63 | 0b1011'0000;
    for (const auto& [below, bit] : {std::pair{0u, 4u}, {1u, 5u}, {2u, 7u}, {3u, 63u}})
        EXPECT_EQ(bit_number(kBits, below), bit);
}

// Of those with the same time the lowest number is first; who never has a turn is behind all others.
TEST(Tournament, FirstIsTheLowestOfTheEarliest) {
    std::mt19937 random(9);
    for (const size_t count : {1u, 2u, 3u, 7u, 132u}) {
        Tournament turns(count);
        std::vector<double> times(count, kNever);
        EXPECT_EQ(turns.time(turns.first()), kNever);
        for (int i = 0; i < 2000; ++i) {
            const size_t who = random() % count;
            times[who] = random() % 10 == 0 ? kNever : static_cast<double>(random() % 20);
            turns.set(who, times[who]);
            const auto first = static_cast<size_t>(std::ranges::min_element(times) - times.begin());
            ASSERT_EQ(turns.time(turns.first()), times[first]);
            if (times[first] != kNever) ASSERT_EQ(turns.first(), first);
        }
    }
}

}  // namespace
