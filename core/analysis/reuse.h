// How often each element of the global arrays was loaded.
//
// The lanes of a form, put together once as runs of neighbouring elements that are loaded equally often:
//
//   32 lanes, neighbours           one run of 32 elements, each once
//   two rows of 16, one element    two runs of 1 element, each 16 times
//   a column                       32 runs of 1 element, each once
//
// so that a request is a few short additions; requests of many runs that come again with the same first
// element are added together. Only loads of global arrays count.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "core/recording/cell_map.h"
#include "core/trace/claims.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {

// A count per element that was counted: a few blocks cost what they touch, however large the matrix.
class ElementCounts {
public:
    // counts[first .. first + length) += by; false where they take more than `most_bytes`.
    bool add(uint64_t first, uint64_t length, uint32_t by, size_t most_bytes) {
        constexpr uint64_t kPage = CellMap<uint32_t>::kPage;
        while (length > 0) {
            const uint64_t here = std::min(length, kPage - first % kPage);
            uint32_t* const count = cells_.reach(first, most_bytes);
            if (!count) return false;
            for (uint64_t i = 0; i < here; ++i) count[i] += by;
            first += here;
            length -= here;
        }
        return true;
    }

    // visit(element, count) for every element that was counted, ascending.
    template <class Visit>
    void each(Visit visit) const {
        cells_.each([&](uint64_t element, uint32_t count) {
            if (count != 0) visit(element, count);
        });
    }

    std::vector<uint32_t> all(size_t elements) const {
        std::vector<uint32_t> all(elements, 0);
        each([&](uint64_t element, uint32_t count) {
            if (element < elements) all[element] = count;
        });
        return all;
    }

    size_t bytes() const { return cells_.bytes(); }

private:
    CellMap<uint32_t> cells_;
};

class LoadCounter {
public:
    // Keeps a reference. most_bytes: memory for all counts.
    LoadCounter(const trace::Trace& trace, uint64_t most_bytes);
    // Keeps no counts but hands them on as they come: `by` more loads of each of `length` elements. What is
    // held back comes with finish(), which may be called in between.
    using Receive = std::function<void(uint8_t array, uint64_t first, uint64_t length, uint64_t by)>;
    LoadCounter(const trace::Trace& trace, Receive receive) : LoadCounter(trace, 0) {
        receive_ = std::move(receive);
    }
    explicit LoadCounter(const trace::Trace& trace) : LoadCounter(trace, trace::memory_left(trace)) {}

    void add(uint64_t step) {
        const uint32_t form = trace_.key[step] & 0xFFFFFF;
        if (shape_[form] != kIgnored) add_load(step, form);
    }

    // To be called after the last step: adds what is still held back.
    void finish();

    // Cost so far: additions to counts, three for one that lies far from the one before.
    uint64_t looked_at() const { return looked_at_; }

    // Some loads were not counted, for lack of memory.
    bool full() const { return full_; }

    // Loads of the elements of a global array; valid after finish().
    const ElementCounts& of(uint8_t array) const { return counts_[array]; }

private:
    struct Run {
        int64_t first = 0;  // offset in elements from the first active lane's element
        uint32_t length = 0;
        uint32_t loads = 0;  // loads of each of its elements
    };
    struct Shape {
        std::vector<Run> runs;            // empty: the lanes do not lie on whole elements, each is looked at
        int64_t lowest = 0, highest = 0;  // elements touched, as offsets from the first active lane's
    };
    // Equal requests that are held back to be added at once; count 0: no entry.
    struct Again {
        uint64_t request = 0;  // form << 32 | base
        uint64_t count = 0;
    };
    static constexpr int32_t kIgnored = -1, kNew = -2, kNoShape = -3;
    static constexpr size_t kMostShapes = 1u << 14;

    void count(uint8_t array, uint64_t first, uint64_t length, uint64_t by);
    void add_load(uint64_t step, uint32_t form);
    void add_shape(uint32_t form, uint32_t base, uint64_t times);
    void add_lanes(uint64_t step);
    Shape shape_of(uint64_t step) const;

    const trace::Trace& trace_;
    Receive receive_;
    std::vector<int32_t> shape_;  // per form: index into shapes_
    std::vector<Shape> shapes_;
    std::vector<ElementCounts> counts_;  // per array
    std::vector<uint64_t> elements_;     // per array
    std::vector<Again> again_;           // hash table; its size is a power of two
    uint64_t page_ = 0;                  // page of the latest addition
    uint64_t left_ = 0;                  // bytes of memory that are left
    uint64_t looked_at_ = 0;
    bool full_ = false;
};

}  // namespace tilescope::analysis
