// What comes before what in a block whose threads wait for each other by more than its barrier: happens-before, by vector
// clocks. A clock says of every thread up to which time its doings come before, and of every barrier in memory how many of
// its phases are known to have ended. Times of a block: 2 s is that of step s, 2 s + 1 lies behind it, before the thread's
// next step.
//
//   bar, barrier                 all that its threads did before comes before what those that wait do behind it; one that
//                                arrives only gives
//   bar.warp.sync                the same for the lanes that it names (warp_order.h); exchanges among lanes count alike,
//                                and ldmatrix, stmatrix and wmma, which a warp does as one
//   mbarrier.arrive              gives what the thread did before to the phase that it counts in
//   mbarrier.try_wait            takes what was given to the phase whose end it has seen, and to those before it
//   cp.async.bulk, for a barrier the copy has ended where the phase is known to have ended that needs its bytes
//   cp.async, bulk groups        the copy has ended for its thread behind the wait_group, for others behind what the thread
//                                gives later; or where the phase has ended that a cp.async.mbarrier.arrive counts in
//   fences with atomics          taken in the order of the recording, as it is: so no right program is accused
//
//   thread 32    arrive full[0]  -.                           thread 0 takes what 32 and 64 gave to phase 0, but not what 64
//   thread 64    arrive full[0]  --> phase 0 ends             does behind its arrival
//   thread 0                              wait parity 0
//
// A wait for a parity may be over before it begins: a thread that knows of n phases and waits for the parity of the latest
// of these goes on at once in some order of the warps, whatever the recording had. It takes no more than what it is sure of.
// So the verdict does not depend on the order in which the warps happened to run.
//
// What the PTX alone says of a thread's way between two steps (fence.proxy.async, wait_group) counts where some path has it.
// Threads of a warp that know the same share one clock, as do warps behind a barrier.
//
// Source: PTX ISA, "Memory Consistency Model"; "mbarrier"; "Async proxy"; "cp.async.bulk.wait_group".
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "core/hazards/kernel_facts.h"
#include "core/hazards/warp_order.h"
#include "core/recording/signals.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {

struct VectorClock {
    std::vector<uint32_t>
        seen;  // thread -> time; behind the threads: barrier in memory -> phases that have ended
    std::vector<uint32_t>
        fenced;  // thread -> the same, of what a fence.proxy.async has made visible to copies
    void join(const VectorClock& other);
    // A component of one of them; those behind its end are 0.
    static uint32_t of(const std::vector<uint32_t>& times, size_t index) {
        return index < times.size() ? times[index] : 0;
    }
};
using SharedClock = std::shared_ptr<const VectorClock>;

// What a copy past the registers does on one of its sides, at the wish of a thread or, of cp.async, of some lanes of a step.
struct AskedCopy {
    static constexpr uint32_t kOpen = UINT32_MAX;  // it has not ended
    enum class Ends : uint8_t { Group, BulkGroup, Phase } by{};
    bool reads = false;  // it is what the copy reads
    uint8_t warp = 0;
    uint32_t step = 0, lanes = 0;
    uint32_t group = 0;    // of its threads
    uint32_t end = kOpen;  // time of its thread from which on it has ended
    // The barrier in memory that is told of its end, as BlockOrder numbers it, and the phase from whose end on it has ended;
    // kOpen where that phase does not need its bytes, or has not ended.
    uint32_t barrier = kOpen, phase = kOpen;
    uint32_t counted_in = 0;             // the phase that it is asked for in
    uint64_t bytes = 0;                  // that it moves
    uint64_t expected = 0, brought = 0;  // bytes of that phase, where it has ended without them
};

// An access of a step, or of a copy.
struct PastAccess {
    static constexpr uint32_t kNoCopy = UINT32_MAX;
    uint32_t step = 0, lanes = 0, copy = kNoCopy;
    uint32_t warp = 0;
    // What four warps do together (wgmma): it comes before whatever one of them does behind it.
    bool together = false;
};

class BlockOrder {
public:
    // fences: whether it matters what a fence.proxy.async has made visible.
    BlockOrder(KernelFacts& facts, const trace::Trace& trace, uint32_t block, bool fences);

    // The steps of the block, each once and in their order: between the two, accesses of the step may be asked about.
    void begin(uint32_t step);
    void end();

    // The copies that the step asks for, as numbers for PastAccess::copy; for each of its lanes one.
    const std::vector<uint32_t>& asked() const { return asked_; }
    const AskedCopy& copy(uint32_t number) const { return copies_[number]; }

    // Two threads, of which nothing orders one behind the other: what the first did is not known to the second, `lanes` of
    // a warp now.
    struct Unordered {
        uint32_t lanes = 0;  // of those now
        uint32_t lane = 0;   // of the past access, for the lowest of them
    };
    Unordered unordered(const PastAccess& past, uint32_t warp, uint32_t lanes) const;
    // The lanes of a past store that come before what a thread does now, but behind no fence.proxy.async.
    uint32_t unfenced(const PastAccess& past, uint32_t warp, uint32_t lane) const;

