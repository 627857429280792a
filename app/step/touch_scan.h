// Every request of a recording that touched one element of a global array.
//
// A recording is looked through from its first step on, a part at a time, so that a click into ten million
// steps stalls nothing:
//
//   steps   0 ..... next | ............ end      `next` moves; what was found so far is shown
//
// Most steps are told by their form alone: array, and the lowest and highest offset of its lanes.
#pragma once

#include <cstdint>
#include <vector>

#include "core/trace/trace.h"

namespace tilescope::step {

struct Touch {
    uint64_t step = 0;             // of the recording
    uint32_t warp = 0, lanes = 0;  // lanes: a mask of those that touched the element
    bool store = false;
    bool operator==(const Touch&) const = default;
};

struct TouchScan {
    uint8_t array = trace::kNoArray;
    uint64_t element = 0;
    uint64_t next = 0;           // first step not looked at
    uint64_t requests = 0;       // that touched it, in the steps looked at
    uint64_t lanes = 0;          // lane accesses, likewise
    uint32_t blocks = 0;         // recorded blocks that touched it
    uint64_t block_end = 0;      // behind the steps of the last of them
    std::vector<Touch> touches;  // the first kMost of them
    static constexpr size_t kMost = 100'000;
    bool done(const trace::Trace& trace) const { return next >= trace.steps(); }

    struct Reach {
        int64_t lowest = 0, highest = -1;  // bytes from the base; empty where the form touches another array
    };
    std::vector<Reach> reach;  // by form
};

// array: index into trace.launch.arrays, a global one.
TouchScan begin_scan(const trace::Trace& trace, uint8_t array, uint64_t element);

// Looks at up to `steps` more steps.
void go_on(TouchScan& scan, const trace::Trace& trace, uint64_t steps);

}  // namespace tilescope::step
