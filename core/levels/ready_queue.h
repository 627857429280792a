// Whose turn it is in a replay of the memory levels (replay.h): of an SM's blocks, by a queue of those that
// are ready, and of the SMs, by a tournament of their times.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <vector>

namespace tilescope::analysis {

inline constexpr double kNever = std::numeric_limits<double>::infinity();

// The ready queue of an SM: bit by bit the blocks that are ready for their next turn, and the others in the
// order of the times at which they will be. The oldest block has number 0.
class ReadyQueue {
public:
    static constexpr uint32_t kMost = 64;  // blocks: a bit each

    double time(size_t block) const { return times_[block]; }
    // When the next turn is, of an SM whose pipe is free then at the earliest; kNever without blocks.
    double next(double pipe_free) const {
        if (ready_ != 0) return std::max(now_, pipe_free);
        return waiting_.empty() ? kNever : std::max(times_[waiting_.front()], pipe_free);
    }
    // Bit by bit the blocks that are ready at `now`, which is never earlier than in the call before.
    uint64_t at(double now) {
        now_ = now;
        size_t count = 0;
        while (count < waiting_.size() && times_[waiting_[count]] <= now)
            ready_ |= uint64_t{1} << waiting_[count++];
        waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
        return ready_;
    }
    // Adds a block, younger than the others.
    void add(double time) {
        times_.push_back(time);
        wait(static_cast<uint8_t>(times_.size() - 1));
    }
    // A block that was ready has had its turn, and is ready again at `time`. Until the pipe is free no turn
    // comes, so that a block which is ready by then stays ready.
    void set(size_t block, double time, double pipe_free) {
        times_[block] = time;
        if (time <= pipe_free) return;
        ready_ &= ~(uint64_t{1} << block);
        wait(static_cast<uint8_t>(block));
    }
    // A block that was ready has ended. The younger ones get the numbers before theirs.
    void remove(size_t block) {
        times_.erase(times_.begin() + static_cast<std::ptrdiff_t>(block));
        const uint64_t older = (uint64_t{1} << block) - 1;
        ready_ = (ready_ & older) | (ready_ >> 1 & ~older);
        for (uint8_t& other : waiting_)
            if (other > block) --other;
    }

private:
    void wait(uint8_t block) {
        size_t at = waiting_.size();
        waiting_.push_back(block);
        for (; at > 0 && times_[waiting_[at - 1]] > times_[block]; --at) waiting_[at] = waiting_[at - 1];
        waiting_[at] = block;
    }
    std::vector<double> times_;
    std::vector<uint8_t> waiting_;  // blocks that are not ready, in the order of their times
    uint64_t ready_ = 0;            // blocks, bit by bit
    double now_ = 0;
};

// The number of the bit that is set and has `below` other set bits below it.
inline size_t bit_number(uint64_t bits, uint32_t below) {
    for (; below > 0; --below) bits &= bits - 1;
    return static_cast<size_t>(std::countr_zero(bits));
}

// Which of some numbers has the earliest time, while times change one by one; of two with the same time the
// lower number. A tournament tree: each node holds which of the two below it is first.
class Tournament {
public:
    explicit Tournament(size_t count)
        : leaves_(std::bit_ceil(count)), times_(leaves_, kNever), first_(2 * leaves_) {
        std::iota(first_.begin() + static_cast<std::ptrdiff_t>(leaves_), first_.end(), 0);
        for (size_t match = leaves_ - 1; match > 0; --match) first_[match] = first_[2 * match];
    }
    void set(size_t who, double time) {
        times_[who] = time;
        for (size_t match = (leaves_ + who) / 2; match > 0; match /= 2) {
            const uint32_t* const pair = &first_[2 * match];
            first_[match] = pair[times_[pair[1]] < times_[pair[0]]];
        }
    }
    size_t first() const { return first_[1]; }
    double time(size_t who) const { return times_[who]; }

private:
    size_t leaves_;
    std::vector<double> times_;
    std::vector<uint32_t> first_;  // by match; from leaves_ on those who meet in the first round
};

}  // namespace tilescope::analysis
