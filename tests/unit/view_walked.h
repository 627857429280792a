// Recordings as the Compare screen has them: with their sums, and the index of one block.
#pragma once

#include "app/compare/model.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {

struct Walked {
    Recorded made;
    compare::Tally side;
    compare::Run compared() const { return {made, side}; }
};

inline Walked walked(trace::Trace trace, uint32_t block = 0) {
    Walked one;
    auto recording = analysis::opened(std::move(trace));
    EXPECT_TRUE(recording);
    static_cast<analysis::Recording&>(one.made) = std::move(*recording);
    one.made.index = index_block(one.made, block);
    one.side = *compare::tally_of(one.made);
    return one;
}

inline Walked walked(const char* kernel, kernels::Shape shape, uint32_t block = 0) {
    return walked(kernels::recorded(kernel, shape), block);
}

inline Count whole(const Counters& counters, const char* what) {
    for (const CounterRow& row : counters.rows)
        if (row.what == what) return row.whole;
    return {};
}

}  // namespace tilescope::app
