// __cluster_dims__ of kernels that clang compiles: the headers keep it as an annotation of the kernel, which LLVM does not
// bring into PTX.
//
//   IR     @llvm.global.annotations ... { @_Z1kPi, "tilescope.cluster", ..., { 2, 1, 1 } }
//   PTX    .visible .entry _Z1kPi(...)      becomes      .visible .entry _Z1kPi(...)
//          {                                             .explicitcluster
//                                                        .reqnctapercluster 2, 1, 1
//                                                        {
//
// Source: CUDA C++ Programming Guide, "Thread Block Clusters"; PTX ISA, "Cluster Dimension Directives".
#pragma once

#include <string>
#include <string_view>

namespace tilescope::program {

// The IR without annotations where kernels have theirs: LLVM declares what they name a second time.
std::string without_annotations(std::string ir);
// The PTX with the directives of the kernels whose annotations the IR has.
std::string with_clusters(std::string ptx, std::string_view ir);

}  // namespace tilescope::program
