// Faults that a recording proves: races, values that were never stored or are left over, barriers that not
// all threads come to, barriers that hold threads up for nothing.
//
// Two accesses of one block are ordered only by a barrier between them. How many barriers a thread has passed
// is its own matter, not one of the order in which the warps happened to run; so accesses are put side by
// side by that number, the barrier interval, and the verdict is the same for every order of warps:
//
//     interval      0            1            2
//     thread[0,0]   store   |    load    |    store         | barrier
//     thread[0,1]      store|  load      |       store
//     in one interval: two threads, one cell, one of them stores  ->  a race
//
//   Race           in one interval of a block two threads touch one cell and one of them stores.
//                  Program order holds within a thread only: two lanes of one warp race too (since compute
//                  capability 7.0 a warp's threads need not advance together; CUDA C++ Programming Guide,
//                  "Independent Thread Scheduling"), unless a bar.warp.sync that names both lies between.
//                  Hazard::same_warp marks such a race. Two atomics do not race.
//   GridRace       two blocks touch one element and one of them stores: no barrier orders blocks.
//                  (Not judged where the kernel has the barrier of a whole grid.)
//
// Fences and atomics order accesses as well (chains.h): what a thread did before a fence and an atomic comes
// before what another does behind an atomic of the same word. Where the recording does not say which of the
// two atomics came first, such a pair is not called a race.
//
//   SameValue      all threads that store to a cell store one value by the code, and nothing else touches it: a
//                  remark. It is made of constants, arguments, addresses, and what all of them load from one
//                  element to which nobody stores meanwhile.
//   Uninitialised  a shared cell is loaded, or updated by an atomic, before anything was stored there.
//   Stale          a shared cell is loaded whose value was already used before its array was filled anew:
//                  that filling left the cell out, and the old value is used once more. A filling brings new
//                  values from global memory; an algorithm that works in place, as a tree that keeps the
//                  greater of two elements, fills nothing, and may leave out what it likes.
//   ReadBeforeWait a shared cell is loaded while a cp.async may still write it: by the thread that issued the
//                  copy, before its wait; by another thread, before a barrier after that wait. A copy may
//                  write at any time from where it is issued:
//
//     interval      0                    1              2
//     thread[0,0]   copy              |  wait         |            a load of another thread: right in 2 alone
//                   ^ ---- may write here ---- ^
//
//   BarrierDivergence   threads of a block that do not come to a barrier that others wait at.
//   RedundantBarrier    a barrier without which no two accesses would conflict if all others stay. The last
//                  passage of a barrier in the loop over the tiles is not judged: it guards the next trip,
//                  which the loop did not make.
//
// What the steps alone do not prove, the run has found, and the recording says (trace::Finding):
//
//   Unfilled       global memory is read that nobody stored or copied to.
//   AbsentLanes    lanes that a mask names, or a shuffle reads, do not come.
//   OneAddress     two arrays of shared memory lie at one address, and both are used.
//
// Where threads wait for each other by more than the block's barrier (mbarriers, copies in bulk, barriers with a number or
// for part of the threads), there are no intervals: what comes before what is worked out thread by thread (order.h,
// ordered.h). Races, uninitialised loads and reads before a wait are judged by that; left-over values and barriers are not.
//
// The verdicts are those of every order; the examples are told by the order of this recording: the pair of a
// race is one of whose two the load was too late or too early, where there is one (ReadOrder).
//
// A cell is an element of an array; where sites touch less than an element, the least that they touch; of an
// array of bytes, whose type nobody may know, the least that sites touch there.
// Local memory is a thread's own and constant memory is read only: neither is looked at.
// Cost is about linear in the lanes' accesses; arrays that nobody stores to cost nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "core/base/element.h"
#include "core/base/result.h"
#include "core/base/stop.h"
#include "core/base/words.h"
#include "core/recording/recording.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {

