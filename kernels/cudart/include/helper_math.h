// For programs that ask for cuda-samples' header of this name and do not bring it: arithmetic on vectors, on
// the host and on the device.
#pragma once

#include <math.h>

#include "cuda_runtime.h"

#define TILESCOPE_MATH static __inline__ __host__ __device__

#ifndef __CUDACC__
inline float fminf(float a, float b) { return a < b ? a : b; }
inline float fmaxf(float a, float b) { return a > b ? a : b; }
inline int max(int a, int b) { return a > b ? a : b; }
inline int min(int a, int b) { return a < b ? a : b; }
inline float rsqrtf(float x) { return 1.0f / sqrtf(x); }
#endif

// Operators on each member: of two vectors, or of one and a number.
#define TILESCOPE_BINARY_2(V, T, op)                                                       \
    TILESCOPE_MATH V operator op(V a, V b) { return {T(a.x op b.x), T(a.y op b.y)}; }      \
    TILESCOPE_MATH V operator op(V a, T b) { return {T(a.x op b), T(a.y op b)}; }          \
    TILESCOPE_MATH V operator op(T a, V b) { return {T(a op b.x), T(a op b.y)}; }          \
    TILESCOPE_MATH void operator op##=(V& a, V b) { a = a op b; }                          \
    TILESCOPE_MATH void operator op##=(V& a, T b) { a = a op b; }
#define TILESCOPE_BINARY_3(V, T, op)                                                                    \
    TILESCOPE_MATH V operator op(V a, V b) { return {T(a.x op b.x), T(a.y op b.y), T(a.z op b.z)}; }    \
    TILESCOPE_MATH V operator op(V a, T b) { return {T(a.x op b), T(a.y op b), T(a.z op b)}; }          \
    TILESCOPE_MATH V operator op(T a, V b) { return {T(a op b.x), T(a op b.y), T(a op b.z)}; }          \
    TILESCOPE_MATH void operator op##=(V& a, V b) { a = a op b; }                                       \
    TILESCOPE_MATH void operator op##=(V& a, T b) { a = a op b; }
#define TILESCOPE_BINARY_4(V, T, op)                                                                               \
    TILESCOPE_MATH V operator op(V a, V b) { return {T(a.x op b.x), T(a.y op b.y), T(a.z op b.z), T(a.w op b.w)}; } \
    TILESCOPE_MATH V operator op(V a, T b) { return {T(a.x op b), T(a.y op b), T(a.z op b), T(a.w op b)}; }        \
    TILESCOPE_MATH V operator op(T a, V b) { return {T(a op b.x), T(a op b.y), T(a op b.z), T(a op b.w)}; }        \
    TILESCOPE_MATH void operator op##=(V& a, V b) { a = a op b; }                                                  \
    TILESCOPE_MATH void operator op##=(V& a, T b) { a = a op b; }

// Functions of each member: of a vector alone, of two, of two and a third.
#define TILESCOPE_EACH1_2(V, name, f) TILESCOPE_MATH V name(V a) { return {f(a.x), f(a.y)}; }
#define TILESCOPE_EACH1_3(V, name, f) TILESCOPE_MATH V name(V a) { return {f(a.x), f(a.y), f(a.z)}; }
#define TILESCOPE_EACH1_4(V, name, f) TILESCOPE_MATH V name(V a) { return {f(a.x), f(a.y), f(a.z), f(a.w)}; }
#define TILESCOPE_EACH2_2(V, name, f) TILESCOPE_MATH V name(V a, V b) { return {f(a.x, b.x), f(a.y, b.y)}; }
#define TILESCOPE_EACH2_3(V, name, f) \
    TILESCOPE_MATH V name(V a, V b) { return {f(a.x, b.x), f(a.y, b.y), f(a.z, b.z)}; }
#define TILESCOPE_EACH2_4(V, name, f) \
    TILESCOPE_MATH V name(V a, V b) { return {f(a.x, b.x), f(a.y, b.y), f(a.z, b.z), f(a.w, b.w)}; }

TILESCOPE_MATH float lerp(float a, float b, float t) { return a + t * (b - a); }
TILESCOPE_MATH float clamp(float v, float low, float high) { return fmaxf(low, fminf(v, high)); }
TILESCOPE_MATH int clamp(int v, int low, int high) { return v < low ? low : v > high ? high : v; }
TILESCOPE_MATH unsigned clamp(unsigned v, unsigned low, unsigned high) { return v < low ? low : v > high ? high : v; }
TILESCOPE_MATH float fracf(float v) { return v - floorf(v); }
TILESCOPE_MATH float smoothstep(float a, float b, float x) {
    const float y = clamp((x - a) / (b - a), 0.0f, 1.0f);
    return y * y * (3.0f - 2.0f * y);
}

#define TILESCOPE_NUMBERS(V, T, N)   \
    TILESCOPE_BINARY_##N(V, T, +)    \
    TILESCOPE_BINARY_##N(V, T, -)    \
    TILESCOPE_BINARY_##N(V, T, *)    \
    TILESCOPE_MATH V clamp(V v, V low, V high) { return min(max(v, low), high); }
#define TILESCOPE_LEAST(a, b) ((b) < (a) ? (b) : (a))
#define TILESCOPE_MOST(a, b) ((a) < (b) ? (b) : (a))
#define TILESCOPE_WHOLE(V, T, N)                    \
    TILESCOPE_EACH2_##N(V, min, TILESCOPE_LEAST)    \
    TILESCOPE_EACH2_##N(V, max, TILESCOPE_MOST)     \
    TILESCOPE_NUMBERS(V, T, N)
