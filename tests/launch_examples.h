// Launches that are no product, described by hand as a program would: what tests/data/launches holds.
#pragma once

#include <bit>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "kernels/run/record.h"
#include "tests/file_text.h"
#include "tests/recorded.h"

namespace tilescope::kernels {

template <class T>
Contents stored(const std::vector<T>& values) {
    auto bytes = std::make_shared<std::vector<std::byte>>(values.size() * sizeof(T));
    std::memcpy(bytes->data(), values.data(), bytes->size());
    return {Contents::Kind::Stored, 0, 0, std::move(bytes)};
}

inline Array global_array(std::string name, ArrayRole role, ElementType type, std::vector<uint32_t> extents) {
    Array array;
    array.name = std::move(name);
    array.role = role;
    array.type = type;
    array.rank = static_cast<uint8_t>(extents.size());
    array.cols = extents.back();
    if (extents.size() > 1) array.rows = extents[extents.size() - 2];
    if (extents.size() > 2) array.slices = extents[0];
    return array;
}

inline std::string launch_text(const std::string& file) {
    return file_text(std::string(TILESCOPE_SOURCE_DIR) + "/tests/data/launches/" + file);
}

// The kernel with that name, its source and PTX; arrays and sizes are arguments in the order given.
inline Plan example(const std::string& kernel, Dim3 grid, Dim3 block, std::vector<Array> arrays,
                    const std::vector<std::pair<std::string, int>>& sizes) {
    Plan plan;
    plan.kernel = kernel;
    plan.launch.entry = kernel;
    plan.launch.grid = grid;
    plan.launch.block = block;
    for (const Array& array : arrays)
        plan.launch.arguments.push_back(
            {array.name, ElementType::U64, 0, static_cast<int32_t>(plan.launch.arguments.size()), 0});
    for (const auto& [name, value] : sizes)
        plan.launch.arguments.push_back(
            {name, ElementType::S32, static_cast<uint64_t>(static_cast<uint32_t>(value)), -1, 0});
    plan.launch.arrays = std::move(arrays);
    plan.source_name = kernel + ".cu";
    plan.source = launch_text(kernel + ".cu");
    plan.ptx_name = kernel + ".ptx";
    plan.ptx = launch_text(kernel + ".ptx");
    return plan;
}

// A kernel in one block, written by hand in PTX, with its arrays for arguments.
inline Plan by_hand(const std::string& kernel, uint32_t threads, std::vector<Array> arrays,
                    std::string source, const std::string& body) {
    Plan plan;
    plan.kernel = plan.launch.entry = kernel;
    plan.launch.block = {threads, 1, 1};
    std::string parameters;
    for (const Array& array : arrays) {
        parameters += (parameters.empty() ? ".param .u64 " : ", .param .u64 ") + array.name;
        plan.launch.arguments.push_back(
            {array.name, ElementType::U64, 0, static_cast<int32_t>(plan.launch.arguments.size()), 0});
    }
    plan.launch.arrays = std::move(arrays);
    plan.source_name = kernel + ".cu";
    plan.source = std::move(source);
    plan.ptx_name = kernel + ".ptx";
    plan.ptx = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry " + kernel + "(" + parameters +
               ")\n{\n.reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<3>;\n" + body + "ret;\n}\n";
    return plan;
}

// 8 rows of 32 floats, of which bits 4 to 6 of the byte are xor-ed with bits 7 to 9 in shared memory.
inline Plan swizzled_tile() {
    Array in = global_array("in", ArrayRole::Input, ElementType::F32, {8, 32});
    in.contents = {Contents::Kind::SmallIntegers, 1, 0, {}};
    return by_hand("swizzled_tile", 256,
                   {in, global_array("out", ArrayRole::Output, ElementType::F32, {8, 32})},
                   "__shared__ float tile[8][32];\n", R"(
.shared .align 128 .b8 tile[1024];
ld.param.u64 %d0, [in];
ld.param.u64 %d1, [out];
mov.u32 %r0, %tid.x;
mul.wide.u32 %d2, %r0, 4;
add.s64 %d3, %d0, %d2;
ld.global.f32 %f0, [%d3];
shl.b32 %r1, %r0, 2;
shr.u32 %r2, %r1, 3;
and.b32 %r2, %r2, 112;
xor.b32 %r1, %r1, %r2;
mov.u32 %r3, tile;
add.u32 %r3, %r3, %r1;
st.shared.f32 [%r3], %f0;
bar.sync 0;
ld.shared.f32 %f1, [%r3];
add.s64 %d4, %d1, %d2;
st.global.f32 [%d4], %f1;
)");
}

// 32 rows of 64 halves, stored by rows; then each warp reads a column of chunks of 16 bytes, a row a lane.
inline Plan rows_of_halves() {
    Array in = global_array("in", ArrayRole::Input, ElementType::F16, {32, 64});
    in.contents = {Contents::Kind::SmallIntegers, 1, 0, {}};
    return by_hand("rows_of_halves", 256,
                   {in, global_array("out", ArrayRole::Output, ElementType::F16, {32, 64})},
                   "__shared__ __half tile[32][64];\n", R"(
.shared .align 16 .b8 tile[4096];
ld.param.u64 %d0, [in];
ld.param.u64 %d1, [out];
mov.u32 %r0, %tid.x;
mul.wide.u32 %d2, %r0, 16;
add.s64 %d3, %d0, %d2;
ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%d3];
mov.u32 %r5, tile;
shl.b32 %r6, %r0, 4;
add.u32 %r6, %r6, %r5;
st.shared.v4.u32 [%r6], {%r1, %r2, %r3, %r4};
bar.sync 0;
and.b32 %r7, %r0, 31;
shl.b32 %r7, %r7, 7;
shr.u32 %r8, %r0, 5;
shl.b32 %r8, %r8, 4;
add.u32 %r7, %r7, %r8;
cvt.u64.u32 %d5, %r7;
add.u32 %r7, %r7, %r5;
ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r7];
add.s64 %d4, %d1, %d5;
st.global.v4.u32 [%d4], {%r1, %r2, %r3, %r4};
)");
}

