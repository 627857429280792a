// A kernel made ready to run: PTX lowered to micro-operations on columns.
//
//   registers of a warp   [predicates, 4 bytes each][column][column]...     a column: 32 slots
//   constant pool         immediates, parameters, launch sizes: columns too, one pool a CPU thread
//
// An operand is a Ref: a byte offset into one of the two, so that running a micro-operation never
// asks what kind of operand it has. Most PTX instructions become one micro-operation; some become
// several with temporary columns between them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/launch.h"
#include "core/ptx/ast.h"
#include "core/ptx/matrix.h"
#include "core/ptx/ops.h"
#include "core/ptx/sites.h"
#include "core/simt/interpreter.h"
#include "core/simt/lanes.h"

namespace tilescope::simt {

inline constexpr uint32_t kColumnBytes = 128;  // of 32-bit slots; twice as much of 64-bit slots
inline constexpr uint32_t kNoPc = UINT32_MAX;
inline constexpr uint32_t kNoGuard = UINT32_MAX;
inline constexpr uint32_t kNoSite = UINT32_MAX;

// A byte offset; the lowest bit says that it is one into the constant pool.
using Ref = uint32_t;
constexpr bool in_pool(Ref ref) { return ref & 1; }

// Where generic addresses of other spaces than global lie.
inline constexpr uint64_t kSharedWindow = 0xF000'0000'0000'0000;
inline constexpr uint64_t kLocalWindow = 0xF100'0000'0000'0000;
inline constexpr uint64_t kConstWindow = 0xF200'0000'0000'0000;
inline constexpr uint64_t kModuleWindow = 0xF300'0000'0000'0000;  // module variables in global memory
inline constexpr uint64_t kWindowBytes = 0x0100'0000'0000'0000;
// The first generic address of a space; addresses of global memory are generic ones.
constexpr uint64_t window_of(ptx::StateSpace space) {
    using enum ptx::StateSpace;
    if (space == Shared) return kSharedWindow;
    if (space == Local) return kLocalWindow;
    return space == Const || space == Param ? kConstWindow : 0;
}

// A Barrier's c: b holds its count of threads; what d gets of the predicates e of all threads; it is the
// grid's; the warp is counted there and goes on (bar.arrive); it is the cluster's.
inline constexpr Ref kBarrierThreads = 1, kBarrierCount = 2, kBarrierAll = 4, kBarrierAny = 8,
                     kBarrierGrid = 16, kBarrierArrives = 32, kBarrierCluster = 64;
// The numbers of the grid's barrier and of the cluster's, behind the 16 of a block.
inline constexpr uint32_t kGridBarrierNumber = 16, kClusterBarrierNumber = 17;

struct MicroOp {
    // Print: vprintf, format a, arguments b, result d. Assert: __assertfail, message a, line c. Allocate:
    // malloc, bytes a, result d. Free: address a. Load of a copy: where c is 1, b holds how many bytes a lane
    // reads. Commit closes each lane's group of copies; Wait: for all groups but the latest `target`, or
    // ptx::kAllGroups. Converge: lanes come together; a holds the mask that each of them
    // names, and c is 1 where what they do together follows, a Lane; target: its site, kNoSite for none.
    // Matrix: what `matrices[target]` of the program says, by the whole warp. Signal: what `signals[target]` says, of
    // a barrier in memory. Bulk: what `bulks[target]` reads, or with c of 1 where it writes. BulkCommit, BulkWait: of the
    // groups of such copies, as Commit and Wait. Tile: what `wgmmas[target]` reads of A, or with c of 1 of B; Wgmma:
    // its product.
    // clang-format off
    enum class Kind : uint8_t {
        Lane, Load, Store, Atomic, Barrier, Branch, Exit, Trap, Clock, Print, Assert, Allocate, Free, Nothing,
        Commit, Wait, Converge, Matrix, Signal, Bulk, BulkCommit, BulkWait, Tile, Wgmma,
    };
    // clang-format on
    Kind kind = Kind::Nothing;
    bool counted = true;  // false for all but the last micro-operation of an instruction
    bool join = false;    // a diverged warp may reconverge here
    bool guard_negated = false;
    bool aligned = false;       // all 32 lanes of a warp must come to it together
    uint32_t guard = kNoGuard;  // offset of a predicate
    uint32_t target =
        0;  // Branch: pc; Load, Store, Atomic: index into Program::accesses; Matrix, Signal, Bulk: into theirs
    uint32_t reconverge = kNoPc;  // Branch: pc
    Ref d = 0, e = 0, a = 0, b = 0, c = 0;
    uint32_t instruction = 0;  // index into Kernel::instructions
    // Of a Lane: how many run one after the other from it on, none with a guard and no other a join (0: it has
    // a guard itself); how many of these are counted.
    uint16_t run = 0, run_counted = 0;
    // A warp whose lanes are together comes from here to its next step, or its end, by arithmetic and branches
    // alone, and without a fault.
    bool calm = false;
    LaneFn full = nullptr, partial = nullptr;
    WarpsFn warps = nullptr;
};
constexpr bool is_request(MicroOp::Kind kind) {
    return kind == MicroOp::Kind::Load || kind == MicroOp::Kind::Store || kind == MicroOp::Kind::Atomic;
}

// What a Lane micro-operation computes, from which its functions are chosen; and what it does to origins
// (Request::origin). Beside the micro-operation, as no more than its functions are needed to run it.
struct LaneCode {
    ptx::Operation does;
    ptx::Dataflow flow = ptx::Dataflow::None;  // where it is a copy: apply `origin` to the origins of a, b
    uint8_t flop = 0;                          // floating-point operations of a lane: 2 for fma
    bool writes_column = false;                // d is a column, not a predicate (which has no origin)
    ptx::Half takes = ptx::Half::None;  // it takes the lower or upper half of a pair of 16 bits: a copy
    LaneFn origin = nullptr;
};

// A load, store or atomic; the address is column a of the micro-operation plus offset.
struct MemoryAccess {
    ptx::StateSpace space{};
    int32_t site = -1;  // -1 for none: it is no step
    uint8_t element_bytes = 4, elements = 1;
    bool is_signed = false;    // loads of 8, 16 or 32 bits extend their sign into wider registers
    bool is_float = false;     // of an atomic: it adds floating-point numbers
    bool wide_address = true;  // 64-bit address column; else 32-bit
    bool cluster = false;      // its addresses of shared memory may be those of other blocks of the cluster
    bool copy = false;         // half of a cp.async: a store whose bytes arrive at the wait, or its load
    ptx::Atomic atomic = ptx::Atomic::None;
    ptx::Type half =
        ptx::Type::None;   // of an atomic of half precision: F16 or BF16, or pairs of 4 bytes of it
    uint32_t lanes = ~0u;  // that take part; others give no address
    int64_t offset = 0;
    // Destination or source columns; of an atomic: destination, operand, and cas's second operand.
    // Of an atomic of several elements: their destinations, then their operands.
    std::array<Ref, 8> data{};
    std::array<uint8_t, 8> data_bytes{};  // their registers' sizes
};

// That a lane loads or stores.
constexpr uint32_t bytes_of(const MemoryAccess& access) {
    return uint32_t{access.element_bytes} * access.elements;
}

// Of an atomic: its elements are updated one by one.
constexpr bool has_elements(const MemoryAccess& access) {
    return access.elements > 1 || access.half != ptx::Type::None;
}

// What is done to a barrier in memory, whose address is column a of the micro-operation plus offset.
struct SignalCode {
    ptx::Signal signal{};
    ptx::StateSpace space = ptx::StateSpace::Shared;  // or Generic
    uint32_t site = kNoSite;
    bool wide_address = true;
    bool parity = false;      // Wait: b holds the parity of a phase; else the state that an arrival returned
    bool increments = false;  // CopyArrive: the phase expects one arrival more
    bool returns =
        false;  // Arrive, Drop: d gets the state. Wait: d, a predicate, gets whether the phase has ended
    bool has_count = false;  // b holds the arrivals; else it is one
    bool has_bytes = false;  // c holds the bytes
    bool cluster = false;    // the barrier may be another block's
    int64_t offset = 0;
};

// A copy by the unit for copies: of bytes that lie side by side (cp.async.bulk), or of a box of a tensor
// (cp.async.bulk.tensor), whose side in global memory its map says.
struct BulkCode {
    struct Side {
        ptx::StateSpace space{};
        uint32_t site = kNoSite;
        bool wide_address = true;
        int64_t offset = 0;
        Ref address = 0;
    };
    Side from, to, barrier;  // barrier: of a copy to shared memory; no site
    Ref bytes = 0;           // not of a tensor
    bool of_group = false;   // it is one of its thread's open group, and signals no barrier
    bool multicast =
        false;  // it goes to each block of the cluster whose bit of `blocks` is set, with its barrier there
    Ref blocks = 0;
    bool tensor = false, gathers = false;
    ptx::Atomic reduces = ptx::Atomic::None;  // it updates what lies there
    ptx::Type element = ptx::Type::None;      // by elements of that type; of a tensor the map says it
    Side map;
    std::vector<Ref> coordinates, offsets;
};

// wgmma.mma_async: D = A B + D. A is in registers, or a tile as B is.
struct WgmmaCode {
    struct Tile {
        Ref descriptor = 0;
        uint32_t site = kNoSite;
        bool transposed = false;  // MN-major
    };
    ptx::MatrixForm form;
    Tile a_tile, b_tile;
    std::vector<Ref> a, d;
    uint32_t scale = kNoGuard;  // the predicate that says whether D is added; kNoGuard: it is
    uint32_t site = kNoSite;    // of the product
    bool negates = false;
    uint8_t selector = 0;  // of a sparse A's metadata
    Ref metadata = 0;
};

// What a warp does with matrices; columns of A, B and C are read, those of D written.
//
//   Addresses   d[0] = a[0] + (along[lane] * b[0] + beside[lane]) elements: what a lane of a wmma asks for
//   Receive     d: fragments of 8 x 8 matrices whose rows a holds, four words a row (ldmatrix)
//   Give        d: such rows, of fragments a (stmatrix)
//   Transpose   d[0] = the matrix in a[0], transposed
//   Multiply    d = a b + c
struct MatrixCode {
    enum class Kind : uint8_t { Addresses, Receive, Give, Transpose, Multiply } kind{};
    bool transposed = false;
    bool wide = true;         // Addresses: columns of 64 bits
    uint8_t bits = 0;         // Addresses: of an element
    uint32_t site = kNoSite;  // of Transpose and Multiply, which are steps
    uint8_t selector = 0;     // of the lanes that hold a sparse A's metadata
    Ref metadata = 0;
    std::vector<Ref> d, a, b, c;
    std::array<uint32_t, kWarpSize> along{}, beside{};
    ptx::MatrixForm form;
    // Multiply, by ptx::MatrixRole: where in its tile an element lies, [register][element][lane].
    std::array<std::vector<uint16_t>, 4> places{};
};

// A column of the constant pool and what fills it.
struct PoolColumn {
    enum class Kind : uint8_t {
        Immediate,  // bits
        Parameter,  // from byte `bits` of the parameters on, as `type` for a register of `index` bytes
        Ntid,
        Nctaid,  // launch sizes, index 0 to 2
        Ctaid,   // filled anew for every block
        Clusterid,
        Nclusterid,
        ClusterCtaid,
        ClusterNctaid,
        ClusterRank,  // of Ctaid's kind, as Clusterid and ClusterCtaid
        ClusterBlocks,
        ExplicitCluster,
        LaneId,
        LanemaskEq,
        LanemaskLe,
        LanemaskLt,
        LanemaskGe,
        LanemaskGt,
        WarpCount,
        DynamicShared,  // bytes a block
        TotalShared,
    } kind{};
    uint8_t bytes = 4;  // slot: 4 or 8; 0 for a predicate (one word)
    uint16_t index = 0;
    ptx::Type type = ptx::Type::None;
    uint64_t bits = 0;
    uint32_t offset = 0;  // where it lies in the pool
    bool operator==(const PoolColumn&) const = default;
};

// The first bytes of a variable; zeros follow.
struct InitialBytes {
    uint64_t offset = 0;
    std::vector<uint8_t> bytes;
};

class Program {
public:
    std::string kernel;
    std::vector<MicroOp> code;
    std::vector<LaneCode> lanes;  // parallel to code
    std::vector<MemoryAccess> accesses;
    std::vector<MatrixCode> matrices;
    std::vector<SignalCode> signals;
    std::vector<BulkCode> bulks;
    std::vector<WgmmaCode> wgmmas;
    std::vector<ptx::Site> sites;
    // What an address of a site was made from: a parameter, by its number, or a variable, by its symbol.
    struct AddressBase {
        int32_t parameter = -1;
        int64_t offset = 0;  // of a parameter: bytes from its beginning to the pointer
        std::string symbol;
    };
    std::vector<std::vector<AddressBase>> address_bases;  // by site
    std::vector<uint32_t> ptx_lines;                      // by instruction
    std::vector<uint32_t> source_lines;
    std::vector<ptx::Op> operations;
    std::vector<PoolColumn> pool;
    uint32_t pool_bytes = 0, register_bytes = 0;
    // Registers that a block may read before it writes them: they are cleared when it starts.
    struct RegisterRange {
        uint32_t offset = 0, bytes = 0;
    };
    std::vector<RegisterRange> cleared;
    // Columns of a warp's registers that are filled when its machine is made; UINT32_MAX where not used.
    std::array<uint32_t, 3> tid{UINT32_MAX, UINT32_MAX, UINT32_MAX};
    uint32_t warp_id = UINT32_MAX;
    // Where each parameter lies in the block of parameters.
    struct ParameterPlace {
        uint32_t offset = 0, bytes = 0;
        bool is_object = false;  // declared as an array of bytes, as structs are
    };
    std::vector<ParameterPlace> parameters;
    uint32_t parameter_bytes = 0;
    // Where the block of parameters begins in constant memory, if the kernel takes their addresses; else 0.
    uint64_t parameter_base = 0;
    bool parameters_addressed = false;
    // Its threads order what they do in global memory for threads of other blocks: a fence beyond the block, or loads
    // and stores that are volatile, relaxed, acquire or release.
    bool has_fences = false;
    bool has_volatile =
        false;  // it has such loads and stores, of any memory: its threads may wait for each other
    // Why it cannot be run here, an instruction that only a GPU knows (ptx::Op::Opaque); "" where it can.
    std::string unknown;
    // It asks for its cluster, or accesses other blocks of it: these run side by side.
    bool clusters = false;
    std::optional<Dim3> required_cluster;    // .reqnctapercluster
    bool grid_barrier = false;               // it has a barrier of the grid: all blocks run side by side
    std::map<std::string, uint64_t> shared;  // offsets of shared variables
    uint64_t shared_bytes = 0;               // bytes of shared memory that the kernel declares
    uint64_t local_bytes = 0;                // bytes of local memory per thread
    std::vector<std::byte> constants;        // what constant memory holds
    std::map<std::string, uint64_t> constant_offsets;  // offsets of constant variables
    std::map<std::string, uint64_t> local;             // offsets of local variables
    uint64_t module_bytes = 0;  // bytes of variables in global memory, from kModuleWindow on
    std::vector<InitialBytes> module_initial;
};

// The indices of a thread, from its number in the block.
constexpr std::array<uint32_t, 3> place_in_block(const Dim3& block, uint32_t thread) {
    return {thread % block.x, thread / block.x % block.y, thread / block.x / block.y};
}

// Fills the slots of a column: bytes 4 or 8 each, 0 for a predicate.
void fill_column(std::byte* column, int bytes, uint64_t value);
// The constant pool of a launch, but for what differs from block to block; and that.
void fill_pool(const Program& program, const Launch& launch, std::byte* pool);
void fill_pool_of_block(const Program& program, const Launch& launch, const Dim3& block, std::byte* pool);
// Constant memory: the program's and, where it takes their addresses, the parameters behind it.
std::vector<std::byte> constants_of(const Program& program, const Launch& launch);
// The space of a generic address.
ptx::StateSpace space_of_generic(uint64_t address);

// prepare(), with lane functions of the caller's choice.
Result<std::shared_ptr<const Program>> prepare(const ptx::Module& module, const std::string& kernel,
                                               LaneVersion version, const std::vector<Array>& arrays = {},
                                               bool exchanges = true);

}  // namespace tilescope::simt
