#include "kernels/launched/pace.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "core/base/words.h"

namespace tilescope::launched {

namespace {

constexpr double kLong = 60;          // seconds
constexpr double kFirstLook = 2.5;    // seconds until enough blocks have ended to tell
constexpr double kFewSeconds = 2;     // for a window
constexpr uint64_t kMostBlocks = 64;  // of a window that a person looks through

}  // namespace

Pace::Pace(const std::atomic<bool>* stop, const std::atomic<uint64_t>& done, uint64_t blocks)
    : asked_(stop), done_(done), blocks_(blocks), watcher_([this] { watch(); }) {}

Pace::~Pace() { settle(); }

void Pace::settle() {
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    woken_.notify_all();
    if (watcher_.joinable()) watcher_.join();
}

void Pace::watch() {
    const auto start = std::chrono::steady_clock::now();
    std::unique_lock lock(mutex_);
    while (!woken_.wait_for(lock, std::chrono::milliseconds(50), [&] { return over_; })) {
        if (asked_ && *asked_) {
            own_stop_ = true;
            return;
        }
        const double so_far = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
        const auto ended = static_cast<double>(done_.load(std::memory_order_relaxed));
        if (so_far < kFirstLook || too_long) continue;
        const double all = ended > 0 ? so_far / ended * static_cast<double>(blocks_) : 0;
        if (ended > 0 ? all < kLong : so_far < kLong / 2) continue;
        rate = ended / so_far, seconds = all;
        too_long = true;
        own_stop_ = true;
    }
}

BlockWindow first_blocks(const Dim3& grid, double rate) {
    const double affordable = std::clamp(rate * kFewSeconds / grid.z, 1.0, double{kMostBlocks});
    const auto blocks = static_cast<uint32_t>(affordable);
    const auto side = static_cast<uint32_t>(std::sqrt(affordable));
    const uint32_t high = std::min(grid.y, grid.x == 1 ? blocks : side);
    return {0, std::min(grid.x, blocks / high), 0, high};
}

std::string long_time(double seconds) {
    if (seconds <= 0) return "more than a minute";
    const auto minutes = static_cast<uint64_t>(std::max(seconds / 60 + 0.5, 1.0));
    if (minutes < 120) return "about " + counted(minutes, "minute");
    return "about " + counted(minutes / 60, "hour");
}

}  // namespace tilescope::launched
