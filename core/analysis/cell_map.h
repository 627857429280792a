// A value per cell of memory, kept in pages that exist where something was touched.
#pragma once

#include <array>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace tilescope::analysis {

template <class T>
class CellMap {
public:
    static constexpr uint64_t kPage = 64;  // cells

    // Holds until the next call of at().
    T& at(uint64_t cell) {
        const uint32_t page = find_page(cell / kPage, true);
        return values_[size_t{page} * kPage + cell % kPage];
    }

    T* find(uint64_t cell) {
        const uint32_t page = find_page(cell / kPage, false);
        return page == kNone ? nullptr : &values_[size_t{page} * kPage + cell % kPage];
    }

    // visit(cell, T&) for every cell of every page, in no order.
    template <class Visit>
    void each(Visit visit) {
        for (const auto& [page, index] : pages_)
            for (uint64_t i = 0; i < kPage; ++i) visit(page * kPage + i, values_[size_t{index} * kPage + i]);
    }

    void clear() {
        pages_.clear();
        values_.clear();
        recent_.fill({});
    }

    size_t bytes() const { return values_.size() * sizeof(T); }

private:
    static constexpr uint32_t kNone = 0xFFFF'FFFFu;
    struct Recent {
        uint64_t page = ~uint64_t{0};
        uint32_t index = kNone;
    };

    uint32_t find_page(uint64_t page, bool make) {
        Recent& recent = recent_[page % recent_.size()];
        if (recent.page == page) return recent.index;
        const auto found = pages_.find(page);
        if (found == pages_.end() && !make) return kNone;
        const auto fresh = static_cast<uint32_t>(values_.size() / kPage);
        const uint32_t index = found == pages_.end() ? fresh : found->second;
        if (found == pages_.end()) {
            pages_.emplace(page, index);
            values_.resize(values_.size() + kPage);
        }
        recent = {page, index};
        return index;
    }

    std::unordered_map<uint64_t, uint32_t> pages_;
    std::vector<T> values_;
    std::array<Recent, 64> recent_;
};

}  // namespace tilescope::analysis
