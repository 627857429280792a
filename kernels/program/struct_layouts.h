// Which structs the arrays and variables of a program's kernels are made of, as clang lays them out; as comments for
// its PTX (core/ptx/structs.h).
//
//   clang -Xclang -fdump-record-layouts-canonical        IR                            PTX
//            0 | struct P                                @cp = addrspace(4) global     .entry _Z1kP1P(
//            0 |   struct V pos                            [4 x %struct.P]
//            0 |     float x
//            4 |     float y
//            8 |   int id
//              | [sizeof=12, dsize=12, align=4,
#pragma once

#include <string>
#include <string_view>

namespace tilescope::program {

// "" where neither parameters nor variables are of structs. layouts: what clang printed; ir: before LLVM optimises
// it; source: asked for parameters of extern "C" kernels, whose names say no types.
std::string struct_comments(std::string_view layouts, std::string_view ir, std::string_view ptx,
                            std::string_view source);

}  // namespace tilescope::program
