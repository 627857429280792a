// What a trace file may claim. A file comes from anybody, and every number in it is a claim until it is held
// against what it follows from:
//
//   what                                 follows from
//   -----------------------------------  ---------------------------------------------------------------
//   grid, block, shared memory, memory   CUDA C++ Programming Guide, "Technical Specifications per Compute
//                                        Capability", the highest value of all (the table in claims.cpp)
//   blocks                               the launch and the window
//   steps                                the blocks, the columns
//   forms                                the steps: each form has one
//   rows of offsets                      the forms: one for each irregular form, two for a wide one
//   fault, result                        the launch, the arrays
//   complete, verified                   the steps and the PTX (derive)
//   bytes of a section, unpacked         its stored bytes, and the memory that is allowed (memory_limit)
//
// A claim that contradicts another one is an Error of one sentence; the sentences call the file "it".
#pragma once

#include <cstdint>
#include <string_view>

#include "core/base/result.h"
#include "core/trace/trace.h"

namespace tilescope::trace {

// Names are bounded by what compilers make of them: mangled names of templates have some thousand bytes.
enum class Claim : uint8_t {
    BlockX,
    BlockY,
    BlockZ,
    BlockThreads,
    GridX,
    GridY,
    GridZ,
    SharedBytes,
    ConstantBytes,
    GlobalBytes,
    Arrays,
    Arguments,
    NameBytes,
    ReasonBytes,
    MetaBytes,
    SourceBytes,
    SourceLines,
    PtxBytes,
    PtxLines,
    BlockSteps,
    Dropped,
    ClockMhz,
    Milliseconds,
};

// The highest value of a claim.
uint64_t most_of(Claim claim);

// "its text of the source has 300,000 lines, more than the 200,000 that a recording can hold"
Result<void> within(Claim claim, uint64_t value);

// Bytes that a recording and what is made of it may take: TILESCOPE_MAX_MEMORY gigabytes of the environment,
// or 1 GB. An Error where the variable is no number of gigabytes from 0.001 to 1,000,000.
Result<uint64_t> memory_limit();

// What is left of it (of 1 GB where it is not readable) beside a recording, and one that was open when it was
// read, for what is made of it: at least an eighth of it, or of the recording if that is larger.
uint64_t memory_left(const Trace& trace);

// Takes back what a recording says of its result, as that of one whose steps are not its code's.
void drop_result(Meta& meta);

// Lane accesses that one walk over a recording looks at one by one: those of 12.5 million full requests for
// each gigabyte that is allowed. What repeats is looked at once (analysis/cost.h), so that more steps than
// these are counted all the same.
uint64_t most_lane_accesses();

// "counting ... takes more than the 400,000,000 lane accesses that are looked at; set TILESCOPE_MAX_MEMORY
// ..."
Error more_work(std::string_view what);

// "counting ... takes more memory than the 1 GB that are allowed; set TILESCOPE_MAX_MEMORY ..."
Error more_memory(std::string_view what);

// The bytes that a file of `stored` bytes may unpack to under a limit of memory: three quarters of it, as
// what is made of a recording takes some too; 64 times its own size where that is more, up to four limits.
// (10 million requests take 80 MB, 120 MB with clocks.) beside: bytes of another recording that stays open.
uint64_t most_unpacked(uint64_t limit, uint64_t stored, uint64_t beside = 0);

// The most bytes that `stored` bytes of zstd can unpack to: a block takes 4 bytes at least and holds 128 KiB
// at most (RFC 8878, 3.1.1.2).
uint64_t most_unpacked_by_zstd(uint64_t stored);

// All that Meta and Launch say, each field and each against the others. Nothing that is not in them is used:
// checked before anything is allocated for arrays and blocks.
Result<void> check_claims(const Meta& meta, const Launch& launch);

// Blocks of the launch that lie in its window, which has one of them at least once check_claims is passed.
uint64_t blocks_of_window(const Meta& meta, const Launch& launch);

}  // namespace tilescope::trace