// P = A B of 16 x 16 by 16 x 8 halves by one warp: both through shared memory and ldmatrix, and one mma.
inline Plan matrix_tile() {
    Array a = global_array("A", ArrayRole::Input, ElementType::F16, {16, 16}),
          b = global_array("B", ArrayRole::Input, ElementType::F16, {16, 8});
    a.contents = {Contents::Kind::SmallIntegers, 1, 0, {}},
    b.contents = {Contents::Kind::SmallIntegers, 2, 0, {}};
    Plan plan =
        by_hand("matrix_tile", 32, {a, b, global_array("P", ArrayRole::Output, ElementType::F32, {16, 8})},
                "__shared__ __half As[16][16], Bs[16][8];\n", R"(
.reg .b32 %q<12>; .reg .f32 %c<4>;
.shared .align 16 .b8 As[512];
.shared .align 16 .b8 Bs[256];
ld.param.u64 %d0, [A];
ld.param.u64 %d1, [B];
ld.param.u64 %d2, [P];
mov.u32 %r0, %tid.x;
shl.b32 %r1, %r0, 4;
cvt.u64.u32 %d3, %r1;
add.s64 %d3, %d0, %d3;
ld.global.v4.u32 {%q0, %q1, %q2, %q3}, [%d3];
mov.u32 %r2, As;
add.u32 %r1, %r2, %r1;
st.shared.v4.u32 [%r1], {%q0, %q1, %q2, %q3};
shl.b32 %r3, %r0, 3;
cvt.u64.u32 %d4, %r3;
add.s64 %d5, %d1, %d4;
ld.global.v2.u32 {%q4, %q5}, [%d5];
mov.u32 %r4, Bs;
add.u32 %r3, %r4, %r3;
st.shared.v2.u32 [%r3], {%q4, %q5};
bar.sync 0;
and.b32 %r5, %r0, 15;
shl.b32 %r6, %r5, 5;
add.u32 %r6, %r2, %r6;
shr.u32 %r7, %r0, 4;
shl.b32 %r7, %r7, 4;
add.u32 %r6, %r6, %r7;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%q6, %q7, %q8, %q9}, [%r6];
shl.b32 %r8, %r5, 4;
add.u32 %r8, %r4, %r8;
ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%q10, %q11}, [%r8];
mov.f32 %c0, 0f00000000;
mov.f32 %c1, %c0;
mov.f32 %c2, %c0;
mov.f32 %c3, %c0;
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%c0, %c1, %c2, %c3}, {%q6, %q7, %q8, %q9}, {%q10, %q11}, {%c0, %c1, %c2, %c3};
add.s64 %d4, %d2, %d4;
st.global.v2.f32 [%d4], {%c0, %c1};
st.global.v2.f32 [%d4+256], {%c2, %c3};
)");
    plan.ptx.replace(plan.ptx.find("sm_70"), 5, "sm_80");
    return plan;
}

