// A launch's way through the memory levels (core/levels/replay.h), of a recording or of a plan of any size.
//
// A plan is not recorded whole. Blocks of one class do the same steps with all addresses of an array moved by
// a constant, and a class is: in the last column of blocks or not, in the last row or not. So the blocks of
// two corners of the grid are recorded,
//
//     0 1 . . . .        0, 1, 2: by how much a block's addresses move from column to column and row to row
//     2 3 . . . .
//     . . . . . .
//     . . . . a b        a: must be block 0, moved; b, c, d: the last column, the last row, the corner
//     . . . . c d
//
// and every other block is its class's, moved. That the recorded ones are each other's, moved, is checked; a
// kernel of which it is not true is recorded whole, if that is not too much.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/levels/replay.h"
#include "core/levels/walk.h"
#include "core/limits/device_spec.h"
#include "core/trace/trace.h"
#include "kernels/run/plan.h"
#include "kernels/run/recorded_blocks.h"

namespace tilescope::kernels {

struct LevelDevice {
    analysis::DeviceSpec device;
    analysis::LevelSpec levels;
};

struct LevelOptions {
    uint32_t registers = 0;  // a thread, for how many blocks an SM holds; 0: not known, and not counted
    // Lines that the replay may ask L1 for, about. Four waves of blocks may ask for more, but for no more
    // than most_work, in which each unit of a block counts as four lines.
    uint64_t most_lines = 100'000'000, most_work = 200'000'000;
    bool all_blocks = false;  // simulates all blocks, however many
    bool range = false;       // works out Levels::dram_range, which takes up to two replays more
    const std::atomic<bool>* stop = nullptr;
    std::atomic<uint64_t>* begun =
        nullptr;  // counts the blocks whose replay has begun, where it is asked for
};

// How long a launch takes at least by one resource.
struct LevelBound {
    const char* resource = "";  // "dram", "l2", "data_pipe", "lsu", "issue", "fp32", "latency"
    double ms = 0;
    std::string of;  // what it was worked out from, in words
};

// Whether the blocks of an SM, which begin together, stay so from barrier to barrier: where it has few warps
// at once, none of them holds up the other, and all of them wait for their data at the same times. Where it
// has many, blocks drift apart. Source: tests/data/hardware/steps.txt, on an H200 and an H100; between 16 and
// 32 warps nothing was measured.
bool blocks_in_step(uint64_t warps_at_once);

struct Levels {
    // Blocks that do the same, but for where in memory.
    struct Kind {
        analysis::LevelSums sums;   // of one
        double sending_cycles = 0;  // as BlockWork has it
        uint64_t blocks = 0;
    };
    Dim3 grid;
    uint32_t resident = 0;  // blocks that an SM holds at once
    bool in_step = false;   // which wait for their data at the same times (blocks_in_step)
    uint64_t l1_bytes = 0;  // that shared memory leaves to L1
    // Exact.
    analysis::LevelSums sums;
    std::vector<Kind> kinds;
    analysis::LevelMisses misses;
    // Through the data pipe by requests to global memory: of those that ask for a sector for the first time
    // in their block, as many miss as of such sectors were modelled to.
    double passes() const;
    // Of tags: those of all requests, and again of lines that were not there, where all requests have one
    // line a lookup. Where a lookup has several, fewer may do for those that come later.
    double lookups() const;
    double lookups_again() const;
    double missed_share() const;
    // The most blocks that some SM runs, at least: blocks / sms, rounded up; where its blocks are in step
    // they end together, and it takes as many new ones at once, while there are some.
    uint64_t of_busiest(uint32_t sms) const {
        const uint64_t at_once = uint64_t{sms} * resident;
        return in_step && blocks > at_once
                   ? resident * (blocks / at_once) + std::min<uint64_t>(resident, blocks % at_once)
                   : (blocks + sms - 1) / sms;
    }
    // The most that an SM runs at once.
    uint64_t at_once(uint32_t sms) const;
    double l1_hit_rate = 0;  // of sectors
    // Bytes read from DRAM if blocks stay in step, and if they drift apart (analysis::Pace), where either may
    // happen and it makes a difference.
    std::optional<std::pair<double, double>> dram_range;
    uint64_t distinct_sectors = 0;  // of each block, added up
    std::vector<LevelBound> bounds;
    size_t bound_by = 0;  // the longest of them
    // Part of each bound by what SMs do themselves: an SM does nothing else, since all of its blocks wait at
    // once, or store.
    double idle_ms = 0;
    double sending_ms = 0;     // of these, until what its blocks store has been sent to L2
    bool by_sending = false;   // the bound of L2 is for what SMs send of what they store
    double launch_ms = 0;      // part of every bound
    bool as_recorded = false;  // placed as a GPU recording says
    bool sampled = false;      // blocks were moved from a few that were recorded
    uint64_t simulated = 0;    // blocks
    double part = 1;           // of what these ask for, what was simulated
    uint64_t blocks = 0;
};

// Of a launch that is yet to be recorded, on the CPU.
Result<Levels> levels_of(const Plan& plan, const LevelDevice& on, const LevelOptions& options);
// Of a recording: of all of its blocks where it holds the whole grid, else as of its plan.
Result<Levels> levels_of(const trace::Trace& trace, const LevelDevice& on, const LevelOptions& options);

// The same of the blocks that a recording holds, to be walked through request by request. A window of blocks
// runs as if it were the launch: what the others would have left in the caches is not known.
struct WalkedLevels {
    Levels levels;
    bool part = false;                // of a larger grid
    std::vector<uint32_t> number_of;  // by block of the recording: its number in the replay,
    std::vector<uint32_t> recorded;   // and back
    std::vector<uint32_t> kind_of;    // by number: into kinds
    std::vector<RecordedBlocks::Kind> kinds;
    std::shared_ptr<const analysis::LevelWalk> walk;
    analysis::LevelShares shares;
};
inline constexpr uint64_t kMostWalkedSteps = 40'000'000;
Result<WalkedLevels> walk_levels(const trace::Trace& trace, const analysis::PhaseRule& rule,
                                 const LevelDevice& on, const LevelOptions& options);
// What the blocks of a kind ask for, step by step.
analysis::BlockRequests requests_of_kind(const WalkedLevels& walked, const trace::Trace& trace,
                                         uint32_t kind);

}  // namespace tilescope::kernels
