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

#include <cstdint>
#include <vector>

#include "core/trace/trace.h"

namespace tilescope::analysis {

class LoadCounter {
public:
    explicit LoadCounter(const trace::Trace& trace);  // keeps a reference

    void add(uint64_t step) {
        const uint32_t form = trace_.key[step] & 0xFFFFFF;
        if (shape_[form] != kIgnored) add_load(step, form);
    }

    // Loads of every element of a global array, row-major.
    const std::vector<uint32_t>& of(uint8_t array) const { return counts_[array]; }

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
    static constexpr int32_t kIgnored = -1, kNew = -2;

    void add_load(uint64_t step, uint32_t form);
    void add_lanes(uint64_t step);
    Shape shape_of(uint64_t step) const;

    const trace::Trace& trace_;
    std::vector<int32_t> shape_;  // per form: index into shapes_
    std::vector<Shape> shapes_;
    std::vector<std::vector<uint32_t>> counts_;  // per array
};

}  // namespace tilescope::analysis
