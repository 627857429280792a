// Puts a recording sequence before every load, store, barrier and exchange of a kernel. Behind a sequence in which
// lanes may part, those of an instruction on matrices meet again (bar.warp.sync), as it is .aligned.
//
// Nothing of the kernel's own is changed: its registers and predicates keep their values, and the
// sequence uses registers of its own. What it writes:
//
//   pool of chunks (kChunkBytes each, aligned)                          control block
//   +--------+--------+--------+----- ... -----+                        +-------------------------+
//   | chunk 0| chunk 1| chunk 2|               |  <-- next chunk -------| see Control             |
//   +--------+--------+--------+----- ... -----+      (one atomic a     +-------------------------+
//      |                                               chunk, none a record)
//      +--> header 32 bytes | slot | slot | ...  16 bytes each, to the chunk's end or Header::used
//
// A stream is a list of chunks. A warp has one stream for what it does as a whole, whose cursor all
// its lanes carry alike and advance only while all of them are active; and each lane has one for
// what its part of the warp does while the warp is divided: a part's lowest lane writes for it, and
// parts have different lowest lanes. So no two parts of a warp can ever write to the same slot,
// whatever the hardware's scheduler does, and no record needs an atomic.
//
// Slots (words of 32 bits). tag = clock << code_bits | code; Code says what the slot is of.
//
//   single   address low | tag | address high | active mask
//   pair     address low of a | tag, a's clock | address low of b | b's clock
//            Two sites of one basic block, executed by the whole warp: mask is the warp's. The high
//            halves of global addresses are those of the array's (checked by every lane as it goes,
//            Control::flags).
//   run      address low of its first site | tag, that site's clock | words, up to the end of its last slot
//            Neighbouring sites of one basic block, executed by the whole warp. The words are addresses, one
//            for each register that addresses are made from, and the low halves of the clocks of all sites
//            but the first, two a word (RunPlace). The whole run takes less than 2^16 clocks (checked, as
//            the addresses are). A product of matrices within a run leaves nothing there: it has the clock of
//            the site before it.
//   escape   a single, then 16 slots: 32 addresses of 64 bits, by lane; of inactive lanes, anything
//   narrow   a single, then what differs of its lanes' addresses (NarrowAddresses): in shared memory, which has less than
//            2^18 bytes, the address by the bytes that are accessed, or by sixteen, in 16 bits where that is enough; else
//            its low half. The high half of a global address is the single's (checked by every lane).
//   barrier  as a single with address 0, or as half of a pair
//   exchange as a single with address 0 where all that is exchanged follows from immediate operands, or one whose
//            address is the lanes that vote for; else as an escape with these numbers in place of addresses:
//            of a shuffle its two operands, of a match the lanes that have the same value, of a reduction
//            the lanes of the team. The lanes that the member mask names meet before they record.
//
//            Of a product of matrices, and a movmatrix, nothing is to be said: as a barrier, or within a run.
//   matrices Of ldmatrix and stmatrix of fewer than four matrices only the first lanes give addresses. All lanes are
//            recorded, and the others left out by who reads. The lanes of a wmma.load or wmma.store ask where its one
//            address and its stride say; where the stride is known, so are the distances of the lanes
//            (Instrumented::distances).
//
//   commit, wait
//            as a barrier's single: a cp.async.commit_group of the active lanes, or a wait; written behind
//            the instruction, where the copies that a wait is for have arrived. Of a cp.async two sites are
//            recorded before it, its load (of the lanes that read any bytes) and its store.
//            A bulk.commit_group and a bulk.wait_group too; not a wait_group.read, behind which nothing has landed.
//   returned as an escape, with the bits that an atomic returned in place of addresses; written behind the
//            instruction by the lanes that come there together, which need not be those that went in
//   words    Of a site with words (Site::words): a single, then of each active lane, lowest first, its address in 64 bits
//            and its words, up to the end of a slot. Of a tile one lane of each warp writes it, of B that of the first of
//            four warps. A wait at a barrier in memory is recorded behind the instruction, of
//            the lanes whose phase has ended. The parity of a phase that a state names is asked of the barrier there.
//
// What leaves a warp fewer registers than it was begun with (setmaxnreg) is left out: the recording needs some.
//
// Generic addresses are recorded as those of the space that they lead to, with a mark (kGenericShared ...)
// above all bits of an address.
//
// The address of a single or pair is that of the lowest active lane; the others follow from the site's
// LaneShape. Clocks are the low 32 bits of the SM's, in tags fewer: a stream's times are unrolled from the
// full clock in each chunk's header. The next header, or the closing clock, shows a gap too long for that.
//
// The clock of an SM can be compared among the warps that run on it, and so among the warps of a block, which
// never leaves its SM. Clocks of different SMs start at different times and cannot be compared.
//
// Source: PTX ISA, "Special Registers: %clock, %clock64, %smid, %lanemask_lt"; "activemask";
// "Control Flow Instructions: bra.uni".
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/ptx/affine.h"
#include "core/ptx/ast.h"

