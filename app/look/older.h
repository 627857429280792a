// What a G80 (compute capability 1.0) and a GT200 (1.3) would have made of a request, by the rules of
// core/analysis/coalescing_rules.h, which names the documents. A model: it was not measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/look/block_index.h"

namespace tilescope::look {

// What an older GPU would have made of a request to global memory: transactions, one after
// the other, each of a half warp.
struct OlderView {
    const char* gpu = nullptr;     // "G80"
    const char* rule = nullptr;    // "half warps, in order"
    const char* source = nullptr;  // document and section
    struct OlderTransaction {
        int64_t offset = 0;  // bytes from the start of the array
        uint32_t bytes = 0, used = 0;
        uint32_t lanes = 0;  // a mask of those that it serves
    };
    std::vector<OlderTransaction> transactions;
    std::string verdict;  // "32 transactions of 32 bytes: 1,024 bytes moved for 128 needed"
    bool good = true;     // no more transactions than half warps need at least
};

enum class OlderGpu : uint8_t { G80, Gt200 };
const char* name_of(OlderGpu gpu);

// step: of the block. Nothing where it neither loads from nor stores to global memory.
std::optional<OlderView> older_view(const trace::Trace& trace, const BlockIndex& index, uint32_t step,
                                    OlderGpu gpu);

// "G80: 32 transactions of 32 bytes: 1,024 bytes moved for 64 needed; GT200: ..."; "" for any other step.
std::string older_gpus_text(const trace::Trace& trace, const BlockIndex& index, uint32_t step);

}  // namespace tilescope::look
