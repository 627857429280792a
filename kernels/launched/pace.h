// How long a launch will take, from its first blocks: one that would take more than a minute is recorded for a
// window of blocks first.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>

#include "core/base/launch.h"

namespace tilescope::launched {

// Watches blocks being done, on a thread of its own, and stops them where all would take too long.
class Pace {
public:
    // stop: the run's own flag, which stops it, too; null for none.
    Pace(const std::atomic<bool>* stop, const std::atomic<uint64_t>& done, uint64_t blocks);
    ~Pace();
    Pace(const Pace&) = delete;
    Pace& operator=(const Pace&) = delete;

    const std::atomic<bool>& stop() const { return own_stop_; }
    // Ends the watch. Whether it would take too long; blocks a second; seconds for all, 0 where no block ended.
    void settle();
    bool too_long = false;
    double rate = 0, seconds = 0;

private:
    void watch();

    const std::atomic<bool>* asked_;
    const std::atomic<uint64_t>& done_;
    const uint64_t blocks_;
    std::atomic<bool> own_stop_{false};
    std::mutex mutex_;
    std::condition_variable woken_;
    bool over_ = false;
    std::thread watcher_;
};

// The first blocks of a grid that make a picture and are recorded in a few seconds, at so many blocks a second: a
// row of a grid that is one row, a square of others.
BlockWindow first_blocks(const Dim3& grid, double rate);

// "more than a minute", "about 25 minutes", "about 3 hours"
std::string long_time(double seconds);

}  // namespace tilescope::launched
