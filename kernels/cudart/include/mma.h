// Matrix products of a warp by tensor cores: fragments, and their loads, stores and products as PTX has them.
//
// Which lane holds which element of a fragment is left open by CUDA; here, as on a GPU, it is what the PTX instruction
// does. A matrix in shared memory is asked for by addresses of shared memory, as nvcc has it.
//
// Source: CUDA C++ Programming Guide, "Warp Matrix Functions"; PTX ISA, "Warp Level Matrix Multiply-Accumulate
// Instructions" (wmma.load, wmma.store, wmma.mma).
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#ifdef __CUDA__
namespace nvcuda {
namespace wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}  // namespace precision
namespace experimental {
namespace precision {
struct u4;
struct s4;
struct b1;
}  // namespace precision
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}  // namespace experimental

// The elements of a fragment that a lane holds: `stored` of them, of which each may hold several.
template <class T, int elements, int stored = elements>
struct tilescope_elements {
    typedef T element_type;
    typedef T storage_element_type;
    static constexpr int num_elements = elements, num_storage_elements = stored;
    T x[stored] __attribute__((aligned(sizeof(T) < 4 ? 4 : sizeof(T))));
};
template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment;

template <class Use, int m, int n, int k, class T, class Layout, class V>
static __inline__ __device__ void fill_fragment(fragment<Use, m, n, k, T, Layout>& to, const V& value) {
#pragma unroll
    for (int i = 0; i < to.num_storage_elements; ++i)
        to.x[i] = (typename fragment<Use, m, n, k, T, Layout>::storage_element_type)value;
}

// Registers of an instruction: a list of their names in its text, and as operands, where w[] holds them.
#define TILESCOPE_L1(n) "{%[" #n "0]}"
#define TILESCOPE_L2(n) "{%[" #n "0], %[" #n "1]}"
#define TILESCOPE_L4(n) "{%[" #n "0], %[" #n "1], %[" #n "2], %[" #n "3]}"
#define TILESCOPE_L8(n) \
    "{%[" #n "0], %[" #n "1], %[" #n "2], %[" #n "3], %[" #n "4], %[" #n "5], %[" #n "6], %[" #n "7]}"
