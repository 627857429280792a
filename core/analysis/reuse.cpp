#include "core/analysis/reuse.h"

#include <algorithm>
#include <bit>

namespace tilescope::analysis {
namespace {
constexpr uint64_t kMostAgain = 1u << 16;  // 1 MB
}

LoadCounter::LoadCounter(const trace::Trace& trace, uint64_t most_bytes)
    : trace_(trace),
      counts_(trace.launch.arrays.size()),
      again_(std::bit_ceil(std::clamp<uint64_t>(trace.steps(), 1, kMostAgain))),
      left_(most_bytes) {
    for (const Array& array : trace.launch.arrays) elements_.push_back(array.elements());
    for (const trace::Form& form : trace.forms) {
        const bool counted = trace.sites[form.site].kind == ptx::SiteKind::Load &&
                             form.array != trace::kNoArray &&
                             trace.launch.arrays[form.array].space == Space::Global;
        const bool box = trace.sites[form.site].box != ptx::Box::None;
        shape_.push_back(!counted ? kIgnored : box ? kNoShape : kNew);
    }
}

LoadCounter::Shape LoadCounter::shape_of(uint64_t step) const {
    const trace::Access access = trace::decode(trace_, step);
    const int64_t element = trace_.launch.arrays[access.array].element_bytes();
    const auto base = static_cast<int64_t>(access.offset[std::countr_zero(access.mask)]);
    const int64_t span = (int64_t{trace_.sites[access.site].bytes} + element - 1) / element;
    std::vector<int64_t> touched;
    bool whole = true;  // the lanes lie whole elements apart
    for_lanes(access.mask, [&](uint32_t lane) {
        const int64_t distance = static_cast<int64_t>(access.offset[lane]) - base;
        whole = whole && distance % element == 0;
        for (int64_t i = 0; i < span; ++i) touched.push_back(distance / element + i);
    });
    if (!whole) return {};
    std::sort(touched.begin(), touched.end());
    Shape shape;
    for (size_t i = 0; i < touched.size();) {
        const auto end = std::upper_bound(touched.begin() + i, touched.end(), touched[i]);
        const auto loads = static_cast<uint32_t>(end - touched.begin() - i);
        if (!shape.runs.empty() && shape.runs.back().loads == loads &&
            shape.runs.back().first + shape.runs.back().length == touched[i])
            ++shape.runs.back().length;
        else
            shape.runs.push_back({touched[i], 1, loads});
        i += loads;
    }
    shape.lowest = touched.front();
    shape.highest = touched.back();
    return shape;
}

void LoadCounter::count(uint8_t array, uint64_t first, uint64_t length, uint64_t by) {
    const uint64_t page = first / CellMap<uint32_t>::kPage;
    looked_at_ += page == page_ ? 1 : 3;
    page_ = page;
    if (receive_) return receive_(array, first, length, by);
    ElementCounts& counts = counts_[array];
    const uint64_t before = counts.bytes();
    if (!counts.add(first, length, static_cast<uint32_t>(by), before + left_)) full_ = true;
    left_ -= std::min(left_, counts.bytes() - before);
}

void LoadCounter::add_load(uint64_t step, uint32_t form) {
    if (shape_[form] == kNew && shapes_.size() >= kMostShapes) shape_[form] = kNoShape;
    if (shape_[form] == kNoShape) return add_lanes(step);
    if (shape_[form] == kNew) {
        shape_[form] = static_cast<int32_t>(shapes_.size());
        shapes_.push_back(shape_of(step));
    }
    const Shape& shape = shapes_[shape_[form]];
    const trace::Form& f = trace_.forms[form];
    const uint64_t offset = uint64_t{f.base_high} << 32 | trace_.base[step];
    const uint32_t element = trace_.launch.arrays[f.array].element_bytes();
    const auto first = static_cast<int64_t>(offset / element);
    const bool whole = !shape.runs.empty() && offset % element == 0 && first + shape.lowest >= 0 &&
                       static_cast<uint64_t>(first + shape.highest) < elements_[f.array];
    if (!whole) return add_lanes(step);
    if (shape.runs.size() == 1) return add_shape(form, trace_.base[step], 1);
    const uint64_t request = uint64_t{form} << 32 | trace_.base[step];
    Again& again = again_[slot_of_key(request, again_.size())];
    if (again.count > 0 && again.request != request) {
        add_shape(static_cast<uint32_t>(again.request >> 32), static_cast<uint32_t>(again.request),
                  again.count);
        again.count = 0;
    }
    again.request = request;
    ++again.count;
}

// Counts a request of a form whose shape is known, and fits.
void LoadCounter::add_shape(uint32_t form, uint32_t base, uint64_t times) {
    const trace::Form& f = trace_.forms[form];
    const uint64_t offset = uint64_t{f.base_high} << 32 | base;
    const auto first = static_cast<int64_t>(offset / trace_.launch.arrays[f.array].element_bytes());
    for (const Run& run : shapes_[shape_[form]].runs)
        count(f.array, static_cast<uint64_t>(first + run.first), run.length, times * run.loads);
}

void LoadCounter::finish() {
    for (Again& again : again_) {
        if (again.count > 0)
            add_shape(static_cast<uint32_t>(again.request >> 32), static_cast<uint32_t>(again.request),
                      again.count);
        again.count = 0;
    }
}

// Lane by lane: for accesses that straddle elements or have another shape, or leave the array (which a damaged file may
// claim).
void LoadCounter::add_lanes(uint64_t step) {
    const trace::AccessView access(trace_, step);
    const Array& array = trace_.launch.arrays[access.array()];
    const uint64_t element = array.element_bytes();
    access.for_pieces([&](uint32_t, uint64_t address, uint64_t bytes) {
        if (bytes == 0) return;
        const uint64_t first = address - array.base, last = (first + bytes - 1) / element;
        for (uint64_t e = first / element; e <= last && e < elements_[access.array()]; ++e)
            count(access.array(), e, 1, 1);
    });
}

}  // namespace tilescope::analysis
