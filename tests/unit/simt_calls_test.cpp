// Programs with functions, structs, printf and assert, as clang and nvcc compile them, on the CPU.
#include <cstdio>

#include <gtest/gtest.h>

#include "core/simt/printf.h"
#include "tests/launches.h"
#include "tests/unit/simt_run.h"

namespace tilescope::simt {
namespace {

using test::kBase, test::KernelRun;

// A kernel k(u64 out, struct of 24 bytes) with tid.x in %t and &out[tid] in %a; it stores %v.
KernelRun calling_kernel(const std::string& body, const std::string& before = "", uint32_t threads = 32) {
    KernelRun run;
    run.program = test::program_of(".version 7.0\n.target sm_70\n.address_size 64\n" + before +
                                       R"ptx(.visible .entry k(.param .u64 k_0, .param .align 8 .b8 k_1[24])
{
.local .align 8 .b8 depot[32];
.reg .b32 %t;
.reg .b32 %v;
.reg .b32 %r<9>;
.reg .b64 %a;
.reg .b64 %d<9>;
.reg .pred %p<9>;
.reg .f32 %f<9>;
.reg .f64 %g<3>;
ld.param.u64 %a, [k_0];
mov.u32 %t, %tid.x;
mul.wide.u32 %d0, %t, 4;
add.s64 %a, %a, %d0;
)ptx" + body + "\nst.global.u32 [%a], %v;\nret;\n}\n",
                                   "k");
    run.launch.block = {threads, 1, 1};
    run.launch.arguments = test_arguments({kBase, 0});
    std::vector<std::byte>& object = run.launch.arguments[1].object;
    for (int i = 0; i < 24; ++i) object.push_back(static_cast<std::byte>(i + 1));
    run.memory.buffers = {{"out", kBase, Bytes(threads * 4)}};
    return run;
}

std::vector<uint32_t> results_of_calls(KernelRun run) {
    const Outcome outcome = run.run();
    EXPECT_TRUE(outcome.complete) << (outcome.fault ? outcome.fault->message : "");
    std::vector<uint32_t> out(run.memory.buffers[0].bytes.size() / 4);
    std::memcpy(out.data(), run.memory.buffers[0].bytes.data(), out.size() * 4);
    return out;
}

// collatz(n): a loop whose trips differ from lane to lane, and an early return.
TEST(Calls, AFunctionRunsInEveryLane) {
    const std::string collatz =
        R"ptx(.func (.param .b32 func_retval0) collatz(.param .b32 n)
{
.reg .pred %p<4>;
.reg .b32 %r<6>;
ld.param.u32 %r1, [n];
mov.u32 %r2, 0;
setp.lt.u32 %p1, %r1, 2;
@!%p1 bra LOOP;
st.param.b32 [func_retval0+0], 1000;
ret;
LOOP:
and.b32 %r3, %r1, 1;
setp.eq.s32 %p2, %r3, 1;
@%p2 bra ODD;
shr.u32 %r1, %r1, 1;
bra.uni NEXT;
ODD:
mad.lo.s32 %r1, %r1, 3, 1;
NEXT:
add.s32 %r2, %r2, 1;
setp.ne.s32 %p3, %r1, 1;
@%p3 bra LOOP;
st.param.b32 [func_retval0+0], %r2;
ret;
}
)ptx";
    const std::string call =
        R"ptx({
.param .b32 param0;
st.param.b32 [param0+0], %r1;
.param .b32 retval0;
call.uni (retval0), collatz, (param0);
ld.param.b32 %r2, [retval0+0];
}
)ptx";
    const auto out = results_of_calls(calling_kernel("mov.u32 %r1, %t;\n" + call +
                                                         "mov.u32 %v, %r2;\nadd.s32 %r1, %t, 7;\n" + call +
                                                         "add.s32 %v, %v, %r2;",
                                                     collatz));
    const auto want = [](uint32_t n) {
        if (n < 2) return 1000u;
        uint32_t steps = 0;
        for (; n != 1; ++steps) n = n % 2 ? 3 * n + 1 : n / 2;
        return steps;
    };
    for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], want(t) + want(t + 7)) << t;
}

