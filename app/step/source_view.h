// The kernel's text with, beside each line, how often its requests ran: the source panel.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "app/look/block_index.h"

namespace tilescope::step {

using look::BlockIndex;
using look::StepKind;

struct SourceLine {
    uint32_t number = 0;                   // from 1
    std::string_view text;                 // of the trace's source: valid as long as the trace
    bool has_site = false;                 // holds a memory access or barrier
    bool current = false;                  // of the step at the cursor
    uint64_t hits = 0;                     // requests and barrier arrivals of the block so far
    StepKind kind = StepKind::GlobalLoad;  // of its first site
};

struct SourceView {
    std::string name;  // "tiled.cu"
    std::vector<SourceLine> lines;
    int32_t current = -1;  // index into lines
    std::string footnote;  // the PTX line of the site: "tiled.t16.ptx:83  ld.global.f32 %f1, [%rd5];"
};

SourceView source_view(const trace::Trace& trace, const BlockIndex& index, uint32_t step);

}  // namespace tilescope::step
