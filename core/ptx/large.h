// Modules of many kernels, of which one is wanted.
//
// The PTX of a library may hold hundreds of kernels, more than a recording can hold and the limits of a module
// allow (parser.h). What is wanted is one of them and what it calls. So the others are taken out of the text, by
// nothing but its braces, before it is read:
//
//   .visible .entry one(...) { ... }             .visible .entry one(...) { ... }
//   .visible .entry two(...) { ... }    -->
//
// Where the text has few lines, those of the others stay as empty ones: messages then name lines of the file.
//
// Source: PTX ISA, "Kernel and Function Directives: .entry"; "Syntax: Comments".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/ptx/ast.h"

namespace tilescope::ptx {

// Whether a text has several kernels and is so long that none is read but the one that is wanted.
bool is_large(std::string_view text);

// The kernels of a text, in its order, by its braces alone.
std::vector<std::string> kernel_names(std::string_view text);

// A module whose kernels have names, parameters and directives, and empty bodies.
Result<Module> parse_heads(std::string_view text, std::string_view name);

// As parse(), for one kernel: the others are left out where the text is large, or where this one can be read only
// without them. `text` becomes the text that was read.
Result<Module> parse_for(std::string& text, std::string_view name, std::string_view kernel);

}  // namespace tilescope::ptx