// c = a + b on 100 doubles in blocks of 64: the second block's last warp and a half have nothing to do.
inline Plan vector_add() {
    std::vector<double> a(100), b(100);
    for (size_t i = 0; i < a.size(); ++i)
        a[i] = 0.25 * static_cast<double>(i), b[i] = 1e10 - static_cast<double>(i);
    Array in_a = global_array("a", ArrayRole::Input, ElementType::F64, {100});
    Array in_b = global_array("b", ArrayRole::Input, ElementType::F64, {100});
    in_a.contents = stored(a), in_b.contents = stored(b);
    return example("vector_add", {2, 1, 1}, {64, 1, 1},
                   {in_a, in_b, global_array("c", ArrayRole::Output, ElementType::F64, {100})}, {{"n", 100}});
}

// 6 x 10 x 20 points in blocks of 2 x 4 x 8 threads.
inline Plan stencil() {
    Array in = global_array("in", ArrayRole::Input, ElementType::F32, {6, 10, 20});
    in.contents = {Contents::Kind::SmallIntegers, 11, 0, {}};
    return example("stencil", {3, 3, 3}, {8, 4, 2},
                   {in, global_array("out", ArrayRole::Output, ElementType::F32, {6, 10, 20})},
                   {{"depth", 6}, {"height", 10}, {"width", 20}});
}

// 300 numbers in 16 bins, two blocks of one warp.
inline Plan histogram() {
    std::vector<int32_t> data(300);
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int32_t>(i * i % 37);
    Array in = global_array("data", ArrayRole::Input, ElementType::S32, {300});
    in.contents = stored(data);
    return example("histogram", {2, 1, 1}, {32, 1, 1},
                   {in, global_array("counts", ArrayRole::Output, ElementType::S32, {2, 16})}, {{"n", 300}});
}

// 70 numbers of 16 bits, turned round in blocks of 32, in place.
inline Plan reverse() {
    std::vector<uint16_t> values(70);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint16_t>(60000 + i);
    Array array = global_array("values", ArrayRole::InOut, ElementType::U16, {70});
    array.contents = stored(values);
    Plan plan = example("reverse", {3, 1, 1}, {32, 1, 1}, {array}, {{"n", 70}});
    plan.launch.dynamic_shared = 64;
    return plan;
}

// 64 pairs of floats in two blocks: vector loads, and a kernel whose name in the PTX is mangled.
inline Plan pairs() {
    Array in = global_array("in", ArrayRole::Input, ElementType::F32, {128});
    in.contents = {Contents::Kind::SmallIntegers, 5, 0, {}};
    Plan plan = example("pairs", {2, 1, 1}, {32, 1, 1},
                        {in, global_array("out", ArrayRole::Output, ElementType::F32, {64})}, {});
    plan.launch.entry = "_Z5pairsPK4PairPf";
    return plan;
}

// 300 numbers in 8 bins, four blocks of 96 threads: atomics of shared and of global memory.
inline Plan bins() {
    std::vector<int32_t> data(300);
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<int32_t>(i * i % 37);
    Array in = global_array("data", ArrayRole::Input, ElementType::S32, {300});
    in.contents = stored(data);
    return example("bins", {4, 1, 1}, {96, 1, 1},
                   {in, global_array("total", ArrayRole::InOut, ElementType::S32, {8}),
                    global_array("last", ArrayRole::InOut, ElementType::S32, {2})},
                   {{"n", 300}});
}