TEST(Calls, AStructIsReadByNameAndByAddress) {
    EXPECT_EQ(results_of_calls(calling_kernel("ld.param.u32 %v, [k_1+8];"))[0], 0x0C0B0A09u);
    EXPECT_EQ(results_of_calls(calling_kernel("ld.param.v2.u32 {%r1, %v}, [k_1+16];"))[3], 0x18171615u);
    // k_1.n[tid % 4], as clang indexes an array of a struct.
    const std::string index =
        R"ptx(mov.b64 %d1, k_1;
and.b32 %r1, %t, 3;
mul.wide.u32 %d2, %r1, 4;
add.s64 %d3, %d1, %d2;
)ptx";
    const auto out = results_of_calls(calling_kernel(index + "ld.param.u32 %v, [%d3+8];"));
    for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], 0x0C0B0A09u + 0x04040404u * (t % 4)) << t;
    EXPECT_EQ(results_of_calls(
                  calling_kernel("mov.b64 %d1, k_1;\ncvta.param.u64 %d2, %d1;\nld.u32 %v, [%d2+4];"))[0],
              0x08070605u);
    EXPECT_EQ(results_of_calls(calling_kernel(R"ptx(mov.b64 %d1, k_1;
cvta.param.u64 %d2, %d1;
isspacep.param %p1, %d2;
selp.u32 %v, 1, 0, %p1;)ptx"))[0],
              1u);
    EXPECT_EQ(results_of_calls(
                  calling_kernel("mov.b64 %d1, k_1;\nisspacep.param %p1, %a;\nselp.u32 %v, 1, 0, %p1;"))[0],
              0u);
}

TEST(Calls, AStructOfAnotherSizeIsRefused) {
    KernelRun run = calling_kernel("mov.u32 %v, 0;");
    run.launch.arguments[1].object.pop_back();
    const auto outcome = run.try_run();
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().message,
              "parameter 2 of kernel 'k' is an object of 24 bytes and was given 23; give all of its bytes");
    run.launch.arguments[1].object.clear();
    EXPECT_FALSE(run.try_run());
}

TEST(Calls, AParameterIsNotReadPastItsEnd) {
    KernelRun run = calling_kernel("mov.b64 %d1, k_1;\nadd.s64 %d1, %d1, 24;\nld.param.u32 %v, [%d1];");
    const Outcome outcome = run.run();
    ASSERT_TRUE(outcome.fault);
    EXPECT_EQ(outcome.fault->kind, Fault::Kind::OutOfBounds);
}

const std::string kStrings =
    R"ptx(.extern .func (.param .b32 func_retval0) vprintf(.param .b64 f, .param .b64 a);
.extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, .param .b64 e);
.global .align 1 .b8 form[22] = {116, 32, 37, 100, 58, 32, 37, 46, 49, 102, 32, 37, 115, 32, 37, 108, 108, 120, 10, 0};
)ptx"   // "t %d: %.1f %s %llx\n"
    R"ptx(.global .align 1 .b8 word[3] = {104, 105, 0};
.global .align 1 .b8 claim[6] = {120, 32, 60, 32, 56, 0};
)ptx";  // "x < 8"

TEST(Calls, PrintfWritesALineForEachLane) {
    KernelRun run = calling_kernel(
        R"ptx(mov.u64 %d1, depot;
cvta.local.u64 %d2, %d1;
st.local.u32 [%d1], %t;
cvt.rn.f64.u32 %g1, %t;
st.local.f64 [%d1+8], %g1;
mov.u64 %d3, word;
cvta.global.u64 %d3, %d3;
st.local.u64 [%d1+16], %d3;
mov.u64 %d4, 0xABCDEF0123;
st.local.u64 [%d1+24], %d4;
mov.u64 %d5, form;
cvta.global.u64 %d5, %d5;
setp.lt.u32 %p1, %t, 30;
@%p1 bra END;
{
.param .b64 param0;
st.param.b64 [param0+0], %d5;
.param .b64 param1;
st.param.b64 [param1+0], %d2;
.param .b32 retval0;
call.uni (retval0), vprintf, (param0, param1);
ld.param.b32 %v, [retval0+0];
}
END:)ptx",
        kStrings);
    std::string printed;
    run.options.print = [&](std::string_view text) { printed += text; };
    const auto out = results_of_calls(run);
    EXPECT_EQ(printed, "t 30: 30.0 hi abcdef0123\nt 31: 31.0 hi abcdef0123\n");
    EXPECT_EQ(out[31], 4u);
    EXPECT_EQ(out[0], 0u);
    run.options.print = nullptr;
    EXPECT_EQ(results_of_calls(run)[31], 4u);
}

