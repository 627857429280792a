// Where the program called the runtime: the function of ours that it called, and its source line.
#pragma once

#include <cstdint>
#include <string>

namespace tilescope::cudart {

struct Caller {
    std::string function;  // "cudaMemcpy"; "" where that is not known
    uint32_t line = 0;     // 0 where the program's line tables do not say
    std::string file;      // name of the file without its folder
};

// The line of an instruction of the program; the address is that behind it. function is "". It asks addr2line, once for
// each address, since a program may come to one place in a loop. Under the lock of the Runtime.
Caller place_of(void* address);

// Of the call that is being answered.
Caller caller();

// "cudaMemcpy at line 9", "cudaMemcpy at line 9 of util.h": file is told where it is not the program's source.
std::string name_of(const Caller& caller, const std::string& source);

}  // namespace tilescope::cudart
