// Walks the steps of a recording in order, each with its phase and its cost, for what writes them out.
//
// Phases are found step by step (analysis::PhaseWalk), so that a walk takes no memory for the steps.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/analysis/cost.h"
#include "core/base/stop.h"
#include "core/recording/recording.h"
#include "core/trace/trace.h"

namespace tilescope::report {

// What is exported: steps [first, end) of the recording, from 0, and of them all or one block's.
struct Selected {
    uint64_t first = 0, end = UINT64_MAX;
    int64_t block = -1;  // index into Trace::blocks, -1 for all
};
uint64_t steps_in(const trace::Trace& trace, const Selected& selected);

// Takes text piece by piece; false ends the export (a full disk, a person who stops it).
using Take = std::function<bool(std::string_view)>;

// How far an export is, in steps; may be watched from another thread.
struct ExportProgress {
    std::atomic<uint64_t>* done = nullptr;
    Stop stop = {};
    void add(uint64_t steps) const {
        if (done) done->fetch_add(steps, std::memory_order_relaxed);
    }
};

struct StepRow {
    uint32_t block = 0;  // index into Trace::blocks
    uint64_t step = 0;   // of the recording, from 0
    uint32_t phase = 0;  // analysis::kAfter behind the loop
    const ptx::Site* site = nullptr;
    const trace::Form* form = nullptr;
    const analysis::Cost* cost = nullptr;
    bool barrier() const { return site->kind == ptx::SiteKind::Barrier; }
};

// visit(row) for every selected step, in order, until it says false or is stopped; false then.
bool each_step(const analysis::Recording& recording, const Selected& selected, const ExportProgress& progress,
               const std::function<bool(const StepRow&)>& visit);

// The name of a form's array; "" for none.
std::string_view array_of(const trace::Trace& trace, const trace::Form& form);
// "3", or "after" behind the loop.
std::string phase_text(uint32_t phase);

// The linear number of the element at a byte offset; none where the offset is not that of one.
std::optional<uint64_t> element_at(const trace::Trace& trace, uint8_t array, uint64_t offset);

// Byte offset of the first active lane in its array (or address, where it has none).
uint64_t first_offset(const trace::Trace& trace, const StepRow& row);

// The same as a global virtual address, or an offset in the block's shared memory.
uint64_t first_address(const trace::Trace& trace, const StepRow& row);

}  // namespace tilescope::report
