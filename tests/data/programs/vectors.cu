// Kernels that move vectors and structs whole, in part and by casts. vectors.txt has the accesses that nvcc makes of each
// (tests/host/program_vectors_test.cpp).
#include <cuda_fp16.h>


struct __align__(16) Particle {
    float x, y, z, mass;
};
struct __align__(8) Pair {
    int key;
    float value;
};
struct Node {  // 12 bytes, aligned to 4
    float x, y, z;
};
struct Edge {  // 8 bytes, aligned to 4
    int from, to;
};
struct Wide {  // 32 bytes, aligned to 16
    float4 position, velocity;
};
struct Plain {  // 16 bytes, aligned to 4
    float a, b, c, d;
};
struct __align__(16) Mixed {
    double d;
    int i;
    float f;
};
struct __align__(16) Bytes {
    unsigned char b[16];
};
union Word {
    float4 f;
    int4 i;
};

__global__ void float4_copy(const float4 *in, float4 *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void float4_shared(const float4 *in, float4 *out) {
    __shared__ float4 s[32];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[31 - threadIdx.x];
}
__global__ void float4_scale(float4 *a) {
    float4 v = a[threadIdx.x];
    v.x *= 2, v.y *= 2, v.z *= 2, v.w *= 2;
    a[threadIdx.x] = v;
}
__global__ void float4_cast(const float *in, float *out) {
    reinterpret_cast<float4 *>(out)[threadIdx.x] = reinterpret_cast<const float4 *>(in)[threadIdx.x];
}
__global__ void float4_c_cast(float *in, float *out) {
    float4 t = ((float4 *)in)[threadIdx.x];
    __shared__ float s[4][32];
    s[0][threadIdx.x] = t.x, s[1][threadIdx.x] = t.y, s[2][threadIdx.x] = t.z, s[3][threadIdx.x] = t.w;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x % 4][threadIdx.x / 4];
}
__global__ void float4_reference(const float4 *in, float4 *out) {
    const float4 &from = in[threadIdx.x];
    float4 &to = out[threadIdx.x];
    to = from;
}
__global__ void float4_local(const float4 *in, float4 *out) {
    float4 one = in[threadIdx.x], other = in[threadIdx.x ^ 1], sum = one;
    sum.x += other.x, sum.y += other.y, sum.z += other.z, sum.w += other.w;
    out[threadIdx.x] = sum;
}
__global__ void float4_registers(const float4 *in, float4 *out) {
    float4 kept[2];
    kept[0] = in[threadIdx.x];
    kept[1] = in[threadIdx.x + 32];
    out[threadIdx.x] = kept[1];
    out[threadIdx.x + 32] = kept[0];
}
__global__ void float4_ldg(const float4 *__restrict__ in, float4 *out) { out[threadIdx.x] = __ldg(&in[threadIdx.x]); }
__global__ void float4_make(const float *in, float4 *out) {
    float v = in[threadIdx.x];
    out[threadIdx.x] = make_float4(v, v + 1, v + 2, v + 3);
}
__global__ void float4_member(const float4 *in, float *out) { out[threadIdx.x] = in[threadIdx.x].z; }
__global__ void float4_members(const float4 *in, float *out) {
    out[threadIdx.x] = in[threadIdx.x].x + in[threadIdx.x].y + in[threadIdx.x].z + in[threadIdx.x].w;
}
__device__ float4 twice(float4 v) { return make_float4(v.x * 2, v.y * 2, v.z * 2, v.w * 2); }
__global__ void float4_by_value(const float4 *in, float4 *out) { out[threadIdx.x] = twice(in[threadIdx.x]); }
__global__ void float4_parameter(float4 v, float4 *out) { out[threadIdx.x] = v; }
__global__ void int4_copy(const int4 *in, int4 *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void uint4_swap(uint4 *a) {
    uint4 t = a[threadIdx.x];
    a[threadIdx.x] = a[threadIdx.x + 32];
    a[threadIdx.x + 32] = t;
}
__global__ void double2_copy(const double2 *in, double2 *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void double2_sum(const double2 *in, double *out) {
    double2 v = in[threadIdx.x];
    out[threadIdx.x] = v.x + v.y;
}
__global__ void double2_shared(const double2 *in, double2 *out) {
    __shared__ double2 s[33];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[(threadIdx.x + 1) % 32];
}
__global__ void longlong2_copy(const longlong2 *in, longlong2 *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void uint2_copy(const uint2 *in, uint2 *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void float2_copy(const float2 *in, float2 *out) {
    __shared__ float2 s[32];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = s[31 - threadIdx.x];
}
__global__ void float2_multiply(const float2 *a, const float2 *b, float2 *out) {
    float2 x = a[threadIdx.x], y = b[threadIdx.x];
    out[threadIdx.x] = make_float2(x.x * y.x - x.y * y.y, x.x * y.y + x.y * y.x);
}
__global__ void float3_copy(const float3 *in, float3 *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void char4_copy(const char4 *in, char4 *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void uchar4_grey(const uchar4 *in, unsigned char *out) {
    uchar4 c = in[threadIdx.x];
    out[threadIdx.x] = (c.x * 77 + c.y * 150 + c.z * 29) >> 8;
}
__global__ void uchar4_invert(uchar4 *a) {
    uchar4 c = a[threadIdx.x];
    a[threadIdx.x] = make_uchar4(255 - c.x, 255 - c.y, 255 - c.z, c.w);
}
__global__ void uchar3_copy(const uchar3 *in, uchar3 *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void short4_copy(const short4 *in, short4 *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void short2_sum(const short2 *in, int *out) { out[threadIdx.x] = in[threadIdx.x].x + in[threadIdx.x].y; }
__global__ void struct16(const Particle *in, Particle *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void struct16_shared(const Particle *in, Particle *out) {
    __shared__ Particle s[32];
    s[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    Particle p = s[threadIdx.x ^ 1];
    p.x += p.mass;
    out[threadIdx.x] = p;
}
__global__ void struct16_plain(const Plain *in, Plain *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void struct16_mixed(const Mixed *in, Mixed *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void struct16_bytes(const Bytes *in, Bytes *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void struct8_aligned(const Pair *in, Pair *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void struct8_plain(const Edge *in, Edge *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void struct12(const Node *in, Node *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void struct32(const Wide *in, Wide *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void struct32_member(const Wide *in, float4 *out) { out[threadIdx.x] = in[threadIdx.x].velocity; }
__global__ void struct32_move(Wide *a, float dt) {
    Wide w = a[threadIdx.x];
    w.position.x += w.velocity.x * dt, w.position.y += w.velocity.y * dt, w.position.z += w.velocity.z * dt;
    a[threadIdx.x] = w;
}
__global__ void union16(const Word *in, Word *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void union16_member(const Word *in, Word *out) { out[threadIdx.x].i = in[threadIdx.x].i; }
__global__ void int2_volatile(volatile int *in, int *out) { out[threadIdx.x] = in[threadIdx.x] + in[threadIdx.x + 32]; }
__global__ void float4_tile(const float4 *in, float4 *out) {
    __shared__ float4 tile[4][8 + 1];
    int x = threadIdx.x % 8, y = threadIdx.x / 8;
    tile[y][x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = tile[x % 4][y + 4 * (x / 4)];
}
__constant__ float4 planes[32];
__global__ void float4_constant(float4 *out) { out[threadIdx.x] = planes[threadIdx.x % 4]; }
__device__ float4 kept[64];
__global__ void float4_variable(const float4 *in) { kept[threadIdx.x] = in[threadIdx.x]; }
__global__ void float4_loop(const float4 *in, float4 *out, int n) {
#pragma unroll 1
    for (int i = threadIdx.x; i < n; i += 32) out[i] = in[i];
}
template <class T>
struct Vec4 {
    T v[4];
};
__global__ void array_in_struct(const Vec4<float> *in, Vec4<float> *out) { out[threadIdx.x] = in[threadIdx.x]; }
struct __align__(16) Quad {
    float v[4];
};
__global__ void array_in_aligned(const Quad *in, Quad *out) {
    Quad q = in[threadIdx.x];
    for (int i = 0; i < 4; ++i) q.v[i] += 1;
    out[threadIdx.x] = q;
}


struct Six { float a[6]; };           // 24 bytes
struct __align__(16) Four { float4 r[4]; };  // 64
struct __align__(8) Bytes8 { unsigned char b[8]; };
struct S8 { short a, b; int c; };
struct alignas(16) Header { int id; short kind; char flag; char pad; double weight; };
struct Holder { float4 *p; int n; };
__global__ void one_member(const float4 *in, float *out) { float4 v = in[threadIdx.x]; out[threadIdx.x] = v.x; }
__global__ void two_members(const float4 *in, float *out) { float4 v = in[threadIdx.x]; out[threadIdx.x] = v.x + v.y; }
__global__ void three_members(const float4 *in, float *out) { float4 v = in[threadIdx.x]; out[threadIdx.x] = v.x + v.y+v.z; }
__global__ void ends(const float4 *in, float *out) { float4 v = in[threadIdx.x]; out[threadIdx.x] = v.x + v.w; }
__global__ void one_of_uchar4(const uchar4 *in, unsigned char *out) { uchar4 v = in[threadIdx.x]; out[threadIdx.x] = v.y; }
__global__ void one_of_int2(const int2 *in, int *out) { int2 v = in[threadIdx.x]; out[threadIdx.x] = v.y; }
__global__ void one_of_double2(const double2 *in, double *out) { double2 v = in[threadIdx.x]; out[threadIdx.x] = v.y; }
__global__ void member_stores(const float *in, float4 *out) { float v = in[threadIdx.x]; out[threadIdx.x].x = v; out[threadIdx.x].y = v+1; out[threadIdx.x].z = v+2; out[threadIdx.x].w = v+3; }
__global__ void pairs(const float2 *in, float *out) { out[threadIdx.x] = in[threadIdx.x].x * in[threadIdx.x].y; }
__global__ void struct24(const Six *in, Six *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void struct64(const Four *in, Four *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void bytes8(const Bytes8 *in, Bytes8 *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void struct8_short(const S8 *in, S8 *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void header16(const Header *in, Header *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void header16_used(const Header *in, double *out) { Header h = in[threadIdx.x]; out[threadIdx.x] = h.id * h.weight; }
__global__ void half2_copy(const __half2 *in, __half2 *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void half_copy(const __half *in, __half *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void in_holder(Holder h, float4 *out) { out[threadIdx.x] = h.p[threadIdx.x]; }
__global__ void longlong4_copy(const longlong4 *in, longlong4 *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void ushort4_copy(const ushort4 *in, ushort4 *out) { ushort4 v = in[threadIdx.x]; v.x += 1; out[threadIdx.x] = v; }
__global__ void char2_copy(const char2 *in, char2 *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void char2_swap(const char2 *in, char2 *out) { char2 v = in[threadIdx.x]; out[threadIdx.x] = make_char2(v.y, v.x); }
__global__ void short3_copy(const short3 *in, short3 *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void int3_copy(const int3 *in, int3 *out) { __shared__ int3 s[32]; s[threadIdx.x] = in[threadIdx.x]; __syncthreads(); out[threadIdx.x] = s[31-threadIdx.x]; }
__global__ void double3_copy(const double3 *in, double3 *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void ldg_int2(const int2 *in, int2 *out) { out[threadIdx.x] = __ldg(in + threadIdx.x); }
__global__ void ldg_float(const float *in, float *out) { out[threadIdx.x] = __ldg(in + threadIdx.x); }
__global__ void volatile_float(volatile float *in, volatile float *out) { out[threadIdx.x] = in[threadIdx.x]; }
__global__ void tile_floats(const float *in, float *out) { __shared__ float t[32*4]; reinterpret_cast<float4*>(t)[threadIdx.x] = reinterpret_cast<const float4*>(in)[threadIdx.x]; __syncthreads(); float4 v; v.x = t[threadIdx.x]; v.y = t[threadIdx.x+32]; v.z = t[threadIdx.x+64]; v.w = t[threadIdx.x+96]; reinterpret_cast<float4*>(out)[threadIdx.x] = v; }
__global__ void array_local(const float4 *in, float4 *out) { float4 r[4]; 
#pragma unroll
 for (int i = 0; i < 4; ++i) r[i] = in[threadIdx.x + 32*i];
#pragma unroll
 for (int i = 0; i < 4; ++i) out[threadIdx.x+32*i] = r[3-i]; }
__global__ void array_local_plain(const float *in, float *out) { float r[4]; 
 for (int i = 0; i < 4; ++i) r[i] = in[threadIdx.x + 32*i];
 for (int i = 0; i < 4; ++i) out[threadIdx.x+32*i] = r[3-i]; }
__device__ void add(float4 &a, const float4 &b) { a.x += b.x; a.y += b.y; a.z += b.z; a.w += b.w; }
__global__ void by_reference(float4 *a, const float4 *b) { add(a[threadIdx.x], b[threadIdx.x]); }
__device__ __forceinline__ float4 operator+(float4 a, float4 b) { return make_float4(a.x+b.x,a.y+b.y,a.z+b.z,a.w+b.w); }
__global__ void vector_sum(const float4 *a, const float4 *b, float4 *c) { c[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x]; }
__global__ void reduce4(const float4 *in, float4 *out) { __shared__ float4 s[64]; s[threadIdx.x] = in[threadIdx.x]; __syncthreads(); if (threadIdx.x < 16) s[threadIdx.x] = s[threadIdx.x] + s[threadIdx.x+16]; __syncthreads(); if (threadIdx.x == 0) out[0] = s[0] + s[1]; }
__global__ void swap_shared(float4 *a) { __shared__ float4 s[32]; s[threadIdx.x] = a[threadIdx.x]; __syncthreads(); float4 t = s[threadIdx.x]; s[threadIdx.x] = s[31 - threadIdx.x]; __syncthreads(); a[threadIdx.x] = t; }

struct Two { float2 a, b; };
struct DI { double d; int a, b; };
struct Big { int n; float arr[16]; };
__global__ void mixed_swap(Mixed *a) { Mixed t = a[threadIdx.x]; a[threadIdx.x] = a[threadIdx.x+32]; a[threadIdx.x+32] = t; }
__global__ void mixed_local(const Mixed *in, Mixed *a) { Mixed t = in[threadIdx.x]; t.i += 1; a[threadIdx.x] = t; }
__global__ void union_local(const Word *in, float *out) { Word w = in[threadIdx.x]; out[threadIdx.x] = w.f.x + w.f.w; }
__global__ void union_swap(Word *a) { Word t = a[threadIdx.x]; a[threadIdx.x] = a[threadIdx.x+32]; a[threadIdx.x+32] = t; }
__global__ void quad_swap(Quad *a) { Quad t = a[threadIdx.x]; a[threadIdx.x] = a[threadIdx.x+32]; a[threadIdx.x+32] = t; }
__global__ void quad_local(const Quad *in, Quad *a) { Quad t = in[threadIdx.x]; t.v[0] += 1; a[threadIdx.x] = t; }
__global__ void two_local(const Two *in, Two *a) { Two t = in[threadIdx.x]; t.a.x += 1; a[threadIdx.x] = t; }
__global__ void two_copy(const Two *in, Two *a) { a[threadIdx.x] = in[threadIdx.x]; }
__global__ void plain_local(const Plain *in, Plain *a) { Plain t = in[threadIdx.x]; t.a += 1; a[threadIdx.x] = t; }
__global__ void di_local(const DI *in, DI *a) { DI t = in[threadIdx.x]; t.a += 1; a[threadIdx.x] = t; }
__global__ void di_copy(const DI *in, DI *a) { a[threadIdx.x] = in[threadIdx.x]; }
__global__ void big_cast(Big *p, float4 *out) { out[threadIdx.x] = reinterpret_cast<float4*>(p->arr)[threadIdx.x & 3]; }
__global__ void dynamic(const float4 *in, float4 *out) { extern __shared__ float4 d[]; d[threadIdx.x] = in[threadIdx.x]; __syncthreads(); out[threadIdx.x] = d[31-threadIdx.x]; }
__global__ void dynamic_float(const float4 *in, float4 *out) { extern __shared__ float e[]; float4 *d = (float4*)e; d[threadIdx.x] = in[threadIdx.x]; __syncthreads(); out[threadIdx.x] = d[31-threadIdx.x]; }
__global__ void cast_2d(const float *in, float *out) { __shared__ float t[32][4]; *(float4*)&t[threadIdx.x][0] = *(const float4*)&in[4*threadIdx.x]; __syncthreads(); *(float4*)&out[4*threadIdx.x] = *(float4*)&t[31-threadIdx.x][0]; }
__global__ void cast_float2(const float *in, float *out) { __shared__ float t[64]; *(float2*)&t[2*threadIdx.x] = *(const float2*)&in[2*threadIdx.x]; __syncthreads(); *(float2*)&out[2*threadIdx.x] = *(float2*)&t[62-2*threadIdx.x]; }
#define FETCH_FLOAT4(p) (reinterpret_cast<float4*>(&(p))[0])
__global__ void fetch(float *in, float *out) { __shared__ float As[8][32]; float4 v = FETCH_FLOAT4(in[4*threadIdx.x]); As[0][threadIdx.x] = v.x; As[1][threadIdx.x] = v.y; As[2][threadIdx.x] = v.z; As[3][threadIdx.x] = v.w; FETCH_FLOAT4(As[4 + threadIdx.x / 8][threadIdx.x % 8 * 4]) = v; __syncthreads(); FETCH_FLOAT4(out[4*threadIdx.x]) = FETCH_FLOAT4(As[threadIdx.x / 8][threadIdx.x % 8 * 4]); }
__global__ void fragment(float *in, float *out) { __shared__ float As[4*32]; FETCH_FLOAT4(As[4*threadIdx.x]) = FETCH_FLOAT4(in[4*threadIdx.x]); __syncthreads(); float r[4]; FETCH_FLOAT4(r[0]) = FETCH_FLOAT4(As[124-4*threadIdx.x]); out[threadIdx.x] = r[0]*r[1]+r[2]*r[3]; }
