// What was chosen on the Limits screen: a device, a block, and the case that both came from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis/limit_presets.h"

namespace tilescope::app {

struct LimitsState {
    std::string preset = "cliff";                       // id; empty once the device is chosen by hand
    size_t block = 0;                                   // of the preset's blocks
    std::string device = "gt200";                       // id
    analysis::SmChange change{.threads_per_sm = 1536};  // what the case changes of the device's SM
    analysis::BlockUse use{.threads = 256, .registers = 10};
    analysis::Parameter parameter = analysis::Parameter::Registers;  // what + and - change
    // Of this screen and of Timing: what ships, or what a test puts in its place; null for what ships.
    const std::vector<analysis::DeviceSpec>* devices = nullptr;
};

// The case's device and its block of that number; nothing where there is no such case.
void take_preset(LimitsState& state, std::string_view id, size_t block = 0);
void take_device(LimitsState& state, std::string_view id);
// One step more or less of a parameter: a warp of threads, a register, 512 bytes.
void change_parameter(LimitsState& state, const analysis::SmLimits& sm, analysis::Parameter parameter,
                      int steps);

}  // namespace tilescope::app
