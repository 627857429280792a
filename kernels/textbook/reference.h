// The plain product, and P held against it.
#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "core/trace/trace.h"
#include "kernels/run/plan.h"
#include "kernels/textbook/catalogue.h"

namespace tilescope::kernels {

// The inputs of the textbook kernels: small_integer(seed, array, index) as floats. array: 0 for M, 1 for N.
float input_value(uint64_t seed, int array, uint64_t index);
std::vector<float> make_input(uint64_t seed, int array, uint64_t count);

// P = M N in double, row by row, the obvious way. (m x k) (k x n) -> (m x n)
std::vector<double> reference_product(const std::vector<float>& M, const std::vector<float>& N, uint32_t m,
                                      uint32_t k, uint32_t n);

// Checks P against the plain product: all elements that the recorded blocks stored, and all that they
// own, so that a store left out is found as well. Where every partial sum is exact in fp32 (whole
// inputs, sum of |m||n| below 2^24) a sum must be equal; elsewhere it may be off by the rounding of k
// additions, gamma_k * sum of |m||n| with gamma_k = k 2^-23 (twice Higham, "Accuracy and Stability of
// Numerical Algorithms", 2nd ed., 3.1). An element that is not finite or was not stored is wrong and
// has no part in max_abs_error. A recording that is not complete is not checked.
//   P: m x n values by row, after the run; array 2 of the launch
//   info: of the kernel, which says what a block owns
//   stop: set to end early; nothing is checked then
trace::Verification verify(const trace::Trace& trace, const KernelInfo& info, const Shape& shape,
                           uint64_t seed, const float* P, unsigned threads = 0,
                           const std::atomic<bool>* stop = nullptr);

// The same, for a plan.
Check product_check(const KernelInfo& info, const Shape& shape, uint64_t seed);

}  // namespace tilescope::kernels
