// A block's turns: warps step one after the other, barriers hold and release them.
//
// The generator of Schedule::Seeded is splitmix64 (Steele, Lea, Flood, "Fast Splittable Pseudorandom
// Number Generators", OOPSLA 2014), started from the seed and the block's number.
#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include <fmt/format.h>

#include "core/base/cluster.h"
#include "core/base/stop.h"
#include "core/simt/machine.h"

namespace tilescope::simt {
namespace {

uint64_t splitmix64(uint64_t& state) {
    uint64_t z = state += 0x9E37'79B9'7F4A'7C15u;
    z = (z ^ (z >> 30)) * 0xBF58'476D'1CE4'E5B9u;
    z = (z ^ (z >> 27)) * 0x94D0'49BB'1331'11EBu;
    return z ^ (z >> 31);
}

size_t chunks(uint64_t bytes) { return static_cast<size_t>(bytes / sizeof(Chunk) + 1); }

// Of a warp's registers: an odd multiple of 256 bytes, so that the same column of neighbouring warps does not fall into
// the same cache sets.
size_t register_chunks(const Program& program) { return (chunks(program.register_bytes) + 3) / 8 * 8 + 4; }

}  // namespace

uint64_t Machine::bytes(const Program& program, const Launch& launch, bool values) {
    const uint64_t warps = (launch.block.count() + kWarpSize - 1) / kWarpSize;
    const uint64_t a_warp = uint64_t{program.register_bytes} * (values ? 2 : 1) +
                            program.local_bytes * kWarpSize + 12 * sizeof(Chunk);
    const uint64_t patterns = (LanePatterns::kMost + 1) * sizeof(LanePattern) +
                              program.accesses.size() * (sizeof(WholeAccess) + warps * sizeof(Followed));
    return program.pool_bytes + program.shared_bytes + launch.dynamic_shared + warps * a_warp + patterns;
}

Machine::Machine(const Program& program, const Launch& launch, const RunOptions& options,
                 std::vector<View> views)
    : program_(program), launch_(launch), options_(options), views_(std::move(views)) {
    const size_t warps = static_cast<size_t>((launch.block.count() + kWarpSize - 1) / kWarpSize);
    last_view_.assign(program.accesses.size(), UINT32_MAX);
    touched.resize(views_.size());
    watches_ = std::ranges::any_of(views_, [](const View& view) { return view.filled != nullptr; });
    pool_store_.resize(chunks(program.pool_bytes));
    pool_ = pool_store_.data()->bytes;
    register_store_.resize(register_chunks(program) * warps);
    warp_bytes_ = register_chunks(program) * sizeof(Chunk);
    if (options.values) origin_store_.resize(register_store_.size());
    shared_bytes_ = program.shared_bytes + launch.dynamic_shared;
    shared_store_.resize(chunks(shared_bytes_));
    shared_ = shared_store_.data()->bytes;
    local_store_.resize(chunks(program.local_bytes * kWarpSize) * warps);
    warps_.resize(warps);
    for (size_t w = 0; w < warps; ++w) {
        warps_[w].number = static_cast<uint32_t>(w);
        warps_[w].registers = register_store_[w * register_chunks(program)].bytes;
        if (options.values) warps_[w].origins = origin_store_[w * register_chunks(program)].bytes;
        warps_[w].local = local_store_[w * chunks(program.local_bytes * kWarpSize)].bytes;
        for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
            const uint32_t thread = static_cast<uint32_t>(w) * kWarpSize + lane;
            const std::array<uint32_t, 3> xyz = place_in_block(launch.block, thread);
            for (size_t k = 0; k < 3; ++k)
                if (program.tid[k] != UINT32_MAX)
                    reinterpret_cast<uint32_t*>(warps_[w].registers + program.tid[k])[lane] = xyz[k];
        }
        if (program.warp_id != UINT32_MAX) fill_column(warps_[w].registers + program.warp_id, 4, w);
    }
    cluster_ = {&self_, 1};
    constants_ = constants_of(program, launch);
    fill_pool(program, launch, pool_);
    prepare_whole();
    // What the lanes of 32 warps may run before their next steps, each of them alone.
    const uint64_t margin = uint64_t{program.code.size()} * kWarpSize * kWarpSize;
    most_of_warp_ = options.max_instructions_per_warp - std::min(options.max_instructions_per_warp, margin);
    most_of_block_ =
        options.max_instructions_per_block - std::min(options.max_instructions_per_block, margin);
}

