// What barriers in memory (mbarrier) are at every step of a block that does something to one, worked out from the steps:
//
//   step    who      does                                  barrier   phase   arrivals   bytes
//   12      warp 0   arrives, expects 1,024 bytes          full[0]   0       1 of 1     0 of 1,024
//   --      a copy   lands: 1,024 bytes                    full[0]   0 -> 1
//   15      warp 1   has waited for the end of phase 0     full[0]   1       0 of 1
//
// A copy in bulk tells its barrier of its bytes where it lands (Trace::arrival).
//
// What other blocks of a cluster do to a barrier is not among the steps of its block. Where a wait has seen a phase end that
// these do not end, others have brought the rest. What a block does to barriers of others is left out.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/trace/trace.h"

namespace tilescope::analysis {

// One lane's part of a step, or a copy that landed before it.
struct SignalEvent {
    uint32_t step = 0;     // of the block; of a copy, the step before which it is there
    uint32_t barrier = 0;  // offset in shared memory
    uint8_t lane = 0;
    ptx::Signal signal{};   // None for a copy that lands
    uint32_t count = 0;     // arrivals; of a wait the parity that it waits for
    uint32_t bytes = 0;     // that are expected, or that have come
    uint32_t asked_at = 0;  // of a copy that lands: its store's step
    // The barrier behind it. phase: how many have ended; of a wait, the one that it has seen end is the one before.
    uint32_t phase = 0;
    uint32_t arrived = 0, expected = 0;
    int64_t brought = 0, asked = 0;  // bytes of this phase
    bool ended = false;              // it ended a phase
};

// The same step by step, for a walk over a block. Nothing happens where no site does anything to such a barrier.
class SignalWalk {
public:
    SignalWalk(const trace::Trace& trace, const trace::Block& block);  // keeps references
    ~SignalWalk();
    bool any() const { return state_ != nullptr; }  // whether some site does
    using Visit = std::function<void(const SignalEvent&)>;
    // What happens before a step of the block, and in it. Every step is gone to once, in their order.
    void go(uint32_t step, const Visit& visit);

private:
    struct State;
    std::unique_ptr<State> state_;
};

class Signals {
public:
    Signals() = default;
    // Empty where no site does anything to a barrier in memory. Looks at all steps of the block once.
    Signals(const trace::Trace& trace, uint32_t block);

    const std::vector<SignalEvent>& events() const { return events_; }  // in their order
    // Those of a step, landings before it left out.
    std::vector<SignalEvent> of_step(uint32_t step) const;
    // The latest one of a barrier before a step, and null where it was not initialised before.
    const SignalEvent* before(uint32_t step, uint32_t barrier) const;
    // Offsets in shared memory, ascending.
    const std::vector<uint32_t>& barriers() const { return barriers_; }
    uint64_t bytes() const { return events_.size() * sizeof(SignalEvent); }

private:
    std::vector<SignalEvent> events_;
    std::vector<uint32_t> barriers_;
};

}  // namespace tilescope::analysis
