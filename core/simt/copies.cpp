// The copies of cp.async: from where a thread asks for one to where it waits.
//
//   cp.async          ask       what was read is kept beside the warp, in the group that the lane has open
//   commit_group                the group is closed, and the next one opened
//   wait_group N      arrive    all of the lane's groups but the latest N are written to shared memory
//   wait_all          arrive    all of its copies are
//   mbarrier.arrive             so are those before it, where somebody waits at that barrier (signals.cpp)
//
// Groups are a thread's own. What a thread never waited for is written when it ends; a GPU has written it by
// then, too.
//
// Source: PTX ISA, "Data Movement and Conversion Instructions: Asynchronous copy"; "cp.async",
// "cp.async.commit_group", "cp.async.wait_group / cp.async.wait_all".
#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "core/base/words.h"
#include "core/simt/machine.h"

namespace tilescope::simt {
namespace {

// Bytes that a lane reads, of those that it writes; the rest becomes zero.
uint32_t bytes_read(const std::byte* sizes, const MemoryAccess& access, uint32_t lane) {
    return std::min(reinterpret_cast<const uint32_t*>(sizes)[lane], uint32_t{access.elements} * 4);
}

void write(PendingCopy& copy, uint32_t lanes) {
    for_lanes(lanes, [&](uint32_t lane) {
        for (uint32_t i = 0; i < copy.words; ++i)
            std::memcpy(copy.to[lane] + size_t{4} * i, &copy.data[i][lane], 4);
    });
    copy.mask &= ~lanes;
}

}  // namespace

uint32_t Machine::lanes_that_read(const Warp& warp, const MicroOp& op, uint32_t mask) {
    const std::byte* sizes = (in_pool(op.b) ? pool_ : warp.registers) + (op.b & ~1u);
    uint32_t reading = 0;
    for_lanes(mask, [&](uint32_t lane) {
        if (reinterpret_cast<const uint32_t*>(sizes)[lane] != 0) reading |= 1u << lane;
    });
    return reading;
}

// Fills host_, each lane with as many bytes as it reads.
bool Machine::locate_copied(Warp& warp, const MicroOp& op, const MemoryAccess& access, uint32_t mask) {
    const std::byte* sizes = at(warp, op.b);
    for (uint32_t left = mask; left != 0; left &= left - 1) {
        const auto lane = static_cast<uint32_t>(std::countr_zero(left));
        if (!locate_global(warp, op, access, 1u << lane, bytes_read(sizes, access, lane))) return false;
    }
    return true;
}

void Machine::load_copied(Warp& warp, const MicroOp& op, const MemoryAccess& access, uint32_t mask) {
    if (!op.c) return load(warp, access, mask, true);
    const std::byte* sizes = at(warp, op.b);
    for_lanes(mask, [&](uint32_t lane) {
        const uint32_t bytes = bytes_read(sizes, access, lane);
        for (uint32_t i = 0; i < access.elements; ++i) {
            uint32_t word = 0;
            const uint32_t first = 4 * i;
            if (bytes >= first + 4)
                word =
                    __atomic_load_n(reinterpret_cast<const uint32_t*>(host_[lane] + first), __ATOMIC_RELAXED);
            else if (bytes > first)
                std::memcpy(&word, host_[lane] + first, bytes - first);
            reinterpret_cast<uint32_t*>(at(warp, access.data[i]))[lane] = word;
        }
    });
}

bool Machine::ask(Warp& warp, const MicroOp& op, const MemoryAccess& access, uint32_t mask) {
    // Twice what fills all of shared memory, 4 bytes a lane.
    constexpr size_t kMostCopies = 4096;
    if (warp.copies.size() >= kMostCopies) {
        const int lane = std::countr_zero(mask);
        return raise(
            Fault::Kind::NeverEnds, warp, lane, op,
            fmt::format("{} asks for a copy at {} while {} of its warp are under way that nobody waits for",
                        thread_text(warp, lane), line_text(op), grouped(kMostCopies)));
    }
    PendingCopy& copy = warp.copies.emplace_back();
    copy.step = steps_;
    copy.mask = mask;
    copy.words = access.elements;
    copy.group = warp.groups.open();
    copy.to = host_;
    for (uint32_t i = 0; i < access.elements; ++i)
        std::memcpy(copy.data[i].data(), at(warp, access.data[i]), sizeof copy.data[i]);
    return true;
}

void Machine::arrive(Warp& warp, uint32_t mask, uint32_t left) {
    for (PendingCopy& copy : warp.copies) {
        write(copy, warp.groups.arrived(copy.group, copy.mask & mask, left));
        if (copy.mask == 0 && copy.waited && observer_) observer_->on_arrival(copy.step);
    }
    std::erase_if(warp.copies, [](const PendingCopy& copy) { return copy.mask == 0; });
    if (left == ptx::kAllGroups) warp.groups.commit(mask);
}

void Machine::arrive_before(Warp& warp, uint32_t lane, uint32_t step) {
    for (PendingCopy& copy : warp.copies) {
        if (copy.step >= step || !(copy.mask >> lane & 1)) continue;
        write(copy, 1u << lane);
        if (copy.mask == 0 && copy.waited && observer_) observer_->on_arrival(copy.step);
    }
    std::erase_if(warp.copies, [](const PendingCopy& copy) { return copy.mask == 0; });
}

void Machine::leave_copies(Warp& warp, uint32_t mask) {
    for (PendingCopy& copy : warp.copies) {
        if ((copy.mask & mask) == 0) continue;
        copy.waited = false;
        write(copy, copy.mask & mask);
    }
    std::erase_if(warp.copies, [](const PendingCopy& copy) { return copy.mask == 0; });
}

}  // namespace tilescope::simt
