#include "core/recording/expected_result.h"

namespace tilescope::analysis {

std::optional<ExpectedResult> ExpectedResult::of(const trace::Trace& trace) {
    constexpr uint32_t kMostExact = 1 << 17;  // terms; sums of so many stay below 2^24, where fp32 is exact
    const trace::Verification& result = trace.meta.result;
    const auto product = result.verified ? product_of(trace) : std::nullopt;
    if (!product || result.array != product->P || product->k > kMostExact) return std::nullopt;
    for (const uint8_t input : {product->M, product->N})
        if (trace.launch.arrays[input].contents.kind != Contents::Kind::SmallIntegers) return std::nullopt;
    return ExpectedResult(trace, *product);
}

}  // namespace tilescope::analysis
