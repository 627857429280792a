// What ships of a launch of a textbook kernel on a device: its registers, its time, and what was counted of
// its memory levels.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/limits/device_spec.h"
#include "core/trace/trace.h"
#include "kernels/textbook/level_counters.h"

namespace tilescope::kernels {

struct KnownLaunch {
    uint32_t registers = 0;  // a thread; 0: not known
    std::optional<double> measured_ms;
    const LevelCounterRow* counted = nullptr;  // null: the launch was not counted
};
// compiler: "clang" or "nvrtc"; with any other nothing is known.
KnownLaunch known_launch(const analysis::DeviceSpec& device, const std::string& kernel,
                         const std::string& compiler, const Shape& shape);

// Whose PTX a recording of a textbook kernel of that tile width has: "clang", whose ships; "" where that is
// not known, since another's times are another kernel's.
std::string compiler_of(const trace::Trace& trace, uint32_t tile);

}  // namespace tilescope::kernels
