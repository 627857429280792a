// Whether long work is still wanted. Walks ask every few thousand steps, so that they end within 0.2 s; where there is one
// thread for all, they let others go on as they ask.
#pragma once

#include <atomic>
#include <cstdint>

#include "core/base/turns.h"

namespace tilescope {

struct Stop {
    const std::atomic<bool>* asked = nullptr;  // null: nobody asks
    bool now() const {
        if (asked == nullptr) return false;
        let_others_go_on();
        return asked->load(std::memory_order_relaxed);
    }
    // The same, asked at every 4,096th step alone.
    bool at(uint64_t step) const { return step % 4096 == 0 && now(); }
};

// What work that was stopped returns; nobody waits for it.
inline constexpr const char* kStopped = "it was stopped";

}  // namespace tilescope
