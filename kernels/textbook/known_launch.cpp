#include "kernels/textbook/known_launch.h"

#include <algorithm>

#include "kernels/textbook/devices.h"
#include "kernels/textbook/timings.h"

namespace tilescope::kernels {

KnownLaunch known_launch(const analysis::DeviceSpec& device, const std::string& kernel,
                         const std::string& compiler, const Shape& shape) {
    KnownLaunch known;
    for (const Timings& set : shipped_timings()) {
        const analysis::DeviceSpec* const on = find_driver_name(set.device);
        if (!on || on->id != device.id || set.compiler != compiler) continue;
        for (const Timing& row : set.rows) {
            if (row.kernel != kernel || row.tile != shape.tile) continue;
            if (known.registers == 0) known.registers = static_cast<uint32_t>(std::max(row.registers, 0));
            if (!known.measured_ms && row.m == shape.m && row.k == shape.k && row.n == shape.n)
                known.measured_ms = row.median_ms;
        }
    }
    known.counted = find_level_counters(device.id, kernel, compiler, shape);
    return known;
}

std::string compiler_of(const trace::Trace& trace, uint32_t tile) {
    return trace.meta.ptx == shipped_ptx(trace.meta.kernel, tile) ? "clang" : "";
}

}  // namespace tilescope::kernels
