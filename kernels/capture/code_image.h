// Where the PTX of a kernel is: what a module or a library was loaded from.
//
//   the program loads                      PTX
//   PTX (NVRTC, CuPy)                      that text
//   a fat binary (nvcc)                    its PTX entries, unpacked when one is asked for
//   a cubin, byte for byte in a cache      the .ptx beside that file (ptx_caches.h)
//   any other cubin                        none
//
// By the bytes and not by names: kernels of one name may be compiled many times.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "kernels/capture/fat_binary.h"
#include "kernels/capture/ptx_caches.h"

namespace tilescope::capture {

struct CodeImage {
    std::string where;    // "in the fat binary of train"; empty where there is no PTX
    std::string without;  // why there is none
    std::string text;     // PTX, where it is known at once; of linked code several, parted by zeros
    std::vector<FatEntry> entries;
    std::shared_ptr<const std::vector<std::byte>>
        kept;  // what the entries lie in, if not in a library of the program
};

// What is loaded from memory, or from a file; the memory may change afterwards.
CodeImage image_at(const void* image, PtxCaches& caches);
CodeImage image_of_file(const std::string& path, PtxCaches& caches);

// The PTX that holds that kernel, for a device of that capability (90) or an older one. Error: why there is none.
// made_for: the architecture that its fat binary names; 0 where none does.
Result<std::string> ptx_of(const CodeImage& image, const std::string& entry, uint32_t capability,
                           uint32_t& made_for);

// Whether the image has PTX for that device with that kernel.
bool has_kernel(const CodeImage& image, const std::string& entry, uint32_t capability);

// Whether PTX has a kernel of that name.
bool has_entry(const std::string& ptx, const std::string& entry);

}  // namespace tilescope::capture
