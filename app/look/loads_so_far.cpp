#include "app/look/loads_so_far.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <utility>

namespace tilescope::look {
namespace {

constexpr uint64_t kMostCells = 1u << 14;    // cells of a map that is drawn anew in every frame
constexpr uint64_t kMostCounted = 8u << 20;  // cells of all parts together: 32 MiB

// left: cells that may still be counted.
LoadsOfArray counts_for(const draw::CellRect& part, const Array& array, const draw::Sheet& sheet,
                        uint64_t& left) {
    LoadsOfArray made{part};
    const uint64_t cells = uint64_t{part.rows()} * part.cols();
    if (cells == 0 || cells > left) return made;
    left -= cells;
    made.counts.assign(cells, 0);
    made.direct = part == draw::CellRect{0, sheet.rows, 0, sheet.cols} && array.rank < 3;
    if (cells <= kMostCells) return made;
    made.side = static_cast<uint32_t>(
        std::ceil(std::sqrt(static_cast<double>(cells) / static_cast<double>(kMostCells))));
    made.bin_rows = (part.rows() + made.side - 1) / made.side;
    made.bin_cols = (part.cols() + made.side - 1) / made.side;
    made.bins.assign(size_t{made.bin_rows} * made.bin_cols, 0);
    made.elements.assign(made.bins.size(), 0);
    for (uint32_t row = 0; row < part.rows(); ++row)
        for (uint32_t col = 0; col < part.cols(); ++col)
            if (sheet.element(part.row0 + row, part.col0 + col))
                ++made.elements[size_t{row / made.side} * made.bin_cols + col / made.side];
    return made;
}

// Of all counts of the program: what was drawn of one is never taken for another's.
uint64_t next_version() {
    static std::atomic<uint64_t> latest{0};
    return ++latest;
}

}  // namespace

std::vector<uint32_t> LoadsOfArray::by_bin() const {
    std::vector<uint32_t> all(bins.size(), 0);
    for (size_t at = 0; at < bins.size(); ++at)
        if (bins[at] > 0)
            all[at] = static_cast<uint32_t>(
                std::max<uint64_t>((bins[at] + elements[at] / 2) / std::max(elements[at], 1u), 1));
    return all;
}

LoadsSoFar::LoadsSoFar(std::shared_ptr<const trace::Trace> trace, const std::vector<draw::CellRect>& parts)
    : trace_(std::move(trace)),
      counter_(*trace_, [this](uint8_t array, uint64_t first, uint64_t length, uint64_t by) {
          take(array, first, length, by);
      }) {
    version_ = next_version();
    const std::vector<Array>& arrays = trace_->launch.arrays;
    uint64_t left = kMostCounted;
    for (size_t at = 0; at < arrays.size(); ++at) {
        sheets_.emplace_back(arrays[at]);
        arrays_.push_back(
            counts_for(at < parts.size() ? parts[at] : draw::CellRect{}, arrays[at], sheets_[at], left));
    }
}

// `by` more loads, or fewer, of each of `length` elements.
void LoadsSoFar::take(uint8_t array, uint64_t first, uint64_t length, uint64_t by) {
    LoadsOfArray& one = arrays_[array];
    if (one.counts.empty()) return;
    const draw::CellRect& part = one.part;
    for (uint64_t element = first; element < first + length; ++element) {
        uint64_t at = element;
        if (!one.direct || one.side > 1) {
            const draw::CellRect cell = sheets_[array].cell(element);
            if (!part.contains(cell.row0, cell.col0)) continue;
            const uint32_t row = cell.row0 - part.row0, col = cell.col0 - part.col0;
            at = uint64_t{row} * part.cols() + col;
            if (one.side > 1) {
                uint64_t& bin = one.bins[size_t{row / one.side} * one.bin_cols + col / one.side];
                adds_ ? bin += by : bin -= by;
            }
        }
        if (at >= one.counts.size()) continue;
        uint32_t& count = one.counts[at];
        adds_ ? count += static_cast<uint32_t>(by) : count -= static_cast<uint32_t>(by);
        one.low = std::min(one.low, at);
        one.high = std::max(one.high, at + 1);
    }
}

void LoadsSoFar::walk(uint64_t from, uint64_t to, bool adds) {
    if (from == to) return;
    adds_ = adds;
    for (uint64_t step = from; step < to; ++step) counter_.add(step);
    counter_.finish();
    version_ = next_version();
}

void LoadsSoFar::clear() {
    for (LoadsOfArray& one : arrays_) {
        if (one.low < one.high)
            std::fill(one.counts.begin() + static_cast<std::ptrdiff_t>(one.low),
                      one.counts.begin() + static_cast<std::ptrdiff_t>(one.high), 0);
        std::ranges::fill(one.bins, 0);
        one.low = UINT64_MAX, one.high = 0;
    }
    version_ = next_version();
}

bool LoadsSoFar::go(uint64_t first, uint64_t end, uint64_t most_steps) {
    end = std::min(end, trace_->steps());
    first = std::min(first, end);
    // From the first step anew where that is the shorter way.
    const bool shorter = end < end_ && end - first < end_ - end;
    if (first != first_ || shorter) {
        clear();
        first_ = end_ = first;
    }
    const uint64_t way = std::min(end > end_ ? end - end_ : end_ - end, most_steps);
    if (end > end_) {
        walk(end_, end_ + way, true);
        end_ += way;
    } else {
        walk(end_ - way, end_, false);
        end_ -= way;
    }
    return end_ == end;
}

LoadedRange LoadsSoFar::range(size_t array) const {
    const LoadsOfArray& one = arrays_[array];
    LoadedRange found;
    for (uint64_t at = one.low; at < one.high; ++at) {
        const uint32_t count = one.counts[at];
        if (count == 0) continue;
        found.least = found.most == 0 ? count : std::min(found.least, count);
        found.most = std::max(found.most, count);
    }
    return found;
}

}  // namespace tilescope::look
