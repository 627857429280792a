// The rows of sums that the Step screen shows, of a block so far and of the whole recording; and what a
// viewer must know of a recording before they believe its sums.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/look/block_index.h"

namespace tilescope::look {

struct SumsRow {
    std::string what;  // "global loads"
    StepKind kind = StepKind::GlobalLoad;
    std::string requests, cost, least;  // "1,024", "4,096", "4,096"; millions shortened
    std::string exact;      // "16,384 requests: 139,264 sectors, of 24,576 needed; efficiency 50 %"
    bool wasteful = false;  // cost exceeds the least, for sectors the least that the block's shape allows
};

struct SumsTable {
    std::string title;          // "block so far"
    std::vector<SumsRow> rows;  // those spaces and directions the recording has
    std::string bytes;          // "32.0 KiB global, 512.0 KiB shared"
    // The ways to say how much of what was moved lanes asked for, and how many lanes touched nothing, longest first;
    // {} without requests: "efficiency of loads 50 %, of stores 100 %; 1,024 of 8,192 lanes idle, 12.5 %".
    std::vector<std::string> shares;
};

// cost: sectors for global and local memory, wavefronts for shared memory, different addresses for constant
// memory, and for atomics the turns that lanes of one address take.
SumsTable sums_table(const std::string& title, const SplitSums& sums, const analysis::Summary& whole);

// "" where the recording is whole, else the sentence to show beside every sum: why it is not, or how many
// requests found no room in the device trace buffer; and how many of those are of the block that is shown.
std::string not_whole(const trace::Trace& trace, std::optional<uint32_t> block = std::nullopt);

// The same; of a recording that is whole, that its result is wrong. "" where neither is so.
std::string warning(const trace::Trace& trace, uint32_t block, const Notation& notation = {});
// "result verified", "result wrong in 12 elements, the first P[3,4]".
std::string result_text(const trace::Trace& trace, const Notation& notation = {});

}  // namespace tilescope::look
