#include "core/compiled/undo.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tilescope::compiled {

namespace {

// Kept::kind beyond 0. Of an atomic: kAtomic plus what it does, and kFloat.
constexpr uint32_t kFilled = 1, kAtomic = 0x100, kFloat = 0x1000;

constexpr uint32_t padded(uint32_t bytes) { return (bytes + 7) & ~7u; }

// Of an atomic that changed `old` to `left`: what the word is to hold instead of `now`. The interpreter will make it
// again, so the least of all, and the like, may stay.
template <class Bits>
Bits without(uint32_t kind, Bits now, Bits old, Bits left) {
    if (now == left) return old;
    if (kind & kFloat) {
        using Number = std::conditional_t<sizeof(Bits) == 8, double, float>;
        const auto number = [](Bits bits) { return std::bit_cast<Number>(bits); };
        return std::bit_cast<Bits>(number(now) - number(left) + number(old));
    }
    const auto does = static_cast<ptx::Atomic>(kind & 0xFF);
    if (does == ptx::Atomic::Add) return now - left + old;
    if (does == ptx::Atomic::Xor) return now ^ left ^ old;
    return now;
}

template <class Bits>
void take_back_atomic(const Kept& head, const uint64_t* words) {
    auto* const at = reinterpret_cast<Bits*>(head.at);
    Bits now = __atomic_load_n(at, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(
        at, &now, without(head.kind, now, static_cast<Bits>(words[0]), static_cast<Bits>(words[1])), true,
        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

}  // namespace

UndoLog::UndoLog(Context& context, size_t bytes)
    : context_(context),
      store_(std::make_unique_for_overwrite<uint8_t[]>(bytes)),
      tags_(TILESCOPE_KEPT_TAGS) {
    context_.kept_tags = tags_.data();
    context_.kept_block = 0;
    context_.kept_end = store_.get() + bytes;
    start();
}

void UndoLog::start() {
    context_.kept = store_.get();
    if (++context_.kept_block < 256) return;
    context_.kept_block = 1;
    std::ranges::fill(tags_, 0);
}

bool UndoLog::keep(std::byte* at, uint64_t bytes) {
    for (uint64_t done = 0; done < bytes; done += TILESCOPE_MOST_KEPT) {
        const auto piece = static_cast<uint32_t>(std::min<uint64_t>(bytes - done, TILESCOPE_MOST_KEPT));
        if (keep_piece(&context_, reinterpret_cast<uint8_t*>(at + done), piece) != 0) return false;
    }
    return true;
}

bool UndoLog::has_room(uint32_t changes) const {
    constexpr size_t kMost = TILESCOPE_MOST_KEPT + sizeof(Kept);
    return static_cast<size_t>(context_.kept_end - context_.kept) >= changes * kMost;
}

void UndoLog::add(const Kept& head, const void* data, uint32_t data_bytes) {
    std::memcpy(context_.kept, data, data_bytes);
    std::memcpy(context_.kept + padded(data_bytes), &head, sizeof(Kept));
    context_.kept += padded(data_bytes) + sizeof(Kept);
}

bool UndoLog::keep_filled(uint8_t* map, uint32_t bytes, uint8_t bits) {
    for (uint32_t done = 0; done < bytes; done += TILESCOPE_MOST_KEPT) {
        uint8_t set[TILESCOPE_MOST_KEPT];
        const uint32_t piece = std::min<uint32_t>(bytes - done, TILESCOPE_MOST_KEPT);
        bool any = false;
        if (!has_room(1)) return false;
        for (uint32_t k = 0; k < piece; ++k) {
            set[k] = bits & static_cast<uint8_t>(~__atomic_load_n(map + done + k, __ATOMIC_RELAXED));
            if (set[k] == 0) continue;
            set[k] &= static_cast<uint8_t>(~__atomic_fetch_or(map + done + k, set[k], __ATOMIC_RELAXED));
            any = true;
        }
        if (any) add({map + done, piece, kFilled}, set, piece);
    }
    return true;
}

void UndoLog::keep_atomic(std::byte* at, const simt::MemoryAccess& access, uint64_t old, uint64_t left) {
    const uint64_t words[] = {old, left};
    const uint32_t kind = kAtomic | static_cast<uint32_t>(access.atomic) | (access.is_float ? kFloat : 0);
    add({reinterpret_cast<uint8_t*>(at), access.element_bytes, kind}, words, sizeof(words));
}

void UndoLog::take_back() {
    for (uint8_t* end = context_.kept; end != store_.get();) {
        Kept head;
        std::memcpy(&head, end -= sizeof(Kept), sizeof(Kept));
        const uint32_t data_bytes = head.kind & kAtomic ? 2 * sizeof(uint64_t) : head.bytes;
        end -= padded(data_bytes);
        if (head.kind == 0) {
            std::memcpy(head.at, end, head.bytes);
        } else if (head.kind == kFilled) {
            for (uint32_t k = 0; k < head.bytes; ++k)
                if (end[k] != 0)
                    __atomic_fetch_and(head.at + k, static_cast<uint8_t>(~end[k]), __ATOMIC_RELAXED);
        } else {
            const auto* const words = reinterpret_cast<const uint64_t*>(end);
            head.bytes == 8 ? take_back_atomic<uint64_t>(head, words)
                            : take_back_atomic<uint32_t>(head, words);
        }
    }
    context_.kept = store_.get();
}

}  // namespace tilescope::compiled
