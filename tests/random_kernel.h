// Random kernels that are valid and have one right result, whatever the order of warps and blocks: branches,
// loops, shared memory between barriers, and atomic operations on integers.
//
//   top level    segment  barrier  segment  barrier ... segment
//   segment      statements on a thread's own variables; one store to its own shared cell at its end; loads
//                of others' cells only after a barrier that no store follows before the next one
//   atomics      each counter is changed by operations of one kind, whose order does not matter, and is read
//                by nobody
//
// The kernel is kept as a tree. emit() writes it as PTX; evaluate() runs the tree thread by thread, which is
// the slow and obvious twin of what an engine does with the PTX.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace tilescope::test {

class RandomKernel {
public:
    static constexpr uint32_t kVariables = 6, kCounters = 24, kInputs = 257;

    explicit RandomKernel(uint64_t seed) : random_(seed) {
        constexpr std::array<uint32_t, 6> kThreads{1, 7, 32, 33, 96, 128};
        threads_ = kThreads[below(6)];
        blocks_ = 1 + below(4);
        const uint32_t segments = 1 + below(4);
        for (uint32_t i = 0; i < segments; ++i) {
            loads_shared_ = i % 2 == 1;  // segment 0 stores, 1 loads, 2 stores again ...
            segments_.push_back(statements(2, 3 + below(5)));
            stored_.push_back(expression(2));
        }
    }

