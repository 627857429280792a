// Runs a program that was built (compile.h), tells the runtime in it what to record, and reads what became of
// its launches (kernels/launched/orders.h).
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "kernels/launched/orders.h"

namespace tilescope::program {

struct RunRequest {
    std::string path;                    // of the program
    std::string name;                    // as argv[0]; "" for its path
    std::vector<std::string> arguments;  // behind its name
    launched::Orders orders;             // `launches` is filled in here
    bool output_to_error = false;        // its standard output goes to standard error
    bool quiet = false;                  // its output is discarded
    const std::atomic<bool>* stop = nullptr;
    const std::atomic<int>* stop_signal = nullptr;  // that has set it; null for Ctrl-C's
};

struct RunOutcome {
    int status = 0;                         // its exit status; 128 + the signal that ended it
    std::vector<launched::CallNote> notes;  // of calls that are no launches, in their order
    std::vector<launched::LaunchLine> launches;
    std::string damage;  // why a line of a launch could not be read; "" mostly
};

// The program has this one's working directory, standard input and output. stop: the signal is passed on
// to it, and what was recorded by then stays. Error: it could not be started.
Result<RunOutcome> run_program(const RunRequest& request);

}  // namespace tilescope::program
