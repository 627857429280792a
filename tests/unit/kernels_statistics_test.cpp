// Median and percentiles, held against their definitions by counting.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "kernels/textbook/timings.h"

namespace tilescope::kernels {
namespace {

// The smallest value that at least `percent` of all values do not exceed.
double percentile_by_counting(const std::vector<double>& values, size_t percent) {
    double best = 1e300;
    for (double candidate : values) {
        const auto below = static_cast<size_t>(
            std::count_if(values.begin(), values.end(), [&](double v) { return v <= candidate; }));
        if (below * 100 >= values.size() * percent) best = std::min(best, candidate);
    }
    return best;
}

// As many values lie below it as above it.
bool halves(const std::vector<double>& values, double median) {
    const auto below = std::count_if(values.begin(), values.end(), [&](double v) { return v < median; });
    const auto above = std::count_if(values.begin(), values.end(), [&](double v) { return v > median; });
    const auto half = static_cast<long>(values.size()) / 2;
    return below <= half && above <= half;
}

TEST(Spread, OfKnownTimes) {
    std::vector<double> times(20);
    for (int i = 0; i < 20; ++i) times[i] = 20 - i;
    const TimeSpread spread = spread_of(times);
    EXPECT_EQ(spread.median, 10.5);
    EXPECT_EQ(spread.low, 2);
    EXPECT_EQ(spread.high, 18);
    EXPECT_EQ(spread_of({3, 1, 2}).median, 2);
    EXPECT_EQ(spread_of({7}).low, 7);
    EXPECT_EQ(spread_of({7}).high, 7);
    EXPECT_EQ(spread_of({}).median, 0);
}

TEST(Spread, IsWhatCountingSays) {
    std::mt19937 random(7);
    for (int round = 0; round < 500; ++round) {
        std::vector<double> values(1 + random() % 60);
        for (double& value : values) value = static_cast<double>(random() % 25);  // with many that are equal
        const TimeSpread spread = spread_of(values);
        EXPECT_EQ(spread.low, percentile_by_counting(values, 10));
        EXPECT_EQ(spread.high, percentile_by_counting(values, 90));
        EXPECT_TRUE(halves(values, spread.median));
        EXPECT_LE(spread.low, spread.median);
        EXPECT_LE(spread.median, spread.high);
    }
}

}  // namespace
}  // namespace tilescope::kernels
