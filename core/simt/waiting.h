// Blocks of a run that wait for other blocks: laid aside with their machines while others run.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/simt/blocks_together.h"

namespace tilescope::simt {

struct Laid {
    uint64_t number = 0;  // of the block in its run
    std::unique_ptr<BlocksTogether> group;
    uint64_t news = 0, changes = 0;  // Waiting's news and the machine's changes when its last turn began
    bool hopeless = false;           // nobody is left who could change what it waits for
};

class Waiting {
public:
    std::deque<Laid> laid;
    std::vector<Laid> dropped;  // those behind a fault, which nobody waits for
    uint64_t room = 1;          // blocks that may run side by side, those laid aside included

    // Whether one more may begin; it then counts as running.
    bool begin(Laid& block) {
        if (running_.fetch_add(1) + laid_.load() >= room) return --running_, false;
        block.news = news_;
        return true;
    }
    void none_begun() { --running_; }
    void end() {
        ++news_, --running_;
        if (laid_ > 0) woken_.notify_all();
    }
    void lay_aside(Laid block) {
        const std::lock_guard lock(mutex_);
        if (block.group->changes() != block.changes) ++news_;
        laid.push_back(std::move(block));
        ++laid_, --running_;
        woken_.notify_all();
    }
    void drop(Laid block) {
        const std::lock_guard lock(mutex_);
        dropped.push_back(std::move(block));
        --running_;
    }
    void stop_all() {
        over_ = true;
        woken_.notify_all();
    }
    // The block whose turn it is, one without a group where a new one may begin; false where none is left.
    // all_begun: every block of the run has.
    template <class AllBegun>
    bool take(Laid& block, const AllBegun& all_begun) {
        std::unique_lock lock(mutex_);
        for (bool waited = false;; waited = true) {
            if (over_) return false;
            const bool alone = running_ == 0;
            if (!all_begun() && laid.size() + running_ < room) return true;
            if (laid.empty() && (alone || all_begun())) return false;
            // One that has not looked since something changed goes first.
            const auto fresh = std::ranges::find_if(laid, [&](const Laid& one) { return one.news != news_; });
            const bool news = fresh != laid.end();
            if (news) std::iter_swap(fresh, laid.begin());
            if (news || (!laid.empty() && waited)) break;
            if (alone && !all_exact()) break;
            if (alone) {
                const auto first = std::ranges::min_element(laid, {}, &Laid::number);
                std::iter_swap(first, laid.begin());
                laid.front().hopeless = true;
                over_ = true;
                break;
            }
            // Those that run may change memory before they end.
            woken_.wait_for(lock, std::chrono::milliseconds(1));
        }
        block = std::move(laid.front());
        laid.pop_front();
        ++running_, --laid_;
        block.news = news_;
        block.changes = block.group->changes();
        return true;
    }

private:
    bool all_exact() const {
        return std::ranges::all_of(laid, [](const Laid& one) { return one.group->waits_exactly(); });
    }
    std::mutex mutex_;
    std::condition_variable woken_;
    std::atomic<uint64_t> running_{0}, laid_{0};
    std::atomic<uint64_t> news_{0};  // blocks that ended, and turns that changed memory
    std::atomic<bool> over_{false};
};

}  // namespace tilescope::simt
