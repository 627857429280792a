// Kernels of one block, written by hand, with barriers in memory (mbarrier), copies in bulk, boxes of tensors and products
// of warpgroups: `in` and `out` are floats, n is how often they go round.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ptx/tensor_map.h"

namespace tilescope {

struct SignalKernel {
    const char* name;
    uint32_t threads;
    std::string ptx;
    bool has_maps;  // its last two parameters are tensor maps of in and out
};

inline constexpr uint32_t kSignalFloats = 4096;  // of in and of out: enough for 15 trips

// Of in or out: 64 rows of 64 floats, in boxes of 8 rows of 16.
inline ptx::TensorMap signal_map(uint64_t address) {
    ptx::TensorMap map;
    map.rank = 2;
    map.address = address;
    map.extent = {64, 64};
    map.stride = {256};
    map.box = {16, 8};
    map.swizzle = ptx::Swizzle::B64;
    return map;
}

inline std::vector<SignalKernel> signal_kernels() {
    // %i, %o and %n are the parameters; %t, %w and %l thread, warp and lane.
    const auto kernel = [](const char* name, uint32_t threads, const char* body, bool has_maps = false) {
        const char* const maps =
            has_maps ? ", .param .align 64 .b8 map_in[128], .param .align 64 .b8 map_out[128]" : "";
        return SignalKernel{name, threads,
                            R"(
.version 8.0
.target sm_90a
.address_size 64
.visible .entry )" + std::string(name) +
                                R"((.param .u64 in, .param .u64 out, .param .u32 n)" + std::string(maps) +
                                R"()
.reqntid )" + std::to_string(threads) +
                                R"(, 1, 1
{
    .reg .b32 %i32; .reg .b64 %i; .reg .b64 %o; .reg .b32 %n; .reg .b32 %t; .reg .b32 %w; .reg .b32 %l;
    .reg .b32 %r<64>; .reg .b64 %d<32>; .reg .f32 %f<16>; .reg .pred %p<16>;
    ld.param.u64 %i, [in];
    ld.param.u64 %o, [out];
    ld.param.u32 %n, [n];
    cvta.to.global.u64 %i, %i;
    cvta.to.global.u64 %o, %o;
    mov.u32 %t, %tid.x;
    shr.u32 %w, %t, 5;
    and.b32 %l, %t, 31;
    mov.u32 %r0, 0;
    mov.f32 %f0, 0f00000000;
    mul.wide.u32 %d0, %t, 4;
    add.s64 %d1, %o, %d0;
)" + std::string(body) + "    ret;\n}\n",
                            has_maps};
    };
    return {
        // One lane of a group of warps fills three buffers, which four other warps read: parities of full and empty.
        kernel("ring", 256, R"(
    .shared .align 128 .b8 stage[3072];
    .shared .align 8 .b8 full[24];
    .shared .align 8 .b8 empty[24];
    mov.u32 %r10, stage;
    mov.u32 %r11, full;
    mov.u32 %r12, empty;
    setp.ne.u32 %p0, %t, 0;
    @%p0 bra READY;
    mov.u32 %r13, 4;
    mbarrier.init.shared::cta.b64 [%r11], 1;
    mbarrier.init.shared::cta.b64 [%r11+8], 1;
    mbarrier.init.shared::cta.b64 [full+16], 1;
    mbarrier.init.shared::cta.b64 [%r12], %r13;
    mbarrier.init.shared::cta.b64 [%r12+8], %r13;
    mbarrier.init.shared::cta.b64 [%r12+16], %r13;
    fence.proxy.async.shared::cta;
READY:
    bar.sync 0;
    mov.u32 %r20, 0;
    mov.u32 %r21, 0;
    mov.u32 %r22, 0;
    setp.ge.u32 %p1, %w, 4;
    @%p1 bra CONSUMER;
    setmaxnreg.dec.sync.aligned.u32 40;
    setp.ne.u32 %p1, %w, 0;
    @%p1 bra DONE;
    elect.sync _|%p2, 0xffffffff;
    @!%p2 bra DONE;
PRODUCE:
    setp.ge.u32 %p3, %r20, %n;
    @%p3 bra DONE;
    shl.b32 %r23, %r21, 3;
    add.u32 %r24, %r11, %r23;
    add.u32 %r25, %r12, %r23;
    xor.b32 %r26, %r22, 1;
EMPTY:
    mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r25], %r26;
    @!%p4 bra EMPTY;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [%r24], 1024;
    shl.b32 %r27, %r21, 10;
    add.u32 %r27, %r27, %r10;
    mul.wide.u32 %d3, %r20, 1024;
    add.s64 %d3, %i, %d3;
    mov.u32 %r28, 512;
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r27], [%d3], %r28, [%r24];
    cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r27+512], [%d3+512], 512, [%r24];
    add.u32 %r20, %r20, 1;
    add.u32 %r21, %r21, 1;
    setp.eq.u32 %p5, %r21, 3;
    @%p5 mov.u32 %r21, 0;
    @%p5 xor.b32 %r22, %r22, 1;
    bra PRODUCE;
