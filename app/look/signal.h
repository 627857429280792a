// What a step does to a barrier in memory (mbarrier), in words, and what all of the block's are behind it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/recording/signals.h"

namespace tilescope::look {

struct BlockIndex;

struct BarrierView {
    std::string name{};   // "full[0]"
    uint32_t offset = 0;  // in shared memory
    bool meant = false;   // the step is about it
    uint32_t phase = 0;   // how many have ended
    uint32_t arrived = 0, expected = 0;
    int64_t brought = 0, asked = 0;  // bytes of this phase
};

struct SignalView {
    std::string title;    // "Warp 0 arrives at full[0]", "Warp 1 has waited for phase 0 of full[0]"
    std::string verdict;  // "It expects 1,024 bytes: phase 0 has 1 of 1 arrivals and 0 of 1,024 bytes."
    std::vector<BarrierView> barriers;  // those that have been initialised, by where they lie
};

// Of a step whose kind is one of an mbarrier.
SignalView signal_view(const trace::Trace& trace, const BlockIndex& index, uint32_t step);
// The name of the barrier at an offset in shared memory: "full[0]".
std::string name_of_barrier(const trace::Trace& trace, const BlockIndex& index, uint32_t offset);
// The barrier to which a copy in bulk reports its bytes; "" where it reports to none, or its lanes to several.
std::string barrier_of_copy(const trace::Trace& trace, const BlockIndex& index, uint32_t step);
// "1 of 4 arrivals and 0 of 1,024 bytes"
std::string standing_words(const BarrierView& barrier);
// "phase 0, 1 of 4 arrivals, 0 of 1,024 bytes"
std::string barrier_words(const BarrierView& barrier);
// All of a block's barriers behind a step, or before its first one.
std::vector<BarrierView> barriers_after(const trace::Trace& trace, const BlockIndex& index, uint32_t step);

}  // namespace tilescope::look
