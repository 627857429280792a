// A block in the making: its warps, their registers, its shared memory.
//
//   run_block     turns: which warp is next, barriers, faults            (block.cpp)
//   advance       a warp runs up to its next request or barrier          (warp.cpp)
//   together      warps that make the same request and compute side by side    (together.cpp)
//   access        a request: addresses checked, data moved, reported     (access.cpp)
//   exchange      lanes of a warp that give each other something         (exchange.cpp)
//   matrix        what a warp does with matrices                         (matrix.cpp)
//   wgmma         products of a warpgroup                                (wgmma.cpp)
//   ask, arrive   the copies of cp.async, from where they are asked for to the wait    (copies.cpp)
//   signal        barriers in memory, and waits for them                 (signals.cpp)
//   bulk          the copies of cp.async.bulk                            (bulk.cpp)
//   cluster       what blocks of a cluster do to each other              (cluster.cpp)
//   update        atom and red                                           (atomic.cpp)
//   yield         paths and blocks that wait for others                  (progress.cpp)
//   print         printf and assert                                      (calls.cpp)
//   dataflow      where values come from, for observers that ask         (dataflow.cpp)
//
// A warp that is Ready stands right before a request, barrier or exchange; its turn is that one step and the
// arithmetic up to the next. So products are reported right after the load that brought their last factor, and a warp
// that has nothing more to ask of memory has ended.
//
// Where values are not wanted, a Ready warp may also owe: it has made its step and stands behind it, and its arithmetic
// follows with that of others, at the latest before its next turn. Several warps may make their steps in one go then.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/words.h"
#include "core/ptx/tensor_map.h"
#include "core/ptx/warpgroup.h"
#include "core/simt/copy_groups.h"
#include "core/simt/lanes_memory.h"
#include "core/simt/memory_barrier.h"
#include "core/simt/program.h"

