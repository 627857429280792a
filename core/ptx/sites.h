// The static memory instructions, barriers and exchanges of a kernel: what a step is recorded against.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/launch.h"
#include "core/ptx/ast.h"
#include "core/ptx/exchange.h"
#include "core/ptx/signal.h"

namespace tilescope::ptx {

enum class SiteKind : uint8_t { Load, Store, Barrier, Atomic, Exchange, Signal };

inline const char* name_of(SiteKind kind) {
    constexpr const char* kNames[] = {"load", "store", "barrier", "atomic", "exchange", "signal"};
    return kNames[static_cast<size_t>(kind)];
}
inline constexpr uint32_t kMostOfLane = 32;  // bytes that a lane loads or stores at once
constexpr bool asks_memory(SiteKind kind) {
    return kind == SiteKind::Load || kind == SiteKind::Store || kind == SiteKind::Atomic;
}
// Whether each of its lanes has an address: of what it loads, stores or updates, or of a barrier in memory.
constexpr bool has_addresses(SiteKind kind) { return asks_memory(kind) || kind == SiteKind::Signal; }
constexpr bool reads(SiteKind kind) { return kind == SiteKind::Load || kind == SiteKind::Atomic; }
constexpr bool writes(SiteKind kind) { return kind == SiteKind::Store || kind == SiteKind::Atomic; }

// What compilers of Tilescope's headers call for the barrier of a whole grid; it has no body anywhere.
inline constexpr std::string_view kGridBarrier = "cudaCGSynchronizeGrid";

// One ld or st of global, shared, local or constant memory, one atom or red (generic addresses count as
// global until a run shows otherwise), one barrier of a block or grid, or one exchange among the
// lanes of a warp (exchange.h). Parameters are not sites.
//
// A cp.async is two: a load of global memory, of the lanes that read any of it, and a store to shared memory,
// of all. They stand side by side and share their instruction. The store is recorded where the copy is asked
// for; the bytes arrive where the thread waits for them (Trace::arrival). A lane that reads fewer bytes than
// it writes counts as reading all, which lie in the same sector.
//
// A wgmma is a load of shared memory for each matrix that a descriptor says, and an exchange.
//
// wmma.load and wmma.store are as many as the requests of memory that their machine code makes (requests_of in
// core/ptx/matrix.h), side by side.
struct Site {
    uint32_t id = 0;           // index into the site table
    uint32_t instruction = 0;  // index into Kernel::instructions
    SiteKind kind = SiteKind::Load;
    Space space = Space::Global;  // meaningless for barriers and exchanges
    uint32_t bytes = 0;           // of memory that a lane touches, all vector elements together; else 0
    // Place in source_file_of(); where .loc gives none, the nearest one before.
    uint32_t line = 0, column = 0;
    uint32_t ptx_line = 0;
    // What an atomic does to its word, or a reduction of a warp to its lanes' values; None for all others.
    Atomic atomic = Atomic::None;
    Exchange exchange = Exchange::None;  // what is exchanged; None for all others
    Signal signal = Signal::None;        // what is done to a barrier in memory; None for all others
    bool copy = false;                   // one of the two of a cp.async, or of a cp.async.bulk
    Box box = Box::None;  // of another shape than `bytes` for each lane: words say how far it reaches
    uint8_t operand = 0;  // Box::Tile: the place of the matrix's descriptor among the operands
    uint8_t words = 0;    // of 32 bits, that each lane has beside its address (Trace::returned)
    // Of ldmatrix, stmatrix and wmma.load from shared memory: how many matrices of 8 rows of 16 bytes move. Lane 8 j + r
    // gives the address of row r of matrix j, and no other lane counts; who receives the row, core/ptx/matrix.h says.
    // 0: each lane moves what it asks for.
    uint8_t matrices = 0;
    bool transposed = false;  // 8 x 8 elements of 16 bits are, on their way
    // The lanes that can take part in it.
    uint32_t lanes() const { return matrices == 0 || matrices >= 4 ? ~0u : (1u << 8 * matrices) - 1; }
    // Whether what it moves goes from memory to memory past the registers, while the thread does other work.
    bool past_registers() const { return copy; }
    // Whether it reads into registers of the thread, which waits for it where it uses them.
    bool fills_registers() const { return reads(kind) && !past_registers() && box == Box::None; }
    // Whether what it writes is there only where threads have waited for it (core/trace/access.h).
    bool lands_later() const { return past_registers() && kind == SiteKind::Store; }
};

// Whether b, the site behind a, is of the same instruction: of a copy, it writes what a reads.
inline bool goes_on(const Site& a, const Site& b) {
    return a.id + 1 == b.id && a.instruction == b.instruction;
}

// How many groups of copies a cp.async.wait_all leaves under way: none, and not the open one either.
inline constexpr uint32_t kAllGroups = UINT32_MAX;
// How many groups a cp.async.wait_group or wait_all leaves under way.
uint32_t groups_left(const Instruction& wait);

// The operand of a load, store or atomic that says where; of a copy, where it goes to.
const Operand& address_of(const Instruction& instruction);
const Operand& address_of(const Instruction& instruction, const Site& site);

// The number of the source file that the kernel itself stands in, by its .loc lines (Module::files); 0 for
// none. Lines of sites are of this file.
uint32_t source_file_of(const Kernel& kernel);

// What a shuffle, vote, match or reduction of a warp is.
Exchange exchange_of(const Operation& operation);

// In the order of the instructions. bar.warp.sync is not a site: it holds no block. Recordings that were made
// before exchanges were steps have tables without them.
std::vector<Site> sites_of(const Kernel& kernel, bool exchanges = true);
bool has_exchanges(const std::vector<Site>& sites);
// The table of a kernel that a recording with these sites can have: without exchanges where it has none.
std::vector<Site> sites_like(const Kernel& kernel, const std::vector<Site>& recorded);
// Whether two tables are of the same accesses, in whatever spaces these were found to lie.
bool same_sites(const std::vector<Site>& a, const std::vector<Site>& b);

}  // namespace tilescope::ptx
