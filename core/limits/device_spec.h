// What a GPU is made of, as far as it bounds a kernel: the slots of an SM, how they are handed out, and the
// two roofs, memory and arithmetic.
//
//   SM limits     belong to a compute capability: assets/devices/limits.json
//   devices       a chip of some compute capability, with its SMs, GB/s and GFLOP/s: assets/devices/<id>.json
//
// Every entry names its source. Nothing here reads a file: text comes in, checked values go out.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace tilescope::analysis {

// Whether an SM hands out registers to a whole block (compute capability 1.x) or warp by warp (since 2.0).
enum class RegisterUnit : uint8_t { Block, Warp };

struct SmLimits {
    uint32_t major = 0, minor = 0;  // compute capability
    uint32_t warp_size = 32;        // threads
    uint32_t threads_per_block = 0, threads_per_sm = 0, blocks_per_sm = 0;
    uint32_t registers_per_sm = 0, registers_per_block = 0;  // of 32 bits
    uint32_t registers_per_thread = 0;
    uint32_t shared_per_sm = 0;           // bytes
    uint32_t shared_per_block = 0;        // bytes a kernel gets without asking
    uint32_t shared_per_block_optin = 0;  // bytes it can ask for; the same where there is no asking
    uint32_t shared_reserved = 0;         // bytes of each block that the system keeps
    std::vector<uint32_t> shared_sizes;   // KiB an SM can set aside for shared memory, ascending; {} fixed
    // The granularity of what is handed out:
    RegisterUnit register_unit = RegisterUnit::Warp;
    uint32_t register_granularity = 0;  // registers, to which a warp's (a block's) are rounded up
    uint32_t warp_granularity = 0;      // warps that registers are handed out to together: the SM's parts
    uint32_t shared_granularity = 0;    // bytes, to which a block's are rounded up
    std::string source;                 // document and section

    uint32_t warps_per_sm() const { return threads_per_sm / warp_size; }
    std::string capability() const;  // "8.6"
};

struct DeviceSpec {
    std::string id;    // "rtx-3090", what the command line calls it
    std::string name;  // "GeForce RTX 3090"
    std::string chip;  // "GA102"; what lectures call the older ones by
    SmLimits sm;
    uint32_t sms = 0;
    double memory_gbs = 0;   // stated, 1e9 bytes a second
    double peak_gflops = 0;  // stated, fp32, a multiply-add is two operations
    double half_gflops = 0;  // stated, of halves on tensor cores, without sparsity; 0: not known
    std::string source;      // document and section, or how it was worked out
};
// "GeForce 8800 GTX (G80)": by what it was sold as, and by its chip.
std::string name_of(const DeviceSpec& device);

// The limits of every compute capability, ascending. `name` is named in errors.
Result<std::vector<SmLimits>> sm_limits_from_json(std::string_view text, std::string_view name);

// One device; its compute capability must be among `limits`.
Result<DeviceSpec> device_from_json(std::string_view text, std::string_view name,
                                    const std::vector<SmLimits>& limits);

const SmLimits* find_limits(const std::vector<SmLimits>& limits, uint32_t major, uint32_t minor);

}  // namespace tilescope::analysis
