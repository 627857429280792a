#include "core/compiled/values.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <map>
#include <string_view>

#include <fmt/format.h>

#include "core/simt/lowering.h"

namespace tilescope::compiled {

using ptx::Half;
using ptx::Op;
using ptx::StateSpace;
using ptx::Type;
using simt::in_pool;
using simt::MemoryAccess;
using simt::MicroOp;
using simt::PoolColumn;
using simt::Ref;
using Kind = MicroOp::Kind;
using Level = Value::Level;

namespace {

constexpr uint32_t kMostOps = 8'000;
constexpr uint64_t kMostWork = uint64_t{1} << 24;  // blocks times registers

uint8_t slot(Type type) { return static_cast<uint8_t>(simt::slot_bytes(type)); }

bool carries(const ptx::Operation& does) {
    return does.carry_out || (ptx::rule_of(does.op).suffixes & ptx::kCarryIn) != 0;
}

// Its result in a lane follows from what that lane holds.
bool is_own(const ptx::Operation& does) {
    switch (does.op) {
        case Op::Activemask:
        case Op::Vote:
        case Op::Match:
        case Op::Redux:
        case Op::Shfl: return false;
        default: return !carries(does);
    }
}

void lane_places(const simt::Program& program, uint32_t i, std::vector<Place>& places) {
    const MicroOp& op = program.code[i];
    const ptx::Operation& does = program.lanes[i].does;
    const std::string_view letters = ptx::rule_of(does.op).operands;
    const bool pair = letters[0] == 'e' || letters[0] == 'E';
    const auto first =
        static_cast<size_t>(std::ranges::find_if_not(letters, ptx::is_destination) - letters.begin());
    places.push_back({op.d, slot(ptx::type_of(letters[0], does)), true, false});
    if (pair || carries(does)) places.push_back({op.e, 0, true, carries(does)});
    const Ref sources[] = {op.a, op.b, op.c, op.e};
    size_t k = 0;
    for (size_t l = first; l < letters.size() && k < (pair ? 3u : 4u); ++l) {
        if (letters[l] == 'Q') continue;  // boolean combinations are lowered to operations of their own
        places.push_back({sources[k++], slot(ptx::type_of(letters[l], does)), false, true});
    }
}

void memory_places(const simt::Program& program, const MicroOp& op, std::vector<Place>& places) {
    const MemoryAccess& access = program.accesses[op.target];
    places.push_back({op.a, static_cast<uint8_t>(access.wide_address ? 8 : 4), false, true});
    if (op.kind == Kind::Atomic) {
        const uint8_t bytes = access.element_bytes == 8 ? 8 : 4;
        places.push_back({access.data[0], bytes, true, false});
        places.push_back({access.data[1], bytes, false, true});
        if (access.atomic == ptx::Atomic::Cas) places.push_back({access.data[2], bytes, false, true});
        return;
    }
    const bool loads = op.kind == Kind::Load;
    for (size_t e = 0; e < access.elements; ++e)
        places.push_back(
            {access.data[e], static_cast<uint8_t>(access.data_bytes[e] == 8 ? 8 : 4), loads, !loads});
}

}  // namespace

bool places_of(const simt::Program& program, uint32_t i, std::vector<Place>& places) {
    const MicroOp& op = program.code[i];
    places.clear();
    if (op.guard != simt::kNoGuard) places.push_back({op.guard, 0, false, true});
    switch (op.kind) {
        case Kind::Lane: lane_places(program, i, places); return true;
        case Kind::Load:
        case Kind::Store:
        case Kind::Atomic:
            memory_places(program, op, places);
            return !program.accesses[op.target].copy && op.counted;
        case Kind::Barrier:
            places.push_back({op.a, 4, false, true});
            if (op.c & simt::kBarrierThreads) places.push_back({op.b, 4, false, true});
            if (op.c & (simt::kBarrierCount | simt::kBarrierAll | simt::kBarrierAny)) {
                places.push_back({op.e, 0, false, true});
                places.push_back(
                    {op.d, static_cast<uint8_t>(op.c & simt::kBarrierCount ? 4 : 0), true, false});
            }
            return !(op.c & simt::kBarrierGrid);
        case Kind::Converge: places.push_back({op.a, 4, false, true}); return true;
        case Kind::Branch:
        case Kind::Exit:
        case Kind::Trap:
        case Kind::Assert:
        case Kind::Nothing: return true;
        default: return false;
    }
}

Result<Values> Values::of(const simt::Program& program, const Launch& launch) {
    Values values(program, launch);
    values.warps = static_cast<uint32_t>((launch.block.count() + kWarpSize - 1) / kWarpSize);
    if (auto ok = values.collect(); !ok) return ok.error();
    values.find_blocks();
    if (values.blocks.size() * values.registers.size() > kMostWork)
        return Error{"the kernel is too large to be compiled"};
    values.find_live();
    values.fill_pool();
    do values.find_values();
    while (values.find_waiting());
    return values;
}

Result<void> Values::collect() {
    if (program_.code.size() > kMostOps) return Error{"the kernel is too large to be compiled"};
    if (program_.grid_barrier) return Error{"its blocks wait for each other"};
    index_.assign(program_.register_bytes / 4 + 1, -1);
    places_.resize(program_.code.size());
    widenings.resize(program_.code.size());
    ordered.resize(program_.code.size());
    for (uint32_t i = 0; i < program_.code.size(); ++i) {
        if (!places_of(program_, i, places_[i])) return Error{"it holds an instruction that is interpreted"};
        for (const Place& place : places_[i]) {
            if (in_pool(place.ref)) continue;
            int32_t& index = index_[place.ref / 4];
            if (index < 0) {
                index = static_cast<int32_t>(registers.size());
                registers.push_back({place.ref, place.bytes, {}, false, false, {}});
            }
            Register& one = registers[static_cast<size_t>(index)];
            if (one.bytes != place.bytes) return Error{"it uses one register in two sizes"};
            if (place.is_written && (one.writes.empty() || one.writes.back() != i)) one.writes.push_back(i);
        }
    }
    // An atomic that nobody reads and whose operation gives the same in any order may come early.
    std::vector<bool> read(registers.size());
    for (const auto& places : places_)
        for (const Place& place : places)
            if (place.is_read && !in_pool(place.ref)) read[static_cast<size_t>(index_[place.ref / 4])] = true;
    for (uint32_t i = 0; i < program_.code.size(); ++i) {
        const MicroOp& op = program_.code[i];
        if (op.kind == Kind::Barrier && (op.c & simt::kBarrierThreads)) in_turns = true;
        if (op.kind != Kind::Atomic) continue;
        const MemoryAccess& access = program_.accesses[op.target];
        const bool commutes = !access.is_float && access.atomic != ptx::Atomic::Exch &&
                              access.atomic != ptx::Atomic::Cas && access.atomic != ptx::Atomic::Inc &&
                              access.atomic != ptx::Atomic::Dec;
        const bool is_read = read[static_cast<size_t>(index_[access.data[0] / 4])];
        ordered[i] = !commutes || is_read;
        hands_on =
            hands_on || (access.space != StateSpace::Shared && (is_read || (!commutes && !access.is_float)));
        in_turns = in_turns || ordered[i];
    }
    return {};
}

void Values::find_blocks() {
    const size_t n = program_.code.size();
    std::vector<bool> leads(n + 1);
    leads[0] = true;
    for (uint32_t i = 0; i < n; ++i) {
        const MicroOp& op = program_.code[i];
        if (op.join) leads[i] = true;
        if (op.kind == Kind::Branch) {
            leads[op.target] = true;
            if (op.reconverge != simt::kNoPc) leads[op.reconverge] = true;
        }
        if (op.kind == Kind::Branch || op.kind == Kind::Exit || op.kind == Kind::Barrier) leads[i + 1] = true;
        if (ordered[i]) leads[i] = true;  // where the warp goes on
    }
    block_of_.resize(n);
    for (uint32_t i = 0; i < n; ++i) {
        if (leads[i]) blocks.push_back({i, i, {}, {}, false, false});
        block_of_[i] = static_cast<uint32_t>(blocks.size() - 1);
        blocks.back().end = i + 1;
    }
    for (BasicBlock& block : blocks) {
        const MicroOp& last = program_.code[block.end - 1];
        const bool goes_on = block.end < n;
        const bool always = last.guard == simt::kNoGuard;
        if (last.kind == Kind::Branch) block.next.push_back(block_of_[last.target]);
        if ((last.kind != Kind::Branch && last.kind != Kind::Exit) || !always)
            if (goes_on) block.next.push_back(block_of_[block.end]);
    }
}

void Values::find_live() {
    const size_t n = registers.size();
    std::vector<std::vector<bool>> reads(blocks.size()), writes(blocks.size());
    for (size_t b = 0; b < blocks.size(); ++b) {
        reads[b].resize(n), writes[b].resize(n), blocks[b].live.resize(n);
        for (uint32_t i = blocks[b].first; i < blocks[b].end; ++i) {
            for (const Place& place : places_[i]) {
                if (in_pool(place.ref) || !place.is_read) continue;
                const auto r = static_cast<size_t>(index_[place.ref / 4]);
                if (!writes[b][r]) reads[b][r] = true;
            }
            // A write under a guard leaves what other lanes hold.
            if (program_.code[i].guard != simt::kNoGuard) continue;
            for (const Place& place : places_[i])
                if (place.is_written) writes[b][static_cast<size_t>(index_[place.ref / 4])] = true;
        }
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t b = blocks.size(); b-- > 0;)
            for (size_t r = 0; r < n; ++r) {
                if (blocks[b].live[r]) continue;
                bool live = reads[b][r];
                for (size_t k = 0; !live && !writes[b][r] && k < blocks[b].next.size(); ++k)
                    live = blocks[blocks[b].next[k]].live[r];
                if (live) blocks[b].live[r] = changed = true;
            }
    }
    for (size_t r = 0; r < n; ++r) registers[r].read_before_written = blocks[0].live[r];
}