CONSUMER:
    setmaxnreg.inc.sync.aligned.u32 232;
    sub.u32 %r30, %t, 128;
    shl.b32 %r31, %r30, 2;
CONSUME:
    setp.ge.u32 %p3, %r20, %n;
    @%p3 bra SUM;
    shl.b32 %r23, %r21, 3;
    add.u32 %r24, %r11, %r23;
    add.u32 %r25, %r12, %r23;
FULL:
    mbarrier.try_wait.parity.shared::cta.b64 %p4, [%r24], %r22;
    @!%p4 bra FULL;
    shl.b32 %r27, %r21, 10;
    add.u32 %r27, %r27, %r10;
    add.u32 %r27, %r27, %r31;
    ld.shared.f32 %f1, [%r27];
    ld.shared.f32 %f2, [%r27+512];
    add.f32 %f0, %f0, %f1;
    fma.rn.f32 %f0, %f2, 0f3F000000, %f0;
    bar.warp.sync 0xffffffff;
    setp.eq.u32 %p6, %l, 0;
    @%p6 mbarrier.arrive.shared::cta.b64 _, [%r25];
    add.u32 %r20, %r20, 1;
    add.u32 %r21, %r21, 1;
    setp.eq.u32 %p5, %r21, 3;
    @%p5 mov.u32 %r21, 0;
    @%p5 xor.b32 %r22, %r22, 1;
    bra CONSUME;
SUM:
    mul.wide.u32 %d4, %r30, 4;
    add.s64 %d4, %o, %d4;
    st.global.f32 [%d4], %f0;
DONE:
)"),
        // Two lanes store halves of a tile in one group each, of which one may be under way while the next tile is made.
        kernel("stores", 64, R"(
    .shared .align 128 .b8 tile[2048];
    mov.u32 %r10, tile;
    shl.b32 %r11, %t, 4;
    mul.wide.u32 %d2, %t, 16;
    mov.u32 %r20, 0;
TRIP:
    setp.ge.u32 %p1, %r20, %n;
    @%p1 bra LAST;
    and.b32 %r21, %r20, 1;
    shl.b32 %r21, %r21, 10;
    add.u32 %r21, %r21, %r10;
    add.u32 %r22, %r21, %r11;
    mul.wide.u32 %d3, %r20, 1024;
    add.s64 %d4, %i, %d3;
    add.s64 %d4, %d4, %d2;
    ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d4];
    fma.rn.f32 %f1, %f1, 0f40000000, %f2;
    st.shared.v4.f32 [%r22], {%f1, %f2, %f3, %f4};
    fence.proxy.async.shared::cta;
    bar.sync 1, 64;
    setp.ge.u32 %p2, %t, 2;
    @%p2 bra NEXT;
    shl.b32 %r23, %t, 9;
    add.u32 %r23, %r23, %r21;
    add.s64 %d5, %o, %d3;
    mul.wide.u32 %d6, %t, 512;
    add.s64 %d5, %d5, %d6;
    cp.async.bulk.global.shared::cta.bulk_group [%d5], [%r23], 256;
    cp.async.bulk.global.shared::cta.bulk_group [%d5+256], [%r23+256], 256;
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group.read 1;
    cp.async.bulk.wait_group 1;
