// Half precision and bfloat16 of our headers are instructions of PTX in device code, where the architecture has them;
// fragments of matrices are registers.
#include <string>

#include <gtest/gtest.h>

#include "core/ptx/parse.h"
#include "kernels/program/compile.h"

namespace tilescope::program {
namespace {

constexpr const char* kHalves = R"(#include <cuda_bf16.h>
#include <cuda_fp16.h>
template <class H>
__device__ H both(H a, H b, H c) { return a * b + c; }
extern "C" __global__ void halves(const half* a, half* b) { b[0] = a[0] * a[1], b[1] = a[2] + a[3], b[2] = both(a[4], a[5], a[6]); }
extern "C" __global__ void pairs(const half2* a, half2* b) { b[0] = a[0] * a[1], b[1] = a[2] - a[3], b[2] = __hfma2(a[4], a[5], a[6]); }
extern "C" __global__ void apart(const half* a, half* b) { b[0] = __hadd_rn(__hmul_rn(a[0], a[1]), a[2]); }
extern "C" __global__ void brains(const nv_bfloat16* a, nv_bfloat16* b) { b[0] = a[0] * a[1], b[1] = a[2] + a[3]; }
extern "C" __global__ void chosen(const half2* a, half2* b) { b[0] = __hmax2(a[0], a[1]), b[1] = __hfma2_relu(a[2], a[3], a[4]); }
extern "C" __global__ void bent(const half* a, half* b) { b[0] = htanh_approx(a[0]), b[1] = a[1] < a[2] ? a[3] : a[4]; }
)";

// The instructions of a kernel whose type is of half precision, and conversions of f32 to it or from it.
std::string short_instructions(const ptx::Module& module, const std::string& name) {
    std::string found;
    const ptx::Kernel* kernel = ptx::find_kernel(module, name);
    if (!kernel) return "no kernel " + name;
    for (const ptx::Instruction& one : kernel->instructions) {
        const auto is_short = [](ptx::Type type) {
            return type == ptx::Type::F16 || type == ptx::Type::BF16 || type == ptx::Type::F16X2 ||
                   type == ptx::Type::BF16X2;
        };
        if (!is_short(one.type) && !is_short(one.type2)) continue;
        found += (found.empty() ? "" : " ") + one.mnemonic;
        for (const std::string& suffix : one.suffixes) found += "." + suffix;
    }
    return found;
}

ptx::Module device_code(const std::string& arch, const std::string& text_of_source = kHalves) {
    const auto source = kept_source(text_of_source);
    EXPECT_TRUE(source) << (source ? "" : source.error().message);
    Complaint complaint;
    CompileOptions options;
    options.flags = "-arch=" + arch;
    const auto text = compile_device(*source, options, &complaint);
    EXPECT_TRUE(text) << complaint.said;
    auto module = ptx::parse(text ? *text : "", "halves.ptx");
    EXPECT_TRUE(module) << (module ? "" : module.error().message);
    return module ? std::move(*module) : ptx::Module{};
}

TEST(ProgramHalves, AreInstructions) {
    for (const char* arch : {"sm_70", "sm_80"}) {
        const ptx::Module module = device_code(arch);
        EXPECT_EQ(short_instructions(module, "halves"), "mul.f16 add.f16 fma.rn.f16") << arch;
        EXPECT_EQ(short_instructions(module, "pairs"), "mul.f16x2 sub.f16x2 fma.rn.f16x2") << arch;
        EXPECT_EQ(short_instructions(module, "apart"), "mul.rn.f16 add.rn.f16") << arch;
        const bool newer = std::string(arch) == "sm_80";
        EXPECT_EQ(short_instructions(module, "brains"), newer ? "fma.rn.bf16 fma.rn.bf16" : "") << arch;
        if (!newer) continue;
        EXPECT_EQ(short_instructions(module, "chosen"), "max.f16x2 fma.rn.relu.f16x2");
        EXPECT_EQ(short_instructions(module, "bent"), "tanh.approx.f16 setp.lt.f16");
    }
}

constexpr const char* kFragments = R"(#include <mma.h>
using namespace nvcuda::wmma;
template <class F, class T>
__device__ void products(const T* a, const T* b, float* c, int n) {
    fragment<matrix_a, 16, 16, 16, F, row_major> x[2];
    fragment<matrix_b, 16, 16, 16, F, col_major> y[2];
    fragment<accumulator, 16, 16, 16, float> sums[2][2];
#pragma unroll
    for (int i = 0; i < 4; ++i) fill_fragment(sums[i / 2][i % 2], 0.0f);
    for (int k = 0; k < n; k += 16) {
#pragma unroll
        for (int i = 0; i < 2; ++i) load_matrix_sync(x[i], a + 16 * i * n + k, n), load_matrix_sync(y[i], b + 16 * i * n + k, n);
#pragma unroll
        for (int i = 0; i < 4; ++i) mma_sync(sums[i / 2][i % 2], x[i / 2], y[i % 2], sums[i / 2][i % 2]);
    }
#pragma unroll
    for (int i = 0; i < 4; ++i) {
#pragma unroll
        for (int e = 0; e < sums[0][0].num_elements; ++e) sums[i / 2][i % 2].x[e] *= 0.5f;
        store_matrix_sync(c + 16 * (i / 2) * 32 + 16 * (i % 2), sums[i / 2][i % 2], 32, mem_row_major);
    }
}
extern "C" __global__ void halves(const half* a, const half* b, float* c, int n) { products<half>(a, b, c, n); }
extern "C" __global__ void brains(const __nv_bfloat16* a, const __nv_bfloat16* b, float* c, int n) { products<__nv_bfloat16>(a, b, c, n); }
)";

TEST(ProgramFragments, StayInRegistersWhereLoopsAreUnrolled) {
    const ptx::Module module = device_code("sm_70", kFragments);
    for (const auto& [name, target] : {std::pair{"halves", "sm_70"}, {"brains", "sm_80"}}) {
        const ptx::Kernel* const kernel = ptx::find_kernel(module, name);
        ASSERT_NE(kernel, nullptr) << name;
        EXPECT_EQ(ptx::target_for(*kernel, "sm_70"), target);
        size_t products = 0;
        for (const ptx::Instruction& one : kernel->instructions) products += one.op == ptx::Op::WmmaMma;
        EXPECT_EQ(products, 4u) << name;
        for (const ptx::Symbol& symbol : kernel->symbols)
            EXPECT_NE(symbol.space, ptx::StateSpace::Local) << name << " " << symbol.name;
    }
}

}  // namespace
}  // namespace tilescope::program
