// The memory of a block's lanes: where it lies, what is read of it that nobody filled, what is kept of it.
#include <algorithm>
#include <bit>
#include <utility>

#include "core/compiled/runner.h"
#include "core/simt/atomic.h"
#include "core/simt/elements.h"
#include "core/simt/lanes_memory.h"

namespace tilescope::compiled {

using ptx::StateSpace;
using simt::MemoryAccess;
using simt::MicroOp;
using simt::View;
using Kind = MicroOp::Kind;

namespace {

const simt::MemoryLanes& kLanes = simt::memory_lanes(simt::best_version());

uint8_t touches(bool loads, bool stores) {
    return static_cast<uint8_t>((loads ? simt::kLoads : 0) | (stores ? simt::kStores : 0));
}

}  // namespace

const View* Runner::view_at(uint64_t address, uint64_t bytes, uint32_t& last) const {
    const auto holds = [&](const View& view) {
        return view.bytes >= bytes && address - view.base <= view.bytes - bytes;
    };
    if (last < views_.size() && holds(views_[last])) return &views_[last];
    const auto after = std::upper_bound(views_.begin(), views_.end(), address,
                                        [](uint64_t a, const View& view) { return a < view.base; });
    if (after == views_.begin() || !holds(*std::prev(after))) return nullptr;
    last = static_cast<uint32_t>(std::prev(after) - views_.begin());
    return &views_[last];
}

int Runner::bind(uint32_t number, uint32_t op, uint64_t low, uint64_t bytes) {
    if (number < kFirstGroup) return 1;
    const Group& group = kernel_.groups[number - kFirstGroup];
    Range& range = ranges_[number];
    if (group.space == StateSpace::Generic && simt::space_of_generic(low) == StateSpace::Shared) {
        const uint64_t at = low - simt::kSharedWindow;
        if (at > shared_bytes_ || bytes > shared_bytes_ - at) return 1;
        range = {simt::kSharedWindow, static_cast<int64_t>(shared_bytes_),
                 reinterpret_cast<uint8_t*>(shared_), 0, kOwn};
        return 0;
    }
    const View* const view = view_at(low, bytes, last_view_[op]);
    if (!view) return 1;
    const auto v = static_cast<uint32_t>(view - views_.data());
    touched[v] |= touches(group.loads, group.stores);
    range = {view->base, static_cast<int64_t>(view->bytes), reinterpret_cast<uint8_t*>(view->data), v,
             view->filled ? kLoadsNoted | kStoresNoted : 0u};
    return 0;
}

bool Runner::is_filled(const View& view, uint64_t at, uint32_t bytes) const {
    bool any = false;
    simt::each_word_filled(view, view.base + at, bytes, [&](uint8_t* word, uint8_t bits) {
        any |= (__atomic_load_n(word, __ATOMIC_RELAXED) & bits) != 0;
    });
    return any;
}

bool Runner::fill(const View& view, uint64_t at, uint32_t bytes) {
    if (at % 4 == 0 && bytes % 4 == 0) return undo_.keep_filled(view.filled + at / 4, bytes / 4, 15);
    bool kept = true;
    simt::each_word_filled(view, view.base + at, bytes, [&](uint8_t* word, uint8_t bits) {
        kept = kept && undo_.keep_filled(word, 1, bits);
    });
    return kept;
}

// Bytes of a watched view that are about to be loaded or stored, side by side. False: given up.
bool Runner::watch(const MicroOp& op, const View& view, const std::byte* at, uint32_t bytes) {
    const auto offset = static_cast<uint64_t>(at - view.data);
    if (op.kind != Kind::Store && !is_filled(view, offset, bytes)) return false;
    return op.kind == Kind::Load || fill(view, offset, bytes);
}

int Runner::note(uint32_t number, uint32_t i, std::byte* first, const Shape& shape) {
    const MicroOp& op = program_.code[i];
    const View& view = views_[ranges_[number].view];
    const uint32_t bytes = bytes_of(program_.accesses[op.target]);
    bool together = op.kind == Kind::Store;  // what is read is looked at lane by lane
    for (int lane = 0; lane < kWarpSize; ++lane)
        together = together && shape.lane[lane] == int64_t{lane} * bytes;
    if (together) return !watch(op, view, first, bytes * kWarpSize);
    for (int lane = 0; lane < kWarpSize; ++lane)
        if (!watch(op, view, first + shape.lane[lane], bytes)) return 1;
    return 0;
}

bool Runner::locate_global(const MicroOp& op, uint32_t bytes, uint32_t mask, uint32_t i) {
    uint32_t& last = last_view_[i];
    uint32_t outside = mask;
    const uint8_t how = touches(op.kind != Kind::Store, op.kind != Kind::Load);
    if (last < views_.size() && views_[last].bytes >= bytes) {
        const View& view = views_[last];
        outside =
            kLanes.locate(host_.data(), address_.data(), view.base, view.bytes - bytes, view.data, 0, mask);
        if (outside != mask) touched[last] |= how;
    }
    bool watched = outside != mask && views_[last].filled;
    for (; outside; outside &= outside - 1) {
        const auto lane = static_cast<size_t>(std::countr_zero(outside));
        const View* const view = view_at(address_[lane], bytes, last);
        if (!view) return false;
        touched[last] |= how;
        watched = watched || view->filled;
        host_[lane] = view->data + (address_[lane] - view->base);
    }
    for (uint32_t left = watched ? mask : 0; left; left &= left - 1) {
        const auto lane = static_cast<size_t>(std::countr_zero(left));
        const View& view = *view_at(address_[lane], bytes, last);
        if (view.filled && !watch(op, view, host_[lane], bytes)) return false;
    }
    return op.kind != Kind::Store || keep_lanes(bytes, mask);
}

// What the lanes will store to: neighbours together.
bool Runner::keep_lanes(uint32_t bytes, uint32_t mask) {
    while (mask) {
        const auto first = static_cast<size_t>(std::countr_zero(mask));
        size_t end = first + 1;
        while (end < kWarpSize && mask >> end & 1 && host_[end] == host_[end - 1] + bytes) ++end;
        if (!undo_.keep(host_[first], bytes * (end - first))) return false;
        mask &= end < kWarpSize ? ~0u << end : 0u;
    }
    return true;
}

// Where the lanes' bytes lie; false where some of them lie nowhere.
bool Runner::locate(const Warp& warp, const MicroOp& op, StateSpace space, uint32_t mask, uint32_t i) {
    const uint32_t bytes = bytes_of(program_.accesses[op.target]);
    if (space == StateSpace::Global) return locate_global(op, bytes, mask, i);
    std::byte* memory = shared_;
    uint64_t most = shared_bytes_, stride = 0;
    if (space == StateSpace::Local) {
        if (op.kind == Kind::Atomic) return false;
        stride = most = program_.local_bytes;
        memory = local_store_[warp.number * local_chunks_].bytes;
    } else if (space == StateSpace::Const) {
        if (op.kind != Kind::Load) return false;
        memory = constants_.data(), most = constants_.size();
    }
    return most >= bytes &&
           kLanes.locate(host_.data(), address_.data(), 0, most - bytes, memory, stride, mask) == 0;
}

int Runner::update(const MemoryAccess& access, bool global, uint32_t mask, Data* data) {
    if (global && !undo_.has_room(kWarpSize)) return 1;
    std::array<uint64_t, kWarpSize> returned, stored;
    simt::update_lanes(access, mask, global, host_.data(), reinterpret_cast<std::byte*>(data),
                       reinterpret_cast<const std::byte*>(data + 1),
                       reinterpret_cast<const std::byte*>(data + 2), returned.data(), stored.data());
    if (global)
        for_lanes(mask, [&](uint32_t lane) {
            undo_.keep_atomic(host_[lane], access, returned[lane], stored[lane]);
        });
    return 0;
}

int Runner::request(Warp& warp, uint32_t i, uint64_t base, const Shape* shape, const uint64_t* column,
                    uint32_t mask, Data* data) {
    const MicroOp& op = program_.code[i];
    const MemoryAccess& access = program_.accesses[op.target];
    kLanes.displace(address_.data(), column ? column : reinterpret_cast<const uint64_t*>(shape->lane),
                    (column ? 0 : base) + static_cast<uint64_t>(access.offset));
    if (!access.wide_address)
        for (uint64_t& address : address_) address = static_cast<uint32_t>(address);
    if (kLanes.bits(address_.data(), mask) & (bytes_of(access) - 1)) return 1;
    bool global = access.space == StateSpace::Global;
    if (access.space == StateSpace::Generic) {
        for (uint32_t left = mask; left != 0;) {
            const StateSpace space =
                simt::space_of_generic(address_[static_cast<size_t>(std::countr_zero(left))]);
            uint32_t alike = 0;
            for_lanes(left, [&](uint32_t lane) {
                if (simt::space_of_generic(address_[lane]) == space) alike |= 1u << lane;
            });
            for_lanes(alike, [&](uint32_t lane) { address_[lane] -= simt::window_of(space); });
            if (alike != mask && op.kind == Kind::Atomic) return 1;
            global = space == StateSpace::Global;
            // Lanes of other spaces keep what they have.
            const std::array<std::byte*, kWarpSize> before = host_;
            if (!locate(warp, op, space, alike, i)) return 1;
            for_lanes(~alike, [&](uint32_t lane) { host_[lane] = before[lane]; });
            left &= ~alike;
        }
    } else if (!locate(warp, op, access.space, mask, i)) {
        return 1;
    }
    if (op.kind == Kind::Atomic) return update(access, global, mask, data);
    for (uint32_t e = 0; e < access.elements; ++e) {
        auto* const column_of = reinterpret_cast<std::byte*>(data + e);
        const uint32_t offset = e * access.element_bytes;
        if (op.kind == Kind::Store)
            simt::store_elements<true>(access, column_of, host_.data(), offset, mask);
        else
            simt::load_elements<true>(access, column_of, access.data_bytes[e], host_.data(), offset, mask);
    }
    return 0;
}

}  // namespace tilescope::compiled
