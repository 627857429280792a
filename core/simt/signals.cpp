// Barriers in memory (mbarrier): what threads do to them, and how they wait.
//
//   init, arrive, expect ...   a step; each lane after the other
//   try_wait, test_wait        the phase has ended, or does when all that is under way to this barrier lands (copies in bulk,
//                              arrivals that follow copies of cp.async)
//                                 it has ended             what is under way lands; a step, the predicate is true
//                                 it has not               nothing lands, no step: the warp stands here, and others go on
//   all that can run stand so  the waits of the block are given up, as they are behind a GPU's limit of time: their
//                              predicates are false. Where that only leads back to them, the block waits for ever
//
// A wait may take as long as it likes, and so may a copy; a test that stands until its phase has ended is a thread that
// was not scheduled before. So none of this leaves what PTX allows.
//
// Source: PTX ISA, "mbarrier.init" to "mbarrier.test_wait / mbarrier.try_wait", "cp.async.mbarrier.arrive".
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "core/base/cluster.h"
#include "core/base/words.h"
#include "core/simt/machine.h"

namespace tilescope::simt {

using ptx::Signal;

namespace {

uint64_t value_of(const std::byte* column, bool wide, uint32_t lane) {
    return wide ? reinterpret_cast<const uint64_t*>(column)[lane]
                : reinterpret_cast<const uint32_t*>(column)[lane];
}

}  // namespace

// "empty[0]", or the byte of shared memory at which it lies.
std::string Machine::barrier_name(uint64_t offset) const {
    return shared_text(offset, ptx::kBarrierBytes, "mbarrier");
}

// "empty[0], which is in phase 0, with 4 of 5 arrivals and 1,024 of 2,048 bytes"
std::string Machine::barrier_text(uint64_t offset) const {
    const auto found = barriers_.find(static_cast<uint32_t>(offset));
    if (found == barriers_.end()) return barrier_name(offset);
    const MemoryBarrier barrier = when_landed(found->first, found->second);
    std::string text = fmt::format("{}, which is in phase {}, with {} of {} arrivals", barrier_name(offset),
                                   barrier.phase, barrier.expected - barrier.pending, barrier.expected);
    if (barrier.asked != 0 || barrier.bytes != 0)
        text += fmt::format(" and {} of {} bytes", grouped(barrier.asked - barrier.bytes),
                            grouped(barrier.asked));
    return text;
}

bool Machine::raise_signal(const Warp& warp, const MicroOp& op, int lane, uint64_t offset,
                           const std::string& what, const std::string& why) {
    raise(Fault::Kind::BadAddress, warp, lane, op,
          fmt::format("{} {} at {}, {}", thread_text(warp, lane), what, line_text(op), why));
    fault->address = offset;
    return false;
}

// Fills address_ with offsets in shared memory.
bool Machine::locate_barriers(Warp& warp, const MicroOp& op, uint32_t mask) {
    const SignalCode& code = program_.signals[op.target];
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const int lane = std::countr_zero(left);
        const auto l = static_cast<uint32_t>(lane);
        uint64_t address =
            value_of(at(warp, op.a), code.wide_address, l) + static_cast<uint64_t>(code.offset);
        if (!code.wide_address) address = static_cast<uint32_t>(address);
        if (code.space == ptx::StateSpace::Generic) {
            if (space_of_generic(address) != ptx::StateSpace::Shared)
                return raise_signal(warp, op, lane, address,
                                    fmt::format("takes address {:#x} for an mbarrier", address),
                                    "which is not in shared memory");
            address -= kSharedWindow;
        }
        const std::string taken = fmt::format("takes byte {} of shared memory for an mbarrier", address);
        if (address % ptx::kBarrierBytes != 0)
            return raise_signal(warp, op, lane, address, taken,
                                fmt::format("which is not a multiple of {}", ptx::kBarrierBytes));
        address_[l] = kept(address);
        if (names_block(address)) {
            if (!code.cluster)
                return raise_signal(warp, op, lane, address, "takes another block's mbarrier",
                                    "which can only be told of arrivals and bytes from here");
            if (!reach(warp, op, lane, "signals", address_[l], ptx::kBarrierBytes)) return false;
            continue;
        }
        if (shared_bytes_ < ptx::kBarrierBytes || address > shared_bytes_ - ptx::kBarrierBytes)
            return raise_signal(warp, op, lane, address, taken,
                                fmt::format("outside the block's {}", counted(shared_bytes_, "byte")));
    }
    return true;
}

// Null, with a fault, where it was not initialised. It may be that of another block of the cluster.
MemoryBarrier* Machine::barrier_at(Warp& warp, const MicroOp& op, int lane, uint64_t offset) {
    Machine& block = *(program_.clusters ? block_of_address(offset) : this);
    const auto found = block.barriers_.find(static_cast<uint32_t>(offset));
    if (&block != this) ++block.changes_;
    if (found != block.barriers_.end()) return &found->second;
    raise_signal(warp, op, lane, offset, "uses " + barrier_name(offset), "which no thread has initialised");
    return nullptr;
}

