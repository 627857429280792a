// Faults within a block whose threads wait for each other by more than its barrier: each access is held against the earlier
// ones to its cells, in the order of the recording, and is at fault with those that do not come before it (order.h).
//
//     step 12   copy    stage[0..255]   asked for by thread 0, ends with phase 0 of full[0]
//     step 15   load    stage[37]       by thread 69, which has not waited for that phase    ->  a read before the wait
//     step 40   copy    stage[0..255]   by thread 0, which does not know of thread 69's load ->  a race
//
// What a later access to a cell comes after and conflicts with is dropped: who comes after that access comes after both. So
// of several races with one access the nearest are told.
//
// A copy is a doing of its own: it begins where a thread asks for it, behind what that thread knows of, and ends where order.h
// says. What threads stored and a copy in bulk reads must lie behind a fence.proxy.async besides.
//
// Source: PTX ISA, "Memory Consistency Model", "Async proxy".
#pragma once

#include <array>
#include <map>
#include <vector>

#include "core/hazards/block.h"
#include "core/hazards/order.h"

namespace tilescope::analysis {

// Whether the recording is looked at so. Then its PTX must be known.
bool is_by_order(const trace::Trace& trace, const KernelFacts& facts);

// Reused from block to block.
class OrderedHazards {
public:
    // most_bytes: memory for cells and accesses. most_found: faults that are told of a block.
    OrderedHazards(HazardForms& forms, uint64_t most_bytes, uint64_t most_found, Stop stop = {});
    bool full() const { return full_; }  // as BlockHazards::full()
    // Races, uninitialised loads and reads before a wait, each once for a cell and two places of the source.
    void find(uint32_t block, PhaseWalk& walk, const HazardSink& sink);

private:
    static constexpr int32_t kNone = -1;
    struct Record {
        PastAccess access;
        uint32_t place = 0;
        int32_t next = kNone;
        bool atomic = false, strong = false;
    };
    struct OrderedCell {
        int32_t records = kNone;
        uint32_t unfilled = 0;  // loads before anything was stored: 1 + index into unfilled_
        bool stored = false;
    };
    // What an access does in a cell.
    struct Now {
        PastAccess access;
        HazardForms::FormKind kind;
        uint32_t site = 0;
        bool strong = false, bulk_read = false;
    };
    using FoundKey =
        std::array<uint64_t, 5>;  // kind and what is missing, shared or global, cell, the two places

    bool comes_first(uint32_t step);
    void look_at(const Now& now);
    void enter(const Now& now, uint64_t number, uint32_t lanes);
    bool copy_alike(const Now& now, uint32_t a, uint32_t b);
    void judge(const Now& now, const Record& past, uint64_t number, uint32_t lanes);
    void tell(HazardKind kind, Missing missing, const Now& now, const Record& past, uint64_t number,
              uint32_t lane, uint32_t past_lane, bool now_first);
    void race_with_itself(const Now& now, uint64_t number, uint32_t lanes);
    void note_unfilled(const Now& now, OrderedCell& cell, uint64_t number, uint32_t lanes);
    HazardSide side(uint32_t warp, uint32_t lane, uint32_t step) const;
    HazardInstance* found(HazardKind kind, Missing missing, const HazardForms::FormKind& of, uint64_t number,
                          uint32_t place, uint32_t other);
    CellMap<OrderedCell>& map(bool shared) { return shared ? shared_ : global_; }

    HazardForms& forms_;
    const trace::Trace& trace_;
    const bool fences_;  // some copy in bulk, or a tensor core, reads shared memory
    CellMap<OrderedCell> shared_, global_;
    std::vector<Record> records_;
    int32_t free_ = kNone;
    struct Unfilled {
        Now now;
        uint64_t cell = 0;
        uint32_t lanes = 0;
        bool raced = false;
    };
    std::vector<Unfilled> unfilled_;
    std::map<FoundKey, HazardInstance> found_;
    BlockOrder* order_ = nullptr;  // of the block that is looked at
    uint32_t block_ = 0;
    uint64_t first_ = 0, stored_ = 0;
    PhaseMap phases_;
    std::vector<uint32_t> products_;  // by warp, of wgmma so far
    uint64_t most_bytes_ = 0, most_found_ = 0;
    uint64_t alike_step_ = UINT64_MAX;  // of which copy_alike() was asked last, by lanes
    std::map<std::pair<uint32_t, uint32_t>, bool> alike_;
    Stop stop_;
    bool full_ = false;
};

}  // namespace tilescope::analysis
