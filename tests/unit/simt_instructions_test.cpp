// Instructions that need a whole program around them: predicates, warps' votes and shuffles, vectors,
// narrow loads, the memory spaces, special registers.
#include <functional>

#include <gtest/gtest.h>

#include "tests/launches.h"
#include "tests/unit/simt_run.h"

namespace tilescope::simt {
namespace {

using test::kIn, test::kOut;

// Runs `body` with one warp (or more); it leaves its result in %v, which is stored to out[thread].
// %t: thread number; in: 64 words, i * 0x01010101 + 0x80.
std::vector<uint32_t> run_body(const std::string& body, uint32_t threads = 32, bool values = false,
                               const std::string& globals = "") {
    test::KernelRun run;
    run.program = test::program_of(".version 6.0\n.target sm_70\n.address_size 64\n" + globals +
                                       R"ptx(.visible .entry k(.param .u64 k_0, .param .u64 k_1)
{
.local .align 8 .b8 depot[16];
.shared .align 8 .b8 tile[256];
.reg .b32 %t;
.reg .b32 %v;
.reg .b32 %r<9>;
.reg .b16 %h<9>;
.reg .b64 %i;
.reg .b64 %o;
.reg .b64 %d<9>;
.reg .pred %p<9>;
.reg .f32 %f<9>;
ld.param.u64 %i, [k_0];
ld.param.u64 %o, [k_1];
mov.u32 %t, %tid.x;
)ptx" + body + R"ptx(
mul.wide.u32 %d0, %t, 4;
add.s64 %d0, %d0, %o;
st.global.u32 [%d0], %v;
ret;
}
)ptx",
                                   "k");
    run.launch.block = {threads, 1, 1};
    run.launch.arguments = test_arguments({kIn, kOut});
    run.options.values = values;
    std::vector<uint32_t> in(64), out(threads);
    for (uint32_t i = 0; i < 64; ++i) in[i] = i * 0x0101'0101 + 0x80;
    run.memory.buffers = {{"in", kIn, Bytes(256)}, {"out", kOut, Bytes(threads * 4)}};
    std::memcpy(run.memory.buffers[0].bytes.data(), in.data(), 256);
    const Outcome outcome = run.run();
    EXPECT_TRUE(outcome.complete) << (outcome.fault ? outcome.fault->message : "");
    std::memcpy(out.data(), run.memory.buffers[1].bytes.data(), threads * 4);
    return out;
}

void expect(const std::string& body, const std::function<uint32_t(uint32_t)>& want, uint32_t threads = 32,
            const std::string& globals = "") {
    for (const bool values : {false, true}) {
        const auto got = run_body(body, threads, values, globals);
        for (uint32_t t = 0; t < threads; ++t) ASSERT_EQ(got[t], want(t)) << "thread " << t << ":\n" << body;
    }
}

// Pairs {thread, 20} and {10, thread} of half precision: p is of the lower halves, q of the upper ones.
TEST(Instructions, PairsOfHalves) {
    const std::string pairs = R"ptx(.reg .f16x2 %x<4>;
.reg .f16 %g<4>;
cvt.rn.f16.u32 %g1, %t;
mov.b16 %h1, 0x4900;
mov.b16 %h2, 0x4D00;
mov.b32 %x1, {%g1, %h2};
mov.b32 %r2, {%h1, %g1};
setp.lt.u32 %p3, %t, 25;
)ptx";
    const std::string answer = R"ptx(
selp.b32 %r3, 1, 0, %p1;
selp.b32 %r4, 2, 0, %p2;
or.b32 %v, %r3, %r4;)ptx";
    const auto low = [](uint32_t t) { return t < 10; };
    const auto high = [](uint32_t t) { return 20 < t; };
    const auto third = [](uint32_t t) { return t < 25; };
    const auto bits = [](bool p, bool q) { return (p ? 1u : 0u) | (q ? 2u : 0u); };
    expect(pairs + "setp.lt.f16x2 %p1|%p2, %x1, %r2;" + answer,
           [&](uint32_t t) { return bits(low(t), high(t)); });
    expect(pairs + "setp.lt.and.f16x2 %p1|%p2, %x1, %r2, %p3;" + answer,
           [&](uint32_t t) { return bits(low(t) && third(t), high(t) && third(t)); });
    expect(pairs + "setp.lt.or.f16x2 %p1|%p2, %x1, %r2, !%p3;" + answer,
           [&](uint32_t t) { return bits(low(t) || !third(t), high(t) || !third(t)); });
    expect(
        pairs + "mov.pred %p2, %p3;\nsetp.lt.xor.f16x2 %p1|%p3, %x1, %r2, %p3;\nmov.pred %p2, %p3;" + answer,
        [&](uint32_t t) { return bits(low(t) != third(t), high(t) != third(t)); });
    for (const bool half : {false, true}) {
        const uint32_t yes = half ? 0x3C00 : 0xFFFF;
        const auto both = [=](bool p, bool q) { return (p ? yes : 0) | (q ? yes << 16 : 0); };
        const std::string to = half ? "f16x2" : "u32";
        expect(pairs + "set.lt." + to + ".f16x2 %v, %x1, %r2;",
               [=](uint32_t t) { return both(low(t), high(t)); });
        expect(pairs + "set.lt.and." + to + ".f16x2 %v, %x1, %r2, %p3;",
               [=](uint32_t t) { return both(low(t) && third(t), high(t) && third(t)); });
        expect(pairs + "set.lt.or." + to + ".f16x2 %v, %x1, %r2, !%p3;",
               [=](uint32_t t) { return both(low(t) || !third(t), high(t) || !third(t)); });
        expect(pairs + "set.lt.xor." + to + ".f16x2 %v, %x1, %r2, %p3;",
               [=](uint32_t t) { return both(low(t) != third(t), high(t) != third(t)); });
    }
    // The first operand of two becomes the upper half.
    expect(
        "cvt.rn.f32.u32 %f1, %t;\ncvt.rn.f16x2.f32 %v, 0f3F800000, %f1;\nsub.f16x2 %v, %v, %v;\n"
        "cvt.rn.bf16x2.f32 %r1, 0f3F800000, 0f40000000;\nadd.u32 %v, %v, %r1;",
        [](uint32_t) { return 0x3F80'4000u; });
    expect(pairs +
               "fma.rn.f16x2 %x2, %x1, %r2, %x1;\nmov.b32 {%g2, %g3}, %x2;\ncvt.rzi.u32.f16 %r1, %g2;\n"
               "cvt.rzi.u32.f16 %r3, %g3;\nmad.lo.u32 %v, %r3, 1000, %r1;",
           [](uint32_t t) { return (20 * t + 20) * 1000 + 11 * t; });
}

// Numbers of 64 and 96 bits in 32-bit registers, the carry between them.
TEST(Instructions, CarriesJoinWords) {
    const std::string words =
        R"ptx(mul.lo.u32 %r1, %t, 0x9E3779B9;
xor.b32 %r2, %r1, 0x5BD1E995;
mul.lo.u32 %r3, %r2, %r2;
not.b32 %r4, %r1;
)ptx";
    const auto a = [](uint32_t t) {
        return uint64_t{t * 0x9E37'79B9u ^ 0x5BD1'E995u} << 32 | t * 0x9E37'79B9u;
    };
    const auto b = [=](uint32_t t) {
        const uint32_t high = static_cast<uint32_t>(a(t) >> 32);
        return uint64_t{high * high} << 32 | ~static_cast<uint32_t>(a(t));
    };
    const auto folded = [](uint64_t x) {
        return static_cast<uint32_t>(x) ^ static_cast<uint32_t>(x >> 32) * 31;
    };
    const std::string fold = "mul.lo.u32 %r6, %r6, 31;\nxor.b32 %v, %r5, %r6;";
    expect(words + "add.cc.u32 %r5, %r1, %r4;\naddc.u32 %r6, %r2, %r3;\n" + fold,
           [&](uint32_t t) { return folded(a(t) + b(t)); });
    expect(words + "sub.cc.u32 %r5, %r1, %r4;\nsubc.cc.u32 %r6, %r2, %r3;\n" + fold,
           [&](uint32_t t) { return folded(a(t) - b(t)); });
    // The flag of a chain: all ones and one more, carried through three words.
    expect(
        R"ptx(mov.u32 %r1, -1;
and.b32 %r2, %t, 1;
add.cc.u32 %r3, %r1, %r2;
addc.cc.u32 %r4, %r1, 0;
addc.u32 %v, 5, 0;)ptx",
        [](uint32_t t) { return 5 + (t & 1); });
    // 32 x 32 + 64 bits.
    expect(words + "mad.lo.cc.u32 %r5, %r1, %r2, %r4;\nmadc.hi.u32 %r6, %r1, %r2, %r3;\n" + fold,
           [&](uint32_t t) { return folded((a(t) & 0xFFFF'FFFF) * (a(t) >> 32) + b(t)); });
    // Lanes that do not take part keep their flag.
    expect(
        R"ptx(setp.lt.u32 %p1, %t, 16;
mov.u32 %r1, -1;
add.cc.u32 %r2, %r1, 1;
@%p1 add.cc.u32 %r2, %r1, 0;
addc.u32 %v, 0, 0;)ptx",
        [](uint32_t t) { return t < 16 ? 0u : 1u; });
}

TEST(Instructions, PredicatesAndTheirCombinations) {
    const std::string both = "setp.lt.u32 %p1, %t, 20;\nsetp.eq.u32 %p5, %t, 3;\n";
    const std::string show = "selp.u32 %v, 1, 0, %p2;\nselp.u32 %r1, 2, 0, %p3;\nadd.u32 %v, %v, %r1;";
    const struct {
        const char* name;
        bool (*fn)(bool, bool);
    } joins[] = {{"and", [](bool a, bool b) { return a && b; }},
                 {"or", [](bool a, bool b) { return a || b; }},
                 {"xor", [](bool a, bool b) { return a != b; }}};
    for (const auto& join : joins)
        for (const bool negated : {false, true}) {
            expect(both + "setp.gt." + join.name + ".u32 %p2|%p3, %t, 10, " + (negated ? "!" : "") +
                       "%p1;\n" + show,
                   [&](uint32_t t) {
                       const bool c = (t < 20) != negated;
                       return (join.fn(t > 10, c) ? 1u : 0u) + (join.fn(t <= 10, c) ? 2u : 0u);
                   });
            // The combined predicate may be a destination.
            expect(both + "mov.pred %p2, %p1;\nsetp.gt." + join.name +
                       ".u32 %p2, %t, 10, %p2;\nmov.pred %p3, %p5;\n" + show,
                   [&](uint32_t t) { return (join.fn(t > 10, t < 20) ? 1u : 0u) + (t == 3 ? 2u : 0u); });
            expect(both + join.name + ".pred %p2, %p1, %p5;\nnot.pred %p3, %p1;\n" + show,
                   [&](uint32_t t) { return (join.fn(t < 20, t == 3) ? 1u : 0u) + (t < 20 ? 0u : 2u); });
            expect(both + "set.gt." + join.name + ".u32.u32 %v, %t, 10, %p1;",
                   [&](uint32_t t) { return join.fn(t > 10, t < 20) ? ~0u : 0u; });
        }
    expect(both + "selp.u32 %v, 5, 9, %p1;", [](uint32_t t) { return t < 20 ? 5u : 9u; });
}

TEST(Instructions, VotesSeeTheLanesThatTakePart) {
    const std::string odd =
        R"ptx(and.b32 %r1, %t, 1;
setp.eq.u32 %p1, %r1, 1;
setp.lt.u32 %p2, %t, 16;
mov.u32 %v, 7;
)ptx";
    expect(odd + "vote.sync.ballot.b32 %v, %p1, -1;", [](uint32_t) { return 0xAAAA'AAAAu; });
    expect(odd + "@%p2 vote.sync.ballot.b32 %v, %p1, -1;", [](uint32_t t) { return t < 16 ? 0xAAAAu : 7u; });
    expect(odd + "vote.sync.ballot.b32 %v, !%p1, -1;", [](uint32_t) { return 0x5555'5555u; });
    expect(odd + "activemask.b32 %v;", [](uint32_t) { return ~0u; });
    expect(
        odd + "activemask.b32 %v;", [](uint32_t) { return 0x1Fu; }, 5);
    expect(odd + "@%p1 activemask.b32 %v;", [](uint32_t t) { return t & 1 ? 0xAAAA'AAAAu : 7u; });
    const auto as_number = [&](const std::string& vote) { return odd + vote + "\nselp.u32 %v, 1, 0, %p3;"; };
    expect(as_number("vote.sync.any.pred %p3, %p1, -1;"), [](uint32_t) { return 1u; });
    expect(as_number("vote.sync.all.pred %p3, %p1, -1;"), [](uint32_t) { return 0u; });
    expect(as_number("@%p1 vote.sync.all.pred %p3, %p1, -1;"), [](uint32_t t) { return t & 1; });
    expect(as_number("vote.sync.uni.pred %p3, %p2, -1;"), [](uint32_t) { return 0u; });
}

TEST(Instructions, ShufflesMoveValuesBetweenLanes) {
    const std::string start = "mul.lo.u32 %r1, %t, 10;\n",
                      flag = "\nselp.u32 %r3, 1000, 0, %p1;\nadd.u32 %v, %v, %r3;";
    expect(start + "shfl.sync.up.b32 %v|%p1, %r1, 3, 0, -1;" + flag,
           [](uint32_t t) { return t >= 3 ? (t - 3) * 10 + 1000 : t * 10; });
    expect(start + "shfl.sync.down.b32 %v|%p1, %r1, 4, 31, -1;" + flag,
           [](uint32_t t) { return t + 4 < 32 ? (t + 4) * 10 + 1000 : t * 10; });
    expect(start + "shfl.sync.bfly.b32 %v|%p1, %r1, 5, 31, -1;" + flag,
           [](uint32_t t) { return (t ^ 5) * 10 + 1000; });
    expect(start + "shfl.sync.idx.b32 %v|%p1, %r1, 9, 31, -1;" + flag, [](uint32_t) { return 1090u; });
    // Segments of 8 lanes: mask 0x18, clamp 0x1f.
    expect(start + "shfl.sync.down.b32 %v|%p1, %r1, 2, 0x181f, -1;" + flag,
           [](uint32_t t) { return t % 8 + 2 < 8 ? (t + 2) * 10 + 1000 : t * 10; });
    expect(start + "shfl.sync.idx.b32 %v|%p1, %r1, 3, 0x181f, -1;" + flag,
           [](uint32_t t) { return (t / 8 * 8 + 3) * 10 + 1000; });
}

TEST(Instructions, VectorsAndNarrowAccesses) {
    const auto word = [](uint32_t i) { return i * 0x0101'0101 + 0x80; };
    const std::string at = "mul.wide.u32 %d1, %t, 8;\nadd.s64 %d1, %d1, %i;\n";
    expect(at + "ld.global.v2.u32 {%r1, %r2}, [%d1];\nsub.u32 %v, %r2, %r1;",
           [](uint32_t) { return 0x0101'0101u; });
    expect(at + "ld.global.u64 %d2, [%d1];\nmov.b64 {%r1, %r2}, %d2;\nxor.b32 %v, %r1, %r2;",
           [&](uint32_t t) { return word(2 * t) ^ word(2 * t + 1); });
    expect(at + "ld.global.s8 %r1, [%d1];\nmov.u32 %v, %r1;", [&](uint32_t t) {
        return static_cast<uint32_t>(static_cast<int32_t>(static_cast<int8_t>(word(2 * t))));
    });
    expect(at + "ld.global.u8 %h1, [%d1+1];\ncvt.u32.u16 %v, %h1;",
           [&](uint32_t t) { return word(2 * t) >> 8 & 0xFF; });
    expect(at + "ld.global.s16 %d3, [%d1];\nshr.s64 %d3, %d3, 8;\ncvt.u32.u64 %v, %d3;",
           [&](uint32_t t) { return static_cast<uint32_t>(static_cast<int16_t>(word(2 * t)) >> 8); });
    expect(at + "ld.global.u32 %r1, [%d1];\nmov.b32 {%h1, %h2}, %r1;\nmov.b32 %v, {%h2, %h1};",
           [&](uint32_t t) { return word(2 * t) << 16 | word(2 * t) >> 16; });
    expect(
        R"ptx(mov.u32 %r1, 5;
mov.b64 %d1, {%t, %r1};
shr.u64 %d1, %d1, 32;
cvt.u32.u64 %v, %d1;)ptx",
        [](uint32_t) { return 5u; });
    expect(
        R"ptx(cvt.s8.s32 %v, -3;
cvt.s64.s8 %d1, %t;
cvt.u32.u64 %r1, %d1;
add.u32 %v, %v, %r1;)ptx",
        [](uint32_t t) { return t - 3; });
    expect("bfi.b32 %v, %t, -1, 8, 16;", [](uint32_t t) { return 0xFF00'00FFu | t << 8; });
    expect("lop3.b32 %v, %t, 0xF0, 0x3C, 0xE8;",
           [](uint32_t t) { return (t & 0xF0) | (t & 0x3C) | (0xF0 & 0x3C); });
}

TEST(Instructions, EveryMemorySpace) {
    const std::string globals =
        ".const .align 4 .b8 table[8] = {1, 0, 0, 0, 42, 0, 0, 0};\n.global .align 4 .u32 counter = 17;\n";
    expect(
        "ld.const.u32 %v, [table+4];", [](uint32_t) { return 42u; }, 32, globals);
    expect(
        "ld.global.u32 %v, [counter];", [](uint32_t) { return 17u; }, 32, globals);
    // Local memory is the thread's own; generic addresses find their space.
    expect(
        R"ptx(mov.u64 %d1, depot;
cvta.local.u64 %d2, %d1;
st.local.u32 [%d1+4], %t;
ld.u32 %v, [%d2+4];)ptx",
        [](uint32_t t) { return t; });
    expect(
        R"ptx(mov.u64 %d1, tile;
cvta.shared.u64 %d2, %d1;
mul.wide.u32 %d3, %t, 4;
add.s64 %d4, %d2, %d3;
st.u32 [%d4], %t;
xor.b32 %r1, %t, 1;
mov.u32 %r2, tile;
shl.b32 %r1, %r1, 2;
add.u32 %r2, %r2, %r1;
ld.shared.u32 %v, [%r2];)ptx",
        [](uint32_t t) { return t ^ 1; });
    expect("ld.u32 %v, [%i+4];", [](uint32_t) { return 0x0101'0181u; });
    // Shared memory that nobody stored to holds ones everywhere.
    expect("ld.shared.u32 %v, [tile];", [](uint32_t) { return ~0u; });
}

TEST(Instructions, SpecialRegisters) {
    expect(
        "mov.u32 %v, %laneid;", [](uint32_t t) { return t % 32; }, 70);
    expect(
        "mov.u32 %v, %warpid;", [](uint32_t t) { return t / 32; }, 70);
    expect(
        "mov.u32 %v, %ntid.x;", [](uint32_t) { return 70u; }, 70);
    expect("mov.u32 %v, %lanemask_lt;", [](uint32_t t) { return (1u << t) - 1; });
    expect("mov.u32 %v, %lanemask_ge;", [](uint32_t t) { return ~((1u << t) - 1); });
}

// mul and add that no compiler fused: the products are reported when the add takes them, under the sum
// that is stored.
TEST(Instructions, UnfusedProductsJoinTheirSum) {
    test::KernelRun run;
    run.program = test::program_of(
        R"ptx(.version 6.0
.target sm_70
.address_size 64
.visible .entry k(.param .u64 k_0)
{
.reg .b64 %o;
.reg .f32 %f<20>;
ld.param.u64 %o, [k_0];
ld.global.f32 %f1, [%o];
ld.global.f32 %f2, [%o+4];
ld.global.f32 %f3, [%o+8];
mul.rn.f32 %f4, %f1, %f2;
add.rn.f32 %f5, %f4, 0f00000000;
mul.rn.f32 %f6, %f2, %f3;
add.rn.f32 %f5, %f6, %f5;
fma.rn.f32 %f5, %f1, %f3, %f5;
st.global.f32 [%o+12], %f5;
mul.rn.f32 %f7, %f3, %f3;
st.global.f32 [%o+16], %f7;
ret;
}
)ptx",
        "k");
    run.launch.block = {2, 1, 1};
    run.launch.arguments = test_arguments({kIn});
    run.options.values = true;
    const float in[] = {2, 3, 5, 0, 0};
    run.memory.buffers = {{"x", kIn, Bytes(20)}};
    std::memcpy(run.memory.buffers[0].bytes.data(), in, 20);
    ASSERT_TRUE(run.run().complete);
    const auto& events = run.events[0];
    ASSERT_EQ(events.size(), 5u);
    const Origin sum = events[3].origin[0];
    ASSERT_TRUE(sum & kComputed);
    const auto& products = events[2].products;
    ASSERT_EQ(products.size(), 3u);
    const float sums[] = {6, 21, 31};
    const Origin factors[][2] = {{1, 2}, {2, 3}, {1, 3}};
    for (size_t i = 0; i < 3; ++i) {
        EXPECT_EQ(products[i].result[0], sum);
        EXPECT_EQ(products[i].sum[1], value_of(sums[i]).bits);
        EXPECT_EQ(products[i].a[0], factors[i][0]);
        EXPECT_EQ(products[i].b[0], factors[i][1]);
    }
    EXPECT_NE(events[4].origin[0], sum);  // another sum
}

}  // namespace
}  // namespace tilescope::simt
