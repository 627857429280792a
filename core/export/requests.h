// A recording step by step, as CSV, JSON and Chrome trace events: all steps in order, with phase and cost.
//
// Phases are found step by step (analysis::PhaseWalk), so that a walk takes no memory for the steps.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

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
// About how many bytes their export takes, where each step takes so many and each lane of one so many more.
struct ExportBytes {
    uint64_t step = 0, lane = 0;
    bool names = false;  // each row of them, of a lane or else of a step, has the name of its array
};
uint64_t bytes_about(const trace::Trace& trace, const Selected& selected, const ExportBytes& of);

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

// The formats; the head of each file describes its own. Each is false where `take` ended it.
bool write_csv(const analysis::Recording& recording, const Selected& selected, bool lanes, const Take& take,
               ExportProgress progress = {});
bool write_trace_json(const analysis::Recording& recording, const Selected& selected, bool lanes,
                      const Take& take, ExportProgress progress = {});
// Events of selected steps only, each the same as in the export of all; counters count from the block's first
// step on, and are sampled where there are very many steps.
bool write_perfetto(const analysis::Recording& recording, const Selected& selected, const Take& take,
                    ExportProgress progress = {});
inline constexpr uint64_t kMostCounterSamples = 100'000;

// --- what they share

struct StepRow {
    uint32_t block = 0;  // index into Trace::blocks
    uint64_t step = 0;   // of the recording, from 0
    uint32_t phase = 0;  // analysis::kAfter behind the loop
    const ptx::Site* site = nullptr;
    const trace::Form* form = nullptr;
    const analysis::Cost* cost = nullptr;
    bool memory() const { return ptx::asks_memory(site->kind); }
    bool exchange() const { return site->kind == ptx::SiteKind::Exchange; }
};

// visit(row) for every selected step, in order, until it says false or is stopped; false then.
bool each_step(const analysis::Recording& recording, const Selected& selected, const ExportProgress& progress,
               const std::function<bool(const StepRow&)>& visit);

// The name of a form's array; "" for none.
std::string_view array_of(const trace::Trace& trace, const trace::Form& form);
// "3", or "after" behind the loop.
std::string phase_text(uint32_t phase);
// Whether its steps have clocks.
bool timed(const trace::Trace& trace);

// What a lane of an exchange gives or gets: of a shuffle the lane that it reads, "own" where that lies outside its
// segment; of a vote 1 or 0; of a match or a reduction the lowest lane of those that are together. Of a whole
// step that of each active lane, lowest first, with blanks between; of a vote the mask of those that vote for.
std::string exchanged_by(const trace::Trace& trace, const trace::Access& exchange, uint32_t lane);
std::string exchanged(const trace::Trace& trace, const trace::Access& exchange);

// What a request costs, by name: of global and local memory its sectors, of shared memory its wavefronts, and
// the fewest that its bytes need; of atomics and constant memory its addresses, and the most lanes at one.
inline constexpr const char* kCostNames[] = {"sectors",          "least_sectors", "wavefronts",
                                             "least_wavefronts", "addresses",     "turns"};
using CostsByName = std::array<std::optional<uint64_t>, std::size(kCostNames)>;
CostsByName costs_by_name(const trace::Trace& trace, const trace::Form& form, const analysis::Cost& cost);

// The linear number of the element at a byte offset; none where the offset is not that of one.
std::optional<uint64_t> element_at(const trace::Trace& trace, uint8_t array, uint64_t offset);

// Byte offset of the first active lane in its array (or address, where it has none).
uint64_t first_offset(const trace::Trace& trace, const StepRow& row);

// The same as a global virtual address, or an offset in the block's shared memory.
uint64_t first_address(const trace::Trace& trace, const StepRow& row);

// Text on its way out: gathered to pieces of 64 KiB, so that the file is written in few large calls and no
// export holds more of itself than that.
class Pieces {
public:
    explicit Pieces(const Take& take) : take_(take) {}

    template <class... Values>
    void add(fmt::format_string<Values...> format, Values&&... values) {
        fmt::format_to(std::back_inserter(buffer_), format, std::forward<Values>(values)...);
    }
    void add_text(std::string_view text) { buffer_.append(text.data(), text.data() + text.size()); }

    // Passes on what has gathered, once it is a piece; false once the taker has had enough.
    bool good() { return buffer_.size() < kPiece || flush(); }
    bool flush() {
        if (taking_ && buffer_.size() > 0) taking_ = take_({buffer_.data(), buffer_.size()});
        buffer_.clear();
        return taking_;
    }

private:
    static constexpr size_t kPiece = 64 * 1024;
    const Take& take_;
    fmt::memory_buffer buffer_;
    bool taking_ = true;
};

// ,"sectors":4,"least_sectors":4
void add_costs(Pieces& out, const trace::Trace& trace, const trace::Form& form, const analysis::Cost& cost);

}  // namespace tilescope::report
