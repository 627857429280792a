// Where allocations lie. One range of addresses is reserved and made usable from its beginning on, as it is
// given out; what is freed goes back to the system but its addresses are not used again.
//
//   first_   | allocation | gap | allocation | gap | freed | gap | ...        | not usable yet
//            aligned to 256 bytes, as cudaMalloc aligns              next_      mapped_
//
// With a GPU there are two such ranges, alike byte for byte: the device's, and this process's for copies and
// for what is the host's.
//
// Source: CUDA C++ Programming Guide, "Device Memory Accesses": the runtime aligns memory to at least 256
// bytes.
#include <algorithm>
#include <cstring>

#include <sys/mman.h>
#include <unistd.h>

#include "kernels/cudart/runtime.h"

namespace tilescope::cudart {

namespace {

constexpr uint64_t kAlignment = 256, kStep = uint64_t{64} << 20;
// An index that runs over an end by less than this is not taken for one of the next allocation.
constexpr uint64_t kLeastGap = 256, kMostGap = 4096;

uint64_t rounded(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

void* pointer_to(uint64_t address) { return reinterpret_cast<void*>(address); }

}  // namespace

uint64_t DeviceMemory::total() const {
    const auto pages = static_cast<uint64_t>(std::max(sysconf(_SC_PHYS_PAGES), 1L));
    return pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE)) / 4 * 3;
}

void DeviceMemory::use(Gpu* gpu) {
    gpu_ = gpu;
    lies_on(&gpu->device());
}

// On the CPU the device's addresses are this process's.
bool DeviceMemory::reserve() {
    const int fixed = gpu_ ? 0 : MAP_FIXED_NOREPLACE;
    void* const wanted = gpu_ ? nullptr : pointer_to(kFirstAddress);
    void* const got =
        mmap(wanted, kAddresses, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | fixed, -1, 0);
    if (got == MAP_FAILED) return false;
    if (wanted && got != wanted) {
        munmap(got, kAddresses);
        return false;
    }
    host_ = reinterpret_cast<uint64_t>(got);
    first_ = gpu_ ? gpu_->first() : host_;
    return true;
}

Allocation* DeviceMemory::allocate(uint64_t bytes, MemoryKind kind, unsigned flags) {
    if (bytes > total() || used_ > total() - bytes) return nullptr;
    if (host_ == 0 && !reserve()) return nullptr;
    const bool locked = gpu_ && kind != MemoryKind::Device && kind != MemoryKind::Variable;
    // Large ones lie on pages of their own, which can be given back, and so does what is locked.
    // Managed memory has pages of its own, which are closed for a while (guard.h).
    const bool own = locked || kind == MemoryKind::Managed;
    const uint64_t unit = own || bytes >= kPage ? kPage : kAlignment;
    const uint64_t at = rounded(next_, unit);
    const uint64_t end = rounded(at + bytes, own ? kPage : 1) + std::clamp(bytes, kLeastGap, kMostGap);
    if (end > kAddresses) return nullptr;
    if (end > mapped_) {
        const uint64_t more = rounded(end - mapped_, kStep);
        if (mprotect(pointer_to(host_ + mapped_), more, PROT_READ | PROT_WRITE) != 0) return nullptr;
        mapped_ += more;
    }
    Allocation made;
    made.base = host_ + at;
    if (gpu_ && kind == MemoryKind::Device) {
        if (!gpu_->back(first_ + end)) return nullptr;
        made.base = first_ + at, made.place = static_cast<std::byte*>(pointer_to(host_ + at));
    } else if (locked && !gpu_->device().lock(pointer_to(host_ + at), rounded(bytes, kPage))) {
        return nullptr;
    }
    next_ = rounded(end, kAlignment);
    used_ += bytes;
    made.bytes = bytes, made.kind = kind, made.flags = flags;
    return add(std::move(made));
}

bool DeviceMemory::release(uint64_t base) {
    const Allocation* const found = find(base);
    if (!found || found->base != base) return false;
    const Allocation& gone = *found;
    const auto host = reinterpret_cast<uint64_t>(gone.data());
    if (host >= host_ && host < host_ + kAddresses) {
        note_freed(gone);
        used_ -= gone.bytes;
        if (gpu_ && !gone.place) gpu_->device().unlock(gone.data());
        const uint64_t first = rounded(host, kPage), end = (host + gone.bytes) / kPage * kPage;
        if (first < end) madvise(pointer_to(first), end - first, MADV_DONTNEED);
    } else if (gpu_ && gone.kind == MemoryKind::Registered) {
        gpu_->device().unlock(gone.data());
    }
    remove(base);
    return true;
}

void DeviceMemory::release_all() {
    for (auto at = all().begin(); at != all().end();) {
        const Allocation& one = (at++)->second;
        if (one.kind != MemoryKind::Variable && one.kind != MemoryKind::Registered) release(one.base);
    }
}

}  // namespace tilescope::cudart