NEXT:
    bar.sync 0;
    add.u32 %r20, %r20, 1;
    bra TRIP;
LAST:
    setp.lt.u32 %p2, %t, 2;
    @%p2 cp.async.bulk.wait_group 0;
)"),
        // Phases by what an arrival gives back; generic addresses; a wait that writes its own guard.
        kernel("tokens", 96, R"(
    .shared .align 8 .b8 words[384];
    .shared .align 8 .b64 turn[2];
    mov.u32 %r10, words;
    mov.u32 %r11, turn;
    cvt.u64.u32 %d2, %r11;
    cvta.shared.u64 %d2, %d2;
    setp.ne.u32 %p0, %t, 0;
    @%p0 bra READY;
    mbarrier.init.shared.b64 [turn], 96;
    mbarrier.init.b64 [%d2+8], 96;
READY:
    bar.sync 0;
    shl.b32 %r12, %t, 2;
    add.u32 %r12, %r12, %r10;
    xor.b32 %r13, %t, 33;
    rem.u32 %r13, %r13, 96;
    shl.b32 %r13, %r13, 2;
    add.u32 %r13, %r13, %r10;
    mov.u32 %r20, 0;
    add.s64 %d3, %i, %d0;
TRIP:
    setp.ge.u32 %p1, %r20, %n;
    @%p1 bra LAST;
    ld.global.f32 %f1, [%d3];
    add.s64 %d3, %d3, 384;
    st.shared.f32 [%r12], %f1;
    mbarrier.arrive.shared.b64 %d4, [%r11];
TEST:
    mbarrier.test_wait.shared.b64 %p4, [%r11], %d4;
    @!%p4 bra TEST;
    ld.shared.f32 %f2, [%r13];
    add.f32 %f0, %f0, %f2;
    and.b32 %r21, %r20, 1;
    setp.eq.u32 %p5, %r21, 0;
    @%p5 mbarrier.arrive.b64 %d5, [%d2+8];
    @!%p5 mbarrier.arrive.release.cta.shared::cta.b64 %d5, [turn+8], 1;
    @%p5 bra BY_PARITY;
TRY:
    mbarrier.try_wait.b64 %p4, [%d2+8], %d5;
    @!%p4 bra TRY;
    bra NEXT;
BY_PARITY:
    setp.ne.u32 %p6, %r20, %r20;
AGAIN:
    @!%p6 mbarrier.try_wait.parity.acquire.cta.shared::cta.b64 %p6, [%r11+8], %r21, 100;
    @!%p6 bra AGAIN;
NEXT:
    add.u32 %r20, %r20, 1;
    bra TRIP;
LAST:
    st.global.f32 [%d1], %f0;
    bar.sync 0;
    @!%p0 mbarrier.inval.shared.b64 [%r11];
)"),
        // Copies of each thread that two barriers are told of, each in its way.
        kernel("copies", 64, R"(
    .shared .align 16 .b8 tile[2048];
    .shared .align 8 .b8 bars[16];
    mov.u32 %r10, tile;
    mov.u32 %r11, bars;
    setp.ne.u32 %p0, %t, 0;
    @%p0 bra READY;
    mbarrier.init.shared.b64 [%r11], 64;
    mbarrier.init.shared.b64 [%r11+8], 64;
READY:
    bar.sync 0;
    shl.b32 %r12, %t, 4;
    add.u32 %r12, %r12, %r10;
    xor.b32 %r13, %t, 37;
    shl.b32 %r13, %r13, 4;
    add.u32 %r13, %r13, %r10;
    mul.wide.u32 %d2, %t, 16;
    add.s64 %d2, %i, %d2;
    mov.u32 %r20, 0;
TRIP:
    setp.ge.u32 %p1, %r20, %n;
    @%p1 bra LAST;
    and.b32 %r22, %r20, 1;
    cp.async.ca.shared.global [%r12], [%d2], 16;
    cp.async.mbarrier.arrive.noinc.shared.b64 [%r11];
    cp.async.cg.shared.global [%r12+1024], [%d2+1024], 16;
    cp.async.mbarrier.arrive.shared.b64 [%r11+8];
    mbarrier.arrive.shared.b64 _, [%r11+8];
    add.s64 %d2, %d2, 1024;
FIRST:
    mbarrier.test_wait.parity.shared.b64 %p4, [%r11], %r22;
    @!%p4 bra FIRST;
    ld.shared.f32 %f1, [%r13];
    add.f32 %f0, %f0, %f1;
SECOND:
    mbarrier.try_wait.parity.shared.b64 %p4, [%r11+8], %r22;
    @!%p4 bra SECOND;
    ld.shared.f32 %f1, [%r13+1024];
    fma.rn.f32 %f0, %f1, 0f40400000, %f0;
    bar.sync 0;
    add.u32 %r20, %r20, 1;
    bra TRIP;
LAST:
    st.global.f32 [%d1], %f0;
)"),
        // Arrivals of different counts, bytes that threads bring, and a warp that leaves the barrier behind.
        kernel("drops", 64, R"(
    .shared .align 8 .b8 bar[8];
    mov.u32 %r11, bar;
    setp.ne.u32 %p0, %t, 0;
    @%p0 bra READY;
    mbarrier.init.shared.b64 [%r11], 65;
READY:
    bar.sync 0;
    mov.u32 %r20, 0;
TRIP:
    setp.ge.u32 %p1, %r20, %n;
    @%p1 bra LAST;
    and.b32 %r22, %r20, 1;
    setp.eq.u32 %p2, %t, 1;
    mov.u32 %r24, 48;
    @%p2 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%r11], %r24;
    mov.u32 %r25, 2;
    setp.eq.u32 %p7, %t, 2;
    setp.ne.u32 %p3, %w, 1;
    @%p3 bra STAYS;
    mbarrier.arrive_drop.shared.b64 %d4, [%r11];
    bra LAST;
