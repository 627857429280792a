#include <algorithm>

#include "core/compiled/printer.h"

namespace tilescope::compiled {

std::string Printer::go_to(uint32_t from, uint32_t to) {
    if (to > from) return fmt::format("goto L{};", to);
    const simt::Ref guard = program_.code[from].guard;
    if (guard == simt::kNoGuard || values_.value(guard).uniform()) return pause(to);
    return fmt::format(
        "{{ if (unlikely(count >= cx->limit) && cx->poll(cx, count, depth)) goto give_up; goto L{}; }}", to);
}

// Back to the beginning of a loop; after some instructions the other warps of the block go on first.
std::string Printer::pause(uint32_t to) {
    const std::vector<bool> live = live_at(to);
    ++resume_;
    resumes_ += fmt::format("case {}:\n{}goto L{};\n", resume_, restored(live), to);
    return fmt::format("{{\nif (likely(count < cx->limit)) goto L{};\n{}w->resume = {};\nreturn kPaused;\n}}",
                       to, saved(live), resume_);
}

void Printer::branch(uint32_t i) {
    const MicroOp& op = program_.code[i];
    if (op.guard == simt::kNoGuard) return put("{}\n", go_to(i, op.target));
    const bool always_alike = values_.value(op.guard).uniform();
    if (always_alike)
        return put("if ({}p{}) {}\n", op.guard_negated ? "!" : "", op.guard, go_to(i, op.target));
    const uint32_t join = op.reconverge, through = i + 1;
    put("{{\nconst u32 t = m & {}p{};\n", op.guard_negated ? "~" : "", op.guard);
    put("if (t == m) {}\n", go_to(i, op.target));
    put("if (t != 0) {{\nif (unlikely(depth + 2 > TILESCOPE_MOST_DEPTH)) goto give_up;\n");
    if (join != simt::kNoPc)
        put("if (join != {0}u) {{ w->stack[depth].pc = {0}u; w->stack[depth].join = join; "
            "w->stack[depth].mask = m; ++depth; }}\n",
            join);
    put("join = {}u;\n", join);
    if (op.target != join && through != join) {
        put("w->stack[depth].pc = {}u; w->stack[depth].join = {}u; w->stack[depth].mask = t; ++depth;\n",
            op.target, join);
        put("m &= ~t;\ngoto L{};\n", through);
    } else if (op.target != join) {
        put("m = t;\n{}\n", go_to(i, op.target));
    } else if (through != join) {
        put("m &= ~t;\ngoto L{};\n", through);
    } else {
        put("goto L{};\n", join);
    }
    put("}}\n}}\n");
}

void Printer::leave(uint32_t i) {
    const MicroOp& op = program_.code[i];
    put("{{\nconst u32 t = {};\n", mask_of(op, false));
    if (op.guard != simt::kNoGuard) put("if (t) {{\n");
    put("alive &= ~t;\nif (alive == 0) {{ w->alive = 0; w->count = count; w->turns = turns; return kEnded; "
        "}}\n");
    put("m &= ~t;\nu32 n = 0;\nfor (u32 k = 0; k < depth; ++k) {{\nw->stack[n] = "
        "w->stack[k];\nw->stack[n].mask &= ~t;\n"
        "if (w->stack[n].mask) ++n;\n}}\ndepth = n;\nif (m == 0) goto dispatch;\n");
    if (op.guard != simt::kNoGuard) put("}}\n");
    put("}}\n");
    if (i + 1 < program_.code.size())
        put("goto L{};\n", i + 1);
    else
        put("goto give_up;\n");
}

// Registers that the lanes need that go on there, or those that wait.
std::vector<bool> Printer::live_at(uint32_t i) const {
    std::vector<bool> live = values_.blocks[values_.block_of(i)].live;
    for (const BasicBlock& block : values_.blocks)
        if (block.divergent) {
            const MicroOp& op = program_.code[block.end - 1];
            for (const uint32_t at : {op.target, op.reconverge})
                if (at != simt::kNoPc)
                    for (size_t r = 0; r < live.size(); ++r)
                        live[r] = live[r] || values_.blocks[values_.block_of(at)].live[r];
        }
    return live;
}

// The warp's state and live registers, into Warp or out of it.
std::string Printer::moved(const std::vector<bool>& live, bool saves) {
    std::string text;
    const auto move = [&](const std::string& there, const std::string& here) {
        text += saves ? fmt::format("{} = {};\n", there, here) : fmt::format("{} = {};\n", here, there);
    };
    for (const char* const name : {"alive", "join", "depth", "count", "turns"})
        move(fmt::format("w->{}", name), name);
    move("w->mask", "m");
    for (size_t r = 0; r < live.size(); ++r) {
        const Register& reg = values_.registers[r];
        if (!live[r] || reg.value.known()) continue;
        const std::string type =
            reg.bytes == 0 ? "u32" : fmt::format("{}{}", reg.value.varying() ? 'V' : 'u', 8 * reg.bytes);
        const char letter = reg.bytes == 0 ? 'p' : reg.value.varying() ? 'v' : 's';
        move(fmt::format("*({}*)(w->saved + {})", type, save_at_[r]), fmt::format("{}{}", letter, reg.ref));
    }
    return text;
}

void Printer::barrier(uint32_t i) {
    const MicroOp& op = program_.code[i];
    const uint32_t next = i + 1;
    const bool reduces = (op.c & ~simt::kBarrierThreads) != 0;
    put("{{\nconst u32 t = {};\nif (t) {{\nif (t != alive) goto give_up;\n", mask_of(op, false));
    const auto first = [&](Ref ref) {
        return values_.value(ref).uniform() ? scalar(ref, 4)
                                            : fmt::format("({})[__builtin_ctz(t)]", column(ref, 4));
    };
    put("w->barrier = {};\nw->threads = {};\n", first(op.a),
        op.c & simt::kBarrierThreads ? first(op.b) : "0");
    if (reduces) put("w->votes = {};\n", bits(op.e));
    text_ += saved(values_.blocks[values_.block_of(next)].live);
    ++resume_;
    put("w->event = {};\nw->resume = {};\nreturn kAtBarrier;\n}}\n}}\n", i, resume_);
    put("goto L{};\n", next);
    resumes_ += fmt::format("case {}:\n{}", resume_, restored(values_.blocks[values_.block_of(next)].live));
    if (reduces) {
        const Register& to = values_.reg(op.d);
        if (to.bytes == 0 && to.value.varying())
            resumes_ += fmt::format("p{0} = (p{0} & ~alive) | (w->result & alive);\n", op.d);
        else if (to.bytes == 0)
            resumes_ += fmt::format("p{} = w->result;\n", op.d);
        else if (to.value.varying())
            resumes_ += fmt::format("v{0} = v_keep32(alive, splat32(w->result), v{0});\n", op.d);
        else
            resumes_ += fmt::format("s{} = w->result;\n", op.d);
    }
    resumes_ += fmt::format("goto L{};\n", next);
}

// Before an atomic whose order among the warps matters.
void Printer::stop_before(uint32_t i) {
    const std::vector<bool> live = live_at(i);
    put("if ({}) {{\n", mask_of(program_.code[i], false));
    text_ += saved(live);
    ++resume_;
    put("w->event = {};\nw->resume = {};\nreturn kBeforeAtomic;\n}}\nA{}:;\n", i, resume_, i);
    resumes_ += fmt::format("case {}:\n{}goto A{};\n", resume_, restored(live), i);
}

}  // namespace tilescope::compiled
