// Where allocations lie. One range of addresses is reserved and made usable from its beginning on, as it is
// given out; what is freed goes back to the system but its addresses are not used again.
//
//   kFirst   | allocation | gap | allocation | gap | freed | gap | ...        | not usable yet
//            aligned to 256 bytes, as cudaMalloc aligns              next_      mapped_
//
// Source: CUDA C++ Programming Guide, "Device Memory Accesses": memory of the runtime is aligned to 256 bytes
// at least.
#include <algorithm>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#include "kernels/cudart/runtime.h"

namespace tilescope::cudart {

namespace {

constexpr uint64_t kFirst = 0x2000'0000'0000, kReserved = uint64_t{1} << 43;  // 8 TiB of addresses
constexpr uint64_t kAlignment = 256, kPage = 4096, kStep = uint64_t{64} << 20;
// An index that runs over an end by less than this is not taken for one of the next allocation.
constexpr uint64_t kLeastGap = 256, kMostGap = 4096;

uint64_t rounded(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

void* pointer_to(uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

uint64_t Memory::total() const {
    const auto pages = static_cast<uint64_t>(std::max(sysconf(_SC_PHYS_PAGES), 1L));
    return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 4 * 3;
}

Allocation* Memory::allocate(uint64_t bytes, MemoryKind kind, unsigned flags) {
    if (bytes > total() || used_ > total() - bytes) return nullptr;
    if (next_ == 0) {
        void* const got = mmap(pointer_to(kFirst), kReserved, PROT_NONE,
                               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
        if (got != pointer_to(kFirst)) {
            if (got != MAP_FAILED) munmap(got, kReserved);
            return nullptr;
        }
        next_ = mapped_ = kFirst;
    }
    // Large ones lie on pages of their own, which can be given back.
    const uint64_t base = rounded(next_, bytes >= kPage ? kPage : kAlignment);
    const uint64_t end = base + bytes + std::clamp(bytes, kLeastGap, kMostGap);
    if (end > kFirst + kReserved) return nullptr;
    if (end > mapped_) {
        const uint64_t more = rounded(end - mapped_, kStep);
        if (mprotect(pointer_to(mapped_), more, PROT_READ | PROT_WRITE) != 0) return nullptr;
        mapped_ += more;
    }
    next_ = rounded(end, kAlignment);
    used_ += bytes;
    Allocation made;
    made.base = base, made.bytes = bytes, made.kind = kind, made.flags = flags, made.version = ++stamp_;
    return &(live_[base] = made);
}

Allocation* Memory::adopt(Allocation allocation) {
    const auto after = live_.lower_bound(allocation.base);
    if (after != live_.end() && after->first < allocation.end()) return nullptr;
    if (after != live_.begin() && std::prev(after)->second.end() > allocation.base) return nullptr;
    allocation.version = ++stamp_;
    return &(live_[allocation.base] = std::move(allocation));
}

bool Memory::release(uint64_t base) {
    const auto found = live_.find(base);
    if (found == live_.end()) return false;
    const Allocation& gone = found->second;
    if (gone.base >= kFirst && gone.base < kFirst + kReserved) {
        freed_[gone.base] = gone.end();
        used_ -= gone.bytes;
        const uint64_t first = rounded(gone.base, kPage), end = gone.end() / kPage * kPage;
        if (first < end) madvise(pointer_to(first), end - first, MADV_DONTNEED);
    }
    live_.erase(found);
    return true;
}

void Memory::release_all() {
    for (auto at = live_.begin(); at != live_.end();) {
        const Allocation& one = (at++)->second;
        if (one.kind != MemoryKind::Variable && one.kind != MemoryKind::Registered) release(one.base);
    }
}

Allocation* Memory::find(uint64_t address) {
    const auto after = live_.upper_bound(address);
    if (after == live_.begin()) return nullptr;
    Allocation& before = std::prev(after)->second;
    return address < before.end() ? &before : nullptr;
}

Allocation* Memory::holds(const void* pointer, uint64_t bytes) {
    const auto address = reinterpret_cast<uintptr_t>(pointer);
    const auto after = live_.upper_bound(address);
    if (after == live_.begin()) return nullptr;
    Allocation& before = std::prev(after)->second;
    return address <= before.end() && bytes <= before.end() - address ? &before : nullptr;
}

bool Memory::freed(uint64_t address) const {
    const auto after = freed_.upper_bound(address);
    return after != freed_.begin() && address < std::prev(after)->second;
}

const Allocation* Memory::nearest(uint64_t address) const {
    const auto after = live_.upper_bound(address);
    const Allocation* const above = after == live_.end() ? nullptr : &after->second;
    const Allocation* const below = after == live_.begin() ? nullptr : &std::prev(after)->second;
    if (!above || !below) return above ? above : below;
    return address - below->base < below->bytes || address - below->end() <= above->base - address ? below
                                                                                                   : above;
}

uint64_t Heap::allocate(uint64_t bytes) {
    constexpr uint64_t kUnit = 16;
    const std::lock_guard lock(mutex_);
    if (bytes == 0 || bytes > end_ - base_) return 0;
    const uint64_t wanted = rounded(bytes, kUnit);
    uint64_t at = base_;
    for (const auto& [base, end] : taken_) {
        if (base - at >= wanted) break;
        at = end;
    }
    if (end_ - at < wanted) return 0;
    taken_[at] = at + wanted;
    return at;
}

void Heap::release(uint64_t address) {
    const std::lock_guard lock(mutex_);
    taken_.erase(address);
}

void Heap::place(uint64_t base, uint64_t bytes) { base_ = base, end_ = base + bytes; }

std::vector<simt::View> Memory::views() const {
    std::vector<simt::View> views;
    views.reserve(live_.size());
    for (const auto& [base, one] : live_) views.push_back({base, one.bytes, one.data()});
    return views;
}

}  // namespace tilescope::cudart