STAYS:
    @%p2 mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%r11], 48;
    @%p7 mbarrier.arrive.release.cta.shared::cta.b64 %d4, [%r11], %r25;
    @!%p7 mbarrier.arrive.shared.b64 %d4, [%r11];
WAIT:
    mbarrier.try_wait.shared::cta.b64 %p4, [%r11], %d4;
    @!%p4 bra WAIT;
    add.f32 %f0, %f0, 0f3F800000;
    add.u32 %r20, %r20, 1;
    bra TRIP;
LAST:
    st.global.f32 [%d1], %f0;
)"),
        // Boxes of a tensor, the first of them partly outside, are loaded, changed, and stored as boxes of another.
        kernel("boxes", 128, R"(
    .shared .align 1024 .b8 tile[512];
    .shared .align 8 .b8 bar[8];
    mov.u32 %r10, tile;
    mov.u32 %r11, bar;
    mov.b64 %d10, map_in;
    mov.b64 %d11, map_out;
    cvta.param.u64 %d10, %d10;
    cvta.param.u64 %d11, %d11;
    setp.ne.u32 %p0, %t, 0;
    @%p0 bra READY;
    mbarrier.init.shared.b64 [%r11], 1;
    fence.proxy.async.shared::cta;
READY:
    bar.sync 0;
    shl.b32 %r12, %t, 2;
    add.u32 %r12, %r12, %r10;
    mov.u32 %r20, 0;
    mov.u32 %r21, -4;
TRIP:
    setp.ge.u32 %p1, %r20, %n;
    @%p1 bra LAST;
    and.b32 %r22, %r20, 3;
    shl.b32 %r22, %r22, 4;
    and.b32 %r23, %r20, 1;
    @%p0 bra WAIT;
    mbarrier.arrive.expect_tx.shared.b64 _, [%r11], 512;
    cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%r10], [%d10, {%r22, %r21}], [%r11];
