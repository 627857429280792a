// Whether in two recordings of one launch each thread makes the same accesses in the same order. Which
// threads of a warp make them together is not compared: where a warp divides, an engine may run its parts in
// any order, and bring them together again where it likes.
#pragma once

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "core/trace/trace.h"

namespace tilescope::trace {

// Of a thread: site, array, offset in it.
struct ThreadStep {
    uint32_t site;
    uint8_t array;
    uint64_t offset;
    bool operator==(const ThreadStep&) const = default;
};
using ThreadSteps = std::array<std::vector<ThreadStep>, 1024>;

inline void by_thread(const Trace& trace, const Block& block, ThreadSteps& threads) {
    for (auto& thread : threads) thread.clear();
    for (uint64_t step = block.first; step < block.first + block.count; ++step) {
        const Access access = decode(trace, step);
        for (uint32_t lane = 0; lane < kWarpSize; ++lane)
            if (access.mask >> lane & 1)
                threads[access.warp * kWarpSize + lane].push_back(
                    {access.site, access.array, access.offset[lane]});
    }
}

// The first difference in a sentence; empty where there is none.
inline std::string difference_of_threads(const Trace& cpu, const Trace& gpu) {
    if (cpu.blocks.size() != gpu.blocks.size())
        return fmt::format("{} blocks and {}", cpu.blocks.size(), gpu.blocks.size());
    const auto a = std::make_unique<ThreadSteps>(), b = std::make_unique<ThreadSteps>();
    for (size_t at = 0; at < cpu.blocks.size(); ++at) {
        const Block &left = cpu.blocks[at], &right = gpu.blocks[at];
        if (std::tie(left.x, left.y, left.z) != std::tie(right.x, right.y, right.z)) return "other blocks";
        by_thread(cpu, left, *a);
        by_thread(gpu, right, *b);
        for (size_t thread = 0; thread < a->size(); ++thread) {
            const std::vector<ThreadStep>&x = (*a)[thread], &y = (*b)[thread];
            const std::string where = fmt::format("block {},{},{} thread {}", left.x, left.y, left.z, thread);
            for (size_t i = 0; i < std::min(x.size(), y.size()); ++i)
                if (!(x[i] == y[i]))
                    return fmt::format(
                        "{} access {}: site {} array {} offset {}, and site {} array {} offset {}", where, i,
                        x[i].site, x[i].array, x[i].offset, y[i].site, y[i].array, y[i].offset);
            if (x.size() != y.size())
                return fmt::format("{} has {} accesses and {}", where, x.size(), y.size());
        }
    }
    return "";
}

}  // namespace tilescope::trace
