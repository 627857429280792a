// What the elements of a result that is said to be verified must be, as far as that can be told exactly: a product
// P = M N whose inputs are small whole numbers, so that the sums of a kernel are exact whatever their order.
#pragma once

#include <cstdint>
#include <optional>

#include "core/recording/product.h"

namespace tilescope::analysis {

class ExpectedResult {
public:
    // Keeps a reference. None where the result is not verified, or is no such product.
    static std::optional<ExpectedResult> of(const trace::Trace& trace);
    double element(uint64_t element) const { return expected_element(*trace_, product_, element); }
    uint64_t multiplications() const { return product_.k; }  // of an element

private:
    ExpectedResult(const trace::Trace& trace, const Product& product) : trace_(&trace), product_(product) {}
    const trace::Trace* trace_;
    Product product_;
};

}  // namespace tilescope::analysis
