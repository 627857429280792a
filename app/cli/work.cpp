#include "app/cli/work.h"

#include <array>
#include <cstdio>
#include <cstdlib>
#include <future>

#include <signal.h>  // NOLINT(modernize-deprecated-headers): sigaction is POSIX
#include <unistd.h>

namespace tilescope::cli {

namespace {

// What a signal handler may touch: a lock-free atomic, and nothing that goes away while it is installed.
std::atomic<bool>* g_stop = nullptr;
std::atomic<int> g_signal{SIGINT};

void on_signal(int signal) {
    if (g_stop && !*g_stop) g_signal = signal == SIGINT ? SIGINT : SIGTERM;
    if (g_stop) g_stop->store(true);
}

constexpr std::array kSignals = {SIGHUP, SIGINT, SIGQUIT, SIGTERM};
std::array<struct sigaction, kSignals.size()> g_former{};  // handlers, which come back afterwards

}  // namespace

// SIGHUP stays ignored where it is, as nohup wants it; a script's background command is started with SIGINT
// ignored and is stopped by it all the same.
StopOnSignal::StopOnSignal(std::atomic<bool>& stop) {
    g_stop = &stop;
    struct sigaction action {};
    action.sa_handler = on_signal;
    for (size_t at = 0; at < kSignals.size(); ++at) {
        sigaction(kSignals[at], nullptr, &g_former[at]);
        if (kSignals[at] != SIGHUP || g_former[at].sa_handler != SIG_IGN)
            sigaction(kSignals[at], &action, nullptr);
    }
}

const std::atomic<int>& StopOnSignal::signal() { return g_signal; }

StopOnSignal::~StopOnSignal() {
    for (size_t at = 0; at < kSignals.size(); ++at) sigaction(kSignals[at], &g_former[at], nullptr);
    g_stop = nullptr;
}

void check_output(const std::string& path, const std::vector<std::string>& inputs) {
    const std::string why = why_not_writable(path, inputs);
    if (!why.empty()) refuse(kFailure, "'{}' cannot be written: {}; name another file with -o", path, why);
}

void write_text(const std::string& path, std::string_view text) {
    OutputFile file(path);
    file.write(text);
    keep(file, path);
}

void keep(OutputFile& file, const std::string& path) {
    const std::string why = file.keep();
    if (!why.empty()) refuse(kFailure, "'{}' cannot be written: {}; name another file with -o", path, why);
}

void run_with_progress(const std::function<void()>& work, std::atomic<bool>& stop,
                       const std::atomic<uint64_t>& done, uint64_t total, const char* things) {
    using namespace std::chrono_literals;
    const StopOnSignal guard(stop);
    // The window reads the same line of an export that it began (session/exporting.cpp).
    const bool terminal = isatty(STDERR_FILENO) == 1 || std::getenv("TILESCOPE_PROGRESS") != nullptr;
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
