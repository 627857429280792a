// The lecture's table: per thread and phase, what it loaded, to where, and what it multiplied;
// derived from a replayed block, not from knowledge of the kernel:
//
//   a load of a global array       "M[0,1]"
//   the store of its very value    "M[0,1] -> Mds[0,1]"
//   the store of a constant        "0 -> Mds[1,1]"
//   a product                      a term, named by the elements that its factors were loaded from, in the
//                                  phase of those loads; factors and loads stand in the order of the arrays
//   the sum it went into           "P[0,1] += ...", by the element that the sum was stored to in the end;
//                                  "(no element) += ..." for a thread that stores none, as at an edge
//   a copy in bulk                 "M[0,0] to M[127,63] -> Mds[0,0] on", in the row of the thread that asks for it
//   products on tensor cores       "4 products of matrices", of the thread's warp with others: which factors go into which
//                                  sum of whose registers is the form of the instruction's
//   a store to a global array      "c[5] = 3.5", for launches that are no product
//
// phase_work() has the same as data, each with the step at which it happened, so that a table can fill while
// the block is walked through; phase_table() is it in words.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/base/words.h"
#include "core/playback/replay.h"
#include "core/recording/recording.h"

namespace tilescope::playback {

// The threads and phases that are asked for, half open.
struct TableWindow {
    uint32_t first_thread = 0, end_thread = UINT32_MAX;
    uint32_t first_phase = 0, end_phase = UINT32_MAX;
    bool has(uint32_t thread, uint32_t phase) const {
        return thread >= first_thread && thread < end_thread && phase >= first_phase && phase < end_phase;
    }
    bool operator==(const TableWindow&) const = default;
};

// What a thread loaded in a phase, or stored to shared memory without having loaded it there. Steps are of
// the block, kNever for none.
struct LoadedInPhase {
    uint32_t thread = 0, phase = 0;
    Element from;  // where it came from; no array: a constant (a zero fill), or a computed value (`computed`)
    bool computed = false;  // neither loaded nor a constant
    Value value;
    uint32_t load_step = kNever;
    struct Stored {
        Element cell;
        uint32_t step = 0;
    };
    std::vector<Stored> to;  // shared cells that took the value
    // Of a copy in bulk: how many elements, in the order of its rows, from the one above up to that one; where each goes, a
    // swizzle may say.
    uint32_t elements = 1;
    Element last_from;
};

// The products of one thread in one phase that went into one sum, in the order in which they were added.
struct SummedInPhase {
    uint32_t thread = 0, phase = 0;
    simt::Origin chain = 0;
    std::optional<Element> target;  // element that the sum is stored to in the end
    struct Addend {
        Factor a, b;              // in the order of the arrays; of no array: a constant or computed value
        Value sum;                // the sum after this product
        uint32_t after_step = 0;  // it was added right after this step
    };
    std::vector<Addend> terms;
};

struct StoredInPhase {
    uint32_t thread = 0, phase = 0, step = 0;
    Element to;
    Value value;
};

// A product of matrices that the thread takes part in (mma, wmma, wgmma).
struct MatrixProductInPhase {
    uint32_t thread = 0, phase = 0, step = 0;
};

struct PhaseWork {
    std::vector<LoadedInPhase> loads;  // of one thread and phase in the order of the arrays that they went to
    std::vector<SummedInPhase> sums;   // in the order of their first products
    std::vector<StoredInPhase> stores;           // to global arrays, in the order of the elements
    std::vector<MatrixProductInPhase> matrices;  // by step
};

// Looks at every step, store and product of the block once.
PhaseWork phase_work(const trace::Trace& trace, const BlockReplay& replay, const analysis::PhaseMap& phases,
                     const TableWindow& window = {});

struct TableCell {
    std::vector<std::string> loads;  // "M[0,1] -> Mds[0,1]"; untiled "M[0,1]"; zero fill "0 -> Mds[1,1]"
    std::string multiplies;          // "P[0,1] += Mds[0,0]*Nds[0,1] + Mds[0,1]*Nds[1,1]", "" for none
};

struct PhaseTable {
    uint32_t block_x = 0, block_y = 0, block_z = 0;
    Dim3 grid;
    uint32_t phases = 0;
    bool product = true;  // else a cell's second half says what is stored, and is headed "computes"
    Notation notation;
    struct ThreadRow {
        uint32_t x = 0, y = 0, z = 0;  // of the thread
        std::string thread;            // "[y,x]"
        std::vector<TableCell> phase;  // one per phase
    };
    std::vector<ThreadRow> rows;  // y-major
};

// What a table of so many phases takes at least.
uint64_t table_bytes(const trace::Trace& trace, const analysis::PhaseMap& phases);

// In the recording's notation.
PhaseTable phase_table(const analysis::Recording& recording, const BlockReplay& replay,
                       const analysis::PhaseMap& phases);

inline const char* heading_of(const PhaseTable& table) { return table.product ? "multiplies" : "computes"; }

// Text: a section per phase, a line per thread, long cells broken over several lines (kTextWidth columns).
// Csv: RFC 4180, a line per thread and phase, loads separated by "; ".
// Markdown: a line per thread, two columns per phase.
enum class TableFormat { Text, Csv, Markdown };
inline constexpr size_t kTextWidth = 120;
std::string print(const PhaseTable& table, TableFormat format);

}  // namespace tilescope::playback
