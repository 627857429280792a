// Copies of whole structs in LLVM's intermediate representation (IR), before it is optimised: clang makes a copy of a
// float4 a call of llvm.memcpy, which the backend for PTX splits into accesses of 8 bytes; nvcc makes it one access of
// 16 bytes, by a vector. Here such a call becomes a load and a store of a vector, which are then optimised like any
// other: a member that is changed in between stays in a register.
//
//   call void @llvm.memcpy.p0.p0.i64(ptr align 16 %d, ptr align 16 %s, i64 16, i1 false), !tbaa.struct !5, !dbg !9
//
//   %tilescope.1 = load <4 x float>, ptr %s, align 16, !dbg !9
//   store <4 x float> %tilescope.1, ptr %d, align 16, !dbg !9
//
// Source: LLVM Language Reference, "llvm.memcpy", "tbaa.struct"; PTX ISA, "Vectors", for what lies aligned.
#pragma once

#include <string>
#include <string_view>

namespace tilescope::program {

// The IR of a module, of any clang from 13 on; what cannot be read stays as it is.
std::string with_whole_copies(std::string_view ir);

}  // namespace tilescope::program
