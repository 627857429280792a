// The phases of a trace that no kernel made.
#pragma once

#include "core/recording/phases.h"

namespace tilescope::analysis {

// A rule for traces without a kernel: everything lies before any loop, in phase 0.
inline PhaseRule one_phase(size_t sites) {
    PhaseRule rule;
    rule.by_place = true;
    rule.rank.assign(sites, -1);
    rule.stays.assign(sites, false);
    rule.body.assign(sites, 0);
    rule.group.assign(sites, 0);
    rule.groups = 1;
    rule.after.assign(sites, false);
    return rule;
}

}  // namespace tilescope::analysis
