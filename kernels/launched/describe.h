// A launch as it is found: what whoever makes it knows of it becomes the Launch that every engine takes.
//
//   known                                             becomes
//   a module's PTX, and where its variables lie       constants and variables that the kernel names: arrays
//   the kernel's entry, grid, block, shared bytes     the same
//   the bytes of each argument                        numbers, and structs as they are
//   the memory that is allocated (memory.h)           arrays: a pointer is found by its value, wherever it
//                                                     stands among the arguments, structs' bytes included
//
// Names and types of arguments are those that the mangled name, the source and the PTX tell
// (kernels/run/parameters.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/launch.h"
#include "core/ptx/ast.h"
#include "core/simt/interpreter.h"
#include "kernels/launched/memory.h"
#include "kernels/run/parameters.h"

namespace tilescope::launched {

// A module that a program has loaded.
struct LoadedModule {
    std::string text, name;  // its PTX, and what that is called
    bool parsed = false;
    ptx::Module ptx;
    std::string problem;                    // why it cannot be read; empty where it can
    std::map<std::string, uint64_t> bases;  // addresses of its variables, by name

    // False where it cannot be read, now or earlier. Of a large one the heads of its kernels are read only.
    bool parse();
};

// A kernel of a loaded module.
struct LoadedKernel {
    LoadedModule* module = nullptr;
    std::string entry;  // its name in the PTX
    std::string name;   // as people call it: "transpose" for "_Z9transposePfS_ii"
    std::vector<kernels::KernelParameter> parameters;  // filled in by look_up()
    bool uses_heap = false;                            // it calls malloc or free
    std::shared_ptr<const simt::Program> program;      // made by prepare()
    uint64_t constants_version = 0;                    // version of the constants that `program` has
    std::string problem;                               // why it cannot be run; empty where it can
    uint64_t launches = 0;                             // number of launches that have ended
    std::string source;    // text of the file that it stands in, or of the program's; filled in by look_up()
    std::string own_file;  // path of that file where it is another than the program's source
    // Text and module of the kernel alone, where its module is large or beyond the limits; filled in by look_up().
    std::string own_text;
    std::shared_ptr<const ptx::Module> own_module;

    const ptx::Module& ptx_module() const { return own_module ? *own_module : module->ptx; }
    const std::string& ptx_text() const { return own_module ? own_text : module->text; }

    // Looks it up in its module, which was parsed; null where it cannot be run. program_source: text
    // of its file, which may be empty.
    const ptx::Kernel* look_up(std::string_view program_source);
    // Its program, with constants as they are in a launch of it. False where it cannot be interpreted.
    bool prepare(const Launch& launch, uint64_t constants);
};

// Path and text of the file that the kernel stands in, as the lines of its PTX name it; none where it cannot be read.
std::optional<std::pair<std::string, std::string>> source_file_of(const ptx::Module& module,
                                                                  const ptx::Kernel& code);

// Bytes of the kernel's variables: shared ones per block, local ones per thread, constants.
uint64_t bytes_in(const ptx::Kernel& kernel, ptx::StateSpace space);

// Grid, block and dynamic bytes of shared memory, as they are asked for.
struct LaunchSize {
    Dim3 grid, block;
    uint32_t shared = 0;
    Dim3 cluster;  // blocks of it
};

// arguments: by parameter, as many bytes as it has.
Launch describe(KnownMemory& memory, const LoadedKernel& kernel, const ptx::Kernel& code,
                const LaunchSize& size, const std::vector<std::span<const std::byte>>& arguments);

// Adds the memory as an array, where no array is it yet. False where there are as many as there can be.
bool add_array(Launch& launch, const Allocation& allocation, std::string name,
               ElementType type = ElementType::F32);

}  // namespace tilescope::launched
