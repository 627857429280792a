// What a launch asks of each level of memory of a device, and by which resource it is bound.
//
//   the launch      blocks, how many of them an SM holds, and where they ran
//   asked           exact: what threads and requests ask for
//   model           what a replay of the blocks finds where (replay.h)
//   bounds          the least time by each resource (bounds.h)
//
// Of a recording all blocks that it holds are replayed. A launch may be of any size where the blocks of two
// corners of its grid stand for all (corner_blocks.h); kernels/run/levels.h records these.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/levels/corner_blocks.h"
#include "core/levels/recorded_blocks.h"
#include "core/levels/replay.h"
#include "core/levels/walk.h"
#include "core/limits/device_spec.h"
#include "core/recording/recording.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {

struct LevelDevice {
    DeviceSpec device;
    LevelSpec levels;
};

// Shared memory of a block in bytes: what the kernel declares and what the launch adds.
uint64_t shared_bytes(const Launch& launch);

struct LevelOptions {
    uint32_t registers = 0;  // registers of a thread, for how many blocks an SM holds; 0: not counted
    // About how many lines the replay may ask L1 for. Four waves of blocks may ask for more, but not for more
    // than most_work, in which each batch of a block counts as four lines.
    uint64_t most_lines = 100'000'000, most_work = 200'000'000;
    bool all_blocks = false;  // all blocks are simulated, however many
    bool range = false;       // LevelModel::dram_range is worked out, which takes up to two replays more
    const std::atomic<bool>* stop = nullptr;
    std::atomic<uint64_t>* begun = nullptr;  // where it is asked for, counts blocks whose replay has begun
};

// --- what is known of a launch

// How the launch lies on the device.
struct LaunchPlacement {
    Dim3 grid;
    uint64_t blocks = 0;
    uint32_t resident = 0;     // blocks that an SM holds at once
    bool in_step = false;      // those wait for their data at the same times (blocks_in_step)
    uint64_t l1_bytes = 0;     // bytes that shared memory leaves to L1
    bool as_recorded = false;  // blocks are placed on SMs as a GPU recording says
    bool sampled = false;      // blocks are relocated from a few that were recorded

    // The least number of blocks that the busiest SM can have: blocks / sms, rounded up. Blocks in step end
    // together, and the SM takes as many new ones at once while there are some.
    uint64_t of_busiest(uint32_t sms) const;
    // The most blocks that an SM runs at once.
    uint64_t at_once(uint32_t sms) const { return std::min<uint64_t>(resident, of_busiest(sms)); }
};

// What its blocks ask for: exact sums.
struct LaunchSums {
    // Blocks that do the same, but for where in memory.
    struct AlikeBlocks {
        LevelSums sums;             // of one block
        double sending_cycles = 0;  // BlockWork::sending_cycles
        uint64_t blocks = 0;
    };
    LevelSums all;
    std::vector<AlikeBlocks> alike;
    uint64_t distinct_sectors = 0;  // different sectors of each block, added up
};

// What the replay found.
struct LevelModel {
    LevelMisses misses;
    double l1_hit_rate = 0;  // share of the sectors that L1 has
    // The least and the most bytes read from DRAM, if blocks stay in step or drift apart, where either may
    // happen and makes a difference.
    std::optional<std::pair<double, double>> dram_range;
    uint64_t simulated = 0;  // number of blocks replayed
    double part = 1;         // fraction of what each of these blocks asks for that was replayed
};

// How long a launch takes at least by one resource.
struct LevelBound {
    const char* resource = "";  // "dram", "l2", "data_pipe", "lsu", "issue", "fp32", "tensor", "latency"
    double ms = 0;
    std::string of;  // what it was worked out from, in words
};
struct LevelBounds {
    std::vector<LevelBound> all;
    size_t bound_by = 0;  // index of the longest of them
    const LevelBound& longest() const { return all[bound_by]; }
    // Part of each bound by what SMs do themselves: time in which all blocks of an SM wait, or only store.
    double idle_ms = 0;
    double sending_ms = 0;    // the part of idle_ms until what its blocks store has been sent to L2
    bool by_sending = false;  // the bound of L2 is for what SMs send of what they store
    double launch_ms = 0;     // part of every bound: what events around a launch show beside its work
};

