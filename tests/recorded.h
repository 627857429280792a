// Recordings of the kernels that ship, for tests: in the kernel's own order of warps, without a date.
#pragma once

#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/run/record.h"
#include "kernels/textbook/reference.h"

namespace tilescope::kernels {

// P as a textbook kernel left it (RecordOptions::after).
inline std::vector<float> product_in(const simt::GlobalMemory& memory) {
    const std::vector<std::byte>& bytes = memory.buffers.at(2).bytes;
    std::vector<float> P(bytes.size() / sizeof(float));
    std::memcpy(P.data(), bytes.data(), bytes.size());
    return P;
}

inline trace::Trace recorded(const Plan& plan, unsigned threads = 1) {
    RecordOptions options;
    options.threads = threads;
    options.timestamp = false;
    auto trace = record_cpu(plan, options);
    EXPECT_TRUE(trace) << trace.error().message;
    return trace ? std::move(*trace) : trace::Trace{};
}

inline trace::Trace recorded(const std::string& kernel, const Shape& shape, unsigned threads = 1) {
    const auto sized = plan(kernel, shape);
    EXPECT_TRUE(sized) << sized.error().message;
    return sized ? recorded(*sized, threads) : trace::Trace{};
}

}  // namespace tilescope::kernels
