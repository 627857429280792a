// What was chosen on the Timing screen.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernels/shipped.h"

namespace tilescope::app {

struct TimingState {
    enum class Plot : uint8_t { Time, Gflops, OverUntiled, OverSwapped } plot = Plot::Time;
    std::string device;            // by name; empty for the first that was measured
    std::string kernel = "tiled";  // the one that is shown large
    uint32_t tile = 32;
    uint32_t width = 0;  // of the roofline and the table; 0: the largest whose traffic was counted
    // What ships, or what a test puts in its place; null for what ships.
    const std::vector<kernels::Counters>* counters = nullptr;
};

}  // namespace tilescope::app
