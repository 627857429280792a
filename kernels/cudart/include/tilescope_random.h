// The generators of cuRAND, on both sides: XORWOW and Philox4x32-10, and what is made of their 32 bits.
//
// XORWOW is a linear generator of 160 bits, v, and a counter, d. With p its characteristic polynomial, n steps from v lead
// to the sum of those states v(i), i < 160, whose x^i is a term of x^n mod p. So any step is reached in 160 steps, and
// x^n mod p by squaring. Subsequences begin 2^67 steps apart.
//
// Source: G. Marsaglia, "Xorshift RNGs", 2003, section 3.1; J. Salmon and others, "Parallel Random Numbers: As Easy as 1, 2,
// 3", 2011, section 3.3; cuRAND Library, "Device API Overview", and its numbers for how a seed becomes a state.
#pragma once

#include <math.h>

#include "cuda_runtime.h"

#define TILESCOPE_RANDOM static __inline__ __host__ __device__

// --- XORWOW

struct curandStateXORWOW {
    unsigned int d, v[5];
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef struct curandStateXORWOW curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStateXORWOW curandState;

// 160 bits in registers: the states of XORWOW, and polynomials of a degree below 160.
struct tilescope_bits160 {
    unsigned int a, b, c, d, e;
};

TILESCOPE_RANDOM void tilescope_xorwow_step(tilescope_bits160* v) {
    const unsigned int t = v->a ^ (v->a >> 2), last = v->e;
    v->a = v->b, v->b = v->c, v->c = v->d, v->d = last;
    v->e = (last ^ (last << 4)) ^ (t ^ (t << 1));
}

// poly * x + bit, modulo p
TILESCOPE_RANDOM void tilescope_times_x(tilescope_bits160* poly, unsigned int bit) {
    const unsigned int over = 0u - (poly->e >> 31);
    poly->e = (poly->e << 1 | poly->d >> 31) ^ (over & 0xf0eu);
    poly->d = (poly->d << 1 | poly->c >> 31) ^ (over & 0xf3c0035u);
    poly->c = (poly->c << 1 | poly->b >> 31) ^ (over & 0x62121u);
    poly->b = (poly->b << 1 | poly->a >> 31) ^ (over & 0x8610030u);
    poly->a = (poly->a << 1 | bit) ^ (over & 0x60001u);
}
// The 32 next bits of a polynomial, squared, behind those of `sum`.
TILESCOPE_RANDOM void tilescope_square_word(tilescope_bits160* sum, unsigned int word) {
    for (int bit = 31; bit >= 0; --bit) {
        tilescope_times_x(sum, 0);
        tilescope_times_x(sum, word >> bit & 1u);
    }
}
TILESCOPE_RANDOM tilescope_bits160 tilescope_squared(tilescope_bits160 poly) {
    tilescope_bits160 sum = {0, 0, 0, 0, 0};
    tilescope_square_word(&sum, poly.e);
    tilescope_square_word(&sum, poly.d);
    tilescope_square_word(&sum, poly.c);
    tilescope_square_word(&sum, poly.b);
    tilescope_square_word(&sum, poly.a);
    return sum;
}

TILESCOPE_RANDOM void tilescope_add_states(tilescope_bits160* sum, tilescope_bits160* v, unsigned int terms) {
    for (int i = 0; i < 32; ++i) {
        const unsigned int mask = 0u - (terms & 1u);
        sum->a ^= v->a & mask, sum->b ^= v->b & mask, sum->c ^= v->c & mask, sum->d ^= v->d & mask;
        sum->e ^= v->e & mask;
        terms >>= 1;
        tilescope_xorwow_step(v);
    }
}
// The state as many steps on as the polynomial has for a power of x.
TILESCOPE_RANDOM tilescope_bits160 tilescope_after(tilescope_bits160 v, tilescope_bits160 poly) {
    tilescope_bits160 sum = {0, 0, 0, 0, 0};
    tilescope_add_states(&sum, &v, poly.a);
    tilescope_add_states(&sum, &v, poly.b);
    tilescope_add_states(&sum, &v, poly.c);
    tilescope_add_states(&sum, &v, poly.d);
    tilescope_add_states(&sum, &v, poly.e);
    return sum;
}
// times * n steps on, poly being that of n.
TILESCOPE_RANDOM void tilescope_xorwow_skip(unsigned long long times, tilescope_bits160 poly,
                                            curandStateXORWOW_t* state) {
    if (times == 0) return;
    tilescope_bits160 v = {state->v[0], state->v[1], state->v[2], state->v[3], state->v[4]};
    for (;;) {
        if (times & 1) v = tilescope_after(v, poly);
        times >>= 1;
        if (times == 0) break;
        poly = tilescope_squared(poly);
    }
    state->v[0] = v.a, state->v[1] = v.b, state->v[2] = v.c, state->v[3] = v.d, state->v[4] = v.e;
}

TILESCOPE_RANDOM unsigned int curand(curandStateXORWOW_t* state) {
    tilescope_bits160 v = {state->v[0], state->v[1], state->v[2], state->v[3], state->v[4]};
    tilescope_xorwow_step(&v);
    state->v[0] = v.a, state->v[1] = v.b, state->v[2] = v.c, state->v[3] = v.d, state->v[4] = v.e;
    state->d += 362437;
    return v.e + state->d;
}
TILESCOPE_RANDOM void skipahead(unsigned long long n, curandStateXORWOW_t* state) {
    const tilescope_bits160 x = {2, 0, 0, 0, 0};
    tilescope_xorwow_skip(n, x, state);
    state->d += 362437u * (unsigned int)n;
}
// x^(2^(67 + k)) mod p. Not an array: a kernel that draws numbers would load from it, and that would be recorded.
#define TILESCOPE_FAR(of) \
    of(0, 0x26294934u, 0x77bbc248u, 0x1a87dad0u, 0x930052d4u, 0x947e6dd2u) \
    of(1, 0x5f39c379u, 0x95e20ba6u, 0x20e9ff72u, 0x1244ce5eu, 0xe8fd228fu) \
    of(2, 0xa7474d19u, 0x37c549e0u, 0x140877d2u, 0x24c43924u, 0xcd52ebecu) \
    of(3, 0xe0360ec5u, 0xb1c96c24u, 0xdbb91766u, 0x666ff5dcu, 0xf19a7e52u) \
    of(4, 0xfcc8f692u, 0x35aa698au, 0x04ebbf85u, 0x448304b0u, 0x082f3fd5u) \
    of(5, 0x48c289bdu, 0xe851cf98u, 0x845ad581u, 0xfd70752au, 0x2c3e63f6u) \
    of(6, 0xe502f5b3u, 0x77859d31u, 0x97e1cbb3u, 0xea09047au, 0x61d5f37eu) \
    of(7, 0xb89326d0u, 0x5a8655a9u, 0xfb6e98f5u, 0x02102162u, 0x7e6fcf6fu) \
    of(8, 0xb3a15db4u, 0xc6df3330u, 0x1a8be751u, 0xf1e4b221u, 0x6bb61c05u) \
    of(9, 0x133de1d0u, 0x361e4422u, 0xc6131fcfu, 0xd9719f45u, 0x9658a164u) \
    of(10, 0x19e2bee8u, 0xf8974218u, 0x4e65536au, 0xa2570336u, 0xe9b88082u) \
    of(11, 0x7863644bu, 0x2a21ce84u, 0x112e86f1u, 0xed01ce0eu, 0xba143e84u) \
    of(12, 0x0e2cae2eu, 0xd1011279u, 0x58923768u, 0x2bf650bau, 0xc985bcdau) \
    of(13, 0x213a286au, 0x6596b510u, 0x6fc10eaeu, 0x38a13547u, 0x11c7749eu) \
    of(14, 0x146281e7u, 0xa45b4452u, 0xafa8c695u, 0x74a0ac94u, 0x4b250e0au) \
    of(15, 0x2306bc52u, 0x790f3b4cu, 0x2fe473b9u, 0xbc81d7c0u, 0x093efe98u) \
    of(16, 0x89658c8bu, 0xf3914315u, 0xa73fe84bu, 0x3c5fadb6u, 0xadba8dd6u) \
    of(17, 0x09e49814u, 0x09caf5edu, 0x6b2460d9u, 0x1b9981c1u, 0x2d1fefc3u) \
    of(18, 0x82161afcu, 0x9bb13c55u, 0xfd20d7fbu, 0x306d90b9u, 0x92bf386fu) \
    of(19, 0x96d32350u, 0x0e081864u, 0x69faa798u, 0xe7faecf5u, 0xf1f951beu) \
    of(20, 0x3e9058c1u, 0x71da9705u, 0xe2cb1f2bu, 0x73456536u, 0xbd6501b6u) \
    of(21, 0x990ffc6eu, 0xbfdd1b5du, 0xc83e520bu, 0xe972936au, 0xac79abb9u) \
    of(22, 0xb1321eb5u, 0xb06d01a2u, 0x51532012u, 0x8fb59962u, 0x141d3b0bu) \
    of(23, 0x3257dfe1u, 0xd8a3d601u, 0x3a58c735u, 0x845f36e4u, 0x0112c611u) \
    of(24, 0xa0ffe9a4u, 0xf57be00eu, 0xe706880cu, 0x191211efu, 0xee5664fbu) \
    of(25, 0x9a3385b8u, 0xc540c30au, 0xb241d1e0u, 0x00626569u, 0x6b355fe9u) \
    of(26, 0xe129d45du, 0xac3e698bu, 0xd61f79fdu, 0x7a72a28bu, 0x7f4942beu) \
    of(27, 0x612501bbu, 0xae7b767du, 0xaa66c165u, 0x09bfaf8eu, 0x3e55c16du) \
    of(28, 0x874e26a7u, 0x33bc5a47u, 0xad95cba5u, 0x67651c39u, 0xf1f07dcau) \
    of(29, 0xb5ed0732u, 0x30e7a573u, 0x5c056714u, 0x2304f8fau, 0xebc584e1u) \
    of(30, 0x4b324c2eu, 0x2bdcc5a0u, 0x53eb4240u, 0xcac4fbc1u, 0x13e529e7u) \
    of(31, 0xe1683e38u, 0xa2339994u, 0x7308a647u, 0xc7c3f0b1u, 0x4a3dcd33u)
TILESCOPE_RANDOM tilescope_bits160 tilescope_far(int bit) {
    tilescope_bits160 poly = {0, 0, 0, 0, 0};
    unsigned int mask;
#define TILESCOPE_CHOOSE(k, a_, b_, c_, d_, e_)                                       \
    mask = 0u - (unsigned int)(bit == k);                                             \
    poly.a |= a_ & mask, poly.b |= b_ & mask, poly.c |= c_ & mask, poly.d |= d_ & mask; \
    poly.e |= e_ & mask;
    TILESCOPE_FAR(TILESCOPE_CHOOSE)
#undef TILESCOPE_CHOOSE
    return poly;
}
#undef TILESCOPE_FAR
TILESCOPE_RANDOM void skipahead_sequence(unsigned long long n, curandStateXORWOW_t* state) {
    // 2^67 steps for each; d comes back to where it was
    if (n == 0) return;
    tilescope_bits160 v = {state->v[0], state->v[1], state->v[2], state->v[3], state->v[4]};
    for (int bit = 0; bit < 32; ++bit)
        if (n >> bit & 1) v = tilescope_after(v, tilescope_far(bit));
    state->v[0] = v.a, state->v[1] = v.b, state->v[2] = v.c, state->v[3] = v.d, state->v[4] = v.e;
    if (n >> 32) tilescope_xorwow_skip(n >> 32, tilescope_squared(tilescope_far(31)), state);
}
TILESCOPE_RANDOM void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                                  curandStateXORWOW_t* state) {
    const unsigned int low = 1099087573u * ((unsigned int)seed ^ 0xaad26b49u),
                       high = 2591861531u * ((unsigned int)(seed >> 32) ^ 0xf7dcefddu);
    state->d = 6615241u + high + low;
    state->v[0] = 123456789u + low;
    state->v[1] = 362436069u ^ low;
    state->v[2] = 521288629u + high;
    state->v[3] = 88675123u ^ high;
    state->v[4] = 5783321u + low;
    state->boxmuller_flag = state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0;
    state->boxmuller_extra_double = 0;
    skipahead_sequence(sequence, state);
    skipahead(offset, state);
}

