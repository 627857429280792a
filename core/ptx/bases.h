// Which parameters and variables an address is made from: "in" for the address of in[i - 1]. An address that lies
// outside of all arrays is one of the array that it was made from, however near it comes to another.
#pragma once

#include <cstdint>
#include <vector>

#include "core/ptx/ast.h"
#include "core/ptx/sites.h"

namespace tilescope::ptx {

struct AddressBase {
    int32_t symbol = -1;  // index into Kernel::symbols
    int64_t offset = 0;   // of a parameter: bytes from its beginning to the pointer
    bool operator==(const AddressBase&) const = default;
};

// By site; nothing where an address comes from elsewhere, as from memory. What is chosen at run time between two, and
// what is added of two, has both.
std::vector<std::vector<AddressBase>> address_bases(const Kernel& kernel, const std::vector<Site>& sites);

}  // namespace tilescope::ptx
