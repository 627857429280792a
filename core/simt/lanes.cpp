// The lane functions for any processor, and the choice among the versions.
#include "core/simt/lanes_includes.h"

#define TILESCOPE_LANES portable
#include "core/simt/lanes_find.inl"

namespace tilescope::simt {

bool processor_has_avx2() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi") &&
           __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt");
#else
    return false;
#endif
}

bool supported(LaneVersion version) {
#if defined(TILESCOPE_PORTABLE_LANES)
    return version == LaneVersion::Portable;
#else
    return version == LaneVersion::Portable || processor_has_avx2();
#endif
}

LaneVersion best_version() {
    return supported(LaneVersion::Avx2) ? LaneVersion::Avx2 : LaneVersion::Portable;
}

LaneOp find_lane_op(const ptx::Operation& operation, LaneVersion version) {
    if (LaneOp op = directed::find(operation)) return op;
#if defined(__x86_64__) && !defined(TILESCOPE_PORTABLE_LANES)
    if (version == LaneVersion::Avx2) return avx2::find(operation);
#endif
    (void)version;
    return portable::find(operation);
}

}  // namespace tilescope::simt
