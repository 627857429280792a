// Runs a PTX kernel on the CPU: blocks of warps of 32 lanes in lockstep.
//
//   block --> warps take turns (Schedule); a turn ends with one request, barrier or exchange
//   warp  --> a stack of (pc, mask, reconvergence pc); the top runs
//   lane  --> a column entry: a register is 32 values side by side, so that one PTX instruction
//             is one loop over lanes that the compiler vectorises
//
// A branch that splits the active mask pushes both sides; each pops at the branch's immediate post-dominator.
// (The taken order is: fall-through first, then the branch target.) Blocks are independent and run on several
// CPU threads; every block's sequence of requests depends on the launch and the schedule alone.
//
// Barriers: a warp that arrives waits until every warp of the block that has not exited arrives
// (PTX ISA, "bar, barrier": threads that exited do not hold others up). If only a part of a warp
// reaches a barrier while the rest of it has not exited, that is a fault.
//
// A cp.async is two steps, its load and its store (ptx::Site). The bytes are in shared memory once the thread
// has waited for them, or has ended; until then a load finds what was there before.
//
// A barrier of the grid holds a block until all blocks of the run stand at it.
//
// Uninitialised shared memory holds the byte 0xFF everywhere (a quiet NaN as a float; RunOptions::unfilled),
// so that a value never stored is seen; on a GPU it holds whatever was there before. Registers start as 0.
// Dynamic shared memory follows what the kernel declares.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/launch.h"
#include "core/base/result.h"
#include "core/ptx/ast.h"
#include "core/ptx/matrix.h"
#include "core/ptx/sites.h"
#include "core/simt/memory.h"

