#include <algorithm>

#include "core/compiled/native.h"
#include "core/compiled/printer.h"
#include "core/ptx/exchange.h"
#include "core/ptx/ops.h"

namespace tilescope::compiled {

using ptx::Op;
using ptx::Type;

namespace {

std::string converted(const std::string& from, const ptx::Operation& does, bool as_column) {
    const char p = as_column ? 'v' : 'u';
    const int a = 8 * size_of(does.type2), d = 8 * size_of(does.type);
    const bool from_signed = is_signed(does.type2);
    std::string x = from;
    if (a < 32) x = fmt::format("{}_{}{}_32({})", p, from_signed ? "sign" : "low", a, x);
    if (d == 64 && a < 64) x = fmt::format("{}_{}({})", p, from_signed ? "sext" : "zext", x);
    if (d < 64 && a == 64) x = fmt::format("{}_cut({})", p, x);
    if (d < 32) x = fmt::format("{}_low{}_32({})", p, d, x);
    return x;
}

}  // namespace

std::string Printer::lane_expression(uint32_t i, bool as_column) {
    const ptx::Operation& does = program_.lanes[i].does;
    const std::string name = native_name(does);
    const bool moved = does.op == Op::Mov && as_column && does.type != Type::Pred &&
                       values_.reg(program_.code[i].d).value.varying() &&
                       any_nan_[values_.index_of(program_.code[i].d)];
    const bool any_nan = moved || takes_any_nan(does);
    std::vector<std::string> from;
    for (const Place& place : values_.places(i)) {
        if (!place.is_read || (place.bytes == 0 && &place == &values_.places(i).front() &&
                               program_.code[i].guard != simt::kNoGuard))
            continue;
        from.push_back(operand(place, as_column, any_nan));
    }
    if (name == "cvt") return converted(from[0], does, as_column);
    if (name == "and_p") return fmt::format("({} & {})", from[0], from[1]);
    if (name == "or_p") return fmt::format("({} | {})", from[0], from[1]);
    if (name == "xor_p") return fmt::format("({} ^ {})", from[0], from[1]);
    if (name == "not_p") return fmt::format("~{}", from[0]);
    if (name == "mov_p") return from[0];
    return fmt::format("{}_{}({})", as_column ? 'v' : 'u', name, fmt::join(from, ", "));
}

// Columns whose NaNs are made the one that is seen only where they are seen.
void Printer::find_any_nans() {
    any_nan_.assign(values_.registers.size(), false);
    for (size_t r = 0; r < any_nan_.size(); ++r)
        any_nan_[r] = values_.registers[r].value.varying() && values_.registers[r].bytes == 4;
    const auto gives = [&](uint32_t i) {
        const MicroOp& op = program_.code[i];
        if (op.kind != Kind::Lane) return false;
        const ptx::Operation& does = program_.lanes[i].does;
        if (makes_any_nan(does)) return true;
        if (does.op != Op::Mov) return false;
        if (const auto number = values_.constant(op.a)) return (*number & 0x7FFF'FFFF) <= 0x7F80'0000;
        if (in_pool(op.a)) return false;
        const Register& from = values_.reg(op.a);
        if (from.value.varying()) return static_cast<bool>(any_nan_[values_.index_of(op.a)]);
        return std::ranges::all_of(from.writes, [&](uint32_t w) {
            return program_.code[w].kind == Kind::Lane && makes_any_nan(program_.lanes[w].does);
        });
    };
    for (bool changed = true; changed;) {
        changed = false;
        for (size_t r = 0; r < any_nan_.size(); ++r)
            if (any_nan_[r] && !std::ranges::all_of(values_.registers[r].writes, gives))
                any_nan_[r] = false, changed = true;
    }
}

// 64 bits of a value of 32 that differs from lane to lane: in lanes that take no part it may wrap.
void Printer::widened(uint32_t i, const Place& to, bool everywhere, const std::string& mask) {
    const MicroOp& op = program_.code[i];
    const ptx::Operation& does = program_.lanes[i].does;
    const Widening& wide = values_.widenings[i].front();
    const char sign = wide.is_signed ? 's' : 'u';
    const std::string from = scalar(wide.ref, 4);
    const uint32_t shape = values_.value(wide.ref).shape;
    put("{{\nu64 t = u_{}ext({});\nif (unlikely(!fits_{}({}, sh + {})) && widen({}, sh + {}, {}, {}, &t)) "
        "goto give_up;\n",
        wide.is_signed ? "s" : "z", from, sign, from, shape, from, shape, mask, wide.is_signed ? 1 : 0);
    std::string made = "t";
    if (does.op != Op::Cvt) {
        const Ref factor = op.a == wide.ref ? op.b : op.a;
        made = fmt::format("t * u_{}ext({})", wide.is_signed ? "s" : "z", scalar(factor, 4));
        if (does.op == Op::Mad) made += fmt::format(" + {}", scalar(op.c, 8));
    }
    assign(to, made, everywhere, mask, false);
    put("}}\n");
}

void Printer::lane(uint32_t i, bool whole, const std::string& mask) {
    const MicroOp& op = program_.code[i];
    const ptx::Operation& does = program_.lanes[i].does;
    const Place* to = nullptr;
    for (const Place& place : values_.places(i))
        if (place.is_written && place.ref == op.d) to = &place;
    const Register& reg = values_.reg(to->ref);
    if (reg.value.known()) return;
    const std::string name = native_name(does);
    const bool everywhere = whole && op.guard == simt::kNoGuard;
    if (!reg.value.varying()) {
        if (reg.value.shape != 0 && !values_.widenings[i].empty()) return widened(i, *to, everywhere, mask);
        return assign(*to, lane_expression(i, false), everywhere, mask, false);
    }
    if (name.empty()) return call_lane(i, whole, mask);
    const bool sum64 = does.type == Type::F64 && !has_scalar(does);
    if (!sum64) return assign(*to, lane_expression(i, true), everywhere, mask, makes_any_nan(does));
    // A NaN has a payload, which the interpreter's function chooses.
    put("{{\nconst V64 t = {};\nif (unlikely(has_nan(t))) {{\n", lane_expression(i, true));
    call_lane(i, whole, mask);
    put("}} else {{\n");
    assign(*to, "t", everywhere, mask, false);
    put("}}\n}}\n");
}

// The interpreter's own function, on columns in memory.
void Printer::call_lane(uint32_t i, bool whole, const std::string& mask) {
    const MicroOp& op = program_.code[i];
    std::string names[5] = {"0", "0", "0", "0", "0"};
    put("{{\n");
    std::vector<std::pair<Place, std::string>> results;
    const bool everywhere = whole && op.guard == simt::kNoGuard;
    bool guard = op.guard != simt::kNoGuard;
    size_t source = 2;
    for (const Place& place : values_.places(i)) {
        if (guard) {
            guard = false;
            continue;
        }
        // Written: d, then e. Read: a, b, c, then e.
        const size_t k = place.is_written ? (results.empty() ? 0u : 1u) : (source == 5 ? 1u : source++);
        const std::string name = fmt::format("t{}", k);
        if (place.bytes == 0) {
            put("u32 {} = {};\n", name, place.is_written ? fmt::format("p{}", place.ref) : bits(place.ref));
        } else if (place.is_written) {
            put("V{} {}{};\n", 8 * place.bytes, name, everywhere ? "" : fmt::format(" = v{}", place.ref));
        } else {
            put("const V{} {} = {};\n", 8 * place.bytes, name, column(place.ref, place.bytes));
        }
        if (place.is_written) results.emplace_back(place, name);
        names[k] = "(void*)&" + name;
    }
    put("cx->lanes[{}]({}, {});\n", 2 * i + (everywhere ? 0 : 1), fmt::join(names, ", "), mask);
    for (const auto& [place, name] : results) {
        if (place.bytes == 0)
            put("p{} = {};\n", place.ref, name);
        else if (values_.reg(place.ref).value.varying())
            put("v{} = {};\n", place.ref, name);
    }
    put("}}\n");
}

// A shuffle whose sources are known: a whole warp.
void Printer::shuffle(uint32_t i) {
    const MicroOp& op = program_.code[i];
    const auto b = values_.constant(op.b), c = values_.constant(op.c);
    if (!b || !c || op.guard != simt::kNoGuard) return call_lane(i, true, mask_of(op, true));
    const ptx::Exchange how = ptx::exchange_of(program_.lanes[i].does);
    std::vector<uint32_t> from;
    uint32_t inside = 0;
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
        const uint32_t source =
            ptx::shuffle_source(how, lane, static_cast<uint32_t>(*b), static_cast<uint32_t>(*c));
        const bool in = source < kWarpSize;
        from.push_back(in ? source : lane);
        inside |= in ? 1u << lane : 0u;
    }
    const std::string a = column(op.a, 4);
    put("{{\nconst V32 t = {};\nv{} = __builtin_shufflevector(t, t, {});\np{} = {:#x}u;\n}}\n", a, op.d,
        fmt::join(from, ", "), op.e, inside);
}

void Printer::converge(uint32_t i, bool whole) {
    const MicroOp& op = program_.code[i];
    const std::string mask = mask_of(op, whole);
    const bool lane_follows = op.c != 0;
    const bool shuffles = lane_follows && program_.lanes[i + 1].does.op == Op::Shfl;
    if (!whole || op.guard != simt::kNoGuard) {
        put("if ({}) {{\n", mask);
        if (shuffles || !values_.value(op.a).uniform())
            put("if ({} != ~0u) goto give_up;\n", mask);
        else
            put("if ({} & alive & ~{}) goto give_up;\n", scalar(op.a, 4), mask);
        put("}}\n");
    }
    if (op.target != simt::kNoSite && values_.in_turns) put("if ({}) ++turns;\n", mask);
}

}  // namespace tilescope::compiled
