#include "core/analysis/banks.h"

#include <algorithm>

#include "core/base/launch.h"
#include "core/ptx/sites.h"

namespace tilescope::analysis {
namespace {

uint32_t worst_bank(const uint64_t* address, uint32_t mask, uint32_t bytes) {
    const auto per_bank = words_per_bank(address, mask, bytes);
    return *std::max_element(per_bank.begin(), per_bank.end());
}

// Whether every lane n asks for the same as lane n ^ distance, wherever both are active.
bool pairs_agree(const uint64_t* address, uint32_t mask, uint32_t distance) {
    for (uint32_t lane = 0; lane < 32; ++lane) {
        const uint32_t other = lane ^ distance;
        if ((mask >> lane & mask >> other & 1) && address[lane] != address[other]) return false;
    }
    return true;
}

}  // namespace

std::array<uint8_t, kBanks> words_per_bank(const uint64_t* address, uint32_t mask, uint32_t bytes) {
    std::array<uint8_t, kBanks> per_bank{};
    if (bytes == 0 || bytes > ptx::kMostOfLane) return per_bank;
    // One word more than they are, where they are not aligned.
    std::array<uint64_t, size_t{kWarpSize} * (ptx::kMostOfLane / kBankBytes + 1)> words;
    size_t count = 0;
    for_lanes(mask, [&](uint32_t lane) {
        const uint64_t first = address[lane];
        for (uint64_t w = first / kBankBytes; w <= (first + bytes - 1) / kBankBytes; ++w) words[count++] = w;
    });
    std::sort(words.begin(), words.begin() + count);
    for (size_t i = 0; i < count; ++i)
        if (i == 0 || words[i] != words[i - 1]) ++per_bank[words[i] % kBanks];
    return per_bank;
}

LaneGroups::LaneGroups(const uint64_t* address, uint32_t mask, uint32_t bytes, bool keeps_groups) {
    if (bytes == 0 || bytes > ptx::kMostOfLane) return;
    lanes_ = bytes <= 4 ? 32 : bytes <= 8 ? 16 : bytes <= 16 ? 8 : 4;
    if (lanes_ < 32 && !keeps_groups && (pairs_agree(address, mask, 1) || pairs_agree(address, mask, 2)))
        lanes_ *= 2;
    const uint32_t group = lanes_ == 32 ? ~0u : (1u << lanes_) - 1;
    for (uint32_t first = 0; first < 32; first += lanes_)
        if (const uint32_t active = mask & (group << first)) masks_[count_++] = active;
}

BankCost bank_cost(const uint64_t* address, uint32_t mask, uint32_t bytes, bool keeps_groups) {
    BankCost cost;
    const LaneGroups groups(address, mask, bytes, keeps_groups);
    for (const uint32_t group : groups.masks()) {
        cost.wavefronts += worst_bank(address, group, bytes);
        ++cost.ideal_wavefronts;
    }
    return cost;
}

}  // namespace tilescope::analysis
