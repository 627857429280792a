// The lecture's table: per thread and phase, what it loaded, to where, and what it multiplied;
// derived from a replayed block, not from knowledge of the kernel.
#pragma once

#include <string>
#include <vector>

#include "core/analysis/phases.h"
#include "core/playback/replay.h"

namespace tilescope::playback {

struct TableCell {
    std::vector<std::string> loads;       // "M[0,1] -> Mds[0,1]"; untiled "M[0,1]"; zero fill "0 -> Mds[1,1]"
    std::string multiplies;               // "P[0,1] += Mds[0,0]*Nds[0,1] + Mds[0,1]*Nds[1,1]", "" for none
};

struct PhaseTable {
    uint32_t block_x = 0, block_y = 0;
    uint32_t phases = 0;
    struct Row {
        uint32_t x = 0, y = 0;            // thread[y,x]
        std::vector<TableCell> phase;     // one per phase
    };
    std::vector<Row> rows;                // y-major
};

PhaseTable phase_table(const trace::Trace& trace, const BlockReplay& replay, const analysis::PhaseMap& phases);

enum class TableFormat { Text, Csv, Markdown };
std::string print(const PhaseTable& table, TableFormat format);

}  // namespace tilescope::playback
