// Global memory of a launch: the buffers, each at its virtual address.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <string>
#include <vector>

#include "core/base/launch.h"

namespace tilescope::simt {

// Host memory of a buffer begins at a multiple of this: a cache line, and more than the 16 bytes that the widest access of
// a thread asks for. What the default allocator gives differs by platform.
inline constexpr size_t kHostAlignment = 64;

template <class T>
struct AlignedAllocator {
    using value_type = T;
    AlignedAllocator() = default;
    template <class Other>
    AlignedAllocator(const AlignedAllocator<Other>&) {}
    T* allocate(size_t count) {
        return static_cast<T*>(::operator new (count * sizeof(T), std::align_val_t{kHostAlignment}));
    }
    void deallocate(T* first, size_t) { ::operator delete (first, std::align_val_t{kHostAlignment}); }
    bool operator==(const AlignedAllocator&) const = default;
};
using Bytes = std::vector<std::byte, AlignedAllocator<std::byte>>;

// So many zeros that take memory page by page as they are touched; null where there is no room.
inline std::shared_ptr<std::byte> untouched_zeros(uint64_t bytes) {
    size_t room = static_cast<size_t>(bytes) + kHostAlignment;
    void* first = room < bytes ? nullptr : std::calloc(1, room);
    const std::shared_ptr<void> whole(first, std::free);
    if (!first) return nullptr;
    return {whole,
            static_cast<std::byte*>(std::align(kHostAlignment, static_cast<size_t>(bytes), first, room))};
}

struct Buffer {
    std::string name;
    uint64_t base = 0;  // virtual address of byte 0
    Bytes bytes;
    // In place of bytes: `zeros_bytes` of them (untouched_zeros). Copies of a Buffer share them.
    std::shared_ptr<std::byte> zeros{};
    uint64_t zeros_bytes = 0;
    uint8_t* filled = nullptr;  // as of a View
    std::byte* data() { return zeros ? zeros.get() : bytes.data(); }
    uint64_t size() const { return zeros ? zeros_bytes : bytes.size(); }
};

// Buffers do not overlap. An access that is not wholly inside one buffer is out of bounds.
struct GlobalMemory {
    std::vector<Buffer> buffers;
};

// A range of host memory at a virtual address; memory that somebody else owns. Views of a run do not overlap.
struct View {
    uint64_t base = 0, bytes = 0;
    std::byte* data = nullptr;
    // Which of its bytes hold what somebody stored: for each 4 of them a byte with a bit for each, which the
    // run adds to as threads store. Null: all of them.
    uint8_t* filled = nullptr;
};

// Bits of the map for `bytes` bytes from an address on, word by word: fn(byte of the map, bits).
template <class Fn>
void each_word_filled(const View& view, uint64_t address, uint32_t bytes, Fn fn) {
    uint64_t at = address - view.base;
    for (const uint64_t end = at + bytes; at < end;) {
        const auto first = static_cast<uint32_t>(at % 4);
        const uint32_t n = static_cast<uint32_t>(std::min<uint64_t>(4 - first, end - at));
        fn(view.filled + at / 4, static_cast<uint8_t>(((1u << n) - 1) << first));
        at += n;
    }
}

// Virtual addresses for buffers of the given sizes (bytes): each 256-byte aligned, as cudaMalloc
// aligns, with at least 4 KiB of nothing after each, so that an index past an end faults.
inline std::vector<uint64_t> place_buffers(const std::vector<uint64_t>& sizes) {
    constexpr uint64_t kFirst = 0x7F00'0000'0000, kAlignment = 256, kGap = 4096;
    std::vector<uint64_t> bases;
    uint64_t at = kFirst;
    for (const uint64_t size : sizes) {
        bases.push_back(at);
        at = (at + size + kGap + kAlignment - 1) / kAlignment * kAlignment;
    }
    return bases;
}

}  // namespace tilescope::simt
