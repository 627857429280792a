// What a device's memory levels are made of, as far as the replay of a recording through them
// (replay.h) and the bounds (core/levels/bounds.h) need it. Every figure says what it rests on:
//
//   documented   a document of the vendor states it
//   measured     it was found by counters or times of that device
//   assumed      neither; taken from a related device, or a guess
//
// Figures stand in assets/devices/ID.json under "levels"; a device without them has no levels.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace tilescope::analysis {

inline constexpr uint32_t kSchedulers = 4;  // of an SM; source: the white paper named by issue_per_clock

enum class FigureBasis : uint8_t { Documented, Measured, Assumed };
const char* name_of(FigureBasis known);  // "documented"

struct LevelFigure {
    double value = 0;
    FigureBasis known = FigureBasis::Assumed;
    std::string source;
};

struct LevelSpec {
    LevelFigure l1_bytes;         // of an SM, shared memory's part included
    LevelFigure l2_bytes;         // of the device
    LevelFigure l2_copies;        // how many of its parts hold the same line
    LevelFigure fetch_bytes;      // that L2 fetches from DRAM at a time
    LevelFigure gpcs;             // groups of SMs whose reads of one sector are merged on the way to L2
    LevelFigure merge_cycles;     // for so long behind the first, where L2 has it; else until DRAM gave it
    LevelFigure shared_cycles;    // from a load's issue until its value can be used: of shared memory,
    LevelFigure trip_cycles;      // of a trip of a loop that loads from there and uses what it has loaded
    LevelFigure l1_cycles;        // likewise from a load's issue: of a hit in L1,
    LevelFigure l2_cycles;        // of a hit in L2,
    LevelFigure dram_cycles;      // and of a sector that comes from DRAM
    LevelFigure l2_latency;       // cycles that one warp alone waits for a load, from L2
    LevelFigure dram_latency;     // and from DRAM
    LevelFigure send_share;       // that sending a unit's requests takes longer, as a share of it: they take
                                  // turns with what other blocks ask of the pipe
    LevelFigure spread_cycles;    // that a unit waits longer, at most, as chance has it,
    LevelFigure spread_share;     // and that its work takes longer, as a share of it;
    LevelFigure drift_cycles;     // the same of blocks without barriers, whose warps do not wait for each
    LevelFigure drift_share;      // other
    LevelFigure launch_ns;        // that two events around a launch show beyond its work
    LevelFigure clock_mhz;        // highest clock of the SMs
    LevelFigure pipe_per_clock;   // an SM's, each clock: wavefronts and lines of its data pipe,
    LevelFigure lsu_per_clock;    // load and store instructions of warps, or lookups of tags,
    LevelFigure issue_per_clock;  // instructions of warps,
    LevelFigure fp32_per_clock;   // fp32 operations of lanes, a multiply-add counted once
    LevelFigure l2_per_clock;     // bytes that L2 gives all SMs together, each clock
    LevelFigure sent_per_clock;   // sectors that an SM sends to L2, each clock

    // Of L2 that different lines find room in.
    double l2_useful_bytes() const { return l2_bytes.value / l2_copies.value; }
};

struct LevelFigureName {
    const char* key;   // in files
    const char* says;  // in lists, "L1 and shared memory of an SM, bytes"
    LevelFigure LevelSpec::*figure;
    double most;  // the highest that is believed
};
const std::array<LevelFigureName, 26>& level_figures();

// Of a device's file: its "levels" with all of the figures, each {"value", "known", "source"}. Nothing where
// the file has none. `name` is named in errors.
Result<std::optional<LevelSpec>> levels_from_json(std::string_view text, std::string_view name);

}  // namespace tilescope::analysis
