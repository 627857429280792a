#include "kernels/cudart/long_launch.h"

#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstring>
#include <ctime>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/words.h"
#include "kernels/launched/pace.h"

namespace tilescope::cudart {

std::atomic<bool> interrupted{false};

namespace {

// What the handler of signals touches.
std::atomic<int> stop_signal{0};            // the one that came
std::atomic<int64_t> stopped_at{0};         // ms of the monotonic clock
std::array<char, PATH_MAX> keeping_file{};  // its name (launched::kKeeping); "" for none
static_assert(std::atomic<int64_t>::is_always_lock_free);

// One Ctrl-C may come twice, from the terminal and from the command that waits; a later one ends the program.
// Source: POSIX.1-2017, "2.4.3 Signal Actions", for what a handler may call.
void on_stop(int signal) {
    constexpr int64_t kSame = 1500;  // ms
    timespec now{};
    clock_gettime(CLOCK_MONOTONIC, &now);
    const int64_t ms = int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
    if (interrupted.exchange(true)) {
        if (ms - stopped_at < kSame) return;
        struct sigaction ours {};
        ours.sa_handler = SIG_DFL;
        sigaction(signal, &ours, nullptr);
        raise(signal);
        return;
    }
    stop_signal = signal, stopped_at = ms;
    const int before = errno;
    if (keeping_file[0] != 0)
        if (const int file = open(keeping_file.data(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600); file >= 0)
            close(file);
    errno = before;
}

}  // namespace

bool by_terminal() { return stop_signal != SIGTERM; }

Interrupts::Interrupts(const Runtime& r) {
    const std::string keeping = r.orders.launches + launched::kKeeping;
    if (r.recording && !r.orders.launches.empty() && keeping.size() < keeping_file.size())
        std::memcpy(keeping_file.data(), keeping.c_str(), keeping.size() + 1);
    for (size_t at = 0; at < kSignals.size(); ++at) {
        struct sigaction ours {};
        ours.sa_handler = on_stop;
        sigemptyset(&ours.sa_mask);
        for (const int signal : kSignals) sigaddset(&ours.sa_mask, signal);
        sigaction(kSignals[at], nullptr, &before_[at]);
        taken_[at] = (before_[at].sa_flags & SA_SIGINFO) == 0 && before_[at].sa_handler == SIG_DFL &&
                     sigaction(kSignals[at], &ours, nullptr) == 0;
    }
}

Interrupts::~Interrupts() {
    for (size_t at = 0; at < kSignals.size(); ++at)
        if (taken_[at] && !interrupted) sigaction(kSignals[at], &before_[at], nullptr);
}

void end_by_signal() {
    std::fflush(stdout);
    if (keeping_file[0] != 0) unlink(keeping_file.data());
    const int signal = stop_signal;
    std::signal(signal, SIG_DFL);
    std::raise(signal);
}

Estimate::Estimate(const std::string& what, uint64_t blocks, const std::atomic<uint64_t>& done, bool kept,
                   const std::atomic<compiled::Phase>& phase)
    : watcher_([this, what, blocks, &done, kept, &phase] { watch(what, blocks, done, kept, phase); }) {}

Estimate::~Estimate() {
    {
        const std::lock_guard lock(mutex_);
        over_ = true;
    }
    woken_.notify_all();
    watcher_.join();
}

void Estimate::watch(const std::string& what, uint64_t blocks, const std::atomic<uint64_t>& done, bool kept,
                     const std::atomic<compiled::Phase>& phase) {
    constexpr double kLong = 60;  // seconds
    const bool terminal = isatty(STDERR_FILENO) == 1;
    const auto now = [] { return std::chrono::steady_clock::now(); };
    const auto since = [&](auto then) { return std::chrono::duration<double>(now() - then).count(); };
    const auto start = now();
    // The pace is that of the engine that runs it now.
    auto engine = compiled::Phase::Interpreted;
    auto began = start;
    uint64_t before = 0;
    bool said = false;
    std::unique_lock lock(mutex_);
    for (auto wait = std::chrono::seconds(3);; wait = std::chrono::seconds(said ? 1 : 2)) {
        if (woken_.wait_for(lock, wait, [&] { return over_; })) break;
        const uint64_t so_far = done.load(std::memory_order_relaxed);
        if (engine != phase.load()) engine = phase, began = now(), before = so_far;
        const double seconds = since(began);
        const uint64_t ran = so_far - before;
        const double all = ran == 0 ? 0
                                    : since(start) + seconds / static_cast<double>(ran) *
                                                         static_cast<double>(blocks - so_far);
        if (said) {
            fmt::print(stderr, "\r{} of {}\x1b[K", grouped(so_far), counted(blocks, "block"));
            std::fflush(stderr);
            continue;
        }
        if (ran == 0 ? seconds < kLong / 2 : all < kLong) continue;
        if (engine == compiled::Phase::Compiling && seconds < kLong / 2) continue;
        say(fmt::format("{} will take {} on this machine, {} of {} done; Ctrl-C ends it{}", what,
                        launched::long_time(all), grouped(so_far), counted(blocks, "block"),
                        kept ? ", and its recording is kept" : " and keeps what is recorded"));
        if (!terminal) return;
        said = true;
    }
    if (said) fmt::print(stderr, "\r\x1b[K");
}

}  // namespace tilescope::cudart
