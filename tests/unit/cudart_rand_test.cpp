// cuRAND: published vectors, NVIDIA's numbers, steps that are skipped against steps that are made, and the host's interface.
#include <cmath>
#include <random>
#include <vector>

#include "kernels/cudart/include/curand.h"
#include "kernels/cudart/include/curand_kernel.h"
#include "tests/unit/cudart_program.h"

namespace tilescope::cudart::test {
namespace {

// Random123, file kat_vectors, philox4x32 with 10 rounds.
TEST(CudartRand, PhiloxGivesThePublishedVectors) {
    const auto expect = [](uint4 counter, uint2 key, uint4 wanted) {
        const uint4 got = curand_Philox4x32_10(counter, key);
        EXPECT_EQ(got.x, wanted.x);
        EXPECT_EQ(got.y, wanted.y);
        EXPECT_EQ(got.z, wanted.z);
        EXPECT_EQ(got.w, wanted.w);
    };
    expect({0, 0, 0, 0}, {0, 0}, {0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
    expect({~0u, ~0u, ~0u, ~0u}, {~0u, ~0u}, {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
    expect({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0},
           {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
}

struct Known {
    unsigned long long seed, sequence, offset;
    unsigned first, second;
    float uniform;  // of the fifth number
};

float share_of(unsigned bits) { return static_cast<float>(bits) * 0x1p-32f; }

// What NVIDIA's headers (CUDA 13.0) give on the host for curand_init(seed, sequence, offset).
TEST(CudartRand, SeedsSequencesAndOffsetsLeadToNvidiasNumbers) {
    const Known xorwow[] = {
        {0, 0, 0, 3179217846u, 1883133293u, 0.0713675097f},
        {1234, 0, 0, 624778773u, 1867875844u, 0.857092559f},
        {1234, 1, 0, 3522650202u, 3978931785u, 0.809246421f},
        {1234, 5, 7, 3351265907u, 3629609298u, 0.160586074f},
        {0x123456789abcdefull, 4097, 1000003, 3933007724u, 633922670u, 0.168754682f},
        {42, 1ull << 40, 1ull << 33, 2461879829u, 2240948988u, 0.918199539f},
    };
    for (const Known& known : xorwow) {
        curandState state;
        curand_init(known.seed, known.sequence, known.offset, &state);
        EXPECT_EQ(curand(&state), known.first);
        EXPECT_EQ(curand(&state), known.second);
        curand(&state), curand(&state);
        EXPECT_EQ(curand_uniform(&state), known.uniform);
    }
    const Known philox[] = {
        {0, 0, 0, 1713891541u, 3781805453u, share_of(4175744164u)},
        {1234, 0, 0, 546353992u, 3665621163u, share_of(2666454581u)},
        {1234, 1, 0, 3507855656u, 1392278645u, share_of(118660703u)},
        {42, 1ull << 40, 1ull << 33, 1511825378u, 3720831942u, share_of(1598117425u)},
    };
    for (const Known& known : philox) {
        curandStatePhilox4_32_10_t state;
        curand_init(known.seed, known.sequence, known.offset, &state);
        EXPECT_EQ(curand(&state), known.first);
        EXPECT_EQ(curand(&state), known.second);
        curand(&state), curand(&state);
        EXPECT_EQ(curand_uniform(&state), known.uniform + 0x1p-33f);
    }
}

TEST(CudartRand, StepsThatAreSkippedAreStepsThatAreMade) {
    std::mt19937_64 random(2);
    for (int trial = 0; trial < 20; ++trial) {
        const unsigned long long seed = random(), sequence = random() % 5000, steps = random() % 3000;
        curandState made, skipped;
        curand_init(seed, sequence, 0, &made);
        curand_init(seed, sequence, steps, &skipped);
        curandStatePhilox4_32_10_t counted, jumped;
        curand_init(seed, sequence, 1, &counted);
        curand_init(seed, sequence, 1, &jumped);
        skipahead(steps, &jumped);
        for (unsigned long long i = 0; i < steps; ++i) curand(&made), curand(&counted);
        EXPECT_EQ(curand(&made), curand(&skipped));
        EXPECT_EQ(curand(&counted), curand(&jumped));
        // Two jumps are one.
        curandState one = made, other = made;
        skipahead_sequence(5, &one);
        skipahead(1ull << 40, &one);
        skipahead(1ull << 39, &other);
        skipahead_sequence(3, &other);
        skipahead(1ull << 39, &other);
        skipahead_sequence(2, &other);
        EXPECT_EQ(curand(&one), curand(&other));
    }
}

template <class State>
void expect_distributions() {
    State state;
    curand_init(7, 3, 0, &state);
    double sum = 0, squares = 0, logs = 0, counts = 0, count_squares = 0;
    constexpr int kCount = 40000;
    for (int i = 0; i < kCount; ++i) {
        const float uniform = curand_uniform(&state);
        EXPECT_TRUE(uniform > 0 && uniform <= 1);
        const double normal = i % 2 ? curand_normal(&state) : curand_normal_double(&state);
        sum += normal, squares += normal * normal;
        logs += std::log(curand_log_normal_double(&state, 1.0, 0.5));
        const double count = curand_poisson(&state, 100.0);
        counts += count, count_squares += (count - 100) * (count - 100);
    }
    // Five standard deviations of such a mean.
    EXPECT_NEAR(sum / kCount, 0, 5 / 200.0);
    EXPECT_NEAR(squares / kCount, 1, 5 * std::sqrt(2.0) / 200);
    EXPECT_NEAR(logs / kCount, 1, 5 * 0.5 / 200);
    EXPECT_NEAR(counts / kCount, 100, 5 * 10 / 200.0);
    EXPECT_NEAR(count_squares / kCount, 100, 5 * 100 * std::sqrt(2.01) / 200);
}

TEST(CudartRand, DistributionsHaveTheirMeansAndDeviations) {
    expect_distributions<curandState>();
    expect_distributions<curandStatePhilox4_32_10_t>();
}

TEST(CudartRand, TheHostsNumbersComeFromSubsequencesInTurn) {
    const Ran ran = run_program([] {
        curandGenerator_t g = nullptr;
        ASSERT_EQ(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_DEFAULT), CURAND_STATUS_SUCCESS);
        curandSetPseudoRandomGeneratorSeed(g, 1234);
        unsigned* const bits = allocate<unsigned>(5000);
        ASSERT_EQ(curandGenerate(g, bits, 5000), CURAND_STATUS_SUCCESS);
        std::vector<unsigned> got(5000);
        cudaMemcpy(got.data(), bits, 20000, cudaMemcpyDeviceToHost);
        for (const size_t n : {size_t{0}, size_t{1}, size_t{4095}, size_t{4096}, size_t{4999}}) {
            curandState state;
            curand_init(1234, n % 4096, n / 4096, &state);
            EXPECT_EQ(got[n], curand(&state)) << n;
        }
        // From the 4999th number on.
        curandSetGeneratorOffset(g, 4999);
        ASSERT_EQ(curandGenerate(g, bits, 1), CURAND_STATUS_SUCCESS);
        unsigned again = 0;
        cudaMemcpy(&again, bits, 4, cudaMemcpyDeviceToHost);
        EXPECT_EQ(again, got[4999]);
        float* const floats = allocate<float>(4);
        EXPECT_EQ(curandGenerateNormal(g, floats, 3, 0, 1), CURAND_STATUS_LENGTH_NOT_MULTIPLE);
        EXPECT_EQ(curandGenerateUniform(g, floats, 5), CURAND_STATUS_LAUNCH_FAILURE);
        float here[4];
        EXPECT_EQ(curandGenerateUniform(g, here, 4), CURAND_STATUS_LAUNCH_FAILURE);
        curandDestroyGenerator(g);
        ASSERT_EQ(curandCreateGeneratorHost(&g, CURAND_RNG_PSEUDO_PHILOX4_32_10), CURAND_STATUS_SUCCESS);
        ASSERT_EQ(curandGenerateNormal(g, here, 4, 100, 0.5f), CURAND_STATUS_SUCCESS);
        EXPECT_NEAR(here[3], 100, 5);
        EXPECT_EQ(curandCreateGenerator(&g, CURAND_RNG_QUASI_SOBOL32), CURAND_STATUS_TYPE_ERROR);
    });
    EXPECT_EQ(ran.status, 0) << ran.out;
    EXPECT_NE(ran.err.find("output of curandGenerateUniform reaches 4 bytes behind"), std::string::npos)
        << ran.err;
    EXPECT_NE(ran.err.find("output of curandGenerateUniform is no device memory"), std::string::npos)
        << ran.err;
    EXPECT_NE(ran.err.find("quasi-random"), std::string::npos) << ran.err;
}

}  // namespace
}  // namespace tilescope::cudart::test
