#include "core/trace/device_order.h"

#include <algorithm>

#include "core/trace/block_state.h"

namespace tilescope::trace {

namespace {

using simt::MemoryBarrier;

void tell(MemoryBarrier& barrier, bool arrives, uint32_t bytes) {
    if (arrives)
        barrier.arrive(1);
    else
        barrier.complete(bytes);
}

}  // namespace

uint32_t BlockOrder::next_step() const { return recorder_->state().met; }

// The last end of a phase that leaves the barrier behind one of that parity. What comes after it belongs to later phases.
std::optional<size_t> BlockOrder::landings(uint32_t offset, uint32_t parity) const {
    const auto found = barriers_.find(offset);
    if (found == barriers_.end()) return 0;  // it was initialised where no record says so
    MemoryBarrier barrier = found->second;
    std::optional<size_t> landed;
    if (barrier.has_ended(parity)) landed = 0;
    size_t count = 0;
    for (const Pending& one : pending_) {
        if (one.barrier != offset) continue;
        const uint32_t phase = barrier.phase;
        tell(barrier, one.arrives, one.bytes);
        ++count;
        if (barrier.phase != phase && barrier.has_ended(parity)) landed = count;
    }
    return landed || !in_cluster_ ? landed : count;
}

bool BlockOrder::can_have_ended(const WordStep& wait) const {
    bool ended = true;
    for_lanes(wait.mask, [&](uint32_t lane) {
        ended = ended && landings(static_cast<uint32_t>(wait.address[lane]), wait.of_lane(lane)[0]);
    });
    return ended;
}

void BlockOrder::copy(uint32_t warp, uint32_t mask) {
    copies_[warp].copies.push_back({next_step(), mask, copies_[warp].groups.open()});
}

void BlockOrder::bulk_copy(uint32_t warp, const WordStep& step) {
    uint32_t of_groups = 0;
    for_lanes(step.mask, [&](uint32_t lane) {
        const uint32_t *const words = step.of_lane(lane), barrier = words[1];
        if (barrier == ptx::kNoBarrier)
            of_groups |= 1u << lane;
        else
            pending_.push_back({false, barrier, warp, lane, next_step(), words[0]});
    });
    // More than shared memory has room for at 16 bytes each: nobody will wait for the first.
    constexpr size_t kMostPending = 1 << 14;
    if (pending_.size() > kMostPending)
        pending_.erase(pending_.begin(), pending_.end() - static_cast<std::ptrdiff_t>(kMostPending));
    if (of_groups != 0) bulk_[warp].copies.push_back({next_step(), of_groups, bulk_[warp].groups.open()});
}

void BlockOrder::signal(ptx::Signal signal, uint32_t warp, const WordStep& step) {
    using ptx::Signal;
    for_lanes(step.mask, [&](uint32_t lane) {
        const auto offset = static_cast<uint32_t>(step.address[lane]);
        const uint32_t* const words = step.of_lane(lane);
        if (signal == Signal::Init) {
            barriers_[offset] = {.expected = words[0], .pending = words[0]};
            return;
        }
        if (signal == Signal::Wait) {
            if (const auto count = landings(offset, words[0])) land(offset, *count, true);
            const auto seen = barriers_.find(offset);
            if (in_cluster_ && seen != barriers_.end() && !seen->second.has_ended(words[0]))
                seen->second.end();
            return;
        }
        const auto found = barriers_.find(offset);
        if (found == barriers_.end()) return;
        MemoryBarrier& barrier = found->second;
        switch (signal) {
            case Signal::Invalidate: barriers_.erase(found); break;
            case Signal::Expect: barrier.expect(words[0]); break;
            case Signal::Complete: barrier.complete(words[0]); break;
            case Signal::CopyArrive:
                if (words[0] == 0) ++barrier.pending;
                pending_.push_back({true, offset, warp, lane, next_step(), 0});
                break;
            default:  // Arrive, Drop
                barrier.expect(words[1]);
                if (signal == Signal::Drop) barrier.expected -= std::min(barrier.expected, words[0]);
                arrive(offset, words[0]);
        }
    });
}

// A phase that lacks no arrival has ended before the next one, whether or not somebody has waited for it.
void BlockOrder::arrive(uint32_t offset, uint32_t count) {
    MemoryBarrier& barrier = barriers_[offset];
    if (barrier.arrive(count)) return;
    land(offset, pending_.size(), false);
    barrier.arrive(count);
}

// The first `count` pending ones of the barrier.
void BlockOrder::land(uint32_t offset, size_t count, bool waited) {
    MemoryBarrier& barrier = barriers_[offset];
    std::vector<Pending> landed;
    std::erase_if(pending_, [&](const Pending& one) {
        if (one.barrier != offset || landed.size() == count) return false;
        landed.push_back(one);
        return true;
    });
    for (const Pending& one : landed) {
        tell(barrier, one.arrives, one.bytes);
        const bool others = std::ranges::any_of(
            pending_, [&](const Pending& other) { return !other.arrives && other.step == one.step; });
        if (one.arrives && waited)
            arrive_before(one);
        else if (!one.arrives && waited && !others)
            recorder_->on_arrival(one.step);
    }
}

void BlockOrder::arrive_before(const Pending& arrival) {
    std::vector<OpenCopy>& copies = copies_[arrival.warp].copies;
    for (OpenCopy& copy : copies) {
        if (copy.step >= arrival.step || !(copy.mask >> arrival.lane & 1)) continue;
        copy.mask &= ~(1u << arrival.lane);
        if (copy.mask == 0) recorder_->on_arrival(copy.step);
    }
    std::erase_if(copies, [](const OpenCopy& copy) { return copy.mask == 0; });
}

void BlockOrder::bring(WarpCopies& of, uint32_t mask, uint32_t left) {
    for (OpenCopy& copy : of.copies) {
        copy.mask &= ~of.groups.arrived(copy.group, copy.mask & mask, left);
        if (copy.mask == 0) recorder_->on_arrival(copy.step);
    }
    std::erase_if(of.copies, [](const OpenCopy& copy) { return copy.mask == 0; });
}

void BlockOrder::pass(const ptx::Code& code, uint32_t warp, uint32_t mask) {
    using Kind = ptx::Code::Kind;
    const bool bulk = code.kind == Kind::BulkCommit || code.kind == Kind::BulkWait;
    WarpCopies& of = bulk ? bulk_[warp] : copies_[warp];
    const bool waits = code.kind == Kind::Wait || code.kind == Kind::BulkWait;
    if (waits) bring(of, mask, code.second);
    if (!waits || code.second == ptx::kAllGroups) of.groups.commit(mask);
}

}  // namespace tilescope::trace