TILESCOPE_WHOLE(int2, int, 2)
TILESCOPE_WHOLE(int3, int, 3)
TILESCOPE_WHOLE(int4, int, 4)
TILESCOPE_WHOLE(uint2, unsigned, 2)
TILESCOPE_WHOLE(uint3, unsigned, 3)
TILESCOPE_WHOLE(uint4, unsigned, 4)
TILESCOPE_EACH1_2(int2, operator-, -)
TILESCOPE_EACH1_3(int3, operator-, -)
TILESCOPE_EACH1_4(int4, operator-, -)

#define TILESCOPE_FLOATS(V, N)                                                              \
    TILESCOPE_EACH1_##N(V, operator-, -)                                                    \
    TILESCOPE_EACH1_##N(V, floorf, floorf)                                                  \
    TILESCOPE_EACH1_##N(V, fracf, fracf)                                                    \
    TILESCOPE_EACH1_##N(V, fabs, fabsf)                                                     \
    TILESCOPE_EACH2_##N(V, fminf, fminf)                                                    \
    TILESCOPE_EACH2_##N(V, fmaxf, fmaxf)                                                    \
    TILESCOPE_EACH2_##N(V, min, fminf)                                                      \
    TILESCOPE_EACH2_##N(V, max, fmaxf)                                                      \
    TILESCOPE_EACH2_##N(V, fmodf, fmodf)                                                    \
    TILESCOPE_NUMBERS(V, float, N)                                                          \
    TILESCOPE_BINARY_##N(V, float, /)                                                       \
    TILESCOPE_MATH V lerp(V a, V b, float t) { return a + t * (b - a); }                    \
    TILESCOPE_MATH float length(V v) { return sqrtf(dot(v, v)); }                           \
    TILESCOPE_MATH V normalize(V v) { return v * (1.0f / sqrtf(dot(v, v))); }               \
    TILESCOPE_MATH V reflect(V i, V n) { return i - 2.0f * n * dot(n, i); }
TILESCOPE_MATH float dot(float2 a, float2 b) { return a.x * b.x + a.y * b.y; }
TILESCOPE_MATH float dot(float3 a, float3 b) { return a.x * b.x + a.y * b.y + a.z * b.z; }
TILESCOPE_MATH float dot(float4 a, float4 b) { return a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w; }
TILESCOPE_FLOATS(float2, 2)
TILESCOPE_FLOATS(float3, 3)
TILESCOPE_FLOATS(float4, 4)
TILESCOPE_MATH float2 clamp(float2 v, float a, float b) { return {clamp(v.x, a, b), clamp(v.y, a, b)}; }
TILESCOPE_MATH float3 clamp(float3 v, float a, float b) {
    return {clamp(v.x, a, b), clamp(v.y, a, b), clamp(v.z, a, b)};
}
TILESCOPE_MATH float4 clamp(float4 v, float a, float b) {
    return {clamp(v.x, a, b), clamp(v.y, a, b), clamp(v.z, a, b), clamp(v.w, a, b)};
}
TILESCOPE_MATH float3 cross(float3 a, float3 b) {
    return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// Vectors of one number, and of shorter, longer and other ones.
#define TILESCOPE_MAKERS(name, T)                                                                     \
    TILESCOPE_MATH name##2 make_##name##2(T s) { return {s, s}; }                                     \
    TILESCOPE_MATH name##3 make_##name##3(T s) { return {s, s, s}; }                                  \
    TILESCOPE_MATH name##4 make_##name##4(T s) { return {s, s, s, s}; }                               \
    TILESCOPE_MATH name##2 make_##name##2(name##3 a) { return {a.x, a.y}; }                           \
    TILESCOPE_MATH name##3 make_##name##3(name##2 a) { return {a.x, a.y, 0}; }                        \
    TILESCOPE_MATH name##3 make_##name##3(name##2 a, T s) { return {a.x, a.y, s}; }                   \
    TILESCOPE_MATH name##3 make_##name##3(name##4 a) { return {a.x, a.y, a.z}; }                      \
    TILESCOPE_MATH name##4 make_##name##4(name##3 a) { return {a.x, a.y, a.z, 0}; }                   \
    TILESCOPE_MATH name##4 make_##name##4(name##3 a, T w) { return {a.x, a.y, a.z, w}; }
TILESCOPE_MAKERS(float, float)
TILESCOPE_MAKERS(int, int)
TILESCOPE_MAKERS(uint, unsigned)
#undef TILESCOPE_MAKERS
#define TILESCOPE_FROM(to, T, from)                                                                   \
    TILESCOPE_MATH to##2 make_##to##2(from##2 a) { return {T(a.x), T(a.y)}; }                         \
    TILESCOPE_MATH to##3 make_##to##3(from##3 a) { return {T(a.x), T(a.y), T(a.z)}; }                 \
    TILESCOPE_MATH to##4 make_##to##4(from##4 a) { return {T(a.x), T(a.y), T(a.z), T(a.w)}; }
TILESCOPE_FROM(float, float, int)
TILESCOPE_FROM(float, float, uint)
TILESCOPE_FROM(int, int, float)
TILESCOPE_FROM(int, int, uint)
TILESCOPE_FROM(uint, unsigned, int)
TILESCOPE_FROM(uint, unsigned, float)
#undef TILESCOPE_FROM

#undef TILESCOPE_MATH
