// Recordings of the kernels that ship, for tests: in the kernel's own order of warps, without a date.
#pragma once

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "kernels/record.h"

namespace tilescope::kernels {

inline trace::Trace recorded(const Plan& plan, unsigned threads = 1) {
    RecordOptions options;
    options.threads = threads;
    options.timestamp = false;
    auto trace = record_cpu(plan, options);
    EXPECT_TRUE(trace) << trace.error().message;
    return trace ? std::move(*trace) : trace::Trace{};
}

inline trace::Trace recorded(const std::string& kernel, const Shape& shape, unsigned threads = 1) {
    auto sized = plan(kernel, shape);
    EXPECT_TRUE(sized) << sized.error().message;
    return sized ? recorded(*sized, threads) : trace::Trace{};
}

}  // namespace tilescope::kernels
