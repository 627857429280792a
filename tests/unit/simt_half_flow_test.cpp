// Where the factors of products in half precision come from: of pairs, which half of a loaded register.
#include <gtest/gtest.h>

#include "tests/unit/simt_run.h"

namespace tilescope::simt {
namespace {

using test::kIn, test::kOut;

// One warp; %r1 and %r2 of each thread are loaded from in[2 thread] and in[2 thread + 1], 32 bits each, that is in steps
// 0 and 1; what is stored, by the body, goes to out.
struct Flow : test::KernelRun {
    std::vector<test::KeptProduct> products;
    Outcome outcome;

    explicit Flow(const std::string& body) {
        program = test::program_of(R"ptx(.version 7.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 k_0, .param .u64 k_1)
{
.reg .b32 %r<9>;
.reg .b16 %h<9>;
.reg .b64 %d<9>;
.reg .f32 %f<9>;
ld.param.u64 %d1, [k_0];
ld.param.u64 %d2, [k_1];
mov.u32 %r0, %tid.x;
mul.wide.u32 %d3, %r0, 8;
add.s64 %d1, %d1, %d3;
add.s64 %d2, %d2, %d3;
ld.global.b32 %r1, [%d1];
ld.global.b32 %r2, [%d1+4];
)ptx" + body + "\nret;\n}\n",
                                   "k");
        launch.block = {32, 1, 1};
        launch.arguments = test_arguments({kIn, kOut});
        options.values = true;
        memory.buffers = {{"in", kIn, Bytes(256)}, {"out", kOut, Bytes(256)}};
        for (size_t i = 0; i < 128; ++i) {
            const auto small = static_cast<uint16_t>(0x3C00 + i * 8);  // halves from 1 on
            std::memcpy(memory.buffers[0].bytes.data() + 2 * i, &small, 2);
        }
        outcome = run();
        for (const test::Event& event : events[0])
            products.insert(products.end(), event.products.begin(), event.products.end());
    }
    uint64_t half(size_t lane, size_t i) const { return 0x3C00 + (4 * lane + i) * 8; }
};

constexpr Origin kFromFirst = 1, kFromSecond = 2;  // the two loads

TEST(HalfFlow, PairsAreTwoProducts) {
    const Flow flow(R"ptx(mov.b32 %r3, 0;
fma.rn.f16x2 %r3, %r1, %r2, %r3;
fma.rn.f16x2 %r3, %r2, %r2, %r3;
mul.f16x2 %r4, %r1, %r1;
st.global.b32 [%d2], %r3;)ptx");
    ASSERT_EQ(flow.products.size(), 6u);
    for (size_t k = 0; k < 6; ++k) {
        const test::KeptProduct& one = flow.products[k];
        const Origin upper = k % 2 ? kUpperHalf : 0;
        for (size_t l = 0; l < 32; ++l) {
            EXPECT_EQ(one.a[l], (k / 2 == 1 ? kFromSecond : kFromFirst) | upper);
            EXPECT_EQ(one.b[l], (k / 2 == 2 ? kFromFirst : kFromSecond) | upper);
            EXPECT_EQ(one.a_value[l], flow.half(l, (k / 2 == 1 ? 2 : 0) + k % 2));
            EXPECT_EQ(one.b_value[l], flow.half(l, (k / 2 == 2 ? 0 : 2) + k % 2));
            EXPECT_EQ(one.result[l] & kUpperHalf, upper);
            EXPECT_TRUE(one.result[l] & kComputed);
        }
    }
    // Both fmas go into one sum, whose chain is stored; the product is another.
    EXPECT_EQ(flow.products[0].result, flow.products[2].result);
    EXPECT_EQ(flow.products[1].result, flow.products[3].result);
    EXPECT_NE(flow.products[0].result, flow.products[4].result);
    const test::Event& store = flow.events[0].back();
    EXPECT_EQ(store.origin, flow.products[2].result);
    for (size_t l = 0; l < 32; ++l)
        EXPECT_EQ(store.value[l], flow.products[3].sum[l] << 16 | flow.products[2].sum[l]);
    EXPECT_EQ(flow.outcome.flop, 32u * (4 + 4 + 2));
}

TEST(HalfFlow, HalvesOfARegisterAreItsElements) {
    const Flow flow(R"ptx(mov.b32 {%h1, %h2}, %r1;
mov.b32 {_, %h3}, %r2;
fma.rn.f16 %h4, %h1, %h3, %h1;
cvt.f32.f16 %f1, %h2;
mul.f32 %f2, %f1, 0f40000000;
st.global.b16 [%d2], %h3;
st.global.f32 [%d2+4], %f2;)ptx");
    ASSERT_EQ(flow.products.size(), 2u);
    for (size_t l = 0; l < 32; ++l) {
        EXPECT_EQ(flow.products[0].a[l], kFromFirst);
        EXPECT_EQ(flow.products[0].b[l], kFromSecond | kUpperHalf);
        EXPECT_EQ(flow.products[0].b_value[l], flow.half(l, 3));
        EXPECT_EQ(flow.products[1].a[l], kFromFirst | kUpperHalf);
        EXPECT_EQ(flow.products[1].b[l], 0u);
    }
    for (const test::Event& event : flow.events[0])
        if (!event.is_load && event.value[0] == flow.half(0, 3)) {
            EXPECT_EQ(event.origin[5], kFromSecond | kUpperHalf);
        }
}

}  // namespace
}  // namespace tilescope::simt
