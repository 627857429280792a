// The compiler's flags as a person gives them: one text, taken apart as a POSIX shell takes words apart, but
// by no shell: nothing is expanded, and a word is handed to the compiler as it is.
//
// nvcc's own flags are understood where clang has the same thing under another name, so that the command line
// that a program's README gives can be used.
//
// Source: POSIX.1-2017, Shell Command Language, 2.2 (quoting); NVIDIA CUDA Compiler Driver, "Command Option
// Description".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace tilescope::program {

// Words between blanks and line ends; '...' as it is, "..." with \" \\ \$ \` in it, \ before any character.
// Error: a quote that is not closed, a zero byte.
Result<std::vector<std::string>> split_words(std::string_view text);

struct Flags {
    std::vector<std::string> compile;  // of both passes, device and host
    std::vector<std::string> link;     // libraries and folders of libraries
    std::vector<std::string> files;    // further .cu, .cpp, .cc, .cxx, .c, .o, .a and .so files
    std::string arch = "sm_70";        // the device code's
    std::string standard = "c++17";
    bool warnings = false;  // a -W flag was given: warnings are shown
    bool operator==(const Flags&) const = default;
};

// Error: a flag that asks for something else than a program, as -ptx and -E do, in one sentence. Every flag of nvcc is
// understood, of no effect, or refused.
Result<Flags> flags_of(const std::vector<std::string>& words);

// Whether they name further files, one of which may have the main. False for what cannot be read.
bool names_files(std::string_view text);

}  // namespace tilescope::program