namespace tilescope::simt {

// Lanes of `mask` go on at pc; at pc == reconverge they have caught up with the entry below.
struct StackEntry {
    uint32_t pc = 0, reconverge = kNoPc, mask = 0;
};

// A product that no sum has taken up yet, by a mul that the compiler did not fuse (dataflow.cpp).
struct LooseProduct {
    Origin chain = 0;
    uint32_t mask = 0;
    std::array<Origin, kWarpSize> a{}, b{};
    ElementType factor_type{}, sum_type{};
    std::array<uint64_t, kWarpSize> a_value{}, b_value{}, sum{};
};

class Machine;

// The store of a cp.async whose bytes have not arrived in all lanes.
struct PendingCopy {
    uint32_t step = 0;  // of the block
    uint32_t mask = 0;  // lanes whose bytes are under way
    uint32_t words = 0;
    bool waited = true;  // all lanes in which it has arrived have waited for it
    CopyGroups::OfLanes group{};
    std::array<std::byte*, kWarpSize> to{};
    std::array<std::array<uint32_t, kWarpSize>, 4> data{};
};

// A copy in bulk of one lane that has not landed.
struct BulkCopy {
    struct Piece {
        std::byte* to = nullptr;
        uint32_t from = 0, bytes = 0;  // of the copy's bytes
    };
    uint32_t step = 0;                // of its store, in the block
    uint32_t warp = 0, lane = 0;      // who asked for it
    std::optional<uint32_t> barrier;  // offset of the one that it signals
    uint32_t group = 0;               // of its thread, where it signals none
    std::vector<std::byte> bytes;     // in the order of the box's rows
    std::vector<Piece> pieces;        // where they go
    bool landed = false;
    Machine* asker = nullptr;  // the block that asked for it, perhaps another one of the cluster
    bool tells = true;         // it is that by which this block knows where the copy has landed
};

// What a lane has read for a copy in bulk, between its two halves.
struct BulkRead {
    std::vector<std::byte> bytes;
    ptx::TensorMap map;
    ptx::TensorBox box;
};

// A cp.async.mbarrier.arrive of one lane, which arrives when its copies of cp.async before that have.
struct CopyArrival {
    uint32_t barrier = 0, warp = 0, lane = 0;
    uint32_t step = 0;
};

// What the four warps of a warpgroup multiply together, as it lay when all of them had come to the instruction.
struct WgmmaOperands {
    std::vector<std::byte> a, b;  // 64 rows of A, where it is in shared memory; columns of B
};

// The request at which a path of a warp comes by again and again (progress.cpp).
struct Spin {
    uint32_t pc = kNoPc;
    uint32_t since = 0, times = 0;     // requests since it was seen last; how often it was seen
    bool exact = false;                // registers and stack were the same as the last time
    uint64_t address = 0;              // of its first lane
    uint64_t waits_at = UINT64_MAX;    // the block's changes when all paths of the warp only waited
    uint64_t changes = 0;              // of the block's memory, the last time
    std::vector<std::byte> registers;  // as they were the last time
    std::vector<StackEntry> stack;
    // What it found there: for words.
    uint64_t value = 0;
    uint32_t bytes = 0;
    Space space = Space::Global;
    uint32_t mask = 0;
    bool at_barrier = false;  // it waits for a barrier in memory
    bool at_group = false;    // it waits for the other warps of its warpgroup
    uint32_t wanted = 0;      // the parity that it waits for there
    // A round in which each path of the warp gets its turns.
    uint32_t tried = 0;  // lanes whose paths only wait
    uint64_t round_changes = UINT64_MAX;
    bool round_exact = true;
    bool waits_exactly = false;  // each of them does the same for ever while memory stays as it is
};

// How a warp stood when its wait for a barrier in memory was given up last.
struct GivenUp {
    uint64_t changes = UINT64_MAX;  // of the block's memory
    uint32_t times = 0;             // since that was so
    std::vector<StackEntry> stack;
    std::vector<std::byte> registers;
};

// Lanes that a mask names at an instruction that they have not come to.
struct MissingLanes {
    uint32_t at = 0;                         // pc of the Converge, the first of its kind and line
    uint32_t lanes = 0, members = 0;         // those that others came without, of those that the mask names
    std::array<uint32_t, kWarpSize> came{};  // times that each lane came when not all did
};

struct alignas(64) Warp {
    enum class State : uint8_t { Ready, Waiting, Ended } state = State::Ready;
    uint32_t number = 0;
    uint32_t alive = 0;             // lanes that have not exited
    uint32_t pending_mask = 0;      // Ready: the lanes of the request to come
    std::vector<StackEntry> stack;  // the last one runs
    uint64_t instructions = 0;
    std::byte* registers = nullptr;
    Spin spin;
    StackEntry parked;  // lanes at a barrier that the rest of the warp has not reached; mask 0: none
    uint32_t barrier = 0, barrier_threads = 0;  // Waiting: number of the barrier; threads, where given
    // Lanes that have arrived in the phase of the cluster's barrier that is open; that still have to wait for a phase.
    uint32_t cluster_arrived = 0, cluster_due = 0;
    std::byte* origins = nullptr;          // the same layout; Origin for every 32-bit slot
    std::byte* local = nullptr;            // Program::local_bytes for each lane
    std::map<Origin, LooseProduct> loose;  // by chain
    std::vector<PendingCopy> copies;       // under way, in the order in which they were asked for
    CopyGroups groups, bulk_groups;
    std::vector<BulkRead> bulk_reads;  // by lane, where the kernel copies in bulk
    std::shared_ptr<const WgmmaOperands>
        operands;  // of the wgmma that it stands before, once all four have come
    GivenUp given_up;
    bool gives_up = false;  // its wait for a barrier in memory is given up, which it still has to be told
    bool split = false;     // lanes that waited at a join went on without the others
    uint32_t gathered = 0;  // split: lanes that wait for the others at a *.sync
    std::vector<MissingLanes> missing;
    size_t most_loose = 1024;  // above so many, loose products that no sum can take any more are settled
};

// AtGrid: all threads that have not exited wait at the grid's barrier. Waits: all of them only look again and
// again at memory that none of them changes. AtCluster: they wait at barriers, some of them at the cluster's. Turn: it is
// the turn of the next block of the cluster.
enum class BlockEnd : uint8_t {
    Complete,
    Faulted,
    Stopped,
    OrderNotFollowed,
    AtGrid,
    Waits,
    AtCluster,
    Turn
};

// 64 bytes is a cache line and the widest vector.
struct alignas(64) Chunk {
    std::byte bytes[64];
};

inline Space space_of(ptx::StateSpace space) {
    return space == ptx::StateSpace::Shared  ? Space::Shared
           : space == ptx::StateSpace::Local ? Space::Local
           : space == ptx::StateSpace::Const ? Space::Const
                                             : Space::Global;
}

// What several machines met of one kind at one instruction.
void join(Undefined& all, const Undefined& more);
// With how many reads there are, and of which elements, in its sentence.
Undefined with_range(Undefined found, const Launch& launch);

// A load or store whose requests may move as a whole (access.cpp).
struct WholeAccess {
    MoveLanes move = nullptr;  // null: they never do
    // The memory that its latest request fell into, and how far above `base` the first byte of a lane may lie;
    // null: none that requests move as a whole in.
    std::byte* memory = nullptr;
    uint64_t base = 0, most = 0;
    void set_memory(std::byte* to, uint64_t base_of, uint64_t size, uint32_t bytes);
};

// The pattern that the latest requests of one warp by one access had.
struct Followed {
    uint8_t pattern = 0;
    uint8_t misses = 0;  // how often it changed since a request followed the one before it
    uint8_t rest = 0;    // requests still to be made lane by lane, as it changed so often
};

class Machine {
public:
    // The views are sorted by their bases.
    Machine(const Program& program, const Launch& launch, const RunOptions& options, std::vector<View> views);

