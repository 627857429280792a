// Work of many alike pieces (rows of a matrix, blocks of a recording), shared among threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace tilescope {

// 0 for all of the machine's.
inline unsigned threads_of(unsigned threads) {
    return threads ? threads : std::max(1u, std::thread::hardware_concurrency());
}

// work() on so many threads, the caller's among them; on fewer where the system has no more. Once all have
// returned, the first exception that one of them threw is thrown here.
template <class Work>
void on_threads(uint64_t threads, const Work& work) {
    std::exception_ptr first;
    std::mutex mutex;
    const auto guarded = [&] {
        try {
            work();
        } catch (...) {
            const std::lock_guard lock(mutex);
            if (!first) first = std::current_exception();
        }
    };
    {
        std::vector<std::jthread> helpers;  // they join at the end of this scope
        try {
            helpers.reserve(threads);
            while (helpers.size() + 1 < threads) helpers.emplace_back(guarded);
        } catch (const std::system_error&) {
        }
        guarded();
    }
    if (first) std::rethrow_exception(first);
}

// work(index) for every index below `count`, each once, in no order. threads: as above. Where it throws, no
// further index is begun, and the first exception is thrown here.
template <class Work>
void for_each_index(uint64_t count, unsigned threads, const Work& work) {
    std::atomic<uint64_t> next = 0;
    on_threads(std::min<uint64_t>(threads_of(threads), count), [&] {
        try {
            for (uint64_t index = next++; index < count; index = next++) work(index);
        } catch (...) {
            next = count;
            throw;
        }
    });
}

}  // namespace tilescope