    uint32_t threads() const { return threads_; }
    uint32_t blocks() const { return blocks_; }
    static std::vector<uint32_t> inputs(uint64_t seed) {
        std::mt19937_64 random(seed);
        std::vector<uint32_t> values(kInputs);
        for (uint32_t& value : values) value = static_cast<uint32_t>(random() >> random() % 32);
        return values;
    }
    // Before the launch; of each counter's operation the value that changes nothing would hide a lost update.
    static std::vector<uint32_t> counters() { return std::vector<uint32_t>(kCounters, 0x1234'5678u); }

    // What a thread leaves in out[] and all threads leave in counters[].
    void evaluate(const std::vector<uint32_t>& in, std::vector<uint32_t>& out,
                  std::vector<uint32_t>& counters) const {
        out.assign(uint64_t{threads_} * blocks_, 0);
        for (uint32_t block = 0; block < blocks_; ++block) {
            std::vector<uint32_t> shared(threads_), next;
            std::vector<std::array<uint32_t, kVariables>> variables(threads_);
            for (size_t s = 0; s < segments_.size(); ++s) {
                next = shared;
                for (uint32_t thread = 0; thread < threads_; ++thread) {
                    Thread now{thread, block,   block * threads_ + thread, variables[thread], in,
                               shared, counters};
                    if (s == 0)
                        for (uint32_t v = 0; v < kVariables; ++v) now.variables[v] = now.global + v;
                    run(segments_[s], now);
                    if (s % 2 == 0) next[thread] = value(*stored_[s], now);
                }
                shared = next;
            }
            for (uint32_t thread = 0; thread < threads_; ++thread) {
                uint32_t hash = 0;
                for (const uint32_t v : variables[thread]) hash = hash * 31 + v;
                out[uint64_t{block} * threads_ + thread] = hash;
            }
        }
    }

    // A module with the kernel "random"(in, out, counters).
    std::string emit() const {
        Text text;
        for (size_t s = 0; s < segments_.size(); ++s) {
            emit(segments_[s], text);
            if (s % 2 == 0) {
                const std::string stored = emit(*stored_[s], text);
                text.line("st.shared.u32 [%cell], {};", stored);
            }
            text.line("bar.sync 0;");
        }
        std::string head = R"(.version 7.0
.target sm_70
.address_size 64

.visible .entry random(.param .u64 in, .param .u64 out, .param .u64 counters) {
    .shared .align 4 .b8 cells[512];
)";
        head += fmt::format("    .reg .b32 %t<{}>, %v<{}>, %me, %group, %gid, %cell, %base, %hash;\n",
                            text.registers + 1, kVariables);
        head += fmt::format("    .reg .pred %p<{}>;\n    .reg .b64 %a<{}>, %in, %out, %counters;\n",
                            text.predicates + 1, text.addresses + 1);
        head += R"(    ld.param.u64 %in, [in];
    ld.param.u64 %out, [out];
    ld.param.u64 %counters, [counters];
    cvta.to.global.u64 %in, %in;
    cvta.to.global.u64 %out, %out;
    cvta.to.global.u64 %counters, %counters;
    mov.u32 %me, %tid.x;
    mov.u32 %group, %ctaid.x;
)";
        head += fmt::format("    mad.lo.u32 %gid, %group, {}, %me;\n", threads_);
        head += R"ptx(    mov.u32 %base, cells;
    mad.lo.u32 %cell, %me, 4, %base;
    st.shared.u32 [%cell], 0;
)ptx";
        for (uint32_t v = 0; v < kVariables; ++v) head += fmt::format("    add.u32 %v{}, %gid, {};\n", v, v);
        head += "    bar.sync 0;\n";
        std::string tail = "    mov.u32 %hash, 0;\n";
        for (uint32_t v = 0; v < kVariables; ++v)
            tail += fmt::format("    mad.lo.u32 %hash, %hash, 31, %v{};\n", v);
        tail += "    mad.wide.u32 %a0, %gid, 4, %out;\n    st.global.u32 [%a0], %hash;\n    ret;\n}\n";
        return head + text.body + tail;
    }

private:
    struct Expression {
        enum class Kind : uint8_t {
            Constant,
            Variable,
            Thread,
            Block,
            Global,
            Input,
            Shared,
            Operation,
            Select
        } kind{};
        uint32_t number = 0;  // constant, variable, operation, shift of a shared cell
        std::vector<std::unique_ptr<Expression>> of;
    };
    struct Statement {
        enum class Kind : uint8_t { Set, If, Loop, Atomic } kind{};
        uint32_t number = 0;   // variable, most trips, counter
        bool returns = false;  // atom, not red
        std::unique_ptr<Expression> value;
        std::vector<Statement> inner, otherwise;
    };
    struct Thread {
        uint32_t thread, block, global;
        std::array<uint32_t, kVariables>& variables;
        const std::vector<uint32_t>& in;
        const std::vector<uint32_t>& shared;
        std::vector<uint32_t>& counters;
    };
    struct Text {
        std::string body;
        uint32_t registers = 0, predicates = 0, addresses = 0, labels = 0;
        template <class... Arguments>
        void line(fmt::format_string<Arguments...> form, Arguments&&... arguments) {
            body += "    " + fmt::format(form, std::forward<Arguments>(arguments)...) + "\n";
        }
        std::string fresh() { return fmt::format("%t{}", ++registers); }
        std::string predicate() { return fmt::format("%p{}", ++predicates); }
        std::string address() { return fmt::format("%a{}", ++addresses); }
        std::string label() { return fmt::format("$L{}", ++labels); }
    };

    // Of two or three operands. Shifts and divisors are bounded by what emit() and value() put before them.
    static constexpr uint32_t kOperations = 22;

    uint32_t below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

    std::unique_ptr<Expression> expression(uint32_t depth) {
        using K = Expression::Kind;
        auto made = std::make_unique<Expression>();
        if (depth == 0 || below(4) == 0) {
            constexpr std::array<K, 7> kLeaves{K::Constant, K::Variable, K::Variable, K::Variable,
                                               K::Thread,   K::Block,    K::Global};
            made->kind = kLeaves[below(7)];
            made->number =
                made->kind == K::Variable ? below(kVariables) : static_cast<uint32_t>(random_() >> below(32));
            return made;
        }
        const uint32_t roll = below(10);
        made->kind = roll == 0                    ? K::Input
                     : roll == 1 && loads_shared_ ? K::Shared
                     : roll == 2                  ? K::Select
                                                  : K::Operation;
        made->number = made->kind == K::Shared ? below(threads_) : below(kOperations);
        const uint32_t operands = made->kind == K::Shared   ? 0
                                  : made->kind == K::Input  ? 1
                                  : made->kind == K::Select ? 4
                                                            : 3;
        for (uint32_t i = 0; i < operands; ++i) made->of.push_back(expression(depth - 1));
        return made;
    }

