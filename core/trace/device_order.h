// What the steps of a block that ran on a GPU say of time, beside their clocks: which wait comes behind which arrivals, and
// behind which step a copy has landed. Nobody on the device sees a copy land, so both are worked out here, as the steps
// come by:
//
//   cp.async             has landed where its thread has waited for its group, or where somebody has waited for the barrier
//                        that its thread then arrived at (cp.async.mbarrier.arrive)
//   cp.async.bulk        has landed where a wait has seen the end of the phase of its barrier that it was asked for in, or
//                        where its thread has waited for its group
//   test_wait, try_wait  has seen its phase end. Arrivals are recorded before they are made, and waits behind their end,
//                        so that a phase ends in the order of the clocks, too, but for clocks of the parts of an SM that
//                        differ a little. A wait whose phase has not ended by then is held back until it has.
//
// In a cluster of blocks others arrive at a block's barriers and copy for them, too, which its own steps do not say: a wait
// then is the proof that the phase has ended, with all that its block had under way for the barrier.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "core/simt/copy_groups.h"
#include "core/simt/memory_barrier.h"
#include "core/trace/builder.h"
#include "core/trace/device_words.h"

namespace tilescope::trace {

class BlockOrder {
public:
    BlockOrder(BlockRecorder& recorder, bool in_cluster) : recorder_(&recorder), in_cluster_(in_cluster) {}

    // Whether the phases that a wait has seen end have ended in the order so far, with copies that may have landed.
    bool can_have_ended(const WordStep& wait) const;

    // Each of these is told of a step before it is recorded.
    void copy(uint32_t warp, uint32_t mask);                               // cp.async
    void bulk_copy(uint32_t warp, const WordStep& step);                   // what it writes
    void signal(ptx::Signal signal, uint32_t warp, const WordStep& step);  // a wait brings what it waits for
    // A commit of groups, or a wait for them.
    void pass(const ptx::Code& code, uint32_t warp, uint32_t mask);

private:
    // A copy of some lanes that is under way in groups of theirs.
    struct OpenCopy {
        uint32_t step = 0, mask = 0;
        simt::CopyGroups::OfLanes group{};
    };
    struct WarpCopies {
        simt::CopyGroups groups;
        std::vector<OpenCopy> copies;
    };
    // What a barrier will be told: that a lane's copy in bulk has landed, or that a lane arrives behind its copies.
    struct Pending {
        bool arrives = false;
        uint32_t barrier = 0, warp = 0, lane = 0, step = 0, bytes = 0;
    };

    uint32_t next_step() const;
    // How many of the pending ones of a barrier come before the end of the phase of a parity; none where it does not end.
    std::optional<size_t> landings(uint32_t barrier, uint32_t parity) const;
    void land(uint32_t barrier, size_t count, bool waited);
    void arrive(uint32_t barrier, uint32_t count);
    void arrive_before(const Pending& arrival);
    void bring(WarpCopies& of, uint32_t mask, uint32_t left);

    BlockRecorder* recorder_;
    bool in_cluster_;
    std::map<uint32_t, simt::MemoryBarrier> barriers_;
    std::vector<Pending> pending_;  // in the order in which they were asked for
    std::array<WarpCopies, kMaxWarpsPerBlock> copies_, bulk_;
};

}  // namespace tilescope::trace
