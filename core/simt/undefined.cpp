// What a run meets that the language leaves undefined, and goes on behind: reads of global memory that nobody
// filled, lanes that a mask names and that do not come, shuffles that read a lane that takes no part.
//
//   if (i < 20) v += __shfl_down_sync(0xffffffff, v, 16);
//
//   lanes   0 . . . . . . . . 19 | 20 . . . 31
//           at the shuffle       | named in the mask, elsewhere: missing, unless they come before they end
//           lane 4 reads lane 20 | the value is undefined
//
// Lanes may come to one instruction in several parts, one after the other, where paths join in the middle of
// a branch; so a lane is missing only if it has ended and has come less often than others. A __syncwarp may be another one of the
// same mask; what else lanes do together counts as one thing where kind and source line are the same, since a
// function that is called on both sides of a branch stands there twice.
//
// Sources: PTX ISA, "Parallel Synchronization and Communication Instructions: bar.warp.sync, vote, match,
// redux", "Data Movement: shfl" (exited threads hold nobody up; the value of an inactive one is undefined);
// CUDA C++ Programming Guide, "Warp Shuffle Functions", "Warp Vote Functions".
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "core/base/words.h"
#include "core/simt/machine.h"

namespace tilescope::simt {

using ptx::Op;

namespace {

const char* name_of_meeting(Op op) {
    return op == Op::Shfl      ? "shuffle"
           : op == Op::BarWarp ? "__syncwarp"
           : op == Op::Vote    ? "vote"
           : op == Op::Match   ? "match"
                               : "reduction of the warp";
}

// "in[64]", or the address where it lies in no array of the launch.
std::string place_text(const Launch& launch, uint64_t address) {
    for (const Array& array : launch.arrays)
        if (array.space == Space::Global && address - array.base < array.bytes())
            return element_name(array, static_cast<int64_t>((address - array.base) /
                                                            static_cast<uint64_t>(array.element_bytes())));
    return fmt::format("address {:#x}", address);
}

auto order_of(const BlockId& b) { return std::tuple(b.z, b.y, b.x); }

}  // namespace

void join(Undefined& all, const Undefined& more) {
    const bool first = all.count == 0 || order_of(more.block) < order_of(all.block);
    if (first)
        all.kind = more.kind, all.block = more.block, all.line = more.line, all.sentence = more.sentence;
    all.count += more.count, all.blocks += more.blocks;
    all.lowest = std::min(all.lowest, more.lowest), all.highest = std::max(all.highest, more.highest);
}

Undefined with_range(Undefined found, const Launch& launch) {
    if (found.kind != Undefined::Kind::UnfilledRead || found.count < 2) return found;
    const std::string from = place_text(launch, found.lowest), to = place_text(launch, found.highest);
    found.sentence += from == to
                          ? fmt::format("; {} such reads", grouped(found.count))
                          : fmt::format("; {} such reads, from {} to {}", grouped(found.count), from, to);
    return found;
}

// The finding of that kind at that instruction, to add to: its sentence is still to be said where it is the
// first of this machine.
Undefined* Machine::note_undefined(const MicroOp& op, Undefined::Kind kind) {
    Undefined& found = undefined[{op.instruction, kind}];
    const bool first = found.count == 0;
    if (first || order_of(found.last) != order_of(block_)) ++found.blocks;
    if (first) found.kind = kind, found.block = block_, found.line = program_.source_lines[op.instruction];
    found.last = block_;
    ++found.count;
    return &found;
}

std::string Machine::of_block(uint32_t lanes, const Warp& warp) const {
    return fmt::format("{} of warp {} of {}", lanes_named(lanes), warp.number,
                       block_name(launch_.grid, {block_.x, block_.y, block_.z}));
}

// Lanes that read a lane that takes no part.
uint32_t Machine::reads_nobody(Warp& warp, const MicroOp& shuffle, uint32_t members, uint32_t mask) {
    const ptx::Exchange how =
        ptx::exchange_of(program_.lanes[static_cast<size_t>(&shuffle - program_.code.data())].does);
    const auto* const b = reinterpret_cast<const uint32_t*>(at(warp, shuffle.b));
    const auto* const c = reinterpret_cast<const uint32_t*>(at(warp, shuffle.c));
    uint32_t readers = 0;
    for_lanes(mask, [&](uint32_t lane) {
        const auto own = static_cast<int>(lane);
        const uint32_t from = ptx::shuffle_source(how, lane, b[lane], c[lane]);
        if (from >= ptx::kOutside || (mask >> from & 1)) return;
        readers |= 1u << lane;
        Undefined* const found = note_undefined(shuffle, Undefined::Kind::AbsentValue);
        if (found->count > 1) return;
        const uint32_t absent = members & ~mask;
        const std::string where = fmt::format("the shuffle at {}", line_text(shuffle));
        const std::string reader = thread_name(warp, own);
        found->sentence =
            absent >> from & 1
                ? fmt::format(
                      "{} {} named in the mask {:#x} and {} not come to {}; {} reads lane {}, whose value "
                      "is undefined",
                      of_block(absent, warp), std::popcount(absent) == 1 ? "is" : "are", members,
                      std::popcount(absent) == 1 ? "does" : "do", where, reader, from)
                : fmt::format(
                      "{} reads lane {} with {}, which its mask {:#x} does not name, so that the value is "
                      "undefined",
                      thread_text(warp, own), from, where, members);
    });
    return readers;
}

// Lanes come together, not the whole warp. Returns those that a shuffle gives a value of nobody.
uint32_t Machine::meet(Warp& warp, const MicroOp& op, uint32_t mask) {
    const auto* const named = reinterpret_cast<const uint32_t*>(at(warp, op.a));
    const auto pc = static_cast<uint32_t>(&op - program_.code.data());
    const Op what = op.c ? program_.lanes[pc + 1].does.op : Op::BarWarp;
    const auto line_of = [&](uint32_t one) { return program_.source_lines[program_.code[one].instruction]; };
    uint32_t members = 0;
    for (uint32_t left = mask; left != 0;) {  // those that name one mask, as the tiles of a warp do
        const uint32_t mask_of = named[std::countr_zero(left)];
        uint32_t team = 0;
        for_lanes(left, [&](uint32_t lane) { team |= named[lane] == mask_of ? 1u << lane : 0u; });
        left &= ~team;
        members |= mask_of;
        const uint32_t absent = mask_of & ~team & warp.alive;
        if (absent == 0) continue;
        const auto same = [&](const MissingLanes& one) {
            const bool syncwarp = program_.code[one.at].c == 0;
            if (one.members != mask_of || syncwarp != (what == Op::BarWarp)) return false;
            return syncwarp || (program_.lanes[one.at + 1].does.op == what && line_of(one.at) == line_of(pc));
        };
        auto known = std::ranges::find_if(warp.missing, same);
        if (known == warp.missing.end()) {
            warp.missing.push_back({pc, 0, mask_of, {}});
            known = std::prev(warp.missing.end());
        }
        known->lanes |= absent;
        for_lanes(team, [&](uint32_t lane) { ++known->came[lane]; });
    }
    if (what != Op::Shfl) return 0;
    return reads_nobody(warp, program_.code[pc + 1], members, mask);
}

void Machine::tell_missing(const Warp& warp) {
    for (const MissingLanes& one : warp.missing) {
        const uint32_t most = *std::ranges::max_element(one.came);
        uint32_t lanes = 0;
        for_lanes(one.lanes, [&](uint32_t lane) { lanes |= one.came[lane] < most ? 1u << lane : 0u; });
        if (lanes == 0) continue;
        const MicroOp& op = program_.code[one.at];
        const Op what = op.c ? program_.lanes[one.at + 1].does.op : Op::BarWarp;
        Undefined* const found = note_undefined(op, Undefined::Kind::AbsentLanes);
        if (found->count > 1) continue;
        const bool single = std::popcount(lanes) == 1;
        found->sentence = fmt::format("{} {} named in the mask {:#x} and {} not come to the {} at {}{}",
                                      of_block(lanes, warp), single ? "is" : "are", one.members,
                                      single ? "does" : "do", name_of_meeting(what), line_text(op),
                                      what == Op::Shfl      ? "; what is read from them is undefined"
                                      : what == Op::BarWarp ? "; what the others do behind it is undefined"
                                                            : "; its result is undefined");
    }
}

// Holds a request to global memory against what is filled, and adds what it stores.
void Machine::watch_filled(const Warp& warp, const MicroOp& op, const MemoryAccess& access, uint32_t mask) {
    const uint32_t bytes = uint32_t{access.element_bytes} * access.elements;
    if (access.copy && op.c) return;  // a part of the bytes, and zeros
    const bool loads = op.kind != MicroOp::Kind::Store, stores = op.kind != MicroOp::Kind::Load;
    const View* view = views_.data() + last_view_[op.target];
    for_lanes(mask, [&](uint32_t lane) {
        const uint64_t address = address_[lane];
        if (address - view->base >= view->bytes)
            view = &*std::prev(std::upper_bound(views_.begin(), views_.end(), address,
                                                [](uint64_t a, const View& one) { return a < one.base; }));
        if (!view->filled) return;
        // Bytes that fill up a struct, or a vector's last element, are read with those beside them.
        bool any = !loads;
        if (loads)
            each_word_filled(*view, address, bytes, [&](uint8_t* word, uint8_t bits) {
                any |= (__atomic_load_n(word, __ATOMIC_RELAXED) & bits) != 0;
            });
        if (!any) {
            Undefined* const found = note_undefined(op, Undefined::Kind::UnfilledRead);
            found->lowest = std::min(found->lowest, address);
            found->highest = std::max(found->highest, address);
            if (found->count == 1)
                found->sentence =
                    fmt::format("{} {} {} at {}, and nothing was stored or copied there before",
                                thread_text(warp, static_cast<int>(lane)), stores ? "updates" : "reads",
                                place_text(launch_, address), line_text(op));
        }
        if (stores)
            each_word_filled(*view, address, bytes, [](uint8_t* word, uint8_t bits) {
                if (bits == 15)
                    __atomic_store_n(word, bits, __ATOMIC_RELAXED);
                else
                    __atomic_fetch_or(word, bits, __ATOMIC_RELAXED);
            });
    });
}

}  // namespace tilescope::simt
