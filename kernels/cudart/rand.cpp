// cuRAND's host interface (include/curand.h).
#include <cmath>
#include <memory>
#include <vector>

#include <fmt/format.h>

#include "kernels/cudart/include/curand.h"
#include "kernels/cudart/include/curand_kernel.h"
#include "kernels/cudart/library.h"

struct curandGenerator_st {
    bool xorwow = true, on_host = false;
    unsigned long long seed = 0, offset = 0;
    bool fresh = true;  // its states are to be made from seed and offset
    std::vector<curandStateXORWOW_t> states;
    size_t turn = 0;  // the state that the next number comes from
    curandStatePhilox4_32_10_t philox{};
};

namespace tilescope::cudart {
namespace {

constexpr size_t kSubsequences = 4096;

void make_states(curandGenerator_st& g) {
    g.fresh = false;
    if (!g.xorwow) return curand_init(g.seed, 0, g.offset, &g.philox);
    g.states.resize(kSubsequences);
    g.turn = g.offset % kSubsequences;
    // One after the other, 2^67 steps on each; then what the offset skips.
    curandStateXORWOW_t state;
    curand_init(g.seed, 0, 0, &state);
    for (size_t i = 0; i < kSubsequences; ++i, skipahead_sequence(1, &state)) g.states[i] = state;
    for (size_t i = 0; g.offset > 0 && i < kSubsequences; ++i)
        skipahead(g.offset / kSubsequences + (i < g.turn ? 1 : 0), &g.states[i]);
}

unsigned next_bits(curandGenerator_st& g) {
    if (!g.xorwow) return curand(&g.philox);
    curandStateXORWOW_t& state = g.states[g.turn];
    g.turn = (g.turn + 1) % kSubsequences;
    return curand(&state);
}

// Fills the output by `fill`, with the states ready.
template <class T, class Fill>
curandStatus_t generate(const char* name, curandGenerator_t g, T* output, size_t count, Fill fill) {
    if (!g) return CURAND_STATUS_NOT_INITIALIZED;
    curandStatus_t status = CURAND_STATUS_LAUNCH_FAILURE;
    call([&](Runtime& r) {
        LibraryCall one(r, name);
        T* const to =
            g->on_host ? output : reinterpret_cast<T*>(one.out(output, count * sizeof(T), "output"));
        if (one.failed()) return cudaSuccess;
        if (g->fresh) make_states(*g);
        if (count > 0) fill(to);
        status = CURAND_STATUS_SUCCESS;
        return cudaSuccess;
    });
    return status;
}

template <class T, class Make>
curandStatus_t generate_each(const char* name, curandGenerator_t g, T* output, size_t count, Make make) {
    return generate(name, g, output, count, [&](T* to) {
        for (size_t i = 0; i < count; ++i) to[i] = make(*g);
    });
}

double bits_of_double(curandGenerator_st& g) {
    const unsigned x = next_bits(g), y = next_bits(g);
    return tilescope_uniform_double(x, y);
}

// In pairs, as Box and Muller make them.
template <class T, class Change>
curandStatus_t generate_normal(const char* name, curandGenerator_t g, T* output, size_t count,
                               Change change) {
    if (count % 2 != 0) return CURAND_STATUS_LENGTH_NOT_MULTIPLE;
    return generate(name, g, output, count, [&](T* to) {
        for (size_t i = 0; i < count; i += 2) {
            const unsigned x = next_bits(*g), y = next_bits(*g);
            if constexpr (std::is_same_v<T, float>) {
                const float2 pair = tilescope_box_muller(x, y);
                to[i] = change(pair.x), to[i + 1] = change(pair.y);
            } else {
                const unsigned z = next_bits(*g), w = next_bits(*g);
                const double2 pair = tilescope_box_muller_double(x, y, z, w);
                to[i] = change(pair.x), to[i + 1] = change(pair.y);
            }
        }
    });
}

unsigned poisson(curandGenerator_st& g, double lambda) {
    curandStatePhilox4_32_10_t state;
    const unsigned x = next_bits(g), y = next_bits(g);
    curand_init(static_cast<unsigned long long>(x) << 32 | y, 0, 0, &state);
    return curand_poisson(&state, lambda);
}

curandStatus_t create(curandGenerator_t* generator, curandRngType_t type, bool on_host) {
    if (!generator) return CURAND_STATUS_NOT_INITIALIZED;
    if (type >= CURAND_RNG_QUASI_DEFAULT) {
        say("the program asks cuRAND for quasi-random numbers, which Tilescope does not have; take a "
            "pseudo-random generator");
        return CURAND_STATUS_TYPE_ERROR;
    }
    if (type < CURAND_RNG_PSEUDO_DEFAULT) return CURAND_STATUS_TYPE_ERROR;
    auto made = std::make_unique<curandGenerator_st>();
    made->xorwow = type == CURAND_RNG_PSEUDO_DEFAULT || type == CURAND_RNG_PSEUDO_XORWOW;
    made->on_host = on_host;
    *generator = made.release();
    return CURAND_STATUS_SUCCESS;
}

}  // namespace
}  // namespace tilescope::cudart

