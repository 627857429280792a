// float4, int2, uchar3, ...: C structs with CUDA's alignment. dim3 and uint3 are in tilescope_cudart_types.h.
//
// Source: CUDA C++ Programming Guide, "Built-in Vector Types", table "Alignment Requirements".
#pragma once

#include "tilescope_cudart_types.h"

// Name, number, and the alignment of two and four of them (three are aligned as one); but for unsigned int.
#define TILESCOPE_EACH_VECTOR(of)             \
    of(char, signed char, 2, 4)               \
    of(uchar, unsigned char, 2, 4)            \
    of(short, short, 4, 8)                    \
    of(ushort, unsigned short, 4, 8)          \
    of(int, int, 8, 16)                       \
    of(long, long, 16, 16)                    \
    of(ulong, unsigned long, 16, 16)          \
    of(longlong, long long, 16, 16)           \
    of(ulonglong, unsigned long long, 16, 16) \
    of(float, float, 8, 16)                   \
    of(double, double, 16, 16)
#define TILESCOPE_VECTORS(name, T, two, four) \
    struct name##1 {                          \
        T x;                                  \
    };                                        \
    struct __attribute__((aligned(two))) name##2 { \
        T x, y;                               \
    };                                        \
    struct __attribute__((aligned(four))) name##4 { \
        T x, y, z, w;                         \
    };                                        \
    typedef struct name##1 name##1;           \
    typedef struct name##2 name##2;           \
    typedef struct name##4 name##4;
#define TILESCOPE_VECTOR_3(name, T, two, four) \
    struct name##3 {                \
        T x, y, z;                  \
    };                              \
    typedef struct name##3 name##3;

TILESCOPE_EACH_VECTOR(TILESCOPE_VECTORS)
TILESCOPE_EACH_VECTOR(TILESCOPE_VECTOR_3)
TILESCOPE_VECTORS(uint, unsigned int, 8, 16)
#undef TILESCOPE_VECTORS
#undef TILESCOPE_VECTOR_3
