// From FILE.cu to a program that runs without NVIDIA's software, with clang alone:
//
//   FILE.cu  --device pass-->  FILE.ptx  --embedded by the host pass-->  FILE.o  --+
//   other .cu and .cpp files                                                  .o  --+--link-->  program
//   libtilescope_cudart.so, in place of NVIDIA's runtime  --------------------------+
//
// clang finds our headers (kernels/cudart/include), which are part of this program and unpacked once into the
// cache. The PTX is embedded as text that ends with a zero byte. nvcc may make the PTX in clang's place, with
// its own headers; the host pass stays clang's.
//
// Source: clang, "Compiling CUDA with clang"; LLVM, "User Guide for NVPTX Back-end".
#pragma once

#include <atomic>
#include <filesystem>
#include <string>

#include "core/base/clang.h"
#include "core/base/result.h"

namespace tilescope::program {

struct CompileOptions {
    std::string flags;     // as a shell takes them apart (flags.h); may name further files
    std::string own_main;  // a file with the main that is the program's; one in its source becomes a function
    bool nvcc = false;     // nvcc makes the PTX, not clang
    const std::atomic<bool>* stop = nullptr;
};

struct Built {
    std::string path;      // of the program
    std::string compiler;  // "clang version 19.1.7", "nvcc 13.0 with clang version 19.1.7"
    std::string said;      // the compiler's warnings
    bool cached = false;   // it was built before
};

// A failure of the compiler: what it said stands as it is, with the sentence behind it in Error.
struct Complaint {
    std::string said;  // lines of the compiler or linker; "" where it did not come to that
};

// A file with this text in the cache, under a name made of it. Error: it cannot be written.
Result<std::string> kept_source(const std::string& text);

// PTX of the device code of a .cu file. Error: one sentence; complaint: may be null.
Result<std::string> compile_device(const std::filesystem::path& source, const CompileOptions& options,
                                   Complaint* complaint = nullptr);

// The program, from the cache where nothing that it is made of has changed.
Result<Built> build(const std::filesystem::path& source, const CompileOptions& options,
                    Complaint* complaint = nullptr);

// nvcc of PATH, of /usr/local/cuda, or what TILESCOPE_NVCC names; version: "nvcc 13.0". Error: there is none.
Result<Compiler> find_nvcc();

// A library of ours: what the environment's variable names, or beside this program, where both are installed
// (cmake/package.cmake), or in ../lib of it. what_for: in the Error, "which programs are linked with".
Result<std::string> find_library(const std::string& name, const char* variable, const std::string& what_for);

// The library that takes the place of NVIDIA's runtime. TILESCOPE_CUDART names another one.
Result<std::string> find_runtime();

}  // namespace tilescope::program
