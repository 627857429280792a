// The limits of a few SMs as the vendor's tables give them, for tests that must not trust the shipped files.
#pragma once

#include "core/limits/device_spec.h"

namespace tilescope::analysis {

inline SmLimits sm_1_0() {
    SmLimits sm;
    sm.major = 1;
    sm.threads_per_block = 512, sm.threads_per_sm = 768, sm.blocks_per_sm = 8;
    sm.registers_per_sm = sm.registers_per_block = 8192, sm.registers_per_thread = 124;
    sm.shared_per_sm = sm.shared_per_block = sm.shared_per_block_optin = 16384;
    sm.register_unit = RegisterUnit::Block;
    sm.register_granularity = 256, sm.warp_granularity = 2, sm.shared_granularity = 512;
    return sm;
}

inline SmLimits sm_2_0() {
    SmLimits sm;
    sm.major = 2;
    sm.threads_per_block = 1024, sm.threads_per_sm = 1536, sm.blocks_per_sm = 8;
    sm.registers_per_sm = sm.registers_per_block = 32768, sm.registers_per_thread = 63;
    sm.shared_per_sm = sm.shared_per_block = sm.shared_per_block_optin = 49152;
    sm.register_granularity = 64, sm.warp_granularity = 2, sm.shared_granularity = 128;
    return sm;
}

inline SmLimits sm_8_6() {
    SmLimits sm;
    sm.major = 8, sm.minor = 6;
    sm.threads_per_block = 1024, sm.threads_per_sm = 1536, sm.blocks_per_sm = 16;
    sm.registers_per_sm = sm.registers_per_block = 65536, sm.registers_per_thread = 255;
    sm.shared_per_sm = 100 * 1024, sm.shared_per_block = 48 * 1024, sm.shared_per_block_optin = 99 * 1024;
    sm.shared_reserved = 1024, sm.shared_sizes = {0, 8, 16, 32, 64, 100};
    sm.register_granularity = 256, sm.warp_granularity = 4, sm.shared_granularity = 128;
    return sm;
}

inline SmLimits sm_9_0() {
    SmLimits sm = sm_8_6();
    sm.major = 9, sm.minor = 0;
    sm.threads_per_sm = 2048, sm.blocks_per_sm = 32;
    sm.shared_per_sm = 228 * 1024, sm.shared_per_block_optin = 227 * 1024;
    sm.shared_sizes = {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
    return sm;
}

}  // namespace tilescope::analysis
