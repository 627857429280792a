// The door to what a step of a recording accesses, and to when that can be seen.
//
// Analysis asks here for lanes, lines and times, and not by which instruction they come:
//
//                       ld, st, atom          cp.async: what it reads    cp.async: what it writes
//   lanes, addresses    as asked for          as asked for               as asked for
//   fills_registers     where it reads        no                         -
//   lands_later         no                    no                         yes
//   visible_from        behind the step       behind the step            where the threads have waited for it
//
// An access is up to 32 lanes with an address each. One of another shape, such as a box of many rows that one
// lane asks for, is visited line by line just so: users of for_lines() and visible_from() need not care.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/trace/trace.h"

namespace tilescope::trace {

inline constexpr uint32_t kSectorBytes = 32;  // the grain in which L1 asks L2
inline constexpr uint32_t kLineBytes = 128;   // four sectors

// --- what a step accesses

// Of a step that is no barrier, with addresses as the hardware sees them: virtual addresses, or offsets in
// the memory of the block or thread. Site::bytes for each lane.
class AccessView {
public:
    AccessView(const Trace& trace, uint64_t step);  // O(1); keeps a reference to its site

    const ptx::Site& site() const { return *site_; }
    Space space() const { return space_; }
    uint8_t array() const { return access_.array; }  // of Launch::arrays; kNoArray outside them
    uint32_t warp() const { return access_.warp; }
    uint32_t mask() const { return access_.mask; }
    bool stores() const { return site_->kind == ptx::SiteKind::Store; }
    uint64_t lane_bytes() const {  // of all lanes together
        return uint64_t{site_->bytes} * static_cast<uint32_t>(std::popcount(access_.mask));
    }
    const uint64_t* addresses() const { return access_.offset.data(); }  // [32], by lane
    const Access& decoded() const { return access_; }                    // with these for offsets

    // Makes it the access of a block whose array lies `bytes` further.
    void move(int64_t bytes) {
        for_lanes(access_.mask, [&](uint32_t lane) { access_.offset[lane] += static_cast<uint64_t>(bytes); });
    }

    // Visits (line, sectors) in the order of the lanes: line is an address / kLineBytes, sectors those of its
    // four that are asked for, bit by bit. What lanes side by side ask of one line is visited once; a line
    // may come again.
    template <class Visit>
    void for_lines(const Visit& visit) const {
        uint64_t line = 0;
        uint32_t sectors = 0;
        for_lanes(access_.mask, [&](uint32_t lane) {
            const uint64_t last = (access_.offset[lane] + site_->bytes - 1) / kSectorBytes;
            for (uint64_t sector = access_.offset[lane] / kSectorBytes; sector <= last; ++sector) {
                if (sectors != 0 && sector / 4 != line) {
                    visit(line, sectors);
                    sectors = 0;
                }
                line = sector / 4;
                sectors |= 1u << sector % 4;
            }
        });
        if (sectors != 0) visit(line, sectors);
    }

private:
    const ptx::Site* site_;
    Space space_;
    Access access_;
};

// --- when it can be seen

// When what a block writes can be seen. Looks at all of its steps once, if the trace has any that land later.
class Arrivals {
public:
    struct Later {
        uint32_t step = 0;          // of the block
        uint32_t visible_from = 0;  // step of the block from which on it is there; kNeverWaited
    };
    Arrivals() = default;
    Arrivals(const Trace& trace, const Block& block);

    const std::vector<Later>& later() const { return later_; }  // in the order of the steps
    // The step of the block from which on what a step writes is there: the next one, for what lands at once;
    // none where nobody waits for it.
    std::optional<uint32_t> visible_from(uint32_t step) const;

private:
    std::vector<Later> later_;
};

// Goes through what lands later in the order in which it does.
class ArrivalCursor {
public:
    explicit ArrivalCursor(const Arrivals& arrivals);  // keeps a reference
    // Index into Arrivals::later() of the next one that is there when a step is made; none for no more.
    std::optional<size_t> next(uint32_t step);

private:
    const std::vector<Arrivals::Later>& later_;
    std::vector<uint32_t> order_;  // indices of those that are waited for
    size_t next_ = 0;
};

bool lands_later(const Trace& trace, uint64_t step);
// Whether some site moves data past the registers, so that the trace says where these land.
bool has_arrivals(const Trace& trace);

// The two steps of a transfer that goes past the registers. Either may be missing: a store of zeros alone
// reads nothing, and a recording may end between the two.
struct Transfer {
    std::optional<uint64_t> read, written;
};
// The transfer that a step is part of; none for others. Looks at the steps beside it.
std::optional<Transfer> transfer_of(const Trace& trace, uint64_t step);

}  // namespace tilescope::trace
