// A warp's control flow: the stack of diverged paths, branches, exits, barriers that a part reaches.
//
//   bra with lanes on both sides:       [ ... | join, all | target side | fall-through side ]  <- runs
//   each side pops at the join; the join entry then goes on with all of them
//
// A barrier reached by a part of a warp: a thread that exits does not hold others up, so that
//   if (i >= n) return;  ...  __syncthreads();
// is right, though lanes still wait at the join of the branch. The lanes at the barrier are parked, the
// rest goes on alone; when all of the rest has exited, the parked lanes arrive. If the rest comes to a
// barrier too, that part of the warp never meets the other: a fault.
//
// A path that waits for another is progress.cpp's; after it has split lanes that would have met, barriers and
// *.sync instructions bring them together again.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "core/base/stop.h"
#include "core/simt/machine.h"

namespace tilescope::simt {

void Machine::diverge(Warp& warp, const MicroOp& op, uint32_t pc, uint32_t taken) {
    StackEntry& top = warp.stack.back();
    const uint32_t fall_through = top.mask & ~taken;
    const uint32_t join = op.reconverge;
    if (join == kNoPc || join == top.reconverge)
        warp.stack.pop_back();  // the entry below waits at the same join, or there is none
    else
        top.pc = join;
    if (op.target != join) warp.stack.push_back({op.target, join, taken});
    if (pc + 1 != join) warp.stack.push_back({pc + 1, join, fall_through});
}

void Machine::park(Warp& warp, uint32_t pc, uint32_t mask) {
    StackEntry& top = warp.stack.back();
    warp.parked = {pc, warp.parked.mask ? kNoPc : top.reconverge, mask | warp.parked.mask};
    if (top.mask == mask) {
        warp.stack.pop_back();
    } else {
        top.mask &= ~mask;
        top.pc = pc + 1;
    }
    settle(warp);
}

// Makes the top of the stack one that can run: parked lanes stay behind where they are.
void Machine::settle(Warp& warp) {
    auto& stack = warp.stack;
    if (warp.parked.mask == 0 || (!stack.empty() && (stack.back().mask & warp.parked.mask) == 0)) return;
    for (size_t k = stack.size(); k-- > 0;) {
        const uint32_t rest = stack[k].mask & ~warp.parked.mask;
        if (rest == 0) continue;
        const StackEntry alone{stack[k].pc, stack[k].reconverge, rest};
        stack[k].mask &= warp.parked.mask;
        if (stack[k].mask == 0) stack.erase(stack.begin() + static_cast<std::ptrdiff_t>(k));
        stack.push_back(alone);
        return;
    }
    stack.push_back(warp.parked);  // all others have exited, or have come here too
    warp.parked.mask = 0;
    warp.split = false;
}

template <bool Values>
void Machine::lane_op(Warp& warp, const MicroOp& op, uint32_t mask) {
    const LaneFn fn = mask == warp.alive ? op.full : op.partial;
    if constexpr (Values) {
        const LaneCode& code = program_.lanes[static_cast<size_t>(&op - program_.code.data())];
        OriginPlan plan;
        flow_before(warp, op, code, mask, plan);
        flop += code.flop * static_cast<uint64_t>(std::popcount(mask));
        fn(at(warp, op.d), at(warp, op.e), at(warp, op.a), at(warp, op.b), at(warp, op.c), mask);
        flow_after(warp, op, code, mask, plan);
    } else {
        fn(at(warp, op.d), at(warp, op.e), at(warp, op.a), at(warp, op.b), at(warp, op.c), mask);
    }
}

// The Lanes from op on that run in one go.
template <bool Values>
void Machine::run_lanes(Warp& warp, const MicroOp& op, uint32_t mask) {
    const MicroOp* const end = &op + op.run;
    if constexpr (Values) {
        for (const MicroOp* one = &op; one != end; ++one) lane_op<Values>(warp, *one, mask);
        return;
    }
    const auto each = [&](LaneFn MicroOp::*fn) {
        for (const MicroOp* one = &op; one != end; ++one)
            (one->*fn)(at(warp, one->d), at(warp, one->e), at(warp, one->a), at(warp, one->b),
                       at(warp, one->c), mask);
    };
    each(mask == warp.alive ? &MicroOp::full : &MicroOp::partial);
}

// Runs a warp until it stands before a request, barrier or exchange (then it stays Ready), or has ended.
template <bool Values>
Machine::Advance Machine::advance(Warp& warp) {
    constexpr uint64_t kCheck = 1 << 12;  // instructions between looks at the stop flag
    uint64_t count = warp.instructions;
    const uint64_t most_of_block = options_.max_instructions_per_block;
    const uint64_t left = most_of_block - std::min(most_of_block, clock_);
    const uint64_t most = left > UINT64_MAX - count
                              ? options_.max_instructions_per_warp
                              : std::min(options_.max_instructions_per_warp, count + left);
    uint64_t check = std::min(most, count + kCheck);
    StackEntry* top = &warp.stack.back();
    uint32_t pc = top->pc, active = top->mask;
    const auto reload = [&] { top = &warp.stack.back(), pc = top->pc, active = top->mask; };
    const auto settle_count = [&] { clock_ += count - warp.instructions, warp.instructions = count; };
    const auto end = [&](Advance why) { return top->pc = pc, settle_count(), why; };
    const auto pass = [&](const MicroOp& op) { count += op.counted, ++pc; };
    // Lanes that went apart where paths wait for each other come together for what a mask names.
    const auto gathered = [&](uint32_t mask, uint32_t members) {
        if (!warp.split || mask == 0 || mask == warp.alive) return true;
        const uint32_t before = active;
        const bool here = gather(warp, pc, members);
        reload();
        return here && active == before;  // else again, with the lanes that have come
    };
    const auto is_apart = [](const MicroOp& op, uint32_t mask) {
        return op.aligned && mask != 0 && mask != ~0u;
    };

    for (;;) {
        const MicroOp& op = program_.code[pc];
        if (op.join && pc == top->reconverge) {
            warp.stack.pop_back();
            settle(warp);
            reload();
            continue;
        }
        uint32_t mask = lanes_of(warp, op, active);
        switch (op.kind) {
            case MicroOp::Kind::Lane:
                if (op.run == 0) {
                    if (mask) lane_op<Values>(warp, op, mask);
                    pass(op);
                    break;
                }
                if (mask) run_lanes<Values>(warp, op, mask);
                count += op.run_counted, pc += op.run;
                break;
            case MicroOp::Kind::Commit:
                warp.groups.commit(mask);
                pass(op);
                break;
            case MicroOp::Kind::Wait:
                arrive(warp, mask, op.target);
                pass(op);
                break;
            case MicroOp::Kind::BulkCommit:
                warp.bulk_groups.commit(mask);
                pass(op);
                break;
            case MicroOp::Kind::BulkWait:
                if (mask) land_groups(warp, mask, op.target);
                pass(op);
                break;
            case MicroOp::Kind::Signal:
                if (mask && program_.signals[op.target].site == kNoSite) {
                    if (signal<Values>(warp, op, mask) == Signalled::Fault) return end(Advance::Fault);
                    pass(op);
                    break;
                }
                if (mask) {
                    warp.pending_mask = mask;
                    return end(Advance::Ok);
                }
                pass(op);
                break;
            case MicroOp::Kind::Bulk:
                // The write follows the read in the same turn, but where a recorded order has them apart.
                if (mask && (op.c == 0 || options_.schedule.kind == Schedule::Kind::Recorded)) {
                    warp.pending_mask = mask;
                    return end(Advance::Ok);
                }
                if (mask && !write_bulk(warp, op, mask)) return end(Advance::Fault);
                pass(op);
                break;
            case MicroOp::Kind::Load:
                if (op.c) mask = lanes_that_read(warp, op, mask);
                [[fallthrough]];
            case MicroOp::Kind::Store:
            case MicroOp::Kind::Atomic:
                if (is_apart(op, mask)) {
                    if (!gathered(mask, ~0u)) break;
                    return raise_apart(warp, op, mask), end(Advance::Fault);
                }
                mask &= program_.accesses[op.target].lanes;
                if (mask && stops_here(op)) {
                    warp.pending_mask = mask;
                    return end(Advance::Ok);
                }
                if (mask && !access<Values>(warp, op, mask)) return end(Advance::Fault);
                pass(op);
                break;
            case MicroOp::Kind::Barrier:
                if (mask == 0) {
                    pass(op);
                } else if (mask == warp.alive || (op.c & kBarrierCluster && op.c & kBarrierArrives)) {
                    warp.pending_mask = mask;
                    return end(Advance::Ok);
                } else if (warp.parked.mask && !(warp.split && warp.parked.pc == pc)) {
                    const MicroOp& first = program_.code[warp.parked.pc];
                    const int held = std::countr_zero(warp.parked.mask), other = std::countr_zero(mask);
                    raise(
                        Fault::Kind::BarrierDivergence, warp, held, first,
                        fmt::format(
                            "{} waits at the barrier at {} while {}, of the same warp, stands at {} at {}: a "
                            "barrier must be reached by all threads of a warp that have not exited",
                            thread_text(warp, held), line_text(first), thread_name(warp, other),
                            &first == &op ? "the same barrier in another pass" : "the barrier",
                            line_text(op)));
                    return end(Advance::Fault);
                } else {
                    park(warp, pc, mask);
                    reload();
                }
                break;
            case MicroOp::Kind::Branch:
                ++count;
                if (count >= check) {
                    if (count >= most) {
                        const bool of_block = count < options_.max_instructions_per_warp;
                        raise(Fault::Kind::NeverEnds, warp, std::countr_zero(active), op,
                              fmt::format(
                                  "{} has run {} instructions{} and is still in a loop at {}: the kernel "
                                  "counts as never ending",
                                  thread_text(warp, std::countr_zero(active)),
                                  of_block ? clock_ + (count - warp.instructions) : count,
                                  of_block ? " with the others of its block" : "", line_text(op)));
                        return end(Advance::Fault);
                    }
                    if (Stop{options_.stop}.now()) return end(Advance::Stopped);
                    check = std::min(most, count + kCheck);
                }
                if (mask == 0) {
                    ++pc;
                } else if (mask == active) {
                    pc = op.target;
                } else {
                    diverge(warp, op, pc, mask);
                    reload();
                }
                break;
            case MicroOp::Kind::Exit:
                ++count;
                if (mask == 0) {
                    ++pc;
                    break;
                }
                top->pc = pc + 1;
                leave_copies(warp, mask);
                leave_bulk(warp, mask);
                warp.alive &= ~mask;
                for (StackEntry& entry : warp.stack) entry.mask &= ~mask;
                std::erase_if(warp.stack, [](const StackEntry& entry) { return entry.mask == 0; });
                if (warp.alive == 0) {
                    changes_ += in_cluster();
                    if (!warp.missing.empty()) tell_missing(warp);
                    set_state(warp, Warp::State::Ended);
                    settle_count();
                    if constexpr (Values) settle_all_loose(warp);
                    return Advance::Ok;
                }
                settle(warp);
                reload();
                break;
            case MicroOp::Kind::Trap:
                if (mask) {
                    raise(Fault::Kind::Trap, warp, std::countr_zero(mask), op,
                          fmt::format("{} ran into a trap at {}", thread_text(warp, std::countr_zero(mask)),
                                      line_text(op)));
                    return end(Advance::Fault);
                }
                pass(op);
                break;
            case MicroOp::Kind::Print:
                if (mask) print(warp, op, mask);
                pass(op);
                break;
            case MicroOp::Kind::Assert:
                if (mask) {
                    fail_assertion(warp, op, mask);
                    return end(Advance::Fault);
                }
                pass(op);
                break;
            case MicroOp::Kind::Allocate:
            case MicroOp::Kind::Free:
                if (mask && !allocate(warp, op, mask)) return end(Advance::Fault);
                pass(op);
                break;
            case MicroOp::Kind::Clock: {
                uint64_t* out = reinterpret_cast<uint64_t*>(at(warp, op.d));
                for (int lane = 0; lane < kWarpSize; ++lane) out[lane] = clock_ + (count - warp.instructions);
                pass(op);
                break;
            }
            case MicroOp::Kind::Converge: {
                if (mask && !gathered(mask, reinterpret_cast<const uint32_t*>(
                                                at(warp, op.a))[std::countr_zero(mask)]))
                    break;
                if (mask && op.target != kNoSite) {
                    warp.pending_mask = mask;
                    return end(Advance::Ok);
                }
                if (mask) exchange<Values>(warp, pc, mask);
                pass(op);
                if (op.c) pass(program_.code[pc]);
                break;
            }
            case MicroOp::Kind::Matrix:
                if (is_apart(op, mask)) {
                    if (!gathered(mask, ~0u)) break;
                    return raise_apart(warp, op, mask), end(Advance::Fault);
                }
                if (mask && program_.matrices[op.target].site != kNoSite) {
                    warp.pending_mask = mask;
                    return end(Advance::Ok);
                }
                if (mask) matrix<Values>(warp, op);
                pass(op);
                break;
            case MicroOp::Kind::Tile:
            case MicroOp::Kind::Wgmma: {
                if (is_apart(op, mask)) {
                    if (!gathered(mask, ~0u)) break;
                    return raise_apart(warp, op, mask), end(Advance::Fault);
                }
                // B is told of once for the four warps.
                const bool tile = op.kind == MicroOp::Kind::Tile;
                if (mask && (!tile || op.c == 0 || warp.number % ptx::kWarpsOfGroup == 0)) {
                    warp.pending_mask = mask;
                    return end(Advance::Ok);
                }
                pass(op);
                break;
            }
            case MicroOp::Kind::Nothing: pass(op); break;
        }
    }
}

template Machine::Advance Machine::advance<false>(Warp&);
template Machine::Advance Machine::advance<true>(Warp&);
template void Machine::lane_op<false>(Warp&, const MicroOp&, uint32_t);
template void Machine::lane_op<true>(Warp&, const MicroOp&, uint32_t);

}  // namespace tilescope::simt
