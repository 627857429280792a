// Whether in two recordings of one launch each thread makes the same accesses in the same order. Which
// threads of a warp make them together is not compared: where a warp divides, an engine may run its parts in
// any order, and bring them together again where it likes.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>

#include "core/base/parallel.h"
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

// The first difference of a block in a sentence; empty where there is none.
inline std::string difference_of_block(const Trace& cpu, const Trace& gpu, size_t at, ThreadSteps& a,
                                       ThreadSteps& b) {
    const Block &left = cpu.blocks[at], &right = gpu.blocks[at];
    if (std::tie(left.x, left.y, left.z) != std::tie(right.x, right.y, right.z)) return "other blocks";
    by_thread(cpu, left, a);
    by_thread(gpu, right, b);
    for (size_t thread = 0; thread < a.size(); ++thread) {
        const std::vector<ThreadStep>&x = a[thread], &y = b[thread];
        const auto where = [&] {
            return fmt::format("block {},{},{} thread {}", left.x, left.y, left.z, thread);
        };
        if (x == y) continue;
        for (size_t i = 0; i < std::min(x.size(), y.size()); ++i)
            if (!(x[i] == y[i]))
                return fmt::format("{} access {}: site {} array {} offset {}, and site {} array {} offset {}",
                                   where(), i, x[i].site, x[i].array, x[i].offset, y[i].site, y[i].array,
                                   y[i].offset);
        return fmt::format("{} has {} accesses and {}", where(), x.size(), y.size());
    }
    return "";
}

// The same of two recordings.
inline std::string difference_of_threads(const Trace& cpu, const Trace& gpu, unsigned threads = 0) {
    if (cpu.blocks.size() != gpu.blocks.size())
        return fmt::format("{} blocks and {}", cpu.blocks.size(), gpu.blocks.size());
    std::mutex mutex;
    std::string found;
    std::atomic<size_t> next{0};
    on_threads(threads_of(threads), [&] {
        const auto a = std::make_unique<ThreadSteps>(), b = std::make_unique<ThreadSteps>();
        for (size_t at = next++; at < cpu.blocks.size(); at = next++) {
            const std::string differs = difference_of_block(cpu, gpu, at, *a, *b);
            if (differs.empty()) continue;
            const std::lock_guard lock(mutex);
            found = differs;
            return;
        }
    });
    return found;
}

}  // namespace tilescope::trace
