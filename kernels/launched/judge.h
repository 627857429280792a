// What a recording of a launch proves: the list of its faults and remarks (core/hazards), with what the run met
// that is undefined. Where that may be harmless, as a value that nobody stored and that changes nothing, the
// launch is run once more with other bytes there.
#pragma once

#include <atomic>
#include <map>
#include <memory>
#include <vector>

#include "core/trace/trace.h"
#include "kernels/launched/describe.h"
#include "kernels/launched/filled.h"
#include "kernels/launched/orders.h"

namespace tilescope::launched {

// A launch that was recorded by the interpreter.
struct LaunchToJudge {
    const LoadedKernel& kernel;
    const Launch& launch;  // with the contents before
    BlockWindow window;
    const simt::GlobalMemory& after;
    // What was filled before and after, by the array's base; none of an array that is not followed.
    const std::map<uint64_t, FilledMap>&filled_before, &filled_after;
    const std::vector<simt::Undefined>& undefined;
    bool may_run_again = true;
    const std::atomic<bool>* stop = nullptr;  // ends that run: it is then not known to be harmless
};

// Adds to trace.meta.findings, and gives the list. told: the sentence of the fault that ended it; "" for none.
std::vector<LaunchFault> judge(const std::shared_ptr<trace::Trace>& trace, const LaunchToJudge& of,
                               const std::string& told);

}  // namespace tilescope::launched
