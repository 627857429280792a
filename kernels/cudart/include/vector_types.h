// float4, int2, uchar3, ...: C structs with CUDA's alignment. dim3 and uint3 are in tilescope_cudart_types.h.
//
// Source: CUDA C++ Programming Guide, "Built-in Vector Types", table "Alignment Requirements".
#pragma once

#include "tilescope_cudart_types.h"

// Number, and the alignment of one, two and four of them (three are aligned as one).
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
#define TILESCOPE_VECTOR_3(name, T) \
    struct name##3 {                \
        T x, y, z;                  \
    };                              \
    typedef struct name##3 name##3;

TILESCOPE_VECTORS(char, signed char, 2, 4)
TILESCOPE_VECTORS(uchar, unsigned char, 2, 4)
TILESCOPE_VECTORS(short, short, 4, 8)
TILESCOPE_VECTORS(ushort, unsigned short, 4, 8)
TILESCOPE_VECTORS(int, int, 8, 16)
TILESCOPE_VECTORS(uint, unsigned int, 8, 16)
TILESCOPE_VECTORS(long, long, 16, 16)
TILESCOPE_VECTORS(ulong, unsigned long, 16, 16)
TILESCOPE_VECTORS(longlong, long long, 16, 16)
TILESCOPE_VECTORS(ulonglong, unsigned long long, 16, 16)
TILESCOPE_VECTORS(float, float, 8, 16)
TILESCOPE_VECTORS(double, double, 16, 16)
TILESCOPE_VECTOR_3(char, signed char)
TILESCOPE_VECTOR_3(uchar, unsigned char)
TILESCOPE_VECTOR_3(short, short)
TILESCOPE_VECTOR_3(ushort, unsigned short)
TILESCOPE_VECTOR_3(int, int)
TILESCOPE_VECTOR_3(long, long)
TILESCOPE_VECTOR_3(ulong, unsigned long)
TILESCOPE_VECTOR_3(longlong, long long)
TILESCOPE_VECTOR_3(ulonglong, unsigned long long)
TILESCOPE_VECTOR_3(float, float)
TILESCOPE_VECTOR_3(double, double)
#undef TILESCOPE_VECTORS
#undef TILESCOPE_VECTOR_3
