// Recordings of the kernels that ship, for tests: in the kernel's own order of warps, without a date.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/run/record.h"
#include "kernels/textbook/reference.h"

namespace tilescope::kernels {

// The values of a buffer (RecordOptions::after).
template <class T>
std::vector<T> values_in(const simt::GlobalMemory& memory, size_t buffer) {
    const simt::Bytes& bytes = memory.buffers.at(buffer).bytes;
    std::vector<T> values(bytes.size() / sizeof(T));
    std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
}

// P as a textbook kernel left it.
inline std::vector<float> product_in(const simt::GlobalMemory& memory) { return values_in<float>(memory, 2); }

inline trace::Trace recorded(const Plan& plan, unsigned threads = 1, simt::GlobalMemory* after = nullptr) {
    RecordOptions options;
    options.threads = threads;
    options.timestamp = false;
    options.after = after;
    auto trace = record_cpu(plan, options);
    EXPECT_TRUE(trace) << trace.error().message;
    return trace ? std::move(*trace) : trace::Trace{};
}

inline trace::Trace recorded(const std::string& kernel, const Shape& shape, unsigned threads = 1) {
    const auto sized = plan(kernel, shape);
    EXPECT_TRUE(sized) << sized.error().message;
    return sized ? recorded(*sized, threads) : trace::Trace{};
}

// The kernel of fp32 that copies its tiles ahead, with cp.async.
inline const std::string& top_of_ladder() {
    const auto& all = catalogue();
    return std::find_if(all.rbegin(), all.rend(),
                        [](const KernelInfo& info) { return info.input == ElementType::F32; })
        ->name;
}

inline constexpr uint32_t kTileOfData = 4;  // T in tests/data/ptx (make.sh)

inline std::vector<std::string> names_of_kernels() {
    std::vector<std::string> names;
    for (const KernelInfo& info : catalogue()) names.push_back(info.name);
    return names;
}
// Those whose threads own several elements of P each; `input`: of that type alone.
inline std::vector<std::string> names_without_tile_width(std::optional<ElementType> input = std::nullopt) {
    std::vector<std::string> names;
    for (const KernelInfo& info : catalogue())
        if (info.own_tile && info.input == input.value_or(info.input)) names.push_back(info.name);
    return names;
}

}  // namespace tilescope::kernels