namespace tilescope::ptx {

inline constexpr uint32_t kDefaultChunkBytes = 4096;
inline constexpr uint32_t kSlotBytes = 16;
inline constexpr uint32_t kEscapeBytes = 17 * kSlotBytes;  // a single, and 32 addresses of 64 bits
// What follows the single of a narrow record: of so many lanes, of each so many bytes, which times 2^shift are its address.
struct NarrowAddresses {
    uint32_t lanes = kWarpSize, bytes = 4, shift = 0;
    constexpr uint32_t record_bytes() const { return kSlotBytes + lanes * bytes; }
};
// Of a site of shared or global memory. Rows of matrices are given by eight lanes each.
constexpr NarrowAddresses narrow_addresses(const Site& site) {
    if (site.matrices != 0) return {8 * std::min<uint32_t>(site.matrices, 4), 2, 4};
    if (site.space != Space::Shared || site.bytes < 4 || !std::has_single_bit(site.bytes)) return {};
    return {kWarpSize, 2, static_cast<uint32_t>(std::countr_zero(std::min<uint32_t>(site.bytes, 16)))};
}
// What each active lane has in a record with words, and all of the record.
constexpr uint32_t words_lane_bytes(uint32_t words) { return 8 + 4 * words; }
constexpr uint32_t words_record_bytes(uint32_t words, uint32_t lanes) {
    return kSlotBytes + (lanes * words_lane_bytes(words) + kSlotBytes - 1) / kSlotBytes * kSlotBytes;
}
inline constexpr uint32_t kChunkHeaderBytes = 32;
inline constexpr uint32_t kWarpStream = 0xFF;  // ChunkHeader::lane
inline constexpr uint32_t kPadCode = 0;        // the rest of the chunk is not used

// First 32 bytes of a chunk, as the device writes them.
struct ChunkHeader {
    uint32_t block = 0;   // in the window: x + y * width + z * width * height
    uint32_t stream = 0;  // warp of the block | lane (kWarpStream for the warp's own) << 8
    uint64_t clock = 0;   // %clock64 when the chunk was begun; orders the chunks of a stream
    uint32_t used = 0;    // bytes from the chunk's (aligned) start, 0: all of it
    uint32_t sm = 0;
    // %clock64 when the stream was closed; 0 while used is 0.
    uint32_t last_clock_low = 0, last_clock_high = 0;
};
static_assert(sizeof(ChunkHeader) == kChunkHeaderBytes);

// What the host lays out for the device; its address is the kernel's last parameter but four.
struct ControlBlock {
    uint32_t next_chunk = 0;  // the device adds to it
    uint32_t chunks = 0;      // in the pool
    uint64_t pool = 0;        // address of chunk 0's aligned start
    uint64_t pool_start = 0;  // where writing may begin: pool, or inside chunk 0, which is then shorter
    uint64_t dropped = 0;     // address of a u32 a block of the window: requests that found no chunk
    uint32_t flags = 0;       // or-ed by the device: kFlag...
    uint32_t symbols = 0;     // how many addresses of variables follow; written by the device
    // uint64_t symbol[symbols]: addresses of variables, each in its space, in the order of
    // Instrumented::symbols
};
static_assert(sizeof(ControlBlock) == 40);

// A lane's address left what was proven of it (another 4 GiB, a 32-bit index that wraps), or a run took too
// long for its clocks: what was recorded cannot be trusted, and must be recorded again without
// InstrumentOptions::runs, or with InstrumentOptions::exact.
inline constexpr uint32_t kFlagNotAsProven = 1;

inline constexpr uint64_t kGenericShared = uint64_t{1} << 62, kGenericLocal = uint64_t{1} << 61,
                          kGenericConst = uint64_t{1} << 60;

struct Code {
    enum class Kind : uint8_t {
        Pad,
        Single,
        Pair,
        Escape,
        Narrow,
        Words,
        Returned,
        Run,
        Commit,
        Wait,
        BulkCommit,
        BulkWait
    } kind = Kind::Pad;
    uint32_t site = 0;    // id of the site, of a pair or run the first one; commits and waits have none
    uint32_t second = 0;  // Pair: its second site; Run: its last; waits: groups left under way, or kAllGroups
    uint32_t slots = 0;   // Run: slots that it takes
    bool of_groups() const { return kind >= Kind::Commit; }
    bool operator==(const Code&) const = default;
};

// Where a run holds the address and clock of one of its sites.
struct RunPlace {
    static constexpr uint32_t kNone = UINT32_MAX;
    uint32_t base = kNone;  // word that holds an address; kNone for a barrier
    int64_t offset = 0;     // bytes from that address to the site's
    // Half word that holds its clock, counted from the first word's low half; kNone for the first site, and for a
    // product of matrices, whose clock is taken to be that of the site before it.
    uint32_t clock = kNone;
};

// The operands of an exchange that are immediate, so that its record need not hold them.
struct ExchangeOperands {
    bool known = false;     // all that is exchanged follows from them and the lanes, but who votes for
    uint32_t b = 0, c = 0;  // of a shuffle (exchange.h)
    uint32_t members = ~uint32_t{0};  // the member mask
};

struct InstrumentOptions {
    LaunchFacts launch;
    // By parameter: the high half of every address of the array bound to it, where it has one and
    // lies within one 4 GiB; used for pairs. The array that a site touches need not be known: all must agree.
    bool same_high = false;
    uint32_t high = 0;
    bool windowed = false;  // blocks outside the window run the kernel's own code
    bool runs = true;       // where sites follow each other, record them together
    bool exact = false;     // every lane's address in full: believes nothing, 272 bytes a request
    uint32_t chunk_bytes = kDefaultChunkBytes;  // a power of two, 512 .. 65536; more where a record needs it
};

// Parameters that the instrumented kernel takes after its own: control block u64, then the window
// x0, y0, width, height, u32 each (unwindowed kernels take them too).
struct Instrumented {
    Module module;                            // holds the one kernel, under its own name
    std::vector<Site> sites;                  // of the kernel as it was
    std::vector<LaneShape> shapes;            // by site
    std::vector<Code> codes;                  // by code; 0 is the pad
    std::vector<RunPlace> places;             // by site, of those in runs
    std::vector<ExchangeOperands> exchanges;  // by site, of exchanges
    // By site, of some: how far each lane's address lies above the lowest lane's (modulo 2^64).
    std::map<uint32_t, std::array<uint64_t, kWarpSize>> distances;
    uint32_t code_bits = 0;            // bits of a tag that hold the code
    std::vector<std::string> symbols;  // shared, local and constant variables, as ControlBlock lists them
    uint32_t chunk_bytes = kDefaultChunkBytes;
    // Where each of the kernel's own parameters begins, in bytes from the first one, and where the last one ends.
    std::vector<uint64_t> parameters;
    bool one_barrier = false;  // all its barriers are barrier 0 of the whole block, as __syncthreads() is
};

// The most bytes that a step of each site leaves in the device trace buffer, by site.
std::vector<uint32_t> bytes_of_steps(const Instrumented& code);

// Fails for a kernel that it cannot instrument (no room in tags), in one sentence.
Result<Instrumented> instrument(const Module& module, const std::string& kernel,
                                const InstrumentOptions& options);

}  // namespace tilescope::ptx