TEST(Calls, AnAssertionEndsTheRunWithItsText) {
    KernelRun run = calling_kernel(
        R"ptx(mov.u64 %d1, claim;
cvta.global.u64 %d1, %d1;
mov.u32 %r1, 17;
mov.u64 %d2, 0;
setp.lt.u32 %p1, %t, 8;
@%p1 bra GOOD;
{
.param .b64 param0;
st.param.b64 [param0+0], %d1;
.param .b64 param1;
st.param.b64 [param1+0], %d2;
.param .b32 param2;
st.param.b32 [param2+0], %r1;
.param .b64 param3;
st.param.b64 [param3+0], %d2;
.param .b64 param4;
st.param.b64 [param4+0], 1;
call.uni __assertfail, (param0, param1, param2, param3, param4);
}
GOOD:)ptx",
        kStrings);
    const Outcome outcome = run.run();
    ASSERT_TRUE(outcome.fault);
    EXPECT_EQ(outcome.fault->kind, Fault::Kind::Assert);
    EXPECT_EQ(outcome.fault->message, "thread[8] of block(0): assertion `x < 8' failed at line 17");
    EXPECT_EQ(outcome.fault->line, 17u);
    EXPECT_EQ(outcome.fault->thread, 8u);
}

TEST(Calls, VariablesHoldTheAddressesOfOthers) {
    const auto out = results_of_calls(calling_kernel(
        R"ptx(mov.u64 %d1, table;
and.b32 %r1, %t, 1;
mul.wide.u32 %d2, %r1, 8;
add.s64 %d1, %d1, %d2;
ld.global.u64 %d3, [%d1];
ld.u32 %v, [%d3];)ptx",
        R"ptx(.global .align 4 .b32 numbers[3] = {7, 8, 9};
.global .align 8 .u64 table[2] = {generic(numbers), generic(numbers)+8};
)ptx"));
    EXPECT_EQ(out[0], 7u);
    EXPECT_EQ(out[1], 9u);
}

TEST(Calls, AnIndexedBranchTakesEachLaneToItsTarget) {
    const auto out = results_of_calls(calling_kernel(R"ptx(and.b32 %r1, %t, 3;
mov.u32 %v, 0;
TS: .branchtargets A, B, C, A;
brx.idx %r1, TS;
A:
mov.u32 %v, 1;
bra.uni END;
B:
mov.u32 %v, 2;
bra.uni END;
C:
mov.u32 %v, 3;
END:)ptx"));
    for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], (std::array<uint32_t, 4>{1, 2, 3, 1}[t % 4])) << t;
}

// clang turns a predicate round by an exclusive or with -1.
TEST(Calls, APredicateMeetsAConstant) {
    const auto by = [](const std::string& line) {
        return results_of_calls(
            calling_kernel("setp.lt.u32 %p1, %t, 10;\n" + line + "\nselp.u32 %v, 1, 0, %p2;"));
    };
    const auto turned = by("xor.pred %p2, %p1, -1;"), kept = by("and.pred %p2, 1, %p1;"),
               none = by("and.pred %p2, %p1, 0;");
    for (uint32_t t = 0; t < 32; ++t) {
        EXPECT_EQ(turned[t], t >= 10) << t;
        EXPECT_EQ(kept[t], t < 10) << t;
        EXPECT_EQ(none[t], 0u) << t;
    }
}

// __syncthreads_count, _and and _or, over three warps of which the last is not full.
TEST(Calls, ABarrierReducesThePredicatesOfAllThreads) {
    const auto reduced = [](const std::string& test, const std::string& barrier) {
        return results_of_calls(calling_kernel(test + " %p1, %t, 40;\n" + barrier, "", 70));
    };
    const std::string flag = "\nselp.u32 %v, 1, 0, %p2;";
    for (const uint32_t v : reduced("setp.lt.u32", "bar.red.popc.u32 %v, 0, %p1;")) EXPECT_EQ(v, 40u);
    for (const uint32_t v : reduced("setp.lt.u32", "bar.red.popc.u32 %v, 0, !%p1;")) EXPECT_EQ(v, 30u);
    for (const uint32_t v : reduced("setp.lt.u32", "bar.red.and.pred %p2, 0, %p1;" + flag)) EXPECT_EQ(v, 0u);
    for (const uint32_t v : reduced("setp.ne.u32", "bar.red.or.pred %p2, 0, %p1;" + flag)) EXPECT_EQ(v, 1u);
    for (const uint32_t v : reduced("setp.eq.u32", "barrier.cta.red.or.aligned.pred %p2, 0, %p1;" + flag))
        EXPECT_EQ(v, 1u);
    for (const uint32_t v : reduced("setp.ge.u32", "bar.red.and.pred %p2, 0, %p1;" + flag)) EXPECT_EQ(v, 0u);
}

