#include "kernels/textbook/statistics.h"

#include <algorithm>
#include <cstddef>

namespace tilescope::kernels {

namespace {

// Nearest rank: the smallest value that at least `percent` of all values do not exceed.
double percentile(const std::vector<double>& sorted, size_t percent) {
    const size_t rank = (sorted.size() * percent + 99) / 100;  // from 1
    return sorted[std::max<size_t>(rank, 1) - 1];
}

}  // namespace

Spread spread_of(std::vector<double> values) {
    if (values.empty()) return {};
    std::sort(values.begin(), values.end());
    const size_t half = values.size() / 2;
    const double median = values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
    return {median, percentile(values, 10), percentile(values, 90)};
}

}  // namespace tilescope::kernels
