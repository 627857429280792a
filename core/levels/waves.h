// How much of a launch a replay of the memory levels (replay.h) simulates, and what that says of all of it.
//
// A wave is as many blocks as all SMs hold at once. Where a launch has more blocks than `most_blocks`, its
// first waves are simulated, and the rest has the misses of the later half of these, block for block. Of long
// blocks a `part` of the batches can stand for all:
//
//     wave 0   [batches 0 1 2 3]  4 5 6 7   8 9 10 11
//     wave 1    0 1 2 3   [batches 4 5 6 7]   8 9 10 11       a wave's misses count as often as it has touches
//     wave 2    0 1 2 3   4 5 6 7   [batches 8 9 10 11]       for each that is simulated
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/levels/replay.h"

namespace tilescope::analysis {

class Waves {
public:
    explicit Waves(const LevelLaunch& launch)
        : launch_(launch),
          wave_(std::max<uint64_t>(1, uint64_t{launch.sms} * launch.resident)),
          counted_(counted()),
          waves_((counted_ + wave_ - 1) / wave_) {}

    uint64_t blocks() const { return counted_; }  // number of blocks whose misses count
    bool counts(uint64_t block) const { return block < counted_; }

    // The batches of a block that are simulated, and where their misses are added up. Blocks of the next wave
    // get the batches behind these, so that they do not find in L2 what others of this wave would have
    // evicted.
    struct Sample {
        uint32_t first = 0, end = 0;
        LevelMisses* misses = nullptr;
    };
    Sample sample(uint64_t block, const BlockWork& work) {
        const auto all = static_cast<uint32_t>(work.batches.size());
        const uint64_t wave = block / wave_;
        const auto count = std::clamp<uint32_t>(static_cast<uint32_t>(std::ceil(launch_.part * all)),
                                                std::min(all, kFewestBatches), all);
        Sample own{0, count, &beyond_};
        if (count < all) own.first = static_cast<uint32_t>(wave % (all / count)) * count;
        own.end = own.first + count;
        if (!counts(block)) return own;
        own.misses = &waves_[wave].misses;
        const auto touches_before = [&](uint32_t batch) {
            return batch < all ? work.batches[batch].first : work.touches.size();
        };
        waves_[wave].all += work.touches.size();
        waves_[wave].simulated += touches_before(own.end) - touches_before(own.first);
        return own;
    }

    // The result for the whole launch, but for what only the replay knows.
    LevelReplay whole() const {
        LevelReplay replay;
        replay.simulated = counted_;
        Wave sum;
        for (const Wave& wave : waves_) {
            replay.misses.add(wave.misses, wave.times());
            sum.simulated += wave.simulated, sum.all += wave.all;
        }
        replay.part = 1 / sum.times();
        if (counted_ == launch_.blocks) return replay;
        LevelMisses later;
        const size_t from = waves_.size() / 2;
        for (size_t i = from; i < waves_.size(); ++i) later.add(waves_[i].misses, waves_[i].times());
        const auto sampled = static_cast<double>(counted_ - from * wave_);
        replay.misses.add(later, static_cast<double>(launch_.blocks - counted_) / sampled);
        return replay;
    }

private:
    struct Wave {
        LevelMisses misses;
        uint64_t simulated = 0, all = 0;  // line touches
        double times() const {
            return simulated > 0 ? static_cast<double>(all) / static_cast<double>(simulated) : 1;
        }
    };
    static constexpr uint32_t kFewestBatches = 16;  // batches of a block

    uint64_t counted() const {
        const uint64_t waves = std::max(launch_.most_blocks / wave_, launch_.least_waves);
        // The last wave of a launch runs with fewer and fewer blocks: nothing is gained by leaving it out.
        return launch_.blocks / wave_ <= waves ? launch_.blocks : waves * wave_;
    }

    const LevelLaunch& launch_;
    uint64_t wave_, counted_;  // numbers of blocks: of a wave, and of those that count
    std::vector<Wave> waves_;
    LevelMisses beyond_;  // misses of blocks that run beside the last ones that count
};

}  // namespace tilescope::analysis