using namespace tilescope::cudart;

curandStatus_t curandCreateGenerator(curandGenerator_t* g, curandRngType_t type) {
    return create(g, type, false);
}
curandStatus_t curandCreateGeneratorHost(curandGenerator_t* g, curandRngType_t type) {
    return create(g, type, true);
}
curandStatus_t curandDestroyGenerator(curandGenerator_t g) {
    delete g;
    return g ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}
curandStatus_t curandGetVersion(int* version) {
    if (!version) return CURAND_STATUS_OUT_OF_RANGE;
    *version = CURAND_VERSION;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandGetProperty(libraryPropertyType type, int* value) {
    if (!value) return CURAND_STATUS_OUT_OF_RANGE;
    *value = type == MAJOR_VERSION   ? CURAND_VER_MAJOR
             : type == MINOR_VERSION ? CURAND_VER_MINOR
                                     : CURAND_VER_PATCH;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetStream(curandGenerator_t g, cudaStream_t) {
    return g ? CURAND_STATUS_SUCCESS : CURAND_STATUS_NOT_INITIALIZED;
}
curandStatus_t curandSetPseudoRandomGeneratorSeed(curandGenerator_t g, unsigned long long seed) {
    if (!g) return CURAND_STATUS_NOT_INITIALIZED;
    g->seed = seed, g->fresh = true;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOffset(curandGenerator_t g, unsigned long long offset) {
    if (!g) return CURAND_STATUS_NOT_INITIALIZED;
    g->offset = offset, g->fresh = true;
    return CURAND_STATUS_SUCCESS;
}
curandStatus_t curandSetGeneratorOrdering(curandGenerator_t g, curandOrdering_t order) {
    if (!g) return CURAND_STATUS_NOT_INITIALIZED;
    return order < CURAND_ORDERING_QUASI_DEFAULT ? CURAND_STATUS_SUCCESS : CURAND_STATUS_OUT_OF_RANGE;
}
curandStatus_t curandGenerateSeeds(curandGenerator_t g) {
    if (!g) return CURAND_STATUS_NOT_INITIALIZED;
    make_states(*g);
    return CURAND_STATUS_SUCCESS;
}

curandStatus_t curandGenerate(curandGenerator_t g, unsigned int* output, size_t count) {
    return generate_each("curandGenerate", g, output, count, next_bits);
}
curandStatus_t curandGenerateLongLong(curandGenerator_t, unsigned long long*, size_t) {
    return CURAND_STATUS_TYPE_ERROR;  // of quasi-random generators alone
}
curandStatus_t curandGenerateUniform(curandGenerator_t g, float* output, size_t count) {
    return generate_each("curandGenerateUniform", g, output, count,
                         [](curandGenerator_st& one) { return tilescope_uniform(next_bits(one)); });
}
curandStatus_t curandGenerateUniformDouble(curandGenerator_t g, double* output, size_t count) {
    return generate_each("curandGenerateUniformDouble", g, output, count, bits_of_double);
}
curandStatus_t curandGenerateNormal(curandGenerator_t g, float* output, size_t count, float mean,
                                    float deviation) {
    return generate_normal("curandGenerateNormal", g, output, count,
                           [&](float x) { return mean + deviation * x; });
}
curandStatus_t curandGenerateNormalDouble(curandGenerator_t g, double* output, size_t count, double mean,
                                          double deviation) {
    return generate_normal("curandGenerateNormalDouble", g, output, count,
                           [&](double x) { return mean + deviation * x; });
}
curandStatus_t curandGenerateLogNormal(curandGenerator_t g, float* output, size_t count, float mean,
                                       float deviation) {
    return generate_normal("curandGenerateLogNormal", g, output, count,
                           [&](float x) { return std::exp(mean + deviation * x); });
}
curandStatus_t curandGenerateLogNormalDouble(curandGenerator_t g, double* output, size_t count, double mean,
                                             double deviation) {
    return generate_normal("curandGenerateLogNormalDouble", g, output, count,
                           [&](double x) { return std::exp(mean + deviation * x); });
}
curandStatus_t curandGeneratePoisson(curandGenerator_t g, unsigned int* output, size_t count, double lambda) {
    if (!(lambda > 0)) return CURAND_STATUS_OUT_OF_RANGE;
    return generate_each("curandGeneratePoisson", g, output, count,
                         [&](curandGenerator_st& one) { return poisson(one, lambda); });
}