enum class HazardKind : uint8_t {
    Race,
    GridRace,
    Uninitialised,
    Stale,
    ReadBeforeWait,
    BarrierDivergence,
    RedundantBarrier,
    SameValue,
    Unfilled,
    AbsentLanes,
    OneAddress,
};
const char* name_of(HazardKind kind);  // "race", "race between blocks", ..., for people
const char* key_of(HazardKind kind);   // "race", "grid_race", ..., for JSON

// How much a finding weighs. Only a fault makes a recording a faulty one.
enum class Severity : uint8_t {
    Fault,       // what the recording proves to be wrong
    Remark,      // what may well be meant: a barrier that keeps nothing apart, stores of one value
    CannotTell,  // would be a fault if nothing ordered the two, and the recording does not say whether it does
};
const char* name_of(Severity severity);  // "fault", "remark", "Tilescope cannot tell"
const char* key_of(Severity severity);   // "fault", "remark", "cannot_tell", for JSON

inline constexpr uint32_t kNoSite = 0xFFFF'FFFFu;

// One side of a finding: who did what, where in the source and when.
struct HazardSide {
    uint32_t block = 0;   // index into Trace::blocks
    uint32_t thread = 0;  // linear number in the block
    uint32_t site = kNoSite;
    uint64_t step = 0;  // step of the recording
    uint32_t phase = 0;
    bool operator==(const HazardSide&) const = default;
};

// How the recording had the store and the load of a race in order.
enum class ReadOrder : uint8_t {
    Unknown,      // not looked at: two stores, or accesses of parts of an element
    Overwritten,  // the store of a later phase came first: the load read its value
    Early,        // the load came before the store that it should have read
    Right,        // the load read what it should; another order would give it another value
    Open,         // nothing says which of the two should come first
};

// What would have ordered the two sides of a race, or have brought a copy.
enum class Missing : uint8_t {
    Barrier,     // a barrier of the block between the two
    Order,       // anything: threads wait for each other in more ways than by barriers
    Phase,       // a wait for the phase of a barrier in memory that is told of the copy's end
    Bytes,       // bytes that this phase expects: it ends without the copy
    ReadWait,    // a wait for the copy to have read its source (cp.async.bulk.wait_group.read)
    ProxyFence,  // a fence.proxy.async between a thread's store and a copy that reads it
};

// One cell that was found at fault in one barrier interval of a block.
//   Race, GridRace  a and b: the two threads; a stores
//   Uninitialised   a: the load; b has no site
//   Stale           a: the load; b: the store that the value is left over from
//   ReadBeforeWait  a: the load; b: the copy
//   barriers        no cell. RedundantBarrier: a: an arrival at it. BarrierDivergence: a: an arrival at it;
//                   b: a thread that does not come (step and site: its last in the block; kNoSite for none)
//                   A fault that ended the recording: a and b are the thread that waits, without sites.
struct HazardExample {
    uint32_t interval = 0;  // in block a; of a barrier: how many barriers its threads passed before it
    uint8_t array = trace::kNoArray;  // kNoArray: addresses outside every array
    uint64_t element = 0;             // linear index in the array, or the address
    HazardSide a, b;
    uint64_t first_step = 0, last_step = 0;  // steps of the recording that took part in block a
    Missing missing = Missing::Barrier;
    // Phase and Bytes: the barrier's offset in shared memory, the phase, from 0, and its bytes: those that it expects,
    // and those that are copied for it.
    uint32_t barrier = 0, barrier_phase = 0;
    uint64_t expected = 0, brought = 0;
    // A value of the cell, known where the block was run again, and the phase that it was stored in; stored
    // is false where nothing was stored there before.
    struct HeldValue {
        bool known = false, stored = false;
        uint32_t phase = 0;
        Value value{};
        bool operator==(const HeldValue&) const = default;
    };
    ReadOrder order = ReadOrder::Unknown;
    // What the load read. Of a race also what it should have read, or would in the other order (Right, Open).
    HeldValue read, other;
    bool operator==(const HazardExample&) const = default;
};

