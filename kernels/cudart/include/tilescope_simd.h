// Two 16-bit or four 8-bit numbers of a 32-bit word at a time, each apart from its neighbours.
//
//   names end in   s signed, u unsigned numbers, ss and us with saturation; 2 halves, 4 bytes
//   __vcmp         all bits of a lane where it holds      __vset: 1
//
// Source: CUDA Math API, "SIMD Intrinsics".
#pragma once

TILESCOPE_DEVICE int tilescope_clamp(int a, int low, int high) { return a < low ? low : a > high ? high : a; }

// `value`, an int made of a and b, into each lane of the word that is returned.
#define TILESCOPE_LANES(name, Lane, count, value)                                                          \
    TILESCOPE_DEVICE unsigned int name(unsigned int x, unsigned int y) {                                   \
        unsigned int r = 0;                                                                                \
        for (int lane = 0; lane < (count); ++lane) {                                                       \
            const int shift = 32 / (count) * lane;                                                         \
            const int a = (Lane)(x >> shift), b = (Lane)(y >> shift);                                      \
            (void)b;                                                                                       \
            r |= ((unsigned int)(value) & (0xffffffffu >> (32 - 32 / (count)))) << shift;                  \
        }                                                                                                  \
        return r;                                                                                          \
    }
#define TILESCOPE_LANES_1(name, Lane, count, value)                \
    TILESCOPE_LANES(name##_of_2, Lane, count, value)               \
    TILESCOPE_DEVICE unsigned int name(unsigned int x) { return name##_of_2(x, 0); }
#define TILESCOPE_LANES_SUM(name, Lane, count)                                     \
    TILESCOPE_DEVICE unsigned int name(unsigned int x, unsigned int y) {           \
        unsigned int r = 0;                                                        \
        for (int lane = 0; lane < (count); ++lane) {                               \
            const int shift = 32 / (count) * lane;                                 \
            const int a = (Lane)(x >> shift), b = (Lane)(y >> shift);              \
            r += (unsigned int)(a > b ? a - b : b - a);                            \
        }                                                                          \
        return r;                                                                  \
    }
#define TILESCOPE_LANES_COMPARE(word, S, U, n, operation)                       \
    TILESCOPE_LANES(__nv_vcmp##word##s##n, S, n, a operation b ? -1 : 0)        \
    TILESCOPE_LANES(__nv_vcmp##word##u##n, U, n, a operation b ? -1 : 0)        \
    TILESCOPE_LANES(__nv_vset##word##s##n, S, n, a operation b)                 \
    TILESCOPE_LANES(__nv_vset##word##u##n, U, n, a operation b)
#define TILESCOPE_SIMD(S, U, n, least, most, umost)                             \
    TILESCOPE_LANES_1(__nv_vabs##n, S, n, a < 0 ? -a : a)                       \
    TILESCOPE_LANES_1(__nv_vabsss##n, S, n, a == (least) ? (most) : a < 0 ? -a : a) \
    TILESCOPE_LANES_1(__nv_vneg##n, S, n, -a)                                   \
    TILESCOPE_LANES_1(__nv_vnegss##n, S, n, a == (least) ? (most) : -a)         \
    TILESCOPE_LANES(__nv_vabsdiffs##n, S, n, a > b ? a - b : b - a)             \
    TILESCOPE_LANES(__nv_vabsdiffu##n, U, n, a > b ? a - b : b - a)             \
    TILESCOPE_LANES(__nv_vadd##n, U, n, a + b)                                  \
    TILESCOPE_LANES(__nv_vaddss##n, S, n, tilescope_clamp(a + b, least, most))  \
    TILESCOPE_LANES(__nv_vaddus##n, U, n, tilescope_clamp(a + b, 0, umost))     \
    TILESCOPE_LANES(__nv_vsub##n, U, n, a - b)                                  \
    TILESCOPE_LANES(__nv_vsubss##n, S, n, tilescope_clamp(a - b, least, most))  \
    TILESCOPE_LANES(__nv_vsubus##n, U, n, tilescope_clamp(a - b, 0, umost))     \
    TILESCOPE_LANES(__nv_vavgs##n, S, n, (a + b + (a + b >= 0)) >> 1)           \
    TILESCOPE_LANES(__nv_vavgu##n, U, n, (a + b + 1) >> 1)                      \
    TILESCOPE_LANES(__nv_vhaddu##n, U, n, (a + b) >> 1)                         \
    TILESCOPE_LANES(__nv_vmaxs##n, S, n, a > b ? a : b)                         \
    TILESCOPE_LANES(__nv_vmaxu##n, U, n, a > b ? a : b)                         \
    TILESCOPE_LANES(__nv_vmins##n, S, n, a < b ? a : b)                         \
    TILESCOPE_LANES(__nv_vminu##n, U, n, a < b ? a : b)                         \
    TILESCOPE_LANES(__nv_vcmpeq##n, U, n, a == b ? -1 : 0)                      \
    TILESCOPE_LANES(__nv_vcmpne##n, U, n, a != b ? -1 : 0)                      \
    TILESCOPE_LANES(__nv_vseteq##n, U, n, a == b)                               \
    TILESCOPE_LANES(__nv_vsetne##n, U, n, a != b)                               \
    TILESCOPE_LANES_COMPARE(ge, S, U, n, >=)                                    \
    TILESCOPE_LANES_COMPARE(gt, S, U, n, >)                                     \
    TILESCOPE_LANES_COMPARE(le, S, U, n, <=)                                    \
    TILESCOPE_LANES_COMPARE(lt, S, U, n, <)                                     \
    TILESCOPE_LANES_SUM(__nv_vsads##n, S, n)                                    \
    TILESCOPE_LANES_SUM(__nv_vsadu##n, U, n)
TILESCOPE_SIMD(short, unsigned short, 2, -32768, 32767, 65535)
TILESCOPE_SIMD(signed char, unsigned char, 4, -128, 127, 255)
