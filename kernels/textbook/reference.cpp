#include "kernels/textbook/reference.h"

#include <algorithm>
#include <cmath>

#include "core/base/contents.h"
#include "core/base/parallel.h"
#include "core/base/stop.h"

namespace tilescope::kernels {

namespace {

constexpr uint8_t kP = 2;  // among the arrays of a textbook launch

// The elements of P that must hold the product, a bit each.
struct Elements {
    uint64_t rows = 0, cols = 0;
    std::vector<bool> owned, stored;
};

// What the launch says the recorded blocks compute: block x walks the columns of P and block y its rows, or
// the other way round in a swapped kernel.
void mark_owned(const trace::Trace& trace, const KernelInfo& info, const Shape& shape, Elements& p) {
    const BlockTile tile = block_tile(info, shape);
    for (const trace::Block& block : trace.blocks) {
        const uint64_t row0 = uint64_t{info.swapped ? block.x : block.y} * tile.rows;
        const uint64_t col0 = uint64_t{info.swapped ? block.y : block.x} * tile.cols;
        for (uint64_t row = row0; row < std::min(row0 + tile.rows, p.rows); ++row)
            for (uint64_t col = col0; col < std::min(col0 + tile.cols, p.cols); ++col)
                p.owned[row * p.cols + col] = true;
    }
}

void mark_stored(const trace::Trace& trace, Elements& p) {
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        const trace::Form& form = trace.form_of(step);
        if (form.array != kP || trace.sites[form.site].kind != ptx::SiteKind::Store) continue;
        const trace::Access access = trace::decode(trace, step);
        const uint32_t words = trace.sites[access.site].bytes / sizeof(float);
        for_lanes(access.mask, [&](uint32_t lane) {
            for (uint32_t word = 0; word < words; ++word) {
                const uint64_t element = access.offset[lane] / sizeof(float) + word;
                if (element < p.stored.size()) p.owned[element] = p.stored[element] = true;
            }
        });
    }
}

void add(trace::Verification& sum, const trace::Verification& row) {
    sum.max_abs_error = std::max(sum.max_abs_error, row.max_abs_error);
    sum.wrong += row.wrong;
    if (row.first_wrong >= 0 && (sum.first_wrong < 0 || row.first_wrong < sum.first_wrong))
        sum.first_wrong = row.first_wrong;
    const size_t room = trace::kMostWrongElements - sum.wrong_elements.size();
    const auto first = row.wrong_elements.begin();
    sum.wrong_elements.insert(sum.wrong_elements.end(), first,
                              first + static_cast<std::ptrdiff_t>(std::min(room, row.wrong_elements.size())));
}

// One row of P: the owned columns' sums grow side by side, a row of N at a time.
trace::Verification verify_row(const Shape& shape, uint64_t seed, const Elements& p, const float* P,
                               uint64_t row, Stop stop) {
    std::vector<uint64_t> cols;
    for (uint64_t col = 0; col < p.cols; ++col)
        if (p.owned[row * p.cols + col]) cols.push_back(col);
    trace::Verification result;
    if (cols.empty()) return result;
    std::vector<double> sum(cols.size()), magnitude(cols.size());
    for (uint64_t k = 0; k < shape.k && !stop.now(); ++k) {
        const double m = input_value(seed, 0, row * shape.k + k);
        for (size_t i = 0; i < cols.size(); ++i) {
            const double product = m * input_value(seed, 1, k * shape.n + cols[i]);
            sum[i] += product;
            magnitude[i] += std::fabs(product);
        }
    }
    for (size_t i = 0; i < cols.size(); ++i) {
        const uint64_t element = row * p.cols + cols[i];
        const double error = std::fabs(double{P[element]} - sum[i]);
        const bool exact = magnitude[i] < 0x1p24;
        const double bound = exact ? 0 : static_cast<double>(shape.k) * 0x1p-23 * magnitude[i];
        const bool right = p.stored[element] && error <= bound;  // false for NaN
        if (p.stored[element] && std::isfinite(error))
            result.max_abs_error = std::max(result.max_abs_error, error);
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
    return static_cast<float>(small_integer(seed, static_cast<uint32_t>(array), index));
}

std::vector<float> make_input(uint64_t seed, int array, uint64_t count) {
    std::vector<float> values(count);
    for (uint64_t i = 0; i < count; ++i) values[i] = input_value(seed, array, i);
    return values;
}

std::vector<double> reference_product(const std::vector<float>& M, const std::vector<float>& N, uint32_t m,
                                      uint32_t k, uint32_t n) {
    std::vector<double> P(uint64_t{m} * n);
    for (uint64_t row = 0; row < m; ++row) {
        for (uint64_t i = 0; i < k; ++i)
            for (uint64_t col = 0; col < n; ++col)
                P[row * n + col] += double{M[row * k + i]} * double{N[i * n + col]};
    }
    return P;
}

trace::Verification verify(const trace::Trace& trace, const KernelInfo& info, const Shape& shape,
                           uint64_t seed, const float* P, unsigned threads, const std::atomic<bool>* stop) {
    trace::Verification result;
    result.array = kP;
    if (!trace.meta.complete) return result;
    Elements p;
    p.rows = shape.m;
    p.cols = shape.n;
    p.owned.resize(p.rows * p.cols);
    p.stored.resize(p.rows * p.cols);
    mark_owned(trace, info, shape, p);
    mark_stored(trace, p);

    const Stop asked{stop};
    std::vector<trace::Verification> rows(p.rows);
    for_each_index(p.rows, threads, [&](uint64_t row) {
        if (!asked.now()) rows[row] = verify_row(shape, seed, p, P, row, asked);
    });
    if (asked.now()) return result;
    result.checked = true;
    for (const trace::Verification& row : rows) add(result, row);
    result.verified = result.wrong == 0;
    return result;
}

Check product_check(const KernelInfo& info, const Shape& shape, uint64_t seed) {
    return [&info, shape, seed](const trace::Trace& trace, const simt::GlobalMemory& memory, unsigned threads,
                                const std::atomic<bool>* stop) {
        const auto* P = reinterpret_cast<const float*>(memory.buffers[kP].bytes.data());
        return verify(trace, info, shape, seed, P, threads, stop);
    };
}

}  // namespace tilescope::kernels