// The constants, as values.
void Values::fill_pool() {
    std::vector<uint64_t> store(program_.pool_bytes / sizeof(uint64_t) + 1);
    auto* const bytes = reinterpret_cast<std::byte*>(store.data());
    simt::fill_pool(program_, launch_, bytes);
    pool_.resize(program_.pool_bytes / simt::kColumnBytes + 1);
    shape_with(std::vector<int64_t>(size_t{warps} * kWarpSize), 8);
    for (const PoolColumn& column : program_.pool) {
        Value& value = pool_[column.offset / simt::kColumnBytes];
        value = {Level::Affine, 0, -1};
        if (column.kind == PoolColumn::Kind::Ctaid) continue;
        std::vector<uint64_t> table(shapes[0].size());
        for (size_t k = 0; k < table.size(); ++k) {
            const std::byte* const at = bytes + column.offset;
            const size_t lane = k % kWarpSize;
            table[k] = column.bytes == 8   ? reinterpret_cast<const uint64_t*>(at)[lane]
                       : column.bytes == 4 ? reinterpret_cast<const uint32_t*>(at)[lane]
                                           : *reinterpret_cast<const uint32_t*>(at);
        }
        value = tabled(std::move(table), column.bytes);
    }
    pool_tables_ = tables.size();
}

