// Divergence: random programs, warps in lockstep against one thread at a time.
//
// The twin runs a thread alone, straight through the PTX: no masks, no stack, no reconvergence. Threads
// of these programs touch only memory of their own, so the results must be equal word for word.
#include <functional>
#include <random>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/launches.h"
#include "tests/unit/simt_run.h"

namespace tilescope::simt {
namespace {

using test::kBase;

constexpr uint32_t kWordsOfThread = 8;  // of memory a thread

// The twin: knows the few instructions that the generator writes.
void run_thread(const ptx::Kernel& kernel, uint32_t tid, std::vector<uint32_t>& memory) {
    using ptx::Op;
    using ptx::Operand;
    std::vector<uint64_t> r(kernel.registers.size());
    const auto value = [&](const Operand& o) -> uint64_t {
        if (o.kind == Operand::Kind::Register) return r[static_cast<size_t>(o.reg)];
        if (o.kind == Operand::Kind::Special) return tid;
        return o.bits;
    };
    for (size_t pc = 0; pc < kernel.instructions.size();) {
        const ptx::Instruction& i = kernel.instructions[pc++];
        if (i.guard >= 0 && (r[static_cast<size_t>(i.guard)] != 0) == i.guard_negated) continue;
        const auto u32 = [&](size_t k) { return static_cast<uint32_t>(value(i.operands[k])); };
        const auto set = [&](uint64_t x) { r[static_cast<size_t>(i.operands[0].reg)] = x; };
        switch (i.op) {
            case Op::Ret: return;
            case Op::Bra:
                pc = static_cast<size_t>(kernel.labels[static_cast<size_t>(i.operands[0].label)].instruction);
                break;
            case Op::Mov: set(u32(1)); break;
            case Op::Add:
                if (i.type == ptx::Type::S64)
                    set(value(i.operands[1]) + value(i.operands[2]));
                else
                    set(u32(1) + u32(2));
                break;
            case Op::Sub: set(u32(1) - u32(2)); break;
            case Op::Xor: set(u32(1) ^ u32(2)); break;
            case Op::And: set(u32(1) & u32(2)); break;
            case Op::Mul: set(i.half == ptx::Half::Wide ? uint64_t{u32(1)} * u32(2) : u32(1) * u32(2)); break;
            case Op::Setp: set(i.compare == ptx::Compare::Lt ? u32(1) < u32(2) : u32(1) != u32(2)); break;
            case Op::Ld:
                if (i.space == ptx::StateSpace::Param)
                    set(kBase);
                else
                    set(memory[(r[static_cast<size_t>(i.operands[1].reg)] +
                                static_cast<uint64_t>(i.operands[1].offset) - kBase) /
                               4]);
                break;
            case Op::St:
                memory[(r[static_cast<size_t>(i.operands[0].reg)] +
                        static_cast<uint64_t>(i.operands[0].offset) - kBase) /
                       4] = u32(1);
                break;
            default: FAIL() << "the twin does not know " << name_of(i.op);
        }
    }
}

// Writes random programs over %r0..%r5; loop counters are %c0, %c1, ... by depth.
class Generator {
public:
    explicit Generator(uint64_t seed) : random_(seed) {}