    BlockEnd run_block(const BlockId& block, BlockObserver* observer);
    // The same in two halves: go_on() is the second one.
    void begin(const BlockId& block, BlockObserver* observer);
    // Goes on with the block that run_block() or go_on() left AtGrid, Waits or AtCluster.
    BlockEnd go_on();
    // The machines of the blocks that its blocks share a cluster with, by rank, and itself among them. They outlive it.
    void join_cluster(std::span<Machine* const> cluster);
    // Gives up waits at barriers in memory, where all warps of the block wait; false where that leads nowhere.
    bool give_up_waits();
    void wait_for_cluster();  // the fault of a block that is left AtCluster for ever
    // Ends such a block instead: as it is, or with a fault that says why.
    void leave();
    void wait_for_ever(const std::string& why);
    // Of a block that Waits: whether it does so for ever while no other block changes memory; what it changed
    // itself since it began; the fault that says which lanes wait where, and for what.
    bool waits_exactly() const;
    uint64_t changes() const { return changes_; }
    void wait_in_loops(uint64_t other_blocks);

    // Bytes that one machine takes. values: as in RunOptions.
    static uint64_t bytes(const Program& program, const Launch& launch, bool values);

    std::optional<Fault> fault;    // of the last block
    std::string order_problem;     // why a recorded order could not be followed
    uint64_t instructions = 0;     // of the last block
    uint64_t flop = 0;             // the same, where values are wanted
    std::vector<uint8_t> touched;  // by view: kLoads, kStores, of all blocks so far
    // What its blocks met that is undefined, by instruction and kind.
    std::map<std::pair<uint32_t, Undefined::Kind>, Undefined> undefined;

private:
    enum class Advance : uint8_t { Ok, Fault, Stopped };
    // What flow_before keeps for flow_after: the result's origins, and operands that may be overwritten.
    struct OriginPlan {
        std::array<Origin, kWarpSize> result, a, b;
        std::array<uint64_t, kWarpSize> a_value, b_value;
        uint32_t products = 0;              // lanes whose product is to be reported or kept
        uint32_t taken_a = 0, taken_b = 0;  // lanes whose loose product in a or b goes into this sum
        Origin chain_of_product = 0;
    };

