// A recording, opened: a trace with what is worked out of it once and asked by everything else.
//
//   trace     what was recorded; its PTX is parsed (Trace::module)
//   rule      where phases begin
//   product   the launch read as P = M N, where it is one
//   notation  how elements, threads and phases are written
//
// Sums, hazards, levels, tables, exports and screens take a Recording; who only needs steps takes its trace.
#pragma once

#include <memory>
#include <optional>

#include "core/recording/phases.h"
#include "core/recording/product.h"

namespace tilescope::analysis {

struct Recording {
    std::shared_ptr<const trace::Trace> trace;
    PhaseRule rule;
    std::optional<Product> product;
    Notation notation{};
};

// An Error where the PTX is not that of the recording.
Result<Recording> opened(std::shared_ptr<const trace::Trace> trace);
inline Result<Recording> opened(trace::Trace trace) {
    return opened(std::make_shared<const trace::Trace>(std::move(trace)));
}

inline PhaseMap phases_of_block(const Recording& recording, uint32_t block) {
    return phases_of_block(*recording.trace, recording.rule, block);
}

// "tiled T=16" for a product with a T, else the kernel's name; "64x64x64", "grid 4 x 4, block 16 x 16".
std::string kernel_name(const Recording& recording);
std::string size_name(const Recording& recording);
// "64x64x64 T=16" for a product, "64x64x64" without a T, "grid 4 x 4, block 16 x 16" for any other launch.
std::string launch_text(const Recording& recording);
// "tiled 64x64x64 T=16"
std::string title_of(const Recording& recording);
// What a file of it is called: "tiled-64x64x64-t16" or "register_tile-64x64x64" of a product, the kernel's
// name of any other launch; letters, digits, '_' and '-' alone.
std::string stem_of(const Recording& recording);

}  // namespace tilescope::analysis
