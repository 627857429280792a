#include "core/compiled/values.h"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "core/base/words.h"
#include "core/compiled/native.h"

namespace tilescope::compiled {

using ptx::StateSpace;
using simt::in_pool;
using simt::MemoryAccess;
using simt::MicroOp;
using simt::Ref;
using Kind = MicroOp::Kind;
using Level = Value::Level;

namespace {

constexpr uint32_t kMostOps = 8'000;
constexpr uint64_t kMostWork = uint64_t{1} << 24;  // blocks times registers

}  // namespace

Result<Values> Values::of(const simt::Program& program, const Launch& launch) {
    Values values(program, launch);
    values.warps = static_cast<uint32_t>((launch.block.count() + kWarpSize - 1) / kWarpSize);
    if (auto ok = values.collect(); !ok) return ok.error();
    values.find_order();
    values.find_blocks();
    if (values.blocks.size() * values.registers.size() > kMostWork)
        return Error{fmt::format("it has {} with {}, too many to be compiled",
                                 counted(values.blocks.size(), "block"),
                                 counted(values.registers.size(), "register"))};
    values.find_live();
    values.fill_pool();
    do values.find_values();
    while (values.find_waiting());
    return values;
}

Result<void> Values::collect() {
    if (program_.code.size() > kMostOps)
        return Error{fmt::format("its {} instructions are more than the {} that are compiled",
                                 grouped(program_.code.size()), grouped(kMostOps))};
    if (program_.clusters) return Error{"its blocks are those of a cluster"};
    if (program_.grid_barrier) return Error{"its blocks wait for each other at a barrier of the grid"};
    index_.assign(program_.register_bytes / 4 + 1, -1);
    places_.resize(program_.code.size());
    widenings.resize(program_.code.size());
    ordered.resize(program_.code.size());
    for (uint32_t i = 0; i < program_.code.size(); ++i) {
        if (!places_of(program_, i, places_[i]))
            return Error{fmt::format("the instruction at line {} of its PTX is only interpreted",
                                     program_.ptx_lines[program_.code[i].instruction])};
        for (const Place& place : places_[i]) {
            if (in_pool(place.ref)) continue;
            int32_t& index = index_[place.ref / 4];
            if (index < 0) {
                index = static_cast<int32_t>(registers.size());
                registers.push_back({place.ref, place.bytes, {}, false, false, {}});
            }
            Register& one = registers[static_cast<size_t>(index)];
            if (one.bytes != place.bytes)
                return Error{fmt::format("line {} of its PTX uses a register in another size",
                                         program_.ptx_lines[program_.code[i].instruction])};
            if (place.is_written && (one.writes.empty() || one.writes.back() != i)) one.writes.push_back(i);
        }
    }
    return {};
}

// Atomics of a memory may come early, before the turns of other warps, where all of them make one operation that gives
// the same in any order, and nobody reads what they find. A generic one may be of each memory.
void Values::find_order() {
    std::vector<bool> read(registers.size());
    for (const auto& places : places_)
        for (const Place& place : places)
            if (place.is_read && !in_pool(place.ref)) read[index_of(place.ref)] = true;
    struct Atomics {
        ptx::Atomic operation = ptx::Atomic::None;
        bool is_signed = false, ordered = false;
        void add(const MemoryAccess& access, bool is_read) {
            using enum ptx::Atomic;
            const bool commutes = !access.is_float && access.atomic != Exch && access.atomic != Cas &&
                                  access.atomic != Inc && access.atomic != Dec;
            const bool same =
                operation == None || (operation == access.atomic && is_signed == access.is_signed);
            operation = access.atomic, is_signed = access.is_signed;
            ordered = ordered || is_read || !commutes || !same;
        }
    };
    Atomics shared, global;
    const auto each = [&](auto visit) {
        for (uint32_t i = 0; i < program_.code.size(); ++i)
            if (program_.code[i].kind == Kind::Atomic) visit(i, program_.accesses[program_.code[i].target]);
    };
    blocks_communicate = program_.has_fences;
    each([&](uint32_t, const MemoryAccess& access) {
        const bool is_read = read[index_of(access.data[0])];
        if (access.space != StateSpace::Global) shared.add(access, is_read);
        if (access.space == StateSpace::Shared) return;
        global.add(access, is_read);
        // A sum of floats is taken back by subtracting; all else that depends on its order is not.
        Atomics alone;
        alone.add(access, is_read);
        blocks_communicate = blocks_communicate || is_read || (alone.ordered && !access.is_float);
    });
    each([&](uint32_t i, const MemoryAccess& access) {
        ordered[i] = (access.space != StateSpace::Global && shared.ordered) ||
                     (access.space != StateSpace::Shared && global.ordered);
        in_turns = in_turns || ordered[i];
    });
    for (const MicroOp& op : program_.code)
        if (op.kind == Kind::Barrier && (op.c & simt::kBarrierThreads)) in_turns = true;
}

// From what its registers are at the outset (nothing is known of them, so that everything may be) down to what all of
// their writes give.
void Values::find_values() {
    for (Register& one : registers) {
        one.value = {};
        if (one.read_before_written) one.value = {Level::Affine, 0, -1};  // registers begin as zero
        if (one.held) one.value = {Level::Varying, 0, -1};
    }
    for (auto& list : widenings) list.clear();
    tables.resize(pool_tables_);
    const auto begin_with = [&](uint32_t at, auto number) {
        if (at == UINT32_MAX || index_[at / 4] < 0) return;
        std::vector<uint64_t> table(size_t{warps} * kWarpSize);
        for (size_t thread = 0; thread < table.size(); ++thread)
            table[thread] = number(static_cast<uint32_t>(thread));
        registers[index_of(at)].value = tabled(std::move(table), 4);
    };
    for (size_t k = 0; k < 3; ++k)
        begin_with(program_.tid[k],
                   [&](uint32_t thread) { return simt::place_in_block(launch_.block, thread)[k]; });
    begin_with(program_.warp_id, [](uint32_t thread) { return thread / kWarpSize; });
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < program_.code.size(); ++i)
            for (const Place& place : places_[i]) {
                if (!place.is_written) continue;
                Register& to = registers[index_of(place.ref)];
                if (to.value.varying()) continue;
                Value made = result(i, place);
                if (made.level == Level::Unset) continue;
                if (to.read_before_written && made.shape != 0) made = {Level::Varying, 0, -1};
                if (place.bytes == 0 && made.level == Level::Affine && made.shape != 0)
                    made = {Level::Varying, 0, -1};
                if (to.value.level != Level::Unset && to.value.shape != made.shape)
                    made = {Level::Varying, 0, -1};
                if (to.value.level == made.level && to.value.shape == made.shape) continue;
                to.value = made;
                changed = true;
            }
    }
    // What nothing was found of is never reached, or goes round in a circle of zeros.
    for (Register& one : registers)
        if (one.value.level == Level::Unset) one.value = {Level::Affine, 0, -1};
    for (BasicBlock& block : blocks) block.divergent = splits(block.end - 1);
}

