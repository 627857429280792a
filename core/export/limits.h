// `tilescope limits`: what an SM holds at once, as JSON (schema tilescope.limits/1) and as text.
#pragma once

#include <string>
#include <vector>

#include "core/limits/presets.h"

namespace tilescope::report {

// A case of the user's own has no id.
struct LimitsCase {
    std::string id, title;
    analysis::PresetAnswer answer;
};

// curves: occupancy over each parameter too.
std::string to_json(const LimitsCase& c, bool curves);
std::string to_text(const LimitsCase& c);

// The cases that there are, and these devices.
std::string limit_cases_json(const std::vector<analysis::DeviceSpec>& devices);
std::string limit_cases_text(const std::vector<analysis::DeviceSpec>& devices);

}  // namespace tilescope::report