    uint32_t barrier_offset(uint32_t number) const { return barriers_[number].offset; }
    // Of a barrier in memory: how many of its phases a lane knows to have ended, of those since it was initialised.
    uint32_t phase_before(uint32_t number) const { return barriers_[number].base; }
    // Whether it has met more copies or barriers in memory than it may.
    bool full(uint64_t most_bytes) const;
    static constexpr size_t kMostBarriers = 512;

private:
    struct Team {
        uint32_t lanes = 0;
        SharedClock clock;
    };
    struct OfWarp {
        std::vector<Team> teams;         // lanes that know the same of others, but each its own doings
        std::array<uint32_t, 32> last;   // step; kOpen before the first
        std::array<uint32_t, 32> fence;  // time of its latest fence.proxy.async
        uint32_t fences_again = 0;       // lanes that passed one since their last step
        std::array<size_t, 32> next_join;
        std::vector<std::pair<uint32_t, uint32_t>> waits;  // number of a bar, lanes
        std::vector<uint32_t> open;                        // copies of groups that have not ended
    };
    // Numbers of a thread's groups: at least, and at most.
    struct GroupCount {
        uint32_t least = 0, most = 0;
    };
    struct NamedBarrier {
        VectorClock given;
        std::vector<uint32_t> lanes;                         // by warp, that have come
        std::vector<std::pair<uint32_t, uint32_t>> waiting;  // warp, lanes
    };
    struct EndedPhase {
        uint32_t phase = 0;                                   // of all since the block began
        bool bytes = false;                                   // it waited for bytes
        SharedClock given;                                    // to it and those before
        std::vector<std::pair<uint32_t, uint32_t>> arrivals;  // thread, time
    };
    struct MemoryBarrierOrder {
        uint32_t offset = 0;
        uint32_t base = 0, phase = 0;  // phases that had ended when it was initialised; that have ended
        VectorClock given;             // to the phase that has not ended
        SharedClock given_last;        // whose threads gave last, and at which step
        uint32_t given_step = AskedCopy::kOpen;
        uint64_t expected = 0, brought = 0;  // bytes of it
        std::vector<std::pair<uint32_t, uint32_t>> arrivals;
        std::vector<uint32_t> copies;
        std::vector<EndedPhase> ended;  // the latest few
    };

    uint32_t thread(uint32_t warp, uint32_t lane) const { return warp * kWarpSize + lane; }
    void put(uint32_t warp, uint32_t lanes, SharedClock clock);
    void give(VectorClock& to, uint32_t warp, uint32_t lanes, bool behind) const;
    void take(uint32_t warp, uint32_t lanes, const SharedClock& from);
    void meet(uint32_t warp, uint32_t lanes, uint32_t heard, bool behind);
    void find_next_sites();
    void find_stretches();
    uint32_t lanes_that_come(uint32_t step) const;
    uint32_t not_known(const Team& team, const PastAccess& past, uint32_t until) const;
    bool knows_one(const std::vector<uint32_t>& seen, const PastAccess& past) const;

    void join_up_to(uint32_t warp, uint32_t number);
    void come_to(uint32_t warp, uint32_t lanes);
    void release(uint32_t number);
    void release_awaited(uint32_t warp, uint32_t lanes);
    uint32_t barrier_number(uint32_t offset);
    void signal(const SignalEvent& event);
    void end_phase(uint32_t number);
    void wait(const std::vector<SignalEvent>& events);
    uint32_t phases_seen(uint32_t number, const SignalEvent& wait) const;
    bool knows_end(const MemoryBarrierOrder& barrier, uint32_t phase, uint32_t lane) const;
    void ask();
    void access_words(bool before);
    void go_on(uint32_t lanes, uint32_t next);
    void fence(uint32_t warp, uint32_t lanes);
    void end_groups(const Passed& passed, uint32_t lanes);

    KernelFacts& facts_;
    const trace::Trace& trace_;
    const trace::Block& block_;
    const bool fences_;
    uint32_t threads_ = 0;
    bool one_barrier_ = false;  // not every number of a bar is known: all count as one
    SignalWalk signals_;
    std::vector<OfWarp> warps_;
    std::vector<WarpStretches> stretches_;  // by warp; empty where there is no bar.warp.sync
    std::vector<uint32_t> next_site_;       // step -> that its lanes come to next; kManySites
    std::map<uint32_t, std::array<uint32_t, 32>> next_sites_;
    std::map<uint32_t, NamedBarrier> named_;
    std::vector<MemoryBarrierOrder> barriers_;
    std::map<uint32_t, uint32_t> number_of_;        // offset -> index into barriers_
    std::map<uint64_t, SharedClock> words_;         // given by who stored to a word in one piece
    std::vector<GroupCount> groups_, bulk_groups_;  // by thread
    std::vector<AskedCopy> copies_;
    // The step.
    uint32_t step_ = 0, warp_ = 0, mask_ = 0, come_ = 0;
    const ptx::Site* site_ = nullptr;
    std::vector<SignalEvent> events_;
    std::vector<uint32_t> asked_;
    // What not_known() worked out, for a few at a time.
    struct Asked {
        const VectorClock* clock = nullptr;
        uint32_t now = 0, warp = 0, until = 0;
        uint32_t lanes = 0;
    };
    mutable std::array<Asked, 256> asked_before_{};
};

}  // namespace tilescope::analysis
