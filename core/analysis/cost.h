// The cost of any step of a trace, remembered by form: two requests of one form whose first addresses
// agree modulo 128 bytes cost the same, so judging ten million requests is ten million look-ups.
//
// Why 128: a sector (32 bytes), a line (128 bytes) and a row of the 32 banks (128 bytes) all repeat with it,
// so that moving every lane by a multiple of 128 bytes moves whole lines and whole rows of banks.
#pragma once

#include <cstdint>
#include <vector>

#include "core/analysis/addresses.h"
#include "core/analysis/banks.h"
#include "core/analysis/coalescing.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {

struct Cost {
    SectorCost global;      // sectors of global and local memory; of atomics as atomic_sectors() counts them
    BankCost shared;        // wavefronts of shared memory; atomics count as stores of their different words
    AddressCost addresses;  // addresses of atomics and of constant memory
    uint64_t bytes = 0;     // that its lanes touch, all together
    bool operator==(const Cost&) const = default;
};

// What requests to a space are judged by: sectors, or wavefronts, or for constant memory neither.
constexpr bool has_sectors(Space space) { return space == Space::Global || space == Space::Local; }
constexpr bool has_wavefronts(Space space) { return space == Space::Shared; }
// Whether AddressCost is part of it.
constexpr bool has_addresses(Space space, ptx::SiteKind kind) {
    return space == Space::Const || kind == ptx::SiteKind::Atomic;
}

inline constexpr uint32_t kCostPeriod = 128;  // bytes

// Forms remembered at once: a kernel that gathers has a form a request, and they must not fill the memory.
inline constexpr size_t kRememberedForms = 1u << 14;

// The cost of one step, worked out anew; zero for barriers, exchanges and signals. What a copy in bulk costs in shared
// memory is not known, and zero.
//
// SectorCost::block_sectors: a warp of a block 16 threads wide has two rows of threads; where these use two
// rows of a matrix, two sectors are the least even if the warp asks for 8 bytes in all. Of widths for which
// warps start at different places in a row (neither a part nor a multiple of 32) nothing is allowed for, so
// that steps of one form cost the same in all warps.
Cost cost_of(const trace::Trace& trace, uint64_t step);

class CostTable {
public:
    explicit CostTable(const trace::Trace& trace);  // keeps a reference
    // Zero cost for barriers, exchanges and signals. The reference holds until the next call.
    const Cost& of(uint64_t step);

    // Where the first active lane of a step lies modulo kCostPeriod; global addresses are virtual ones.
    uint32_t place(uint64_t step) const {
        return (trace_.base[step] + array_base_[trace_.key[step] & 0xFFFFFF]) % kCostPeriod;
    }
    // Requests whose lanes were looked at; all others were known.
    uint64_t judged() const { return judged_; }
    // The cost of a form at such a place; `step` is any step that has both.
    const Cost& of(uint32_t form, uint32_t place, uint64_t step);

private:
    const trace::Trace& trace_;
    std::vector<uint32_t> array_base_;  // per form: where its array starts, low 32 bits; 0 without an array
    std::vector<int32_t> row_;          // per form: its row of known_, -1 until asked for
    std::vector<int32_t> known_;        // row * 128 + place -> costs_, -1 for not judged yet
    std::vector<Cost> costs_;           // [0] is that of barriers, exchanges and signals
    Cost of_box_;                       // of the latest step that its form and place do not say all of
    uint64_t judged_ = 0;
};

}  // namespace tilescope::analysis
