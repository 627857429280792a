// What the GPU's half precision gives, bit for bit, on the operands of half_operands.h: all 65,536 of one half, special and
// random ones otherwise.
//
//     halves            a line for each instruction: its name, and a hash of every 1,024 results; of functions that no
//                       manual defines (ex2, tanh) "table", its name, and the results of all 65,536 operands as runs:
//                       STEP:COUNT, COUNT times the result before and STEP modulo 2^16, from 0 on
//     halves raw NAME   operands and results of one instruction, a case a line, to see what differs
//     halves rules      of ex2 and tanh, how many results are those of the f32 instruction rounded once, and of the
//                       exact function
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "half_operands.h"

using half_operands::Kind;
using half_operands::Operands;

struct Asked {
    const char* name;
    Kind kind;
    bool brain, alone;
    void (*kernel)(uint32_t* out, Kind kind, bool brain, bool alone);
};
static std::vector<Asked>& asked() {
    static std::vector<Asked> all;
    return all;
}

template <class F>
__global__ void each_case(uint32_t* out, Kind kind, bool brain, bool alone) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = F::of(half_operands::operands(kind, brain, alone, i));
}
template <class F>
void launch(uint32_t* out, Kind kind, bool brain, bool alone) {
    each_case<F><<<half_operands::kCases / 256, 256>>>(out, kind, brain, alone);
}

template <class T>
__device__ T as(uint32_t word) {
    return static_cast<T>(word);
}
template <>
__device__ float as<float>(uint32_t word) {
    return __uint_as_float(word);
}

template <class T>
__device__ uint32_t word_of(T value) {
    return static_cast<uint32_t>(value);
}
template <>
__device__ uint32_t word_of<float>(float value) {
    return __float_as_uint(value);
}