TEST(Calls, HintsChangeNothing) {
    const auto out = results_of_calls(calling_kernel(R"ptx(mov.u32 %v, %t;
nanosleep.u32 100;
prefetch.global.L2 [%a];
prefetchu.L1 [%a];
griddepcontrol.wait;
griddepcontrol.launch_dependents;
fence.acq_rel.gpu;)ptx"));
    for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], t);
}

TEST(Calls, AFunctionThatIsNotThereIsNamed) {
    const auto why = [](const std::string& name) {
        const auto module = ptx::parse(R"ptx(.version 7.0
.target sm_70
.address_size 64
.extern .func )ptx" + name + "();\n.visible .entry k()\n{\ncall.uni " +
                                           name + ", ();\nret;\n}\n",
                                       "test.ptx");
        return prepare(*module, "k").error().message;
    };
    EXPECT_NE(
        why("stranger")
            .find("(line 7 of the PTX) cannot be run on the CPU: the PTX has no body of function 'stranger'"),
        std::string::npos);
}

// Packed as a compiler packs them: each aligned to its size.
std::string formatted(std::string_view format, const std::vector<std::pair<uint64_t, int>>& values) {
    std::vector<std::byte> bytes;
    for (const auto& [bits, size] : values) {
        bytes.resize((bytes.size() + static_cast<size_t>(size) - 1) / static_cast<size_t>(size) *
                     static_cast<size_t>(size));
        bytes.resize(bytes.size() + static_cast<size_t>(size));
        std::memcpy(bytes.data() + bytes.size() - size, &bits, static_cast<size_t>(size));
    }
    return print_format(
               format,
               [&](uint64_t offset, uint64_t size) -> std::optional<uint64_t> {
                   if (offset + size > bytes.size()) return {};
                   uint64_t bits = 0;
                   std::memcpy(&bits, bytes.data() + offset, size);
                   return bits;
               },
               [](uint64_t address) -> std::optional<std::string> {
                   if (address != 1) return {};
                   return "text";
               })
        .text;
}

TEST(Printf, WritesAsTheCLibraryDoes) {
    const auto real = [](double value) { return std::pair(std::bit_cast<uint64_t>(value), 8); };
    const uint64_t minus = static_cast<uint32_t>(-42);
    EXPECT_EQ(formatted("%d|%5d|%-5d|%05d|%+d|% d", {{minus, 4}, {7, 4}, {7, 4}, {7, 4}, {7, 4}, {7, 4}}),
              "-42|    7|7    |00007|+7| 7");
    EXPECT_EQ(formatted("%u %x %X %#x %o", {{minus, 4}, {255, 4}, {255, 4}, {255, 4}, {8, 4}}),
              "4294967254 ff FF 0xff 10");
    EXPECT_EQ(formatted("%c%lld%c %lu", {{'<', 4}, {~uint64_t{0}, 8}, {'>', 4}, {1ull << 40, 8}}),
              "<-1> 1099511627776");
    EXPECT_EQ(formatted("%f %.2f %8.3f %e %g %G",
                        {real(1.5), real(-2.345), real(3.14159), real(12345.678), real(0.0001), real(1e-9)}),
              "1.500000 -2.35    3.142 1.234568e+04 0.0001 1E-09");
    EXPECT_EQ(formatted("%s|%8s|%-8s|%.2s|%s|%s", {{1, 8}, {1, 8}, {1, 8}, {1, 8}, {0, 8}, {99, 8}}),
              "text|    text|text    |te|(null)|(unreadable)");
    EXPECT_EQ(formatted("%*d %.*f %p 100%%", {{4, 4}, {7, 4}, {1, 4}, real(2.25), {0xAB, 8}}),
              "   7 2.2 0xab 100%");
    EXPECT_EQ(formatted("%hhd %hd %hu", {{300, 4}, {70000, 4}, {70000, 4}}), "44 4464 4464");
}

TEST(Printf, FormatsAtFaultDoNoHarm) {
    EXPECT_EQ(formatted("%d and %s", {}), "%d and %s");  // no argument there
    EXPECT_EQ(formatted("%n%y%", {{1, 8}}), "%n%y%");
    EXPECT_EQ(formatted("%", {}), "%");
    EXPECT_EQ(formatted("%999999999999d", {{1, 4}}).size(), 4096u);
    EXPECT_EQ(formatted("%*d|", {{0x80000000, 4}, {1, 4}}).size(), 4097u);
    EXPECT_EQ(formatted("%-+ #0-+ #05d|", {{1, 4}}), "+1   |");
    EXPECT_EQ(formatted("%llllld", {{5, 8}}), "5");
}

