// PTX of the kernels of a .cu file: clang's in two steps, or nvcc's.
//
//   x.cu  --clang-->  IR, not optimised  --copies of whole structs-->  IR  --clang -O3-->  PTX, and the members of
//                                                                     structs in comments (struct_layouts.h)
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "kernels/program/tools.h"

namespace tilescope::program {

inline constexpr uint64_t kLargestText = uint64_t{256} << 20;  // bytes of what the compiler writes

// Words by which the compiler reads a source with its launches' brackets in one piece, at its own place; none
// where it needs no mending. The files of it begin with `stem`.
Result<std::vector<std::string>> overlay_of(const std::filesystem::path& source,
                                            const std::filesystem::path& stem);

// PTX of the kernels of a .cu file, whose other files begin with `stem`. overlay: words of overlay_of().
Result<std::string> device_ptx(const Tools& tools, const std::filesystem::path& source,
                               const std::string& stem, const std::vector<std::string>& overlay,
                               const CompileOptions& options, std::string& said);

}  // namespace tilescope::program
