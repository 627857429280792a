// Child processes: a program and its words, handed on as they are; no shell reads them.
//
//   start_process    and goes on; the caller gives descriptors and waits with wait_for_process
//   run_process      waits, keeps what it wrote, ends it at a deadline or when it is to stop
//
// A child ends with this program, however that ends: by a signal of the kernel (prctl(2), PR_SET_PDEATHSIG).
#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace tilescope {

struct ProcessStart {
    std::vector<std::string> words;  // the first one is the name of the child
    // What the child gets as file descriptors 0 to 3; -1: this program's own.
    std::array<int, 4> descriptors = {-1, -1, -1, -1};
    int at_our_end = SIGKILL;              // signal that the child gets when this program ends
    std::vector<std::string> environment;  // NAME=VALUE, beside this program's or in place of it
    // The child gets a process group of its own, so that Ctrl-C reaches this program alone. A child that
    // reads from the terminal has to stay in this program's group.
    bool own_group = true;
    uint64_t most_memory = 0;  // bytes of address space that it and its children may each take; 0: no limit
};

// program: its path, or a name to look for in PATH. Returns why it could not be started (errno.h), or 0.
int start_process(const char* program, ProcessStart start, pid_t& child);

// Waits until the child has ended; returns its status as waitpid() gives it. stop: null for none; once it is
// set the child gets the signal that `first` holds then, and SIGKILL when `patience` has passed, in which no time
// counts during which it `keeps` what it has made, if that is given. to_group: the child has a group of its own.
// look: called fifty times a second meanwhile; may be empty.
inline constexpr std::chrono::milliseconds kPatience{2000};
int wait_for_process(pid_t child, const std::atomic<bool>* stop, const std::atomic<int>& first,
                     bool to_group = true, const std::function<void()>& look = {},
                     std::chrono::milliseconds patience = kPatience, const std::function<bool()>& keeps = {});

struct ProcessRan {
    int status = 0;         // its exit status; 128 + the signal that ended it
    bool stopped = false;   // it was ended because `stop` was set
    bool too_late = false;  // it was ended at its deadline
    std::string out, err;   // all that it wrote
};

// Its standard input is empty. The words' first one is the program. Fails where it cannot be started.
// most_memory: as ProcessStart.
Result<ProcessRan> run_process(std::vector<std::string> words, std::chrono::milliseconds deadline,
                               const std::atomic<bool>* stop = nullptr, uint64_t most_memory = 0);

// Ends what a child leaves running behind itself: while this is alive, processes whose parent has ended come to
// this program (prctl(2), PR_SET_CHILD_SUBREAPER), and at its end they are killed. For a program that starts no
// other process meanwhile.
class Orphans {
public:
    Orphans();
    ~Orphans();
    Orphans(const Orphans&) = delete;
    Orphans& operator=(const Orphans&) = delete;

private:
    std::vector<pid_t> before_;  // children that were there before
};

// The exit status as a shell says it.
int exit_status(int waited);
// "was ended by signal 6", "ended with status 255" of what exit_status() gave; signals end at 64 (signal(7)).
std::string how_it_ended(int status);

// Where PATH has that program; "" for nowhere. A name with a slash is itself, where it can be run.
std::string find_program(const std::string& name);

}  // namespace tilescope
