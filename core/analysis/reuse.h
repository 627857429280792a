// How often each element of the global arrays was loaded.
//
// The lanes of a form, put together once as runs of neighbouring elements that are loaded equally often:
//
//   32 lanes, neighbours           one run of 32 elements, each once
//   two rows of 16, one element    two runs of 1 element, each 16 times
//   a column                       32 runs of 1 element, each once
//
// so that a request is a few short additions. Only loads of global arrays count.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "core/trace/trace.h"

namespace tilescope::analysis {

// A count per element, kept in pages that exist where something was counted: a window of a few blocks costs
// what it touches, however large the matrix.
class ElementCounts {
public:
    static constexpr uint64_t kPage = 256;  // elements

    // counts[first .. first + length) += by
    void add(uint64_t first, uint64_t length, uint32_t by) {
        while (length > 0) {
            const uint64_t within = first % kPage;
            const uint64_t here = std::min(length, kPage - within);
            uint32_t* count = page(first / kPage) + within;
            for (uint64_t i = 0; i < here; ++i) count[i] += by;
            first += here;
            length -= here;
        }
    }

    // visit(element, count) for every element that was counted, ascending.
    template <class Visit>
    void each(Visit visit) const {
        for (uint64_t p = 0; p < page_.size(); ++p)
            for (uint64_t i = 0; page_[p] != kNoPage && i < kPage; ++i)
                if (const uint32_t count = counts_[page_[p] * kPage + i]; count != 0)
                    visit(p * kPage + i, count);
    }

    std::vector<uint32_t> all(size_t elements) const {
        std::vector<uint32_t> all(elements, 0);
        each([&](uint64_t element, uint32_t count) {
            if (element < elements) all[element] = count;
        });
        return all;
    }

private:
    static constexpr uint32_t kNoPage = 0xFFFF'FFFFu;

    uint32_t* page(uint64_t number) {
        if (number >= page_.size()) page_.resize(std::max(number + 1, uint64_t{page_.size()} * 2), kNoPage);
        if (page_[number] == kNoPage) {
            page_[number] = static_cast<uint32_t>(counts_.size() / kPage);
            counts_.resize(counts_.size() + kPage, 0);
        }
        return counts_.data() + page_[number] * kPage;
    }

    std::vector<uint32_t> page_;  // page of the array -> page of counts_
    std::vector<uint32_t> counts_;
};

class LoadCounter {
public:
    explicit LoadCounter(const trace::Trace& trace);  // keeps a reference

    void add(uint64_t step) {
        const uint32_t form = trace_.key[step] & 0xFFFFFF;
        if (shape_[form] != kIgnored) add_load(step, form);
    }

    // Loads of the elements of a global array.
    const ElementCounts& of(uint8_t array) const { return counts_[array]; }

private:
    struct Run {
        int64_t first = 0;  // elements from the first active lane's
        uint32_t length = 0;
        uint32_t loads = 0;  // of each
    };
    struct Shape {
        std::vector<Run> runs;            // empty: the lanes do not lie on whole elements, each is looked at
        int64_t lowest = 0, highest = 0;  // elements touched, from the first active lane's
    };
    static constexpr int32_t kIgnored = -1, kNew = -2, kNoShape = -3;

    void add_load(uint64_t step, uint32_t form);
    void add_lanes(uint64_t step);
    Shape shape_of(uint64_t step) const;

    const trace::Trace& trace_;
    std::vector<int32_t> shape_;  // per form: index into shapes_
    std::vector<Shape> shapes_;
    std::vector<ElementCounts> counts_;  // per array
    std::vector<uint64_t> elements_;     // per array
};

}  // namespace tilescope::analysis
