// A ring of stages, found in the steps of a block: parts of shared memory that copies fill while other parts are read.
//
//   stage   full barrier   empty barrier   trip 0                           trip 3
//   0       full[0]        empty[0]        asked 12, landed 31, freed 44    asked 50, ...
//   1       full[1]        empty[1]        trip 1: asked 14, ...
//
//   full barrier    a copy into the stage reports its bytes to it, or arrives at it behind copies of cp.async; who waits
//                   for it reads the stage
//   empty barrier   whoever copies waits for it before the copy; readers arrive at it when they are done. A stage that
//                   nobody has waited to fill yet has the one at which its readers arrive
//   ring            the stages that the same instructions fill, in the order in which they are first filled. Their fills
//                   are the ring's trips, counted from 0 as they are asked for
//
// A fill is what copies bring in one phase of the full barrier. It is there when that phase ends, and its stage is free
// again when the next phase of the empty barrier ends.
//
// Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier" (phases, transaction count).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "core/recording/signals.h"

namespace tilescope::analysis {

inline constexpr uint32_t kNoStep = UINT32_MAX;

struct PipelineStage {
    struct Part {
        uint64_t first = 0, end = 0;  // bytes of shared memory
        bool operator==(const Part&) const = default;
    };
    uint32_t full = 0;                // the barriers, by where they lie in shared memory
    std::optional<uint32_t> empty{};  // none where copies and readers go by another order
    uint32_t ring = 0;
    std::vector<Part> parts{};  // that copies fill, ascending, apart
    bool holds(uint64_t first, uint64_t end) const;
};

struct StageFill {
    uint32_t stage = 0, trip = 0;
    uint32_t phase = 0;                          // of the full barrier
    uint32_t warp = 0;                           // that asks for the first copy
    uint64_t bytes = 0;                          // that are asked for
    uint32_t asked = 0;                          // step of the first copy
    uint32_t landed = kNoStep, freed = kNoStep;  // the step behind which it is so; kNoStep for never
    std::vector<uint32_t> copies{};              // their steps
};

// What a warp is to the pipeline. Producer: it asks for copies that fill a stage, or arrives at a full barrier with bytes.
// Consumer: it waits for a full barrier, or arrives at an empty one.
enum class WarpRole : uint8_t { None, Producer, Consumer, Both };

// A warp that has waited for a barrier in memory, of a stage or not.
struct SignalWaitSpan {
    uint32_t warp = 0, barrier = 0;
    std::optional<uint32_t> phase{};  // whose end it has seen; none where that was before the first one
    uint32_t since = kNoStep;         // the warp's step before, behind which it waits; kNoStep for none
    uint32_t ended = 0;               // step behind which that phase had ended
    uint32_t step = 0;                // at which its wait is over
};

struct Pipeline {
    std::vector<PipelineStage> stages;  // ring after ring
    uint32_t rings = 0;
    std::vector<StageFill> fills;                 // in the order of `asked`
    std::vector<std::vector<uint32_t>> fills_of;  // by stage: indices of its fills, in their order
    std::vector<WarpRole> roles;                  // by warp
    std::vector<SignalWaitSpan> waits;            // by step
    bool empty() const { return stages.empty(); }
    WarpRole role_of(uint32_t warp) const { return warp < roles.size() ? roles[warp] : WarpRole::None; }
    // The stage of which a barrier is the full or the empty one.
    std::optional<uint32_t> stage_of(uint32_t barrier) const;
    // The latest fill of a stage that is asked for up to a step; null for none.
    const StageFill* fill_at(uint32_t stage, uint32_t step) const;
};

// Looks at the steps of a block that copy in bulk or signal; signals: of the same block.
Pipeline pipeline_of(const trace::Trace& trace, uint32_t block, const Signals& signals);

// Phases of a block by its ring, one for each step: a trip begins for a warp where it has waited for the trip's full
// barrier; a copy is of the trip that it brings. Before the first one it is phase 0. Behind the last step by which a
// warp that reads stages takes part it is kAfter (phases.h). Empty of a block without a ring.
std::vector<uint32_t> phases_by_ring(const trace::Trace& trace, uint32_t block);

// Whether the sites are those of such kernels: copies that report to a barrier in memory, and waits for one.
bool may_have_ring(const std::vector<ptx::Site>& sites);

}  // namespace tilescope::analysis
