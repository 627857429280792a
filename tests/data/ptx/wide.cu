// A kernel for the parser's tests alone: instructions beyond those of the matrix kernels.
__constant__ float weights[4] = {1.0f, 2.0f, 0.5f, -1.0f};
__device__ int counter[2][2] = {{1, 2}, {3, 4}};
static __device__ __forceinline__ float blend(float a, float b, int c) { return a * b + weights[c & 3]; }
extern "C" __global__ void __launch_bounds__(128, 2)
    wide(const float4* __restrict__ in, float4* out, double* d, unsigned* u, unsigned long long* w, short* h,
         signed char* c, int n) {
    extern __shared__ float dyn[];
    __shared__ double ds[32];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float4 v = in[i];
    unsigned a = u[i], b = u[i + 1];
    v.x = blend(v.x, v.y, i);
    v.y = __fdiv_rn(v.y, v.z);
    v.z = sqrtf(v.z);
    v.w = fminf(v.w, fmaxf(v.x, 1.5f));
    dyn[threadIdx.x] = v.x;
    ds[threadIdx.x & 31] = d[i] * 2.0 + (double)v.y;
    __syncthreads();
    a = (a & b) ^ (a | ~b);
    a = __funnelshift_l(a, b, i & 7);
    a += __popc(b) + __clz(a) + __brev(b);
    a = __byte_perm(a, b, 0x5410);
    b = a / (b | 1) + a % (unsigned)(n | 1);
    w[i] = (unsigned long long)a * b + __umulhi(a, b) + clock64();
    int lane = __shfl_sync(0xffffffffu, i, 3) + __shfl_xor_sync(0xffffffffu, i, 1);
    unsigned ballot = __ballot_sync(0xffffffffu, i & 1) + __activemask();
    if (__any_sync(0xffffffffu, v.x > 0)) lane ^= ballot;
    h[i] = (short)(h[i] * 3 + (short)v.x);
    c[i] = (signed char)(c[i] + lane);
    __syncwarp();
    __threadfence();
    __threadfence_block();
    counter[i & 1][lane & 1] = abs(lane) + min(lane, n) + (int)rintf(v.w) + __float2int_rn(v.x);
    u[i] = a + __float_as_uint(dyn[threadIdx.x ^ 1]) + (v.x < v.y && v.z != v.w ? 3u : b) +
           (unsigned)floorf(v.x);
    d[i] = ds[threadIdx.x & 31] / d[i] + sqrt(d[i]) + __int_as_float(lane) + (double)w[i];
    volatile float* p = dyn;
    v.y = p[2];
    out[i] = v;
    asm volatile(
        "{\n .reg .u32 t;\n add.u32 t, %0, 1;\n st.global.u32 [%1], t;\n}\n{ .reg .u32 t; sub.u32 t, %0, 1;\n"
        "st.global.u32 [%1+4], t;\n}" ::"r"(a),
        "l"(u));
}
