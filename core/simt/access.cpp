// A request: the lanes' addresses are checked as a whole, then data moves in the order of the lanes (so where several
// lanes store to one place, the highest lane's value stays; a GPU leaves it open): lane by lane, or, where the addresses
// follow a pattern, by whole vectors (lanes_memory.h).
//
// Blocks of one launch run at the same time on several CPU threads and may touch the same global words, as on a GPU. An
// aligned element must therefore be read and written as one. Lane by lane that is said by relaxed atomics, which cost
// nothing on any processor of today. Vectors and memcpy have no such word in C++; they rely on it that the compiler makes
// one move of an element, and that the processor moves each aligned element of a vector as one.
#include <algorithm>
#include <bit>
#include <cstring>
#include <functional>

#include <fmt/format.h>

#include "core/simt/elements.h"
#include "core/simt/lanes_memory.h"
#include "core/simt/machine.h"

namespace tilescope::simt {

using ptx::StateSpace;

namespace {

const MemoryLanes& kLanes = memory_lanes(best_version());

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
        // Narrow addresses wrap at 32 bits, which those of a pattern do not.
        if (access.wide_address && access.space == StateSpace::Global)
            wholes_[op.target].set_memory(views_[v].filled ? nullptr : views_[v].data, views_[v].base,
                                          views_[v].bytes, bytes);
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
            load_elements<true>(access, column, access.data_bytes[i], host_.data(), offset, mask);
        else
            load_elements<false>(access, column, access.data_bytes[i], host_.data(), offset, mask);
    }
}

void Machine::store(Warp& warp, const MemoryAccess& access, uint32_t mask, bool atomic) {
    for (uint32_t i = 0; i < access.elements; ++i) {
        const std::byte* column = at(warp, access.data[i]);
        const uint32_t offset = i * access.element_bytes;
        if (atomic)
            store_elements<true>(access, column, host_.data(), offset, mask);
        else
            store_elements<false>(access, column, host_.data(), offset, mask);
    }
}

StateSpace space_of_generic(uint64_t address) {
    if (address >= kModuleWindow || address < kSharedWindow) return StateSpace::Global;
    return address < kLocalWindow   ? StateSpace::Shared
           : address < kConstWindow ? StateSpace::Local
                                    : StateSpace::Const;
}

// Requests of the access move as a whole in memory that holds them.
void WholeAccess::set_memory(std::byte* to, uint64_t base_of, uint64_t size, uint32_t bytes) {
    memory = move != nullptr && size >= bytes ? to : nullptr;
    base = base_of, most = size - bytes;
}

// Which accesses move as a whole, and how. Those of global memory do so once a request has found its array.
void Machine::prepare_whole() {
    wholes_.resize(program_.accesses.size());
    followed_.resize(wholes_.size() * warps_.size());
    for (const MicroOp& op : program_.code) {
        const bool is_load = op.kind == MicroOp::Kind::Load;
        if (!is_load && op.kind != MicroOp::Kind::Store) continue;
        const MemoryAccess& access = program_.accesses[op.target];
        const auto registers = std::span(access.data_bytes).first(access.elements);
        if (access.copy || std::ranges::adjacent_find(registers, std::not_equal_to()) != registers.end())
            continue;
        WholeAccess& whole = wholes_[op.target];
        whole.move =
            is_load ? kLanes.load(access.element_bytes, access.is_signed, registers[0], access.wide_address)
                    : kLanes.store(access.element_bytes, access.wide_address);
        const uint32_t bytes = uint32_t{access.element_bytes} * access.elements;
        if (access.space == StateSpace::Shared) whole.set_memory(shared_, 0, shared_bytes_, bytes);
        if (access.space == StateSpace::Const && is_load)
            whole.set_memory(constants_.data(), 0, constants_.size(), bytes);
    }
}

// Those of the warp, and of warps behind it; how many there are and their patterns are still to be filled in.
WarpRequests Machine::requests_from(Warp& warp, const MicroOp& op, const MemoryAccess& access) {
    const WholeAccess& whole = wholes_[op.target];
    WarpRequests requests;
    requests.elements = access.elements;
    requests.address = at(warp, op.a), requests.next_address = next_of(op.a);
    requests.offset = static_cast<uint64_t>(access.offset);
    for (size_t i = 0; i < access.elements; ++i)
        requests.data[i] = at(warp, access.data[i]), requests.next_data[i] = next_of(access.data[i]);
    requests.memory = whole.memory, requests.base = whole.base, requests.most = whole.most;
    return requests;
}

