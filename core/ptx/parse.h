// Reads PTX text.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/launch.h"
#include "core/base/result.h"
#include "core/ptx/ast.h"

namespace tilescope::ptx {

inline constexpr size_t kMostText = size_t{64} << 20;  // bytes of PTX that are read

// Parses a whole module. `name` is what messages call it (a file name). A kernel that has what the grammar or
// the instruction table does not know is left out, with a sentence that names instruction, file and line:
//   "tiled.ptx:57: instruction 'tex.2d.v4.f32.s32' is not known to Tilescope; ..."
// Where that leaves none, or the text outside the kernels is at fault, the sentence is the error. Functions
// stand in the kernels that call them, inlined (functions.cpp). Never crashes or loops on any text.
Result<Module> parse(std::string_view text, std::string_view name);

// Prints a module as PTX text that does what the text does that it was read from; where no function is
// called, it assembles to the same machine code.
std::string print(const Module& module);

// One instruction as text, "ld.global.f32 %f1, [%rd4+8];" without indentation.
std::string print(const Kernel& kernel, const Instruction& instruction);
std::string print(const Kernel& kernel, const Operand& operand);

// What a module's variable holds before any launch, where address_of gives the addresses of others that its
// initial value names (Module::variables). Addresses in .const memory are counted from its start.
std::vector<uint8_t> initial_bytes(const Symbol& variable,
                                   const std::function<uint64_t(const Relocation&)>& address_of);

const Kernel* find_kernel(const Module& module, std::string_view name);
// Why a kernel of that name cannot be used; null where it can, or is not there.
const std::string* refusal_of(const Module& module, std::string_view name);

// The numbers of a directive, such as ".maxntid 16, 16", or ".reqnctapercluster 2": 1 for those that are missing; none
// where the kernel lacks the directive.
std::optional<Dim3> size_directive(const Kernel& kernel, std::string_view name);

// The PTX version that a kernel needs for its parameters, copies and matrices, 81 for 8.1; 0 where any does. More than
// 4,352 bytes of parameters came with 8.1 (PTX ISA, "Kernel Function Parameters").
uint32_t version_for(const Kernel& kernel);
// The target, or the first one that has the kernel's cp.async and instructions on matrices, where that is newer.
std::string target_for(const Kernel& kernel, const std::string& target);

}  // namespace tilescope::ptx