// One lane's part of anything but a wait.
bool Machine::signal_lane(Warp& warp, const MicroOp& op, const SignalCode& code, uint32_t lane,
                          uint32_t* words) {
    const uint64_t offset = address_[lane];
    const int l = static_cast<int>(lane);
    const uint32_t count = code.has_count ? static_cast<uint32_t>(value_of(at(warp, op.b), false, lane)) : 1;
    const uint32_t bytes = code.has_bytes ? static_cast<uint32_t>(value_of(at(warp, op.c), false, lane)) : 0;
    if (code.signal == Signal::Init) {
        if (count == 0 || count > MemoryBarrier::kMostArrivals)
            return raise_signal(
                warp, op, l, offset,
                fmt::format("initialises {} for {}", barrier_name(offset), counted(count, "arrival")),
                fmt::format("which must be 1 to {}", grouped(uint64_t{MemoryBarrier::kMostArrivals})));
        barriers_[static_cast<uint32_t>(offset)] = {.expected = count, .pending = count};
        words[0] = count;
        return true;
    }
    MemoryBarrier* const barrier = barrier_at(warp, op, l, offset);
    if (!barrier) return false;
    const uint64_t state = barrier->state();
    switch (code.signal) {
        case Signal::Invalidate: barriers_.erase(static_cast<uint32_t>(offset)); return true;
        case Signal::Expect: barrier->expect(words[0] = bytes); break;
        case Signal::Complete: barrier->complete(words[0] = bytes); break;
        case Signal::CopyArrive:
            words[0] = !code.increments;
            if (code.increments) ++barrier->pending;
            copy_arrivals_.push_back({static_cast<uint32_t>(offset), warp.number, lane, steps_});
            return true;
        default:  // Arrive, Drop
            words[0] = count, words[1] = bytes;
            if (code.has_bytes) barrier->expect(bytes);
            if (code.signal == Signal::Drop) barrier->expected -= std::min(barrier->expected, count);
            if (!barrier->arrive(count))
                return raise_signal(
                    warp, op, l, offset,
                    fmt::format("arrives {} at {}", times_in_words(count), barrier_name(offset)),
                    fmt::format("whose phase {} lacks {}", barrier->phase,
                                counted(barrier->pending, "arrival")));
            if (code.returns) reinterpret_cast<uint64_t*>(at(warp, op.d))[lane] = state;
    }
    if (barrier->holds_bytes()) return true;
    const std::string name = barrier_name(offset);
    return raise_signal(
        warp, op, l, offset,
        barrier->bytes > 0
            ? fmt::format("lets {} wait for {}", name, counted(static_cast<uint64_t>(barrier->bytes), "byte"))
            : fmt::format("brings {} {} that it does not expect", name,
                          counted(static_cast<uint64_t>(-barrier->bytes), "byte")),
        fmt::format("more than the {} that it can count", grouped(uint64_t{MemoryBarrier::kMostBytes})));
}

// Tells the observer of a step with words; address_, words_ and pieces_ hold what it has.
void Machine::tell_words(Warp& warp, uint32_t site, Space space, uint32_t mask) {
    if (site == kNoSite) return;
    if (observer_) {
        Request request;
        request.site = site, request.warp = warp.number, request.mask = mask, request.space = space;
        request.address = address_.data();
        request.words = words_.data();
        request.pieces = pieces_;
        request.maps = maps_;
        request.elements = 0, request.element_bytes = 0;
        observer_->on_request(request);
    }
    ++steps_;
    pieces_.clear(), maps_.clear();
}

// What the barrier is once all that is under way to it has landed.
MemoryBarrier Machine::when_landed(uint32_t offset, MemoryBarrier barrier) const {
    for (const BulkCopy& copy : bulk_)
        if (copy.barrier == offset) barrier.complete(static_cast<uint32_t>(copy.bytes.size()));
    for (const CopyArrival& one : copy_arrivals_)
        if (one.barrier == offset) barrier.arrive(1);
    return barrier;
}

// All that is under way to the barrier lands. With a copy come those of the other lanes that asked in the same step, so that
// a step lands as a whole.
void Machine::land_at(uint32_t barrier) {
    std::vector<std::pair<const Machine*, uint32_t>> steps;
    for (const BulkCopy& copy : bulk_)
        if (copy.barrier == barrier) steps.emplace_back(copy.asker, copy.step);
    for (BulkCopy& copy : bulk_)
        if (std::ranges::find(steps, std::pair<const Machine*, uint32_t>(copy.asker, copy.step)) !=
            steps.end())
            land(copy, true);
    std::erase_if(bulk_, [](const BulkCopy& copy) { return copy.landed; });
    for (size_t i = 0; i < copy_arrivals_.size();) {
        const CopyArrival one = copy_arrivals_[i];
        const auto found = barriers_.find(barrier);
        if (one.barrier != barrier || found == barriers_.end()) {
            ++i;
            continue;
        }
        copy_arrivals_.erase(copy_arrivals_.begin() + static_cast<std::ptrdiff_t>(i));
        arrive_before(warps_[one.warp], one.lane, one.step);
        found->second.arrive(1);
        ++changes_;
    }
}

