#include "core/simt/memory.h"

namespace tilescope::simt {

std::vector<uint64_t> place_buffers(const std::vector<uint64_t>& sizes) {
    constexpr uint64_t kFirst = 0x7F00'0000'0000, kAlignment = 256, kGap = 4096;
    std::vector<uint64_t> bases;
    uint64_t at = kFirst;
    for (const uint64_t size : sizes) {
        bases.push_back(at);
        at = (at + size + kGap + kAlignment - 1) / kAlignment * kAlignment;
    }
    return bases;
}

}  // namespace tilescope::simt