void Machine::start(const BlockId& block) {
    block_ = block;
    fault.reset();
    at_grid_ = grid_is_here_ = waiting_ = at_cluster_ = turn_over_ = false;
    touched_blocks_ = 0;
    rank_ = in_cluster() ? rank_in_cluster(launch_.cluster, {block.x, block.y, block.z}) : 0;
    steps_ = next_chain_ = 0;
    ready_ = owed_ = together_ = 0;
    arrived_ = {}, arrival_ = false;
    barriers_.clear(), bulk_.clear(), copy_arrivals_.clear();
    pieces_.clear(), maps_.clear();  // of a step that ended in a fault
    bulk_bytes_ = 0;
    changes_ = 0;
    next_return_ = 0;
    clock_ = 0;
    cursor_ = static_cast<uint32_t>(warps_.size()) - 1;
    const uint64_t number =
        block.x + uint64_t{launch_.grid.x} * (block.y + uint64_t{launch_.grid.y} * block.z);
    random_ = options_.schedule.seed ^ (number * 0xD1B5'4A32'D192'ED03u);
    std::memset(shared_, options_.unfilled, shared_store_.size() * sizeof(Chunk));
    if (program_.local_bytes) std::memset(local_store_.data(), 0, local_store_.size() * sizeof(Chunk));
    if (options_.values) std::memset(origin_store_.data(), 0, origin_store_.size() * sizeof(Chunk));
    fill_pool_of_block(program_, launch_, {block.x, block.y, block.z}, pool_);

    const uint64_t threads = launch_.block.count();
    for (Warp& warp : warps_) {
        const uint64_t first = uint64_t{warp.number} * kWarpSize,
                       lanes = std::min<uint64_t>(kWarpSize, threads - first);
        for (const Program::RegisterRange& range : program_.cleared)
            std::memset(warp.registers + range.offset, 0, range.bytes);
        set_state(warp, Warp::State::Ready);
        warp.alive = lanes == kWarpSize ? ~0u : (1u << lanes) - 1;
        warp.stack.assign(1, {0, kNoPc, warp.alive});
        warp.parked = {};
        warp.cluster_arrived = warp.cluster_due = 0;
        warp.spin.pc = kNoPc, warp.spin.tried = 0;
        warp.spin.round_changes = warp.spin.waits_at = UINT64_MAX;
        warp.split = false, warp.gathered = 0;
        warp.instructions = 0;
        warp.loose.clear();
        warp.copies.clear();
        warp.missing.clear();
        warp.groups = warp.bulk_groups = {};
        warp.operands = nullptr;
        warp.given_up.changes = UINT64_MAX, warp.gives_up = false;
    }
}

// The warp whose turn it is; -1 where none is ready; -2 where a recorded order names one that is not.
int Machine::next_warp() {
    if (ready_ == 0) return -1;
    const uint32_t n = static_cast<uint32_t>(warps_.size());
    const auto first = static_cast<uint32_t>(std::countr_zero(ready_));
    const auto ready = [&](uint32_t w) { return (ready_ >> w & 1) != 0; };
    switch (options_.schedule.kind) {
        case Schedule::Kind::Fair: {
            const uint32_t later = ready_ & (~1u << cursor_);
            return later ? std::countr_zero(later) : static_cast<int>(first);
        }
        case Schedule::Kind::Greedy:
            if (!ready(cursor_) || steps_ == 0) return static_cast<int>(first);
            // One that waits for another lets it run.
            for (uint32_t w = cursor_ + 1; waits(warps_[cursor_]) && w < cursor_ + n; ++w)
                if (ready(w % n)) return static_cast<int>(w % n);
            return static_cast<int>(cursor_);
        case Schedule::Kind::Seeded: {
            uint64_t pick = splitmix64(random_) % static_cast<uint32_t>(std::popcount(ready_));
            for (uint32_t w = first; w < n; ++w)
                if (ready(w) && pick-- == 0) return static_cast<int>(w);
            return -1;
        }
        case Schedule::Kind::Recorded: {
            if (steps_ >= options_.recorded_order.size()) {
                order_problem = fmt::format(
                    "the recorded order has {} steps, but the block goes on after them; record it anew",
                    options_.recorded_order.size());
                return -2;
            }
            const uint32_t w = options_.recorded_order[steps_];
            if (w < n && ready(w)) return static_cast<int>(w);
            order_problem = fmt::format(
                "the recorded order gives step {} to warp {}, which {} then; record it anew", steps_ + 1, w,
                w >= n                                  ? "the block does not have"
                : warps_[w].state == Warp::State::Ended ? "has ended"
                                                        : "waits at a barrier");
            return -2;
        }
    }
    return -1;
}

// One turn of a ready warp.
template <bool Values>
Machine::Advance Machine::step(Warp& warp) {
    StackEntry& top = warp.stack.back();
    const MicroOp& op = program_.code[top.pc];
    together_ &= ~(1u << warp.number);
    if (is_request(op.kind)) {
        if (!access<Values>(warp, op, warp.pending_mask)) return Advance::Fault;
        warp.instructions += op.counted, clock_ += op.counted;
        watch(warp, op, top.pc++, address_[static_cast<size_t>(std::countr_zero(warp.pending_mask))]);
        return behind_step<Values>(warp);
    }
    if (op.kind == MicroOp::Kind::Barrier && (op.c & kBarrierCluster))
        return come_to_cluster<Values>(warp, op);
    if (op.kind == MicroOp::Kind::Barrier) {
        const int lane = std::countr_zero(warp.pending_mask);
        warp.spin.waits_at = UINT64_MAX;
        warp.barrier = reinterpret_cast<const uint32_t*>(at(warp, op.a))[lane];
        // Source: PTX ISA, "bar, barrier": operand a is 0 to 15.
        if (warp.barrier >= kGridBarrierNumber && !(op.c & kBarrierGrid)) {
            raise(Fault::Kind::Trap, warp, lane, op,
                  fmt::format(
                      "{} comes to barrier {} at {}, but a block has barriers 0 to {}; use one of these",
                      thread_text(warp, lane), warp.barrier, line_text(op), kGridBarrierNumber - 1));
            return Advance::Fault;
        }
        warp.barrier_threads =
            op.c & kBarrierThreads ? reinterpret_cast<const uint32_t*>(at(warp, op.b))[lane] : 0;
        if (observer_) observer_->on_barrier(op.target, warp.number, warp.alive);
        ++steps_;
        if (op.c & kBarrierArrives) {
            count_arrival(warp);
            ++warp.instructions, ++clock_, ++top.pc;
            return advance<Values>(warp);
        }
        set_state(warp, Warp::State::Waiting);
        return Advance::Ok;
    }
    if (op.kind == MicroOp::Kind::Converge) {
        exchange<Values>(warp, top.pc, warp.pending_mask);
        ++warp.instructions, ++clock_, ++steps_;
        top.pc += 2;
        return behind_step<Values>(warp);
    }
    if (op.kind == MicroOp::Kind::Matrix) {
        matrix<Values>(warp, op);
        warp.instructions += op.counted, clock_ += op.counted, ++steps_;
        ++top.pc;
        return behind_step<Values>(warp);
    }
    if (op.kind == MicroOp::Kind::Signal) {
        const Signalled made = signal<Values>(warp, op, warp.pending_mask);
        if (made == Signalled::Fault) return Advance::Fault;
        if (made == Signalled::Step) warp.instructions += op.counted, clock_ += op.counted, ++top.pc;
        return behind_step<Values>(warp);
    }
    if (op.kind == MicroOp::Kind::Bulk) {
        if (!(op.c ? write_bulk(warp, op, warp.pending_mask) : read_bulk(warp, op, warp.pending_mask)))
            return Advance::Fault;
        warp.instructions += op.counted, clock_ += op.counted, ++top.pc;
        return behind_step<Values>(warp);
    }
    if (op.kind == MicroOp::Kind::Wgmma && !warp.operands &&
        options_.schedule.kind != Schedule::Kind::Recorded && !group_has_come(warp)) {
        wait_for_group(warp, op);
        return behind_step<Values>(warp);
    }
    if (!(op.kind == MicroOp::Kind::Tile ? tile_step(warp, op) : wgmma<Values>(warp, op)))
        return Advance::Fault;
    warp.instructions += op.counted, clock_ += op.counted, ++top.pc;
    return behind_step<Values>(warp);
}

// What a warp does next, or owes, when it has made a step.
template <bool Values>
Machine::Advance Machine::behind_step(Warp& warp) {
    if constexpr (!Values) {
        if (may_owe(warp)) {
            owed_ |= 1u << warp.number;
            return Advance::Ok;
        }
        if (owed_)
            if (const Advance a = settle_owed(); a != Advance::Ok) return a;
    }
    return advance<Values>(warp);
}

// bar.red: every thread gets what the predicates of all threads make together.
void Machine::reduce(const std::vector<Warp*>& warps) {
    const auto op_of = [&](const Warp& warp) -> const MicroOp& {
        return program_.code[warp.stack.back().pc];
    };
    uint32_t threads = 0, holding = 0;
    for (Warp* warp : warps) {
        const MicroOp& op = op_of(*warp);
        if ((op.c & ~kBarrierThreads) == 0) continue;
        threads += static_cast<uint32_t>(std::popcount(warp->alive));
        holding += static_cast<uint32_t>(
            std::popcount(*reinterpret_cast<const uint32_t*>(at(*warp, op.e)) & warp->alive));
    }
    for (Warp* warp : warps) {
        const MicroOp& op = op_of(*warp);
        auto* d = reinterpret_cast<uint32_t*>(at(*warp, op.d));
        if (op.c & kBarrierCount) {
            for_lanes(warp->alive, [&](uint32_t lane) { d[lane] = holding; });
            if (options_.values)
                for_lanes(warp->alive,
                          [&](uint32_t lane) { reinterpret_cast<Origin*>(warp->origins + op.d)[lane] = 0; });
        } else if (op.c & (kBarrierAll | kBarrierAny)) {
            const bool holds = op.c & kBarrierAll ? holding == threads : holding > 0;
            *d = (*d & ~warp->alive) | (holds ? warp->alive : 0);
        }
    }
}

// bar.arrive: where nobody waits, a barrier may be complete too, and begins anew.
//
// Source: PTX ISA, "bar, barrier": arrive does not cause the executing thread to wait; the count of threads of
// sync and arrive is a multiple of the warp's size, and a warp counts as a whole.
void Machine::count_arrival(const Warp& warp) {
    arrival_ = true;
    Arrived& arrived = arrived_[warp.barrier];
    ++arrived.times, arrived.warps |= 1u << warp.number;
    const bool awaited = std::ranges::any_of(warps_, [&](const Warp& other) {
        return other.state == Warp::State::Waiting && other.barrier == warp.barrier;
    });
    if (!awaited && arrived.times * kWarpSize >= warp.barrier_threads) arrived = {};
}

Machine::Come Machine::come_to(const Warp& waiting) const {
    const Arrived arrived = waiting.barrier < kGridBarrierNumber ? arrived_[waiting.barrier] : Arrived{};
    Come come{arrived.times, 0};
    for (const Warp& other : warps_) {
        const bool same = other.state == Warp::State::Waiting && other.barrier == waiting.barrier;
        come.here += same;
        come.missing += !same && other.state != Warp::State::Ended && !(arrived.warps >> other.number & 1);
    }
    return come;
}

bool Machine::is_complete(const Warp& waiting) const {
    if (waits_at_cluster(waiting)) return (waiting.cluster_arrived & waiting.alive) == 0;
    const Come come = come_to(waiting);
    return waiting.barrier_threads ? come.here * kWarpSize >= waiting.barrier_threads : come.missing == 0;
}

// Releases every barrier that all have reached; repeats, as warps that go on may end.
template <bool Values>
Machine::Advance Machine::release_barriers() {
    for (;;) {
        at_grid_ = false;
        if (program_.clusters) settle_cluster();
        // A warp that still runs holds up all barriers but those of a number of threads, and where it has arrived.
        if (ready_ && std::ranges::none_of(warps_, [&](const Warp& warp) {
                return warp.state == Warp::State::Waiting &&
                       (warp.barrier_threads || warp.barrier == kClusterBarrierNumber ||
                        (warp.barrier < kGridBarrierNumber && arrived_[warp.barrier].times > 0));
            }))
            return Advance::Ok;
        int release = -1;
        for (const Warp& warp : warps_) {
            if (warp.state != Warp::State::Waiting || !is_complete(warp)) continue;
            release = static_cast<int>(warp.barrier);
            break;
        }
        at_grid_ = release == static_cast<int>(kGridBarrierNumber) && !grid_is_here_;
        if (release < 0 || at_grid_) return Advance::Ok;
        grid_is_here_ = false;
        if (release < static_cast<int>(kGridBarrierNumber)) arrived_[static_cast<size_t>(release)] = {};
        std::vector<Warp*> released;
        for (Warp& warp : warps_)
            if (warp.state == Warp::State::Waiting && warp.barrier == static_cast<uint32_t>(release) &&
                (warp.barrier != kClusterBarrierNumber || is_complete(warp)))
                released.push_back(&warp);
        reduce(released);
        for (Warp* warp : released) {
            set_state(*warp, Warp::State::Ready);
            ++warp->instructions, ++clock_;
            ++warp->stack.back().pc;
        }
        if constexpr (Values) {
            for (Warp* warp : released)
                if (const Advance a = advance<Values>(*warp); a != Advance::Ok) return a;
        } else {
            uint32_t all = 0;
            for (const Warp* warp : released) all |= 1u << warp->number;
            if (const Advance a = advance_all(all); a != Advance::Ok) return a;
        }
    }
}

template <bool Values>
BlockEnd Machine::turns() {
    turn_end_ = steps_ + static_cast<uint32_t>(warps_.size());
    if (std::exchange(turn_over_, false)) {
        if (const Advance a = release_barriers<Values>(); a != Advance::Ok) return ended(a);
    } else if (waiting_ || at_cluster_) {
        waiting_ = at_cluster_ = false;
        for (Warp& warp : warps_) warp.spin.waits_at = UINT64_MAX;  // others may have written
        if (program_.clusters)
            if (const Advance a = release_barriers<Values>(); a != Advance::Ok) return ended(a);
    } else if (at_grid_) {
        grid_is_here_ = true;
        if (const Advance a = release_barriers<Values>(); a != Advance::Ok) return ended(a);
    } else if constexpr (Values) {
        for (Warp& warp : warps_)
            if (const Advance a = advance<Values>(warp); a != Advance::Ok) return ended(a);
    } else {
        if (const Advance a = advance_all(ready_); a != Advance::Ok) return ended(a);
    }
    for (;;) {
        if (in_cluster() && steps_ >= turn_end_ && ready_ != 0) {
            if (const Advance a = settle_owed(); a != Advance::Ok) return ended(a);
            if (ready_ != 0) return turn_over_ = true, BlockEnd::Turn;
        }
        const bool stopped = Stop{options_.stop}.now() || (observer_ && observer_->enough);
        const int next = stopped ? -1 : next_warp();
        if (owed_ && (next == -1 || !may_step(next))) {
            if (const Advance a = settle_owed(); a != Advance::Ok) return ended(a);
            if (!stopped) continue;
        }
        if (stopped) return BlockEnd::Stopped;
        if (next == -2) return BlockEnd::OrderNotFollowed;
        if (next == -1) break;
        if constexpr (!Values)
            if ((together_ >> next & 1) && request_together(static_cast<uint32_t>(next))) continue;
        Warp& warp = warps_[static_cast<size_t>(next)];
        cursor_ = static_cast<uint32_t>(next);
        if (const Advance a = step<Values>(warp); a != Advance::Ok) {
            if (owed_ && settle_owed() != Advance::Ok) return ended(Advance::Fault);
            return ended(a);
        }
        const bool arrived = std::exchange(arrival_, false);
        if (warp.state == Warp::State::Ready && !arrived) {
            if (!order_problem.empty()) return BlockEnd::OrderNotFollowed;
            if (waits(warp) && all_wait() && (in_cluster() || !give_up_waits())) return BlockEnd::Waits;
            continue;
        }
        if (const Advance a = release_barriers<Values>(); a != Advance::Ok) return ended(a);
    }
    if (at_grid_) return BlockEnd::AtGrid;
    if (in_cluster() && std::ranges::any_of(warps_, [&](const Warp& warp) { return waits_at_cluster(warp); }))
        return BlockEnd::AtCluster;
    for (const Warp& warp : warps_) {
        if (warp.state != Warp::State::Waiting) continue;
        if (warp.barrier == kClusterBarrierNumber) return raise_at_cluster(), BlockEnd::Faulted;
        const MicroOp& op = program_.code[warp.stack.back().pc];
        std::string others;
        for (const Warp& other : warps_)
            if (other.state == Warp::State::Waiting && other.barrier != warp.barrier) {
                others = fmt::format(", while {} waits at barrier {} at {}",
                                     thread_name(other, std::countr_zero(other.alive)), other.barrier,
                                     line_text(program_.code[other.stack.back().pc]));
                break;
            }
        const std::string count =
            warp.barrier_threads
                ? fmt::format(" ({} of {})", come_to(warp).here * kWarpSize, warp.barrier_threads)
                : "";
        raise(Fault::Kind::Deadlock, warp, std::countr_zero(warp.alive), op,
              fmt::format("{} waits for ever at barrier {} at {}: not enough threads come to it{}{}",
                          thread_text(warp, std::countr_zero(warp.alive)), warp.barrier, line_text(op), count,
                          others));
        return BlockEnd::Faulted;
    }
    if (options_.schedule.kind == Schedule::Kind::Recorded && steps_ < options_.recorded_order.size()) {
        order_problem =
            fmt::format("the recorded order has {} steps, but the block ended after {}; record it anew",
                        options_.recorded_order.size(), steps_);
        return BlockEnd::OrderNotFollowed;
    }
    return BlockEnd::Complete;
}

BlockEnd Machine::run_block(const BlockId& block, BlockObserver* observer) {
    begin(block, observer);
    return run();
}

void Machine::begin(const BlockId& block, BlockObserver* observer) {
    observer_ = observer;
    flop = 0;
    start(block);
}

BlockEnd Machine::go_on() { return run(); }

BlockEnd Machine::run() {
    const BlockEnd result = options_.values ? turns<true>() : turns<false>();
    waiting_ = result == BlockEnd::Waits, at_cluster_ = result == BlockEnd::AtCluster;
    instructions = 0;
    for (const Warp& warp : warps_) instructions += warp.instructions;
    if (observer_ && result != BlockEnd::AtGrid && result != BlockEnd::Turn && !waiting_ && !at_cluster_)
        observer_->on_end();
    return result;
}

void Machine::wait_for_ever(const std::string& why) {
    for (const Warp& warp : warps_) {
        if (warp.state != Warp::State::Waiting) continue;
        const MicroOp& op = program_.code[warp.stack.back().pc];
        const int lane = std::countr_zero(warp.alive);
        raise(Fault::Kind::Deadlock, warp, lane, op,
              fmt::format("{} waits for ever at the grid's barrier at {}: {}", thread_text(warp, lane),
                          line_text(op), why));
        break;
    }
    leave();
}

void Machine::leave() {
    if (observer_) observer_->on_end();
}

}  // namespace tilescope::simt