    // block.cpp
    void start(const BlockId& block);
    void set_state(Warp& warp, Warp::State state) {
        const uint32_t bit = 1u << warp.number;
        ready_ = state == Warp::State::Ready ? ready_ | bit : ready_ & ~bit;
        warp.state = state;
    }
    int next_warp();
    BlockEnd run();
    template <bool Values>
    BlockEnd turns();
    template <bool Values>
    Advance step(Warp& warp);
    template <bool Values>
    Advance behind_step(Warp& warp);
    template <bool Values>
    Advance release_barriers();
    // Warps that have come to the barrier at which a warp waits, and that have not; whether it may go on.
    struct Come {
        uint32_t here = 0, missing = 0;
    };
    Come come_to(const Warp& waiting) const;
    bool is_complete(const Warp& waiting) const;
    void count_arrival(const Warp& warp);
    bool may_step(int next) const {  // before those advance that owe it
        const Warp& warp = warps_[static_cast<size_t>(next)];
        return !(owed_ >> next & 1) && program_.code[warp.stack.back().pc].kind != MicroOp::Kind::Barrier;
    }
    void reduce(const std::vector<Warp*>& warps);
    BlockEnd ended(Advance why) const {
        return why == Advance::Stopped ? BlockEnd::Stopped : BlockEnd::Faulted;
    }

    // together.cpp
    bool may_owe(const Warp& warp) const;
    Advance settle_owed();
    Advance advance_all(uint32_t warps);
    bool advance_together(std::span<Warp> warps);
    void run_lanes_of(std::span<Warp> warps, const MicroOp& op);
    bool request_together(uint32_t first);

    // warp.cpp
    template <bool Values>
    Advance advance(Warp& warp);
    template <bool Values>
    void lane_op(Warp& warp, const MicroOp& op, uint32_t mask);
    template <bool Values>
    void run_lanes(Warp& warp, const MicroOp& op, uint32_t mask);
    // The lanes of a mask whose guard holds.
    static uint32_t lanes_of(const Warp& warp, const MicroOp& op, uint32_t mask) {
        if (op.guard == kNoGuard) return mask;
        const uint32_t p = *reinterpret_cast<const uint32_t*>(warp.registers + op.guard);
        return mask & (op.guard_negated ? ~p : p);
    }
    void diverge(Warp& warp, const MicroOp& op, uint32_t pc, uint32_t taken);
    void park(Warp& warp, uint32_t pc, uint32_t mask);
    void settle(Warp& warp);
    // The store of a copy follows its load in the same turn, but where a recorded order has them apart.
    bool stops_here(const MicroOp& op) const {
        const MemoryAccess& access = program_.accesses[op.target];
        return access.site >= 0 && (!access.copy || op.kind == MicroOp::Kind::Load ||
                                    options_.schedule.kind == Schedule::Kind::Recorded);
    }

    // progress.cpp
    // Called after each request of a warp, before its path goes on. address: of its first lane.
    void watch(Warp& warp, const MicroOp& op, uint32_t pc, uint64_t address) {
        Spin& spin = warp.spin;
        const MemoryAccess& access = program_.accesses[op.target];
        if (op.kind == MicroOp::Kind::Store || access.copy ||
            (op.kind == MicroOp::Kind::Atomic && changed_memory(warp.pending_mask))) {
            ++changes_;
            if (touched_blocks_) tell_changes();
            spin.pc = kNoPc;
            return;
        }
        if (spin.pc == pc && spin.address == address) {
            spin.since = 0;
            if (++spin.times >= kPatience) look_again(warp, op);
        } else if (spin.pc == kNoPc || ++spin.since > kLongestSpin) {
            spin.pc = pc, spin.address = address;
            spin.since = spin.times = 0;
        }
    }
    static constexpr uint32_t kPatience = 64, kLongestSpin = 16;
    bool changed_memory(uint32_t mask) const;
    void look_again(Warp& warp, const MicroOp& op);
    void yield(Warp& warp, bool exact);
    bool bring(Warp& warp, uint32_t wanted);
    bool gather(Warp& warp, uint32_t pc, uint32_t members);
    bool waits(const Warp& warp) const { return warp.spin.waits_at == changes_; }
    bool all_wait() const;
    std::string spin_text(const Warp& warp) const;