// 70 points in three blocks of a warp: constant memory, and an array of each thread in local memory.
inline Plan filter() {
    std::vector<float> data(70);
    for (size_t i = 0; i < data.size(); ++i) data[i] = static_cast<float>(i * 5 % 11);
    Array in = global_array("in", ArrayRole::Input, ElementType::F32, {70});
    in.contents = stored(data);
    return example("filter", {3, 1, 1}, {32, 1, 1},
                   {in, global_array("out", ArrayRole::Output, ElementType::F32, {70})},
                   {{"n", 70}, {"first", 3}});
}

// 150 numbers turned round in tiles of 64, in one block of two warps, which cp.async brings.
inline Plan copies() {
    Array in = global_array("in", ArrayRole::Input, ElementType::F32, {150});
    in.contents = {Contents::Kind::SmallIntegers, 3, 0, {}};
    return example("copies", {1, 1, 1}, {64, 1, 1},
                   {in, global_array("out", ArrayRole::Output, ElementType::F32, {150})}, {{"n", 150}});
}

// Sums of 32 numbers by shuffles, in a block of 96 threads whose last warp leaves at once: lane 0 of each warp
// stores alone.
inline Plan warp_sums() {
    Array in = global_array("in", ArrayRole::Input, ElementType::S32, {64});
    in.contents = {Contents::Kind::SmallIntegers, 3, 0, {}};
    Plan plan;
    plan.kernel = plan.launch.entry = "warp_sums";
    plan.launch.block = {96, 1, 1};
    plan.launch.arrays = {in, global_array("out", ArrayRole::Output, ElementType::S32, {2})};
    plan.launch.arguments = {{"in", ElementType::U64, 0, 0, 0}, {"out", ElementType::U64, 0, 1, 0}};
    plan.ptx_name = "warp_sums.ptx";
    plan.ptx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry warp_sums(.param .u64 warp_sums_param_0, .param .u64 warp_sums_param_1)
{
    .reg .pred %p<3>;
    .reg .b32 %r<9>;
    .reg .b64 %rd<7>;
    mov.u32 %r1, %tid.x;
    setp.gt.u32 %p1, %r1, 63;
    @%p1 bra DONE;
    ld.param.u64 %rd1, [warp_sums_param_0];
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd3, %rd2, %rd3;
    ld.global.u32 %r2, [%rd3];
    shfl.sync.down.b32 %r3, %r2, 16, 31, -1;
    add.s32 %r2, %r2, %r3;
    and.b32 %r4, %r1, 31;
    setp.ne.s32 %p2, %r4, 0;
    @%p2 bra DONE;
    ld.param.u64 %rd4, [warp_sums_param_1];
    cvta.to.global.u64 %rd5, %rd4;
    shr.u32 %r5, %r1, 5;
    mul.wide.u32 %rd6, %r5, 4;
    add.s64 %rd6, %rd5, %rd6;
    st.global.u32 [%rd6], %r2;
DONE:
    ret;
}
)";
    return plan;
}

