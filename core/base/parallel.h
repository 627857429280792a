// Work of many alike pieces (rows of a matrix, blocks of a recording), shared among threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace tilescope {

// 0 for all of the machine's.
inline unsigned threads_of(unsigned threads) {
    return threads ? threads : std::max(1u, std::thread::hardware_concurrency());
}

// work(index) for every index below `count`, each once, in no order. threads: as above.
template <class Work>
void for_each_index(uint64_t count, unsigned threads, const Work& work) {
    std::atomic<uint64_t> next = 0;
    const auto some = [&] {
        for (uint64_t index = next++; index < count; index = next++) work(index);
    };
    std::vector<std::jthread> helpers;  // they join where some() throws, too
    for (unsigned i = 1; i < threads_of(threads) && i < count; ++i) helpers.emplace_back(some);
    some();
}

}  // namespace tilescope
