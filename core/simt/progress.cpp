// Forward progress: threads that wait in a loop for what another thread will write.
//
//   a path of a warp looks at the same memory again and again    -> another path of its warp runs
//   all paths of all warps of a block only wait                  -> another block runs (BlockEnd::Waits)
//   all blocks only wait                                         -> nothing will ever change: a fault
//
// A path waits if it comes back to the same request with the same registers, and its block has changed nothing
// in memory in the meantime: from there on it repeats itself until somebody else writes. A loop that makes
// progress of its own, such as one that counts, never does, so that its recording stays as it is. One that looks
// at one address thousands of times while it changes a register (a timeout) is taken to wait, too, but may end.
//
// Lanes that wait at a join for others that spin go on without these, as threads do since Volta:
//
//   [ ... | join, lanes 0-31 | loop, lanes 1-31 ]   ->   [ ... | join, lanes 1-31 | loop, lanes 1-31 | join, lane 0 ]
//
// Source: CUDA C++ Programming Guide 12, "SIMT Architecture" ("Independent Thread Scheduling").
#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "core/base/cluster.h"
#include "core/base/words.h"
#include "core/simt/machine.h"

namespace tilescope::simt {

namespace {

constexpr uint32_t kVeryOften = 4096;  // visits after which a path counts as waiting though registers change

}  // namespace

// Whether an atomic left another value than it found.
bool Machine::changed_memory(uint32_t mask) const {
    for (uint32_t m = mask; m; m &= m - 1) {
        const auto lane = static_cast<size_t>(std::countr_zero(m));
        if (returned_[lane] != stored_[lane]) return true;
    }
    return false;
}

// A path has come by a request often: does it only wait?
void Machine::look_again(Warp& warp, const MicroOp& op) {
    Spin& spin = warp.spin;
    const MemoryAccess& access = program_.accesses[op.target];
    const auto lane = static_cast<size_t>(std::countr_zero(warp.pending_mask));
    const auto same_stack = [](const StackEntry& a, const StackEntry& b) {
        return a.pc == b.pc && a.reconverge == b.reconverge && a.mask == b.mask;
    };
    spin.exact = spin.changes == changes_ && spin.registers.size() == program_.register_bytes &&
                 std::memcmp(spin.registers.data(), warp.registers, spin.registers.size()) == 0 &&
                 std::ranges::equal(spin.stack, warp.stack, same_stack);
    if (!spin.exact) {
        spin.waits_at = UINT64_MAX;
        spin.changes = changes_;
        spin.registers.assign(warp.registers, warp.registers + program_.register_bytes);
        spin.stack = warp.stack;
        if (spin.times < kVeryOften) return;
    }
    spin.at_barrier = spin.at_group = false;
    spin.mask = warp.pending_mask;
    spin.space = last_space_;
    spin.bytes = access.element_bytes;
    spin.value = 0;
    std::memcpy(&spin.value, host_[lane], std::min<size_t>(spin.bytes, sizeof spin.value));
    yield(warp, spin.exact);
}

// Lets another path of the warp run, each once a round.
void Machine::yield(Warp& warp, bool exact) {
    Spin& spin = warp.spin;
    const uint32_t path = warp.stack.back().mask;
    spin.tried |= path;
    spin.round_exact &= exact;
    if (!bring(warp, ~spin.tried)) {
        if (spin.round_changes == changes_) {
            spin.waits_at = changes_;
            spin.waits_exactly = spin.round_exact;
        }
        spin.round_changes = changes_;
        spin.round_exact = true;
        spin.tried = path;
        if (!bring(warp, ~path)) return;
    }
    spin.pc = kNoPc;
}

// Puts a path with some of these lanes on top, the nearest to it first: one that has not run yet, or lanes that
// wait at a join. False where there is none.
bool Machine::bring(Warp& warp, uint32_t wanted) {
    auto& stack = warp.stack;
    uint32_t above = stack.back().mask | warp.parked.mask;
    for (size_t k = stack.size() - 1; k-- > 0;) {
        const uint32_t rest = stack[k].mask & ~above;
        if ((rest & wanted) == 0) {
            above |= stack[k].mask;
            continue;
        }
        const StackEntry path{stack[k].pc, stack[k].reconverge, rest};
        warp.split = warp.split || rest != stack[k].mask;
        stack[k].mask &= ~rest;
        if (stack[k].mask == 0) stack.erase(stack.begin() + static_cast<std::ptrdiff_t>(k));
        stack.push_back(path);
        return true;
    }
    return false;
}

// A path of a split warp stands before a *.sync instruction. True where it may go on: all members that have not
// exited are here, or no other path can run. Else another path is on top.
bool Machine::gather(Warp& warp, uint32_t pc, uint32_t members) {
    auto& stack = warp.stack;
    stack.back().pc = pc;
    uint32_t above = stack.back().mask;
    for (size_t k = stack.size() - 1; k-- > 0;) {
        const StackEntry one = stack[k];
        const bool path = (one.mask & above) == 0;
        above |= one.mask;
        if (!path || one.pc != pc) continue;
        const uint32_t together = stack.back().mask | one.mask;
        if (together == warp.alive) {
            stack.assign(1, {pc, kNoPc, together});
            warp.split = false;
            break;
        }
        if (one.reconverge != stack.back().reconverge) continue;
        stack.back().mask = together;
        stack.erase(stack.begin() + static_cast<std::ptrdiff_t>(k));
    }
    const uint32_t path = stack.back().mask;
    if ((members & warp.alive & ~path) == 0) return warp.gathered &= ~path, true;
    warp.gathered |= path;
    warp.spin.tried |= path;
    if (bring(warp, members & ~warp.gathered)) return warp.spin.pc = kNoPc, false;
    warp.gathered = 0;
    return true;
}

bool Machine::all_wait() const {
    if (options_.schedule.kind == Schedule::Kind::Recorded) return false;
    return std::ranges::all_of(
        warps_, [&](const Warp& warp) { return warp.state != Warp::State::Ready || waits(warp); });
}

bool Machine::waits_exactly() const {
    return std::ranges::all_of(warps_, [&](const Warp& warp) {
        return warp.state != Warp::State::Ready || warp.spin.waits_exactly;
    });
}

// "lanes 1 to 31 of warp 0 wait at line 8 for lock[0], which holds 1"
std::string Machine::spin_text(const Warp& warp) const {
    const Spin& spin = warp.spin;
    if (spin.at_group)
        return fmt::format("warp {} waits at {} for the other warps of its warpgroup", warp.number,
                           line_text(program_.code[spin.stack.back().pc - 1]));
    if (spin.at_barrier)
        return fmt::format(
            "{} of warp {} {} at {} for the end of a phase of parity {} of {}", lanes_named(spin.mask),
            warp.number, std::popcount(spin.mask) == 1 ? "waits" : "wait",
            line_text(program_.code[spin.stack.back().pc - 1]), spin.wanted, barrier_text(spin.address));
    std::string what = program_.clusters && spin.space == Space::Shared && is_of_other_block(spin.address)
                           ? shared_text(spin.address, spin.bytes, "value")
                       : spin.space == Space::Shared ? fmt::format("byte {} of shared memory", spin.address)
                                                     : fmt::format("the value at {:#x}", spin.address);
    for (const Array& array : launch_.arrays)
        if (array.space == spin.space && spin.address >= array.base &&
            spin.address - array.base < array.bytes())
            what =
                array.elements() == 1 && !array.name.empty()
                    ? name_in({}, array)
                    : element_name(array, static_cast<int64_t>((spin.address - array.base) /
                                                               static_cast<uint64_t>(array.element_bytes())));
    const uint32_t bits = 8 * spin.bytes;
    const auto value = static_cast<int64_t>(spin.value << (64 - bits)) >> (64 - bits);
    const uint32_t pc = spin.stack.back().pc - 1;
    return fmt::format("{} of warp {} {} at {} for {}, which holds {}", lanes_named(spin.mask), warp.number,
                       std::popcount(spin.mask) == 1 ? "waits" : "wait", line_text(program_.code[pc]), what,
                       value);
}

// The fault of a block that Waits, when nobody is left who could change what it waits for.
void Machine::wait_in_loops(uint64_t other_blocks) {
    constexpr size_t kMostSaid = 3;
    std::vector<const Warp*> said;
    std::string text;
    uint64_t likewise = 0;
    for (const Warp& warp : warps_) {
        if (warp.state != Warp::State::Ready || warp.spin.stack.empty()) continue;
        const auto same = [&](const Warp* one) {
            return one->spin.address == warp.spin.address &&
                   one->spin.stack.back().pc == warp.spin.stack.back().pc;
        };
        if (said.size() == kMostSaid || std::ranges::any_of(said, same)) {
            ++likewise;
            continue;
        }
        text += (said.empty() ? "" : "; ") + spin_text(warp);
        said.push_back(&warp);
    }
    if (said.empty()) return leave();
    const Warp* const first = said.front();
    std::string message =
        fmt::format("in {} {}", block_name(launch_.grid, {block_.x, block_.y, block_.z}), text);
    if (likewise > 0)
        message += fmt::format(" ({} {} likewise)", counted(likewise, "more warp"),
                               likewise == 1 ? "waits" : "wait");
    if (other_blocks > 0)
        message += fmt::format(", and {} {} too", counted(other_blocks, "other block"),
                               other_blocks == 1 ? "waits" : "wait");
    message += ": no thread is left that could change it, so that the kernel never ends";
    const uint32_t pc = first->spin.stack.back().pc - 1;
    raise(Fault::Kind::NeverEnds, *first, std::countr_zero(first->spin.mask), program_.code[pc],
          std::move(message));
    fault->address = first->spin.address;
    leave();
}

}  // namespace tilescope::simt
