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
    LevelFigure l1_bytes;      // of an SM, shared memory's part included
    LevelFigure l2_bytes;      // of the device
    LevelFigure l2_copies;     // number of parts of L2 that hold the same line
    LevelFigure fetch_bytes;   // bytes that L2 fetches from DRAM at a time
    LevelFigure gpcs;          // groups of SMs whose reads of one sector are coalesced on the way to L2
    LevelFigure merge_cycles;  // cycles behind the first read for which they are, where L2 has the sector
    // Cycles from a load's issue until its value can be used.
    LevelFigure shared_cycles;  // of a load from shared memory
    LevelFigure trip_cycles;    // of a trip of a loop that loads from there and uses what it has loaded
    LevelFigure l1_cycles;      // of a load that hits in L1
    LevelFigure l2_cycles;      // of a load that hits in L2
    LevelFigure dram_cycles;    // of a load from DRAM
    LevelFigure l2_latency;     // of a load from L2 by a warp that is alone
    LevelFigure dram_latency;   // of a load from DRAM by a warp that is alone
    // What chance adds: warps of a block take turns in an order that is not known.
    LevelFigure send_share;     // share that sending a batch's requests takes longer, at most
    LevelFigure spread_cycles;  // cycles that a batch waits longer, at most
    LevelFigure spread_share;   // share that its work takes longer, at most
    LevelFigure drift_cycles;   // spread_cycles of blocks without barriers, whose warps go on by themselves
    LevelFigure drift_share;    // spread_share of such blocks
    LevelFigure launch_ns;      // nanoseconds that two events around a launch show beyond its work
    LevelFigure clock_mhz;      // highest clock of the SMs
    // What is done each clock.
    LevelFigure pipe_per_clock;   // wavefronts of an SM's data stage, of shared and global memory
    LevelFigure lsu_per_clock;    // load and store instructions of an SM's warps, or lookups of its tag stage
    LevelFigure issue_per_clock;  // instructions of an SM's warps
    LevelFigure fp32_per_clock;   // fp32 operations of an SM's lanes, a multiply-add counted once
    LevelFigure half_per_clock;   // multiply-adds of halves of an SM's tensor cores
    LevelFigure l2_per_clock;     // bytes that L2 gives all SMs together
    LevelFigure sent_per_clock;   // sectors that an SM sends to L2

    // Bytes of L2 in which different lines find room.
    double l2_useful_bytes() const { return l2_bytes.value / l2_copies.value; }
};

struct LevelFigureName {
    const char* key;   // in files
    const char* says;  // in lists, "L1 and shared memory of an SM, bytes"
    LevelFigure LevelSpec::*figure;
    double most;  // the highest that is believed
};
const std::array<LevelFigureName, 27>& level_figures();

// Reads "levels" of a device's file, with all of the figures, each {"value", "known", "source"}. Nothing
// where the file has none. `name` is named in errors.
Result<std::optional<LevelSpec>> levels_from_json(std::string_view text, std::string_view name);

}  // namespace tilescope::analysis