uint32_t Values::shape_with(std::vector<int64_t> differences, uint8_t bytes) {
    if (bytes == 4)
        for (int64_t& d : differences) d = static_cast<int32_t>(d);
    uint64_t hash = 0xCBF2'9CE4'8422'2325;  // FNV-1a, by words
    for (const int64_t d : differences) hash = (hash ^ static_cast<uint64_t>(d)) * 0x100'0000'01B3;
    std::vector<uint32_t>& alike = shapes_by_hash_[hash];
    for (const uint32_t one : alike)
        if (shapes[one] == differences) return one;
    const auto at = static_cast<uint32_t>(shapes.size());
    shapes.push_back(std::move(differences));
    alike.push_back(at);
    return at;
}

// Of a predicate, every entry of a warp is its word.
Value Values::tabled(std::vector<uint64_t> table, uint8_t bytes) {
    Value value{Level::Known, 0, -1};
    if (bytes == 0) {
        const uint64_t threads = launch_.block.count();
        for (uint32_t w = 0; w < warps; ++w) {
            const uint64_t lanes = std::min<uint64_t>(kWarpSize, threads - uint64_t{w} * kWarpSize);
            const uint32_t all = lanes == kWarpSize ? ~0u : (1u << lanes) - 1;
            const uint32_t bits = static_cast<uint32_t>(table[size_t{w} * kWarpSize]) & all;
            if (bits != 0 && bits != all) value.shape = 1;  // lanes differ
            for (size_t lane = 0; lane < kWarpSize; ++lane)
                table[size_t{w} * kWarpSize + lane] = bits == all ? ~0u : bits;
        }
    } else {
        std::vector<int64_t> differences(table.size());
        for (size_t k = 0; k < table.size(); ++k)
            differences[k] = static_cast<int64_t>(table[k] - table[k / kWarpSize * kWarpSize]);
        value.shape = shape_with(std::move(differences), bytes);
    }
    value.table = static_cast<int32_t>(tables.size());
    tables.push_back(std::move(table));
    return value;
}

