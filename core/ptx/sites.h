// The static memory instructions and barriers of a kernel: what a request is recorded against.
#pragma once

#include <cstdint>
#include <vector>

#include "core/base/launch.h"
#include "core/ptx/ast.h"

namespace tilescope::ptx {

enum class SiteKind : uint8_t { Load, Store, Barrier };

// One ld/st of global or shared memory (generic addresses count as global until a run shows
// otherwise) or one block barrier. Parameter, constant and local memory are not sites,
// and for now neither are atom and red: a kernel that has them is refused before it is recorded.
struct Site {
    uint32_t id = 0;           // index into the site table
    uint32_t instruction = 0;  // index into Kernel::instructions
    SiteKind kind = SiteKind::Load;
    Space space = Space::Global;  // meaningless for barriers
    uint32_t bytes = 0;           // bytes a lane touches, all vector elements together; 0 for barriers
    // Of source_file_of(); the nearest line before it where .loc says no other.
    uint32_t line = 0, column = 0;
    uint32_t ptx_line = 0;
};

// The operand of a load or store that says where.
const Operand& address_of(const Instruction& instruction);

// The number of the source file that the kernel itself stands in, by its .loc lines (Module::files); 0 for
// none. Lines of sites are of this file.
uint32_t source_file_of(const Kernel& kernel);

// In the order of the instructions. bar.warp.sync is not a site: it holds no block.
std::vector<Site> sites_of(const Kernel& kernel);

}  // namespace tilescope::ptx
