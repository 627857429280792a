// The layout of a trace file, .tsc, version 2; version 3 with copies by cp.async, version 4 with exchanges among
// lanes of a warp, version 5 with instructions on matrices, version 6 with sites that have words. Numbers are
// little-endian.
//
//   +----------------------------------------------------------------------------+
//   | header        magic[8] version u32, sections u32, file bytes u64,          |  32 bytes
//   |               CRC of the section table u32, CRC of the bytes before it u32 |
//   +----------------------------------------------------------------------------+
//   | section table one entry a section: kind u32, encoding u32,                 |  32 bytes each
//   |               stored bytes u64, raw bytes u64, CRC of stored u32, zero u32 |
//   +----------------------------------------------------------------------------+
//   | sections      stored bytes, one after another, in the order of the table   |
//   +----------------------------------------------------------------------------+
//
//   Meta        JSON: Meta, launch and sites                            1
//   Source      kernel source, as it was                                1
//   Ptx         PTX, as it was                                          1
//   Forms       28 bytes each                                           1
//   Irregular   rows of 32 offsets of 32 bits                           1
//   Blocks      40 bytes each; Block::first is the sum of the counts    1
//   Contents    what a global array held before the launch, its bytes   one for each array whose contents
//                                                                       are stored, in their order
//   Key, Base, Time  one column of the steps, kChunkSteps a section     a section for each chunk;
//                                                                       Time only where there are clocks
//   Returned    Trace::returned, its bytes                              1, only where there are atomics of
//                                                                       global memory, or sites with words
//   Arrivals    Trace::arrival, 32 bits each                            1, only where there are copies
//
// The sections stand in this order; all chunks of Key, then those of Base, then those of Time. Every
// byte of the file is under one of the checksums, and there are no bytes between or after sections.
//
// Columns are made small before zstd sees them, each chunk for itself so that chunks decode side by
// side. A base is stored as its difference from the last base of the same form and warp (found by
// a small direct-mapped table, so that a collision costs a few bytes and nothing else): shared
// memory loads then store zeros, and walks through a matrix store their constant step. Time is stored
// as the difference from the step before.
//
// The magic is built like PNG's (ISO/IEC 15948, 5.2): the high bit, CR LF, Ctrl-Z and LF show transfers
// that changed bytes. Checksums are CRC-32C (RFC 3720, appendix B.4). Compression is zstd (RFC 8878).
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/trace/trace.h"

namespace tilescope::trace {

static_assert(std::endian::native == std::endian::little, "columns are copied as they lie in memory");

inline constexpr std::string_view kMagic{"\x89TSC\r\n\x1A\n", 8};
inline constexpr uint32_t kFileVersion = 2;
inline constexpr uint32_t kCopiesVersion = 3;     // with sites that are halves of a cp.async, and Arrivals
inline constexpr uint32_t kExchangesVersion = 4;  // with sites that are exchanges; with or without copies
// With sites that move or multiply matrices; with or without copies and exchanges.
inline constexpr uint32_t kMatricesVersion = 5;
// With sites that have words: barriers in memory, accesses of other shapes; with or without the others.
inline constexpr uint32_t kWordsVersion = 6;
inline constexpr uint64_t kHeaderBytes = 32;
inline constexpr uint64_t kEntryBytes = 32;
inline constexpr uint64_t kChunkSteps = 1u << 20;

inline constexpr uint64_t kMaxSteps = 1ull << 32;
inline constexpr uint32_t kMaxSections = 3 * static_cast<uint32_t>(kMaxSteps / kChunkSteps) + 8 + kNoArray;

enum class SectionKind : uint32_t {
    Meta,
    Source,
    Ptx,
    Forms,
    Irregular,
    Blocks,
    Contents,
    Key,
    Base,
    Time,
    Returned,
    Arrivals
};
enum class Encoding : uint32_t { Raw, Zstd };

struct Section {
    SectionKind kind{};
    Encoding encoding{};
    uint64_t stored = 0;  // bytes in the file
    uint64_t raw = 0;     // bytes once decompressed
    uint32_t crc = 0;     // CRC-32C of the stored bytes
    uint64_t offset = 0;  // offset of the stored bytes in the file; not written but summed up
};

inline constexpr uint64_t kFormBytes = 28;
inline constexpr uint64_t kBlockBytes = 40;
inline constexpr uint64_t kRowBytes = 128;

// The numbers of a form and of a block in the order of the file, for what writes them and what reads them:
// io(member), and io.as(member, end) for what is stored as a number of the type of `end`, below it.
template <class Io, class AForm>
void numbers_of_form(Io& io, AForm& form) {
    io(form.site), io(form.mask), io(form.stride), io(form.stride2), io(form.irregular);
    io(form.array), io(form.base_high), io(form.width);
    io.as(form.space, uint8_t{kSpaces});
    io.as(form.wide, uint32_t{2});
}
template <class Io, class ABlock>
void numbers_of_block(Io& io, ABlock& block) {
    io(block.x), io(block.y), io(block.z), io(block.sm), io(block.count), io(block.dropped), io(block.clock);
}

// The oldest version that can hold a trace.
inline uint32_t version_of(const Trace& trace) {
    if (has_words(trace)) return kWordsVersion;
    const auto of_matrices = [](const ptx::Site& site) {
        return site.matrices != 0 || ptx::is_of_matrices(site.exchange);
    };
    if (std::ranges::any_of(trace.sites, of_matrices)) return kMatricesVersion;
    if (ptx::has_exchanges(trace.sites)) return kExchangesVersion;
    return std::ranges::any_of(trace.sites, &ptx::Site::past_registers) ? kCopiesVersion : kFileVersion;
}

// CRC-32C of some bytes, continuing `crc`.
uint32_t crc32c(std::string_view bytes, uint32_t crc = 0);

// Meta, launch and sites as JSON text, and back with every field checked for type and range.
std::string meta_to_json(const Trace& trace);
Result<void> meta_from_json(std::string_view text, Trace& trace);

// One chunk of the base column, to and from differences, in place. keys are the chunk's own.
void bases_to_differences(const uint32_t* keys, uint32_t* bases, uint64_t count);
void differences_to_bases(const uint32_t* keys, uint32_t* bases, uint64_t count);
void times_to_differences(uint32_t* times, uint64_t count);
void differences_to_times(uint32_t* times, uint64_t count);

// Whether what was read is consistent: every index, mask, range and sum, and what claims.h lists; sentences
// call the file "it". Steps are checked a stretch at a time, so that threads can check the chunks that they
// read.
class StepCheck {
public:
    // stores: gets the steps that store to a result that is verified; null where nobody asks.
    Result<void> operator()(const Trace& trace, uint64_t first, uint64_t end,
                            std::vector<uint32_t>* stores = nullptr) const;