using H = unsigned short;
using R = unsigned;
using F = float;
#define LETTER_H "h"
#define LETTER_R "r"
#define LETTER_F "f"
#define KIND_H Kind::Half
#define KIND_R Kind::Pair
#define KIND_F Kind::Float
#define JOIN2(a, b) a##b
#define JOIN(a, b) JOIN2(a, b)
#define ID JOIN(Line, __LINE__)
#define ASK(text, inputs, D, A, count, ...)                                                            \
    struct ID {                                                                                        \
        __device__ static uint32_t of(const Operands& x) {                                             \
            D made;                                                                                    \
            asm volatile(text inputs ";" : "=" LETTER_##D(made) : __VA_ARGS__);                        \
            return word_of(made);                                                                      \
        }                                                                                              \
    };                                                                                                 \
    static const bool JOIN(known, __LINE__) =                                                          \
        (asked().push_back({text, KIND_##A, strstr(text, "bf16") != nullptr, count == 1, launch<ID>}), \
         true);
#define ONE(text, D, A) ASK(text, " %0, %1", D, A, 1, LETTER_##A(as<A>(x.word[0])))
#define TWO(text, D, A) \
    ASK(text, " %0, %1, %2", D, A, 2, LETTER_##A(as<A>(x.word[0])), LETTER_##A(as<A>(x.word[1])))
#define THREE(text, D, A)                                                                             \
    ASK(text, " %0, %1, %2, %3", D, A, 3, LETTER_##A(as<A>(x.word[0])), LETTER_##A(as<A>(x.word[1])), \
        LETTER_##A(as<A>(x.word[2])))

ONE("neg.f16", H, H)
ONE("neg.ftz.f16", H, H)
ONE("abs.f16", H, H)
ONE("abs.ftz.f16", H, H)
ONE("ex2.approx.f16", H, H)
ONE("tanh.approx.f16", H, H)
TWO("add.f16", H, H)
TWO("add.ftz.f16", H, H)
TWO("add.sat.f16", H, H)
TWO("add.ftz.sat.f16", H, H)
TWO("sub.f16", H, H)
TWO("sub.ftz.f16", H, H)
TWO("sub.sat.f16", H, H)
TWO("sub.ftz.sat.f16", H, H)
TWO("mul.f16", H, H)
TWO("mul.ftz.f16", H, H)
TWO("mul.sat.f16", H, H)
TWO("mul.ftz.sat.f16", H, H)
THREE("fma.rn.f16", H, H)
THREE("fma.rn.ftz.f16", H, H)
THREE("fma.rn.sat.f16", H, H)
THREE("fma.rn.ftz.sat.f16", H, H)
THREE("fma.rn.relu.f16", H, H)
THREE("fma.rn.ftz.relu.f16", H, H)
TWO("min.f16", H, H)
TWO("min.xorsign.abs.f16", H, H)
TWO("min.NaN.f16", H, H)
TWO("min.NaN.xorsign.abs.f16", H, H)
TWO("min.ftz.f16", H, H)
TWO("min.ftz.xorsign.abs.f16", H, H)
TWO("min.ftz.NaN.f16", H, H)
TWO("min.ftz.NaN.xorsign.abs.f16", H, H)
TWO("max.f16", H, H)
TWO("max.xorsign.abs.f16", H, H)
TWO("max.NaN.f16", H, H)
TWO("max.NaN.xorsign.abs.f16", H, H)
TWO("max.ftz.f16", H, H)
TWO("max.ftz.xorsign.abs.f16", H, H)
TWO("max.ftz.NaN.f16", H, H)
TWO("max.ftz.NaN.xorsign.abs.f16", H, H)
TWO("set.lt.u32.f16", R, H)
TWO("set.lt.f16.f16", H, H)
TWO("set.ge.u32.f16", R, H)
TWO("set.ge.f16.f16", H, H)
TWO("set.ne.u32.f16", R, H)
TWO("set.ne.f16.f16", H, H)
TWO("set.equ.u32.f16", R, H)
TWO("set.equ.f16.f16", H, H)
TWO("set.neu.u32.f16", R, H)
TWO("set.neu.f16.f16", H, H)
TWO("set.ltu.u32.f16", R, H)
TWO("set.ltu.f16.f16", H, H)
TWO("set.nan.u32.f16", R, H)
TWO("set.nan.f16.f16", H, H)
TWO("set.lt.ftz.u32.f16", R, H)
ONE("neg.f16x2", R, R)
ONE("neg.ftz.f16x2", R, R)
ONE("abs.f16x2", R, R)
ONE("abs.ftz.f16x2", R, R)
ONE("ex2.approx.f16x2", R, R)
ONE("tanh.approx.f16x2", R, R)
TWO("add.f16x2", R, R)
TWO("add.ftz.f16x2", R, R)
TWO("add.sat.f16x2", R, R)
TWO("add.ftz.sat.f16x2", R, R)
TWO("sub.f16x2", R, R)
TWO("sub.ftz.f16x2", R, R)
TWO("sub.sat.f16x2", R, R)
TWO("sub.ftz.sat.f16x2", R, R)
TWO("mul.f16x2", R, R)
TWO("mul.ftz.f16x2", R, R)
TWO("mul.sat.f16x2", R, R)
TWO("mul.ftz.sat.f16x2", R, R)
THREE("fma.rn.f16x2", R, R)
THREE("fma.rn.ftz.f16x2", R, R)
THREE("fma.rn.sat.f16x2", R, R)
THREE("fma.rn.ftz.sat.f16x2", R, R)
THREE("fma.rn.relu.f16x2", R, R)
THREE("fma.rn.ftz.relu.f16x2", R, R)
TWO("min.f16x2", R, R)
TWO("min.xorsign.abs.f16x2", R, R)
TWO("min.NaN.f16x2", R, R)
TWO("min.NaN.xorsign.abs.f16x2", R, R)
TWO("min.ftz.f16x2", R, R)
TWO("min.ftz.xorsign.abs.f16x2", R, R)
TWO("min.ftz.NaN.f16x2", R, R)
TWO("min.ftz.NaN.xorsign.abs.f16x2", R, R)
TWO("max.f16x2", R, R)
TWO("max.xorsign.abs.f16x2", R, R)
TWO("max.NaN.f16x2", R, R)
TWO("max.NaN.xorsign.abs.f16x2", R, R)
TWO("max.ftz.f16x2", R, R)
TWO("max.ftz.xorsign.abs.f16x2", R, R)
TWO("max.ftz.NaN.f16x2", R, R)
TWO("max.ftz.NaN.xorsign.abs.f16x2", R, R)
TWO("set.lt.u32.f16x2", R, R)
TWO("set.lt.f16x2.f16x2", R, R)
TWO("set.ge.u32.f16x2", R, R)
TWO("set.ge.f16x2.f16x2", R, R)
TWO("set.ne.u32.f16x2", R, R)
TWO("set.ne.f16x2.f16x2", R, R)
TWO("set.equ.u32.f16x2", R, R)
TWO("set.equ.f16x2.f16x2", R, R)
TWO("set.neu.u32.f16x2", R, R)
TWO("set.neu.f16x2.f16x2", R, R)
TWO("set.ltu.u32.f16x2", R, R)
TWO("set.ltu.f16x2.f16x2", R, R)
TWO("set.nan.u32.f16x2", R, R)
TWO("set.nan.f16x2.f16x2", R, R)
TWO("set.lt.ftz.u32.f16x2", R, R)
ONE("neg.bf16", H, H)
ONE("abs.bf16", H, H)
ONE("ex2.approx.ftz.bf16", H, H)
ONE("tanh.approx.bf16", H, H)
TWO("add.bf16", H, H)
TWO("sub.bf16", H, H)
TWO("mul.bf16", H, H)
THREE("fma.rn.bf16", H, H)
THREE("fma.rn.relu.bf16", H, H)
TWO("min.bf16", H, H)
TWO("min.xorsign.abs.bf16", H, H)
TWO("min.NaN.bf16", H, H)
TWO("min.NaN.xorsign.abs.bf16", H, H)
TWO("max.bf16", H, H)
TWO("max.xorsign.abs.bf16", H, H)
TWO("max.NaN.bf16", H, H)
TWO("max.NaN.xorsign.abs.bf16", H, H)
TWO("set.lt.u32.bf16", R, H)
TWO("set.lt.bf16.bf16", H, H)
TWO("set.ge.u32.bf16", R, H)
TWO("set.ge.bf16.bf16", H, H)
TWO("set.ne.u32.bf16", R, H)
TWO("set.ne.bf16.bf16", H, H)
TWO("set.equ.u32.bf16", R, H)
TWO("set.equ.bf16.bf16", H, H)
TWO("set.neu.u32.bf16", R, H)
TWO("set.neu.bf16.bf16", H, H)
TWO("set.ltu.u32.bf16", R, H)
TWO("set.ltu.bf16.bf16", H, H)
TWO("set.nan.u32.bf16", R, H)
TWO("set.nan.bf16.bf16", H, H)
ONE("neg.bf16x2", R, R)
ONE("abs.bf16x2", R, R)
ONE("ex2.approx.ftz.bf16x2", R, R)
ONE("tanh.approx.bf16x2", R, R)
TWO("add.bf16x2", R, R)
TWO("sub.bf16x2", R, R)
TWO("mul.bf16x2", R, R)
THREE("fma.rn.bf16x2", R, R)
THREE("fma.rn.relu.bf16x2", R, R)
TWO("min.bf16x2", R, R)
TWO("min.xorsign.abs.bf16x2", R, R)
TWO("min.NaN.bf16x2", R, R)
TWO("min.NaN.xorsign.abs.bf16x2", R, R)
TWO("max.bf16x2", R, R)
TWO("max.xorsign.abs.bf16x2", R, R)
TWO("max.NaN.bf16x2", R, R)
TWO("max.NaN.xorsign.abs.bf16x2", R, R)
TWO("set.lt.u32.bf16x2", R, R)
TWO("set.lt.bf16x2.bf16x2", R, R)
TWO("set.ge.u32.bf16x2", R, R)
TWO("set.ge.bf16x2.bf16x2", R, R)
TWO("set.ne.u32.bf16x2", R, R)
TWO("set.ne.bf16x2.bf16x2", R, R)
TWO("set.equ.u32.bf16x2", R, R)
TWO("set.equ.bf16x2.bf16x2", R, R)
TWO("set.neu.u32.bf16x2", R, R)
TWO("set.neu.bf16x2.bf16x2", R, R)
TWO("set.ltu.u32.bf16x2", R, R)
TWO("set.ltu.bf16x2.bf16x2", R, R)
TWO("set.nan.u32.bf16x2", R, R)
TWO("set.nan.bf16x2.bf16x2", R, R)
TWO("min.xorsign.abs.f32", F, F)
TWO("min.NaN.xorsign.abs.f32", F, F)
TWO("max.xorsign.abs.f32", F, F)
TWO("max.NaN.xorsign.abs.f32", F, F)
ONE("cvt.rn.f16.bf16", H, H)
ONE("cvt.rn.f16.f32", H, F)
ONE("cvt.rz.f16.bf16", H, H)
ONE("cvt.rz.f16.f32", H, F)
ONE("cvt.rm.f16.bf16", H, H)
ONE("cvt.rm.f16.f32", H, F)
ONE("cvt.rp.f16.bf16", H, H)
ONE("cvt.rp.f16.f32", H, F)
ONE("cvt.rn.ftz.f16.f32", H, F)
ONE("cvt.f32.f16", F, H)
ONE("cvt.ftz.f32.f16", F, H)
ONE("cvt.rni.f16.f16", H, H)
ONE("cvt.rni.s32.f16", R, H)
ONE("cvt.rzi.f16.f16", H, H)
ONE("cvt.rzi.s32.f16", R, H)
ONE("cvt.rmi.f16.f16", H, H)
ONE("cvt.rmi.s32.f16", R, H)
ONE("cvt.rpi.f16.f16", H, H)
ONE("cvt.rpi.s32.f16", R, H)
TWO("cvt.rn.f16x2.f32", R, F)
ONE("cvt.rn.relu.f16.f32", H, F)
TWO("cvt.rn.relu.f16x2.f32", R, F)
ONE("cvt.rn.satfinite.f16.f32", H, F)
TWO("cvt.rn.satfinite.f16x2.f32", R, F)
ONE("cvt.rn.relu.satfinite.f16.f32", H, F)
TWO("cvt.rn.relu.satfinite.f16x2.f32", R, F)
TWO("cvt.rz.f16x2.f32", R, F)
ONE("cvt.rz.relu.f16.f32", H, F)
TWO("cvt.rz.relu.f16x2.f32", R, F)
ONE("cvt.rz.satfinite.f16.f32", H, F)
TWO("cvt.rz.satfinite.f16x2.f32", R, F)
ONE("cvt.rz.relu.satfinite.f16.f32", H, F)
TWO("cvt.rz.relu.satfinite.f16x2.f32", R, F)
ONE("cvt.rn.bf16.f16", H, H)
ONE("cvt.rn.bf16.f32", H, F)
ONE("cvt.rz.bf16.f16", H, H)
ONE("cvt.rz.bf16.f32", H, F)
ONE("cvt.rm.bf16.f16", H, H)
ONE("cvt.rm.bf16.f32", H, F)
ONE("cvt.rp.bf16.f16", H, H)
ONE("cvt.rp.bf16.f32", H, F)
ONE("cvt.rn.ftz.bf16.f32", H, F)
ONE("cvt.f32.bf16", F, H)
ONE("cvt.ftz.f32.bf16", F, H)
ONE("cvt.rni.bf16.bf16", H, H)
ONE("cvt.rni.s32.bf16", R, H)
ONE("cvt.rzi.bf16.bf16", H, H)
ONE("cvt.rzi.s32.bf16", R, H)
ONE("cvt.rmi.bf16.bf16", H, H)
ONE("cvt.rmi.s32.bf16", R, H)
ONE("cvt.rpi.bf16.bf16", H, H)
ONE("cvt.rpi.s32.bf16", R, H)
TWO("cvt.rn.bf16x2.f32", R, F)
ONE("cvt.rn.relu.bf16.f32", H, F)
TWO("cvt.rn.relu.bf16x2.f32", R, F)
ONE("cvt.rn.satfinite.bf16.f32", H, F)
TWO("cvt.rn.satfinite.bf16x2.f32", R, F)
ONE("cvt.rn.relu.satfinite.bf16.f32", H, F)
TWO("cvt.rn.relu.satfinite.bf16x2.f32", R, F)
TWO("cvt.rz.bf16x2.f32", R, F)
ONE("cvt.rz.relu.bf16.f32", H, F)
TWO("cvt.rz.relu.bf16x2.f32", R, F)
ONE("cvt.rz.satfinite.bf16.f32", H, F)
TWO("cvt.rz.satfinite.bf16x2.f32", R, F)
ONE("cvt.rz.relu.satfinite.bf16.f32", H, F)
TWO("cvt.rz.relu.satfinite.bf16x2.f32", R, F)
ONE("cvt.rn.sat.f16.f32", H, F)
ONE("cvt.rna.tf32.f32", R, F)
ONE("cvt.rna.satfinite.tf32.f32", R, F)
ONE("cvt.rn.tf32.f32", R, F)
ONE("cvt.rz.tf32.f32", R, F)
ONE("cvt.rn.relu.tf32.f32", R, F)
ONE("cvt.rz.relu.tf32.f32", R, F)
TWO("cvt.rn.satfinite.e4m3x2.f32", H, F)
ONE("cvt.rn.satfinite.e4m3x2.f16x2", H, R)
ONE("cvt.rn.f16x2.e4m3x2", R, H)
TWO("cvt.rn.satfinite.relu.e4m3x2.f32", H, F)
ONE("cvt.rn.satfinite.relu.e4m3x2.f16x2", H, R)
ONE("cvt.rn.relu.f16x2.e4m3x2", R, H)
TWO("cvt.rn.satfinite.e5m2x2.f32", H, F)
ONE("cvt.rn.satfinite.e5m2x2.f16x2", H, R)
ONE("cvt.rn.f16x2.e5m2x2", R, H)
TWO("cvt.rn.satfinite.relu.e5m2x2.f32", H, F)
ONE("cvt.rn.satfinite.relu.e5m2x2.f16x2", H, R)
ONE("cvt.rn.relu.f16x2.e5m2x2", R, H)

static std::vector<uint32_t> results_of(const Asked& one) {
    std::vector<uint32_t> results(half_operands::kCases);
    uint32_t* out;
    cudaMalloc(&out, results.size() * 4);
    one.kernel(out, one.kind, one.brain, one.alone);
    cudaMemcpy(results.data(), out, results.size() * 4, cudaMemcpyDeviceToHost);
    cudaFree(out);
    return results;
}

static bool is_table(const Asked& one) {
    return one.kind == Kind::Half && strstr(one.name, ".approx") != nullptr;
}

static void print_table(const Asked& one) {
    printf("table %s", one.name);
    uint32_t before = 0, step = 0, count = 0;
    for (const uint32_t result : results_of(one)) {
        const uint32_t now = (result - before) & 0xFFFF;
        if (now != step && count != 0) printf(" %x:%x", step, count), count = 0;
        step = now, before = result, ++count;
    }
    printf(" %x:%x\n", step, count);
}

__global__ void by_floats(uint32_t* out, bool brain, bool tanh) {
    const uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    const H h = static_cast<H>(i);
    const float x = brain ? __bfloat162float(__ushort_as_bfloat16(h)) : __half2float(__ushort_as_half(h));
    float y;
    if (tanh)
        asm volatile("tanh.approx.f32 %0, %1;" : "=f"(y) : "f"(x));
    else
        asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    out[i] = brain ? __bfloat16_as_ushort(__float2bfloat16_rn(y)) : __half_as_ushort(__float2half_rn(y));
}

static void print_rules(const Asked& one) {
    const bool tanh = strstr(one.name, "tanh") != nullptr;
    uint32_t* out;
    std::vector<uint32_t> rounded(half_operands::kCases);
    cudaMalloc(&out, rounded.size() * 4);
    by_floats<<<half_operands::kCases / 256, 256>>>(out, one.brain, tanh);
    cudaMemcpy(rounded.data(), out, rounded.size() * 4, cudaMemcpyDeviceToHost);
    cudaFree(out);
    const std::vector<uint32_t> results = results_of(one);
    int floats = 0, exact = 0, shown = 0;
    for (uint32_t i = 0; i < half_operands::kCases; ++i) {
        const H h = static_cast<H>(i);
        const float x =
            one.brain ? __bfloat162float(__ushort_as_bfloat16(h)) : __half2float(__ushort_as_half(h));
        const double y = tanh ? std::tanh(double{x}) : std::exp2(double{x});
        const uint32_t nearest = y != y      ? 0x7FFF
                                 : one.brain ? __bfloat16_as_ushort(__double2bfloat16(y))
                                             : __half_as_ushort(__double2half(y));
        floats += results[i] == rounded[i], exact += results[i] == nearest;
        if (results[i] != rounded[i] && shown++ < 8)
            printf("# %s %04x: %04x, from f32 %04x, exact %04x\n", one.name, i, results[i], rounded[i],
                   nearest);
    }
    printf("# %s: %d results are those of f32 rounded, %d those of the exact function\n", one.name, floats,
           exact);
}

int main(int argc, char** argv) {
    const std::string mode = argc > 1 ? argv[1] : "";
    for (const Asked& one : asked()) {
        if (mode == "rules") {
            if (is_table(one)) print_rules(one);
            continue;
        }
        if (mode == "raw") {
            if (argc < 3 || strcmp(argv[2], one.name) != 0) continue;
            const std::vector<uint32_t> results = results_of(one);
            for (uint32_t i = 0; i < results.size(); ++i) {
                const Operands x = half_operands::operands(one.kind, one.brain, one.alone, i);
                printf("%x %x %x: %x\n", x.word[0], x.word[1], x.word[2], results[i]);
            }
            continue;
        }
        if (is_table(one)) {
            print_table(one);
            continue;
        }
        printf("%s", one.name);
        uint32_t hash = half_operands::kNoHash, at = 0;
        for (const uint32_t result : results_of(one)) {
            hash = half_operands::hashed(hash, result);
            if (++at % half_operands::kBlock == 0) printf(" %x", hash), hash = half_operands::kNoHash;
        }
        printf("\n");
    }
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) fprintf(stderr, "halves: %s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