struct Levels {
    LaunchPlacement launch;
    LaunchSums asked;
    LevelModel model;
    LevelBounds bounds;

    // The share of first-time sectors (of their block) that miss in L1, as modelled.
    double missed_share() const;
    // Wavefronts of the data stage for requests to global memory. The share of first-time requests that miss
    // is taken to be missed_share().
    double passes() const { return asked.all.global_passes(missed_share()); }
    // Lookups of the tag stage: for all requests, and again for each line that missed, if all requests have
    // one line a lookup. If lookups have several lines, fewer may be needed again, and none are counted.
    double lookups() const { return static_cast<double>(asked.all.lookups) + lookups_again(); }
    double lookups_again() const;
};

// --- the five stages of what is loaded

//   threads ask          1.00 MiB  ##########
//   requests               512 KiB  #####         lanes that ask for one sector share it
//   past L1                 64 KiB  #             what L1 did not hold
//   from L2                 40 KiB  #             what no neighbour had under way
//   from DRAM               32 KiB  #
enum class LevelStage : uint8_t { Threads, Requests, PastL1, FromL2, FromDram };
struct LevelStageRow {
    const char* name;   // "threads ask"
    const char* means;  // one sentence
    bool modelled;      // else counted from the recording
};
inline constexpr size_t kLevelStages = 5;
extern const std::array<LevelStageRow, kLevelStages> kLevelStageRows;  // by LevelStage

// Bytes of each stage; nothing where it is not known, as counters count no bytes that lanes ask for.
struct LevelTraffic {
    std::array<std::optional<double>, kLevelStages> bytes;
    double of(LevelStage stage) const { return bytes[static_cast<size_t>(stage)].value_or(0); }
    double sectors(LevelStage stage) const;
    // The share of what one stage asks for that does not go on to another.
    double found_between(LevelStage asked, LevelStage missed) const { return 1 - of(missed) / of(asked); }
};
LevelTraffic traffic_of(const Levels& levels);
// The same from sectors that were counted.
LevelTraffic traffic_of(std::optional<double> requested_bytes, double l1_sectors, double l1_misses,
                        double l2_read_sectors, double dram_read_bytes);

// --- working it out

// Levels of a launch whose blocks are like those of two corners of its grid.
Result<Levels> levels_of_corners(const RecordedCorners& corners, const LevelDevice& on,
                                 const LevelOptions& options);
// Levels of the blocks that a recording holds, as if they were the launch.
Result<Levels> levels_of_recorded(const trace::Trace& trace, const LevelDevice& on,
                                  const LevelOptions& options);
// Why a recording cannot tell: a request of it is missing.
std::optional<Error> levels_unknown(const trace::Trace& trace);

// The same with the log of the replay, to be walked through request by request. A window of blocks
// runs as if it were the launch: what the others would have left in the caches is not known.
struct WalkedLevels {
    Levels levels;
    bool part = false;                // the recording holds a part of a larger grid
    std::vector<uint32_t> number_of;  // by block of the recording: its number in the replay
    std::vector<uint32_t> recorded;   // by number in the replay: the block of the recording
    std::vector<uint32_t> kind_of;    // by number in the replay: index into kinds
    std::vector<RecordedBlocks::BlockKind> kinds;
    std::shared_ptr<const LevelWalk> walk;
    LevelShares shares;
};
inline constexpr uint64_t kMostWalkedSteps = 40'000'000;
Result<WalkedLevels> walk_levels(const Recording& recording, const LevelDevice& on,
                                 const LevelOptions& options);
// What the blocks of a kind ask for, step by step.
BlockRequests requests_of_kind(const WalkedLevels& walked, const trace::Trace& trace, uint32_t kind);

}  // namespace tilescope::analysis