// --- Philox4x32-10

struct curandStatePhilox4_32_10 {
    uint4 ctr, output;
    uint2 key;
    unsigned int STATE;
    int boxmuller_flag, boxmuller_flag_double;
    float boxmuller_extra;
    double boxmuller_extra_double;
};
typedef struct curandStatePhilox4_32_10 curandStatePhilox4_32_10_t;

TILESCOPE_RANDOM uint4 curand_Philox4x32_10(uint4 c, uint2 k) {
    for (int round = 0; round < 10; ++round) {
        const unsigned long long p = 0xd2511f53ull * c.x, q = 0xcd9e8d57ull * c.z;
        const uint4 next = {(unsigned int)(q >> 32) ^ c.y ^ k.x, (unsigned int)q,
                            (unsigned int)(p >> 32) ^ c.w ^ k.y, (unsigned int)p};
        c = next;
        k.x += 0x9e3779b9u;
        k.y += 0xbb67ae85u;
    }
    return c;
}
TILESCOPE_RANDOM void tilescope_philox_on(unsigned long long n, curandStatePhilox4_32_10_t* state) {
    const unsigned long long low = (unsigned long long)state->ctr.y << 32 | state->ctr.x, sum = low + n;
    state->ctr.x = (unsigned int)sum;
    state->ctr.y = (unsigned int)(sum >> 32);
    if (sum < low && ++state->ctr.z == 0) ++state->ctr.w;
}
TILESCOPE_RANDOM void tilescope_philox_make(curandStatePhilox4_32_10_t* state) {
    state->output = curand_Philox4x32_10(state->ctr, state->key);
}
TILESCOPE_RANDOM void skipahead(unsigned long long n, curandStatePhilox4_32_10_t* state) {
    state->STATE += (unsigned int)(n & 3);
    tilescope_philox_on((n >> 2) + (state->STATE >> 2), state);
    state->STATE &= 3;
    tilescope_philox_make(state);
}
TILESCOPE_RANDOM void skipahead_sequence(unsigned long long n, curandStatePhilox4_32_10_t* state) {
    const unsigned long long high = ((unsigned long long)state->ctr.w << 32 | state->ctr.z) + n;
    state->ctr.z = (unsigned int)high;
    state->ctr.w = (unsigned int)(high >> 32);
    tilescope_philox_make(state);
}
TILESCOPE_RANDOM void curand_init(unsigned long long seed, unsigned long long sequence, unsigned long long offset,
                                  curandStatePhilox4_32_10_t* state) {
    const uint4 zero = {0, 0, 0, 0};
    state->ctr = zero;
    state->key.x = (unsigned int)seed;
    state->key.y = (unsigned int)(seed >> 32);
    state->STATE = 0;
    state->boxmuller_flag = state->boxmuller_flag_double = 0;
    state->boxmuller_extra = 0;
    state->boxmuller_extra_double = 0;
    skipahead_sequence(sequence, state);
    skipahead(offset, state);
}
TILESCOPE_RANDOM unsigned int curand(curandStatePhilox4_32_10_t* state) {
    const unsigned int at = state->STATE;
    const unsigned int made = at == 0   ? state->output.x
                              : at == 1 ? state->output.y
                              : at == 2 ? state->output.z
                                        : state->output.w;
    state->STATE = (at + 1) & 3;
    if (at == 3) {
        tilescope_philox_on(1, state);
        tilescope_philox_make(state);
    }
    return made;
}
TILESCOPE_RANDOM uint4 curand4(curandStatePhilox4_32_10_t* state) {
    const uint4 old = state->output;
    tilescope_philox_on(1, state);
    tilescope_philox_make(state);
    const uint4 now = state->output;
    uint4 made = old;
    if (state->STATE == 1) made.x = old.y, made.y = old.z, made.z = old.w, made.w = now.x;
    if (state->STATE == 2) made.x = old.z, made.y = old.w, made.z = now.x, made.w = now.y;
    if (state->STATE == 3) made.x = old.w, made.y = now.x, made.z = now.y, made.w = now.z;
    return made;
}