    // What the steps of a form may hold.
    struct Allowed {
        uint32_t lowest = 0, span = 0;  // bases: lowest, ..., lowest + span
        uint32_t warps = 0;             // warps: 0, ..., warps - 1, each with a thread for every active lane
        bool none = false;              // no base is inside the array, and so no warp may hold it
        bool stores = false;            // it stores to the result, which is verified
    };

private:
    friend Result<StepCheck> check_tables(const Trace& trace);
    Error fault_of(const Trace& trace, uint64_t step) const;  // which of the above the step breaks
    std::vector<Allowed> allowed_;                            // by form
    uint32_t warps_ = 0;
};
Result<StepCheck> check_tables(const Trace& trace);  // all but blocks and steps
// Bytes that the atomics of global memory found, before each block, and in all. The steps are sound.
std::vector<uint64_t> returned_before(const Trace& trace);
// The same of the numbers of Trace::arrival.
std::vector<uint64_t> arrivals_before(const Trace& trace);
Result<void> check_blocks(const Trace& trace);  // the blocks, and that the columns are as long as they
// The copies in bulk: what their words say; of a trace that is sound otherwise.
Result<void> check_rows(const Trace& trace);
Result<void> check(const Trace& trace);  // all of it

// The elements that the steps store to, of the result of a recording of the whole grid that is verified; of
// any other recording nothing. Entered by the threads that read the steps.
class StoredElements {
public:
    explicit StoredElements(const Trace& trace);                          // whose tables are checked
    void enter(const Trace& trace, const std::vector<uint32_t>& stores);  // what StepCheck met; any thread
    // Those of boxes, whose words are read behind the steps; of a trace that check_rows() found sound.
    void enter_boxes(const Trace& trace);
    bool all_entered() const { return requests_ <= kMostRequests && !too_many_; }
    uint64_t lacking(const Trace& trace) const;  // as far as is known

private:
    static constexpr uint64_t kMostRequests = 1u << 24;
    void enter_request(const Trace& trace, uint64_t step);
    std::vector<std::atomic<uint64_t>> bits_;  // one an element; empty where nothing is verified
    uint64_t elements_ = 0;
    bool too_many_ = false, has_boxes_ = false;
    std::atomic<uint64_t> requests_ = 0;
};

// Holds `complete` and `verified` against the steps, in a trace that check() found consistent. A recording
// whose warps stop where their kernel goes on, by its PTX, loses `complete` and its result, and says why. One
// of the whole grid that is verified and lacks a store to an element of the result is an Error; it loses its
// result where it stores to it more often, or to more elements, than is looked at.
Result<void> derive(Trace& trace, const StoredElements& stored);

}  // namespace tilescope::trace
