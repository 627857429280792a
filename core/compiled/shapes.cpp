// Values whose lanes differ by known numbers: constants, and what affine operations make of such values.
#include <algorithm>

#include "core/compiled/native.h"
#include "core/compiled/values.h"

namespace tilescope::compiled {

using ptx::Half;
using ptx::Op;
using simt::in_pool;
using simt::MicroOp;
using simt::PoolColumn;
using simt::Ref;
using Kind = MicroOp::Kind;
using Level = Value::Level;

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

}  // namespace tilescope::compiled
