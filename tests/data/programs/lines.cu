// Kernels whose accesses go through macros, templates, lambdas, operators and headers; "//:" says what stands at a line
// (tests/host/program_vectors_test.cpp).
#include <cassert>
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_fp16.h>
namespace cg = cooperative_groups;
#define LOAD(p, i) ((p)[i])
__device__ int result[64];
__global__ void index_first() {
    int t = threadIdx.x;
    __shared__ int s[64];
    s[63 - t] = t;        //: store
    __syncthreads();      //: barrier
    result[t] = s[t];     //: load store
}
template <class T, class F>
__global__ void apply(T *a, F f) {
    a[threadIdx.x] =                //: store
        f(a[threadIdx.x]);          //: load
}
struct AddOne {
    __device__ int operator()(int v) const { return v + 1; }
};
__device__ float twice(const float *p, int i) {
    return 2 * p[i];                //: load
}
__global__ void called(const float *in, float *out) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = twice(in, i);          //: store
}
__global__ void groups(int *a) {
    cg::thread_block block = cg::this_thread_block();
    int i = block.thread_rank();
    auto tile = cg::tiled_partition<32>(block);
    int v = tile.shfl_down(         //: exchange
        a[i],                       //: load
        1);
    block.sync();                   //: barrier
    atomicAdd(&a[0], v);            //: atomic
    a[i + 1] = LOAD(a, i + 2);      //: load store
}
__global__ void halves(__half *h, __half2 *h2, float *f) {
    h[threadIdx.x] =                //: store
        h[threadIdx.x + 1] + __float2half(1.f);  //: load
    h2[threadIdx.x] = __hadd2(      //: store
        h2[threadIdx.x + 1],        //: load
        h2[threadIdx.x + 2]);       //: load
    f[threadIdx.x] =                //: store
        __ldg(&f[threadIdx.x + 1]); //: load
    assert(f[threadIdx.x + 2] >= 0);  //: load
}
struct View {
    float *d;
    int n;
    __device__ float &operator[](int i) { return d[i]; }
};
__global__ void view(View v) {
    if (threadIdx.x < v.n)
        v[threadIdx.x] =            //: store
            v[threadIdx.x + 1];     //: load
}
__global__ void lambdas(int *a) {
    auto put = [&](int i, int v) {
        a[i] = v;                   //: store
    };
    put(threadIdx.x, max(1, (int)threadIdx.x));
    put(threadIdx.x + 32, 2);
}
int main() { apply<<<1, 32>>>((int *)nullptr, AddOne()); }
