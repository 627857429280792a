#include "kernels/launched/memory.h"

#include <iterator>

#include "kernels/gpu/driver.h"

namespace tilescope::launched {

Allocation* KnownMemory::add(Allocation allocation) {
    const auto after = live_.lower_bound(allocation.base);
    if (after != live_.end() && after->first < allocation.end()) return nullptr;
    if (after != live_.begin() && std::prev(after)->second.end() > allocation.base) return nullptr;
    touched(allocation);
    return &(live_[allocation.base] = std::move(allocation));
}

void KnownMemory::remove(uint64_t base) { live_.erase(base); }

Allocation* KnownMemory::at_or_before(uint64_t address) {
    const auto after = live_.upper_bound(address);
    return after == live_.begin() ? nullptr : &std::prev(after)->second;
}

Allocation* KnownMemory::find(uint64_t address) {
    Allocation* const one = at_or_before(address);
    return one && address < one->end() ? one : nullptr;
}

Allocation* KnownMemory::holds(uint64_t address, uint64_t bytes) {
    Allocation* const one = at_or_before(address);
    return one && address <= one->end() && bytes <= one->end() - address ? one : nullptr;
}

bool KnownMemory::freed(uint64_t address) const {
    const auto after = freed_.upper_bound(address);
    return after != freed_.begin() && address < std::prev(after)->second;
}

const Allocation* KnownMemory::nearest(uint64_t address) const {
    const auto after = live_.upper_bound(address);
    const Allocation* const above = after == live_.end() ? nullptr : &after->second;
    const Allocation* const below = after == live_.begin() ? nullptr : &std::prev(after)->second;
    if (!above || !below) return above ? above : below;
    return address - below->base < below->bytes || address - below->end() <= above->base - address ? below
                                                                                                   : above;
}

std::byte* KnownMemory::bytes(Allocation& allocation) {
    if (device_ && allocation.behind) {
        if (!device_->read(allocation.place, allocation.base, allocation.bytes)) return nullptr;
        allocation.behind = false;
    }
    return allocation.data();
}

Result<void> KnownMemory::send() {
    for (auto& [base, allocation] : live_) {
        if (!device_ || !allocation.place || !allocation.ahead) continue;
        if (auto ok = device_->write(base, allocation.place, allocation.bytes); !ok) return ok;
        allocation.ahead = false;
    }
    return {};
}

std::vector<simt::View> KnownMemory::views() const {
    std::vector<simt::View> views;
    views.reserve(live_.size());
    for (const auto& [base, one] : live_)
        views.push_back({base, one.bytes, one.data(), one.filled ? one.filled->words() : nullptr});
    return views;
}

void KnownMemory::written(Allocation& allocation, uint64_t address, uint64_t bytes) {
    stored(allocation);
    if (allocation.filled) allocation.filled->set(address - allocation.base, bytes);
}

void KnownMemory::follow(Allocation& allocation) {
    auto map = std::make_shared<FilledMap>(allocation.bytes);
    if (map->made()) allocation.filled = std::move(map);
}

void KnownMemory::copied(Allocation& allocation, uint64_t address, const Allocation* source, uint64_t from,
                         uint64_t bytes) {
    if (!source || !source->filled) return written(allocation, address, bytes);
    stored(allocation);
    const std::shared_ptr<FilledMap> map = source->filled;
    if (!allocation.filled) {
        follow(allocation);
        if (!allocation.filled) return;
        allocation.filled->set(0, allocation.bytes);
    }
    const uint64_t to = address - allocation.base, first = from - source->base;
    std::vector<bool> filled;
    for (uint64_t i = 0; i < bytes; ++i) filled.push_back(map->is_filled(first + i));
    for (uint64_t i = 0; i < bytes; ++i) allocation.filled->set(to + i, 1, filled[i]);
}

void KnownMemory::settle() {
    for (auto& [base, one] : live_)
        if (one.filled && one.filled->whole()) one.filled.reset();
}

uint64_t DeviceHeap::allocate(uint64_t bytes) {
    constexpr uint64_t kUnit = 16;
    const std::lock_guard lock(mutex_);
    if (bytes == 0 || bytes > end_ - base_) return 0;
    const uint64_t wanted = (bytes + kUnit - 1) / kUnit * kUnit;
    uint64_t at = base_;
    for (const auto& [base, end] : taken_) {
        if (base - at >= wanted) break;
        at = end;
    }
    if (end_ - at < wanted) return 0;
    taken_[at] = at + wanted;
    return at;
}

void DeviceHeap::release(uint64_t address) {
    const std::lock_guard lock(mutex_);
    taken_.erase(address);
}

}  // namespace tilescope::launched
