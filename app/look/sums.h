// Sums so far of the block, beside those of the whole recording.
#pragma once

#include <string>
#include <vector>

#include "app/look/block_index.h"

namespace tilescope::look {

struct SumsRow {
    std::string what;  // "global loads"
    StepKind kind = StepKind::GlobalLoad;
    std::string requests, cost, least;  // "1,024", "4,096", "4,096"; millions shortened
    std::string exact;                  // "16,384 requests: 139,264 sectors, of 24,576 needed"
    bool wasteful = false;              // cost exceeds the least
};

struct SumsTable {
    std::string title;          // "block (0,0), to here"
    std::vector<SumsRow> rows;  // those spaces and directions the recording has
    std::string bytes;          // "global 32.0 KiB, shared 512.0 KiB"
};

// cost: sectors for global memory, wavefronts for shared memory.
SumsTable sums_table(const std::string& title, const SplitSums& sums, const analysis::Summary& whole);

// "" where the recording is whole, else the sentence to show beside every sum: why, and how many requests
// found no room in the device trace buffer, of all blocks and of the one that is shown.
std::string not_whole(const trace::Trace& trace);
std::string not_whole(const trace::Trace& trace, uint32_t block);

// What a viewer must know of the recording before they believe it: that it is not whole, or that its result
// is wrong; "" where neither is so.
std::string warning(const trace::Trace& trace, uint32_t block, const Notation& notation = {});
// "result checked", "12 wrong elements, the first P[3,4]".
std::string result_text(const trace::Trace& trace, const Notation& notation = {});

}  // namespace tilescope::look
