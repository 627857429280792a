// What the Limits screen shows: the lecture's sum and the hardware's side by side, and occupancy over each
// parameter, where a cliff is a step down.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/draw/axes.h"
#include "core/limits/presets.h"
#include "core/recording/recording.h"

namespace tilescope::limits {

// What was chosen: a device, a block, and the case that both came from.
struct LimitsChoice {
    std::string preset = "cliff";  // id; empty once the device is chosen by hand
    std::string launch{};  // whose block it is, of the open recording: "tiled T=16"; empty for any other
    std::string device = "gt200";  // id
    analysis::BlockUse use{.threads = 256, .registers = 10};
    analysis::Parameter parameter = analysis::Parameter::Registers;  // what + and - change
};

// The case with all that it sets: device, block (of that number) and parameter; nothing where there is no
// such case.
void take_preset(LimitsChoice& chosen, std::string_view id, size_t block = 0);
void take_device(LimitsChoice& chosen, std::string_view id);
// The block of a recording's launch, on its device, or where that is none of the known ones on the one whose
// levels are modelled first. Registers where they ship of its kernel, else 0.
void take_launch(LimitsChoice& chosen, const analysis::Recording& recording);
// One step more or less of a parameter: a warp of threads, a register, 512 bytes.
void change_parameter(LimitsChoice& chosen, const analysis::SmLimits& sm, analysis::Parameter parameter,
                      int steps);

// The device chosen with what its case changes; the first known one where there is none of that id.
analysis::DeviceSpec limits_device(const LimitsChoice& chosen,
                                   const std::vector<analysis::DeviceSpec>& devices);

// What the chosen case changes of its device: "1,536 thread slots in place of 1,024"; "" for nothing.
std::string change_words(const LimitsChoice& chosen, const std::vector<analysis::DeviceSpec>& devices);

// The case's question, its answer with the reason, and which SM both are about: of the values that are shown.
struct CaseWords {
    std::string question, answer, device;
};
CaseWords words(const LimitsChoice& chosen, const std::vector<analysis::DeviceSpec>& devices);

// What an SM has to give, and what a block takes of it: a row each.
struct Given {
    std::string value, name;  // "1,536", "thread slots"
};
std::vector<Given> given_by(const analysis::DeviceSpec& device);
std::vector<Given> taken_by(const analysis::BlockUse& use);

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

// Threads on an SM over a parameter.
struct LimitCurve : draw::Axes {
    std::vector<analysis::CurvePoint> lecture, hardware;
    uint32_t today = 0;
    std::string cliff;  // the next one upwards, by the hardware's sum, in words; empty for none
};
LimitCurve limit_curve(const analysis::SmLimits& sm, const analysis::BlockUse& use,
                       analysis::Parameter parameter);

std::string value_words(analysis::Parameter parameter, uint32_t value);  // "256 threads per block"

}  // namespace tilescope::limits
