// What the Limits screen shows: the lecture's sum and the hardware's side by side, and occupancy over each
// parameter, where a cliff is a step down.
#pragma once

#include <string>
#include <vector>

#include "app/limits_state.h"
#include "app/view/chart.h"

namespace tilescope::view {

// The device of the state with what its case changes; the first known one where there is none of that id.
analysis::DeviceSpec limits_device(const app::LimitsState& state,
                                   const std::vector<analysis::DeviceSpec>& devices);

// What the state's case changes of its device: "1536 thread slots in place of 1024"; "" for nothing.
std::string change_words(const app::LimitsState& state, const std::vector<analysis::DeviceSpec>& devices);

struct LimitBar {
    std::string name;  // "registers"
    std::string used;  // "15,360 of 16,384"
    std::string fits;  // "6 blocks"
    double share = 0;  // of the SM's, in use by the blocks that are resident
    bool limits = false;
};
struct SumColumn {
    std::string title;                          // "The lecture's sum"
    std::string blocks, threads, warps, share;  // "6", "1,536 of 1,536", "48 of 48", "100 %"
    std::string words;                          // "limited by registers"
    std::vector<LimitBar> bars;
    bool refused = false;
};
SumColumn sum_column(const analysis::SmLimits& sm, const analysis::BlockUse& use, analysis::Sum sum);

struct LimitCurve {
    std::string title;  // "registers a thread"
    std::vector<analysis::CurvePoint> lecture, hardware;
    uint32_t today = 0;
    std::string today_words;  // "10"
    std::string cliff;        // the next one upwards, by the hardware's sum, in words; empty for none
    Axis x, y;                // y: threads on an SM
    std::vector<Tick> x_ticks, y_ticks;
};
LimitCurve limit_curve(const analysis::SmLimits& sm, const analysis::BlockUse& use,
                       analysis::Parameter parameter);

uint32_t value_of(const analysis::BlockUse& use, analysis::Parameter parameter);
std::string value_words(analysis::Parameter parameter, uint32_t value);  // "256 threads a block"
std::string figure_words(const analysis::Figure& figure);

}  // namespace tilescope::view
