// This program's own command line as a child process.
#pragma once

#include <atomic>
#include <string>
#include <vector>

#include "core/base/result.h"

namespace tilescope::platform {

struct Ran {
    bool good = false;     // it ended with status 0
    std::string out, err;  // all that it wrote
};

// Calls this program with `arguments` and waits until it has ended. stop: ends it early, with Ctrl-C's signal
// first, upon which it takes half-written files away. Fails in one sentence where it cannot be started.
Result<Ran> run_self(std::vector<std::string> arguments, const std::atomic<bool>& stop);

}  // namespace tilescope::platform
