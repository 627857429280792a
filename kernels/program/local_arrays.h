// Arrays of a thread's own. nvcc unrolls the loops that walk a small one, and keeps it in registers; here loops stay
// loops, so it would lie in local memory and its accesses would be recorded, which are none on a GPU. So the loops of
// such a kernel are unrolled too, where that takes its arrays out of local memory.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace tilescope::program {

// Whether a function of the IR has an array, or a struct that holds one, as a variable.
bool has_local_arrays(std::string_view ir);

// Bytes of local memory of each kernel of the PTX.
std::map<std::string, uint64_t> local_bytes(std::string_view ptx);

// The IR with the loops of kernels marked to be kept: of those of `kernels` for which `kept` says so.
std::string with_loops_kept(std::string_view ir, const std::map<std::string, uint64_t>& kernels,
                            const std::function<bool(const std::string& kernel)>& kept);

}  // namespace tilescope::program