// Sums of a block of 128 numbers, 2 blocks: the warps by shuffles, and the first warp of what the four of them
// left in shared memory. The numbers are floats, moved as bits.
inline Plan block_sums() {
    Array in = global_array("in", ArrayRole::Input, ElementType::F32, {256});
    in.contents = {Contents::Kind::SmallIntegers, 5, 0, {}};
    Plan plan;
    plan.kernel = plan.launch.entry = "block_sums";
    plan.launch.grid = {2, 1, 1};
    plan.launch.block = {128, 1, 1};
    plan.launch.arrays = {in, global_array("out", ArrayRole::Output, ElementType::F32, {2})};
    plan.launch.arguments = {{"in", ElementType::U64, 0, 0, 0}, {"out", ElementType::U64, 0, 1, 0}};
    plan.ptx_name = "block_sums.ptx";
    std::string five;
    for (const char* const by : {"16", "8", "4", "2", "1"})
        five += std::string("    mov.b32 %r4, %f1;\n    shfl.sync.down.b32 %r5, %r4, ") + by +
                ", 31, -1;\n    mov.b32 %f2, %r5;\n    add.rn.f32 %f1, %f1, %f2;\n";
    plan.ptx = R"(.version 7.0
.target sm_70
.address_size 64
.visible .entry block_sums(.param .u64 block_sums_param_0, .param .u64 block_sums_param_1)
{
    .shared .align 4 .b8 sums[16];
    .reg .pred %p<4>;
    .reg .b32 %r<12>;
    .reg .f32 %f<4>;
    .reg .b64 %rd<9>;
    mov.u32 %r1, %tid.x;
    mov.u32 %r2, %ctaid.x;
    shl.b32 %r3, %r2, 7;
    add.s32 %r3, %r3, %r1;
    ld.param.u64 %rd1, [block_sums_param_0];
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r3, 4;
    add.s64 %rd3, %rd2, %rd3;
    ld.global.f32 %f1, [%rd3];
)" + five + R"(
    and.b32 %r6, %r1, 31;
    shr.u32 %r7, %r1, 5;
    setp.ne.s32 %p1, %r6, 0;
    mov.u32 %r8, sums;
    shl.b32 %r9, %r7, 2;
    add.s32 %r8, %r8, %r9;
    @%p1 bra AT_BARRIER;
    st.shared.f32 [%r8], %f1;
AT_BARRIER:
    bar.sync 0;
    setp.gt.u32 %p2, %r1, 31;
    @%p2 bra DONE;
    mov.f32 %f1, 0f00000000;
    setp.gt.u32 %p3, %r1, 3;
    @%p3 bra SUM;
    mov.u32 %r10, sums;
    shl.b32 %r11, %r1, 2;
    add.s32 %r10, %r10, %r11;
    ld.shared.f32 %f1, [%r10];
SUM:
)" + five + R"(
    @%p1 bra DONE;
    ld.param.u64 %rd4, [block_sums_param_1];
    cvta.to.global.u64 %rd5, %rd4;
    mul.wide.u32 %rd6, %r2, 4;
    add.s64 %rd6, %rd5, %rd6;
    st.global.f32 [%rd6], %f1;
DONE:
    ret;
}
)";
    return plan;
}

// A warp's exchanges of other kinds, of lane i's value v = i: what a ballot of v < 20 and a vote say, which lanes hold
// the same v / 8, and the sum of all v. Lanes of `active` alone make a last shuffle, down by 4, whose mask names all.
inline Plan warp_talk(uint32_t active = ~0u) {
    Plan plan;
    plan.kernel = plan.launch.entry = "warp_talk";
    plan.launch.block = {32, 1, 1};
    plan.launch.arrays = {global_array("out", ArrayRole::Output, ElementType::U32, {32})};
    plan.launch.arguments = {{"out", ElementType::U64, 0, 0, 0}};
    plan.ptx_name = "warp_talk.ptx";
    plan.ptx = R"(.version 7.0
.target sm_80
.address_size 64
.visible .entry warp_talk(.param .u64 warp_talk_param_0)
{
    .reg .pred %p<6>;
    .reg .b32 %r<12>;
    .reg .b64 %rd<4>;
    mov.u32 %r1, %tid.x;
    setp.lt.u32 %p1, %r1, 20;
    vote.sync.ballot.b32 %r2, %p1, -1;
    popc.b32 %r3, %r2;
    vote.sync.any.pred %p2, %p1, -1;
    shr.u32 %r4, %r1, 3;
    match.any.sync.b32 %r5, %r4, -1;
    redux.sync.add.s32 %r6, %r1, -1;
    add.s32 %r3, %r3, %r6;
    shr.u32 %r7, )" +
               std::to_string(active) + R"(, %r1;
    and.b32 %r7, %r7, 1;
    setp.eq.u32 %p3, %r7, 0;
    @%p3 bra STORE;
    shfl.sync.down.b32 %r8, %r1, 4, 31, -1;
    add.s32 %r3, %r3, %r8;
STORE:
    ld.param.u64 %rd1, [warp_talk_param_0];
    cvta.to.global.u64 %rd2, %rd1;
    mul.wide.u32 %rd3, %r1, 4;
    add.s64 %rd3, %rd2, %rd3;
    st.global.u32 [%rd3], %r3;
    ret;
}
)";
    return plan;
}

inline std::vector<Plan> launch_examples() { return {vector_add(), stencil(), histogram(), reverse()}; }

}  // namespace tilescope::kernels
