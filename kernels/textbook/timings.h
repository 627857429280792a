// Times measured on a GPU, as `tilescope time --json` writes them and assets/timings keeps them.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace tilescope::kernels {

struct Timing {
    std::string kernel;                      // kernel of the catalogue, or "cublas"
    uint32_t m = 0, k = 0, n = 0, tile = 0;  // tile 0 for cublas
    bool verified = false;
    uint32_t runs = 0;
    double median_ms = 0, low_ms = 0, high_ms = 0;  // median, and the 10th and 90th percentile
    double gflops = 0;                              // 2 m k n / median
    // Bytes that its threads ask for / median, 1e9 bytes a second; 0 where not known.
    double requested_gbs = 0;
    double recorded_ms = 0;        // the recorded kernel's time, 0 where it was not run
    uint32_t recorded_blocks = 0;  // blocks that were recorded: the whole grid, or a window of it
    int registers = 0, shared_bytes = 0;
};

struct Roofs {
    double copy_gbs = 0;                       // device to device copy, bytes read and written, 1e9 a second
    double fp32_gflops = 0;                    // fused multiply-adds, two operations each
    double stated_gbs = 0, stated_gflops = 0;  // by clocks and widths that the driver states; 0 unknown
};

struct Timings {
    std::string device, driver, cuda, command, tool_version;
    std::string date;                // UTC: "2026-11-21T05:04:18Z", or two of them with " to " between
    std::string compiler = "clang";  // compiler of the PTX: "clang" of what ships, "nvrtc", or a file's name
    Roofs roofs;
    std::vector<Timing> rows;
};

std::string to_json(const Timings& timings);
// "2026-11-21", "2026-11-21 to 2026-11-22"; "" where no date is known.
std::string days_of(const Timings& timings);
Result<Timings> timings_from_json(std::string_view text, std::string_view name);

// The timings that ship with the program (assets/timings): a set a device and compiler, those of the PTX that
// ships before others of the same device.
const std::vector<Timings>& shipped_timings();

// A kernel's time for a shape in some timings; null where it was not measured.
const Timing* find_timing(const Timings& timings, std::string_view kernel, uint32_t m, uint32_t k, uint32_t n,
                          uint32_t tile);

// Whether a row is a point of curves and roofs: square, and wide enough that its time is more than that of a
// launch. Narrower ones ship for the launches that presets and lessons show.
inline bool on_curves(const Timing& timing) {
    return timing.m == timing.k && timing.k == timing.n && timing.n >= 256;
}

// Whether the times of two launches cannot be told apart: their runs' 10th to 90th percentiles overlap. A
// launch of a few microseconds varies by as much as two kernels differ.
inline bool spreads_overlap(const Timing& a, const Timing& b) {
    return a.low_ms <= b.high_ms && b.low_ms <= a.high_ms;
}

// 2 m k n over the bytes that its threads load from global memory, as bounds count them: of what they ask for
// without the stores, of which there is one for each element of P. 0 where it is not known.
double flop_per_loaded_byte(const Timing& timing);

// What a row of measured times comes down to.
struct TimeSpread {
    double median = 0;  // of an even count: the mean of the middle two
    double low = 0;     // 10th percentile, and
    double high = 0;    // 90th, by nearest rank: times that were really measured
};

// The spread of any number of values in any order; zeros for none.
TimeSpread spread_of(std::vector<double> values);

}  // namespace tilescope::kernels