    std::string structured() {
        body_.clear();
        statements(0, 8);
        return whole();
    }
    // Forward branches from anywhere to anywhere, no structure at all.
    std::string forward_jumps() {
        body_.clear();
        const int n = 14;
        for (int i = 0; i < n; ++i) {
            body_ += fmt::format("J{}:\n", i);
            arithmetic();
            if (pick(3) == 0) memory();
            condition();
            if (pick(8) == 0)
                body_ += "@%p0 ret;\n";
            else
                body_ += fmt::format("@{}%p0 bra J{};\n", pick(2) ? "!" : "", i + 1 + pick(n - i));
        }
        body_ += fmt::format("J{}:\n", n);
        return whole();
    }

private:
    int pick(int n) { return static_cast<int>(random_() % static_cast<uint64_t>(n)); }
    std::string reg() { return fmt::format("%r{}", pick(6)); }
    void arithmetic() {
        const char* ops[] = {"add.u32", "sub.u32", "xor.b32", "mul.lo.u32"};
        const std::string b = pick(2) ? reg() : std::to_string(pick(1000));
        body_ += fmt::format("{} {}, {}, {};\n", ops[pick(4)], reg(), reg(), b);
    }
    void memory() {
        if (pick(2))
            body_ += fmt::format("st.global.u32 [%a+{}], {};\n", 4 * pick(kWordsOfThread), reg());
        else
            body_ += fmt::format("ld.global.u32 {}, [%a+{}];\n", reg(), 4 * pick(kWordsOfThread));
    }
    // %p0 = something that lanes disagree on
    void condition() {
        body_ += fmt::format("and.b32 %s, {}, 7;\nsetp.lt.u32 %p0, %s, {};\n", reg(), pick(9));
    }
    void statements(int depth, int count, const std::string& leave = "", const std::string& again = "") {
        for (int i = 0; i < count; ++i) statement(depth, leave, again);
    }
    void statement(int depth, const std::string& leave, const std::string& again) {
        const int id = labels_++;
        switch (pick(depth < 3 ? 10 : 5)) {
            case 0:
            case 1: arithmetic(); break;
            case 2: memory(); break;
            case 3:  // guarded
                condition();
                body_ += pick(2) ? "@%p0 " : "@!%p0 ";
                arithmetic();
                break;
            case 4:  // break, continue, or leave the kernel
                condition();
                if (!leave.empty())
                    body_ += fmt::format("@%p0 bra {};\n", pick(2) ? leave : again);
                else if (pick(3) == 0)
                    body_ += pick(2) ? "@%p0 ret;\n" : "@%p0 bra END;\n";
                break;
            case 5:
            case 6:
            case 7:  // if, if-else
                condition();
                body_ += fmt::format("@!%p0 bra E{};\n", id);
                statements(depth + 1, 1 + pick(3), leave, again);
                if (pick(2)) {
                    body_ += fmt::format("bra F{};\nE{}:\n", id, id);
                    statements(depth + 1, 1 + pick(3), leave, again);
                    body_ += fmt::format("F{}:\n", id);
                } else {
                    body_ += fmt::format("E{}:\n", id);
                }
                break;
            default:  // do { } while, with as many trips as the lane wants
                body_ += fmt::format("and.b32 %c{}, {}, 3;\nL{}:\n", depth, reg(), id);
                statements(depth + 1, 1 + pick(3), fmt::format("X{}", id), fmt::format("C{}", id));
                body_ += fmt::format(
                    R"ptx(C{2}:
mov.u32 %s, %c{0};
sub.u32 %c{0}, %c{0}, 1;
setp.ne.u32 %p0, %s, 0;
@%p0 bra L{1};
X{2}:
)ptx",
                    depth, id, id);
        }
    }
    std::string whole() const {
        std::string text =
            R"ptx(.version 6.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 k_0)
{
.reg .b32 %r<6>;
.reg .b32 %c<4>;
.reg .b32 %s;
.reg .pred %p<2>;
.reg .b64 %a;
.reg .b64 %d;
ld.param.u64 %a, [k_0];
mov.u32 %r0, %tid.x;
)ptx";
        text += fmt::format("mul.wide.u32 %d, %r0, {};\nadd.s64 %a, %a, %d;\n", 4 * kWordsOfThread);
        for (int i = 1; i < 6; ++i)
            text += fmt::format("mul.lo.u32 %r{}, %r0, {};\nadd.u32 %r{}, %r{}, {};\n", i, 2 * i + 1, i, i,
                                i * i);
        text += body_ + "END:\n";
        for (int i = 0; i < 6; ++i) text += fmt::format("st.global.u32 [%a+{}], %r{};\n", 4 * i, i);
        return text + "ret;\n}\n";
    }
    std::mt19937_64 random_;
    std::string body_;
    int labels_ = 0;
};

void compare(const std::string& text, uint32_t threads, uint64_t seed) {
    test::KernelRun run;
    run.program = test::program_of(text, "k");
    run.launch.block = {threads, 1, 1};
    run.launch.arguments = test_arguments({kBase});
    run.options.schedule = {seed % 2 ? Schedule::Kind::Fair : Schedule::Kind::Seeded, seed};
    run.options.values = seed % 3 == 0;
    std::vector<uint32_t> want(size_t{threads} * kWordsOfThread, 5);
    run.memory.buffers = {{"out", kBase, Bytes(want.size() * 4)}};
    std::memcpy(run.memory.buffers[0].bytes.data(), want.data(), want.size() * 4);
    const Outcome outcome = run.run();
    ASSERT_TRUE(outcome.complete) << (outcome.fault ? outcome.fault->message : "") << "\n" << text;
    const auto module = ptx::parse(text, "twin");
    for (uint32_t t = 0; t < threads; ++t) run_thread(module->kernels[0], t, want);
    std::vector<uint32_t> got(want.size());
    std::memcpy(got.data(), run.memory.buffers[0].bytes.data(), got.size() * 4);
    ASSERT_EQ(got, want) << "seed " << seed << ", " << threads << " threads\n" << text;
}

TEST(Divergence, RandomStructuredProgramsMatchOneThreadAtATime) {
    for (uint64_t seed = 1; seed <= 150; ++seed) {
        compare(Generator(seed).structured(), seed % 4 == 0 ? 45 : 32, seed);
        if (HasFatalFailure()) return;
    }
}

TEST(Divergence, RandomForwardJumpsMatchOneThreadAtATime) {
    for (uint64_t seed = 1; seed <= 100; ++seed) {
        compare(Generator(seed).forward_jumps(), seed % 4 == 0 ? 7 : 32, seed);
        if (HasFatalFailure()) return;
    }
}

// Lanes that took different sides run together again from the join on: one store request, full mask.
TEST(Divergence, ReconvergesAtTheImmediatePostDominator) {
    const std::string text =
        R"ptx(.version 6.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 k_0)
{
.reg .b32 %t;
.reg .b64 %o;
.reg .b64 %a;
.reg .pred %p;
ld.param.u64 %o, [k_0];
mov.u32 %t, %tid.x;
mul.wide.u32 %a, %t, 4;
add.s64 %a, %a, %o;
setp.lt.u32 %p, %t, 8;
@%p bra A;
st.global.u32 [%a], %t;
bra J;
A:
st.global.u32 [%a], %t;
J:
st.global.u32 [%a], %t;
LOOP:
st.global.u32 [%a], %t;
sub.u32 %t, %t, 1;
setp.lt.u32 %p, %t, 32;
@%p bra LOOP;
st.global.u32 [%a], %t;
ret;
}
)ptx";
    test::KernelRun run;
    run.program = test::program_of(text, "k");
    run.launch.block = {32, 1, 1};
    run.launch.arguments = test_arguments({kBase});
    run.memory.buffers = {{"out", kBase, Bytes(128)}};
    ASSERT_TRUE(run.run().complete);
    std::vector<uint32_t> masks;
    for (const test::Event& e : run.events[0]) masks.push_back(e.mask);
    std::vector<uint32_t> want = {0xFFFF'FF00u, 0xFFu, ~0u};  // fall-through first, target, together
    for (int trip = 0; trip < 32; ++trip) want.push_back(~0u << trip);
    want.push_back(~0u);
    EXPECT_EQ(masks, want);
}

}  // namespace
}  // namespace tilescope::simt
