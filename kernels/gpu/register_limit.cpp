#include "kernels/gpu/register_limit.h"

#include <algorithm>

namespace tilescope::gpu {

namespace {

// Blocks of the plain kernel that an SM holds at once.
// Source: CUDA C++ Programming Guide, "Technical Specifications per Compute Capability": registers are
// given to warps, 256 at a time.
uint64_t blocks_an_sm(const DeviceInfo& info, const Function& plain, uint64_t warps) {
    constexpr uint64_t kGranule = 256;
    const uint64_t a_warp =
        (static_cast<uint64_t>(plain.registers) * kWarpSize + kGranule - 1) / kGranule * kGranule;
    uint64_t blocks = std::min(static_cast<uint64_t>(info.threads_per_sm) / (warps * kWarpSize),
                               static_cast<uint64_t>(info.blocks_per_sm));
    blocks = std::min(blocks,
                      static_cast<uint64_t>(info.registers_per_sm) / std::max<uint64_t>(a_warp * warps, 1));
    if (plain.shared_bytes > 0) {
        blocks = std::min(
            blocks, static_cast<uint64_t>(info.shared_per_sm) / static_cast<uint64_t>(plain.shared_bytes));
    }
    return std::max<uint64_t>(blocks, 1);
}

// Registers of a thread that let so many blocks share an SM.
unsigned register_limit(const DeviceInfo& info, uint64_t blocks, uint64_t warps) {
    constexpr uint64_t kStep = 8, kLeast = 32, kMost = 255;
    const uint64_t threads = blocks * warps * kWarpSize;
    const uint64_t limit = static_cast<uint64_t>(info.registers_per_sm) / threads / kStep * kStep;
    return static_cast<unsigned>(std::clamp(limit, kLeast, kMost));
}

}  // namespace

Result<Function> load_recording(Device& device, const std::string& ptx, const std::string& ptx_name,
                                const std::string& kernel, const Function& plain, uint64_t warps,
                                bool all_recorded) {
    constexpr int kFewBytes = 32;  // such as are needed when a chunk is begun and hardly else
    for (uint64_t blocks = blocks_an_sm(device.info(), plain, warps);; --blocks) {
        auto function = device.load(ptx, ptx_name, kernel, register_limit(device.info(), blocks, warps));
        if (!function || !all_recorded || blocks == 1 ||
            function->local_bytes <= plain.local_bytes + kFewBytes)
            return function;
    }
}

}  // namespace tilescope::gpu