    std::vector<Statement> statements(uint32_t depth, uint32_t count) {
        std::vector<Statement> made(count);
        for (Statement& one : made) {
            const uint32_t roll = below(10);
            one.kind = depth > 0 && roll < 2   ? Statement::Kind::If
                       : depth > 0 && roll < 4 ? Statement::Kind::Loop
                       : roll < 6              ? Statement::Kind::Atomic
                                               : Statement::Kind::Set;
            one.number = one.kind == Statement::Kind::Atomic ? below(kCounters)
                         : one.kind == Statement::Kind::Loop ? 1 + below(5)
                                                             : below(kVariables);
            one.returns = below(2) == 0;
            one.value = expression(3);
            if (one.kind == Statement::Kind::If || one.kind == Statement::Kind::Loop)
                one.inner = statements(depth - 1, 1 + below(3));
            if (one.kind == Statement::Kind::If && below(2) == 0)
                one.otherwise = statements(depth - 1, 1 + below(3));
        }
        return made;
    }

    static uint32_t operate(uint32_t operation, uint32_t a, uint32_t b, uint32_t c) {
        const auto sa = static_cast<int32_t>(a), sb = static_cast<int32_t>(b);
        switch (operation) {
            case 0: return a + b;
            case 1: return a - b;
            case 2: return a * b;
            case 3: return a & b;
            case 4: return a | b;
            case 5: return a ^ b;
            case 6: return a << (b & 31);
            case 7: return a >> (b & 31);
            case 8: return static_cast<uint32_t>(sa >> (b & 31));
            case 9: return std::min(a, b);
            case 10: return std::max(a, b);
            case 11: return static_cast<uint32_t>(std::min(sa, sb));
            case 12: return static_cast<uint32_t>(std::max(sa, sb));
            case 13: return a / (b | 1);
            case 14: return a % (b | 1);
            case 15: return static_cast<uint32_t>(std::popcount(a));
            case 16: return static_cast<uint32_t>(std::countl_zero(a));
            case 17: return a * b + c;
            case 18: return static_cast<uint32_t>(uint64_t{a} * b >> 32);
            case 19: return (a & b) | (~a & c);
            case 20: return ~a;
            default: {
                // Whole numbers below 2^16: products below 2^32, rounded as a float is.
                const float product = static_cast<float>(a & 0xFFFF) * static_cast<float>(b & 0x7FFF);
                return static_cast<uint32_t>(product);
            }
        }
    }

