// Blocks of a trace that nobody opened, as screens have them (tests/opened.h).
#pragma once

#include "app/look/faults.h"
#include "tests/opened.h"

namespace tilescope::look {

inline std::shared_ptr<const BlockIndex> index_block(const trace::Trace& trace,
                                                     const analysis::PhaseRule& rule, uint32_t block) {
    return index_block(analysis::with_rule(trace, rule), block);
}

}  // namespace tilescope::look
