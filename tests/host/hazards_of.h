// The faults of a recording that nobody opened.
#pragma once

#include <gtest/gtest.h>

#include "core/hazards/hazards.h"
#include "tests/opened.h"

namespace tilescope::kernels {

inline analysis::Hazards hazards_of(const trace::Trace& trace) {
    const auto found = analysis::find_hazards(trace);
    EXPECT_TRUE(found) << found.error().message;
    return found ? *found : analysis::Hazards{};
}

}  // namespace tilescope::kernels
