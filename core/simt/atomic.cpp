// atom and red: a word is read, changed and written back as one.
//
// Blocks of one launch run on several CPU threads, and the host program's threads may change what they share with it,
// so each lane's update of global memory is atomic among them; the lanes of a warp go one after the other, lowest
// first (a GPU leaves their order open).
//
// Sums of floats are rounded to the nearest even one; those of 32 bits in global memory take and leave
// subnormal numbers as zeros of their sign, those in shared memory keep them.
//
// Source: PTX ISA, "Parallel Synchronization and Communication Instructions: atom, red".
#include "core/simt/atomic.h"

#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <span>

#include "core/simt/machine.h"

namespace tilescope::simt {

using ptx::Atomic;

namespace {

// What the word becomes. T: signed where the type is.
template <Atomic How, class T>
T changed(T old, T b, T c) {
    using U = std::make_unsigned_t<T>;
    if constexpr (How == Atomic::Add) return static_cast<T>(static_cast<U>(old) + static_cast<U>(b));
    if constexpr (How == Atomic::And) return old & b;
    if constexpr (How == Atomic::Or) return old | b;
    if constexpr (How == Atomic::Xor) return old ^ b;
    if constexpr (How == Atomic::Min) return std::min(old, b);
    if constexpr (How == Atomic::Max) return std::max(old, b);
    if constexpr (How == Atomic::Inc) return old >= b ? T{0} : static_cast<T>(old + 1);
    if constexpr (How == Atomic::Dec) return old == 0 || old > b ? b : static_cast<T>(old - 1);
    if constexpr (How == Atomic::Exch) return b;
    if constexpr (How == Atomic::Cas) return old == b ? c : old;
    return old;
}

template <class T>
T flushed(T value) {
    return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(T{0}, value) : value;
}

// What the word's bits become where they are read as a T.
template <Atomic How, class T, bool Flush = false>
struct Changed {
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    static constexpr bool kAdds = How == Atomic::Add && !std::is_floating_point_v<T>;
    static Bits bits(Bits old, Bits b, Bits c) {
        const auto first = std::bit_cast<T>(old), second = std::bit_cast<T>(b);
        if constexpr (Flush)
            return std::bit_cast<Bits>(flushed(flushed(first) + flushed(second)));
        else if constexpr (std::is_floating_point_v<T>)
            return std::bit_cast<Bits>(first + second);
        else
            return std::bit_cast<Bits>(changed<How>(first, second, std::bit_cast<T>(c)));
    }
};

struct Lanes {
    uint32_t mask;
    std::byte* const* host;
    std::byte* d;
    const std::byte *b, *c;
    uint64_t *returned, *stored;
    bool global;
};

// Told: what they held, lane by lane, in place of what they hold.
template <class Change>
void update_each(const Lanes& lanes, std::span<const uint64_t> told) {
    using Bits = typename Change::Bits;
    auto* const d = reinterpret_cast<Bits*>(lanes.d);
    const auto* const b = reinterpret_cast<const Bits*>(lanes.b);
    const auto* const c = reinterpret_cast<const Bits*>(lanes.c);
    const auto note = [&](uint32_t lane, Bits old, Bits next) {
        lanes.returned[lane] = old, lanes.stored[lane] = next;
        d[lane] = old;
    };
    if (!lanes.global && told.empty())  // no other thread changes shared memory
        return for_lanes(lanes.mask, [&](uint32_t lane) {
            auto& word = *reinterpret_cast<Bits*>(lanes.host[lane]);
            const Bits old = word;
            note(lane, old, word = Change::bits(old, b[lane], c[lane]));
        });
    size_t next_told = 0;
    for_lanes(lanes.mask, [&](uint32_t lane) {
        const std::atomic_ref<Bits> word(*reinterpret_cast<Bits*>(lanes.host[lane]));
        const Bits first = b[lane], second = c[lane];
        Bits old{}, next{};
        if (next_told < told.size()) {
            old = static_cast<Bits>(told[next_told++]);
            word.store(next = Change::bits(old, first, second));
        } else if constexpr (Change::kAdds) {
            next = (old = word.fetch_add(first)) + first;
        } else {
            old = word.load();
            do next = Change::bits(old, first, second);
            while (!word.compare_exchange_weak(old, next));
        }
        note(lane, old, next);
    });
}

template <class T>
void update_as(Atomic how, const Lanes& lanes, std::span<const uint64_t> told) {
    switch (how) {
        using enum Atomic;
        case Add: return update_each<Changed<Add, T>>(lanes, told);
        case And: return update_each<Changed<And, T>>(lanes, told);
        case Or: return update_each<Changed<Or, T>>(lanes, told);
        case Xor: return update_each<Changed<Xor, T>>(lanes, told);
        case Min: return update_each<Changed<Min, T>>(lanes, told);
        case Max: return update_each<Changed<Max, T>>(lanes, told);
        case Inc: return update_each<Changed<Inc, T>>(lanes, told);
        case Dec: return update_each<Changed<Dec, T>>(lanes, told);
        case Exch: return update_each<Changed<Exch, T>>(lanes, told);
        case Cas: return update_each<Changed<Cas, T>>(lanes, told);
        case None: return;
    }
}

void update_all(const MemoryAccess& access, const Lanes& lanes, std::span<const uint64_t> told) {
    if (access.element_bytes == 8) {
        if (access.is_float) return update_each<Changed<Atomic::Add, double>>(lanes, told);
        return access.is_signed ? update_as<int64_t>(access.atomic, lanes, told)
                                : update_as<uint64_t>(access.atomic, lanes, told);
    }
    if (access.is_float)
        return lanes.global ? update_each<Changed<Atomic::Add, float, true>>(lanes, told)
                            : update_each<Changed<Atomic::Add, float, false>>(lanes, told);
    return access.is_signed ? update_as<int32_t>(access.atomic, lanes, told)
                            : update_as<uint32_t>(access.atomic, lanes, told);
}

}  // namespace

void update_lanes(const MemoryAccess& access, uint32_t mask, bool global, std::byte* const* host,
                  std::byte* d, const std::byte* b, const std::byte* c, uint64_t* returned,
                  uint64_t* stored) {
    update_all(access, {mask, host, d, b, c, returned, stored, global}, {});
}

// host_ holds where the lanes' words lie, aligned and inside their memory.
void Machine::update(Warp& warp, const MemoryAccess& access, uint32_t mask, bool global) {
    std::span<const uint64_t> told;
    if (global && next_return_ < options_.returns.size()) {
        told = std::span(options_.returns).subspan(next_return_);
        told = told.first(std::min<size_t>(told.size(), static_cast<size_t>(std::popcount(mask))));
        next_return_ += told.size();
    }
    update_all(access,
               {mask, host_.data(), at(warp, access.data[0]), at(warp, access.data[1]),
                at(warp, access.data[2]), returned_.data(), stored_.data(), global},
               told);
}

}  // namespace tilescope::simt
