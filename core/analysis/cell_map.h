// A value per cell of memory, kept in pages that exist where something was touched: what is kept grows with
// what is touched, not with how far apart it lies.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace tilescope::analysis {

template <class T>
class CellMap {
public:
    static constexpr uint64_t kPage = 64;  // cells, side by side in memory

    // Holds until clear().
    T& at(uint64_t cell) { return *reach(cell, SIZE_MAX); }

    // The same; null where that takes a new page and `most_bytes` are in use.
    T* reach(uint64_t cell, size_t most_bytes) {
        const uint32_t page = find_page(cell / kPage, bytes() < most_bytes);
        return page == kNone ? nullptr : values_of(page) + cell % kPage;
    }

    T* find(uint64_t cell) { return reach(cell, 0); }

    // visit(cell, value) for every cell of every page, ascending.
    template <class Visit>
    void each(Visit visit) const {
        std::vector<std::pair<uint64_t, uint32_t>> pages(pages_.begin(), pages_.end());
        std::sort(pages.begin(), pages.end());
        for (const auto& [page, index] : pages)
            for (uint64_t i = 0; i < kPage; ++i) visit(page * kPage + i, std::as_const(values_of(index)[i]));
    }

    // Memory is kept for what comes next.
    void clear() {
        pages_.clear();
        recent_.fill({});
    }

    // In use: the pages, and what finds them.
    size_t bytes() const { return pages_.size() * (kPage * sizeof(T) + kPageEntry); }

private:
    static constexpr uint32_t kNone = 0xFFFF'FFFFu;
    static constexpr size_t kPageEntry = 64;     // bytes of an entry of pages_ with its bucket
    static constexpr uint32_t kChunkPages = 16;  // that are allocated together
    struct Recent {
        uint64_t page = ~uint64_t{0};
        uint32_t index = kNone;
    };

    T* values_of(uint32_t index) const {
        return chunks_[index / kChunkPages].get() + index % kChunkPages * kPage;
    }

    uint32_t find_page(uint64_t page, bool make) {
        Recent& recent = recent_[page % recent_.size()];
        if (recent.page == page) return recent.index;
        const auto found = pages_.find(page);
        if (found == pages_.end() && !make) return kNone;
        const uint32_t index = found == pages_.end() ? open_page(page) : found->second;
        recent = {page, index};
        return index;
    }

    uint32_t open_page(uint64_t page) {
        const auto index = static_cast<uint32_t>(pages_.size());
        if (index / kChunkPages == chunks_.size())
            chunks_.push_back(std::make_unique<T[]>(kChunkPages * kPage));
        else
            std::fill_n(values_of(index), kPage, T{});
        pages_.emplace(page, index);
        return index;
    }

    std::unordered_map<uint64_t, uint32_t> pages_;
    std::vector<std::unique_ptr<T[]>> chunks_;
    std::array<Recent, 64> recent_;
};

}  // namespace tilescope::analysis
