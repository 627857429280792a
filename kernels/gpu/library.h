// A shared library opened at run time by name, so that the program needs nothing of it to start.
//
// A library stays open for as long as the program runs: NVIDIA's libraries start threads and exit handlers
// of their own, which must not lose the code that they run.
#pragma once

#include <string>
#include <vector>

namespace tilescope::gpu {

struct Library {
    void* handle = nullptr;  // null: none of the names could be opened
    std::string name;        // the one that could
    explicit operator bool() const { return handle != nullptr; }
};

// The first of the names that can be opened. A name without a slash is looked for where the system looks
// (LD_LIBRARY_PATH, the linker's cache, /usr/lib ...).
Library open_library(const std::vector<std::string>& names);

// Where the CUDA Toolkit may be: $CUDA_PATH, $CUDA_HOME and /usr/local/cuda.
std::vector<std::string> toolkit_folders();

// Names of one of its libraries, to be given to open_library: "nvrtc" gives libnvrtc.so, libnvrtc.so.13 and
// older, where the system looks, then in those folders.
// numbers: the endings of its file names, newest first.
std::vector<std::string> toolkit_names(const std::string& stem, const std::vector<std::string>& numbers);

// A function of the library, null where it has none of that name.
void* symbol_of(const Library& library, const char* name);

template <class Function>
bool find_symbol(const Library& library, const char* name, Function*& function) {
    function = reinterpret_cast<Function*>(symbol_of(library, name));
    return function != nullptr;
}

}  // namespace tilescope::gpu
