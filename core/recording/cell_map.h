// A value per cell of memory, kept in pages that exist where something was touched: what is kept grows with
// what is touched, not with how far apart it lies.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/hash.h"

namespace tilescope::analysis {

template <class T>
class CellMap {
public:
    static constexpr uint64_t kPage = 64;  // cells of a page, side by side in memory

    // The reference holds until clear().
    T& at(uint64_t cell) { return *reach(cell, SIZE_MAX); }

    // As at(); null where a new page is needed and `most_bytes` are in use.
    T* reach(uint64_t cell, size_t most_bytes) {
        const Slot& recent = recent_[cell / kPage % recent_.size()];
        if (recent.page == cell / kPage) return values_of(recent.index) + cell % kPage;
        const uint32_t page = find_page(cell / kPage, bytes() < most_bytes);
        return page == kNone ? nullptr : values_of(page) + cell % kPage;
    }

    T* find(uint64_t cell) { return reach(cell, 0); }

    // visit(cell, value) for every cell of every page, ascending.
    template <class Visit>
    void each(Visit visit) const {
        std::vector<std::pair<uint64_t, uint32_t>> pages;
        for (const Slot& slot : slots_)
            if (slot.index != kNone) pages.emplace_back(slot.page, slot.index);
        std::sort(pages.begin(), pages.end());
        for (const auto& [page, index] : pages)
            for (uint64_t i = 0; i < kPage; ++i) visit(page * kPage + i, std::as_const(values_of(index)[i]));
    }

    // Keeps the memory that this content took, for the next: clearing costs what was touched.
    void clear() {
        const size_t enough = std::bit_ceil(size_t{pages_} * 4 + 16);
        if (pages_ > 0) slots_.assign(std::min(slots_.size(), enough), Slot{});
        pages_ = 0;
        recent_.fill({});
    }

    // Bytes in use: the pages and the table that finds them.
    size_t bytes() const { return size_t{pages_} * (kPage * sizeof(T) + kPageEntry); }

private:
    static constexpr uint32_t kNone = 0xFFFF'FFFFu;
    static constexpr size_t kPageEntry = 64;     // bytes of a page's part of slots_, while it grows
    static constexpr uint32_t kChunkPages = 16;  // that are allocated together
    struct Slot {
        uint64_t page = ~uint64_t{0};
        uint32_t index = kNone;
    };

    T* values_of(uint32_t index) const {
        return chunks_[index / kChunkPages].get() + index % kChunkPages * kPage;
    }

    // Finds a page that is not among the recent ones.
    [[gnu::noinline]] uint32_t find_page(uint64_t page, bool make) {
        if (slots_.empty() && !make) return kNone;
        if (2 * (size_t{pages_} + 1) > slots_.size() && make) grow();
        Slot& slot = slot_of(page);
        if (slot.index == kNone && !make) return kNone;
        if (slot.index == kNone) slot = {page, open_page()};
        recent_[page % recent_.size()] = slot;
        return slot.index;
    }

    // The slot of a page, or the free one that it would take: linear probing, half of the slots are free.
    Slot& slot_of(uint64_t page) {
        size_t at = slot_of_key(page, slots_.size());
        while (slots_[at].index != kNone && slots_[at].page != page) at = (at + 1) & (slots_.size() - 1);
        return slots_[at];
    }

    void grow() {
        std::vector<Slot> before(std::max<size_t>(16, slots_.size() * 2));
        before.swap(slots_);
        for (const Slot& slot : before)
            if (slot.index != kNone) slot_of(slot.page) = slot;
    }

    uint32_t open_page() {
        const uint32_t index = pages_++;
        if (index / kChunkPages == chunks_.size())
            chunks_.push_back(std::make_unique<T[]>(kChunkPages * kPage));
        else
            std::fill_n(values_of(index), kPage, T{});
        return index;
    }

    std::vector<Slot> slots_;  // a power of two of them: pages by hash
    uint32_t pages_ = 0;
    std::vector<std::unique_ptr<T[]>> chunks_;
    std::array<Slot, 64> recent_;
};

}  // namespace tilescope::analysis
