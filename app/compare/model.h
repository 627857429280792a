// Two recordings on one playhead: where the second stands while one walks the first, and what both have cost, so
// far and in their whole runs.
//
//   locked by step     step i of A's block        step i of B's block
//   by phase           the same stretch of k: phase p and how far into it, scaled to B's phases
//   by share           the same share of the whole run, over all blocks in the order recorded
//
//        untiled   |0|1|2|3|4|5|6|7|8|9|...            64 phases, one a trip of the loop over k
//        tiled     |   0   |   1   |   2   | 3 |       4 phases, one a tile
//                          ^ by phase both have seen the same k here
//
// By step and by phase the two stand in blocks that belong together: B's block is the one that computes the
// first element of A's block.
//
// A is the session's own recording. B stands beside it, in the screen's State, with a cursor that follows
// A's. Recordings are opened by a job when a pair is chosen, or on the spot for a picture.
//
//   choose --> Pair: A, B                                  A becomes the session's own recording
//   cursor of A, lock --> cursor of B, index of B's block   every frame, microseconds
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/draw/sheet.h"
#include "app/look/loads_so_far.h"
#include "app/look/tally.h"
#include "app/session/shown.h"
#include "core/playback/cursor.h"

namespace tilescope::compare {

using look::BlockIndex, look::CellRect, look::Count, look::Run, look::SplitSums, look::StepKind, look::Tally;
using look::speed_text, look::tally_of;

enum class Lock : uint8_t { Step, Phase, Share };
inline constexpr const char* kLockNames[] = {"step", "phase", "share"};  // in the order of Lock
std::optional<Lock> lock_of(std::string_view name);

// The block of B in which it stands while A's cursor is at `at`; 0 where B has none that belongs to it.
uint32_t partner_block(Lock lock, const Run& a, playback::Cursor at, const Run& b);

// B's step in that block. a_index, b_index: of A's block at `at` and of partner_block.
uint32_t partner_step(Lock lock, const Run& a, const BlockIndex& a_index, playback::Cursor at, const Run& b,
                      const BlockIndex& b_index);

// The other way round: the first step of A's block, A's cursor being in it, at which B has come to `step`.
uint32_t leading_step(Lock lock, const Run& a, const BlockIndex& a_index, const Run& b,
                      const BlockIndex& b_index, uint32_t step);

// Rows that are worked out of others: of analysis::Sums, efficiency() of loads and idle_lanes() of all requests.
inline constexpr std::string_view kEfficiency = "load efficiency", kIdle = "idle lanes",
                                  kIdleShare = "idle share";

struct CounterRow {
    std::string what;  // "load sectors"
    StepKind kind = StepKind::GlobalLoad;
    bool bytes = false;
    bool least = false;  // the least that the requests could need
    bool merit = false;  // fewer is better: a cost of the same work, both results right
    bool share = false;  // it is shown as a share of the counts below
    Count so_far, whole;
    Count so_far_of{}, whole_of{};
};
// "16,384"; of a share "12.5 %", and "-" of nothing.
std::string counter_text(const CounterRow& row, uint64_t count, uint64_t of);
struct Counters {
    bool of_run = false;           // so_far counts the blocks before as well; else this block alone
    bool products = false;         // both compute the same product: as much work, whatever the kernels
    std::vector<CounterRow> rows;  // those that either recording has
};

// Sums of the steps up to and including the two cursors: of the two blocks, or by share of the runs.
struct Costs {
    SplitSums a, b;
};
Costs costs_so_far(Lock lock, const Run& a, const BlockIndex& a_index, uint32_t a_step, const Run& b,
                   const BlockIndex& b_index, uint32_t b_step);

Counters counters(Lock lock, const Run& a, const BlockIndex& a_index, uint32_t a_step, const Run& b,
                  const BlockIndex& b_index, uint32_t b_step);

std::string ratio_text(const Count& count);  // b / a: "0.0625", "4.25", "1"; "" where a is 0

// The one sentence that the comparison is about: who does better in the whole run, or so far, or whose result is
// wrong. Of different work nobody is said to do better. so_far: null for the whole run.
std::string headline(const Run& a, const Run& b, const Costs* so_far = nullptr);
// "" or what makes the two hard to compare: other sizes, a recording that is not whole.
std::string caveat(const Run& a, const Run& b);

// How often the elements of an input were loaded, those never loaded aside; loads: of all or a part of them.
//   {"64", "loads each", "= n"}       {"9", "loads each", "= n/T rounded up"}
//   {"4 to 8", "loads each", ""}      {"", "never loaded", ""}
// Of a window of blocks: {"64", "loads each", "= 4 blocks \u00d7 T"}.
struct LoadsLabel {
    std::string count, unit, why;
    std::string text() const {  // "64 loads each = n"
        return (count.empty() ? "" : count + " ") + unit + (why.empty() ? "" : " " + why);
    }
};
// Of a part of the run, of which it is not said why.
LoadsLabel loads_label(const look::LoadedRange& range);
// product: of the recording, whose widths say why.
LoadsLabel loads_label(const trace::Trace& trace, const std::optional<analysis::Product>& product,
                       size_t array, const std::vector<uint32_t>& loads);

// Loads of an array as far as they are kept: of all of its elements, or of a part of its sheet, row-major.
struct Loads {
    const std::vector<uint32_t>& counts;
    CellRect part;
    bool whole = true;
    uint32_t at(const draw::Sheet& sheet, uint32_t row, uint32_t col) const;
};
Loads loads_of(const session::Totals& totals, const draw::Sheet& sheet, size_t array);

// Their label, and the bounding box of elements that were loaded. Looks at all elements: once a recording.
struct LoadsSummary {
    CellRect box;
    LoadsLabel label;
};
LoadsSummary loads_summary(const trace::Trace& trace, const std::optional<analysis::Product>& product,
                           size_t array, const Loads& loads);

// The part of a matrix that is shown: all of it where most of it was touched or it is small; else a part of
// `touched`, cut into squares as wide as its shorter side, the one in which `tile` begins.
CellRect part_shown(uint32_t rows, uint32_t cols, const CellRect& touched, const CellRect& tile);

}  // namespace tilescope::compare
