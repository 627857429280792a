// The parts of hazards.cpp: one block laid out by barrier intervals, and what is found in it.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <vector>

#include "core/hazards/hazards.h"
#include "core/hazards/kernel_facts.h"
#include "core/hazards/warp_order.h"
#include "core/recording/cell_map.h"
#include "core/recording/phases.h"
#include "core/trace/access.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {

inline constexpr uint32_t kNoInterval = 0xFFFF'FFFFu;

// An access of the source: its line, direction and array. Copies that a compiler made of one access share it.
struct SourceAccess {
    uint32_t line = 0;
    bool store = false;
    uint8_t array = trace::kNoArray;
    Space space = Space::Global;
    bool atomic = false;  // an atomic; `store` is set too
    bool later = false;   // a store that lands later (core/trace/access.h); `store` is set too
    bool operator==(const SourceAccess&) const = default;
};

// A cell that some lanes of a form touch, from the cell of the form's first address.
struct ShapeCell {
    int64_t cell = 0;
    uint32_t lanes = 0;
};

// What all blocks of a trace need. Cells are numbered by address / grain, in each space for itself.
class HazardForms {
public:
    explicit HazardForms(const trace::Trace& trace);  // keeps a reference

    struct FormKind {
        uint64_t array_bit = 0;  // of its array
        uint32_t place = 0;
        bool barrier = false, store = false, shared = false;
        bool atomic = false;        // as in SourceAccess
        bool later = false;         // as in SourceAccess
        bool apart = false;         // of local memory, a thread's own, or of constant memory: never at fault
        bool grid_written = false;  // global, of an array that some form stores to
        bool box = false;           // of another shape than some bytes for each lane (trace::AccessView)
    };
    const FormKind& kind(uint32_t form) const { return kinds_[form]; }
    const FormKind& kind_of(uint64_t step) const { return kinds_[trace.key[step] & 0xFF'FFFF]; }
    // Stores first, then by line and array, so that equal findings come out the same.
    const std::vector<SourceAccess>& places() const { return places_; }
    // Cells of a form by cell; the reference holds until the next call.
    const std::vector<ShapeCell>& cells(uint32_t form);
    uint64_t first_cell(uint64_t step) const;
    // visit(cell, lanes) for all cells that some lanes of a step touch; of a box once for each of its pieces.
    template <class Visit>
    void each_cell(uint64_t step, uint32_t mask, const Visit& visit) {
        const uint32_t number = trace.key[step] & 0xFF'FFFF;
        if (kinds_[number].box) return each_cell_of_box(step, mask, visit);
        const uint64_t first = first_cell(step);
        for (const ShapeCell& cell : cells(number))
            if (const uint32_t lanes = cell.lanes & mask)
                visit(first + static_cast<uint64_t>(cell.cell), lanes);
    }
    // Whether stores of two places put one value there by the code, whoever of the two threads is last.
    // stored: array_bit of all stores of their barrier interval.
    bool store_one_value(uint32_t place, uint32_t other, const HazardSide& a, const HazardSide& b,
                         uint64_t stored) const;
    // Array and element of a cell.
    void name(Space space, uint64_t cell, uint8_t& array, uint64_t& element) const;

    const trace::Trace& trace;
    KernelFacts facts;

private:
    template <class Visit>
    void each_cell_of_box(uint64_t step, uint32_t mask, const Visit& visit) {
        const trace::AccessView access(trace, step);
        const uint64_t width = access.array() == trace::kNoArray ? 1 : cell_[access.array()];
        access.for_pieces([&](uint32_t lane, uint64_t address, uint64_t bytes) {
            if (bytes == 0 || !(mask >> lane & 1)) return;
            const uint64_t last = (address + bytes - 1) / grain_;
            for (uint64_t cell = address / grain_; cell <= last; cell += width) visit(cell, 1u << lane);
        });
    }
    void sort_places();
    void find_uniform();
    void find_cells_of_arrays();

    uint64_t grain_ = 4;
    std::vector<FormKind> kinds_;
    std::vector<SourceAccess> places_;
    // By place: what all its stores put there, where that is one value.
    std::vector<std::optional<UniformValue>> uniform_;
    std::vector<uint64_t> cell_ = std::vector<uint64_t>(256, 1);  // array -> numbers that a cell of it takes
    std::vector<int32_t> row_;
    std::vector<std::vector<ShapeCell>> rows_;
    std::vector<ShapeCell> scratch_;
};

// Lanes of a step that lie in one interval.
struct StepPart {
    uint32_t step = 0;  // step of the block
    uint32_t mask = 0;
};

struct BarrierArrival {
    uint32_t step = 0, warp = 0, mask = 0;
};

// Lanes of a store that lands later (a cp.async), and when it may write.
struct LaterPart {
    StepPart part;
    uint32_t from = 0, to = 0;  // barrier intervals: in which the copy is issued; in which its threads wait
    uint32_t visible_from = 0;  // step of the block before which they have waited; kNoInterval for none
};

// The steps of a block by barrier interval, those of one interval in step order.
struct BlockIntervals {
    uint64_t first = 0;  // the block's first step in the recording
    uint32_t block = 0;
    std::vector<StepPart> parts;       // steps of global and shared memory; a copy's store where it arrives
    std::vector<WarpStretches> warps;  // where the kernel has any bar.warp.sync; else empty
    std::vector<LaterPart> copies;     // sorted by `from`
    std::vector<uint32_t> begin;       // interval -> index of its first part; one more at the end
    std::vector<uint64_t> stored;      // interval -> FormKind::array_bit of all its stores
    struct End {
        uint32_t site = kNoSite, thread = kNoInterval, step = 0;
    };
    std::vector<End> ends;  // interval -> the barrier that ends it, as its lowest thread reached it
    std::vector<BarrierArrival> arrivals;  // in step order
    std::vector<uint32_t> passed;          // thread -> barriers that it reached
    std::vector<uint32_t> last_step;       // thread -> its last step of the block, kNoInterval for none
    PhaseMap phases;
    bool cut = false;  // lanes too far apart: some steps lie whole in their first lane's interval
    uint32_t intervals() const { return static_cast<uint32_t>(begin.size()) - 1; }
};
BlockIntervals intervals_of_block(HazardForms& forms, PhaseWalk& walk, uint32_t block);
// Bytes that this takes for each step of the block while it is made.
uint64_t interval_bytes(const trace::Trace& trace);

// What is found in a block, told one by one; in no order within an interval.
struct HazardInstance {
    HazardKind kind{};
    SourceAccess place, other;
    bool same_warp = false;
    HazardExample example;
    Severity severity = Severity::Fault;
};
using HazardSink = std::function<void(const HazardInstance&)>;

// Races as they are to be told: what fences and atomics order is none.
class Chains;
// Makes of a race between a and b what it is: nothing (false), a fault, a remark, or what cannot be told.
// stored: array_bit of all stores of the barrier interval of a block.
bool judge_race(HazardForms& forms, Chains& chains, uint32_t place, uint32_t other, HazardInstance& race,
                uint64_t stored);

// Reused from block to block.
class BlockHazards {
public:
    // most_bytes: memory for cells and accesses. most_found: faults that are told of a block.
    BlockHazards(HazardForms& forms, Chains& chains, uint64_t most_bytes, uint64_t most_found,
                 Stop stop = {});
    // One of these limits was met: some accesses were not looked at, or some faults not told.
    bool full() const { return full_; }
    // Races, uninitialised and stale loads. needed: interval -> whether its last barrier keeps accesses
    // apart.
    void find(const BlockIntervals& block, const HazardSink& sink, std::vector<bool>& needed);

private:
    // Accesses of one interval to one cell at one place. The lowest and the highest thread stand for all:
    // where any two threads (or warps) differ, these two do.
    struct Record {
        uint32_t place = 0;
        int32_t next = -1;
        uint32_t low = 0, high = 0;  // threads
        uint32_t low_step = 0, high_step = 0;
        uint32_t first_step = 0, last_step = 0;
        uint32_t first = 0, last = 0;  // threads of those steps
    };
    // A copy that may write a cell.
    struct Writing {
        uint32_t part = 0, lanes = 0;  // part: index into BlockIntervals::copies
        int32_t next = -1;
    };
    struct HazardCell {
        int32_t writing = -1;
        uint32_t stamp = 0;      // interval that `records` belong to
        int32_t records = -1;    // into records_; while one warp is looked at (find_in_warps), into in_warp_
        uint32_t bad_stamp = 0;  // interval that `bad` belongs to
        int32_t bad = -1;
        uint32_t written = kNoInterval;     // the latest interval that stored to it
        uint32_t first_read = kNoInterval;  // the first interval behind `written` that loaded it
        uint32_t writer = 0, writer_step = 0;
    };
    struct TouchedCell {
        uint64_t cell = 0;
        bool shared = false;
    };
    // A lane's latest access to a cell at a place, in a kernel with bar.warp.sync.
    struct LaneRecord {
        uint32_t place = 0, thread = 0;
        int32_t next = -1;
        WarpStretch stretch;
    };
    // Races of lanes of one warp, by shared or global, cell and places.
    using RacesInWarps = std::map<std::array<uint64_t, 4>, HazardInstance>;
    struct Judged {
        uint32_t form = 0xFFFF'FFFFu, base = 0, epoch = 0, run = 0;
    };

    CellMap<HazardCell>& map(bool shared) { return shared ? shared_ : global_; }
    HazardCell* reach(bool shared, uint64_t number);
    const ptx::Site& site_at(uint64_t step) const {
        return forms_.trace.sites[forms_.trace.form_of(step).site];
    }
    void add_bad(HazardCell& cell, uint64_t number, const HazardForms::FormKind& kind, uint64_t step,
                 uint32_t lanes, const StepPart& part);
    void add(int32_t& head, uint32_t place, uint32_t warp, uint32_t lanes, uint32_t step);
    void enter_stores(const BlockIntervals& b, uint32_t interval);
    void enter_loads(const BlockIntervals& b, uint32_t interval);
    void enter_copies(const BlockIntervals& b, uint32_t interval, std::vector<bool>& needed);
    uint32_t early_lanes(const BlockIntervals& b, uint32_t interval, HazardCell& cell, uint64_t number,
                         uint32_t lanes, const StepPart& load);
    void tell_early(const HazardSink& sink);
    void judge_loads(const BlockIntervals& b, uint32_t interval);
    bool meets(const BlockIntervals& b, uint32_t interval, uint64_t stored, bool loads_only);
    void find_in_warps(const BlockIntervals& b, uint32_t interval, const HazardSink& sink);
    void enter_in_warp(const BlockIntervals& b, uint32_t interval, const TouchedCell& touched,
                       const LaneRecord& access, RacesInWarps& races);
    void tell_races(const BlockIntervals& b, uint32_t interval, bool between_warps, const HazardSink& sink);
    HazardInstance race_of(const BlockIntervals& b, uint32_t interval, const TouchedCell& touched,
                           const Record& p, const Record& q) const;
    void tell_loads(const BlockIntervals& b, uint32_t interval, const HazardSink& sink);
    bool tells();  // whether one more fault may be told
    HazardSide side(const BlockIntervals& b, uint32_t thread, uint32_t step) const;
    template <class Visit>
    void each_cell(const BlockIntervals& b, const StepPart& part, Visit visit);

    bool is_left_over(const BlockIntervals& b, const HazardCell& cell, uint32_t epoch) const;

    HazardForms& forms_;
    Chains& chains_;
    CellMap<HazardCell> shared_, global_;
    std::vector<Record> records_;
    std::vector<TouchedCell> touched_, bad_;
    std::vector<Writing> writings_;
    int32_t free_writing_ = -1;
    size_t next_copy_ = 0;                                     // index into BlockIntervals::copies
    std::map<std::array<uint64_t, 3>, HazardInstance> early_;  // by cell, place of load, place of copy
    std::vector<Judged> judged_;
    std::vector<uint32_t> epoch_;  // array bit -> latest interval + 1 that filled it
    // Of places that fill shared memory: latest interval + 1 in which anyone did; by thread, the same of it.
    struct Filled {
        uint32_t latest = 0;
        std::vector<uint32_t> of_thread;
    };
    std::map<uint32_t, Filled> filled_;
    std::vector<LaneRecord> in_warp_;
    uint32_t stamp_ = 0, run_ = 0;
    uint64_t most_bytes_ = 0, most_found_ = 0, found_ = 0;
    Stop stop_;
    bool full_ = false;
};

// pairs.cpp: pairs of the block's races with a load, in the recording's order; with `value` what was read.
void tell_pairs(const trace::Trace& trace, const BlockIntervals& block,
                std::span<HazardExample* const> examples, const ValueAt& value);

// barriers.cpp: threads that do not come to a barrier. The block must be whole.
void find_divergence(const HazardForms& forms, const BlockIntervals& block, const HazardSink& sink);

// Passages of the barriers of a line.
struct Passages {
    uint64_t judged = 0, all = 0;
};
using PassagesOfLines = std::map<uint32_t, Passages>;
// Barriers that keep nothing apart. needed: as BlockHazards::find leaves it.
void find_redundant(const HazardForms& forms, const PhaseRule& rule, const BlockIntervals& block,
                    const std::vector<bool>& needed, PassagesOfLines& passages, const HazardSink& sink);

// grid.cpp: elements that two of the first `blocks` touch. Returns false where there were too many.
bool find_grid_races(HazardForms& forms, Chains& chains, uint32_t blocks, const HazardSink& sink, Stop stop);

// budget.cpp: how many blocks from the first on are looked at; where that is not all of them, `why` says so.
uint32_t blocks_looked_at(const trace::Trace& trace, std::string& why);
bool is_looked_at(const trace::Trace& trace, const trace::Block& block);  // where it is looked at alone
uint64_t most_found_of_a_block(uint32_t blocks);

}  // namespace tilescope::analysis
