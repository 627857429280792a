// How often the elements of a recording's inputs were loaded by a stretch of its steps: from the first step of a
// block, or of the recording, up to the step at which one stands.
//
//   steps      |   block 0   |   block 1   |  ...
//   counted                  [-------->          walking on adds what the steps between load, walking
//                            first     end       back takes it away: exact either way, and as long as the way
//
// Of a large array bins of several elements are kept as well, so that a map of it is drawn in every frame:
//
//   side 2     +-----+-----+
//              | 4 4 | 4 0 |      a bin of the sheet (draw/sheet.h): 16 loads of 4 elements, 4 of 4
//              | 4 4 | 0 0 |
//              +-----+-----+
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "app/draw/sheet.h"
#include "core/analysis/reuse.h"
#include "core/trace/trace.h"

namespace tilescope::look {

struct LoadsOfArray {
    draw::CellRect part;             // of the array's sheet; empty where nothing is counted
    std::vector<uint32_t> counts{};  // [rows * cols] of the part, row-major; empty where nothing is counted
    uint32_t side = 1;               // elements along the side of a bin
    uint32_t bin_rows = 0, bin_cols = 0;
    std::vector<uint64_t> bins{};         // loads of all elements of a bin; empty where side is 1
    std::vector<uint32_t> elements{};     // of a bin: fewer at the edges
    uint64_t low = UINT64_MAX, high = 0;  // counts in [low, high) may be above 0
    bool direct = false;                  // an element stands at its own number

    // Bins by their loads an element: at least 1 where there is any.
    std::vector<uint32_t> by_bin() const;
};

struct LoadedRange {
    uint32_t least = 0, most = 0;  // loads of an element, of those that are loaded at all
};

class LoadsSoFar {
public:
    // parts: by array the part of its sheet that is counted, empty for none; what is too large is not counted.
    LoadsSoFar(std::shared_ptr<const trace::Trace> trace, const std::vector<draw::CellRect>& parts);

    // Comes nearer to steps [first, end) of the recording, by at most so many steps. True once it is there.
    bool go(uint64_t first, uint64_t end, uint64_t most_steps);

    const LoadsOfArray& of(size_t array) const { return arrays_[array]; }
    LoadedRange range(size_t array) const;
    // Another one whenever a count has changed, and of no other LoadsSoFar: a recording may be counted anew.
    uint64_t version() const { return version_; }

private:
    void take(uint8_t array, uint64_t first, uint64_t length, uint64_t by);
    void walk(uint64_t from, uint64_t to, bool adds);
    void clear();

    std::shared_ptr<const trace::Trace> trace_;
    std::vector<LoadsOfArray> arrays_;
    std::vector<draw::Sheet> sheets_;
    analysis::LoadCounter counter_;
    bool adds_ = true;
    uint64_t first_ = 0, end_ = 0;
    uint64_t version_ = 0;
};

}  // namespace tilescope::look
