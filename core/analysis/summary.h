// The sums of a recording: by site, by space and direction, by array. What `report` prints.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/analysis/cost.h"
#include "core/base/result.h"
#include "core/base/stop.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {

class LoadCounter;  // reuse.h

struct Sums {
    uint64_t requests = 0, lanes = 0, bytes = 0;
    uint64_t sectors = 0, ideal_sectors = 0, block_sectors = 0, lines = 0;  // as in SectorCost
    uint64_t wavefronts = 0, ideal_wavefronts = 0;
    uint64_t addresses = 0, turns = 0;  // as in AddressCost, of each request, added up
    uint64_t bank_conflicts() const { return wavefronts - ideal_wavefronts; }
    Sums& operator+=(const Sums& other);
    bool operator==(const Sums&) const = default;
};

// By space and kind. Constant memory is only loaded.
struct SplitSums {
    Sums global_load, global_store, shared_load, shared_store;
    Sums global_atomic, shared_atomic, local_load, local_store, constant_load;
    uint64_t barriers = 0;  // arrivals of warps
    Sums& of(Space space, ptx::SiteKind kind);
    Sums total() const;
    SplitSums& operator+=(const SplitSums& other);
    bool operator==(const SplitSums&) const = default;
};

// One of them: its names for people and in JSON.
struct SumsPart {
    const char* name;  // "global loads"
    const char* key;   // "global_load"
    Space space;
    ptx::SiteKind kind;
    Sums SplitSums::*sums;
};
inline constexpr SumsPart kSumsParts[] = {
    {"global loads", "global_load", Space::Global, ptx::SiteKind::Load, &SplitSums::global_load},
    {"global stores", "global_store", Space::Global, ptx::SiteKind::Store, &SplitSums::global_store},
    {"shared loads", "shared_load", Space::Shared, ptx::SiteKind::Load, &SplitSums::shared_load},
    {"shared stores", "shared_store", Space::Shared, ptx::SiteKind::Store, &SplitSums::shared_store},
    {"global atomics", "global_atomic", Space::Global, ptx::SiteKind::Atomic, &SplitSums::global_atomic},
    {"shared atomics", "shared_atomic", Space::Shared, ptx::SiteKind::Atomic, &SplitSums::shared_atomic},
    {"local loads", "local_load", Space::Local, ptx::SiteKind::Load, &SplitSums::local_load},
    {"local stores", "local_store", Space::Local, ptx::SiteKind::Store, &SplitSums::local_store},
    {"constant loads", "constant_load", Space::Const, ptx::SiteKind::Load, &SplitSums::constant_load},
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

// An Error where the PTX is not that of the recording, where its counts take more memory or more accesses
// than are allowed (trace/claims.h), or where it was stopped.
// loads: a new one, which takes the loads of the elements, of which the summary has the sums.
Result<Summary> summarize(const trace::Trace& trace, Stop stop = {}, LoadCounter* loads = nullptr);

// Adds a step that costs as much.
void add_step(SplitSums& sums, const trace::Trace& trace, uint64_t step, const Cost& cost);

// The sums over steps [first, last).
Sums sums_of_steps(const trace::Trace& trace, uint64_t first, uint64_t last);

}  // namespace tilescope::analysis
