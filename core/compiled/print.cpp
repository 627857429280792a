#include "core/compiled/print.h"

#include <algorithm>

#include "core/compiled/printer.h"

namespace tilescope::compiled {

using ptx::Op;
using simt::PoolColumn;

std::string Printer::constant_of(Ref ref, uint8_t bytes) {
    const auto known = constants_.find({ref, bytes});
    if (known != constants_.end()) return known->second;
    const Value value = values_.value(ref);
    std::string name;
    for (const PoolColumn& column : program_.pool) {
        if (column.offset != (ref & ~1u)) continue;
        if (column.kind == PoolColumn::Kind::Ctaid) {
            name = fmt::format("(u{})b{}", 8 * bytes, column.index);
        } else if (column.kind == PoolColumn::Kind::Immediate) {
            name = bytes == 0   ? fmt::format("{:#x}u", static_cast<uint32_t>(column.bits))
                   : bytes == 4 ? fmt::format("{:#x}u", static_cast<uint32_t>(column.bits))
                                : fmt::format("(u64){:#x}ull", column.bits);
        } else {
            name = fmt::format("c{}", ref);
            head_ += fmt::format("    const u{} {} = (u{})w->firsts[{}];\n", 8 * bytes, name, 8 * bytes,
                                 made_.firsts.size());
            made_.firsts.push_back(value.table);
        }
        break;
    }
    return constants_[{ref, bytes}] = name;
}

// What it is in all lanes, or in the first one.
std::string Printer::scalar(Ref ref, uint8_t bytes) {
    if (in_pool(ref)) return constant_of(ref, bytes);
    return values_.value(ref).varying() ? fmt::format("v{}[0]", ref) : fmt::format("s{}", ref);
}

std::string Printer::column(Ref ref, uint8_t bytes, bool any_nan) {
    const Value value = values_.value(ref);
    if (value.varying()) {
        const bool made = any_nan_[values_.index_of(ref)];
        return made && !any_nan ? fmt::format("f_canonical(v{})", ref) : fmt::format("v{}", ref);
    }
    if (value.shape == 0) return fmt::format("splat{}({})", 8 * bytes, scalar(ref, bytes));
    return fmt::format("along{}({}, sh + {})", 8 * bytes, scalar(ref, bytes), value.shape);
}

std::string Printer::bits(Ref ref) { return in_pool(ref) ? constant_of(ref, 0) : fmt::format("p{}", ref); }

std::string Printer::operand(const Place& place, bool as_column, bool any_nan) {
    if (place.bytes == 0) return bits(place.ref);
    return as_column ? column(place.ref, place.bytes, any_nan) : scalar(place.ref, place.bytes);
}

std::string Printer::mask_of(const MicroOp& op, bool whole) const {
    const std::string all = whole ? "~0u" : "m";
    if (op.guard == simt::kNoGuard) return all;
    return fmt::format("({} & {}p{})", all, op.guard_negated ? "~" : "", op.guard);
}

void Printer::assign(const Place& to, const std::string& value, bool everywhere, const std::string& mask,
                     bool any_nan) {
    const Register& reg = values_.reg(to.ref);
    const bool keep = !everywhere && (reg.held || mask != "m");
    if (to.bytes == 0) {
        if (reg.value.varying() && keep)
            put("p{0} = (p{0} & ~{1}) | ({2} & {1});\n", to.ref, mask, value);
        else
            put("p{} = {};\n", to.ref, value);
        return;
    }
    if (!reg.value.varying()) return put("s{} = {};\n", to.ref, value);
    const std::string seen =
        any_nan && !any_nan_[values_.index_of(to.ref)] ? fmt::format("f_canonical({})", value) : value;
    if (keep)
        put("v{0} = v_keep{1}({2}, {3}, v{0});\n", to.ref, 8 * to.bytes, mask, seen);
    else
        put("v{} = {};\n", to.ref, seen);
}

void Printer::one(uint32_t i, bool whole) {
    const MicroOp& op = program_.code[i];
    const std::string mask = mask_of(op, whole);
    const bool alike = op.guard == simt::kNoGuard || values_.value(op.guard).uniform();
    switch (op.kind) {
        case Kind::Lane: {
            const bool conditional = op.guard != simt::kNoGuard && alike;
            if (conditional) put("if ({}p{}) {{\n", op.guard_negated ? "!" : "", op.guard);
            if (follows_converge(program_, i) && program_.lanes[i].does.op == Op::Shfl)
                shuffle(i);
            else
                lane(i, whole, mask);
            if (conditional) put("}}\n");
            break;
        }
        case Kind::Load:
        case Kind::Store:
        case Kind::Atomic: access(i, whole, mask); break;
        case Kind::Barrier: barrier(i); break;
        case Kind::Branch: branch(i); break;
        case Kind::Exit: leave(i); break;
        case Kind::Trap:
        case Kind::Assert: put("if ({}) goto give_up;\n", mask); break;
        case Kind::Converge: converge(i, whole); break;
        default: break;
    }
}

void Printer::block(uint32_t b) {
    const BasicBlock& block = values_.blocks[b];
    put("L{}:;\n", block.first);
    const auto ends_here = [&](const MicroOp& op) {
        return op.kind == Kind::Branch && op.reconverge == block.first &&
               values_.blocks[values_.block_of(static_cast<uint32_t>(&op - program_.code.data()))].divergent;
    };
    if (std::ranges::any_of(program_.code, ends_here)) {
        put("if (join == {0}u) {{\n--depth;\nm = w->stack[depth].mask; join = w->stack[depth].join;\n"
            "const u32 pc = w->stack[depth].pc;\nif (pc == {0}u) goto L{0};\n",
            block.first);
        std::vector<uint32_t> targets;
        for (const MicroOp& op : program_.code)
            if (ends_here(op) && op.target != block.first) targets.push_back(op.target);
        std::ranges::sort(targets);
        targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
        for (const uint32_t target : targets) put("if (pc == {0}u) goto L{0};\n", target);
        put("goto give_up;\n}}\n");
    }
    uint64_t counted = 0;
    bool quick = false;
    for (uint32_t i = block.first; i < block.end; ++i) {
        const MicroOp& op = program_.code[i];
        counted += op.counted || op.kind == Kind::Branch || op.kind == Kind::Exit;
        quick = quick || group_of_[i] >= 0;
    }
    if (counted > 0) put("count += {};\n", counted);
    if (values_.ordered[block.first]) stop_before(block.first);
    // What ends the block follows both of its versions.
    const Kind last = program_.code[block.end - 1].kind;
    const bool ends = last == Kind::Branch || last == Kind::Exit || last == Kind::Barrier;
    const uint32_t end = block.end - (ends ? 1 : 0);
    const auto part = [&](bool whole) {
        for (uint32_t i = block.first; i < end; ++i) one(i, whole);
    };
    if (quick) {
        put("if (likely(m == ~0u)) {{\n");
        part(true);
        put("}} else {{\n");
        part(false);
        put("}}\n");
    } else {
        part(false);
    }
    if (ends) one(end, false);
}

Printed Printer::print() {
    find_any_nans();
    find_groups();
    find_fours();
    uint32_t at = 0;
    for (const Register& reg : values_.registers) {
        save_at_.push_back(at);
        at += reg.bytes == 8 ? 256 : 128;
    }
    made_.saved_bytes = at;
    for (uint32_t b = 0; b < values_.blocks.size(); ++b) block(b);
    // Where lanes go on when the running ones have exited.
    std::vector<uint32_t> waiting;
    for (const MicroOp& op : program_.code)
        if (op.kind == Kind::Branch)
            for (const uint32_t pc : {op.target, op.reconverge})
                if (pc != simt::kNoPc) waiting.push_back(pc);
    std::ranges::sort(waiting);
    waiting.erase(std::unique(waiting.begin(), waiting.end()), waiting.end());
    put("dispatch:\n--depth;\nm = w->stack[depth].mask; join = w->stack[depth].join;\nswitch "
        "(w->stack[depth].pc) {{\n");
    for (const uint32_t pc : waiting) put("case {0}: goto L{0};\n", pc);
    put("default: goto give_up;\n}}\n");
    put("give_up:\nreturn kGivenUp;\n}}\n");

    std::string declared;
    for (const Register& reg : values_.registers) {
        if (reg.value.known()) {
            if (reg.bytes == 0) {
                declared +=
                    fmt::format("    const u32 p{} = w->predicates[{}];\n", reg.ref, made_.predicates.size());
                made_.predicates.push_back(reg.value.table);
            } else {
                declared += fmt::format("    const u{0} s{1} = (u{0})w->firsts[{2}];\n", 8 * reg.bytes,
                                        reg.ref, made_.firsts.size());
                made_.firsts.push_back(reg.value.table);
            }
        } else if (reg.bytes == 0) {
            declared += fmt::format("    u32 p{} = 0;\n", reg.ref);
        } else if (reg.value.varying()) {
            declared += fmt::format("    V{} v{} = {{}};\n", 8 * reg.bytes, reg.ref);
        } else {
            declared += fmt::format("    u{} s{} = 0;\n", 8 * reg.bytes, reg.ref);
        }
    }
    for (const auto& [offset, used] : offsets_)
        declared += fmt::format("    const s64 o{0}_{1} = sh[{0}].lane[{2}];\n", offset.first, offset.second,
                                8 * offset.second);
    made_.text = fmt::format(
        "__attribute__((visibility(\"default\"))) int run(struct Context* const cx, struct Warp* const w) "
        "{{\n"
        "    const struct Shape* const sh = w->shapes;\n"
        "    const u32 b0 = cx->block[0], b1 = cx->block[1], b2 = cx->block[2];\n"
        "{}{}"
        "    u32 alive = w->alive, m = w->mask, join = w->join, depth = w->depth;\n"
        "    u64 count = w->count, turns = w->turns;\n"
        "    switch (w->resume) {{\n"
        "{}"
        "default: break;\n}}\n{}",
        head_, declared, resumes_, text_);
    return std::move(made_);
}

Printed print(const simt::Program& program, const Values& values) { return Printer(program, values).print(); }

}  // namespace tilescope::compiled
