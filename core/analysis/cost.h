// The cost of any step of a trace, remembered by form: two requests of one form whose bases agree
// modulo 128 bytes cost the same, so judging ten million requests is ten million look-ups.
#pragma once

#include <cstdint>
#include <vector>

#include "core/analysis/banks.h"
#include "core/analysis/coalescing.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {

struct Cost {
    SectorCost global;     // for global sites
    BankCost shared;       // for shared sites
};

class CostTable {
public:
    explicit CostTable(const trace::Trace& trace);   // keeps a reference
    const Cost& of(uint64_t step);                   // zero cost for barriers

private:
    const trace::Trace& trace_;
    std::vector<int32_t> known_;      // form * 128 + base mod 128 -> costs_, filled as asked
    std::vector<Cost> costs_;
};

}  // namespace tilescope::analysis
