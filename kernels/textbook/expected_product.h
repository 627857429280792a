// What P = M N must be, for matrices too large to multiply again on the CPU whenever a kernel is timed.
//
// Two checks, both exact, since inputs are whole numbers and every sum of a kernel is below 2^24, where
// fp32 keeps whole numbers as they are whatever the order of the additions:
//
//   sample       64 rows by 64 columns (all of them where there are no more), the first and the last among
//                them: their 4096 elements are computed the plain way
//   every row    P x = M (N x) for a vector x of pseudo-random 32-bit whole numbers, in integers modulo
//                2^64. A row with a wrong element passes for at most one value of that element's x among
//                2^32: elements of P differ from what they must be by less than 2^32, so the difference
//                times x takes 2^32 different values.
//
// Source: R. Freivalds, "Probabilistic machines can use less running time", IFIP Congress 1977.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace tilescope::kernels {

struct ExpectedProduct {
    uint32_t m = 0, k = 0, n = 0;
    std::vector<uint32_t> rows, cols;  // rows and columns of the sample
    std::vector<int32_t> sample;       // rows.size() x cols.size() elements of P
    std::vector<uint64_t> x;           // n
    std::vector<uint64_t> rows_by_x;   // m: M (N x)
};

// M: m x k and N: k x n whole numbers from -9 to 9 (kernels::make_input). Fails where k is so large that
// sums need not be exact. threads: 0 for all of the machine's.
Result<ExpectedProduct> expect_product(const std::vector<float>& M, const std::vector<float>& N, uint32_t m,
                                       uint32_t k, uint32_t n, unsigned threads = 0);

struct ProductCheck {
    bool right = false;
    uint64_t wrong_rows = 0;  // rows with a wrong element
    std::string why;          // "P[0,3] is 12 and must be 13"; empty where it is right
};

// P: m x n, by row.
ProductCheck check_product(const ExpectedProduct& expected, const std::vector<float>& P,
                           unsigned threads = 0);

}  // namespace tilescope::kernels
