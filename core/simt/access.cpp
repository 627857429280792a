// A request: the lanes' addresses are checked as a whole, then data moves lane by lane, in lane order
// (so where several lanes store to one place, the highest lane's value stays; a GPU leaves it open).
//
// Blocks of one launch run at the same time on several CPU threads and may touch the same global
// words, as on a GPU. Aligned 32- and 64-bit elements are therefore read and written as relaxed
// atomics, which costs nothing on any processor of today; smaller ones as bytes, the same way.
#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "core/simt/lanes_memory.h"
#include "core/simt/machine.h"

namespace tilescope::simt {

using ptx::StateSpace;

namespace {

template <class T, bool Atomic>
inline T read(const std::byte* p) {
    if constexpr (Atomic) return __atomic_load_n(reinterpret_cast<const T*>(p), __ATOMIC_RELAXED);
    T value;
    std::memcpy(&value, p, sizeof(T));
    return value;
}

template <class T, bool Atomic>
inline void write(std::byte* p, T value) {
    if constexpr (Atomic)
        __atomic_store_n(reinterpret_cast<T*>(p), value, __ATOMIC_RELAXED);
    else
        std::memcpy(p, &value, sizeof(T));
}

const MemoryLanes& kLanes = memory_lanes(best_version());

template <class Fn>
inline void each_lane(uint32_t mask, Fn fn) {
    if (mask == ~0u) {
        for (int lane = 0; lane < kWarpSize; lane += 4) fn(lane), fn(lane + 1), fn(lane + 2), fn(lane + 3);
        return;
    }
    for_lanes(mask, fn);
}

// One element of every lane. T: how it lies in memory; extended to the register's size.
template <class T, bool Atomic>
void load_element(std::byte* column, int register_bytes, std::byte* const* host, uint32_t offset,
                  uint32_t mask) {
    if (register_bytes == 8) {
        auto* out = reinterpret_cast<uint64_t*>(column);
        each_lane(mask, [&](int l) {
            out[l] = static_cast<uint64_t>(static_cast<int64_t>(read<T, Atomic>(host[l] + offset)));
        });
        return;
    }
    auto* out = reinterpret_cast<uint32_t*>(column);
    if (std::is_signed_v<T> && register_bytes == 2) {
        each_lane(mask, [&](int l) { out[l] = static_cast<uint16_t>(read<T, Atomic>(host[l] + offset)); });
        return;
    }
    each_lane(mask, [&](int l) {
        out[l] = static_cast<uint32_t>(static_cast<int32_t>(read<T, Atomic>(host[l] + offset)));
    });
}

template <class T, bool Atomic>
void store_element(const std::byte* column, std::byte* const* host, uint32_t offset, uint32_t mask) {
    using S = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    const auto* in = reinterpret_cast<const S*>(column);
    each_lane(mask, [&](int l) { write<T, Atomic>(host[l] + offset, static_cast<T>(in[l])); });
}

template <bool Atomic>
void load_sized(const MemoryAccess& access, std::byte* column, int bytes, std::byte* const* host,
                uint32_t offset, uint32_t mask) {
    switch (access.element_bytes) {
        case 1:
            return access.is_signed ? load_element<int8_t, Atomic>(column, bytes, host, offset, mask)
                                    : load_element<uint8_t, Atomic>(column, bytes, host, offset, mask);
        case 2:
            return access.is_signed ? load_element<int16_t, Atomic>(column, bytes, host, offset, mask)
                                    : load_element<uint16_t, Atomic>(column, bytes, host, offset, mask);
        case 4:
            return access.is_signed && bytes == 8
                       ? load_element<int32_t, Atomic>(column, bytes, host, offset, mask)
                       : load_element<uint32_t, Atomic>(column, bytes, host, offset, mask);
        default: return load_element<uint64_t, Atomic>(column, bytes, host, offset, mask);
    }
}

template <bool Atomic>
void store_sized(const MemoryAccess& access, const std::byte* column, std::byte* const* host, uint32_t offset,
                 uint32_t mask) {
    switch (access.element_bytes) {
        case 1: return store_element<uint8_t, Atomic>(column, host, offset, mask);
        case 2: return store_element<uint16_t, Atomic>(column, host, offset, mask);
        case 4: return store_element<uint32_t, Atomic>(column, host, offset, mask);
        default: return store_element<uint64_t, Atomic>(column, host, offset, mask);
    }
}

}  // namespace

void Machine::addresses(Warp& warp, const MicroOp& op, const MemoryAccess& access) {
    const std::byte* column = at(warp, op.a);
    if (access.wide_address)
        kLanes.displace(address_.data(), reinterpret_cast<const uint64_t*>(column),
                        static_cast<uint64_t>(access.offset));
    else
        for (int lane = 0; lane < kWarpSize; ++lane)
            address_[static_cast<size_t>(lane)] =
                reinterpret_cast<const uint32_t*>(column)[lane] + static_cast<uint32_t>(access.offset);
}

// Fills host_ for the lanes of the mask. Mostly a request falls into the buffer of the one before it.
bool Machine::locate_global(Warp& warp, const MicroOp& op, const MemoryAccess& access, uint32_t mask,
                            uint32_t bytes) {
    uint32_t& last = last_view_[op.target];
    const auto holds = [&](const View& view, uint64_t address) {
        return view.bytes >= bytes && address - view.base <= view.bytes - bytes;
    };
    uint32_t outside = mask;
    if (last < views_.size()) {
        const View& view = views_[last];
        if (view.bytes >= bytes)
            outside = kLanes.locate(host_.data(), address_.data(), view.base, view.bytes - bytes, view.data,
                                    0, mask);
    }
    for (; outside; outside &= outside - 1) {
        const int lane = std::countr_zero(outside);
        const uint64_t address = address_[static_cast<size_t>(lane)];
        const auto after = std::upper_bound(views_.begin(), views_.end(), address,
                                            [](uint64_t a, const View& view) { return a < view.base; });
        const auto v = static_cast<size_t>(after - views_.begin()) - 1;
        if (after == views_.begin() || !holds(views_[v], address)) {
            raise_access(warp, op, access, StateSpace::Global, lane, false);
            return false;
        }
        last = static_cast<uint32_t>(v);
        touched[v] |= op.kind == MicroOp::Kind::Load    ? kLoads
                      : op.kind == MicroOp::Kind::Store ? kStores
                                                        : kLoads | kStores;
        host_[static_cast<size_t>(lane)] = views_[v].data + (address - views_[v].base);
    }
    return true;
}

void Machine::load(Warp& warp, const MemoryAccess& access, uint32_t mask, bool atomic) {
    for (uint32_t i = 0; i < access.elements; ++i) {
        std::byte* column = at(warp, access.data[i]);
        const uint32_t offset = i * access.element_bytes;
        if (atomic)
            load_sized<true>(access, column, access.data_bytes[i], host_.data(), offset, mask);
        else
            load_sized<false>(access, column, access.data_bytes[i], host_.data(), offset, mask);
    }
}

void Machine::store(Warp& warp, const MemoryAccess& access, uint32_t mask, bool atomic) {
    for (uint32_t i = 0; i < access.elements; ++i) {
        const std::byte* column = at(warp, access.data[i]);
        const uint32_t offset = i * access.element_bytes;
        if (atomic)
            store_sized<true>(access, column, host_.data(), offset, mask);
        else
            store_sized<false>(access, column, host_.data(), offset, mask);
    }
}

StateSpace space_of_generic(uint64_t address) {
    if (address >= kModuleWindow || address < kSharedWindow) return StateSpace::Global;
    return address < kLocalWindow   ? StateSpace::Shared
           : address < kConstWindow ? StateSpace::Local
                                    : StateSpace::Const;
}

namespace {

Space space_of(StateSpace space) {
    return space == StateSpace::Shared  ? Space::Shared
           : space == StateSpace::Local ? Space::Local
           : space == StateSpace::Const ? Space::Const
                                        : Space::Global;
}

}  // namespace

// Executes a load, store or atomic for the lanes of the mask and makes it a step; one for each memory space
// where a generic access leads to several, in the order of their lowest lanes.
template <bool Values>
bool Machine::access(Warp& warp, const MicroOp& op, uint32_t mask) {
    const MemoryAccess& access = program_.accesses[op.target];
    addresses(warp, op, access);
    if (access.space != StateSpace::Generic) return access_in<Values>(warp, op, access.space, mask);
    while (mask) {
        const StateSpace space = space_of_generic(address_[static_cast<size_t>(std::countr_zero(mask))]);
        uint32_t alike = 0;
        for_lanes(mask, [&](uint32_t lane) {
            if (space_of_generic(address_[lane]) != space) return;
            alike |= 1u << lane;
        });
        for_lanes(alike, [&](uint32_t lane) { address_[lane] -= window_of(space); });
        if (!access_in<Values>(warp, op, space, alike)) return false;
        mask &= ~alike;
    }
    return true;
}

// Fills host_ for the lanes of the mask, or raises a fault.
bool Machine::locate(Warp& warp, const MicroOp& op, StateSpace space, uint32_t mask) {
    const MemoryAccess& access = program_.accesses[op.target];
    const uint32_t bytes = uint32_t{access.element_bytes} * access.elements;
    if (kLanes.bits(address_.data(), mask) & (bytes - 1)) {
        int lane = std::countr_zero(mask);
        for (uint32_t m = mask; m; m &= m - 1)
            if (lane = std::countr_zero(m); address_[static_cast<size_t>(lane)] & (bytes - 1)) break;
        raise_access(warp, op, access, space, lane, true);
        return false;
    }
    if (access.copy && op.c) return locate_copied(warp, op, access, mask);
    if (space == StateSpace::Global) return locate_global(warp, op, access, mask, bytes);
    std::byte* base = shared_;
    uint64_t size = shared_bytes_, stride = 0;
    if (space == StateSpace::Local) base = warp.local, size = program_.local_bytes, stride = size;
    if (space == StateSpace::Const) base = constants_.data(), size = constants_.size();
    uint32_t outside = mask;
    if (size >= bytes)
        outside = kLanes.locate(host_.data(), address_.data(), 0, size - bytes, base, stride, mask);
    if (outside) {
        raise_access(warp, op, access, space, std::countr_zero(outside), false);
        return false;
    }
    const bool is_atomic = op.kind == MicroOp::Kind::Atomic;
    const int lane = std::countr_zero(mask);
    if (space == StateSpace::Const && op.kind != MicroOp::Kind::Load)
        return raise(Fault::Kind::BadAddress, warp, lane, op,
                     fmt::format("{} {} constant memory at {}", thread_text(warp, lane),
                                 is_atomic ? "updates" : "stores to", line_text(op)));
    if (space == StateSpace::Local && is_atomic)
        return raise(Fault::Kind::BadAddress, warp, lane, op,
                     fmt::format("{} updates local memory with an atomic at {}, which only global and shared "
                                 "memory take",
                                 thread_text(warp, lane), line_text(op)));
    return true;
}

// The same for lanes whose addresses lie in one space.
template <bool Values>
bool Machine::access_in(Warp& warp, const MicroOp& op, StateSpace space, uint32_t mask) {
    const MemoryAccess& access = program_.accesses[op.target];
    if (!locate(warp, op, space, mask)) return false;
    if (watches_ && space == StateSpace::Global) watch_filled(warp, op, access, mask);
    Request request;
    request.site = static_cast<uint32_t>(access.site);
    request.warp = warp.number;
    request.mask = mask;
    request.space = last_space_ = space_of(space);
    request.address = address_.data();
    const bool is_load = op.kind == MicroOp::Kind::Load, is_atomic = op.kind == MicroOp::Kind::Atomic;
    const bool shared_by_blocks = space == StateSpace::Global;
    if (is_atomic) {
        update(warp, access, mask, shared_by_blocks);
        request.element_bytes = access.element_bytes;
        request.returned = returned_.data();
    } else if (access.copy && is_load) {
        load_copied(warp, op, access, mask);
    } else if (access.copy) {
        if (!ask(warp, op, access, mask)) return false;
    } else if (is_load) {
        load(warp, access, mask, shared_by_blocks);
    } else {
        store(warp, access, mask, shared_by_blocks);
    }
    if (access.site < 0) return true;
    if constexpr (Values)
        follow(warp, op, access, request);
    else if (observer_)
        observer_->on_request(request);
    ++steps_;
    return true;
}

// Reports a request with its values and where they came from.
void Machine::follow(Warp& warp, const MicroOp& op, const MemoryAccess& access, Request request) {
    const uint32_t mask = request.mask;
    std::array<uint64_t, 4 * kWarpSize> value{};
    std::array<Origin, 4 * kWarpSize> origins{};
    const uint32_t elements = std::min<uint32_t>(access.elements, 4);
    request.elements = elements;
    request.element_bytes = access.element_bytes;
    const auto set_origins = [&](Ref column, Origin from) {
        auto* origins_of = reinterpret_cast<Origin*>(warp.origins + column);
        each_lane(mask, [&](int l) { origins_of[l] = from; });
    };
    const auto origins_of_stored = [&](Ref column, uint32_t element) {
        const Origin* of_element = origin(warp, column);
        settle_loose(warp, of_element, mask);
        std::copy_n(of_element, kWarpSize, origins.begin() + element * kWarpSize);
        request.origin = origins.data();
    };
    if (op.kind == MicroOp::Kind::Atomic) {
        request.value = stored_.data();
        origins_of_stored(access.data[access.atomic == ptx::Atomic::Cas ? 2 : 1], 0);
        // What it returned is the second part of its values (Request::returned).
        set_origins(access.data[0], (steps_ + 1) | 1u << kPartShift);
        if (observer_) observer_->on_request(request);
        return;
    }
    const uint64_t kept =
        access.element_bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * access.element_bytes) - 1;
    for (uint32_t i = 0; i < elements; ++i) {
        const std::byte* column = at(warp, access.data[i]);
        for_lanes(mask, [&](uint32_t l) {
            value[i * kWarpSize + l] =
                kept & (access.data_bytes[i] == 8 ? reinterpret_cast<const uint64_t*>(column)[l]
                                                  : reinterpret_cast<const uint32_t*>(column)[l]);
        });
    }
    request.value = value.data();
    for (uint32_t i = 0; i < elements; ++i)
        if (op.kind == MicroOp::Kind::Load)
            set_origins(access.data[i], (steps_ + 1) | i << kPartShift);
        else
            origins_of_stored(access.data[i], i);
    if (observer_) observer_->on_request(request);
}

template bool Machine::access<false>(Warp&, const MicroOp&, uint32_t);
template bool Machine::access<true>(Warp&, const MicroOp&, uint32_t);

}  // namespace tilescope::simt
