// A kernel made ready to run compiled, for one launch.
//
//   Program and Launch --make_kernel--> Kernel, with its text as C --a compiler--> run() --make_runner--> runs blocks
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/compiled/abi.h"
#include "core/compiled/print.h"
#include "core/simt/interpreter.h"

namespace tilescope::compiled {

// Without its code.
struct Kernel {
    const simt::Program* program = nullptr;
    const Launch* launch = nullptr;
    std::string text;  // of the whole file
    uint32_t warps = 0, saved_bytes = 0;
    bool in_turns = false, blocks_communicate = false;  // as of Values
    std::vector<std::vector<Shape>> shapes;             // by warp
    std::vector<std::vector<uint64_t>> firsts;          // by warp
    std::vector<std::vector<uint32_t>> predicates;      // by warp
    std::vector<LaneFunction> lanes;
    std::vector<Group> groups;
};
// Error: why it is left to the interpreter. Both must outlive it.
Result<Kernel> make_kernel(const simt::Program& program, const Launch& launch);

using RunFunction = int (*)(Context*, Warp*);

// Runs blocks on one CPU thread. views: sorted by their bases. All must outlive it.
std::unique_ptr<simt::BlockRunner> make_runner(const Kernel& kernel, RunFunction run,
                                               const simt::RunOptions& options,
                                               const std::vector<simt::View>& views);

}  // namespace tilescope::compiled