// The path of the warp stands at a wait for a phase that has not ended.
void Machine::wait_at_barrier(Warp& warp, const MicroOp& op, uint32_t lane, uint32_t wanted) {
    Spin& spin = warp.spin;
    spin.at_barrier = true, spin.at_group = false;
    spin.address = address_[lane], spin.space = Space::Shared;
    spin.mask = warp.pending_mask, spin.wanted = wanted;
    spin.stack = warp.stack;
    spin.stack.back().pc = static_cast<uint32_t>(&op - program_.code.data()) + 1;
    yield(warp, true);
}

template <bool Values>
Machine::Signalled Machine::signal(Warp& warp, const MicroOp& op, uint32_t mask) {
    const SignalCode& code = program_.signals[op.target];
    if (!locate_barriers(warp, op, mask)) return Signalled::Fault;
    if (code.signal != Signal::Wait) {
        for (uint32_t left = mask; left != 0; left &= left - 1) {
            const auto lane = static_cast<uint32_t>(std::countr_zero(left));
            if (!signal_lane(warp, op, code, lane, words_of(lane))) return Signalled::Fault;
        }
        if (Values && code.returns)
            for_lanes(mask, [&](uint32_t lane) { reinterpret_cast<Origin*>(warp.origins + op.d)[lane] = 0; });
        ++changes_;
        tell_words(warp, code.site, Space::Shared, mask);
        return Signalled::Step;
    }
    uint32_t ended = 0, first = kWarpSize, wanted = 0;
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(left));
        const auto offset = static_cast<uint32_t>(address_[lane]);
        const MemoryBarrier* const barrier = barrier_at(warp, op, static_cast<int>(lane), offset);
        if (!barrier) return Signalled::Fault;
        const uint64_t given = value_of(at(warp, op.b), !code.parity, lane);
        const uint32_t parity = static_cast<uint32_t>(given) & 1;
        words_of(lane)[0] = parity;
        const auto is_over = [&](const MemoryBarrier& now) {
            return code.parity ? now.has_ended(parity) : now.phase != MemoryBarrier::phase_of(given);
        };
        if (!is_over(*barrier) && is_over(when_landed(offset, *barrier))) land_at(offset);
        if (is_over(*barrier))
            ended |= 1u << lane;
        else if (first == kWarpSize)
            first = lane, wanted = parity;
    }
    const bool given_up = std::exchange(warp.gives_up, false);
    if (ended == 0 && !given_up) {
        if (options_.schedule.kind == Schedule::Kind::Recorded) return give_up_recorded(warp);
        wait_at_barrier(warp, op, first, wanted);
        return Signalled::Waits;
    }
    auto* const d = reinterpret_cast<uint32_t*>(at(warp, op.d));
    if (code.returns) *d = (*d & ~mask) | ended;
    if (ended != 0) {
        warp.spin.waits_at = warp.spin.round_changes = UINT64_MAX, warp.spin.tried = 0;
        tell_words(warp, code.site, Space::Shared, ended);
    }
    return Signalled::Step;
}

// Gives up the wait at which a warp stands, once it comes to it again. False where it would only come back to it: it has done
// so with the same registers, or very often, and memory is as it was.
bool Machine::give_up(Warp& warp) {
    constexpr uint32_t kMostGivenUp = 4096;
    const auto same_stack = [](const StackEntry& a, const StackEntry& b) {
        return a.pc == b.pc && a.reconverge == b.reconverge && a.mask == b.mask;
    };
    GivenUp& before = warp.given_up;
    if (before.changes != changes_) {
        before.times = 0;
    } else if (++before.times > kMostGivenUp ||
               (std::ranges::equal(before.stack, warp.stack, same_stack) &&
                std::memcmp(before.registers.data(), warp.registers, before.registers.size()) == 0)) {
        return false;
    }
    before.changes = changes_;
    before.stack = warp.stack;
    before.registers.assign(warp.registers, warp.registers + program_.register_bytes);
    return warp.gives_up = true;
}

// A wait whose phase has not ended where a recorded order has a step: one that was given up then, too.
Machine::Signalled Machine::give_up_recorded(Warp& warp) {
    if (!give_up(warp))
        order_problem = fmt::format(
            "the recorded order gives step {} to warp {}, which waits for an mbarrier then; record it anew",
            steps_ + 1, warp.number);
    return Signalled::Waits;
}

// All warps of the block wait. Gives up the waits at barriers in memory; false where that leads nowhere.
bool Machine::give_up_waits() {
    bool some = false;
    for (Warp& warp : warps_) {
        if (warp.state != Warp::State::Ready || warp.stack.empty()) continue;
        const MicroOp& op = program_.code[warp.stack.back().pc];
        if (op.kind != MicroOp::Kind::Signal || program_.signals[op.target].signal != Signal::Wait) continue;
        if (!give_up(warp)) continue;
        warp.spin.waits_at = UINT64_MAX;
        some = true;
    }
    return some;
}

template Machine::Signalled Machine::signal<false>(Warp&, const MicroOp&, uint32_t);
template Machine::Signalled Machine::signal<true>(Warp&, const MicroOp&, uint32_t);

}  // namespace tilescope::simt
