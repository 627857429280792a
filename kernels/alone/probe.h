// Runs of a launch that is not known to be right yet: what it touches, and where it fails.
//
// Arrays lie far apart, so that an index beyond one of them names that array and none of the others; they
// are as large as the run asks for, and what was touched says how large they need to be.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/base/launch.h"
#include "core/base/result.h"
#include "core/simt/interpreter.h"

namespace tilescope::kernels {

struct Probe {
    Launch launch;  // arrays at their places in the last run, as large as they were in it
    std::optional<simt::Fault> fault;
    std::string refusal;            // why the launch cannot be run at all; "" where it can
    bool stopped = false;           // the caller stopped it
    std::vector<uint64_t> touched;  // by array: bytes from its first to the last one that was touched
    uint64_t touched_shared = 0;    // the same for the block's shared memory
    Dim3 busy{0, 0, 0};             // blocks with a request: one past the last of them, each way
    bool whole() const { return !fault && refusal.empty() && !stopped; }
};

struct ProbeLimits {
    uint64_t bytes = uint64_t{256} << 20;         // of all arrays together
    uint64_t instructions_per_block = 4'000'000;  // of its warps together
    const std::atomic<bool>* stop = nullptr;
};

// Runs it; where a thread reaches beyond an array that may grow, with a larger one again.
// grows: by array. refill: gives an array that has grown its contents.
Probe probe(const simt::Program& program, Launch launch, const std::vector<bool>& grows,
            const std::function<void(Array&)>& refill, const ProbeLimits& limits);

}  // namespace tilescope::kernels