    std::string emit_operation(uint32_t operation, const std::string& a, const std::string& b,
                               const std::string& c, Text& text) const {
        const std::string d = text.fresh();
        const auto plain = [&](const char* name) { text.line("{} {}, {}, {};", name, d, a, b); };
        const auto shift = [&](const char* name) {
            const std::string by = text.fresh();
            text.line("and.b32 {}, {}, 31;", by, b);
            text.line("{} {}, {}, {};", name, d, a, by);
        };
        const auto divide = [&](const char* name) {
            const std::string by = text.fresh();
            text.line("or.b32 {}, {}, 1;", by, b);
            text.line("{} {}, {}, {};", name, d, a, by);
        };
        switch (operation) {
            case 0: plain("add.s32"); break;
            case 1: plain("sub.s32"); break;
            case 2: plain("mul.lo.s32"); break;
            case 3: plain("and.b32"); break;
            case 4: plain("or.b32"); break;
            case 5: plain("xor.b32"); break;
            case 6: shift("shl.b32"); break;
            case 7: shift("shr.u32"); break;
            case 8: shift("shr.s32"); break;
            case 9: plain("min.u32"); break;
            case 10: plain("max.u32"); break;
            case 11: plain("min.s32"); break;
            case 12: plain("max.s32"); break;
            case 13: divide("div.u32"); break;
            case 14: divide("rem.u32"); break;
            case 15: text.line("popc.b32 {}, {};", d, a); break;
            case 16: text.line("clz.b32 {}, {};", d, a); break;
            case 17: text.line("mad.lo.s32 {}, {}, {}, {};", d, a, b, c); break;
            case 18: plain("mul.hi.u32"); break;
            case 19: text.line("lop3.b32 {}, {}, {}, {}, 0xCA;", d, a, b, c); break;
            case 20: text.line("not.b32 {}, {};", d, a); break;
            default: {
                const std::string x = text.fresh(), y = text.fresh();
                text.line("and.b32 {}, {}, 65535;", x, a);
                text.line("and.b32 {}, {}, 32767;", y, b);
                text.line("{{ .reg .f32 %f<3>; cvt.rn.f32.u32 %f0, {}; cvt.rn.f32.u32 %f1, {};", x, y);
                text.line("mul.rn.f32 %f2, %f0, %f1; cvt.rzi.u32.f32 {}, %f2; }}", d);
            }
        }
        return d;
    }

    static uint32_t value(const Expression& e, Thread& now) {
        using K = Expression::Kind;
        switch (e.kind) {
            case K::Constant: return e.number;
            case K::Variable: return now.variables[e.number];
            case K::Thread: return now.thread;
            case K::Block: return now.block;
            case K::Global: return now.global;
            case K::Input: return now.in[value(*e.of[0], now) % kInputs];
            case K::Shared: return now.shared[(now.thread + e.number) % now.shared.size()];
            case K::Select: {
                const uint32_t a = value(*e.of[0], now), b = value(*e.of[1], now), c = value(*e.of[2], now),
                               d = value(*e.of[3], now);
                return a < b ? c : d;
            }
            case K::Operation: break;
        }
        const uint32_t a = value(*e.of[0], now), b = value(*e.of[1], now), c = value(*e.of[2], now);
        return operate(e.number, a, b, c);
    }

    std::string emit(const Expression& e, Text& text) const {
        using K = Expression::Kind;
        const std::string d = e.kind == K::Operation ? "" : text.fresh();
        switch (e.kind) {
            case K::Constant: text.line("mov.u32 {}, {};", d, e.number); return d;
            case K::Variable: text.line("mov.u32 {}, %v{};", d, e.number); return d;
            case K::Thread: return "%me";
            case K::Block: return "%group";
            case K::Global: return "%gid";
            case K::Input: {
                const std::string index = emit(*e.of[0], text), within = text.fresh(), at = text.address();
                text.line("rem.u32 {}, {}, {};", within, index, kInputs);
                text.line("mad.wide.u32 {}, {}, 4, %in;", at, within);
                text.line("ld.global.u32 {}, [{}];", d, at);
                return d;
            }
            case K::Shared: {
                const std::string cell = text.fresh(), within = text.fresh(), at = text.fresh();
                text.line("add.u32 {}, %me, {};", cell, e.number);
                text.line("rem.u32 {}, {}, {};", within, cell, threads_);
                text.line("mad.lo.u32 {}, {}, 4, %base;", at, within);
                text.line("ld.shared.u32 {}, [{}];", d, at);
                return d;
            }
            case K::Select: {
                const std::string a = emit(*e.of[0], text), b = emit(*e.of[1], text),
                                  c = emit(*e.of[2], text), other = emit(*e.of[3], text),
                                  p = text.predicate();
                text.line("setp.lt.u32 {}, {}, {};", p, a, b);
                text.line("selp.b32 {}, {}, {}, {};", d, c, other, p);
                return d;
            }
            case K::Operation: break;
        }
        const std::string a = emit(*e.of[0], text), b = emit(*e.of[1], text), c = emit(*e.of[2], text);
        return emit_operation(e.number, a, b, c, text);
    }

