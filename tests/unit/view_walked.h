// Recordings as the Compare screen has them: with their sums, and the index of one block.
#pragma once

#include "app/compare/model.h"
#include "tests/unit/view_recordings.h"

namespace tilescope::app {

struct Walked {
    Recorded made;
    compare::Tally side;
    compare::Run compared() const { return {*made.trace, side}; }
};

inline Walked walked(trace::Trace trace, uint32_t block = 0) {
    Walked one;
    one.made.trace = std::make_shared<const trace::Trace>(std::move(trace));
    auto rule = analysis::phase_rule(*one.made.trace);
    EXPECT_TRUE(rule);
    one.made.rule = *rule;
    one.made.index = index_block(*one.made.trace, one.made.rule, block);
    one.side = *compare::tally_of(*one.made.trace);
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
