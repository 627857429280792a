// What the GPUs of the lectures would have made of a request: a G80 (compute capability 1.0) and a GT200
// (1.3), by the rules of core/analysis/coalescing_rules.h, which names the documents. A model: it was not
// measured.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/look/block_index.h"

namespace tilescope::look {

using draw::OlderView;

enum class OlderGpu : uint8_t { G80, Gt200 };
const char* name_of(OlderGpu gpu);

// step: of the block. Nothing where it neither loads from nor stores to global memory.
std::optional<OlderView> older_view(const trace::Trace& trace, const BlockIndex& index, uint32_t step,
                                    OlderGpu gpu);

// Both in a line: "G80: 32 transactions of 32 bytes: 1,024 bytes moved for 64 needed; GT200: ...". "" of any
// other step.
std::string older_gpus_text(const trace::Trace& trace, const BlockIndex& index, uint32_t step);

}  // namespace tilescope::look
