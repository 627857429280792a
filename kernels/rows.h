// Work by rows of a matrix, shared among threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace tilescope::kernels {

// work(row) for every row below `rows`, each once, in no order. threads: 0 for all of the machine's.
template <class Work>
void for_each_row(uint64_t rows, unsigned threads, const Work& work) {
    std::atomic<uint64_t> next = 0;
    const auto some = [&] {
        for (uint64_t row = next++; row < rows; row = next++) work(row);
    };
    const unsigned count = threads ? threads : std::max(1u, std::thread::hardware_concurrency());
    std::vector<std::thread> helpers;
    for (unsigned i = 1; i < count && i < rows; ++i) helpers.emplace_back(some);
    some();
    for (std::thread& helper : helpers) helper.join();
}

}  // namespace tilescope::kernels
