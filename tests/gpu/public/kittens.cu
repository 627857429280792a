// One of ThunderKittens' kernels for Hopper on a small problem.
//
//     nvcc -DKERNEL=BF16_GEMM -DSOURCE=kernels/gemm/bf16_h100/bf16_h100_gemm.cu ... -I KITTENS kittens.cu -lcuda
//
// SOURCE holds the kernel and a main that times it or reads a file of tensors; that main gets another name. KERNEL is one
// of the words below. Where a kernel works on bfloat16 all the way, as the layer normalisation does, many roundings add up.
#include <chrono>
#include <cmath>
#include <cstdio>
#include <vector>

#include <math.h>  // the mains call isnan()

#define TEXT_OF(x) #x
#define TEXT(x) TEXT_OF(x)
#define main its_own_main
#include TEXT(SOURCE)
#undef main

#include "check.h"

#define LEVEL 1           // a rung of the educational products
#define BF16_GEMM 2       // load, compute, finish
#define FP8_GEMM 3        // the same in e4m3
#define ATTENTION 4       // forward, heads of 64
#define CAUSAL 5          // the same, each row up to itself
#define LAYERNORM 6       // of a sum, rows of 1024
#define ROTARY 7          // embedding of positions, heads of 64
#define MAMBA2 8          // state space duality
#define LINEAR 9          // attention with a decay, heads of 128
#define LCF_ATTENTION 10  // forward by the template of the products, heads of 64

using Floats = std::vector<float>;
constexpr unsigned long kSharedBytes = kittens::MAX_SHARED_MEMORY - 1024;

// Lets a kernel have so much dynamic shared memory.
template <class F>
void allow(F* kernel, unsigned long bytes) {
    check::must(
        cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "cudaFuncSetAttribute");
}

template <class... P>
void launch(void (*kernel)(P...), dim3 blocks, int threads, unsigned long bytes, const P&... arguments) {
    allow(kernel, bytes);
    kernel<<<blocks, threads, bytes>>>(arguments...);
}

bf16* on_device(const Floats& all) { return check::on_device(check::as<bf16>(all)); }

// What an array holds once it has been rounded to bfloat16.
Floats rounded(Floats all) {
    for (float& x : all) x = static_cast<float>(static_cast<bf16>(x));
    return all;
}

// The sum over the rows j up to i of decay(i, j) (q_i k_j) v_j, for each head; q and k may be the same for all of them.
template <class Decay>
Floats linear_attention(const Floats& q, const Floats& k, const Floats& v, int heads, int n, int d,
                        bool shared_qk, Decay decay) {
    Floats o(v.size());
    for (int h = 0; h < heads; ++h)
        for (int i = 0; i < n; ++i)
            for (int j = 0; j <= i; ++j) {
                const size_t head = size_t(h) * n * d, qk = shared_qk ? 0 : head;
                double s = 0;
                for (int l = 0; l < d; ++l)
                    s += double(q[qk + size_t(i) * d + l]) * k[qk + size_t(j) * d + l];
                s *= decay(h, i, j);
                for (int l = 0; l < d; ++l)
                    o[head + size_t(i) * d + l] += static_cast<float>(s * v[head + size_t(j) * d + l]);
            }
    return o;
}

