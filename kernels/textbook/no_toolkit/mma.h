// Lets clang compile kernels that use fragments where there is no CUDA Toolkit: what they use of nvcuda::wmma, 16 x 16
// x 16 halves with fp32 sums and matrices by rows in shared memory, as the instructions that NVIDIA's header stands for.
//
// Source: CUDA C++ Programming Guide, "Warp Matrix Functions"; PTX ISA, wmma.load, wmma.mma, wmma.store.
#pragma once

struct half {
    unsigned short bits;
};

namespace nvcuda {
namespace wmma {

struct matrix_a;
struct matrix_b;
struct accumulator;
struct row_major;
enum layout_t { mem_row_major };

template <class Use, int M, int N, int K, class T, class Layout = void>
struct fragment {
    unsigned x[8];
};
template <int M, int N, int K>
struct fragment<accumulator, M, N, K, float> {
    float x[8];
};
using Left = fragment<matrix_a, 16, 16, 16, half, row_major>;
using Above = fragment<matrix_b, 16, 16, 16, half, row_major>;
using Sums = fragment<accumulator, 16, 16, 16, float>;

#define LINE \
    __device__ __forceinline__ __attribute__((nodebug)) void  // what it does stands at the line that calls it
#define EIGHT "{%0, %1, %2, %3, %4, %5, %6, %7}"
#define ALL_OF(kind, x) \
    kind(x[0]), kind(x[1]), kind(x[2]), kind(x[3]), kind(x[4]), kind(x[5]), kind(x[6]), kind(x[7])
#define AT(pointer) "r"((unsigned)__cvta_generic_to_shared(pointer))

LINE fill_fragment(Sums& to, float value) {
#pragma unroll
    for (int i = 0; i < 8; ++i) to.x[i] = value;
}
LINE load_matrix_sync(Left& to, const half* from, unsigned row) {
    asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 " EIGHT ", [%8], %9;"
                 : ALL_OF("=r", to.x)
                 : AT(from), "r"(row)
                 : "memory");
}
LINE load_matrix_sync(Above& to, const half* from, unsigned row) {
    asm volatile("wmma.load.b.sync.aligned.row.m16n16k16.shared.f16 " EIGHT ", [%8], %9;"
                 : ALL_OF("=r", to.x)
                 : AT(from), "r"(row)
                 : "memory");
}
LINE mma_sync(Sums& to, const Left& a, const Above& b, const Sums&) {  // the sums of the kernels are in place
    asm("wmma.mma.sync.aligned.row.row.m16n16k16.f32.f32 " EIGHT
        ", {%8, %9, %10, %11, %12, %13, %14, %15}, "
        "{%16, %17, %18, %19, %20, %21, %22, %23}, " EIGHT ";"
        : ALL_OF("+f", to.x)
        : ALL_OF("r", a.x), ALL_OF("r", b.x));
}
LINE store_matrix_sync(float* to, const Sums& from, unsigned row, layout_t) {
    asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.shared.f32 [%8], " EIGHT
                 ", %9;" ::ALL_OF("f", from.x),
                 AT(to), "r"(row)
                 : "memory");
}

}  // namespace wmma
}  // namespace nvcuda
