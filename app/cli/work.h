// Files that a command writes, each whole or not at all (core/base/file.h), and work that takes long: shown
// on a terminal, and ended by Ctrl-C without half a file.
#pragma once

#include <atomic>

#include "app/cli/command.h"
#include "core/base/file.h"

namespace tilescope::cli {

// Refuses before long work, rather than after it, a file that cannot be written: no such folder, a folder or
// a device of that name, no permission, a file that the command reads. Other files may be replaced.
void check_output(const std::string& path, const std::vector<std::string>& inputs = {});

// It takes the place of what was there when it is complete.
void write_text(const std::string& path, std::string_view text);

// Gives the file its name; refuses where anything failed. path: as it was given.
void keep(OutputFile& file, const std::string& path);

// Runs `work` on a thread of its own until it returns. Meanwhile Ctrl-C and SIGTERM set `stop`, which the
// work watches; where standard error is a terminal, a line shows `done` of `total` of `things`.
void run_with_progress(const std::function<void()>& work, std::atomic<bool>& stop,
                       const std::atomic<uint64_t>& done, uint64_t total, const char* things);

// Runs work(stop, done), which returns a Result, and returns what that holds. outcome: what is said of work
// that was stopped, "no times are shown".
template <class Work>
auto with_progress(uint64_t total, const char* things, std::string_view outcome, const Work& work) {
    std::atomic<bool> stop{false};
    std::atomic<uint64_t> done{0};
    std::optional<decltype(work(stop, done))> made;
    run_with_progress([&] { made.emplace(work(stop, done)); }, stop, done, total, things);
    if (stop) refuse(kFailure, "stopped; {}", outcome);
    return need(std::move(*made));
}

// For work that shows itself: while it lives, those signals set `stop`. One at a time.
class StopOnSignal {
public:
    explicit StopOnSignal(std::atomic<bool>& stop);
    ~StopOnSignal();
    // What a program that runs meanwhile is to be stopped with: SIGINT after Ctrl-C, else SIGTERM.
    static const std::atomic<int>& signal();
    StopOnSignal(const StopOnSignal&) = delete;
    StopOnSignal& operator=(const StopOnSignal&) = delete;
};

}  // namespace tilescope::cli
