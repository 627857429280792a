// Blocks of a launch run by a compiled kernel: each warp from event to event, one after the other.
//
// What a kernel without races leaves in memory is what the interpreter leaves: warps meet at barriers, and atomics
// whose order matters are executed in the order of the interpreter's turns (Schedule::Fair), since turns are counted:
//
//   a warp that may go on since turn T makes its k-th request in turn  first + (k - 1) * warps,
//   first: the next turn behind T that is the warp's, number modulo warps
//
// A block that cannot be run to its end (a fault, lanes that wait for lanes) leaves nothing behind: what it stored in
// memory that its kernel also loads is written back, and the interpreter runs the block from its beginning.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "core/compiled/abi.h"
#include "core/compiled/print.h"
#include "core/simt/interpreter.h"

namespace tilescope::compiled {

// A kernel made ready for one launch, without its code.
struct Kernel {
    const simt::Program* program = nullptr;
    const Launch* launch = nullptr;
    std::string text;  // of the whole file
    uint32_t warps = 0, saved_bytes = 0;
    bool in_turns = false;
    bool hands_on = false;                      // its blocks must run one after the other (Values::hands_on)
    std::vector<std::vector<Shape>> shapes;     // by warp
    std::vector<std::vector<uint64_t>> firsts;  // by warp
    std::vector<std::vector<uint32_t>> predicates;  // by warp
    std::vector<LaneFunction> lanes;
    std::vector<Group> groups;
};
// Error: why it is left to the interpreter. Both must outlive it.
Result<Kernel> make_kernel(const simt::Program& program, const Launch& launch);

using RunFunction = int (*)(Context*, Warp*);

// For one CPU thread. views: sorted by their bases.
std::unique_ptr<simt::BlockRunner> make_runner(const Kernel& kernel, RunFunction run,
                                               const simt::RunOptions& options,
                                               const std::vector<simt::View>& views);

}  // namespace tilescope::compiled
