// A file without a main whose host function launches the kernels, as LeetGPU and Tensara ask for:
//
//   extern "C" void solve(const float* A, const float* B, float* C, int N) { add<<<…>>>(A, B, C, N); }
//
// A main is made for it. It takes the arguments as a description gives them (kernels/alone/description.h), so
// that one program serves all calls of the function:
//
//   solve.cu  ---+
//                +--->  program  'float[1024]:random' 'float[1024]:random' 'float[1024]:zeros' 1024
//   main.cpp  ---+      each argument made by the runtime (kernels/cudart/call.cpp)
//
// Pointers are managed memory: mostly such a function takes memory of the device, but some take the host's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/element.h"
#include "core/base/result.h"
#include "kernels/alone/description.h"
#include "kernels/run/source_text.h"

namespace tilescope::kernels {

struct CallParameter {
    std::string name;  // "arg1", counted from 1, where the source gives none
    bool pointer = false;
    bool constant = false;  // a pointer to const
    ElementType type{};     // type of its elements or its value; bytes where nobody knows what it points to
    std::string written;    // its type in the source, of a pointer without its *: "const float"
};

struct Call {
    std::string function;
    bool c_linkage = false;
    std::vector<CallParameter> parameters;
};

// The host function of `source` that is to be called: the one of that name; where the name is "", solve or
// solution, or the only one that launches a kernel. Nothing where there is none. Where functions share the
// name, the first one that launches.
std::optional<FunctionText> function_to_call(std::string_view source, const std::string& name);

// Error: a parameter that no description can give: a pointer to pointers, a struct by value, a reference; an
// object that it returns.
Result<Call> call_of(std::string_view source, const FunctionText& function);

// The text of the main, C++.
std::string main_for(const Call& call);

// The words that the program is given for a whole description.
std::vector<std::string> words_for(const Description& whole);

// "tilescope record solve.cu --call 'solve(A=float[1024]:random, N=1024)'"
std::string call_command(const std::string& file, const Description& whole);

}  // namespace tilescope::kernels
