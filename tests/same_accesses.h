// Whether two recordings of one launch hold the same accesses: block by block, warp by warp, request by
// request, lane for lane. The order among warps is not compared: it is the scheduler's, not the kernel's.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "core/trace/trace.h"

namespace tilescope::trace {

// The steps of every warp in its own order, by block (z, y, x) and warp.
inline auto steps_by_warp(const Trace& trace) {
    std::map<std::array<uint32_t, 3>, std::map<uint32_t, std::vector<uint64_t>>> steps;
    for (const Block& block : trace.blocks) {
        auto& warps = steps[{block.z, block.y, block.x}];
        for (uint64_t step = block.first; step < block.first + block.count; ++step)
            warps[trace.warp_of(step)].push_back(step);
    }
    return steps;
}

// The first difference in a sentence; empty where there is none.
inline std::string first_difference(const Trace& a, const Trace& b) {
    const auto of_a = steps_by_warp(a), of_b = steps_by_warp(b);
    if (of_a.size() != of_b.size()) return fmt::format("{} blocks and {}", of_a.size(), of_b.size());
    for (const auto& [block, warps] : of_a) {
        const auto other = of_b.find(block);
        if (other == of_b.end() || other->second.size() != warps.size())
            return fmt::format("block {} has other warps", fmt::join(block, ","));
        for (const auto& [warp, steps] : warps) {
            const auto same = other->second.find(warp);
            const std::string where = fmt::format("block {} warp {}", fmt::join(block, ","), warp);
            if (same == other->second.end()) return where + " is in one only";
            if (same->second.size() != steps.size())
                return fmt::format("{} has {} steps and {}", where, steps.size(), same->second.size());
            for (size_t i = 0; i < steps.size(); ++i) {
                const Access x = decode(a, steps[i]), y = decode(b, same->second[i]);
                if (x.site != y.site || x.mask != y.mask || x.array != y.array || x.offset != y.offset)
                    return fmt::format("{} differs at its step {}: sites {} and {}, masks {:08x} and {:08x}",
                                       where, i, x.site, y.site, x.mask, y.mask);
                std::string words;
                for_lanes(a.sites[x.site].words == 0 ? 0 : x.mask, [&](uint32_t lane) {
                    if (words.empty() && words_of(a, steps[i], lane) != words_of(b, same->second[i], lane))
                        words = fmt::format("{} differs at its step {}: site {} has other words in lane {}",
                                            where, i, x.site, lane);
                });
                if (!words.empty()) return words;
            }
        }
    }
    return "";
}

}  // namespace tilescope::trace
