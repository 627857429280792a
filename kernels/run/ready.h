// A plan made ready to run on the CPU: program, shared arrays in their places, memory with its contents.
// Recording and replaying begin the same way.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/ptx/ast.h"
#include "core/simt/interpreter.h"
#include "core/simt/memory.h"
#include "kernels/run/plan.h"

namespace tilescope::kernels {

struct ReadyLaunch {
    ptx::Module module;
    std::shared_ptr<const simt::Program> program;
    Launch launch;              // entry, arrays with the bases that the PTX gives them
    simt::GlobalMemory memory;  // buffer i is that of the i-th global array of launch.arrays
};

// Fails for PTX that cannot run, for a shared array that it lacks, for more arrays than a recording holds,
// and where arrays, variables and registers take more than `memory` bytes: their sum is known before anything
// is allocated for them.
//   doing    what is said to take too much, "recording tiled"
//   values   whether the launch will run with values
Result<ReadyLaunch> make_ready(const Plan& plan, uint64_t memory, const std::string& doing,
                               bool values = false);

// Whether a PTX symbol is the mangled name of the array `name` inside a function: "_ZZ5tiledE3Mds".
// Source: Itanium C++ ABI, 5.1.7 "Scope Encoding": _Z Z <function> E <length><name> [_<number>].
bool is_symbol_of(std::string_view symbol, std::string_view name);
// The name inside such a symbol; the symbol itself where it is not mangled.
std::string_view name_in_symbol(std::string_view symbol);

// What a declaration of a source behind `__shared__` or `__constant__` says of an array: its element type and
// extents, as far as they are numbers, or names that a #define, a constexpr or a const of the same source
// gives a number.
struct Declaration {
    ElementType type = ElementType::F32;
    std::vector<uint64_t> extents;  // outermost first; empty where one is not known
};
std::optional<Declaration> declaration(std::string_view source, std::string_view keyword,
                                       std::string_view name);

// Index into memory.buffers of a global array.
size_t buffer_of(const std::vector<Array>& arrays, size_t array);

}  // namespace tilescope::kernels
