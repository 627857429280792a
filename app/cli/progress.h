// Long work with a progress line on a terminal, and Ctrl-C.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>

namespace tilescope::cli {

// Runs `work` on a thread of its own until it returns. Meanwhile Ctrl-C and SIGTERM set `stop`, which the
// work watches; where standard error is a terminal, a line shows `done` of `total` of
// `things`.
void run_with_progress(const std::function<void()>& work, std::atomic<bool>& stop,
                       const std::atomic<uint64_t>& done, uint64_t total, const char* things = "blocks");

}  // namespace tilescope::cli
