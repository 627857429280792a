// A plan made ready to run on the CPU: program, shared arrays in their places, memory with inputs.
// Recording and replaying begin the same way.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/ptx/ast.h"
#include "core/simt/interpreter.h"
#include "core/simt/memory.h"
#include "kernels/catalogue.h"

namespace tilescope::kernels {

struct ReadyLaunch {
    ptx::Module module;
    std::string kernel;  // its name in the module
    std::shared_ptr<const simt::Program> program;
    simt::Launch launch;        // arrays with the bases that the PTX gives them
    simt::GlobalMemory memory;  // buffer i is that of the i-th global array of launch.arrays
};

// Fails for PTX that cannot run, for atomic operations, which no backend records, for a shared array that
// it lacks, and for too little memory.
Result<ReadyLaunch> make_ready(const Plan& plan, uint64_t seed);

// Whether a PTX symbol is the mangled name of the array `name` inside a function: "_ZZ5tiledE3Mds".
// Source: Itanium C++ ABI, 5.1.7 "Scope Encoding": _Z Z <function> E <length><name> [_<number>].
bool is_symbol_of(std::string_view symbol, std::string_view name);

// The bytes of a global array as a launch begins: made inputs, and zeros in an output.
void fill_buffer(simt::Buffer& buffer, const Array& array, uint64_t seed);

// Index into memory.buffers of a global array.
size_t buffer_of(const std::vector<Array>& arrays, size_t array);

}  // namespace tilescope::kernels
