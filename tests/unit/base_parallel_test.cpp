// Work shared among threads: an exception of any of them reaches the caller.
#include <atomic>
#include <new>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "core/base/parallel.h"

namespace tilescope {
namespace {

TEST(Parallel, EveryIndexOnce) {
    for (const unsigned threads : {1u, 3u, 16u}) {
        std::vector<std::atomic<int>> seen(1000);
        for_each_index(seen.size(), threads, [&](uint64_t i) { ++seen[i]; });
        for (const auto& times : seen) ASSERT_EQ(times, 1);
    }
    for_each_index(0, 4, [](uint64_t) { FAIL(); });
}

TEST(Parallel, AnExceptionOfAnyThreadReachesTheCaller) {
    for (const unsigned threads : {1u, 4u}) {
        std::atomic<uint64_t> begun = 0;
        EXPECT_THROW(for_each_index(1'000'000, threads,
                                    [&](uint64_t i) {
                                        ++begun;
                                        if (i >= 10) throw std::bad_alloc();
                                    }),
                     std::bad_alloc);
        EXPECT_LT(begun, 100u) << "no further index is begun";
    }
    // That of a thread which is not the caller's.
    const auto caller = std::this_thread::get_id();
    std::atomic<bool> thrown = false;
    const auto work = [&] {
        if (std::this_thread::get_id() == caller)
            thrown.wait(false);
        else {
            thrown = true;
            thrown.notify_all();
            throw std::runtime_error("of a helper");
        }
    };
    try {
        on_threads(2, work);
        FAIL() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
        EXPECT_STREQ(error.what(), "of a helper");
    }
}

}  // namespace
}  // namespace tilescope
