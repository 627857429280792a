// What the Levels screen shows, without its pixels: of all that threads ask for, what each level of memory is
// asked for; the same by site, array and phase; and at a step where the request's sectors were found and what
// the L1 of its SM holds.
//
//   threads ask          1.00 MiB  ##########
//   requests               512 KiB  #####         lanes that ask for one sector share it
//   past L1                 64 KiB  #             what L1 did not hold
//   from L2                 40 KiB  #             what no neighbour had under way
//   from DRAM               32 KiB  #
//
// All of it is a replay of the recording (core/levels/levels.h), made by a job when the screen is first
// shown: what threads and requests ask for is exact, what is found where is modelled.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/levels/levels.h"
#include "core/levels/walk.h"
#include "kernels/textbook/known_launch.h"

namespace tilescope::levels {

using analysis::FoundIn, analysis::kFoundIn, analysis::LevelWalk;
using analysis::WalkedLevels;

enum class By : uint8_t { Site, Array, Phase };
inline constexpr const char* kByNames[] = {"site", "array", "phase"};  // in the order of By

inline constexpr const char* kFoundNames[kFoundIn] = {"L1", "in flight", "L2", "DRAM"};

// --- the whole recording

struct ChainStage {
    std::string name;   // "threads ask"
    std::string means;  // one sentence
    double bytes = 0;
    bool modelled = true;            // else counted from the recording
    std::optional<double> measured;  // by counters, where they ship
};
struct LoadChain {
    std::array<ChainStage, analysis::kLevelStages> stages;
    std::string of;  // whose bytes, where not the launch's: "Only 4 of its 4,096 blocks are recorded: ..."
    // "L1 finds 87.5 % of the sectors asked for; threads ask for ...", and shorter and shorter.
    std::vector<std::string> headlines;
    double most() const;  // bytes of the widest stage, measured ones too
    // How wide a pipe for so many bytes is, of the widest one's width: by a `halvings`th of it less for half of the
    // bytes, so that what a cache that works well lets through is still seen. 0 for no bytes. An eighth, or less
    // where stages are more than 2^7 apart.
    double width_of(double bytes) const;
    int halvings() const;
};
// counted: of the same launch on the same device; null for none.
LoadChain chain_of(const WalkedLevels& walked, const kernels::LevelCounterRow* counted);
// The same where only some blocks of a launch are walked: they say nothing of the whole launch's caches, of which
// counters may, and its headlines do. launched: its blocks; requested_bytes: by all of its threads, 0 where that
// is not known.
LoadChain chain_of_part(const WalkedLevels& walked, uint64_t launched,
                        const kernels::LevelCounterRow* counted, uint64_t requested_bytes);

// What the figures rest on, longest wording first: device, L1's size, blocks per SM, who put them there.
std::vector<std::string> rests_on(const trace::Trace& trace, const WalkedLevels& walked,
                                  const analysis::DeviceSpec& device);

// --- the table

struct ShareRow {
    std::string name;  // "line 12: M", "M", "phase 3"
    analysis::LevelShare share;
    bool now = false;  // the step belongs to it
};
// In the order of sites, arrays or phases; rows that load nothing are left out. step: of the trace.
std::vector<ShareRow> rows_of(const trace::Trace& trace, const Notation& notation, const WalkedLevels& walked,
                              By by, uint64_t step, uint32_t phase);

// --- a step

struct FoundLine {
    std::string name;                                 // "M[4,0..31]": its elements
    std::array<std::optional<FoundIn>, 4> sectors{};  // none where the request does not ask for it
    uint64_t line = 0;
};
struct Gone {
    std::string line, by, back;  // elements; when it is asked for again
};
// A line of the map.
struct HeldLine {
    uint64_t line = 0;
    uint8_t slot = 0;     // as level_slots() counts arrays
    uint8_t sectors = 0;  // sectors that L1 holds, a bit each
    bool mine = false;    // the step asks for it
    bool came = false;    // this unit brought it, or a part of it
};
struct StepView {
    bool loads = false;  // the step loads from global memory
    // The request whose sectors are shown: the step's own, else the block's last one before it that loads; none
    // where the block has loaded nothing yet.
    std::optional<uint32_t> request;
    std::string sentence;  // "All 4 sectors are found in L1."
    std::array<uint32_t, kFoundIn> found{};
    std::vector<FoundLine> lines;
    // The SM.
    LevelWalk::BatchPlace place;
    uint32_t units = 0;                     // number of batches of the SM
    std::string where;                      // "SM 3, 17th of its 64 units of loads"
    uint32_t sets = 0, ways = 0, held = 0;  // held: lines
    std::vector<HeldLine> map;              // [sets * ways], most recently used way first; sectors 0: empty
    uint32_t deepest = 0;                   // lines of the set that holds most
    std::vector<Gone> gone;                 // evicted by the unit so far
    uint64_t evicted = 0;                   // all of them; gone has the first kMostGone
};
inline constexpr size_t kMostGone = 6;
// block, step: as a cursor has them. requests: of the block's kind.
StepView step_view(const trace::Trace& trace, const Notation& notation, const WalkedLevels& walked,
                   const analysis::BlockRequests& requests, uint32_t block, uint32_t step);

// The elements of an array that lie in a line: "M[4,0..31]"; its address where it is of no array.
std::string line_name(const trace::Trace& trace, const Notation& notation, uint64_t line);

}  // namespace tilescope::levels