Value Values::value(Ref ref) const {
    return in_pool(ref) ? pool_[(ref & ~1u) / simt::kColumnBytes] : reg(ref).value;
}

std::optional<uint64_t> Values::constant(Ref ref) const {
    const Value one = value(ref);
    if (!one.known()) return {};
    const std::vector<uint64_t>& all = tables[static_cast<size_t>(one.table)];
    for (const uint64_t number : all)
        if (number != all[0]) return {};
    return all[0];
}

// From what its registers are at the outset (nothing is known of them, so that everything may be) down to what all of
// their writes give.
void Values::find_values() {
    for (Register& one : registers) {
        one.value = {};
        if (one.read_before_written) one.value = {Level::Affine, 0, -1};  // registers begin as zero
        if (one.waits) one.value = {Level::Varying, 0, -1};
    }
    for (auto& list : widenings) list.clear();
    tables.resize(pool_tables_);
    for (size_t k = 0; k < 3; ++k)
        if (program_.tid[k] != UINT32_MAX && index_[program_.tid[k] / 4] >= 0) {
            std::vector<uint64_t> table(size_t{warps} * kWarpSize);
            for (size_t thread = 0; thread < table.size(); ++thread) {
                const Dim3& size = launch_.block;
                const uint64_t at[3] = {thread % size.x, thread / size.x % size.y, thread / size.x / size.y};
                table[thread] = at[k];
            }
            registers[index_of(program_.tid[k])].value = tabled(std::move(table), 4);
        }
    if (program_.warp_id != UINT32_MAX && index_[program_.warp_id / 4] >= 0) {
        std::vector<uint64_t> table(size_t{warps} * kWarpSize);
        for (size_t thread = 0; thread < table.size(); ++thread) table[thread] = thread / kWarpSize;
        registers[index_of(program_.warp_id)].value = tabled(std::move(table), 4);
    }
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 0; i < program_.code.size(); ++i)
            for (const Place& place : places_[i]) {
                if (!place.is_written) continue;
                Register& to = registers[index_of(place.ref)];
                if (to.value.varying()) continue;
                Value made = result(i, place);
                if (made.level == Level::Unset) continue;
                const bool alone = to.writes.size() == 1 && !to.read_before_written;
                if (made.known() && !alone) {
                    // A register that begins as zero holds that, too.
                    if (place.bytes == 0 && made.shape != 0) made = {Level::Varying, 0, -1};
                    if (made.known()) made = {Level::Affine, made.shape, -1};
                }
                if (to.read_before_written && made.shape != 0) made = {Level::Varying, 0, -1};
                if (place.bytes == 0 && made.level == Level::Affine && made.shape != 0)
                    made = {Level::Varying, 0, -1};
                if (to.value.level != Level::Unset && to.value.shape != made.shape)
                    made = {Level::Varying, 0, -1};
                if (to.value.level == made.level && to.value.shape == made.shape) continue;
                if (to.value.level == Level::Known && made.known()) continue;
                to.value = made;
                changed = true;
            }
    }
    // What nothing was found of is never reached, or goes round in a circle of zeros.
    for (Register& one : registers)
        if (one.value.level == Level::Unset) one.value = {Level::Affine, 0, -1};
    for (BasicBlock& block : blocks) block.divergent = splits(block.end - 1);
}