#define TILESCOPE_R1(n, is, w) [n##0] is(w[0])
#define TILESCOPE_R2(n, is, w) TILESCOPE_R1(n, is, w), [n##1] is(w[1])
#define TILESCOPE_R4(n, is, w) TILESCOPE_R2(n, is, w), [n##2] is(w[2]), [n##3] is(w[3])
#define TILESCOPE_R8(n, is, w) \
    TILESCOPE_R4(n, is, w), [n##4] is(w[4]), [n##5] is(w[5]), [n##6] is(w[6]), [n##7] is(w[7])
#define TILESCOPE_IN static __inline__ __device__

// load_matrix_sync and store_matrix_sync of a fragment in one layout. use: a, b, c or d of the instruction; registers: how many,
// of type W and constraint `is`.
#define TILESCOPE_LOAD_FROM(text, registers, is, address, pointer) \
    asm volatile("wmma.load." text " " TILESCOPE_L##registers(w) ", [%[from]], %[ld];" \
                 : TILESCOPE_R##registers(w, "=" is, w) \
                 : [from] address(pointer), [ld] "r"(ld) \
                 : "memory")
#define TILESCOPE_LOAD(use, layout, shape, type, registers, W, is) \
    W w[registers]; \
    if (__nvvm_isspacep_shared(from)) \
        TILESCOPE_LOAD_FROM(use ".sync.aligned." layout "." shape ".shared." type, registers, is, "r", \
                            (unsigned)__cvta_generic_to_shared(from)); \
    else \
        TILESCOPE_LOAD_FROM(use ".sync.aligned." layout "." shape "." type, registers, is, "l", from); \
    __builtin_memcpy(to.x, w, sizeof to.x)
#define TILESCOPE_STORE_TO(text, registers, is, address, pointer) \
    asm volatile("wmma.store.d." text " [%[to]], " TILESCOPE_L##registers(w) ", %[ld];" \
                 : \
                 : TILESCOPE_R##registers(w, is, w), [to] address(pointer), [ld] "r"(ld) \
                 : "memory")
#define TILESCOPE_STORE(layout, shape, type, registers, is) \
    if (__nvvm_isspacep_shared(to)) \
        TILESCOPE_STORE_TO("sync.aligned." layout "." shape ".shared." type, registers, is, "r", \
                           (unsigned)__cvta_generic_to_shared(to)); \
    else \
        TILESCOPE_STORE_TO("sync.aligned." layout "." shape "." type, registers, is, "l", to)

// A matrix that is multiplied: elements of type `element` in so many registers of 32 bits, or 64 for W double.
#define TILESCOPE_FACTOR_IN(use, of, m, n, k, T, layout, element, shape, type, registers, W, is) \
    TILESCOPE_IN void load_matrix_sync(fragment<of, m, n, k, T, layout##_major>& to, const element* from, \
                                       unsigned ld) { \
        TILESCOPE_LOAD(use, #layout, shape, type, registers, W, is); \
    }
#define TILESCOPE_FACTOR(use, of, m, n, k, T, element, shape, type, registers, W, is) \
    template <class Layout> \
    struct fragment<of, m, n, k, T, Layout> \
        : tilescope_elements<element, int(registers * sizeof(W) / sizeof(element))> {}; \
    TILESCOPE_FACTOR_IN(use, of, m, n, k, T, row, element, shape, type, registers, W, is) \
    TILESCOPE_FACTOR_IN(use, of, m, n, k, T, col, element, shape, type, registers, W, is)
// A matrix of sums.
#define TILESCOPE_SUMS(m, n, k, T, shape, type, registers, W, is) \
    template <> \
    struct fragment<accumulator, m, n, k, T, void> \
        : tilescope_elements<T, int(registers * sizeof(W) / sizeof(T))> {}; \
    TILESCOPE_IN void load_matrix_sync(fragment<accumulator, m, n, k, T>& to, const T* from, unsigned ld, \
                                       layout_t layout) { \
        if (layout == mem_row_major) { \
            TILESCOPE_LOAD("c", "row", shape, type, registers, W, is); \
        } else { \
            TILESCOPE_LOAD("c", "col", shape, type, registers, W, is); \
        } \
    } \
    TILESCOPE_IN void store_matrix_sync(T* to, const fragment<accumulator, m, n, k, T>& from, unsigned ld, \
                                        layout_t layout) { \
        W w[registers]; \
        __builtin_memcpy(w, from.x, sizeof w); \
        if (layout == mem_row_major) { \
            TILESCOPE_STORE("row", shape, type, registers, is); \
        } else { \
            TILESCOPE_STORE("col", shape, type, registers, is); \
        } \
    }
// A product in all layouts of its factors, ra x rb registers of type W; sums in rc and rd registers of types C and D.
#define TILESCOPE_MULTIPLY(text, ra, rb, W, is, rc, WC, isc, rd, WD, isd) \
    W wa[ra], wb[rb]; \
    WC wc[rc]; \
    WD wd[rd]; \
    __builtin_memcpy(wa, a.x, sizeof wa); \
    __builtin_memcpy(wb, b.x, sizeof wb); \
    __builtin_memcpy(wc, c.x, sizeof wc); \
    asm volatile("wmma.mma." text " " TILESCOPE_L##rd(d) ", " TILESCOPE_L##ra(a) ", " TILESCOPE_L##rb(b) ", " \
                 TILESCOPE_L##rc(c) ";" \
                 : TILESCOPE_R##rd(d, "=" isd, wd) \
                 : TILESCOPE_R##ra(a, is, wa), TILESCOPE_R##rb(b, is, wb), TILESCOPE_R##rc(c, isc, wc)); \
    __builtin_memcpy(d.x, wd, sizeof wd)
#define TILESCOPE_PRODUCT_IN(la, lb, m, n, k, T, D, C, shape, types, saturates, ra, rb, W, is, rc, WC, isc, rd, WD, isd) \
    TILESCOPE_IN void mma_sync(fragment<accumulator, m, n, k, D>& d, const fragment<matrix_a, m, n, k, T, la##_major>& a, \
                               const fragment<matrix_b, m, n, k, T, lb##_major>& b, \
                               const fragment<accumulator, m, n, k, C>& c, bool saturated = false) { \
        if (saturated) { \
            TILESCOPE_MULTIPLY("sync.aligned." #la "." #lb "." shape "." types saturates, ra, rb, W, is, rc, WC, isc, rd, WD, isd); \
        } else { \
            TILESCOPE_MULTIPLY("sync.aligned." #la "." #lb "." shape "." types, ra, rb, W, is, rc, WC, isc, rd, WD, isd); \
        } \
    }
#define TILESCOPE_PRODUCT(m, n, k, T, D, C, ...) \
    TILESCOPE_PRODUCT_IN(row, row, m, n, k, T, D, C, __VA_ARGS__) \
    TILESCOPE_PRODUCT_IN(row, col, m, n, k, T, D, C, __VA_ARGS__) \
    TILESCOPE_PRODUCT_IN(col, row, m, n, k, T, D, C, __VA_ARGS__) \
    TILESCOPE_PRODUCT_IN(col, col, m, n, k, T, D, C, __VA_ARGS__)

// Halves and floats; bfloat16; integers of 8 bits. rb..: registers of A and B.
#define TILESCOPE_SHAPE(m, n, k, shape, ba, bb, ia, ib) \
    TILESCOPE_FACTOR("a", matrix_a, m, n, k, __half, __half, shape, "f16", 8, unsigned, "r") \
    TILESCOPE_FACTOR("b", matrix_b, m, n, k, __half, __half, shape, "f16", 8, unsigned, "r") \
    TILESCOPE_SUMS(m, n, k, __half, shape, "f16", 4, unsigned, "r") \
    TILESCOPE_SUMS(m, n, k, float, shape, "f32", 8, float, "f") \
    TILESCOPE_PRODUCT(m, n, k, __half, __half, __half, shape, "f16.f16", ".satfinite", 8, 8, unsigned, "r", 4, unsigned, "r", 4, unsigned, "r") \
    TILESCOPE_PRODUCT(m, n, k, __half, float, __half, shape, "f32.f16", ".satfinite", 8, 8, unsigned, "r", 4, unsigned, "r", 8, float, "f") \
    TILESCOPE_PRODUCT(m, n, k, __half, __half, float, shape, "f16.f32", ".satfinite", 8, 8, unsigned, "r", 8, float, "f", 4, unsigned, "r") \
    TILESCOPE_PRODUCT(m, n, k, __half, float, float, shape, "f32.f32", ".satfinite", 8, 8, unsigned, "r", 8, float, "f", 8, float, "f") \
    TILESCOPE_FACTOR("a", matrix_a, m, n, k, __nv_bfloat16, __nv_bfloat16, shape, "bf16", ba, unsigned, "r") \
    TILESCOPE_FACTOR("b", matrix_b, m, n, k, __nv_bfloat16, __nv_bfloat16, shape, "bf16", bb, unsigned, "r") \
    TILESCOPE_PRODUCT(m, n, k, __nv_bfloat16, float, float, shape, "f32.bf16.bf16.f32", "", ba, bb, unsigned, "r", 8, float, "f", 8, float, "f") \
    TILESCOPE_FACTOR("a", matrix_a, m, n, k, signed char, signed char, shape, "s8", ia, unsigned, "r") \
    TILESCOPE_FACTOR("b", matrix_b, m, n, k, signed char, signed char, shape, "s8", ib, unsigned, "r") \
    TILESCOPE_FACTOR("a", matrix_a, m, n, k, unsigned char, unsigned char, shape, "u8", ia, unsigned, "r") \
    TILESCOPE_FACTOR("b", matrix_b, m, n, k, unsigned char, unsigned char, shape, "u8", ib, unsigned, "r") \
    TILESCOPE_SUMS(m, n, k, int, shape, "s32", 8, int, "r") \
    TILESCOPE_PRODUCT(m, n, k, signed char, int, int, shape, "s32.s8.s8.s32", ".satfinite", ia, ib, unsigned, "r", 8, int, "r", 8, int, "r") \
    TILESCOPE_PRODUCT(m, n, k, unsigned char, int, int, shape, "s32.u8.u8.s32", ".satfinite", ia, ib, unsigned, "r", 8, int, "r", 8, int, "r")
TILESCOPE_SHAPE(16, 16, 16, "m16n16k16", 4, 4, 2, 2)
TILESCOPE_SHAPE(8, 32, 16, "m8n32k16", 2, 8, 1, 4)
TILESCOPE_SHAPE(32, 8, 16, "m32n8k16", 8, 2, 4, 1)

TILESCOPE_FACTOR("a", matrix_a, 16, 16, 8, precision::tf32, float, "m16n16k8", "tf32", 4, unsigned, "r")
TILESCOPE_FACTOR("b", matrix_b, 16, 16, 8, precision::tf32, float, "m16n16k8", "tf32", 4, unsigned, "r")
TILESCOPE_SUMS(16, 16, 8, float, "m16n16k8", "f32", 8, float, "f")
TILESCOPE_PRODUCT(16, 16, 8, precision::tf32, float, float, "m16n16k8", "f32.tf32.tf32.f32", "", 4, 4, unsigned, "r", 8, float, "f", 8, float, "f")

TILESCOPE_FACTOR("a", matrix_a, 8, 8, 4, double, double, "m8n8k4", "f64", 1, double, "d")
TILESCOPE_FACTOR("b", matrix_b, 8, 8, 4, double, double, "m8n8k4", "f64", 1, double, "d")
TILESCOPE_SUMS(8, 8, 4, double, "m8n8k4", "f64", 2, double, "d")
TILESCOPE_PRODUCT(8, 8, 4, double, double, double, "m8n8k4", "f64.f64.f64.f64", "", 1, 1, double, "d", 2, double, "d", 2, double, "d")

// Integers of 4 bits and bits, packed in words: A by rows and B by columns alone.
#define TILESCOPE_PACKED(m, n, k, T, element, per, shape, type) \
    template <class Layout> \
    struct fragment<matrix_a, m, n, k, T, Layout> : tilescope_elements<element, per, 1> {}; \
    template <class Layout> \
    struct fragment<matrix_b, m, n, k, T, Layout> : tilescope_elements<element, per, 1> {}; \
    TILESCOPE_IN void load_matrix_sync(fragment<matrix_a, m, n, k, T, row_major>& to, const void* from, unsigned ld) { \
        TILESCOPE_LOAD("a", "row", shape, type, 1, unsigned, "r"); \
    } \
    TILESCOPE_IN void load_matrix_sync(fragment<matrix_b, m, n, k, T, col_major>& to, const void* from, unsigned ld) { \
        TILESCOPE_LOAD("b", "col", shape, type, 1, unsigned, "r"); \
    }
TILESCOPE_PACKED(8, 8, 32, experimental::precision::u4, unsigned, 8, "m8n8k32", "u4")
TILESCOPE_PACKED(8, 8, 32, experimental::precision::s4, int, 8, "m8n8k32", "s4")
TILESCOPE_PACKED(8, 8, 128, experimental::precision::b1, unsigned, 32, "m8n8k128", "b1")
TILESCOPE_SUMS(8, 8, 32, int, "m8n8k32", "s32", 2, int, "r")
TILESCOPE_SUMS(8, 8, 128, int, "m8n8k128", "s32", 2, int, "r")
TILESCOPE_PRODUCT_IN(row, col, 8, 8, 32, experimental::precision::u4, int, int, "m8n8k32", "s32.u4.u4.s32", ".satfinite", 1, 1, unsigned, "r", 2, int, "r", 2, int, "r")
TILESCOPE_PRODUCT_IN(row, col, 8, 8, 32, experimental::precision::s4, int, int, "m8n8k32", "s32.s4.s4.s32", ".satfinite", 1, 1, unsigned, "r", 2, int, "r", 2, int, "r")
TILESCOPE_IN void bmma_sync(fragment<accumulator, 8, 8, 128, int>& d,
                            const fragment<matrix_a, 8, 8, 128, experimental::precision::b1, row_major>& a,
                            const fragment<matrix_b, 8, 8, 128, experimental::precision::b1, col_major>& b,
                            const fragment<accumulator, 8, 8, 128, int>& c,
                            experimental::bmmaBitOp how = experimental::bmmaBitOpXOR,
                            experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC) {
    if (how == experimental::bmmaBitOpXOR) {
        TILESCOPE_MULTIPLY("xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", 1, 1, unsigned, "r", 2, int, "r", 2, int, "r");
    } else {
        TILESCOPE_MULTIPLY("and.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32", 1, 1, unsigned, "r", 2, int, "r", 2, int, "r");
    }
}

static __inline__ __host__ __device__ float __float_to_tf32(float value) {
    unsigned int bits;
    __builtin_memcpy(&bits, &value, 4);
    bits = (bits + 0x1000u) & ~0x1fffu;  // to the nearest, halves away from 0
    __builtin_memcpy(&value, &bits, 4);
    return value;
}

}  // namespace wmma
}  // namespace nvcuda
#undef TILESCOPE_L1
#undef TILESCOPE_L2
#undef TILESCOPE_L4
#undef TILESCOPE_L8
#undef TILESCOPE_R1
#undef TILESCOPE_R2
#undef TILESCOPE_R4
#undef TILESCOPE_R8
#undef TILESCOPE_IN
#undef TILESCOPE_LOAD_FROM
#undef TILESCOPE_LOAD
#undef TILESCOPE_STORE_TO
#undef TILESCOPE_STORE
#undef TILESCOPE_FACTOR_IN
#undef TILESCOPE_FACTOR
#undef TILESCOPE_SUMS
#undef TILESCOPE_MULTIPLY
#undef TILESCOPE_PRODUCT_IN
#undef TILESCOPE_PRODUCT
#undef TILESCOPE_SHAPE
#undef TILESCOPE_PACKED
#endif
