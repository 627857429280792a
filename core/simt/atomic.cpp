// atom and red: a word is read, changed and written back as one.
//
// Blocks of one launch run on several CPU threads, so each lane's update is atomic among them; the
// lanes of a warp go one after the other, lowest first (a GPU leaves their order open).
//
// Source: PTX ISA, "Parallel Synchronization and Communication Instructions: atom, red".
#include <atomic>

#include "core/simt/warp_inline.h"

namespace tilescope::simt {

using ptx::Atomic;

namespace {

// What the word becomes. T: signed where the type is.
template <class T>
T changed(Atomic how, T old, T b, T c) {
    using U = std::make_unsigned_t<T>;
    switch (how) {
        case Atomic::Add:
            return static_cast<T>(static_cast<U>(old) + static_cast<U>(b));
        case Atomic::And:
            return old & b;
        case Atomic::Or:
            return old | b;
        case Atomic::Xor:
            return old ^ b;
        case Atomic::Min:
            return std::min(old, b);
        case Atomic::Max:
            return std::max(old, b);
        case Atomic::Inc:
            return old >= b ? T{0} : static_cast<T>(old + 1);
        case Atomic::Dec:
            return old == 0 || old > b ? b : static_cast<T>(old - 1);
        case Atomic::Exch:
            return b;
        case Atomic::Cas:
            return old == b ? c : old;
        case Atomic::None:
            break;
    }
    return old;
}

template <class T>
void update_lanes(Atomic how, std::byte* d, const std::byte* b, const std::byte* c, std::byte* const* host,
                  uint32_t mask) {
    for_lanes(
        mask,
        [&](uint32_t lane) {
            const std::atomic_ref<T> word(*reinterpret_cast<T*>(host[lane]));
            const T first = reinterpret_cast<const T*>(b)[lane], second = reinterpret_cast<const T*>(c)[lane];
            T old = word.load();
            while (!word.compare_exchange_weak(old, changed(how, old, first, second))) {
            }
            reinterpret_cast<T*>(d)[lane] = old;
        });
}

}  // namespace

// host_ holds where the lanes' words lie, aligned and inside their memory.
void Machine::update(Warp& warp, const Access& access, uint32_t mask) {
    std::byte* d = at(warp, access.data[0]);
    const std::byte *b = at(warp, access.data[1]), *c = at(warp, access.data[2]);
    if (access.element_bytes == 8)
        return access.is_signed ? update_lanes<int64_t>(access.atomic, d, b, c, host_.data(), mask)
                                : update_lanes<uint64_t>(access.atomic, d, b, c, host_.data(), mask);
    return access.is_signed ? update_lanes<int32_t>(access.atomic, d, b, c, host_.data(), mask)
                            : update_lanes<uint32_t>(access.atomic, d, b, c, host_.data(), mask);
}

}  // namespace tilescope::simt
