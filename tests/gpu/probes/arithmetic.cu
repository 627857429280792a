// What the GPU's arithmetic really gives on special values: every pair of a list of fp32 bit patterns
// (zeros, infinities, NaNs, subnormals, halves, ends of integer ranges) through the PTX instructions that the
// interpreter runs. Prints the operands, then for each instruction all results in row-major order of the
// pairs, in hex.
#include <cstdint>
#include <cstdio>

#define OP2(name, text, constraint, T)                                                               \
    __global__ void name(const T* v, T* out, int n) {                                                \
        const int i = blockIdx.x * 256 + threadIdx.x;                                                \
        if (i < n * n) {                                                                             \
            T r;                                                                                     \
            asm volatile(text ";" : "=" constraint(r) : constraint(v[i / n]), constraint(v[i % n])); \
            out[i] = r;                                                                              \
        }                                                                                            \
    }
#define OP1(name, text, constraint, T)                              \
    __global__ void name(const float* v, T* out, int n) {           \
        const int i = threadIdx.x;                                  \
        if (i < n) {                                                \
            T r;                                                    \
            asm volatile(text ";" : "=" constraint(r) : "f"(v[i])); \
            out[i] = r;                                             \
        }                                                           \
    }

OP2(op_add, "add.rn.f32 %0, %1, %2", "f", float)
OP2(op_sub, "sub.rn.f32 %0, %1, %2", "f", float)
OP2(op_mul, "mul.rn.f32 %0, %1, %2", "f", float)
OP2(op_div, "div.rn.f32 %0, %1, %2", "f", float)
OP2(op_min, "min.f32 %0, %1, %2", "f", float)
OP2(op_max, "max.f32 %0, %1, %2", "f", float)
OP2(op_fma, "fma.rn.f32 %0, %1, %2, %2", "f", float)
OP2(op_mul_rz, "mul.rz.f32 %0, %1, %2", "f", float)
OP2(op_add_rm, "add.rm.f32 %0, %1, %2", "f", float)
OP2(op_add_ftz, "add.ftz.rn.f32 %0, %1, %2", "f", float)
OP2(op_mul_sat, "mul.sat.rn.f32 %0, %1, %2", "f", float)
OP2(op_sdiv, "div.s32 %0, %1, %2", "r", int)
OP2(op_srem, "rem.s32 %0, %1, %2", "r", int)
OP2(op_udiv, "div.u32 %0, %1, %2", "r", int)
OP2(op_urem, "rem.u32 %0, %1, %2", "r", int)
OP2(op_shl, "shl.b32 %0, %1, %2", "r", int)
OP2(op_shr, "shr.s32 %0, %1, %2", "r", int)
OP1(op_neg, "neg.f32 %0, %1", "f", float)
OP1(op_abs, "abs.f32 %0, %1", "f", float)
OP1(op_sqrt, "sqrt.rn.f32 %0, %1", "f", float)
OP1(op_rcp, "rcp.rn.f32 %0, %1", "f", float)
OP1(op_cvt_s32, "cvt.rzi.s32.f32 %0, %1", "r", int)
OP1(op_cvt_u32, "cvt.rzi.u32.f32 %0, %1", "r", int)
OP1(op_cvt_rni, "cvt.rni.s32.f32 %0, %1", "r", int)
OP1(op_cvt_u64, "cvt.rzi.u64.f32 %0, %1", "l", long long)
OP1(op_cvt_s64, "cvt.rzi.s64.f32 %0, %1", "l", long long)
OP1(op_cvt_f64, "cvt.f64.f32 %0, %1", "d", double)
OP1(op_rni_f32, "cvt.rni.f32.f32 %0, %1", "f", float)