    // exchange.cpp
    template <bool Values>
    void exchange(Warp& warp, uint32_t pc, uint32_t mask);
    void numbers_of(Warp& warp, uint32_t pc, uint32_t mask, std::array<uint64_t, kWarpSize>& from,
                    std::array<uint64_t, kWarpSize>& given, uint32_t& bytes);

    // matrix.cpp
    template <bool Values>
    void matrix(Warp& warp, const MicroOp& op);
    void multiply(Warp& warp, const MatrixCode& code);
    template <bool Values>
    void multiply_step(Warp& warp, const MatrixCode& code);
    void flow_through(Warp& warp, const MatrixCode& code);
    bool raise_apart(Warp& warp, const MicroOp& op, uint32_t mask);

    // copies.cpp
    uint32_t lanes_that_read(const Warp& warp, const MicroOp& op, uint32_t mask);
    bool locate_copied(Warp& warp, const MicroOp& op, const MemoryAccess& access, uint32_t mask);
    void load_copied(Warp& warp, const MicroOp& op, const MemoryAccess& access, uint32_t mask);
    bool ask(Warp& warp, const MicroOp& op, const MemoryAccess& access, uint32_t mask);
    void arrive(Warp& warp, uint32_t mask, uint32_t left);
    void arrive_before(Warp& warp, uint32_t lane, uint32_t step);  // those that were asked for before a step
    void leave_copies(Warp& warp, uint32_t mask);                  // mask: lanes that exit

    // signals.cpp
    // What a step at a barrier in memory came to: a step was made, none as it waits, or a fault.
    enum class Signalled : uint8_t { Step, Waits, Fault };
    template <bool Values>
    Signalled signal(Warp& warp, const MicroOp& op, uint32_t mask);
    bool locate_barriers(Warp& warp, const MicroOp& op, uint32_t mask);
    MemoryBarrier* barrier_at(Warp& warp, const MicroOp& op, int lane, uint64_t offset);
    bool signal_lane(Warp& warp, const MicroOp& op, const SignalCode& code, uint32_t lane, uint32_t* words);
    bool raise_signal(const Warp& warp, const MicroOp& op, int lane, uint64_t offset, const std::string& what,
                      const std::string& why);
    void wait_at_barrier(Warp& warp, const MicroOp& op, uint32_t lane, uint32_t wanted);
    bool give_up(Warp& warp);
    Signalled give_up_recorded(Warp& warp);
    std::string barrier_name(uint64_t offset) const;
    std::string barrier_text(uint64_t offset) const;
    void tell_words(Warp& warp, uint32_t site, Space space, uint32_t mask);

    // cluster.cpp
    template <bool Values>
    Advance come_to_cluster(Warp& warp, const MicroOp& op);
    void settle_cluster();
    bool raise_at_cluster();
    bool waits_at_cluster(const Warp& warp) const {
        return warp.state == Warp::State::Waiting && warp.barrier == kClusterBarrierNumber;
    }
    bool in_cluster() const { return cluster_.size() > 1; }
    bool has_ended() const {
        return std::ranges::all_of(warps_, [](const Warp& one) { return one.state == Warp::State::Ended; });
    }
    bool names_block(uint64_t in_register) const;
    uint64_t kept(uint64_t in_register) const;
    Machine* block_of_address(uint64_t address) const;
    Machine* reach(const Warp& warp, const MicroOp& op, int lane, const std::string& does, uint64_t address,
                   uint64_t bytes);
    bool locate_in_cluster(Warp& warp, const MicroOp& op, uint32_t mask, uint32_t bytes);
    std::string block_text() const { return block_name(launch_.grid, {block_.x, block_.y, block_.z}); }
    std::string shared_text(uint64_t address, uint32_t bytes, std::string_view noun) const;
    void tell_changes();