// A request whose lanes follow a pattern, in the memory that the one before it fell into. False where it has to
// be looked at lane by lane: nothing has moved then.
bool Machine::move_whole(Warp& warp, const MicroOp& op, const MemoryAccess& access, uint32_t mask) {
    constexpr uint8_t kMostMisses = 4, kRest = 32;
    const WholeAccess& whole = wholes_[op.target];
    if (whole.memory == nullptr) return false;
    Followed& latest = followed(warp, op);
    if (latest.rest != 0) return --latest.rest, false;
    WarpRequests requests = requests_from(warp, op, access);
    requests.warps = 1, requests.mask = mask;
    requests.pattern[0] = &patterns_[latest.pattern];
    if (whole.move(requests) != 0) {
        latest.misses = 0;
    } else {
        const auto found = static_cast<uint8_t>(patterns_.find(at(warp, op.a), access.wide_address, mask));
        if (found != latest.pattern && ++latest.misses == kMostMisses) latest.misses = 0, latest.rest = kRest;
        latest.pattern = found;
        requests.pattern[0] = &patterns_[found];
        if (whole.move(requests) == 0) return false;
    }
    const auto first = static_cast<size_t>(std::countr_zero(mask));
    address_[first] = requests.start[0];
    host_[first] = whole.memory + (requests.start[0] - whole.base);
    last_space_ = space_of(access.space);
    return true;
}

// Reports a request that has moved as a whole. Its column of addresses may hold what it loaded.
template <bool Values>
void Machine::tell(Warp& warp, const MicroOp& op, const MemoryAccess& access, const LanePattern& pattern,
                   uint64_t start) {
    if (!observer_ && !Values) return;
    kLanes.displace(address_.data(), pattern.difference.data(), start);
    Request request;
    request.mask = pattern.mask;
    request.pattern = pattern.number;
    report<Values>(warp, op, access, request);
}

// Executes a load, store or atomic for the lanes of the mask and makes it a step; one for each memory space
// where a generic access leads to several, in the order of their lowest lanes.
template <bool Values>
bool Machine::access(Warp& warp, const MicroOp& op, uint32_t mask) {
    const MemoryAccess& access = program_.accesses[op.target];
    if (move_whole(warp, op, access, mask)) {
        if (access.site < 0) return true;
        tell<Values>(warp, op, access, patterns_[followed(warp, op).pattern],
                     address_[static_cast<size_t>(std::countr_zero(mask))]);
        ++steps_;
        return true;
    }
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
    if (outside && space == StateSpace::Shared) {
        uint32_t far = 0;
        for_lanes(outside, [&](uint32_t lane) { far |= names_block(address_[lane]) ? 1u << lane : 0u; });
        outside &= ~far;
        if (!outside && !locate_in_cluster(warp, op, far, bytes)) return false;
    }
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
    request.mask = mask;
    last_space_ = space_of(space);
    const bool is_load = op.kind == MicroOp::Kind::Load, is_atomic = op.kind == MicroOp::Kind::Atomic;
    const bool shared_by_blocks = space == StateSpace::Global;
    if (is_atomic) {
        update(warp, access, mask, shared_by_blocks);
        request.element_bytes = bytes_of(access);
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
    report<Values>(warp, op, access, request);
    ++steps_;
    return true;
}

// Tells the observer of a request of last_space_; address_ holds its addresses.
template <bool Values>
void Machine::report(Warp& warp, const MicroOp& op, const MemoryAccess& access, Request& request) {
    request.site = static_cast<uint32_t>(access.site);
    request.warp = warp.number;
    request.space = last_space_;
    request.address = address_.data();
    if constexpr (Values)
        report_values(warp, op, access, request);
    else if (observer_)
        observer_->on_request(request);
}

// Reports a request with its values and where they came from.
void Machine::report_values(Warp& warp, const MicroOp& op, const MemoryAccess& access, Request request) {
    const uint32_t mask = request.mask;
    constexpr size_t kMost = std::tuple_size_v<decltype(access.data)>;  // elements
    std::array<uint64_t, kMost * kWarpSize> value{};
    std::array<Origin, kMost * kWarpSize> origins{};
    const uint32_t elements = std::min<uint32_t>(access.elements, kMost);
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
        request.elements = 1, request.element_bytes = bytes_of(access);
        origins_of_stored(access.data[access.atomic == ptx::Atomic::Cas ? 2 : elements], 0);
        // What it returned is the second part of its values (Request::returned).
        for (uint32_t i = 0; i < elements; ++i) set_origins(access.data[i], (steps_ + 1) | 1u << kPartShift);
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

template void Machine::tell<false>(Warp&, const MicroOp&, const MemoryAccess&, const LanePattern&, uint64_t);
template bool Machine::access<false>(Warp&, const MicroOp&, uint32_t);
template bool Machine::access<true>(Warp&, const MicroOp&, uint32_t);

}  // namespace tilescope::simt
