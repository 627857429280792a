// atom and red: a word is read, changed and written back as one.
//
// Blocks of one launch run on several CPU threads, so each lane's update is atomic among them; the
// lanes of a warp go one after the other, lowest first (a GPU leaves their order open).
//
// Sums of floats are rounded to the nearest even one; those of 32 bits in global memory take and leave
// subnormal numbers as zeros of their sign, those in shared memory keep them.
//
// Source: PTX ISA, "Parallel Synchronization and Communication Instructions: atom, red".
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>

#include "core/simt/machine.h"

namespace tilescope::simt {

using ptx::Atomic;

namespace {

// What the word becomes. T: signed where the type is.
template <class T>
T changed(Atomic how, T old, T b, T c) {
    using U = std::make_unsigned_t<T>;
    switch (how) {
        case Atomic::Add: return static_cast<T>(static_cast<U>(old) + static_cast<U>(b));
        case Atomic::And: return old & b;
        case Atomic::Or: return old | b;
        case Atomic::Xor: return old ^ b;
        case Atomic::Min: return std::min(old, b);
        case Atomic::Max: return std::max(old, b);
        case Atomic::Inc: return old >= b ? T{0} : static_cast<T>(old + 1);
        case Atomic::Dec: return old == 0 || old > b ? b : static_cast<T>(old - 1);
        case Atomic::Exch: return b;
        case Atomic::Cas: return old == b ? c : old;
        case Atomic::None: break;
    }
    return old;
}

template <class T>
T flushed(T value) {
    return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(T{0}, value) : value;
}

// What the word's bits become where they are read as a T.
template <class T, class Bits, bool Flush = false>
Bits changed_bits(Atomic how, Bits old, Bits b, Bits c) {
    const auto first = std::bit_cast<T>(old), second = std::bit_cast<T>(b);
    if constexpr (Flush)
        return std::bit_cast<Bits>(flushed(flushed(first) + flushed(second)));
    else if constexpr (std::is_floating_point_v<T>)
        return std::bit_cast<Bits>(first + second);
    else
        return std::bit_cast<Bits>(changed<T>(how, first, second, std::bit_cast<T>(c)));
}

}  // namespace

// host_ holds where the lanes' words lie, aligned and inside their memory. Those of shared memory are this thread's.
void Machine::update(Warp& warp, const MemoryAccess& access, uint32_t mask, bool global) {
    const bool told = global && !options_.returns.empty();
    // change(old, b, c): what a word becomes.
    const auto each = [&]<class Bits>(Bits, auto change) {
        auto* d = reinterpret_cast<Bits*>(at(warp, access.data[0]));
        const auto* b = reinterpret_cast<const Bits*>(at(warp, access.data[1]));
        const auto* c = reinterpret_cast<const Bits*>(at(warp, access.data[2]));
        for_lanes(mask, [&](uint32_t lane) {
            Bits& place = *reinterpret_cast<Bits*>(host_[lane]);
            const Bits first = b[lane], second = c[lane];
            Bits old{}, next{};
            if (!global) {
                old = place;
                place = next = change(old, first, second);
            } else {
                const std::atomic_ref<Bits> word(place);
                old = word.load();
                if (told && next_return_ < options_.returns.size()) {
                    old = static_cast<Bits>(options_.returns[next_return_++]);
                    word.store(next = change(old, first, second));
                } else {
                    do next = change(old, first, second);
                    while (!word.compare_exchange_weak(old, next));
                }
            }
            returned_[lane] = old, stored_[lane] = next;
            d[lane] = old;
        });
    };
    const auto by = [&]<class T, class Bits, bool Flush = false>(Bits zero) {
        each(zero, [how = access.atomic](Bits old, Bits b, Bits c) {
            return changed_bits<T, Bits, Flush>(how, old, b, c);
        });
    };
    const bool wide = access.element_bytes == 8;
    if (access.atomic == Atomic::Add && !access.is_float) {
        const auto add = [](auto old, auto b, auto) { return old + b; };
        return wide ? each(uint64_t{}, add) : each(uint32_t{}, add);
    }
    if (wide)
        return access.is_float    ? by.operator()<double>(uint64_t{})
               : access.is_signed ? by.operator()<int64_t>(uint64_t{})
                                  : by.operator()<uint64_t>(uint64_t{});
    if (access.is_float)
        return global ? by.operator()<float, uint32_t, true>(uint32_t{}) : by.operator()<float>(uint32_t{});
    access.is_signed ? by.operator()<int32_t>(uint32_t{}) : by.operator()<uint32_t>(uint32_t{});
}

}  // namespace tilescope::simt
