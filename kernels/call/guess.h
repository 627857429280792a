// The arguments of a host function that nobody says: numbers by their names, as of a kernel
// (kernels/alone/guess.h), and arrays as large as the launches of a trial touch.
//
//   trial     arrays with much room, all launches recorded      what is touched of each array
//   check     arrays cut to that, nothing recorded              the call still goes well
//
// If a trial goes wrong, the next has other contents in const arrays, which may be indices, or smaller sizes.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "kernels/call/call.h"

namespace tilescope::kernels {

// What became of a run of the program with these words.
struct Trial {
    bool right = false;      // it ended well, and launched a kernel
    bool all_known = false;  // every launch of it was recorded, where that was asked for
};
// folder: where all launches are recorded; "" for none. Error: the program cannot be run.
using RunCall =
    std::function<Result<Trial>(const std::vector<std::string>& words, const std::string& folder)>;

struct GuessedCall {
    Description whole;
    bool right = true;  // false: the best guess still goes wrong
};

// scratch: a folder for the recordings of trials. Error: a description that does not fit, a stop.
Result<GuessedCall> guess_call(const Call& call, const Description& said, const std::string& scratch,
                               const RunCall& run, const std::atomic<bool>* stop);

}  // namespace tilescope::kernels
