// What the Timing screen keeps between frames: what was chosen, and what is worked out of it meanwhile.
#pragma once

#include <cstdint>
#include <optional>

#include "app/session/session.h"
#include "app/timing/model.h"

namespace tilescope::timing {

struct State : TimingChoice {
    Bounds bounds;
    uint64_t opened_on = 0;  // serial number of the recording whose kernel was chosen last

    // Serial number of a recording that is no product; below, what it did, or why that is not known.
    uint64_t counted = 0;
    session::Job<Result<analysis::RecordedWork>> counting;
    std::optional<Result<analysis::RecordedWork>> work;
};

extern const input::Screen<State> kScreen;  // screen.cpp

}  // namespace tilescope::timing