    // Counter i is changed by operation i mod 6.
    static constexpr const char* kAtomics[6] = {"add.u32", "min.u32", "max.s32",
                                                "and.b32", "or.b32",  "xor.b32"};

    static void change(uint32_t& counter, uint32_t how, uint32_t by) {
        switch (how) {
            case 0: counter += by; break;
            case 1: counter = std::min(counter, by); break;
            case 2:
                counter =
                    static_cast<uint32_t>(std::max(static_cast<int32_t>(counter), static_cast<int32_t>(by)));
                break;
            case 3: counter &= by; break;
            case 4: counter |= by; break;
            default: counter ^= by;
        }
    }

    static void run(const std::vector<Statement>& statements, Thread& now) {
        for (const Statement& one : statements) {
            const uint32_t v = value(*one.value, now);
            switch (one.kind) {
                case Statement::Kind::Set: now.variables[one.number] = v; break;
                case Statement::Kind::If: run(v & 1 ? one.inner : one.otherwise, now); break;
                case Statement::Kind::Loop:
                    for (uint32_t i = v % (one.number + 1); i > 0; --i) run(one.inner, now);
                    break;
                case Statement::Kind::Atomic: change(now.counters[one.number], one.number % 6, v); break;
            }
        }
    }

    void emit(const std::vector<Statement>& statements, Text& text) const {
        for (const Statement& one : statements) {
            const std::string v = emit(*one.value, text);
            switch (one.kind) {
                case Statement::Kind::Set: text.line("mov.u32 %v{}, {};", one.number, v); break;
                case Statement::Kind::If: {
                    const std::string bit = text.fresh(), p = text.predicate(), other = text.label(),
                                      end = text.label();
                    text.line("and.b32 {}, {}, 1;", bit, v);
                    text.line("setp.eq.u32 {}, {}, 0;", p, bit);
                    text.line("@{} bra {};", p, other);
                    emit(one.inner, text);
                    text.line("bra {};", end);
                    text.body += other + ":\n";
                    emit(one.otherwise, text);
                    text.body += end + ":\n";
                    break;
                }
                case Statement::Kind::Loop: {
                    const std::string left = text.fresh(), p = text.predicate(), q = text.predicate(),
                                      begin = text.label(), end = text.label();
                    text.line("rem.u32 {}, {}, {};", left, v, one.number + 1);
                    text.line("setp.eq.u32 {}, {}, 0;", q, left);
                    text.line("@{} bra {};", q, end);
                    text.body += begin + ":\n";
                    emit(one.inner, text);
                    text.line("sub.u32 {}, {}, 1;", left, left);
                    text.line("setp.ne.u32 {}, {}, 0;", p, left);
                    text.line("@{} bra {};", p, begin);
                    text.body += end + ":\n";
                    break;
                }
                case Statement::Kind::Atomic:
                    if (one.returns)
                        text.line("atom.global.{} {}, [%counters+{}], {};", kAtomics[one.number % 6],
                                  text.fresh(), 4 * one.number, v);
                    else
                        text.line("red.global.{} [%counters+{}], {};", kAtomics[one.number % 6],
                                  4 * one.number, v);
            }
        }
    }

    std::mt19937_64 random_;
    uint32_t threads_ = 32, blocks_ = 1;
    bool loads_shared_ = false;
    std::vector<std::vector<Statement>> segments_;
    std::vector<std::unique_ptr<Expression>> stored_;  // to the thread's own cell, after an even segment
};

}  // namespace tilescope::test
