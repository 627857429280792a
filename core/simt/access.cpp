// A request: the lanes' addresses are checked as a whole, then data moves lane by lane, in lane order
// (so where several lanes store to one place, the highest lane's value stays; a GPU leaves it open).
//
// Blocks of one launch run at the same time on several CPU threads and may touch the same global
// words, as on a GPU. Aligned 32- and 64-bit elements are therefore read and written as relaxed
// atomics, which costs nothing on any processor of today; smaller ones as bytes, the same way.
#include <algorithm>
#include <cstring>

#include "core/simt/warp_inline.h"

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

// base + offset, where lanes that are not active may lead anywhere: nothing is read through those.
inline std::byte* displaced(std::byte* base, uint64_t offset) {
    return reinterpret_cast<std::byte*>(reinterpret_cast<uintptr_t>(base) + offset);
}

template <class Fn>
inline void each_lane(uint32_t mask, Fn fn) {
    if (mask == ~0u) {
        for (int lane = 0; lane < kWarpSize; ++lane) fn(lane);
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
    const uint32_t keep = register_bytes == 2 ? 0xFFFF : 0xFFFF'FFFF;
    each_lane(mask, [&](int l) {
        out[l] = static_cast<uint32_t>(static_cast<int32_t>(read<T, Atomic>(host[l] + offset))) & keep;
    });
}

template <class T, bool Atomic>
void store_element(const std::byte* column, std::byte* const* host, uint32_t offset, uint32_t mask) {
    using S = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    const auto* in = reinterpret_cast<const S*>(column);
    each_lane(mask, [&](int l) { write<T, Atomic>(host[l] + offset, static_cast<T>(in[l])); });
}

template <bool Atomic>
void load_sized(const Access& access, std::byte* column, int bytes, std::byte* const* host, uint32_t offset,
                uint32_t mask) {
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
        default:
            return load_element<uint64_t, Atomic>(column, bytes, host, offset, mask);
    }
}

template <bool Atomic>
void store_sized(const Access& access, const std::byte* column, std::byte* const* host, uint32_t offset,
                 uint32_t mask) {
    switch (access.element_bytes) {
        case 1:
            return store_element<uint8_t, Atomic>(column, host, offset, mask);
        case 2:
            return store_element<uint16_t, Atomic>(column, host, offset, mask);
        case 4:
            return store_element<uint32_t, Atomic>(column, host, offset, mask);
        default:
            return store_element<uint64_t, Atomic>(column, host, offset, mask);
    }
}

}  // namespace

void Machine::addresses(Warp& warp, const MicroOp& op, const Access& access) {
    const std::byte* column = at(warp, op.a);
    if (access.wide_address)
        for (int lane = 0; lane < kWarpSize; ++lane)
            address_[static_cast<size_t>(lane)] =
                reinterpret_cast<const uint64_t*>(column)[lane] + static_cast<uint64_t>(access.offset);
    else
        for (int lane = 0; lane < kWarpSize; ++lane)
            address_[static_cast<size_t>(lane)] =
                reinterpret_cast<const uint32_t*>(column)[lane] + static_cast<uint32_t>(access.offset);
}

