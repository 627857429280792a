// A plan made ready to run on the CPU: program, shared arrays in their places, memory with its contents.
// Recording and replaying begin the same way.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/ptx/ast.h"
#include "core/simt/interpreter.h"
#include "core/simt/memory.h"
#include "kernels/run/plan.h"

namespace tilescope::kernels {

struct ReadyLaunch {
    std::shared_ptr<const ptx::Module> module;
    std::shared_ptr<const simt::Program> program;
    Launch launch;              // entry, arrays with the bases that the PTX gives them
    simt::GlobalMemory memory;  // buffer i is that of the i-th global array of launch.arrays
};

// Fails for PTX that cannot run, for a shared array that it lacks, for more arrays than a recording holds,
// and where arrays, variables and registers take more than `memory` bytes: their sum is known before anything
// is allocated for them.
//   doing    what is said to take too much, "recording tiled"
//   values   whether the launch will run with values
//   little   whether it needs little of its arrays: those of zeros take memory as they are touched, and their
//            sizes do not count
Result<ReadyLaunch> make_ready(const Plan& plan, uint64_t memory, const std::string& doing,
                               bool values = false, bool little = false);

// Index into memory.buffers of a global array.
size_t buffer_of(const std::vector<Array>& arrays, size_t array);

}  // namespace tilescope::kernels
