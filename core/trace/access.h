// The door to what a step of a recording accesses, and to when that can be seen.
//
// Analysis asks here for lanes, lines and times, and not by which instruction they come:
//
//                       ld, st, atom          cp.async: what it reads    cp.async: what it writes
//   lanes, addresses    as asked for          as asked for               as asked for
//   bytes               Site::bytes a lane    the same; in bulk pieces   the same; in bulk pieces
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

#include "core/ptx/warpgroup.h"
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
        uint64_t bytes = 0;
        for_pieces([&](uint32_t, uint64_t, uint64_t of_piece) { bytes += of_piece; });
        return bytes;
    }
    const uint64_t* addresses() const { return access_.offset.data(); }  // [32], by lane
    const Access& decoded() const { return access_; }                    // with these for offsets

    // Makes it the access of a block whose array lies `bytes` further.
    void move(int64_t bytes) {
        for_lanes(access_.mask, [&](uint32_t lane) { access_.offset[lane] += static_cast<uint64_t>(bytes); });
        for (AccessPiece& piece : pieces_) piece.address += static_cast<uint64_t>(bytes);
    }

    // Whether lanes touch other bytes than Site::bytes from their addresses on.
    bool is_box() const { return site_->box != ptx::Box::None; }
    // visit(lane, address, bytes) for all that lies side by side: once for each lane, or of a box more often, in the order
    // in which it is copied.
    template <class Visit>
    void for_pieces(const Visit& visit) const {
        if (!is_box())
            return for_lanes(access_.mask, [&](uint32_t lane) {
                visit(lane, access_.offset[lane], uint64_t{site_->bytes});
            });
        for (const AccessPiece& piece : pieces_) visit(piece.lane, piece.address, uint64_t{piece.bytes});
    }

    // Visits (line, sectors) in the order of the lanes: line is an address / kLineBytes, sectors those of its
    // four that are asked for, bit by bit. What lanes side by side ask of one line is visited once; a line
    // may come again.
    template <class Visit>
    void for_lines(const Visit& visit) const {
        uint64_t line = 0;
        uint32_t sectors = 0;
        for_pieces([&](uint32_t, uint64_t address, uint64_t bytes) {
            const uint64_t last = (address + bytes - 1) / kSectorBytes;
            for (uint64_t sector = address / kSectorBytes; sector <= last; ++sector) {
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
    struct AccessPiece {
        uint32_t lane = 0, bytes = 0;
        uint64_t address = 0;
    };
    void lay_out_box(const Trace& trace, uint64_t step);

    std::vector<AccessPiece> pieces_;  // of a box
};

// visit(lane, offset, bytes) for all that a step touches side by side, by offsets as trace::decode() has them in `access`:
// in its array, where it names one.
template <class Visit>
void for_pieces(const Trace& trace, uint64_t step, const Access& access, const Visit& visit) {
    const ptx::Site& site = trace.sites[access.site];
    if (site.box == ptx::Box::None)
        return for_lanes(access.mask,
                         [&](uint32_t lane) { visit(lane, access.offset[lane], uint64_t{site.bytes}); });
    const uint64_t base = access.array == kNoArray ? 0 : trace.launch.arrays[access.array].base;
    AccessView(trace, step).for_pieces([&](uint32_t lane, uint64_t address, uint64_t bytes) {
        visit(lane, address - base, bytes);
    });
}

// A tile that a wgmma reads by its descriptor: rows of A, those of one warp, or columns of B, each with its bytes along k.
struct TileView {
    ptx::MatrixDescriptor descriptor;
    bool of_a = false;
    bool transposed = false;                  // MN-major
    uint32_t first = 0, rows = 0, bytes = 0;  // rows [first, first + rows) of so many bytes along k
    uint32_t element_bits = 16;
    // The address of what lies so many bytes along k of a row.
    uint32_t address(uint32_t row, uint32_t along) const {
        return ptx::address_of_element(descriptor, transposed, element_bits, row, along * 8 / element_bits);
    }
    uint32_t piece() const {
        return transposed ? element_bits / 8 : 16;
    }  // bytes along k that lie side by side
};
// None of a step that reads none, and where the recording's PTX does not say it.
std::optional<TileView> tile_of(const Trace& trace, uint64_t step);

// What lies at an address of shared memory of another block of the cluster. array: kNoArray for none.
struct PlaceElsewhere {
    Dim3 block;
    uint8_t array = kNoArray;
    uint64_t offset = 0;  // in the array, or in the block's shared memory
    bool operator==(const PlaceElsewhere&) const = default;
};
PlaceElsewhere place_elsewhere(const Trace& trace, const Dim3& block, uint64_t address);

// What a step does at the cluster's barrier; None for all others, and where the recording's PTX does not say it.
enum class ClusterBarrier : uint8_t { None, Arrives, Waits };
ClusterBarrier at_cluster_barrier(const Trace& trace, const ptx::Site& site);

// Whether blocks of the launch touch shared memory of others of their cluster, so that a block's steps do not have all that
// is done to its own.
bool shares_memory_in_clusters(const Trace& trace);

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
    std::optional<size_t> next(uint32_t step) {
        if (next_ == order_.size() || later_[order_[next_]].visible_from > step) return std::nullopt;
        return order_[next_++];
    }

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
