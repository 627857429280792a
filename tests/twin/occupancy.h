// What fits on an SM and how blocks spread, by counting one after the other: the slow twin of
// core/limits/occupancy.h and presets.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/limits/presets.h"

namespace tilescope::twin {

// The lecture's sum: blocks are put on an SM one by one, as long as everything that they take is there.
struct Resident {
    uint32_t blocks = 0, threads = 0;
    bool out_of_threads = false, out_of_blocks = false, out_of_registers = false, out_of_shared = false;
};
inline Resident resident(const analysis::SmLimits& sm, const analysis::BlockUse& use) {
    Resident r;
    if (use.threads > sm.threads_per_block || use.registers > sm.registers_per_thread ||
        use.shared > sm.shared_per_block_optin)
        return r;
    while (true) {
        const uint64_t next = r.blocks + 1;
        r.out_of_threads = next * use.threads > sm.threads_per_sm;
        r.out_of_blocks = next > sm.blocks_per_sm;
        r.out_of_registers = next * use.threads * use.registers > sm.registers_per_sm;
        r.out_of_shared = next * use.shared > sm.shared_per_sm;
        if (r.out_of_threads || r.out_of_blocks || r.out_of_registers || r.out_of_shared) return r;
        ++r.blocks, r.threads += use.threads;
    }
}

// A launch over so many elements, thread by thread.
inline analysis::BoundCheck bound_check(uint64_t elements, uint32_t block) {
    analysis::BoundCheck check;
    for (; check.blocks * block < elements; ++check.blocks)
        for (uint32_t warp = 0; warp < block; warp += 32) {
            uint32_t inside = 0, outside = 0;
            for (uint32_t t = warp; t < std::min(block, warp + 32); ++t)
                ++(check.blocks * block + t < elements ? inside : outside);
            check.threads += inside + outside, check.idle_threads += outside;
            check.diverging_warps += inside > 0 && outside > 0, check.idle_warps += inside == 0;
        }
    return check;
}

// Blocks are dealt to one SM after the other.
inline analysis::Spread spread(uint64_t blocks, uint32_t sms) {
    std::vector<uint64_t> of_sm(sms, 0);
    for (uint64_t block = 0; block < blocks; ++block) ++of_sm[block % sms];
    const uint64_t most = std::ranges::max(of_sm), least = std::ranges::min(of_sm);
    return {blocks, most, least, static_cast<uint32_t>(std::ranges::count(of_sm, most)),
            static_cast<uint32_t>(std::ranges::count(of_sm, least))};
}

}  // namespace tilescope::twin
