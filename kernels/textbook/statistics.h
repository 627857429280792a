// What a row of measured times comes down to.
#pragma once

#include <vector>

namespace tilescope::kernels {

struct Spread {
    double median = 0;  // of an even count: the mean of the middle two
    double low = 0;     // 10th percentile, and
    double high = 0;    // 90th, by nearest rank: times that were really measured
};

// Of any number of values in any order; zeros for none.
Spread spread_of(std::vector<double> values);

}  // namespace tilescope::kernels
