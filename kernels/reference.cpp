// Inputs, the plain product, and P held against it.
#include <algorithm>
#include <cmath>

#include "core/base/parallel.h"
#include "kernels/record.h"

namespace tilescope::kernels {

namespace {

// The elements of P that must hold the product, a bit each.
struct Elements {
    uint64_t rows = 0, cols = 0;
    std::vector<bool> owned, stored;
};

// What the launch says the recorded blocks compute: thread x walks the columns of P and thread y its
// rows, or the other way round in a swapped kernel; of a kernel that is not in the catalogue the whole
// grid computes all of P.
void mark_owned(const trace::Trace& trace, Elements& p) {
    const trace::Meta& meta = trace.meta;
    const KernelInfo* info = find(meta.kernel);
    if (!info) {
        const bool whole = trace.blocks.size() == meta.grid.count();
        std::fill(p.owned.begin(), p.owned.end(), whole);
        return;
    }
    for (const trace::Block& block : trace.blocks) {
        const uint64_t x0 = uint64_t{block.x} * meta.block.x, y0 = uint64_t{block.y} * meta.block.y;
        const uint64_t row0 = info->swapped ? x0 : y0, rows = info->swapped ? meta.block.x : meta.block.y;
        const uint64_t col0 = info->swapped ? y0 : x0, cols = info->swapped ? meta.block.y : meta.block.x;
        for (uint64_t row = row0; row < std::min(row0 + rows, p.rows); ++row) {
            for (uint64_t col = col0; col < std::min(col0 + cols, p.cols); ++col) {
                p.owned[row * p.cols + col] = true;
            }
        }
    }
}

void mark_stored(const trace::Trace& trace, Elements& p) {
    std::vector<bool> stores(trace.forms.size());
    for (size_t i = 0; i < stores.size(); ++i) {
        const trace::Form& form = trace.forms[i];
        stores[i] = trace.sites[form.site].kind == ptx::SiteKind::Store && form.array != trace::kNoArray &&
                    trace.arrays[form.array].role == ArrayRole::Output;
    }
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        if (!stores[trace.key[step] & 0xFF'FFFF]) {
            continue;
        }
        const trace::Access access = trace::decode(trace, step);
        const uint32_t words = trace.sites[access.site].bytes / sizeof(float);
        for (int lane = 0; lane < kWarpSize; ++lane) {
            for (uint32_t word = 0; word < words && (access.mask >> lane & 1); ++word) {
                const uint64_t element = access.offset[lane] / sizeof(float) + word;
                if (element < p.stored.size()) {
                    p.owned[element] = p.stored[element] = true;
                }
            }
        }
    }
}

void add(trace::Verification& sum, const trace::Verification& row) {
    sum.max_abs_error = std::max(sum.max_abs_error, row.max_abs_error);
    sum.wrong += row.wrong;
    if (row.first_wrong >= 0 && (sum.first_wrong < 0 || row.first_wrong < sum.first_wrong)) {
        sum.first_wrong = row.first_wrong;
    }
    const size_t room = trace::kMostWrongElements - sum.wrong_elements.size();
    const auto first = row.wrong_elements.begin();
    sum.wrong_elements.insert(sum.wrong_elements.end(), first,
                              first + static_cast<std::ptrdiff_t>(std::min(room, row.wrong_elements.size())));
}

// One row of P: the owned columns' sums grow side by side, a row of N at a time.
trace::Verification verify_row(const trace::Meta& meta, const Elements& p, const float* P, uint64_t row) {
    std::vector<uint64_t> cols;
    for (uint64_t col = 0; col < p.cols; ++col) {
        if (p.owned[row * p.cols + col]) {
            cols.push_back(col);
        }
    }
    trace::Verification result;
    if (cols.empty()) {
        return result;
    }
    std::vector<double> sum(cols.size()), magnitude(cols.size());
    for (uint64_t k = 0; k < meta.k; ++k) {
        const double m = input_value(meta.seed, 0, row * meta.k + k);
        for (size_t i = 0; i < cols.size(); ++i) {
            const double product = m * input_value(meta.seed, 1, k * meta.n + cols[i]);
            sum[i] += product;
            magnitude[i] += std::fabs(product);
        }
    }
    for (size_t i = 0; i < cols.size(); ++i) {
        const uint64_t element = row * p.cols + cols[i];
        const double error = std::fabs(double{P[element]} - sum[i]);
        const bool exact = magnitude[i] < 0x1p24;
        const double bound = exact ? 0 : static_cast<double>(meta.k) * 0x1p-23 * magnitude[i];
        const bool right = p.stored[element] && error <= bound;  // false for NaN
        if (p.stored[element] && std::isfinite(error)) {
            result.max_abs_error = std::max(result.max_abs_error, error);
        }
        if (!right) {
            ++result.wrong;
            if (result.wrong_elements.size() < trace::kMostWrongElements)
                result.wrong_elements.push_back(element);
            result.first_wrong = result.first_wrong < 0 ? static_cast<int64_t>(element) : result.first_wrong;
        }
    }
    return result;
}

}  // namespace

float input_value(uint64_t seed, int array, uint64_t index) {
    // splitmix64 (Steele, Lea, Flood: "Fast Splittable Pseudorandom Number Generators", OOPSLA 2014).
    uint64_t bits = seed * 0xD1B5'4A32'D192'ED03u + static_cast<uint64_t>(array) * 0xAEF1'7502'108E'F2D9u +
                    (index + 1) * 0x9E37'79B9'7F4A'7C15u;
    bits = (bits ^ bits >> 30) * 0xBF58'476D'1CE4'E5B9u;
    bits = (bits ^ bits >> 27) * 0x94D0'49BB'1331'11EBu;
    bits ^= bits >> 31;
    const int value = static_cast<int>((bits >> 32) * 18 >> 32);  // 0..17
    return static_cast<float>(value < 9 ? value - 9 : value - 8);
}

std::vector<float> make_input(uint64_t seed, int array, uint64_t count) {
    std::vector<float> values(count);
    for (uint64_t i = 0; i < count; ++i) {
        values[i] = input_value(seed, array, i);
    }
    return values;
}

std::vector<double> reference_product(const std::vector<float>& M, const std::vector<float>& N, uint32_t m,
                                      uint32_t k, uint32_t n) {
    std::vector<double> P(uint64_t{m} * n);
    for (uint64_t row = 0; row < m; ++row) {
        for (uint64_t i = 0; i < k; ++i) {
            for (uint64_t col = 0; col < n; ++col) {
                P[row * n + col] += double{M[row * k + i]} * double{N[i * n + col]};
            }
        }
    }
    return P;
}

trace::Verification verify(const trace::Trace& trace, const float* P, unsigned threads) {
    trace::Verification result;
    if (!trace.meta.complete) {
        return result;
    }
    Elements p;
    p.rows = trace.meta.m;
    p.cols = trace.meta.n;
    p.owned.resize(p.rows * p.cols);
    p.stored.resize(p.rows * p.cols);
    mark_owned(trace, p);
    mark_stored(trace, p);

    std::vector<trace::Verification> rows(p.rows);
    for_each_index(p.rows, threads, [&](uint64_t row) { rows[row] = verify_row(trace.meta, p, P, row); });
    result.checked = true;
    for (const trace::Verification& row : rows) {
        add(result, row);
    }
    result.verified = result.wrong == 0;
    return result;
}

}  // namespace tilescope::kernels