    // bulk.cpp
    bool read_bulk(Warp& warp, const MicroOp& op, uint32_t mask);
    bool write_bulk(Warp& warp, const MicroOp& op, uint32_t mask);
    std::byte* bulk_row(const Warp& warp, const MicroOp& op, uint32_t lane, bool writes, Machine& block,
                        uint64_t address, uint64_t bytes);
    bool read_row(Warp& warp, const MicroOp& op, uint32_t lane);
    bool read_box(Warp& warp, const MicroOp& op, uint32_t lane);
    // The block that a copy goes to, and the first byte there, by its own offsets.
    struct BulkTarget {
        Machine* block = nullptr;
        uint64_t at = 0;      // in global memory, where it goes there
        uint64_t behind = 0;  // what an address of this block has more, as it is told
        uint32_t barrier = 0;
    };
    bool write_row(Warp& warp, const MicroOp& op, uint32_t lane, BulkCopy& copy, const BulkTarget& target);
    bool write_box(Warp& warp, const MicroOp& op, uint32_t lane, BulkCopy& copy, const BulkTarget& target);
    bool find_targets(Warp& warp, const MicroOp& op, uint32_t lane);
    bool update_memory(const Warp& warp, const MicroOp& op, uint32_t lane, BulkCopy& copy);
    bool copy_to(Warp& warp, const MicroOp& op, uint32_t lane, const BulkTarget& target,
                 std::vector<std::byte> bytes, bool tells);
    uint64_t side_address(Warp& warp, const BulkCode::Side& side, uint32_t lane);
    std::byte* bulk_memory(ptx::StateSpace space, uint64_t address, uint64_t bytes, bool writes);
    bool raise_bulk(const Warp& warp, const MicroOp& op, uint32_t lane, Fault::Kind kind, bool writes,
                    uint64_t address, uint64_t bytes, const std::string& why);
    bool find_map(Warp& warp, const MicroOp& op, uint32_t lane, BulkRead& read);
    void land(BulkCopy& copy, bool told);
    MemoryBarrier when_landed(uint32_t offset, MemoryBarrier barrier) const;
    void land_at(uint32_t barrier);
    void land_groups(Warp& warp, uint32_t mask, uint32_t left);
    void leave_bulk(Warp& warp, uint32_t mask);
    uint32_t* words_of(uint32_t lane) { return words_.data() + size_t{lane} * ptx::kMostStepWords; }

    // wgmma.cpp
    ptx::MatrixDescriptor descriptor_of(Warp& warp, Ref ref);
    bool tile_step(Warp& warp, const MicroOp& op);
    bool gather_tile(Warp& warp, const MicroOp& op, const WgmmaCode& code, bool of_b, uint32_t first,
                     uint32_t rows, std::vector<std::byte>& bytes);
    void gather_registers(Warp& warp, const WgmmaCode& code, std::vector<std::byte>& bytes);
    bool group_has_come(const Warp& warp) const;
    bool take_operands(Warp& warp, const MicroOp& op);
    void wait_for_group(Warp& warp, const MicroOp& op);
    template <bool Values>
    bool wgmma(Warp& warp, const MicroOp& op);