WAIT:
    mbarrier.try_wait.parity.shared.b64 %p4, [%r11], %r23;
    @!%p4 bra WAIT;
    ld.shared.f32 %f1, [%r12];
    add.f32 %f1, %f1, 0f40000000;
    st.shared.f32 [%r12], %f1;
    fence.proxy.async.shared::cta;
    bar.sync 0;
    @%p0 bra NEXT;
    add.u32 %r24, %r21, 4;
    cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%d11, {%r22, %r24}], [%r10];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
NEXT:
    bar.sync 0;
    add.u32 %r20, %r20, 1;
    add.u32 %r21, %r21, 3;
    bra TRIP;
LAST:
)",
               true),
        // Four warps multiply 64 x 16 by 16 x 8 halves in shared memory, again and again.
        kernel("product", 128, R"(
    .shared .align 128 .b8 a[2048];
    .shared .align 128 .b8 b[256];
    .reg .b16 %h<8>;
    mov.u32 %r10, a;
    mov.u32 %r11, b;
    mul.wide.u32 %d2, %t, 32;
    add.s64 %d2, %i, %d2;
    ld.global.v4.f32 {%f1, %f2, %f3, %f4}, [%d2];
    ld.global.v4.f32 {%f5, %f6, %f7, %f8}, [%d2+16];
    cvt.rn.f16.f32 %h0, %f1;
    cvt.rn.f16.f32 %h1, %f2;
    cvt.rn.f16.f32 %h2, %f3;
    cvt.rn.f16.f32 %h3, %f4;
    cvt.rn.f16.f32 %h4, %f5;
    cvt.rn.f16.f32 %h5, %f6;
    cvt.rn.f16.f32 %h6, %f7;
    cvt.rn.f16.f32 %h7, %f8;
    mov.b32 %r1, {%h0, %h1};
    mov.b32 %r2, {%h2, %h3};
    mov.b32 %r3, {%h4, %h5};
    mov.b32 %r4, {%h6, %h7};
    shl.b32 %r12, %t, 4;
    add.u32 %r13, %r10, %r12;
    st.shared.v4.b32 [%r13], {%r1, %r2, %r3, %r4};
    setp.ge.u32 %p1, %t, 16;
    @%p1 bra FILLED;
    add.u32 %r13, %r11, %r12;
    st.shared.v4.b32 [%r13], {%r1, %r2, %r3, %r4};
FILLED:
    fence.proxy.async.shared::cta;
    bar.sync 0;
    shr.u32 %r10, %r10, 4;
    shr.u32 %r11, %r11, 4;
    cvt.u64.u32 %d10, %r10;
    cvt.u64.u32 %d11, %r11;
    or.b64 %d10, %d10, 34363932672;
    or.b64 %d11, %d11, 34360262656;
    mov.f32 %f1, 0f00000000;
    mov.f32 %f2, 0f00000000;
    mov.f32 %f3, 0f00000000;
    mov.f32 %f4, 0f00000000;
    setp.eq.u32 %p2, %t, %t;
    mov.u32 %r20, 0;
TRIP:
    setp.ge.u32 %p3, %r20, %n;
    @%p3 bra LAST;
    wgmma.fence.sync.aligned;
    wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f1, %f2, %f3, %f4}, %d10, %d11, %p2, 1, 1, 0, 0;
    wgmma.commit_group.sync.aligned;
    wgmma.wait_group.sync.aligned 0;
    add.u32 %r20, %r20, 1;
    bra TRIP;
LAST:
    mul.wide.u32 %d3, %t, 16;
    add.s64 %d3, %o, %d3;
    st.global.v4.f32 [%d3], {%f1, %f2, %f3, %f4};
)"),
    };
}

}  // namespace tilescope
