// Occupancy against NVIDIA's own sums, where the CUDA Toolkit's cuda_occupancy.h is at hand: the same blocks,
// the same allocations, the same limits, for every compute capability that it knows.
//
// Two things are asked of it only where they mean hardware: registers up to the most that the programming
// guide gives a thread (it takes 255 where compute capability 3.0 has 63, and 256 since 7.0), and
// capabilities that exist.
#include <algorithm>
#include <climits>

#include <gtest/gtest.h>

#include "core/limits/occupancy.h"
#include "kernels/textbook/devices.h"

#ifdef TILESCOPE_CUDA_OCCUPANCY
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop
#endif

namespace tilescope::kernels {
namespace {

#ifdef TILESCOPE_CUDA_OCCUPANCY

using analysis::BlockUse;
using analysis::Limit;
using analysis::Occupancy;
using analysis::SmLimits;

struct Theirs {
    cudaOccError error = CUDA_OCC_SUCCESS;
    cudaOccResult result{};
};

cudaOccDeviceProp properties_of(const SmLimits& sm) {
    cudaOccDeviceProp p;
    p.computeMajor = static_cast<int>(sm.major);
    p.computeMinor = static_cast<int>(sm.minor);
    p.maxThreadsPerBlock = static_cast<int>(sm.threads_per_block);
    p.maxThreadsPerMultiprocessor = static_cast<int>(sm.threads_per_sm);
    p.regsPerBlock = static_cast<int>(sm.registers_per_block);
    p.regsPerMultiprocessor = static_cast<int>(sm.registers_per_sm);
    p.warpSize = static_cast<int>(sm.warp_size);
    p.sharedMemPerBlock = sm.shared_per_block;
    p.sharedMemPerMultiprocessor = sm.shared_per_sm;
    p.numSms = 1;
    p.sharedMemPerBlockOptin = sm.shared_per_block_optin;
    p.reservedSharedMemPerBlock = sm.shared_reserved;
    return p;
}

Theirs theirs(const SmLimits& sm, const BlockUse& use) {
    const cudaOccDeviceProp properties = properties_of(sm);
    cudaOccFuncAttributes function;
    function.maxThreadsPerBlock = INT_MAX;
    function.numRegs = static_cast<int>(use.registers);
    function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    function.maxDynamicSharedSizeBytes = use.shared;
    function.numBlockBarriers = 1;  // __syncthreads() takes one, and one is never the limit
    cudaOccDeviceState state;
    state.carveoutConfig = use.carveout;
    Theirs out;
    out.error = cudaOccMaxActiveBlocksPerMultiprocessor(&out.result, &properties, &function, &state,
                                                        static_cast<int>(use.threads), use.shared);
    return out;
}

int blocks(uint32_t fit) { return fit == analysis::kUnlimited ? INT_MAX : static_cast<int>(fit); }

// A mismatch in words, or nothing.
std::string difference(const SmLimits& sm, const BlockUse& use) {
    const Theirs t = theirs(sm, use);
    const Occupancy o = occupancy(sm, use, analysis::Sum::Hardware);
    const auto fit = [&](Limit limit) { return blocks(o.fit[static_cast<size_t>(limit)]); };
    const auto bound = [&](Limit limit) { return o.limits[static_cast<size_t>(limit)]; };
    const unsigned factors = t.result.limitingFactors;
    const bool same =
        t.error == CUDA_OCC_SUCCESS && t.result.activeBlocksPerMultiprocessor == static_cast<int>(o.blocks) &&
        t.result.blockLimitRegs == fit(Limit::Registers) &&
        t.result.blockLimitSharedMem == fit(Limit::Shared) &&
        t.result.blockLimitWarps == fit(Limit::Threads) && t.result.blockLimitBlocks == fit(Limit::Blocks) &&
        t.result.allocatedRegistersPerBlock == static_cast<int>(o.registers_per_block) &&
        t.result.allocatedSharedMemPerBlock == o.shared_per_block &&
        ((factors & OCC_LIMIT_WARPS) != 0) == bound(Limit::Threads) &&
        ((factors & OCC_LIMIT_BLOCKS) != 0) == bound(Limit::Blocks) &&
        ((factors & OCC_LIMIT_REGISTERS) != 0) == bound(Limit::Registers) &&
        ((factors & OCC_LIMIT_SHARED_MEMORY) != 0) == bound(Limit::Shared);
    if (same) return {};
    return sm.capability() + ": " + std::to_string(use.threads) + " threads, " +
           std::to_string(use.registers) + " registers, " + std::to_string(use.shared) +
           " bytes, carve-out " + std::to_string(use.carveout) + ": " +
           std::to_string(t.result.activeBlocksPerMultiprocessor) + " blocks there, " +
           std::to_string(o.blocks) + " here";
}

uint64_t sweep(const SmLimits& sm) {
    uint64_t cases = 0;
    for (uint32_t threads = 1; threads <= sm.threads_per_block; threads += 1 + threads / 12) {
        for (uint32_t registers = 0; registers <= sm.registers_per_thread; registers += 1 + registers / 24) {
            for (uint32_t shared = 0; shared <= sm.shared_per_block_optin; shared += 1 + shared / 2) {
                const int carveout = sm.major >= 7 && cases % 3 == 0 ? static_cast<int>(cases / 3 % 101) : -1;
                const std::string d = difference(
                    sm, {.threads = threads, .registers = registers, .shared = shared, .carveout = carveout});
                EXPECT_EQ(d, "");
                if (!d.empty()) return cases;
                ++cases;
            }
        }
    }
    return cases;
}

// Older than 3.0 it never knows, newer ones each Toolkit up to its own time; it says so itself.
bool knows(const SmLimits& sm) { return theirs(sm, {}).error != CUDA_OCC_ERROR_UNKNOWN_DEVICE; }

TEST(CudaOccupancy, AgreesForEveryCapabilityThatItKnows) {
    int known = 0;
    for (const SmLimits& sm : sm_limits()) {
        EXPECT_TRUE(sm.major >= 3 || !knows(sm));
        EXPECT_TRUE(sm.major < 3 || sm.major > 9 || knows(sm)) << "a Toolkit before 12?";
        if (!knows(sm)) continue;
        ++known;
        EXPECT_GE(sweep(sm), 10000u) << sm.capability();
    }
    EXPECT_GE(known, 18) << "3.0 to 9.0";
}

TEST(CudaOccupancy, AgreesAtTheEdges) {
    for (const SmLimits& sm : sm_limits()) {
        if (!knows(sm)) continue;
        for (const uint32_t threads : {1u, 31u, 32u, 33u, 96u, 1023u, 1024u})
            for (const uint32_t registers : {0u, 1u, 8u, 63u})
                for (const uint32_t shared :
                     {0u, 1u, 48u * 1024, 48u * 1024 + 1, sm.shared_per_block_optin - 1,
                      sm.shared_per_block_optin, sm.shared_per_block_optin + 1})
                    EXPECT_EQ(difference(sm, {threads, registers, shared}), "");
    }
}

#else

TEST(CudaOccupancy, AgreesForEveryCapabilityThatItKnows) {
    GTEST_SKIP() << "cuda_occupancy.h of the CUDA Toolkit was not found";
}

#endif

}  // namespace
}  // namespace tilescope::kernels