template <class In, class Out>
static void probe(const char* text, void (*kernel)(const In*, Out*, int), const uint32_t* values, int n,
                  int results, int threads) {
    In* v;
    Out* out;
    static Out host[4096];
    cudaMalloc(&v, n * 4);
    cudaMalloc(&out, results * sizeof(Out));
    cudaMemcpy(v, values, n * 4, cudaMemcpyHostToDevice);
    kernel<<<(results + threads - 1) / threads, threads>>>(v, out, n);
    cudaMemcpy(host, out, results * sizeof(Out), cudaMemcpyDeviceToHost);
    printf("%s", text);
    for (int i = 0; i < results; ++i)
        if (sizeof(Out) == 8)
            printf(" %llx", *reinterpret_cast<unsigned long long*>(&host[i]));
        else
            printf(" %x", *reinterpret_cast<unsigned*>(&host[i]));
    printf("\n");
    cudaFree(v);
    cudaFree(out);
}

int main() {
    const uint32_t f[] = {0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fc00000,
                          0xffc00001, 0x7f800001, 0xff812345, 0x7fffffff, 0x00000001, 0x80000001, 0x007fffff,
                          0x00800000, 0x7f7fffff, 0xff7fffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000,
                          0xdf000000, 0x3f000000, 0x3fc00000, 0xbf000001, 0x40490fdb, 0x33800000, 0x4b7fffff,
                          0x00c00001, 0x3f7fffff, 0x43000000, 0xc3008000};
    const uint32_t s[] = {0, 1, 2, 31, 32, 33, 0xffffffff, 0x80000000, 0x7fffffff, 7, 0xfffffff9, 0x12345678};
    const int n = sizeof f / 4, m = sizeof s / 4;
    printf("float");
    for (uint32_t x : f) printf(" %x", x);
    printf("\nint");
    for (uint32_t x : s) printf(" %x", x);
    printf("\n");
    probe("add.rn.f32", op_add, f, n, n * n, 256);
    probe("sub.rn.f32", op_sub, f, n, n * n, 256);
    probe("mul.rn.f32", op_mul, f, n, n * n, 256);
    probe("div.rn.f32", op_div, f, n, n * n, 256);
    probe("min.f32", op_min, f, n, n * n, 256);
    probe("max.f32", op_max, f, n, n * n, 256);
    probe("fma.rn.f32", op_fma, f, n, n * n, 256);
    probe("mul.rz.f32", op_mul_rz, f, n, n * n, 256);
    probe("add.rm.f32", op_add_rm, f, n, n * n, 256);
    probe("add.ftz.rn.f32", op_add_ftz, f, n, n * n, 256);
    probe("mul.sat.rn.f32", op_mul_sat, f, n, n * n, 256);
    probe("div.s32", op_sdiv, s, m, m * m, 256);
    probe("rem.s32", op_srem, s, m, m * m, 256);
    probe("div.u32", op_udiv, s, m, m * m, 256);
    probe("rem.u32", op_urem, s, m, m * m, 256);
    probe("shl.b32", op_shl, s, m, m * m, 256);
    probe("shr.s32", op_shr, s, m, m * m, 256);
    probe("neg.f32", op_neg, f, n, n, 64);
    probe("abs.f32", op_abs, f, n, n, 64);
    probe("sqrt.rn.f32", op_sqrt, f, n, n, 64);
    probe("rcp.rn.f32", op_rcp, f, n, n, 64);
    probe("cvt.rzi.s32.f32", op_cvt_s32, f, n, n, 64);
    probe("cvt.rzi.u32.f32", op_cvt_u32, f, n, n, 64);
    probe("cvt.rni.s32.f32", op_cvt_rni, f, n, n, 64);
    probe("cvt.rzi.u64.f32", op_cvt_u64, f, n, n, 64);
    probe("cvt.rzi.s64.f32", op_cvt_s64, f, n, n, 64);
    probe("cvt.f64.f32", op_cvt_f64, f, n, n, 64);
    probe("cvt.rni.f32.f32", op_rni_f32, f, n, n, 64);
    const cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess) fprintf(stderr, "arithmetic: %s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