// Fills host_ for the lanes of the mask. Mostly a request falls into the buffer of the one before it.
bool Machine::locate_global(Warp& warp, const MicroOp& op, const Access& access, uint32_t mask,
                            uint32_t bytes) {
    uint32_t& last = last_view_[op.target];
    const auto holds = [&](const View& view, uint64_t address) {
        return view.bytes >= bytes && address - view.base <= view.bytes - bytes;
    };
    uint32_t outside = mask;
    if (last < views_.size()) {
        const View& view = views_[last];
        outside = 0;
        for (int lane = 0; lane < kWarpSize; ++lane) {
            const uint64_t address = address_[static_cast<size_t>(lane)];
            host_[static_cast<size_t>(lane)] = displaced(view.data, address - view.base);
            outside |= holds(view, address) ? 0u : 1u << lane;
        }
        outside &= mask;
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

void Machine::load(Warp& warp, const Access& access, uint32_t mask, bool atomic) {
    for (uint32_t i = 0; i < access.elements; ++i) {
        std::byte* column = at(warp, access.data[i]);
        const uint32_t offset = i * access.element_bytes;
        if (atomic)
            load_sized<true>(access, column, access.data_bytes[i], host_.data(), offset, mask);
        else
            load_sized<false>(access, column, access.data_bytes[i], host_.data(), offset, mask);
    }
}

void Machine::store(Warp& warp, const Access& access, uint32_t mask, bool atomic) {
    for (uint32_t i = 0; i < access.elements; ++i) {
        const std::byte* column = at(warp, access.data[i]);
        const uint32_t offset = i * access.element_bytes;
        if (atomic)
            store_sized<true>(access, column, host_.data(), offset, mask);
        else
            store_sized<false>(access, column, host_.data(), offset, mask);
    }
}

// Executes a load, store or atomic for the lanes of the mask and, where `reported`, makes it a step.
template <bool Values>
bool Machine::access(Warp& warp, const MicroOp& op, uint32_t mask, bool reported) {
    const Access& access = program_.accesses[op.target];
    const uint32_t bytes = uint32_t{access.element_bytes} * access.elements;
    addresses(warp, op, access);
    StateSpace space = access.space;
    if (space == StateSpace::Generic) {
        const auto space_of = [](uint64_t address) {
            if (address >= kModuleWindow || address < kSharedWindow) return StateSpace::Global;
            return address < kLocalWindow   ? StateSpace::Shared
                   : address < kConstWindow ? StateSpace::Local
                                            : StateSpace::Const;
        };
        space = space_of(address_[static_cast<size_t>(std::countr_zero(mask))]);
        for (uint32_t m = mask; m; m &= m - 1) {
            const int lane = std::countr_zero(m);
            if (space_of(address_[static_cast<size_t>(lane)]) == space) continue;
            return raise(
                Fault::Kind::BadAddress, warp, lane, op,
                fmt::format(
                    "{} uses address {:#x} at {} while others of its warp use another memory space there",
                    thread_text(warp, lane), address_[static_cast<size_t>(lane)], line_text(op)));
        }
        const uint64_t window = space == StateSpace::Shared  ? kSharedWindow
                                : space == StateSpace::Local ? kLocalWindow
                                : space == StateSpace::Const ? kConstWindow
                                                             : 0;
        for (uint64_t& address : address_) address -= window;
    }

    uint64_t low_bits = 0;
    for (int lane = 0; lane < kWarpSize; ++lane)
        low_bits |= (mask >> lane & 1) ? address_[static_cast<size_t>(lane)] : 0;
    if (low_bits & (bytes - 1)) {
        int lane = std::countr_zero(mask);
        for (uint32_t m = mask; m; m &= m - 1)
            if (lane = std::countr_zero(m); address_[static_cast<size_t>(lane)] & (bytes - 1)) break;
        raise_access(warp, op, access, space, lane, true);
        return false;
    }

    if (space == StateSpace::Global) {
        if (!locate_global(warp, op, access, mask, bytes)) return false;
    } else {
        std::byte* base = shared_;
        uint64_t size = shared_bytes_, stride = 0;
        if (space == StateSpace::Local) base = warp.local, size = program_.local_bytes, stride = size;
        if (space == StateSpace::Const)
            base = const_cast<std::byte*>(program_.constants.data()), size = program_.constants.size();
        uint32_t outside = 0;
        for (int lane = 0; lane < kWarpSize; ++lane) {
            const uint64_t address = address_[static_cast<size_t>(lane)];
            host_[static_cast<size_t>(lane)] =
                displaced(base, address + stride * static_cast<uint64_t>(lane));
            outside |= size >= bytes && address <= size - bytes ? 0u : 1u << lane;
        }
        if (outside & mask) {
            raise_access(warp, op, access, space, std::countr_zero(outside & mask), false);
            return false;
        }
    }

    const bool is_load = op.kind == MicroOp::Kind::Load;
    if (!is_load && space == StateSpace::Const)
        return raise(Fault::Kind::BadAddress, warp, std::countr_zero(mask), op,
                     fmt::format("{} stores to constant memory at {}",
                                 thread_text(warp, std::countr_zero(mask)), line_text(op)));
    if (op.kind == MicroOp::Kind::Atomic) {
        update(warp, access, mask);
        if constexpr (Values)
            each_lane(mask, [&](int l) { reinterpret_cast<Origin*>(warp.origins + access.data[0])[l] = 0; });
        return true;  // not a site
    }
    if (is_load)
        load(warp, access, mask, space == StateSpace::Global);
    else
        store(warp, access, mask, space == StateSpace::Global);
    if (!reported) return true;

    Request request;
    request.site = static_cast<uint32_t>(access.site);
    request.warp = warp.number;
    request.mask = mask;
    request.space = space == StateSpace::Shared ? Space::Shared : Space::Global;
    request.address = address_.data();
    if constexpr (Values) {
        std::array<uint64_t, 4 * kWarpSize> value{};
        std::array<Origin, 4 * kWarpSize> origins{};
        const uint64_t kept =
            access.element_bytes == 8 ? ~uint64_t{0} : (uint64_t{1} << 8 * access.element_bytes) - 1;
        const uint32_t elements = std::min<uint32_t>(access.elements, 4);
        for (uint32_t i = 0; i < elements; ++i) {
            const std::byte* column = at(warp, access.data[i]);
            for_lanes(mask, [&](uint32_t l) {
                value[i * kWarpSize + l] =
                    kept & (access.data_bytes[i] == 8 ? reinterpret_cast<const uint64_t*>(column)[l]
                                                      : reinterpret_cast<const uint32_t*>(column)[l]);
            });
        }
        request.elements = elements;
        request.element_bytes = access.element_bytes;
        request.value = value.data();
        if (is_load) {
            for (uint32_t i = 0; i < access.elements; ++i) {
                auto* origins_of = reinterpret_cast<Origin*>(warp.origins + access.data[i]);
                each_lane(mask, [&](int l) { origins_of[l] = (steps_ + 1) | i << kPartShift; });
            }
        } else {
            for (uint32_t i = 0; i < elements; ++i) {
                const Origin* of_element = origin(warp, access.data[i]);
                settle_loose(warp, of_element, mask);
                std::copy_n(of_element, kWarpSize, origins.begin() + i * kWarpSize);
            }
            request.origin = origins.data();
        }
        if (observer_) observer_->on_request(request);
    } else if (observer_) {
        observer_->on_request(request);
    }
    ++steps_;
    return true;
}

template bool Machine::access<false>(Warp&, const MicroOp&, uint32_t, bool);
template bool Machine::access<true>(Warp&, const MicroOp&, uint32_t, bool);

}  // namespace tilescope::simt