bool reads_wrong(const HazardExample& example);        // Overwritten or Early
bool reads_other_value(const HazardExample& example);  // both values are known, and differ
// 0 for the examples that tell a fault best: a wrong value was read, by threads of two warps.
uint32_t rank_of(const HazardExample& example);

// Equal findings: same kind, array, source lines and directions.
struct Hazard {
    HazardKind kind{};
    uint8_t array = trace::kNoArray;
    Space space = Space::Global;
    uint32_t line = 0;        // source line of a
    uint32_t other_line = 0;  // source line of b; 0 for none
    bool other_stores = false;
    bool same_warp = false;       // Race: in all of them both threads are of one warp
    bool between_blocks = false;  // in all of them the two threads are of different blocks
    // Cells, each once for every block and interval (between blocks: once); barriers: passages.
    uint64_t count = 0;
    uint64_t of = 0, passed = 0;          // barriers: passages that were judged, and all of them
    uint32_t blocks = 0;                  // blocks that have it
    uint32_t threads = 0;                 // BarrierDivergence: the most threads of a block that do not come
    std::vector<HazardExample> examples;  // the first few by rank_of, then block, interval and cell
    std::string sentence;                 // about the first example, with its full stop left out
    Severity severity = Severity::Fault;
};

struct Hazards {
    std::vector<Hazard> found;  // by kind, then line, then array, then severity
    // What could not be looked at, a sentence; "" where all was. A recording that is not whole proves what it
    // shows, but not what it lacks: barriers are then not judged.
    std::string not_judged;
    bool any() const { return !found.empty(); }
    bool faulty() const;  // whether one of them is a fault
};

struct HazardOptions {
    uint32_t examples = 4;  // kept of each finding
    unsigned threads = 0;   // 0: as many as the machine has; what is found is the same with any number
    Stop stop = {};         // what was found until then is then returned
};

Hazards find_hazards(const Recording& recording, const HazardOptions& options = {});

// The values that lanes of a block loaded or stored: its steps from 0, and of a vector access which element.
using ValueAt = std::function<Value(uint32_t step, uint32_t lane, uint32_t part)>;

// Chooses the pairs of the examples of a block anew, by their values, and says them.
void tell_values(const Recording& recording, uint32_t block, const ValueAt& value, Hazards& hazards);

// For pictures of one block: every cell at fault, with the interval and the steps it concerns.
struct FaultyCell {
    HazardKind kind{};  // of a cell of the block; never one of barriers or of the grid
    bool same_warp = false;
    uint8_t array = trace::kNoArray;
    uint64_t element = 0;   // linear index in the array
    uint32_t interval = 0;  // barrier interval, as in PhaseMap::interval
    // Steps of the block from the first access at fault to the last, both included.
    uint32_t first_step = 0, last_step = 0;
    HazardExample example;
    // The step of the block that the example is about: the load that went wrong, else the later of the two.
    uint32_t told_step = 0;
    Severity severity = Severity::Fault;
};
struct FaultyCells {
    std::vector<FaultyCell> cells;  // by interval, array, element, kind
    bool cut = false;               // there are more than were asked for
    bool not_looked = false;        // the block takes more memory or accesses than are allowed
};
inline constexpr size_t kMostFaultyCells = 1u << 18;
// value: none where values are not known.
FaultyCells faulty_cells(const Recording& recording, uint32_t block, const ValueAt& value = {},
                         size_t most = kMostFaultyCells, Stop stop = {});

// One example in a plain sentence without its full stop: "thread[7,0] of warp 3 overwrote Nds[7,0] at line
// 27; thread[12,0] of warp 6 now reads phase 1's 4 at line 34 instead of phase 0's -2, with no barrier
// between".
std::string sentence_of(const trace::Trace& trace, HazardKind kind, const HazardExample& example,
                        const Notation& notation = {}, Severity severity = Severity::Fault);

}  // namespace tilescope::analysis
