// What blocks of a cluster do to each other: the cluster's barrier, and accesses to shared memory of another block.
//
//   barrier.cluster.arrive   a step of the lanes that come to it; they go on
//   barrier.cluster.wait     a step; the warp waits until all threads of the cluster that have not exited have arrived in
//                            the phase in which it has
//   another block's memory   an address with its rank (core/base/cluster.h); a fault where that lies outside the cluster, or
//                            the block has exited
//
// Source: PTX ISA, "barrier.cluster", "mapa"; CUDA C++ Programming Guide, "Distributed Shared Memory": a block must not exit
// while others access its shared memory.
#include "core/base/cluster.h"

#include <bit>

#include <fmt/format.h>

#include "core/simt/machine.h"

namespace tilescope::simt {

namespace {

// What a GPU's address of 32 bits cannot hold as a rank is an index gone astray.
constexpr uint64_t kMostRank = 127;

}  // namespace

void Machine::join_cluster(std::span<Machine* const> cluster) { cluster_ = cluster; }

// Whether what a register has is the address of a block by its rank in the cluster.
bool Machine::names_block(uint64_t in_register) const {
    return program_.clusters && names_other_block(in_register) &&
           (in_register >> kRankShift) - 1 <= kMostRank;
}

// As a recording has it.
uint64_t Machine::kept(uint64_t in_register) const {
    return names_block(in_register) ? kept_of_interpreter(in_register, rank_) : in_register;
}

// The block of a kept address; null outside the cluster.
Machine* Machine::block_of_address(uint64_t address) const {
    if (!is_of_other_block(address)) return cluster_[rank_];
    const uint64_t rank = rank_of_address(address);
    return rank < cluster_.size() ? cluster_[rank] : nullptr;
}

// The block that has so many bytes at a kept address; null after a fault. does: "reads", "copies to".
Machine* Machine::reach(const Warp& warp, const MicroOp& op, int lane, const std::string& does,
                        uint64_t address, uint64_t bytes) {
    Machine* const block = block_of_address(address);
    const uint64_t offset = offset_of_address(address);
    std::string why;
    if (!block)
        why = fmt::format(
            "{} {} shared memory of rank {} at {}, but its cluster has {}; give mapa a rank below that",
            thread_text(warp, lane), does, rank_of_address(address), line_text(op),
            counted(cluster_.size(), "block"));
    else if (block != this && block->has_ended())
        why = fmt::format(
            "{} {} shared memory of {} at {}, which has exited; let the blocks of a cluster wait for each "
            "other before "
            "one ends, with cluster.sync()",
            thread_text(warp, lane), does, block->block_text(), line_text(op));
    else if (bytes > block->shared_bytes_ || offset > block->shared_bytes_ - bytes)
        why = fmt::format("{} {} byte {} of {}'s shared memory at {}, outside its {}",
                          thread_text(warp, lane), does, offset, block->block_text(), line_text(op),
                          counted(block->shared_bytes_, "byte"));
    else
        return block;
    raise(Fault::Kind::BadAddress, warp, lane, op, std::move(why));
    fault->address = address;
    return nullptr;
}

// Fills host_ for lanes whose addresses are not in the block's own shared memory, or raises a fault.
bool Machine::locate_in_cluster(Warp& warp, const MicroOp& op, uint32_t mask, uint32_t bytes) {
    const bool loads = op.kind == MicroOp::Kind::Load;
    const std::string does = loads ? "reads" : op.kind == MicroOp::Kind::Atomic ? "updates" : "writes";
    for (; mask != 0; mask &= mask - 1) {
        const int lane = std::countr_zero(mask);
        uint64_t& address = address_[static_cast<size_t>(lane)];
        if (!program_.accesses[op.target].cluster)
            return raise(
                Fault::Kind::BadAddress, warp, lane, op,
                fmt::format(
                    "{} {} another block's shared memory at {}, with an instruction of its own block's; "
                    "use .shared::cluster",
                    thread_text(warp, lane), does, line_text(op)));
        address = kept(address);
        Machine* const block = reach(warp, op, lane, does, address, bytes);
        if (!block) return false;
        host_[static_cast<size_t>(lane)] = block->shared_ + offset_of_address(address);
        if (block != this && !loads) touched_blocks_ |= 1u << rank_of_address(address);
    }
    return true;
}

// The latest request changed memory of other blocks.
void Machine::tell_changes() {
    for_lanes(std::exchange(touched_blocks_, 0), [&](uint32_t rank) { ++cluster_[rank]->changes_; });
}

// "full[0]", "full[0] of block(1)"
std::string Machine::shared_text(uint64_t address, uint32_t bytes, std::string_view noun) const {
    if (!program_.clusters || !is_of_other_block(address))
        return shared_name(launch_.arrays, address, bytes, noun);
    const Machine* const block = block_of_address(address);
    return shared_name(launch_.arrays, offset_of_address(address), bytes, noun) +
           (block ? " of " + block->block_text() : "");
}

// The phase of the cluster's barrier ends where all threads that have not exited have arrived in it.
void Machine::settle_cluster() {
    bool arrived = false;
    for (const Machine* block : cluster_)
        for (const Warp& warp : block->warps_) {
            if ((warp.alive & ~warp.cluster_arrived) != 0) return;
            arrived = arrived || warp.cluster_arrived != 0;
        }
    if (!arrived) return;
    for (Machine* block : cluster_) {
        for (Warp& warp : block->warps_) warp.cluster_arrived = 0;
        ++block->changes_;
    }
}

template <bool Values>
Machine::Advance Machine::come_to_cluster(Warp& warp, const MicroOp& op) {
    const uint32_t lanes = warp.pending_mask;
    const bool arrives = (op.c & kBarrierArrives) != 0;
    if (const uint32_t wrong = lanes & (arrives ? warp.cluster_due : ~warp.cluster_due)) {
        const int lane = std::countr_zero(wrong);
        const std::string thread = thread_text(warp, lane), line = line_text(op);
        raise(Fault::Kind::Trap, warp, lane, op,
              arrives
                  ? fmt::format("{} arrives at the cluster's barrier at {} again before it has waited there",
                                thread, line)
                  : fmt::format("{} waits at the cluster's barrier at {} and has not arrived at it before",
                                thread, line));
        return Advance::Fault;
    }
    warp.spin.waits_at = UINT64_MAX;
    if (observer_) observer_->on_barrier(op.target, warp.number, lanes);
    ++steps_;
    if (arrives) {
        warp.cluster_arrived |= lanes, warp.cluster_due |= lanes;
        ++changes_;
        arrival_ = true;
        ++warp.instructions, ++clock_, ++warp.stack.back().pc;
        return advance<Values>(warp);
    }
    warp.cluster_due &= ~lanes;
    warp.barrier = kClusterBarrierNumber, warp.barrier_threads = 0;
    set_state(warp, Warp::State::Waiting);
    return Advance::Ok;
}

// A warp waits at the cluster's barrier, and nobody is left who would come to it.
bool Machine::raise_at_cluster() {
    for (const Warp& warp : warps_) {
        if (!waits_at_cluster(warp)) continue;
        std::string missing;
        for (const Machine* block : cluster_)
            for (const Warp& other : block->warps_)
                if (const uint32_t lanes = other.alive & ~other.cluster_arrived;
                    lanes != 0 && missing.empty())
                    missing = block->thread_text(other, std::countr_zero(lanes));
        const int lane = std::countr_zero(warp.alive);
        const MicroOp& op = program_.code[warp.stack.back().pc];
        return raise(Fault::Kind::Deadlock, warp, lane, op,
                     fmt::format("{} waits for ever at the cluster's barrier at {}: {} does not arrive at it",
                                 thread_text(warp, lane), line_text(op), missing));
    }
    return true;
}

void Machine::wait_for_cluster() {
    raise_at_cluster();
    leave();
}

template Machine::Advance Machine::come_to_cluster<false>(Warp&, const MicroOp&);
template Machine::Advance Machine::come_to_cluster<true>(Warp&, const MicroOp&);

}  // namespace tilescope::simt
