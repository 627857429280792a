#include "app/cli/progress.h"

#include <chrono>
#include <cstdio>
#include <future>

#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction is POSIX
#include <unistd.h>

namespace tilescope::cli {

namespace {

// What a signal handler may touch: a lock-free atomic, and nothing that goes away while it is installed.
std::atomic<bool>* g_stop = nullptr;

void on_signal(int) {
    if (g_stop) g_stop->store(true);
}

// Handlers while it lives, the former ones afterwards.
class StopOnSignal {
public:
    explicit StopOnSignal(std::atomic<bool>& stop) {
        g_stop = &stop;
        struct sigaction action {};
        action.sa_handler = on_signal;
        sigaction(SIGINT, &action, &interrupt_);
        sigaction(SIGTERM, &action, &terminate_);
    }
    ~StopOnSignal() {
        sigaction(SIGINT, &interrupt_, nullptr);
        sigaction(SIGTERM, &terminate_, nullptr);
        g_stop = nullptr;
    }
    StopOnSignal(const StopOnSignal&) = delete;
    StopOnSignal& operator=(const StopOnSignal&) = delete;

private:
    struct sigaction interrupt_ {
    }, terminate_{};
};

}  // namespace

void run_with_progress(const std::function<void()>& work, std::atomic<bool>& stop,
                       const std::atomic<uint64_t>& done, uint64_t total, const char* things) {
    using namespace std::chrono_literals;
    const StopOnSignal guard(stop);
    const bool terminal = isatty(STDERR_FILENO) == 1;
    bool shown = false;
    auto finished = std::async(std::launch::async, work);
    // The first line waits a little: quick work needs none.
    while (finished.wait_for(shown ? 100ms : 300ms) != std::future_status::ready) {
        if (!terminal) continue;
        std::fprintf(stderr, "\r%llu of %llu %s%s", static_cast<unsigned long long>(done.load()),
                     static_cast<unsigned long long>(total), things, stop ? ", stopping" : "");
        std::fflush(stderr);
        shown = true;
    }
    if (shown) std::fputs("\r\x1b[K", stderr);
    finished.get();
}

}  // namespace tilescope::cli
