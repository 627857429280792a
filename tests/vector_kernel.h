// A recording of a kernel written by hand that is no product and has no source: every lane loads and stores
// four neighbours at once, one cell holds a zero, and all lanes read the first cell 300 times.
#pragma once

#include "tests/launches.h"
#include "tests/recorded.h"

namespace tilescope {

inline constexpr uint8_t kVectorIn = 0, kVectorTile = 2;  // its arrays: in[32], out[8], tile[40]

inline trace::Trace vector_recording() {
    kernels::Plan plan;
    plan.kernel = "vectors";
    const auto list = [](const char* name, Space space, ArrayRole role, uint32_t elements) {
        Array array = test_array(name, space, role, 1, elements, 0, name);
        array.rank = 1;
        return array;
    };
    plan.launch = test_launch(
        {list("in", Space::Global, ArrayRole::Input, 32), list("out", Space::Global, ArrayRole::Output, 8),
         list("tile", Space::Shared, ArrayRole::Shared, 40)},
        {1, 1, 1}, {8, 1, 1});
    plan.ptx_name = "vectors.ptx";
    plan.ptx = R"(.version 6.2
.target sm_70
.address_size 64
.visible .entry vectors(.param .u64 in, .param .u64 out)
{
    .shared .align 16 .b8 tile[160];
    .reg .b32 %r<5>; .reg .f32 %f<5>; .reg .b64 %d<4>; .reg .pred %p;
    mov.u32 %r0, %tid.x;
    ld.param.u64 %d0, [in];
    ld.param.u64 %d1, [out];
    mul.wide.u32 %d2, %r0, 16;
    add.s64 %d3, %d0, %d2;
    ld.global.v4.f32 {%f0, %f1, %f2, %f3}, [%d3];
    mov.u32 %r1, tile;
    shl.b32 %r2, %r0, 4;
    add.s32 %r2, %r1, %r2;
    st.shared.v4.f32 [%r2], {%f0, %f1, %f2, %f3};
    mov.f32 %f4, 0f00000000;
    st.shared.f32 [%r1+128], %f4;
    bar.sync 0;
    mov.u32 %r3, 0;
AGAIN:
    ld.shared.f32 %f4, [%r1];
    add.s32 %r3, %r3, 1;
    setp.lt.u32 %p, %r3, 300;
    @%p bra AGAIN;
    mul.wide.u32 %d2, %r0, 4;
    add.s64 %d3, %d1, %d2;
    st.global.f32 [%d3], %f4;
    ret;
}
)";
    return kernels::recorded(plan);
}

}  // namespace tilescope
