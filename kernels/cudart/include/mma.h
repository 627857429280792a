// Matrix products of a warp by tensor cores, as far as a program needs to be compiled that has such a kernel somewhere: types
// and declarations. Tilescope does not record tensor cores, and a kernel that uses them is refused with that sentence.
//
// Source: CUDA C++ Programming Guide, "Warp Matrix Functions".
#pragma once

#include "cuda_bf16.h"
#include "cuda_fp16.h"

#ifdef __CUDA__
#define TILESCOPE_NO_TENSOR_CORES \
    __attribute__((device, error("Tilescope does not record tensor cores; take a kernel without wmma")))
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
struct u4;
struct s4;
struct b1;
}  // namespace precision
namespace experimental {
namespace precision = wmma::precision;
enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND = 2 };
enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 };
}  // namespace experimental

template <class T>
struct tilescope_stored {
    typedef T type;
};
template <>
struct tilescope_stored<precision::tf32> {
    typedef float type;
};

template <class Use, int m, int n, int k, class T, class Layout = void>
struct fragment {
    typedef typename tilescope_stored<T>::type element_type;
    typedef element_type storage_element_type;
    static constexpr int num_elements = 8, num_storage_elements = 8;
    element_type x[num_elements];
};

template <class Fragment, class T>
TILESCOPE_NO_TENSOR_CORES void load_matrix_sync(Fragment& to, const T* from, unsigned ld);
template <class Fragment, class T>
TILESCOPE_NO_TENSOR_CORES void load_matrix_sync(Fragment& to, const T* from, unsigned ld, layout_t layout);
template <class T, class Fragment>
TILESCOPE_NO_TENSOR_CORES void store_matrix_sync(T* to, const Fragment& from, unsigned ld, layout_t layout);
template <class Fragment, class T>
TILESCOPE_NO_TENSOR_CORES void fill_fragment(Fragment& to, const T& value);
template <class D, class A, class B, class C>
TILESCOPE_NO_TENSOR_CORES void mma_sync(D& d, const A& a, const B& b, const C& c, bool saturated = false);
template <class D, class A, class B, class C>
TILESCOPE_NO_TENSOR_CORES void bmma_sync(D& d, const A& a, const B& b, const C& c,
                                         experimental::bmmaBitOp = experimental::bmmaBitOpXOR,
                                         experimental::bmmaAccumulateOp = experimental::bmmaAccumulateOpPOPC);
static __inline__ __host__ __device__ float __float_to_tf32(float value) {
    unsigned int bits;
    __builtin_memcpy(&bits, &value, 4);
    bits = (bits + 0x1000u) & ~0x1fffu;  // to the nearest, halves away from 0
    __builtin_memcpy(&value, &bits, 4);
    return value;
}

}  // namespace wmma
}  // namespace nvcuda
#undef TILESCOPE_NO_TENSOR_CORES
#endif
