// What ships with the program, or what a test puts in its place. Each is read when it is first asked for.
#pragma once

#include <functional>
#include <string_view>
#include <vector>

#include "core/analysis/device_spec.h"
#include "kernels/textbook/devices.h"
#include "kernels/textbook/shipped.h"
#include "kernels/textbook/timings.h"

namespace tilescope::session {

struct Assets {
    template <class T>
    using List = std::function<const std::vector<T>&()>;

    List<kernels::Timings> timings = kernels::shipped_timings;
    List<kernels::ShippedRecording> recordings = kernels::shipped_recordings;
    List<kernels::Counters> counters = kernels::shipped_counters;
    List<analysis::DeviceSpec> devices = kernels::devices;

    // A test's own, which must outlive whoever asks.
    template <class T>
    static List<T> of(const std::vector<T>& list) {
        return [&list]() -> const std::vector<T>& { return list; };
    }
};

}  // namespace tilescope::session
