// What ships: recordings, most of them from real GPUs, and counters from those, built into the program.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/trace/trace.h"

namespace tilescope::kernels {

// A recording in assets/recordings.
struct ShippedRecording {
    std::string name;   // "tiled-64x64x64-t16", what the command line calls it
    std::string label;  // "Tiled 64 x 64 x 64, T = 16, recorded on an NVIDIA H200"
    std::string kernel;
    uint32_t m = 0, k = 0, n = 0, tile = 0;
    std::string device, driver, date, command;
    std::string_view bytes;  // of the .tsc file; empty where that is beside the program
};

// The recordings of assets/recordings, built in; may be none. tests/gpu/make_recordings.sh makes them.
const std::vector<ShippedRecording>& shipped_recordings();
const ShippedRecording* find_shipped_recording(std::string_view name);
Result<trace::Trace> open_shipped(const ShippedRecording& recording);
// Gives the bytes of the .tsc of that name where they are beside the program, as of a page; null where they are built in.
inline Result<std::string> (*fetch_shipped)(const std::string& name) = nullptr;
// An index (assets/recordings/index.json) without the bytes that it names. `name` is named in errors.
Result<std::vector<ShippedRecording>> recordings_from_json(std::string_view text, std::string_view name);

// What Nsight Compute counted in one launch of the plain, uninstrumented kernel, from assets/counters, as
// tests/gpu/counters.py writes it.
struct CounterRow {
    std::string kernel;
    uint32_t m = 0, k = 0, n = 0, tile = 0;
    std::string ptx;                                       // whose PTX ran: "clang", what ships, or "nvcc"
    std::vector<std::pair<std::string, double>> counters;  // metric name -> value
};
struct Counters {
    std::string device, driver, tool, date, command;
    std::vector<CounterRow> rows;
};
const double* find_counter(const CounterRow& row, std::string_view metric);  // null where not read
Result<Counters> counters_from_json(std::string_view text, std::string_view name);
const std::vector<Counters>& shipped_counters();

}  // namespace tilescope::kernels