    // access.cpp
    template <bool Values>
    bool access(Warp& warp, const MicroOp& op, uint32_t mask);
    template <bool Values>
    bool access_in(Warp& warp, const MicroOp& op, ptx::StateSpace space, uint32_t mask);
    bool move_whole(Warp& warp, const MicroOp& op, const MemoryAccess& access, uint32_t mask);
    WarpRequests requests_from(Warp& warp, const MicroOp& op, const MemoryAccess& access);
    Followed& followed(const Warp& warp, const MicroOp& op) {
        return followed_[op.target * warps_.size() + warp.number];
    }
    void prepare_whole();
    template <bool Values>
    void tell(Warp& warp, const MicroOp& op, const MemoryAccess& access, const LanePattern& pattern,
              uint64_t start);
    template <bool Values>
    void report(Warp& warp, const MicroOp& op, const MemoryAccess& access, Request& request);
    bool locate(Warp& warp, const MicroOp& op, ptx::StateSpace space, uint32_t mask);
    void report_values(Warp& warp, const MicroOp& op, const MemoryAccess& access, Request request);
    bool locate_global(Warp& warp, const MicroOp& op, const MemoryAccess& access, uint32_t mask,
                       uint32_t bytes);
    void load(Warp& warp, const MemoryAccess& access, uint32_t mask, bool atomic);
    void store(Warp& warp, const MemoryAccess& access, uint32_t mask, bool atomic);
    void update(Warp& warp, const MemoryAccess& access, uint32_t mask, bool global);  // atomic.cpp
    void addresses(Warp& warp, const MicroOp& op, const MemoryAccess& access);

    // dataflow.cpp
    void flow_before(Warp& warp, const MicroOp& op, const LaneCode& code, uint32_t mask, OriginPlan& plan);
    void flow_after(Warp& warp, const MicroOp& op, const LaneCode& code, uint32_t mask, OriginPlan& plan);
    void report_pairs(Multiplication& report, OriginPlan& plan, std::array<uint64_t, kWarpSize>& sum);
    LooseProduct* loose_product(Warp& warp, Origin origin, uint32_t lane);
    void report_loose(Warp& warp, LooseProduct& product, uint32_t mask,
                      const std::array<Origin, kWarpSize>& result,
                      const std::array<uint64_t, kWarpSize>& sum);
    void report_alone(Warp& warp, LooseProduct& product, uint32_t lanes);
    void settle_loose(Warp& warp, const Origin* origins, uint32_t mask);
    void settle_all_loose(Warp& warp);
    void settle_dead_loose(Warp& warp);
    const Origin* origin(const Warp& warp, Ref ref) const;

    // undefined.cpp
    uint32_t meet(Warp& warp, const MicroOp& op, uint32_t mask);
    uint32_t reads_nobody(Warp& warp, const MicroOp& shuffle, uint32_t members, uint32_t mask);
    std::string of_block(uint32_t lanes, const Warp& warp) const;  // "lanes 2 to 4 of warp 0 of block (1,0)"
    void tell_missing(const Warp& warp);
    void watch_filled(const Warp& warp, const MicroOp& op, const MemoryAccess& access, uint32_t mask);
    Undefined* note_undefined(const MicroOp& op, Undefined::Kind kind);

    // calls.cpp
    void print(Warp& warp, const MicroOp& op, uint32_t mask);
    bool allocate(Warp& warp, const MicroOp& op, uint32_t mask);
    void fail_assertion(Warp& warp, const MicroOp& op, uint32_t mask);
    std::span<const std::byte> memory_from(const Warp& warp, int lane, uint64_t address) const;
    std::string text_at(const Warp& warp, int lane, uint64_t address) const;

    // fault.cpp
    bool raise(Fault::Kind kind, const Warp& warp, int lane, const MicroOp& op, std::string message);
    void raise_access(Warp& warp, const MicroOp& op, const MemoryAccess& access, ptx::StateSpace space,
                      int lane, bool misaligned);
    std::string thread_name(const Warp& warp, int lane) const;  // "thread[0,3]"
    std::string thread_text(const Warp& warp, int lane) const;  // "thread[0,3] of block (1,0)"
    std::string line_text(const MicroOp& op) const;
    std::string named_outside(uint64_t address) const;  // RunOptions::name_outside; empty where nobody knows

    std::byte* at(Warp& warp, Ref ref) { return (in_pool(ref) ? pool_ : warp.registers) + (ref & ~1u); }
    // From a warp's column to that of the next warp.
    ptrdiff_t next_of(Ref ref) const { return in_pool(ref) ? 0 : static_cast<ptrdiff_t>(warp_bytes_); }