int main(int argc, char** argv) {
#if KERNEL == LEVEL
    const int n = check::number(argc, argv, 1, 256);
    const Floats a = check::random_multiples(size_t(n) * n, 1), b = check::random_multiples(size_t(n) * n, 2);
    bf16* const c = check::zeros_on_device<bf16>(size_t(n) * n);
    matmul(on_device(a), on_device(b), c, n);
    return check::verdict(argv[0], check::from_device(c, size_t(n) * n),
                          check::product(a, check::transposed(b, n, n), n, n, n), check::kBf16, 0.5);
#elif KERNEL == BF16_GEMM || KERNEL == FP8_GEMM
    const size_t m = check::number(argc, argv, 1, 256), n = check::number(argc, argv, 2, 512);
    const size_t k = check::number(argc, argv, 3, 384), blocks = check::number(argc, argv, 4, 2);
    const Floats a = check::random_multiples(m * k, 1),
                 b = check::random_multiples(n * k, 2);  // B by columns
#if KERNEL == BF16_GEMM
    using T = bf16;
    using Product = matmul_template<2, 4, 8>;
    const Floats b_given = check::transposed(b, n, k);
    constexpr double epsilon = check::kBf16;
#else
    using T = fp8e4m3;
    using Product = matmul_template<8>;
    const Floats& b_given = b;
    constexpr double epsilon = 1.0 / 8;
#endif
    T* const c = check::zeros_on_device<T>(m * n);
    allow(prototype::lcf::kernel<Product>, kSharedBytes);
    inner_run<Product>(check::on_device(check::as<T>(a)), check::on_device(check::as<T>(b_given)), c, m, n, k,
                       dim3(blocks), dim3(prototype::detail::NUM_THREADS_v<Product>));
    return check::verdict(argv[0], check::from_device(c, m * n), check::product(a, b, m, n, k), epsilon, 0.5);
#elif KERNEL == ATTENTION || KERNEL == CAUSAL
    constexpr int d = 64;
    constexpr bool causal = KERNEL == CAUSAL;
    const size_t n = check::number(argc, argv, 1, 384), heads = check::number(argc, argv, 2, 2), one = 1,
                 columns = d;
    const Floats q = check::random_multiples(heads * n * d, 1), k = check::random_multiples(heads * n * d, 2);
    const Floats v = check::random_multiples(heads * n * d, 3);
    using G = fwd_globals<d>;
    bf16* const o = check::zeros_on_device<bf16>(v.size());
    float* const l = check::zeros_on_device<float>(heads * n);
    G g{typename G::q_gl{on_device(q), one, heads, n, columns},
        typename G::k_gl{on_device(k), one, heads, n, columns},
        typename G::v_gl{on_device(v), one, heads, n, columns},
        typename G::l_gl{l, one, heads, one, n},
        typename G::o_gl{o, one, heads, n, columns},
        static_cast<int>(n),
        1};
    launch(fwd_attend_ker<d, causal>, dim3(n / (CONSUMER_WARPGROUPS * 64), heads), 32 * NUM_WORKERS,
           kSharedBytes, g);
    return check::verdict(argv[0], check::from_device(o, v.size()),
                          check::attention(q, k, v, heads, n, d, causal), check::kBf16, 2);
#elif KERNEL == LCF_ATTENTION
    constexpr int d = 64;
    using Attention = attn_fwd_template<d>;
    using G = Attention::layout;
    const size_t n = check::number(argc, argv, 1, 384), heads = check::number(argc, argv, 2, 2), one = 1;
    const Floats q = check::random_multiples(heads * n * d, 1), k = check::random_multiples(heads * n * d, 2);
    const Floats v = check::random_multiples(heads * n * d, 3);
    bf16* const o = check::zeros_on_device<bf16>(v.size());
    G::globals g{G::qo_global(o, one, heads, n, nullptr), G::qo_global(on_device(q), one, heads, n, nullptr),
                 G::kv_global(on_device(k), one, heads, n, nullptr),
                 G::kv_global(on_device(v), one, heads, n, nullptr)};
    constexpr unsigned long bytes = prototype::detail::MAX_SHARED_MEMORY_v<Attention>;
    launch(prototype::lcf::kernel<Attention>, 2, prototype::detail::NUM_THREADS_v<Attention>, bytes, g);
    return check::verdict(argv[0], check::from_device(o, v.size()),
                          check::attention(q, k, v, heads, n, d, false), check::kBf16, 2);
#elif KERNEL == LAYERNORM
    constexpr size_t d = 1024;
    const size_t n = check::number(argc, argv, 1, 16);
    const Floats x = check::random_multiples(n * d, 1), residual = check::random_multiples(n * d, 2);
    const Floats weight = check::random_multiples(d, 3), bias = check::random_multiples(d, 4);
    bf16 *const o = check::zeros_on_device<bf16>(n * d), *const sum = check::zeros_on_device<bf16>(n * d);
    dispatch_layernorm(on_device(x), on_device(residual), on_device(weight), on_device(bias), o, sum, 0, 1,
                       n);
    Floats expected(n * d);
    for (size_t i = 0; i < n; ++i) {
        double mean = 0, square = 0;
        for (size_t j = 0; j < d; ++j) mean += (x[i * d + j] + residual[i * d + j]) / double(d);
        for (size_t j = 0; j < d; ++j)
            square += std::pow(x[i * d + j] + residual[i * d + j] - mean, 2) / double(d);
        for (size_t j = 0; j < d; ++j)
            expected[i * d + j] = static_cast<float>(
                (x[i * d + j] + residual[i * d + j] - mean) / std::sqrt(square + 1e-5) * weight[j] + bias[j]);
    }
    return check::verdict(argv[0], check::from_device(o, n * d), expected, check::kBf16, 8);
#elif KERNEL == ROTARY
    constexpr int d = 64;
    using Rotary = rotary_template<d>;
    using G = Rotary::layout;
    const int n = check::number(argc, argv, 1, 256), heads = check::number(argc, argv, 2, 4);
    const Floats x = check::random_multiples(size_t(heads) * n * d, 1);
    Floats sine(size_t(n) * d / 2), cosine(sine.size());
    for (int i = 0; i < n; ++i)
        for (int j = 0; j < d / 2; ++j) {
            const double angle = i * std::pow(10000.0, -2.0 * j / d);
            sine[size_t(i) * d / 2 + j] = static_cast<float>(std::sin(angle));
            cosine[size_t(i) * d / 2 + j] = static_cast<float>(std::cos(angle));
        }
    sine = rounded(sine), cosine = rounded(cosine);
    bf16* const o = check::zeros_on_device<bf16>(x.size());
    G::globals g{G::seq_global{o, 1, heads, n, nullptr}, G::seq_global{on_device(x), 1, heads, n, nullptr},
                 G::rope_global{on_device(sine), nullptr, nullptr, n, nullptr},
                 G::rope_global{on_device(cosine), nullptr, nullptr, n, nullptr}, 1};
    constexpr unsigned long bytes = kittens::MAX_SHARED_MEMORY - 2048;
    constexpr int rows = 16 * Rotary::NUM_CONSUMER_WARPS;  // of a block
    launch(prototype::lcsf::kernel<Rotary>, (n + rows - 1) / rows, prototype::detail::NUM_THREADS_v<Rotary>,
           bytes, g);
    Floats expected(x.size());
    for (size_t row = 0; row < size_t(heads) * n; ++row) {
        // A warp of 16 rows finds its angles at row w, not 16 w: the kernel's coordinate counts rows.
        const size_t angle = row % n / 16 + row % 16;
        for (int j = 0; j < d / 2; ++j) {
            const float first = x[row * d + j], second = x[row * d + d / 2 + j];
            const float s = sine[angle * d / 2 + j], c = cosine[angle * d / 2 + j];
            expected[row * d + j] = first * c - second * s;
            expected[row * d + d / 2 + j] = second * c + first * s;
        }
    }
    return check::verdict(argv[0], check::from_device(o, x.size()), expected, check::kBf16, 0.6);
#elif KERNEL == MAMBA2
    constexpr int d = 64;
    using G = mamba2_fwd_layout;
    const int n = check::number(argc, argv, 1, 256), heads = check::number(argc, argv, 2, 4);
    const Floats q = check::random_multiples(size_t(n) * d, 1), k = check::random_multiples(size_t(n) * d, 2);
    const Floats v = check::random_multiples(size_t(heads) * n * d, 3);
    Floats decay = check::random_multiples(size_t(heads) * n, 4), before(decay.size());
    for (float& x : decay) x = (x - 1) / 8;  // -1/4 .. 0
    for (int h = 0; h < heads; ++h)
        for (int i = 0; i < n; ++i) before[h * n + i] = (i ? before[h * n + i - 1] : 0) + decay[h * n + i];
    bf16* const o = check::zeros_on_device<bf16>(v.size());
    G::globals g{G::q_global(on_device(q), 1, 1, n, nullptr), G::k_global(on_device(k), 1, 1, n, nullptr),
                 G::v_global(on_device(v), 1, heads, n, nullptr), G::o_global(o, 1, heads, n, nullptr),
                 G::a_global(check::on_device(decay), 1, heads, nullptr, n)};
    constexpr unsigned long bytes = prototype::detail::MAX_SHARED_MEMORY_v<mamba2_fwd_template>;
    launch(prototype::lcsf::kernel<mamba2_fwd_template>, heads / 2,
           prototype::detail::NUM_THREADS_v<mamba2_fwd_template>, bytes, g);
    const Floats expected = linear_attention(q, k, v, heads, n, d, true, [&](int h, int i, int j) {
        return std::exp(double(before[h * n + i]) - before[h * n + j]);
    });
    return check::verdict(argv[0], check::from_device(o, v.size()), expected, check::kBf16, 2);
#elif KERNEL == LINEAR
    constexpr int d = ATTN_D;
    const size_t n = check::number(argc, argv, 1, 256), heads = check::number(argc, argv, 2, 2);
    const Floats q = check::random_multiples(heads * n * d, 1), k = check::random_multiples(heads * n * d, 2);
    const Floats v = check::random_multiples(heads * n * d, 3);
    Floats slopes(heads);
    for (size_t h = 0; h < heads; ++h) slopes[h] = 1.0f / (8 << h);
    bf16* const o = check::zeros_on_device<bf16>(v.size());
    const la_globals g =
        la_init(on_device(q), on_device(k), on_device(v), o, check::on_device(slopes), 1, heads, n);
    launch(la_kernel, dim3(heads, 1), NUM_THREADS, kSharedBytes, g, static_cast<int>(n));
    const Floats expected = linear_attention(q, k, v, heads, n, d, false, [&](int h, int i, int j) {
        return std::exp(-double(slopes[h]) * (i - j));
    });
    return check::verdict(argv[0], check::from_device(o, v.size()), expected, check::kBf16, 3);
#endif
}
