#include "core/limits/dealing.h"

#include <algorithm>
#include <queue>
#include <set>
#include <tuple>
#include <utility>

namespace tilescope::analysis {

std::vector<BlockRun> deal(uint64_t blocks, uint32_t sms, uint32_t slots,
                           const std::function<uint64_t(uint64_t block)>& lasts) {
    sms = std::max(sms, 1u), slots = std::max(slots, 1u);
    std::vector<BlockRun> made;
    made.reserve(blocks);
    // SMs by how few of their slots are free, and by their numbers: the first one gets the next block.
    std::set<std::pair<uint32_t, uint32_t>> waiting;
    std::vector<std::set<uint32_t>> free(sms);
    for (uint32_t sm = 0; sm < sms; ++sm) {
        waiting.emplace(0, sm);
        // No SM ever holds more blocks than there are.
        for (uint32_t slot = 0; slot < std::min<uint64_t>(slots, blocks); ++slot) free[sm].insert(slot);
    }
    const auto taken = [&](uint32_t sm) { return slots - static_cast<uint32_t>(free[sm].size()); };
    for (uint32_t sm = 0; slots > blocks && sm < sms; ++sm)
        waiting.erase({0, sm}), waiting.emplace(taken(sm), sm);
    using Running = std::tuple<uint64_t, uint32_t, uint32_t>;  // end, SM, slot
    std::priority_queue<Running, std::vector<Running>, std::greater<>> running;
    uint64_t now = 0;
    for (uint64_t block = 0; block < blocks; ++block) {
        const auto full = [&] { return free[waiting.begin()->second].empty(); };
        if (full()) now = std::get<0>(running.top());
        // All that end at one time are free before the next block is dealt.
        while (!running.empty() && std::get<0>(running.top()) <= now) {
            const auto [end, sm, slot] = running.top();
            running.pop();
            waiting.erase({taken(sm), sm});
            free[sm].insert(slot);
            waiting.emplace(taken(sm), sm);
        }
        const uint32_t sm = waiting.begin()->second, slot = *free[sm].begin();
        waiting.erase(waiting.begin());
        free[sm].erase(slot);
        waiting.emplace(taken(sm), sm);
        made.push_back({sm, slot, now, now + std::max<uint64_t>(lasts(block), 1)});
        running.emplace(made.back().end, sm, slot);
    }
    return made;
}

}  // namespace tilescope::analysis