// --- of 32 bits, or of 64: a number above 0 and up to 1

TILESCOPE_RANDOM float tilescope_uniform(unsigned int x) { return (float)x * 0x1p-32f + 0x1p-33f; }
TILESCOPE_RANDOM double tilescope_uniform_double(unsigned int x, unsigned int y) {
    return (double)((unsigned long long)x ^ ((unsigned long long)y << 21)) * 0x1p-53 + 0x1p-54;
}

// Two normal numbers (G. Box and M. Muller, 1958).
TILESCOPE_RANDOM float2 tilescope_box_muller(unsigned int x, unsigned int y) {
    const float u = tilescope_uniform(x);
    const float v = (float)y * (0x1p-32f * 6.2831855f) + 0x1p-33f * 6.2831855f;
    const float size = sqrtf(-2.0f * logf(u));
    float2 made;
    made.x = sinf(v) * size;
    made.y = cosf(v) * size;
    return made;
}
TILESCOPE_RANDOM double2 tilescope_box_muller_double(unsigned int x0, unsigned int x1, unsigned int y0,
                                                     unsigned int y1) {
    const double u = tilescope_uniform_double(x0, x1), v = tilescope_uniform_double(y0, y1) * 2.0;
    const double size = sqrt(-2.0 * log(u));
    double2 made;
    made.x = sin(v * 3.141592653589793238) * size;
    made.y = cos(v * 3.141592653589793238) * size;
    return made;
}
