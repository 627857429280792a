// A barrier in memory (mbarrier) as the block's threads see it: a phase ends when all arrivals that it expects have come and
// all bytes that are expected have been brought; the next one then begins.
//
// Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier" ("Phases of the mbarrier object",
// "Tracking asynchronous operations by the mbarrier object", "Contents of the mbarrier object").
#pragma once

#include <cstdint>

namespace tilescope::simt {

struct MemoryBarrier {
    static constexpr uint32_t kMostArrivals = (1u << 20) - 1;
    static constexpr int64_t kMostBytes = (1 << 20) - 1;  // that may be expected, or brought too early

    uint32_t expected = 0;  // arrivals in each phase
    uint32_t pending = 0;   // arrivals that this phase lacks
    int64_t bytes = 0;      // that this phase lacks; below 0 where they came before they were expected
    int64_t asked = 0;      // bytes that were expected in this phase, for words
    uint32_t phase = 0;     // those that have ended

    // False where more would arrive than the phase lacks.
    bool arrive(uint32_t count) {
        if (count > pending) return false;
        pending -= count;
        end_if_complete();
        return true;
    }
    // The bytes may have come before; then the phase can end here.
    void expect(uint32_t more) {
        bytes += more, asked += more;
        end_if_complete();
    }
    void complete(uint32_t brought) {
        bytes -= brought;
        end_if_complete();
    }
    // Ends the phase, whatever it lacks here: what is missing came from blocks that are not looked at.
    void end() {
        pending = 0, bytes = 0;
        end_if_complete();
    }
    bool holds_bytes() const { return bytes <= kMostBytes && bytes >= -kMostBytes; }
    // Whether the phase of a parity that came last has ended.
    bool has_ended(uint32_t parity) const { return (phase & 1) != (parity & 1); }

    // What mbarrier.arrive returns: opaque to programs, here the phase and what it lacks.
    uint64_t state() const { return uint64_t{pending} << 32 | phase; }
    static uint32_t phase_of(uint64_t state) { return static_cast<uint32_t>(state); }
    static uint32_t pending_of(uint64_t state) { return static_cast<uint32_t>(state >> 32); }

private:
    void end_if_complete() {
        if (pending != 0 || bytes != 0) return;
        pending = expected, asked = 0;
        ++phase;
    }
};

}  // namespace tilescope::simt