    const Program& program_;
    const Launch& launch_;
    const RunOptions& options_;
    std::vector<View> views_;
    bool watches_ = false;             // one of them is not filled whole
    std::vector<uint32_t> last_view_;  // by access: where its last request fell; none before the first
    std::vector<WholeAccess> wholes_;  // by access
    std::vector<Followed> followed_;   // by access, then warp
    LanePatterns patterns_;
    std::vector<Chunk> pool_store_, register_store_, origin_store_, shared_store_, local_store_;
    std::byte* pool_ = nullptr;
    std::byte* shared_ = nullptr;
    std::vector<std::byte> constants_;  // the program's and, where it takes their addresses, the parameters
    uint64_t shared_bytes_ = 0;         // declared and dynamic
    std::vector<Warp> warps_;
    uint32_t ready_ = 0;  // the warps that are Ready, a bit each
    uint32_t owed_ = 0;   // those that have made their request and not yet advanced (together.cpp)
    // Warps that arrived at a barrier without waiting there, since it last let warps go.
    struct Arrived {
        uint32_t times = 0, warps = 0;  // warps that came twice count twice; a bit each
    };
    std::array<Arrived, kGridBarrierNumber> arrived_{};
    bool arrival_ = false;   // the latest step was such an arrival
    uint32_t together_ = 0;  // those of which all lanes are active, and which stand before a request or owe
    size_t warp_bytes_ = 0;  // from one warp's registers to the next one's
    // Instructions that a warp and a block may have run before warps run together, whose loops are not counted.
    uint64_t most_of_warp_ = 0, most_of_block_ = 0;
    std::map<uint32_t, MemoryBarrier> barriers_;  // by offset in shared memory, those that were initialised
    std::vector<BulkCopy> bulk_;                  // under way, in the order in which they were asked for
    uint64_t bulk_bytes_ = 0;                     // of them all
    std::vector<CopyArrival> copy_arrivals_;      // that are still to come
    std::array<uint32_t, kWarpSize * ptx::kMostStepWords> words_{};  // of the latest signal or copy in bulk
    std::vector<BulkTarget> targets_;                                // the same, of a lane's copy
    std::vector<PlacedMap> maps_;                                    // the same
    std::vector<RequestPiece> pieces_;                               // the same, of a copy
    BlockId block_;
    BlockObserver* observer_ = nullptr;
    uint32_t steps_ = 0;    // of this block, so far
    uint64_t changes_ = 0;  // requests of this block that changed memory, so far
    uint64_t clock_ = 0;    // instructions that the block's warps have executed, all together
    uint32_t next_chain_ = 0;
    uint32_t cursor_ = 0;                          // the warp whose turn was the last
    bool at_grid_ = false, grid_is_here_ = false;  // all wait at its barrier; all other blocks do too
    bool waiting_ = false;                         // the block was left as one that Waits
    bool at_cluster_ = false;                      // the same, AtCluster
    bool turn_over_ = false;                       // the same, at its Turn
    uint32_t turn_end_ = 0;                        // steps at which it is the next block's turn
    std::span<Machine* const> cluster_;            // by rank; of a block alone, itself
    Machine* self_ = this;
    uint32_t rank_ = 0;
    uint32_t touched_blocks_ = 0;  // ranks of other blocks that the latest request touched, a bit each
    uint64_t random_ = 0;
    alignas(64) std::array<uint64_t, kWarpSize> address_{};
    std::array<std::byte*, kWarpSize> host_{};
    // What the latest atomic found in memory and left there.
    std::array<uint64_t, kWarpSize> returned_{}, stored_{};
    Space last_space_ = Space::Global;  // of the latest request
    size_t next_return_ = 0;            // index into RunOptions::returns
    alignas(64) std::array<Origin, kWarpSize> no_origin_{};
};

}  // namespace tilescope::simt
