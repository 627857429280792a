// cuRAND in device code: curandState (XORWOW) and curandStatePhilox4_32_10_t, and numbers of them that are uniform,
// normal, log-normal or Poisson.
//
// The 32 bits of curand() and the uniform numbers are NVIDIA's, bit for bit. Normal numbers use the logarithm, sine and cosine
// of these headers, and so differ in the last bits; those of Poisson have the same distribution, and are others.
//
// Source: cuRAND Library, "Device API Overview".
#pragma once

#include "curand_globals.h"
#include "tilescope_random.h"

#define CURAND_KERNEL_H_

// A double has 53 random bits of two numbers of XORWOW, or the 32 of one of Philox.
TILESCOPE_RANDOM double curand_uniform_double(curandStateXORWOW_t* state) {
    const unsigned int x = curand(state), y = curand(state);
    return tilescope_uniform_double(x, y);
}
TILESCOPE_RANDOM double curand_uniform_double(curandStatePhilox4_32_10_t* state) {
    return curand(state) * 0x1p-32 + 0x1p-32;
}
TILESCOPE_RANDOM uint4 tilescope_draw4(curandStateXORWOW_t* state) {
    const unsigned int x = curand(state), y = curand(state), z = curand(state), w = curand(state);
    return make_uint4(x, y, z, w);
}
TILESCOPE_RANDOM uint4 tilescope_draw4(curandStatePhilox4_32_10_t* state) { return curand4(state); }

#define TILESCOPE_DISTRIBUTIONS(State)                                                                  \
    TILESCOPE_RANDOM float curand_uniform(State* state) { return tilescope_uniform(curand(state)); }    \
    TILESCOPE_RANDOM float2 curand_normal2(State* state) {                                              \
        const unsigned int x = curand(state), y = curand(state);                                        \
        return tilescope_box_muller(x, y);                                                              \
    }                                                                                                   \
    TILESCOPE_RANDOM double2 curand_normal2_double(State* state) {                                      \
        const uint4 x = tilescope_draw4(state);                                                         \
        return tilescope_box_muller_double(x.x, x.y, x.z, x.w);                                         \
    }                                                                                                   \
    /* of two that are made, the second one waits in the state */                                       \
    TILESCOPE_RANDOM float curand_normal(State* state) {                                                \
        state->boxmuller_flag ^= 1;                                                                     \
        if (!state->boxmuller_flag) return state->boxmuller_extra;                                      \
        const float2 made = curand_normal2(state);                                                      \
        state->boxmuller_extra = made.y;                                                                \
        return made.x;                                                                                  \
    }                                                                                                   \
    TILESCOPE_RANDOM double curand_normal_double(State* state) {                                        \
        state->boxmuller_flag_double ^= 1;                                                              \
        if (!state->boxmuller_flag_double) return state->boxmuller_extra_double;                        \
        const double2 made = curand_normal2_double(state);                                              \
        state->boxmuller_extra_double = made.y;                                                         \
        return made.x;                                                                                  \
    }                                                                                                   \
    TILESCOPE_RANDOM float curand_log_normal(State* state, float mean, float deviation) {               \
        return expf(mean + deviation * curand_normal(state));                                           \
    }                                                                                                   \
    TILESCOPE_RANDOM double curand_log_normal_double(State* state, double mean, double deviation) {     \
        return exp(mean + deviation * curand_normal_double(state));                                     \
    }                                                                                                   \
    TILESCOPE_RANDOM float2 curand_log_normal2(State* state, float mean, float deviation) {             \
        const float2 made = curand_normal2(state);                                                      \
        return make_float2(expf(mean + deviation * made.x), expf(mean + deviation * made.y));           \
    }                                                                                                   \
    TILESCOPE_RANDOM double2 curand_log_normal2_double(State* state, double mean, double deviation) {   \
        const double2 made = curand_normal2_double(state);                                              \
        return make_double2(exp(mean + deviation * made.x), exp(mean + deviation * made.y));            \
    }                                                                                                   \
    /* the sum of numbers with a part of lambda each, by D. Knuth's product; rounded normal ones above 4000 */ \
    TILESCOPE_RANDOM unsigned int curand_poisson(State* state, double lambda) {                         \
        if (lambda > 4000) {                                                                            \
            const double made = lambda + sqrt(lambda) * curand_normal_double(state);                    \
            return made < 0 ? 0u : (unsigned int)(made + 0.5);                                          \
        }                                                                                               \
        unsigned int sum = 0;                                                                           \
        for (double left = lambda; left > 0; left -= 64) {                                              \
            const double least = exp(left < 64 ? -left : -64.0);                                        \
            double product = curand_uniform_double(state);                                              \
            for (; product > least; product *= curand_uniform_double(state)) ++sum;                     \
        }                                                                                               \
        return sum;                                                                                     \
    }
TILESCOPE_DISTRIBUTIONS(curandStateXORWOW_t)
TILESCOPE_DISTRIBUTIONS(curandStatePhilox4_32_10_t)
#undef TILESCOPE_DISTRIBUTIONS

// Four at a time, of Philox alone.
TILESCOPE_RANDOM float4 curand_uniform4(curandStatePhilox4_32_10_t* state) {
    const uint4 x = curand4(state);
    return make_float4(tilescope_uniform(x.x), tilescope_uniform(x.y), tilescope_uniform(x.z),
                       tilescope_uniform(x.w));
}
TILESCOPE_RANDOM double2 curand_uniform2_double(curandStatePhilox4_32_10_t* state) {
    const uint4 x = curand4(state);
    return make_double2(tilescope_uniform_double(x.x, x.y), tilescope_uniform_double(x.z, x.w));
}
TILESCOPE_RANDOM double4 curand_uniform4_double(curandStatePhilox4_32_10_t* state) {
    const double2 one = curand_uniform2_double(state), other = curand_uniform2_double(state);
    return make_double4(one.x, one.y, other.x, other.y);
}
TILESCOPE_RANDOM double4 curand_normal4_double(curandStatePhilox4_32_10_t* state) {
    const double2 one = curand_normal2_double(state), other = curand_normal2_double(state);
    return make_double4(one.x, one.y, other.x, other.y);
}
TILESCOPE_RANDOM float4 curand_normal4(curandStatePhilox4_32_10_t* state) {
    const uint4 x = curand4(state);
    const float2 one = tilescope_box_muller(x.x, x.y), other = tilescope_box_muller(x.z, x.w);
    return make_float4(one.x, one.y, other.x, other.y);
}
TILESCOPE_RANDOM float4 curand_log_normal4(curandStatePhilox4_32_10_t* state, float mean, float deviation) {
    const float4 made = curand_normal4(state);
    return make_float4(expf(mean + deviation * made.x), expf(mean + deviation * made.y),
                       expf(mean + deviation * made.z), expf(mean + deviation * made.w));
}
TILESCOPE_RANDOM uint4 curand_poisson4(curandStatePhilox4_32_10_t* state, double lambda) {
    const unsigned int x = curand_poisson(state, lambda), y = curand_poisson(state, lambda),
                       z = curand_poisson(state, lambda), w = curand_poisson(state, lambda);
    return make_uint4(x, y, z, w);
}