bool Values::splits(uint32_t i) const {
    const MicroOp& op = program_.code[i];
    return op.kind == Kind::Branch && op.guard != simt::kNoGuard && !value(op.guard).uniform();
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
        const bool follows = i > 0 && program_.code[i - 1].kind == Kind::Converge && program_.code[i - 1].c;
        return follows || !is_own(program_.lanes[i].does) ? varying : lane_result(i, to);
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

// Differences of a product of which one factor is a constant, or both are known; empty where it has none. 32 bits make
// 64 where it is a wide one.
std::vector<int64_t> Values::scaled(Ref a, Ref b, uint32_t i) {
    const ptx::Operation& does = program_.lanes[i].does;
    const bool wide = does.half == Half::Wide, keeps_sign = is_signed(does.type);
    const auto number = [&](uint64_t bits) {
        return wide && keeps_sign ? int64_t{static_cast<int32_t>(bits)} : static_cast<int64_t>(bits);
    };
    std::vector<int64_t> made(shapes[0].size());
    const Value x = value(a), y = value(b);
    if (x.varying() || y.varying()) return {};
    if (x.known() && y.known()) {
        const auto &s = tables[static_cast<size_t>(x.table)], &t = tables[static_cast<size_t>(y.table)];
        const auto product = [&](size_t k) {
            return static_cast<uint64_t>(number(s[k])) * static_cast<uint64_t>(number(t[k]));
        };
        for (size_t k = 0; k < made.size(); ++k)
            made[k] = static_cast<int64_t>(product(k) - product(k / kWarpSize * kWarpSize));
        return made;
    }
    const auto factor = constant(a) ? constant(a) : constant(b);
    const Value other = constant(a) ? y : x;
    if (!factor || !(constant(a) || constant(b))) {
        return x.uniform() && y.uniform() ? made : std::vector<int64_t>{};
    }
    const auto& differences = shapes[other.shape];
    for (size_t k = 0; k < made.size(); ++k)
        made[k] = static_cast<int64_t>(static_cast<uint64_t>(differences[k]) *
                                       static_cast<uint64_t>(number(*factor)));
    if (wide && other.shape != 0 && !other.known()) widenings[i].push_back({constant(a) ? b : a, keeps_sign});
    return made;
}

// Whether `low` is known, and less than the lowest bit that `high`, which was shifted, can have.
bool Values::apart(Ref high, Ref low) const {
    const Value small = value(low);
    if (!small.known() || in_pool(high) || reg(high).writes.size() != 1) return false;
    const uint32_t made = reg(high).writes[0];
    const MicroOp& op = program_.code[made];
    if (op.kind != Kind::Lane || program_.lanes[made].does.op != Op::Shl) return false;
    const auto by = constant(op.b);
    return by && *by < 64 &&
           std::ranges::all_of(tables[static_cast<size_t>(small.table)],
                               [&](uint64_t number) { return number >> *by == 0; });
}

Value Values::affine(uint32_t i, uint8_t bytes) {
    const MicroOp& op = program_.code[i];
    const ptx::Operation& does = program_.lanes[i].does;
    const Value varying{Level::Varying, 0, -1};
    widenings[i].clear();
    if (native_name(does).empty() || (is_float(does.type) && does.op != Op::Mov && does.op != Op::Selp))
        return varying;
    const auto of = [&](Ref ref) { return value(ref); };
    const auto made = [&](std::vector<int64_t> differences) {
        return Value{Level::Affine, shape_with(std::move(differences), bytes), -1};
    };
    const auto sum = [&](const std::vector<int64_t>& x, const std::vector<int64_t>& y, uint64_t sign) {
        std::vector<int64_t> r(x.size());
        for (size_t k = 0; k < r.size(); ++k)
            r[k] = static_cast<int64_t>(static_cast<uint64_t>(x[k]) + sign * static_cast<uint64_t>(y[k]));
        return made(std::move(r));
    };
    switch (does.op) {
        case Op::Mov: return of(op.a).varying() ? varying : Value{Level::Affine, of(op.a).shape, -1};
        case Op::Add:
        case Op::Sub:
            if (of(op.a).varying() || of(op.b).varying()) return varying;
            return sum(shapes[of(op.a).shape], shapes[of(op.b).shape], does.op == Op::Add ? 1 : ~uint64_t{0});
        case Op::Or:  // of bits that do not meet it is a sum
            if (of(op.a).varying() || of(op.b).varying() || !(apart(op.a, op.b) || apart(op.b, op.a)))
                return varying;
            return sum(shapes[of(op.a).shape], shapes[of(op.b).shape], 1);
        case Op::Neg:
            return of(op.a).varying() ? varying : sum(shapes[0], shapes[of(op.a).shape], ~uint64_t{0});
        case Op::Shl: {
            const auto by = constant(op.b);
            if (of(op.a).varying() || !by || *by >= 8u * bytes) return varying;
            std::vector<int64_t> r = shapes[of(op.a).shape];
            for (int64_t& d : r) d = static_cast<int64_t>(static_cast<uint64_t>(d) << *by);
            return made(std::move(r));
        }
        case Op::Mul:
        case Op::Mad: {
            if (does.half == Half::Hi) return varying;
            const std::vector<int64_t> product = scaled(op.a, op.b, i);
            if (product.empty()) return varying;
            if (does.op == Op::Mul) return made(product);
            return of(op.c).varying() ? varying : sum(product, shapes[of(op.c).shape], 1);
        }
        case Op::Cvt: {
            const Value from = of(op.a);
            const int wide = size_of(does.type), narrow = size_of(does.type2);
            if (from.varying() || is_float(does.type2) || wide < 4 || narrow < 4) return varying;
            if (wide > narrow && from.shape != 0) {
                // Of what is known, the differences of 64 bits are known, too; else they must not wrap.
                if (!from.known()) widenings[i].push_back({op.a, is_signed(does.type2)});
                if (from.known()) {
                    std::vector<int64_t> r(shapes[0].size());
                    const auto& t = tables[static_cast<size_t>(from.table)];
                    const auto wider = [&](uint64_t x) {
                        return is_signed(does.type2) ? int64_t{static_cast<int32_t>(x)}
                                                     : static_cast<int64_t>(x);
                    };
                    for (size_t k = 0; k < r.size(); ++k)
                        r[k] = wider(t[k]) - wider(t[k / kWarpSize * kWarpSize]);
                    return made(std::move(r));
                }
            }
            return made(shapes[from.shape]);
        }
        case Op::Selp: {
            const Value x = of(op.a), y = of(op.b);
            if (!of(op.c).uniform() || x.varying() || y.varying() || x.shape != y.shape) return varying;
            return {Level::Affine, x.shape, -1};
        }
        default: return varying;
    }
}

// Blocks on a path from one to another that lies behind it, without that.
std::vector<bool> Values::reached(uint32_t from, uint32_t until) const {
    std::vector<bool> seen(blocks.size());
    std::vector<uint32_t> open;
    if (from != until) open.push_back(from);
    while (!open.empty()) {
        const uint32_t at = open.back();
        open.pop_back();
        if (seen[at]) continue;
        seen[at] = true;
        for (const uint32_t next : blocks[at].next)
            if (next != until) open.push_back(next);
    }
    return seen;
}

// Registers that waiting lanes hold while others of their warp write them. True where there are new ones.
bool Values::find_waiting() {
    bool found = false;
    const auto mark = [&](const std::vector<bool>& region, const std::vector<bool>& held) {
        for (size_t r = 0; r < registers.size(); ++r) {
            if (registers[r].waits || !held[r]) continue;
            for (const uint32_t i : registers[r].writes)
                if (region[block_of_[i]]) {
                    registers[r].waits = true;
                    found = found || !registers[r].value.varying();
                    break;
                }
        }
    };
    for (const BasicBlock& block : blocks) {
        if (!block.divergent) continue;
        const uint32_t last = block.end - 1;
        const MicroOp& op = program_.code[last];
        const uint32_t target = block_of_[op.target], none = static_cast<uint32_t>(blocks.size());
        const uint32_t join = op.reconverge == simt::kNoPc ? none : block_of_[op.reconverge];
        const uint32_t through = last + 1 < program_.code.size() ? block_of_[last + 1] : none;
        std::vector<bool> first(blocks.size());
        if (through != none) first = reached(through, join);
        if (target != join) mark(first, blocks[target].live);
        if (join == none) continue;
        const std::vector<bool> second = reached(target, join);
        for (size_t b = 0; b < first.size(); ++b) first[b] = first[b] || second[b];
        mark(first, blocks[join].live);
    }
    return found;
}

}  // namespace tilescope::compiled
