#include "kernels/textbook/expected_product.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include <fmt/format.h>

#include "core/base/parallel.h"

namespace tilescope::kernels {

namespace {

constexpr uint32_t kSampled = 64;
constexpr uint32_t kMostOfAnInput = 9;
constexpr uint32_t kExactInFloat = 1u << 24;

// splitmix64, as in core/base/contents.cpp: a well-mixed function of the index.
uint64_t mixed(uint64_t index) {
    uint64_t bits = (index + 1) * 0x9E37'79B9'7F4A'7C15u;
    bits = (bits ^ bits >> 30) * 0xBF58'476D'1CE4'E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D0'49BB'1331'11EBu;
    return bits ^ bits >> 31;
}

// Up to 64 of `count` places, in order: all, or the first and last four (where tiles at an edge go wrong)
// and one from each of equal parts between them.
std::vector<uint32_t> sampled(uint32_t count) {
    std::vector<uint32_t> places(std::min(count, kSampled));
    if (count <= kSampled) {
        std::iota(places.begin(), places.end(), 0u);
        return places;
    }
    constexpr uint32_t kEdge = 4, kParts = kSampled - 2 * kEdge;
    const uint64_t inner = count - 2 * kEdge;
    for (uint32_t i = 0; i < kEdge; ++i) {
        places[i] = i;
        places[kSampled - 1 - i] = count - 1 - i;
    }
    for (uint64_t i = 0; i < kParts; ++i) {
        const uint64_t first = inner * i / kParts, next = inner * (i + 1) / kParts;
        places[kEdge + i] = static_cast<uint32_t>(kEdge + first + mixed(i) % (next - first));
    }
    return places;
}

// A whole number as it is modulo 2^64.
uint64_t modular(float value) { return static_cast<uint64_t>(static_cast<int64_t>(value)); }

// The row of a matrix times a vector, modulo 2^64.
uint64_t row_times(const float* row, const std::vector<uint64_t>& vector) {
    uint64_t sum = 0;
    for (size_t i = 0; i < vector.size(); ++i) sum += modular(row[i]) * vector[i];
    return sum;
}

}  // namespace

Result<ExpectedProduct> expect_product(const std::vector<float>& M, const std::vector<float>& N, uint32_t m,
                                       uint32_t k, uint32_t n, unsigned threads) {
    if (uint64_t{k} * kMostOfAnInput * kMostOfAnInput >= kExactInFloat) {
        return Error{
            fmt::format("k={} is too large for sums that fp32 holds exactly, and without them a "
                        "result is not verified; choose k up to {}",
                        k, (kExactInFloat - 1) / (kMostOfAnInput * kMostOfAnInput))};
    }
    ExpectedProduct expected{m, k, n, sampled(m), sampled(n), {}, {}, {}};
    // Sampled columns of N as rows, so that a sum runs along both.
    std::vector<float> cols(expected.cols.size() * k);
    std::vector<uint64_t> n_by_x(k);
    expected.x.resize(n);
    for (uint32_t col = 0; col < n; ++col) expected.x[col] = mixed(uint64_t{1} << 32 | col) >> 32;
    for_each_index(k, threads, [&](uint64_t row) {
        for (size_t i = 0; i < expected.cols.size(); ++i) cols[i * k + row] = N[row * n + expected.cols[i]];
        n_by_x[row] = row_times(&N[row * n], expected.x);
    });
    expected.sample.resize(expected.rows.size() * expected.cols.size());
    for_each_index(expected.rows.size(), threads, [&](uint64_t i) {
        const float* const row = &M[uint64_t{expected.rows[i]} * k];
        for (size_t j = 0; j < expected.cols.size(); ++j) {
            const float* const col = &cols[j * k];
            int32_t sum = 0;
            for (uint32_t at = 0; at < k; ++at)
                sum += static_cast<int32_t>(row[at]) * static_cast<int32_t>(col[at]);
            expected.sample[i * expected.cols.size() + j] = sum;
        }
    });
    expected.rows_by_x.resize(m);
    for_each_index(m, threads,
                   [&](uint64_t row) { expected.rows_by_x[row] = row_times(&M[row * k], n_by_x); });
    return expected;
}

ProductCheck check_product(const ExpectedProduct& expected, const std::vector<float>& P, unsigned threads) {
    ProductCheck check;
    if (P.size() != uint64_t{expected.m} * expected.n) {
        check.why = fmt::format("P has {} elements and must have {} × {}", P.size(), expected.m, expected.n);
        return check;
    }
    // Above it no sum lies, and a cast to a whole number would not be defined far above it.
    const auto most = static_cast<float>(expected.k * kMostOfAnInput * kMostOfAnInput);
    std::vector<uint8_t> wrong(expected.m);
    for_each_index(expected.m, threads, [&](uint64_t row) {
        const float* const values = &P[row * expected.n];
        const bool whole = std::all_of(values, values + expected.n, [most](float value) {
            return std::fabs(value) <= most && value == std::trunc(value);  // false for NaN
        });
        wrong[row] = !whole || row_times(values, expected.x) != expected.rows_by_x[row];
    });
    for (size_t i = 0; i < expected.rows.size(); ++i) {
        for (size_t j = 0; j < expected.cols.size(); ++j) {
            const float value = P[uint64_t{expected.rows[i]} * expected.n + expected.cols[j]];
            const int32_t right = expected.sample[i * expected.cols.size() + j];
            if (value == static_cast<float>(right)) continue;
            wrong[expected.rows[i]] = true;
            if (check.why.empty()) {
                const std::string is = std::isnan(value) ? "not a number" : fmt::format("{:.9g}", value);
                check.why = fmt::format("P[{},{}] is {} and must be {}", expected.rows[i], expected.cols[j],
                                        is, right);
            }
        }
    }
    check.wrong_rows = static_cast<uint64_t>(std::count(wrong.begin(), wrong.end(), uint8_t{1}));
    check.right = check.wrong_rows == 0;
    if (!check.right && check.why.empty()) {
        check.why = fmt::format("row {} of P is not the product's",
                                std::find(wrong.begin(), wrong.end(), uint8_t{1}) - wrong.begin());
    }
    return check;
}

}  // namespace tilescope::kernels
