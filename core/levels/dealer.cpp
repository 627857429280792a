#include "core/levels/dealer.h"

#include <algorithm>
#include <utility>

namespace tilescope::analysis {

// The SMs of a GPC get consecutive blocks. GPCs have equally many TPCs, of two SMs each; the last ones have
// one more where they do not divide evenly.
BlockDealer::BlockDealer(const LevelLaunch& launch, uint32_t gpcs)
    : launch_(launch), gpc_of_(launch.sms), sms_of_(gpcs), taken_(launch.sms, 0) {
    std::vector<std::pair<uint64_t, uint32_t>> by_first;
    for (uint32_t sm = 0; sm < launch.sms; ++sm) {
        const bool began = sm < launch.of_sm.size() && !launch.of_sm[sm].empty();
        by_first.emplace_back(began ? launch.of_sm[sm].front() : launch.blocks + sm, sm);
    }
    if (!launch.of_sm.empty()) std::sort(by_first.begin(), by_first.end());
    const uint32_t together = 2 * gpcs <= launch.sms ? 2 : 1;
    const uint32_t tpcs = (launch.sms + together - 1) / together;
    for (uint32_t gpc = 0, tpc = 0; gpc < gpcs; ++gpc) {
        const uint32_t last = tpc + tpcs / gpcs + (gpc >= gpcs - tpcs % gpcs);
        for (uint32_t i = tpc * together; i < std::min(last * together, launch.sms); ++i) {
            gpc_of_[by_first[i].second] = gpc;
            sms_of_[gpc].push_back(by_first[i].second);
        }
        tpc = last;
    }
}

std::vector<BlockDealer::DealtBlock> BlockDealer::first_blocks(uint32_t most) {
    constexpr uint32_t kFirst = 5, kApart = 6;
    std::vector<std::vector<uint32_t>> sms_of = sms_of_;
    std::vector<uint32_t>& rest = sms_of.front();
    const std::vector<uint32_t> half(rest.begin() + static_cast<std::ptrdiff_t>(rest.size() / 2), rest.end());
    rest.resize(rest.size() / 2);
    std::vector<DealtBlock> dealt;
    std::vector<uint32_t> held(launch_.sms, 0);
    const auto deal = [&](const std::vector<uint32_t>& sms) {
        for (const uint32_t sm : sms) {
            if (held[sm] >= most) continue;
            if (const auto block = next(sm)) dealt.push_back({sm, *block}), ++held[sm];
        }
    };
    deal(half);
    size_t before = 0;
    for (uint32_t turn = 0;; ++turn) {
        if (turn % kApart == kFirst) deal(half);
        deal(sms_of[turn % sms_of.size()]);
        if ((turn + 1) % sms_of.size() != 0) continue;
        if (dealt.size() == before) return dealt;
        before = dealt.size();
    }
}

std::optional<uint64_t> BlockDealer::next(uint32_t sm) {
    if (launch_.of_sm.empty()) {
        if (next_ >= launch_.blocks) return std::nullopt;
        return next_++;
    }
    const std::vector<uint64_t>& own = launch_.of_sm[sm];
    if (taken_[sm] >= own.size()) return std::nullopt;
    return own[taken_[sm]++];
}

}  // namespace tilescope::analysis
