// The sums of a recording: by site, by space and direction, by array. What `report` prints.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/cost.h"
#include "core/base/result.h"
#include "core/base/stop.h"
#include "core/recording/recording.h"
#include "core/recording/step_kind.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {

class LoadCounter;  // reuse.h

struct Sums {
    uint64_t requests = 0, lanes = 0, bytes = 0;
    uint64_t sectors = 0, ideal_sectors = 0, block_sectors = 0, lines = 0;  // as in SectorCost
    uint64_t wavefronts = 0, ideal_wavefronts = 0;
    uint64_t addresses = 0, turns = 0;  // as in AddressCost, of each request, added up
    uint64_t bank_conflicts() const { return wavefronts - ideal_wavefronts; }
    // A warp has 32 lanes; those of a request that touch nothing wait: behind a branch, or of a block that does
    // not fill the warp.
    uint64_t all_lanes() const { return requests * kWarpSize; }
    uint64_t idle_lanes() const { return all_lanes() - lanes; }
    uint64_t moved_bytes() const { return sectors * trace::kSectorBytes; }
    // Bytes that lanes asked for, of those that the sectors moved: what Nsight Compute calls the efficiency of
    // global loads or stores. More than 1 where lanes share bytes; none where no sector was moved.
    // Source: Nsight Compute, smsp__sass_average_data_bytes_per_sector_mem_global_op_ld, as a share of 32 bytes.
    std::optional<double> efficiency() const;
    Sums& operator+=(const Sums& other);
    bool operator==(const Sums&) const = default;
};

// Sums for each kind of step.
struct SplitSums {
    std::array<Sums, kMemoryKinds> of_kind{};
    uint64_t barriers = 0;   // arrivals of warps
    uint64_t exchanges = 0;  // of warps
    uint64_t signals = 0,
             signal_waits = 0;  // what warps did to barriers in memory, and their waits for these
    Sums& operator[](StepKind kind) { return of_kind[static_cast<size_t>(kind)]; }
    const Sums& operator[](StepKind kind) const { return of_kind[static_cast<size_t>(kind)]; }
    Sums total() const;
    SplitSums& operator+=(const SplitSums& other);
    bool operator==(const SplitSums&) const = default;
};

struct SiteSums {
    uint32_t site = 0;
    uint8_t array = trace::kNoArray;  // the array most of its lanes touched
    Sums sums;
};

// How often elements of an input were loaded from global memory by the recorded blocks.
struct Reuse {
    std::string array;
    uint64_t elements = 0;      // different elements loaded at least once
    uint64_t loads = 0;         // lane loads of them all
    uint64_t min = 0, max = 0;  // per element, over those loaded
    bool operator==(const Reuse&) const = default;
};

struct Summary : SplitSums {
    std::vector<SiteSums> sites;  // memory sites in site order, also those never executed
    std::vector<Reuse> reuse;     // one per input array
    uint32_t phases = 0;          // the most any block has
    uint32_t barriers_per_block = 0;
};

// An Error where its counts take more memory or more accesses
// than are allowed (trace/claims.h), or where it was stopped.
// loads: a new one, which takes the loads of the elements, of which the summary has the sums.
Result<Summary> summarize(const Recording& recording, Stop stop = {}, LoadCounter* loads = nullptr);

// Adds a step that costs as much.
void add_step(SplitSums& sums, const trace::Trace& trace, uint64_t step, const Cost& cost);

// The sums over steps [first, last).
Sums sums_of_steps(const trace::Trace& trace, uint64_t first, uint64_t last);

}  // namespace tilescope::analysis