// Each block tells the next what it was told before, in rounds of the grid's barrier.
TEST(GridBarrier, HoldsEveryBlockUntilAllHaveCome) {
    const std::string sync = "call.uni cudaCGSynchronizeGrid, ();\n";
    const auto make = [&](const std::string& guard) {
        KernelRun run = calling_kernel(
            R"ptx(mov.u32 %r1, %ctaid.x;
mov.u32 %r2, %nctaid.x;
add.s32 %r3, %r1, 1;
rem.u32 %r3, %r3, %r2;
mad.lo.s32 %r4, %r1, 64, %t;
mad.lo.s32 %r5, %r3, 64, %t;
ld.param.u64 %d1, [k_0];
mul.wide.u32 %d2, %r4, 4;
add.s64 %a, %d1, %d2;
mul.wide.u32 %d3, %r5, 4;
add.s64 %d4, %d1, %d3;
setp.eq.s32 %p1, %r1, 2;
)ptx" + guard + "st.global.u32 [%a], %r4;\n" +
                sync + "ld.global.u32 %r6, [%d4];\n" + sync +
                "add.s32 %v, %r6, 1000;\nst.global.u32 [%a], %v;\n" + sync + "ld.global.u32 %r6, [%d4];\n" +
                sync + "mov.u32 %v, %r6;",
            ".extern .func cudaCGSynchronizeGrid();\n", 64);
        run.launch.grid = {3, 1, 1};
        run.memory.buffers[0].bytes.resize(3 * 64 * 4);
        return run;
    };
    EXPECT_TRUE(has_grid_barrier(*make("").program));
    const auto out = results_of_calls(make(""));
    for (uint32_t block = 0; block < 3; ++block)
        for (uint32_t t = 0; t < 64; ++t)
            EXPECT_EQ(out[block * 64 + t], (block + 2) % 3 * 64 + t + 1000) << block << " " << t;

    KernelRun gone = make("@%p1 ret;\n");
    const Outcome outcome = gone.run();
    ASSERT_TRUE(outcome.fault);
    EXPECT_EQ(outcome.fault->kind, Fault::Kind::Deadlock);
    EXPECT_NE(outcome.fault->message.find("waits for ever at the grid's barrier"), std::string::npos)
        << outcome.fault->message;
    EXPECT_NE(outcome.fault->message.find("block(2) has ended"), std::string::npos) << outcome.fault->message;

    KernelRun large = make("");
    RunOptions little;
    little.memory = memory_of(*large.program, large.launch, false) * 2;
    const auto refused = run(*large.program, large.launch, large.memory, little, {});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("wait for each other"), std::string::npos);
}

TEST(Calls, MallocAndFreeAskForTheHeap) {
    const std::string body =
        R"ptx({
.param .b64 param0;
st.param.b64 [param0+0], 24;
.param .b64 retval0;
call.uni (retval0), malloc, (param0);
ld.param.b64 %d1, [retval0+0];
}
cvt.u32.u64 %v, %d1;
{
.param .b64 param0;
st.param.b64 [param0+0], %d1;
call.uni free, (param0);
}
)ptx";
    const std::string before =
        ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n";
    KernelRun heap = calling_kernel(body, before);
    RunOptions options = test::one_thread();
    uint64_t next = 100, asked = 0, freed = 0;
    options.allocate = [&](uint64_t bytes) { return asked += bytes, next++; };
    options.release = [&](uint64_t address) { freed += address; };
    const auto outcome = run(*heap.program, heap.launch, heap.memory, options, {});
    ASSERT_TRUE(outcome && outcome->complete);
    EXPECT_EQ(asked, 32u * 24);
    EXPECT_EQ(freed, 32u * 100 + 31 * 16);
    uint32_t last = 0;
    std::memcpy(&last, heap.memory.buffers[0].bytes.data() + 31 * 4, 4);
    EXPECT_EQ(last, 131u);
    const Outcome none = calling_kernel(body, before).run();
    ASSERT_TRUE(none.fault);
    EXPECT_NE(none.fault->message.find("calls malloc"), std::string::npos) << none.fault->message;
}

}  // namespace
}  // namespace tilescope::simt