namespace tilescope::simt {

// A kernel made ready to run: decoded instructions, control flow, sites, shared memory layout.
// Immutable; shared by all CPU threads.
class Program;

// Fails for an instruction that the interpreter does not run, naming instruction and PTX line.
// Variables of the module that an array names by its symbol are that array: those in global memory lie at its
// base, for the caller's memory to hold; constants begin with its contents, where those are stored. The
// others are the run's own and begin with what the PTX gives them. exchanges: whether those of a warp are sites,
// and so steps.
Result<std::shared_ptr<const Program>> prepare(const ptx::Module& module, const std::string& kernel,
                                               const std::vector<Array>& arrays = {}, bool exchanges = true);

// The program with other bytes in those of its constants that the arrays name.
std::shared_ptr<const Program> with_constants(const Program& program, const std::vector<Array>& arrays);

const std::vector<ptx::Site>& sites_of(const Program& program);

// Whether its blocks wait for each other at a barrier of the whole grid: they then run side by side, each
// with memory of its own, and no block can be run alone as it ran with the others.
bool has_grid_barrier(const Program& program);

// Whether its blocks run side by side with those of their cluster, where the launch has clusters: some of them cannot run
// alone, and a window runs whole clusters, of which it watches its own blocks.
bool runs_in_clusters(const Program& program, const Launch& launch);

// Why a program that was made ready cannot be run here, but recorded on a GPU: it has an instruction that is not known. ""
// where it can run.
const std::string& why_not_run(const Program& program);

// Bytes that a run takes beside the launch's arrays, on one CPU thread: variables in global memory, and a
// block's registers, shared and local memory. values: as RunOptions.
uint64_t memory_of(const Program& program, const Launch& launch, bool values);

// Byte offset of a shared variable in the block's shared memory (declaration order, aligned; dynamic shared
// memory behind all others); -1 for a name that is not there.
int64_t shared_offset(const Program& program, const std::string& symbol);

// The offset of a local variable in a thread's local memory, and of a constant one in constant memory.
int64_t local_offset(const Program& program, const std::string& symbol);
int64_t constant_offset(const Program& program, const std::string& symbol);

// Where a lane's operand came from, for observers that ask for dataflow.
//   0                    a constant or a special register or address arithmetic
//   step + 1 | part      the value as the load at that step of the block brought it (moves kept); part:
//                        which register of a vector load, from kPartShift up; 1 for what an atomic returned
//   kComputed | chain    the result of arithmetic on loaded values; `chain` names one running
//                        sum: a sum that continues another (add or fma with it) keeps its chain
//   ... | kUpperHalf     of a register that holds two values of 16 bits, the one in its upper half
using Origin = uint32_t;
inline constexpr Origin kComputed = 0x8000'0000u;
inline constexpr uint32_t kPartShift = 28;
inline constexpr Origin kUpperHalf = 1u << (kPartShift - 1);
inline constexpr Origin kStepMask = kUpperHalf - 1;

// Bytes that lie side by side in memory, of a copy in bulk.
struct RequestPiece {
    uint32_t lane = 0;
    uint32_t bytes = 0;
    uint64_t address = 0;             // as Request::address
    uint32_t place = 0;               // among the bytes of the lane's copy
    const std::byte* data = nullptr;  // what is read or written
};

// One warp's execution of a memory site.
struct Request {
    uint32_t site = 0;
    uint32_t warp = 0;
    uint32_t mask = 0;  // active lanes; never 0
    Space space = Space::Global;
    // [32]; global: virtual address; shared: byte offset in the block's shared memory; local: in the thread's
    // local memory; constant: in constant memory; inactive lanes undefined.
    const uint64_t* address = nullptr;
    // Where it is not 0: requests of one block with this number have one mask, and their lanes lie the same distances
    // apart.
    uint32_t pattern = 0;
    // Of an atomic, [32]: the bits that each lane found, which atom returns; null for all others.
    // element_bytes is then set for all observers.
    const uint64_t* returned = nullptr;
    // Of a site with words, [32][ptx::kMostStepWords]: each lane's, as ptx::Signal and ptx::Box say; null for all others.
    const uint32_t* words = nullptr;
    // Of a copy in bulk: what each lane reads or writes, in the order of the copy's bytes.
    std::span<const RequestPiece> pieces;
    std::span<const PlacedMap> maps;  // the tensor maps that these copies use
    // Only for observers that want values: the bits that each lane loaded or stored (of an atomic: what it
    // left in memory), and where stored values came from. A vector access has 2, 4 or 8 elements a lane, one row
    // each.
    uint32_t elements = 1, element_bytes = 4;
    const uint64_t* value = nullptr;  // [elements][32]
    const Origin* origin = nullptr;   // [elements][32], stores and atomics (of its last operand)
};

// A product of matrices, for observers that want values: what each lane holds.
struct MatrixProduct {
    const ptx::MatrixForm* form = nullptr;
    // By ptx::MatrixRole: [registers][32] bits, and where they came from. C as it was before D was written. D's
    // origins are running sums: that of C where it is one.
    std::array<const uint64_t*, 4> value{};
    std::array<const Origin*, 4> origin{};
};

// One warp's execution of an exchange among its lanes.
struct Exchange {
    uint32_t site = 0;
    uint32_t warp = 0;
    uint32_t mask = 0;               // active lanes; never 0
    const uint64_t* from = nullptr;  // [32] what core/ptx/exchange.h says, by lane; inactive lanes undefined
    // Only for observers that want values: bits of what each lane gives and of what it gets; predicates are 0 or 1.
    uint32_t bytes = 4;
    const uint64_t* given = nullptr;  // [32]
    const uint64_t* got = nullptr;    // [32]
    const MatrixProduct* product =
        nullptr;  // of a product of matrices, whose lanes have more than one value: bytes is 0
};

// One multiplication, by mul, mad or fma, one of whose factors comes from a load.
// Reported after the step that precedes it (the block's latest step).
struct Multiplication {
    uint32_t warp = 0;
    uint32_t mask = 0;
    const Origin* a = nullptr;  // [32] origins of the two factors
    const Origin* b = nullptr;
    const Origin* result = nullptr;  // [32] kComputed | chain: the running sum it went into
    ElementType factor_type = ElementType::F32, sum_type = ElementType::F32;
    const uint64_t* a_value = nullptr;  // [32] bits
    const uint64_t* b_value = nullptr;
    const uint64_t* sum = nullptr;  // [32] the result of the instruction
};

struct BlockId {
    uint32_t x = 0, y = 0, z = 0;
};

// Watches one block. Called from one CPU thread, in step order: every call of on_request, on_barrier or
// on_exchange is the next step of the block (0, 1, 2, ...).
class BlockObserver {
public:
    virtual ~BlockObserver() = default;
    virtual void on_request(const Request& request) = 0;
    // A warp arrives at a block barrier. mask: its lanes that have not exited.
    virtual void on_barrier(uint32_t site, uint32_t warp, uint32_t mask) = 0;
    virtual void on_exchange(const Exchange&) {}
    virtual void on_multiplication(const Multiplication&) {}
    // What the store of a cp.async at that step of the block brings has arrived: its threads have waited.
    virtual void on_arrival(uint32_t) {}
    // The block has ended, or was stopped.
    virtual void on_end() {}
    // Set by the observer: it has seen enough, and the run is stopped before the block's next step.
    bool enough = false;
};

struct Fault {
    enum class Kind : uint8_t {
        OutOfBounds,
        Misaligned,
        BarrierDivergence,  // and of what all lanes of a warp must come to together
        NeverEnds,
        Deadlock,
        Trap,
        BadAddress,
        Assert,
    } kind{};
    BlockId block;
    uint32_t thread = 0;  // linear number in the block
    int32_t site = -1;    // -1 where the instruction is no site
    uint32_t line = 0;    // kernel source
    uint64_t address = 0;
    // One plain sentence: thread, site, source line, array and index, e.g.
    // "thread[0,3] of block (1,0) reads M[2,4] at line 23, outside M's 3 x 4 elements"
    std::string message;
};

// What a run met that the language leaves undefined; it goes on. One for each instruction and kind.
struct Undefined {
    enum class Kind : uint8_t {
        UnfilledRead,  // global memory is read that nobody stored or copied to (View::filled)
        AbsentLanes,   // lanes that a mask names do not come to the instruction, and have not exited
        AbsentValue,   // a shuffle reads the value of a lane that takes no part
    } kind{};
    BlockId block, last;                        // the first block that has it, and the last one
    uint32_t line = 0;                          // of the kernel's source
    uint64_t count = 0;                         // threads' accesses, or warps' instructions
    uint64_t blocks = 0;                        // blocks that have it
    uint64_t lowest = UINT64_MAX, highest = 0;  // addresses that are read
    std::string sentence;                       // about the first one, without its full stop
};

// Runs blocks that nobody watches, in the interpreter's place, with the same results.
class BlockRunner {
public:
    virtual ~BlockRunner() = default;
    // False where the interpreter is to run the block: nothing of it is left in memory then.
    virtual bool run_block(const BlockId& block) = 0;
    uint64_t instructions = 0;     // of the latest block: warp instructions
    std::vector<uint8_t> touched;  // as Outcome::touched, by view in the order of their bases
};
// Where they come from, for one launch. Called from all threads of its run.
struct RunOptions;
class BlockEngine {
public:
    virtual ~BlockEngine() = default;
    // One for a CPU thread; null while there is none. views: sorted by their bases.
    virtual std::unique_ptr<BlockRunner> runner(const RunOptions& options,
                                                const std::vector<View>& views) = 0;
    // The interpreter has run a block, of so many warp instructions.
    virtual void interpreted(uint64_t instructions) = 0;
    // A runner has run a block, or could not. False: the thread is to go on without it.
    virtual bool compiled(bool ran) = 0;
};

struct RunOptions {
    BlockWindow window;  // blocks to run; others are not run at all
    Schedule schedule;
    // Schedule::Recorded: the warp of each step, of the one block that is run.
    std::vector<uint8_t> recorded_order;
    // Schedule::Recorded: what atomics of global memory find, lane by lane in the order of the steps, since
    // blocks that are not run had changed it; empty: what memory holds.
    std::vector<uint64_t> returns;
    unsigned threads = 0;                              // CPU threads, 0 for all
    uint64_t max_instructions_per_warp = 1ull << 32;   // beyond, the kernel counts as never ending
    uint64_t max_instructions_per_block = UINT64_MAX;  // the same for all warps of a block together
    // Bytes for what memory_of() says; fewer threads are used where that is little.
    uint64_t memory = 1'000'000'000;
    // What lies at an address that is in no buffer, as the end of a sentence ("memory that was freed"); empty
    // where there is nothing to be said. Called from the threads of the run.
    std::function<std::string(uint64_t address)> name_outside;
    bool values = false;  // Request::value and ::origin are filled, multiplications reported, FLOP counted
    // Takes what one thread's printf writes, one call after the other, from whichever CPU thread runs it;
    // blocks print in no order. Null: it is discarded.
    std::function<void(std::string_view)> print;
    // The heap of malloc and free in device code: the address of as many bytes, or 0; called from the threads
    // of the run. Null: a kernel that comes there ends in a fault.
    std::function<uint64_t(uint64_t bytes)> allocate;
    std::function<void(uint64_t address)> release;
    uint8_t unfilled = 0xFF;                       // byte that shared memory holds until something is stored
    const std::atomic<bool>* stop = nullptr;       // set by another thread to stop early
    std::atomic<uint64_t>* blocks_done = nullptr;  // progress
    BlockEngine* engine = nullptr;                 // for blocks that nobody watches, in the fair order
    uint32_t absent = 0;  // flips bits of what a shuffle reads from a lane that takes no part
};

struct Outcome {
    bool complete = false;       // every block of the window ran to its end
    bool stopped = false;        // by RunOptions::stop or an observer
    std::optional<Fault> fault;  // fault of the first block (in block order) that faulted
    uint64_t instructions = 0;   // warp instructions executed
    uint64_t flop = 0;           // with RunOptions::values: floating-point operations of all lanes, fma as 2
    // By view (those of GlobalMemory in its order): whether any lane loaded from it or stored to it.
    std::vector<uint8_t> touched;
    std::vector<Undefined> undefined;  // by instruction
};
inline constexpr uint8_t kLoads = 1, kStores = 2;  // atomics do both

// launch.arrays gives names and shapes to messages, and may be empty; nothing of them is read but what its
// arguments point to. make_observer is called once for each block, on the CPU thread that runs it, before it
// runs; it may return null for a block that nobody watches. Blocks finish in any order; the observer of one
// that faulted has seen all until the fault. After a fault, blocks before the faulting one still run to their
// end, later ones may not run at all. An exception of an observer, or bad_alloc, of
// whichever thread, is thrown to the caller.
using MakeObserver = std::function<BlockObserver*(const BlockId&)>;
Result<Outcome> run(const Program& program, const Launch& launch, GlobalMemory& memory,
                    const RunOptions& options, const MakeObserver& make_observer);
// The same in memory that others own: views in any order.
Result<Outcome> run(const Program& program, const Launch& launch, const std::vector<View>& memory,
                    const RunOptions& options, const MakeObserver& make_observer);

}  // namespace tilescope::simt
