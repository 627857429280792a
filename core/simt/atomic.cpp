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
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstring>
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

// Elements of half precision and vectors: each element is updated as one, and a lane's bits are those of all, the first
// lowest.
class Elements {
public:
    explicit Elements(const MemoryAccess& access) : access_(access) {
        using enum ptx::Type;
        if (access.half == None) return;
        widen_ = find_lane_op({.op = ptx::Op::Cvt, .type = F32, .type2 = access.half}, LaneVersion::Portable);
        narrow_ =
            find_lane_op({.op = ptx::Op::Cvt, .type = access.half, .type2 = F32, .round = ptx::Round::Rn},
                         LaneVersion::Portable);
    }

    uint32_t changed(uint32_t old, uint32_t b) const {
        if (access_.half == ptx::Type::None) return Changed<Atomic::Add, float, true>::bits(old, b, 0);
        uint32_t made = 0;
        for (uint32_t at = 0; at < access_.element_bytes * 8; at += 16)
            made |= uint32_t{one(static_cast<uint16_t>(old >> at), static_cast<uint16_t>(b >> at))} << at;
        return made;
    }

private:
    // By the functions of the conversions, in the first lane of a column.
    float wide(uint16_t half) const {
        alignas(64) uint32_t from[kWarpSize] = {half};
        alignas(64) float to[kWarpSize] = {};
        widen_.partial(reinterpret_cast<std::byte*>(to), nullptr, reinterpret_cast<std::byte*>(from), nullptr,
                       nullptr, 1);
        return to[0];
    }
    // A sum of two halves, rounded to a float and then to a half, is rounded as once: a float has more than twice the
    // digits.
    uint16_t one(uint16_t old, uint16_t b) const {
        const float x = wide(old), y = wide(b);
        const bool least = access_.atomic == Atomic::Min;
        alignas(64) float from[kWarpSize] = {x + y};
        if (access_.atomic != Atomic::Add) {
            const bool less = x < y || (x == y && std::signbit(x));
            from[0] = x != x ? y : y != y || less == least ? x : y;
        }
        alignas(64) uint32_t to[kWarpSize] = {};
        narrow_.partial(reinterpret_cast<std::byte*>(to), nullptr, reinterpret_cast<std::byte*>(from),
                        nullptr, nullptr, 1);
        return static_cast<uint16_t>(to[0]);
    }

    const MemoryAccess& access_;
    LaneOp widen_, narrow_;
};

// data: destinations and operands of the elements.
template <class Word>
void update_elements(const MemoryAccess& access, const Lanes& lanes, const std::array<std::byte*, 8>& data,
                     std::span<const uint64_t> told) {
    const Elements elements(access);
    constexpr uint32_t kBits = 8 * sizeof(Word);
    size_t next_told = 0;
    for_lanes(lanes.mask, [&](uint32_t lane) {
        uint64_t found = 0, left = 0;
        const bool is_told = next_told < told.size();
        const uint64_t tells = is_told ? told[next_told++] : 0;
        for (uint32_t i = 0; i < access.elements; ++i) {
            const std::atomic_ref<Word> word(*reinterpret_cast<Word*>(lanes.host[lane] + i * sizeof(Word)));
            const auto b =
                static_cast<Word>(reinterpret_cast<const uint32_t*>(data[access.elements + i])[lane]);
            Word old = is_told ? static_cast<Word>(tells >> i * kBits) : word.load(), next{};
            do next = static_cast<Word>(elements.changed(old, b));
            while (!is_told && !word.compare_exchange_weak(old, next));
            if (is_told) word.store(next);
            found |= uint64_t{old} << i * kBits, left |= uint64_t{next} << i * kBits;
            reinterpret_cast<uint32_t*>(data[i])[lane] = old;
        }
        lanes.returned[lane] = found, lanes.stored[lane] = left;
    });
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

// Source: PTX ISA, "cp.reduce.async.bulk", "cp.reduce.async.bulk.tensor".
std::optional<MemoryAccess> bulk_update(Atomic how, ptx::Type element) {
    using enum Atomic;
    const bool logic = how == And || how == Or || how == Xor, counts = how == Inc || how == Dec;
    const bool least = how == Min || how == Max,
               half = element == ptx::Type::F16 || element == ptx::Type::BF16;
    const uint32_t bytes = size_of(element);
    const bool fits = half                       ? how == Add || least
                      : is_float(element)        ? how == Add
                      : bytes != 4 && bytes != 8 ? false
                      : counts                   ? bytes == 4 && !is_signed(element)
                                                 : how == Add || least || logic;
    if (!fits) return std::nullopt;
    MemoryAccess access;
    access.space = ptx::StateSpace::Global;
    access.element_bytes = static_cast<uint8_t>(bytes);
    access.is_signed = is_signed(element), access.is_float = is_float(element) && !half;
    access.half = half ? element : ptx::Type::None;
    access.atomic = how;
    return access;
}

void update_row(const MemoryAccess& access, std::byte* to, std::byte* by, size_t bytes) {
    const size_t size = access.element_bytes, column = size == 8 ? 8 : 4;
    for (size_t from = 0; from < bytes; from += kWarpSize * size) {
        alignas(64) std::array<std::byte, 8 * kWarpSize> b{}, c{}, d{};
        std::array<std::byte*, kWarpSize> host{};
        std::array<uint64_t, kWarpSize> returned{}, stored{};
        const size_t elements = std::min<size_t>(kWarpSize, (bytes - from) / size);
        for (size_t i = 0; i < elements; ++i) {
            host[i] = to + from + i * size;
            std::memcpy(b.data() + i * column, by + from + i * size, size);
        }
        const auto mask = static_cast<uint32_t>((uint64_t{1} << elements) - 1);
        const Lanes lanes{mask,     host.data(),     d.data(),      b.data(),
                          c.data(), returned.data(), stored.data(), true};
        if (has_elements(access))
            update_elements<uint16_t>(access, lanes, {d.data(), b.data()}, {});
        else
            update_all(access, lanes, {});
        for (size_t i = 0; i < elements; ++i) std::memcpy(by + from + i * size, &stored[i], size);
    }
}

// host_ holds where the lanes' words lie, aligned and inside their memory.
void Machine::update(Warp& warp, const MemoryAccess& access, uint32_t mask, bool global) {
    std::span<const uint64_t> told;
    if (global && next_return_ < options_.returns.size()) {
        told = std::span(options_.returns).subspan(next_return_);
        told = told.first(std::min<size_t>(told.size(), static_cast<size_t>(std::popcount(mask))));
        next_return_ += told.size();
    }
    if (has_elements(access)) {
        std::array<std::byte*, 8> data{};
        for (size_t i = 0; i < 2u * access.elements; ++i) data[i] = at(warp, access.data[i]);
        const Lanes lanes{mask,    host_.data(),     nullptr,        nullptr,
                          nullptr, returned_.data(), stored_.data(), global};
        return access.element_bytes == 2 ? update_elements<uint16_t>(access, lanes, data, told)
                                         : update_elements<uint32_t>(access, lanes, data, told);
    }
    update_all(access,
               {mask, host_.data(), at(warp, access.data[0]), at(warp, access.data[1]),
                at(warp, access.data[2]), returned_.data(), stored_.data(), global},
               told);
}

}  // namespace tilescope::simt
