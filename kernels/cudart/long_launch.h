// A launch that takes long: it says how far it is, and Ctrl-C or SIGTERM end it so that what was recorded is kept.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <mutex>
#include <string>
#include <thread>

#include "kernels/cudart/runtime.h"

namespace tilescope::cudart {

// Whether a signal has come while a launch ran: what runs is to end between two blocks.
extern std::atomic<bool> interrupted;
// Whether that was Ctrl-C.
bool by_terminal();
// Ends the program by the signal that stopped its launch.
void end_by_signal();

// While a launch runs, the first Ctrl-C or SIGTERM ends it between two blocks, so that what was recorded can be
// kept.
class Interrupts {
public:
    explicit Interrupts(const Runtime& r);
    // After a signal they stay, until the program has ended by it.
    ~Interrupts();
    Interrupts(const Interrupts&) = delete;
    Interrupts& operator=(const Interrupts&) = delete;

private:
    static constexpr std::array kSignals = {SIGINT, SIGTERM};
    std::array<struct sigaction, kSignals.size()> before_{};
    std::array<bool, kSignals.size()> taken_{};
};

// Says how far a launch is that takes long, and what Ctrl-C does: once, and on a terminal each second. It has a
// thread of its own.
class Estimate {
public:
    // kept: a recording of the launch has been written. phase: nothing is said while the rest is being compiled.
    Estimate(const std::string& what, uint64_t blocks, const std::atomic<uint64_t>& done, bool kept,
             const std::atomic<compiled::Phase>& phase);
    ~Estimate();
    Estimate(const Estimate&) = delete;
    Estimate& operator=(const Estimate&) = delete;

private:
    void watch(const std::string& what, uint64_t blocks, const std::atomic<uint64_t>& done, bool kept,
               const std::atomic<compiled::Phase>& phase);

    std::mutex mutex_;
    std::condition_variable woken_;
    bool over_ = false;
    std::thread watcher_;
};

}  // namespace tilescope::cudart
