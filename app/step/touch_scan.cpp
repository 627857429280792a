#include "app/step/touch_scan.h"

#include <algorithm>
#include <bit>

namespace tilescope::step {
namespace {

// The bytes that the lanes of a form touch, from its first active lane's address: any step of the form would
// say the same. An irregular form is not narrowed down.
TouchScan::Reach reach_of(const trace::Trace& trace, const trace::Form& form) {
    const int64_t bytes = std::max<int64_t>(trace.sites[form.site].bytes, 1);
    if (form.irregular >= 0) return {INT64_MIN / 4, INT64_MAX / 4};
    const int64_t width = std::max<int64_t>(form.width, 1);
    const auto at = [&](int64_t lane) {
        return form.stride * (lane % width) + int64_t{form.stride2} * (lane / width);
    };
    TouchScan::Reach reach{INT64_MAX, INT64_MIN};
    const int64_t first = form.mask == 0 ? 0 : at(std::countr_zero(form.mask));
    for (uint32_t mask = form.mask; mask != 0; mask &= mask - 1) {
        const int64_t offset = at(std::countr_zero(mask)) - first;
        reach.lowest = std::min(reach.lowest, offset);
        reach.highest = std::max(reach.highest, offset + bytes - 1);
    }
    return reach;
}

}  // namespace

TouchScan begin_scan(const trace::Trace& trace, uint8_t array, uint64_t element) {
    TouchScan scan;
    scan.array = array;
    scan.element = element;
    scan.reach.resize(trace.forms.size());
    for (size_t i = 0; i < trace.forms.size(); ++i) {
        const trace::Form& form = trace.forms[i];
        if (form.array == array && trace.sites[form.site].kind != ptx::SiteKind::Barrier)
            scan.reach[i] = reach_of(trace, form);
    }
    return scan;
}

void go_on(TouchScan& scan, const trace::Trace& trace, uint64_t steps) {
    const uint64_t end = std::min(trace.steps(), scan.next + std::min(steps, trace.steps()));
    if (scan.array >= trace.launch.arrays.size()) {
        scan.next = trace.steps();
        return;
    }
    const uint64_t width = std::max(trace.launch.arrays[scan.array].element_bytes(), 1u);
    const auto first_byte = static_cast<int64_t>(scan.element * width);
    const auto last_byte = static_cast<int64_t>((scan.element + 1) * width - 1);
    for (; scan.next < end; ++scan.next) {
        const uint32_t number = trace.key[scan.next] & 0xFFFFFF;
        const TouchScan::Reach& reach = scan.reach[number];
        if (reach.highest < reach.lowest) continue;
        const trace::Form& form = trace.forms[number];
        const auto base = static_cast<int64_t>(uint64_t{form.base_high} << 32 | trace.base[scan.next]);
        if (base + reach.highest < first_byte || base + reach.lowest > last_byte) continue;
        const trace::Access access = trace::decode(trace, scan.next);
        const ptx::Site& site = trace.sites[access.site];
        uint32_t lanes = 0;
        for (uint32_t mask = access.mask; mask != 0; mask &= mask - 1) {
            const auto lane = static_cast<uint32_t>(std::countr_zero(mask));
            const auto from = static_cast<int64_t>(access.offset[lane]);
            if (from <= last_byte && from + std::max<int64_t>(site.bytes, 1) - 1 >= first_byte)
                lanes |= 1u << lane;
        }
        if (lanes == 0) continue;
        if (scan.next >= scan.block_end) {
            const trace::Block& block = trace.blocks[trace::block_of(trace, scan.next)];
            scan.block_end = block.first + block.count;
            ++scan.blocks;
        }
        ++scan.requests;
        scan.lanes += static_cast<uint64_t>(std::popcount(lanes));
        if (scan.touches.size() < TouchScan::kMost)
            scan.touches.push_back({scan.next, access.warp, lanes, site.kind == ptx::SiteKind::Store});
    }
}

}  // namespace tilescope::step
