// What a kernel's parameters are: names, types, and what the kernel does with what they point to. PTX keeps
// numbers and widths alone, so three places are asked, each for what those before it leave open:
//
//   the mangled name   _Z6vecAddPKfS0_Pfi   types, of every kernel that is not extern "C"
//   the source         __global__ void vecAdd(const float *a, …)   names; types
//   the PTX            which loads and stores an address goes to that a parameter flows into
//
// Source: Itanium C++ ABI, 5.1 "External Names (a.k.a. Mangling)".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/element.h"
#include "core/ptx/ast.h"

namespace tilescope::kernels {

struct KernelParameter {
    std::string name;  // as the source declares it; "arg1", counted from 1, where it does not
    bool pointer = false;
    // Type of what it points to, or of its value; float4 is four of F32. Bits of the size that the kernel
    // loads and stores where it points to structs; bits of its own size for a struct passed by value.
    ElementType type = ElementType::B32;
    uint64_t bytes = 0;                  // size of the parameter itself: 8 for a pointer
    bool reads = false, writes = false;  // whether the kernel reads and writes through a pointer
};

// In the order of the kernel's parameters. The source may be empty.
std::vector<KernelParameter> parameters_of(const ptx::Module& module, const ptx::Kernel& kernel,
                                           std::string_view source);

// By parameter what it points to, as the mangled name or the source has it without const, "Pair<int>"; "" where it
// is no pointer, or one to pointers, and where nobody says.
std::vector<std::string> types_pointed_to(std::string_view entry, size_t parameters, std::string_view source);

// "vecAdd" for "_Z6vecAddPKfS0_Pfi", without a template's arguments; a name that is not mangled as it is.
std::string plain_name(std::string_view entry);

}  // namespace tilescope::kernels
