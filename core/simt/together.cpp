// Warps of a block side by side, so that what it costs to come to an instruction is paid once for several of them.
//
// Under the fair schedule warps mostly make the same request one after the other. What each of them then computes up
// to its next step concerns nobody else where that is calm (MicroOp::calm). So it may come later, when all of them
// have made their requests, and each operation goes through all of them before the next:
//
//   request 0 | arithmetic 0 | request 1 | arithmetic 1 | ...   =   request 0 | request 1 | ... | arithmetic 0, 1, ...
//
// The order of the steps is what it was, and so is all that anybody sees of them. Whatever is not of this kind makes
// the warps that owe their arithmetic catch up first. A warp that will have something to say at its end
// (Warp::missing) owes nothing, as those that owe do not catch up in the order of their turns.
#include <algorithm>
#include <bit>
#include <utility>

#include "core/simt/machine.h"

namespace tilescope::simt {

bool Machine::may_owe(const Warp& warp) const {
    return options_.schedule.kind == Schedule::Kind::Fair && warp.stack.size() == 1 &&
           warp.parked.mask == 0 && warp.missing.empty() && !waits(warp) &&
           (warp.alive == ~0u || program_.matrices.empty()) && program_.code[warp.stack.back().pc].calm &&
           warp.instructions < most_of_warp_ && clock_ < most_of_block_;
}

Machine::Advance Machine::settle_owed() {
    const uint32_t owed = std::exchange(owed_, 0);
    if (const Advance a = advance_all(owed); a != Advance::Ok) return a;
    return owed & ~ready_ ? release_barriers<false>() : Advance::Ok;
}

// Warps advance, those that are next to each other and stand at one place together.
Machine::Advance Machine::advance_all(uint32_t warps) {
    constexpr size_t kMost = 8;  // whose columns the nearest cache holds
    const auto lanes_together = [&](const Warp& warp) {
        return warp.instructions < most_of_warp_ &&
               ((together_ >> warp.number & 1) || (warp.alive == ~0u && warp.stack.size() == 1 &&
                                                   warp.parked.mask == 0 && warp.missing.empty()));
    };
    while (warps) {
        const auto first = static_cast<size_t>(std::countr_zero(warps));
        const Warp& leader = warps_[first];
        size_t count = 1;
        if (clock_ < most_of_block_ && lanes_together(leader) && program_.code[leader.stack.back().pc].calm)
            while (count < kMost && first + count < warps_.size() && (warps >> (first + count) & 1) &&
                   lanes_together(warps_[first + count]) &&
                   warps_[first + count].stack.back().pc == leader.stack.back().pc)
                ++count;
        const bool stand = count > 1 && advance_together(std::span(warps_).subspan(first, count));
        for (size_t w = first; w < first + count; ++w) {
            warps &= ~(1u << w);
            if (stand) continue;
            together_ &= ~(1u << w);
            if (const Advance a = advance<false>(warps_[w]); a != Advance::Ok) return a;
        }
    }
    return Advance::Ok;
}

// As run_lanes, for several warps, whose lanes are all active. Each operation goes through all of them before the next.
void Machine::run_lanes_of(std::span<Warp> warps, const MicroOp& op) {
    for (const MicroOp* one = &op; one != &op + op.run; ++one) {
        if (one->warps == nullptr) {
            for (Warp& warp : warps)
                one->full(at(warp, one->d), at(warp, one->e), at(warp, one->a), at(warp, one->b),
                          at(warp, one->c), ~0u);
            continue;
        }
        Warp& first = warps.front();
        one->warps(
            {at(first, one->d), at(first, one->e), at(first, one->a), at(first, one->b), at(first, one->c),
             next_of(one->d), next_of(one->e), next_of(one->a), next_of(one->b), next_of(one->c)},
            static_cast<uint32_t>(warps.size()));
    }
}

// Warps next to each other that stand at one calm place, all lanes of each together, run together as far as they
// go the same way. True where they stand before a request then; else each goes on alone.
bool Machine::advance_together(std::span<Warp> warps) {
    uint32_t pc = warps.front().stack.back().pc;
    uint64_t count = 0;
    const auto end = [&](bool stand) {
        for (Warp& warp : warps) {
            warp.stack.back().pc = pc;
            warp.instructions += count;
            const MicroOp& op = program_.code[pc];
            warp.pending_mask = is_request(op.kind) ? program_.accesses[op.target].lanes : ~0u;
            if (stand) together_ |= 1u << warp.number;
        }
        clock_ += count * warps.size();
        return stand;
    };
    for (;;) {
        const MicroOp& op = program_.code[pc];
        if (op.run != 0) {
            run_lanes_of(warps, op);
            count += op.run_counted, pc += op.run;
        } else if (op.kind == MicroOp::Kind::Branch) {
            uint32_t any = 0, all = ~0u;
            for (const Warp& warp : warps) {
                const uint32_t taken = lanes_of(warp, op, ~0u);
                any |= taken, all &= taken;
            }
            if (any != 0 && all != ~0u) return end(false);
            ++count;
            pc = any != 0 ? op.target : pc + 1;
        } else if (op.kind == MicroOp::Kind::Lane) {
            for (Warp& warp : warps)
                if (const uint32_t mask = lanes_of(warp, op, ~0u)) lane_op<false>(warp, op, mask);
            count += op.counted, ++pc;
        } else if (op.kind == MicroOp::Kind::Matrix && op.guard == kNoGuard &&
                   program_.matrices[op.target].site == kNoSite) {
            for (Warp& warp : warps) matrix<false>(warp, op);
            count += op.counted, ++pc;
        } else {
            return end(is_request(op.kind) && op.guard == kNoGuard);
        }
    }
}

// The requests of a ready warp and of those behind it that make the same one. Returns whether any has been made; if
// not, the first one is to be made alone.
bool Machine::request_together(uint32_t first) {
    const uint32_t pc = warps_[first].stack.back().pc;
    const MicroOp& op = program_.code[pc];
    if ((op.kind != MicroOp::Kind::Load && op.kind != MicroOp::Kind::Store) || !program_.code[pc + 1].calm ||
        options_.schedule.kind != Schedule::Kind::Fair || wholes_[op.target].memory == nullptr ||
        clock_ >= std::min(most_of_warp_, most_of_block_))
        return false;
    const MemoryAccess& access = program_.accesses[op.target];
    if (access.lanes != ~0u) return false;
    // An observer may have seen enough after any of them; what the next ones would have loaded then is of no account.
    const uint32_t in_turn = in_cluster() ? turn_end_ - steps_ : WarpRequests::kMost;
    const uint32_t most =
        observer_ && op.kind == MicroOp::Kind::Store ? 1 : std::min<uint32_t>(WarpRequests::kMost, in_turn);
    WarpRequests requests = requests_from(warps_[first], op, access);
    const Followed* const latest = &followed(warps_[first], op);
    for (uint32_t left = (together_ & ~owed_) >> first; (left & 1) && requests.warps < most; left >>= 1) {
        const Warp& warp = warps_[first + requests.warps];
        const Followed& pattern = latest[requests.warps];
        if (warp.stack.back().pc != pc || warp.spin.times + 1 >= kPatience || waits(warp)) break;
        requests.pattern[requests.warps++] = &patterns_[pattern.pattern];
    }
    if (requests.warps == 0) return false;
    uint32_t moved = wholes_[op.target].move(requests);
    last_space_ = space_of(access.space);
    for (uint32_t w = 0; w < moved; ++w) {
        Warp& warp = warps_[first + w];
        if (observer_) {
            tell<false>(warp, op, access, *requests.pattern[w], requests.start[w]);
            if (observer_->enough) moved = w + 1;
        }
        warp.instructions += op.counted;
        watch(warp, op, pc, requests.start[w]);
        warp.stack.back().pc = pc + 1;
    }
    if (moved == 0) return false;
    steps_ += moved, clock_ += op.counted ? moved : 0;
    owed_ |= ((1u << moved) - 1) << first;
    cursor_ = first + moved - 1;
    return true;
}

}  // namespace tilescope::simt
