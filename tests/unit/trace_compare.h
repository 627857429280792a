// Two traces, part by part.
#pragma once

#include <algorithm>

#include <gtest/gtest.h>

#include "core/trace/trace.h"

namespace tilescope::trace {

inline auto parts(const Meta& m) {
    return std::tie(m.tool_version, m.kernel, m.source_name, m.source, m.ptx_name, m.ptx, m.backend, m.device,
                    m.driver, m.recorded_at, m.window, m.schedule, m.complete, m.incomplete_reason,
                    m.result.checked, m.result.verified, m.result.array, m.result.max_abs_error,
                    m.result.wrong, m.result.first_wrong, m.result.wrong_elements, m.barrier_fault.is,
                    m.barrier_fault.x, m.barrier_fault.y, m.barrier_fault.z, m.barrier_fault.thread,
                    m.barrier_fault.line, m.price.plain_ms, m.price.recorded_ms, m.price.launches,
                    m.price.device_bytes, m.price.clock_mhz);
}

inline bool same(const Block& a, const Block& b) {
    const auto parts_of = [](const Block& x) {
        return std::tie(x.x, x.y, x.z, x.first, x.count, x.first_returned, x.dropped, x.sm, x.clock);
    };
    return parts_of(a) == parts_of(b);
}

inline bool same(const ptx::Site& a, const ptx::Site& b) {
    const auto parts_of = [](const ptx::Site& x) {
        return std::tie(x.id, x.instruction, x.kind, x.space, x.bytes, x.line, x.column, x.ptx_line,
                        x.atomic);
    };
    return parts_of(a) == parts_of(b);
}

inline bool same(const Launch& a, const Launch& b) {
    const auto parts_of = [](const Launch& x) {
        return std::tie(x.entry, x.grid, x.block, x.dynamic_shared, x.arguments, x.arrays);
    };
    return parts_of(a) == parts_of(b);
}

inline bool same(const Trace& a, const Trace& b) {
    const auto equal = [](const auto& left, const auto& right) { return same(left, right); };
    return parts(a.meta) == parts(b.meta) && same(a.launch, b.launch) && a.forms == b.forms &&
           a.irregular == b.irregular && a.base == b.base && a.key == b.key && a.time == b.time &&
           a.returned == b.returned &&
           std::equal(a.sites.begin(), a.sites.end(), b.sites.begin(), b.sites.end(), equal) &&
           std::equal(a.blocks.begin(), a.blocks.end(), b.blocks.begin(), b.blocks.end(), equal);
}

}  // namespace tilescope::trace