Value Values::result(uint32_t i, const Place& to) {
    const MicroOp& op = program_.code[i];
    const Value uniform{Level::Affine, 0, -1}, varying{Level::Varying, 0, -1};
    bool lanes_alike = true;  // those that execute it are all or none
    if (op.guard != simt::kNoGuard) {
        const Value guard = value(op.guard);
        if (guard.level == Level::Unset) return {};
        lanes_alike = guard.uniform();
    }
    if (!lanes_alike) return varying;
    if (op.kind == Kind::Lane) {
        return follows_converge(program_, i) || !is_own(program_.lanes[i].does) ? varying
                                                                                : lane_result(i, to);
    }
    if (op.kind == Kind::Load) {
        const MemoryAccess& access = program_.accesses[op.target];
        const Value address = value(op.a);
        if (address.level == Level::Unset) return {};
        const bool own = access.space == StateSpace::Local || access.space == StateSpace::Generic;
        return address.uniform() && !own ? uniform : varying;
    }
    return op.kind == Kind::Barrier ? uniform : varying;
}

Value Values::lane_result(uint32_t i, const Place& to) {
    const ptx::Operation& does = program_.lanes[i].does;
    bool all_known = true, all_uniform = true;
    for (const Place& place : places_[i]) {
        if (!place.is_read) continue;
        const Value from = value(place.ref);
        if (from.level == Level::Unset) return {};
        all_known = all_known && from.known();
        all_uniform = all_uniform && from.uniform();
    }
    const Register& one = reg(to.ref);
    const bool alone = one.writes.size() == 1 && !one.read_before_written;
    const bool always = program_.code[i].guard == simt::kNoGuard;
    if (all_known && alone && always) return known(i, to);
    if (all_uniform)
        return !has_scalar(does) || to.ref != program_.code[i].d ? Value{Level::Varying, 0, -1}
                                                                 : Value{Level::Affine, 0, -1};
    return to.bytes == 0 ? Value{Level::Varying, 0, -1} : affine(i, to.bytes);
}

// What the interpreter's own function makes of what is known, warp by warp.
Value Values::known(uint32_t i, const Place& to) {
    const Value before = reg(to.ref).value;
    if (before.known()) return before;
    const MicroOp& op = program_.code[i];
    struct alignas(64) Column {
        std::byte bytes[2 * simt::kColumnBytes];
    };
    std::array<Column, 5> columns{};
    const Ref refs[5] = {op.d, op.e, op.a, op.b, op.c};
    std::vector<uint64_t> table(size_t{warps} * kWarpSize);
    for (uint32_t w = 0; w < warps; ++w) {
        for (const Place& place : places_[i]) {
            if (!place.is_read) continue;
            const uint64_t* const from =
                tables[static_cast<size_t>(value(place.ref).table)].data() + size_t{w} * kWarpSize;
            for (size_t k = 1; k < 5; ++k) {
                if (refs[k] != place.ref) continue;
                std::byte* const column = columns[k].bytes;
                for (size_t lane = 0; lane < (place.bytes == 0 ? 1 : kWarpSize); ++lane)
                    if (place.bytes == 8)
                        reinterpret_cast<uint64_t*>(column)[lane] = from[lane];
                    else
                        reinterpret_cast<uint32_t*>(column)[lane] = static_cast<uint32_t>(from[lane]);
            }
        }
        op.full(columns[0].bytes, columns[1].bytes, columns[2].bytes, columns[3].bytes, columns[4].bytes,
                ~0u);
        const std::byte* const made = columns[to.ref == op.d ? 0 : 1].bytes;
        for (size_t lane = 0; lane < kWarpSize; ++lane)
            table[size_t{w} * kWarpSize + lane] =
                to.bytes == 8   ? reinterpret_cast<const uint64_t*>(made)[lane]
                : to.bytes == 4 ? reinterpret_cast<const uint32_t*>(made)[lane]
                                : *reinterpret_cast<const uint32_t*>(made);
    }
    return tabled(std::move(table), to.bytes);
}

}  // namespace tilescope::compiled
