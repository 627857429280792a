// What the Timing screen shows, without its pixels: the devices to choose from, a chart of times over the
// width of square matrices, the roofline of a device with the kernels on it, and the chain of traffic that
// says why they stand where they stand.
//
//   GFLOP/s |        ______ peak         A kernel's arithmetic intensity depends on where bytes are counted:
//           |      /                     what its threads ask for, what comes from L2, what comes from DRAM.
//           |  o--/--x-----#             The lecture's bound counts the first; the device pays for the last.
//           |   /
//           +-------------- FLOP/B       o asked   x from L2   # from DRAM
//
// Of a device whose caches are known, what bounds the chosen kernel stands in the roofline's place until that
// is asked for (bounds.h).
//
// What is computed for a device that was not measured is a bound, and so is all that is said of a launch that
// is no product: its operations, bytes and sectors are counted from its recording. Speed-ups divide two
// medians of the same width and tile width; cuBLAS has no tile width and is divided by the same.
//
// Source: Williams, Waterman and Patterson, "Roofline", CACM 52(4), 2009.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "app/draw/axes.h"
#include "app/draw/theme.h"
#include "app/timing/bounds.h"
#include "core/limits/device_spec.h"
#include "core/limits/roofline.h"
#include "kernels/textbook/shipped.h"
#include "kernels/textbook/timings.h"

namespace tilescope::timing {

// What was chosen on the Timing screen.
struct TimingChoice {
    enum class Plot : uint8_t { Time, Gflops, OverUntiled, OverSwapped } plot = Plot::Gflops;
    std::string device;            // by name; empty for the first that was measured
    std::string kernel = "tiled";  // the one that is shown large
    uint32_t tile = 32;
    uint32_t width = 0;  // of the roofline and the table; 0: the largest whose traffic was counted

    // What stands beside the times.
    enum class Beside : uint8_t { Bounds, Latency, Ladder, Roofline } beside = Beside::Bounds;
};

// --- times.cpp: devices

// Devices on which kernels were timed, devices with figures of their makers, and made-up ones of lectures.
struct Machine {
    std::string name;                          // "NVIDIA H200"
    const kernels::Timings* times = nullptr;   // null: not measured
    double stated_gbs = 0, stated_gflops = 0;  // 0 unknown
    std::string source;                        // of what is stated
    std::string chip{};                        // "G80", of the devices that are not measured
    uint32_t threads_per_block = 1024;         // at most, and so the square of the widest T
    double half_gflops = 0;                    // stated, of halves on tensor cores; 0 unknown
    double peak(ElementType input) const { return input == ElementType::F16 ? half_gflops : stated_gflops; }
};
std::string name_of(const Machine& machine);  // "GeForce 8800 GTX (G80)"

// Measured ones first, as they are given but clang's after another compiler's of the same device, then the
// devices that none of them is, then the lectures'.
std::vector<Machine> machines(const std::vector<kernels::Timings>& timings,
                              const std::vector<analysis::DeviceSpec>& devices);
// The one of that name, else the first; null where there is none.
const Machine* find_machine(const std::vector<Machine>& all, std::string_view name);
// "Measured on NVIDIA H200, driver 580.159.04, CUDA 13.0, 2026-11-21", or what not measured means.
std::string measured_words(const Machine& machine);
// The bound of core/limits/roofline.h by the stated figures; 0 where the bandwidth is not known.
double bound_gflops(const Machine& machine, double flop_per_byte, ElementType input = ElementType::F32);

// The device with known levels on which a machine was measured; null if it was not, or they are not known.
const analysis::DeviceSpec* leveled_device(const Machine& machine);
// A launch, for its bounds; nothing for cuBLAS, of which it is not known what it runs, and where the
// machine's levels are not known or the launch was not timed. tile: the chosen T, of a kernel that has one.
std::optional<BoundsOf> bounds_of(const Machine& machine, std::string_view kernel, uint32_t tile,
                                  uint32_t width);
// The device's times of another compiler's PTX; null where there are none.
const Machine* other_compiler(const std::vector<Machine>& all, const Machine& machine);

// The row of a kernel, cuBLAS's where it is that; null where it was not measured.
const kernels::Timing* row_of(const Machine& machine, std::string_view kernel, uint32_t width, uint32_t tile);
// Kernels, tile widths and widths that a machine has times of, in the order they are stepped through.
std::vector<std::string> timed_kernels(const Machine& machine);
std::vector<uint32_t> timed_tiles(const Machine& machine);
// Why wider tiles are not among them: "T = 32 does not launch: ..."; "" where all are.
std::string left_out_tiles(const Machine& machine);
std::vector<uint32_t> timed_widths(const Machine& machine);
// The width that the roofline shows: the chosen one, else the largest that was counted, else the largest.
uint32_t shown_width(const Machine& machine, const std::vector<kernels::Counters>& counters,
                     const TimingChoice& chosen);

// Kernels of fp32 and those of halves are shown apart: those of the type of the chosen one.
std::vector<ElementType> timed_inputs(const Machine& machine);
const char* words_of(ElementType input);  // "fp32", "halves"

// The colour of a kernel. Those of a ladder are one ramp, from faint on the ground to strong on the top rung;
// what is made to go wrong has the colour of faults, cuBLAS, the baseline, and all others a grey.
draw::Rgba color_of(const draw::Palette& palette, std::string_view kernel);
// A shape of its own for each kernel of a type, besides the colour: of the catalogue in its order, then cuBLAS.
draw::PointShape shape_of(std::string_view kernel);
inline constexpr std::string_view kLibrary = "cublas";
std::string shown_name(std::string_view kernel);  // "tiled swapped", "cuBLAS", "cuBLAS (halves)"
// The tile width that a kernel is timed with where one is chosen for those that have it: 0 for the others.
uint32_t tile_of(std::string_view kernel, uint32_t chosen);
std::string name_with_tile(std::string_view kernel, uint32_t tile);  // "tiled, T = 32"; some have no T

// A line a kernel over the width.

struct TimePoint {
    uint32_t width = 0;
    double value = 0;   // in the chart's unit
    std::string exact;  // what hover says
};
struct TimeLine {
    std::string kernel, label;
    bool bound = false;  // computed, not measured
    std::vector<TimePoint> points{};
};
struct TimeChart : draw::Axes {
    std::string nothing;  // one sentence where there is nothing to draw
    std::vector<TimeLine> lines;
};
TimeChart time_chart(const Machine& machine, const TimingChoice& chosen);

// "tiled, T = 32, width 1,024: 0.2360 ms, 9,098 GFLOP/s; 1.47 times as fast as untiled, 18.7 times swapped".
std::string headline(const Machine& machine, const TimingChoice& chosen, uint32_t width);

// --- roofline.cpp: roofs, points, and the chain of traffic

struct Roof {
    std::string name;            // "measured", "stated"
    double gbs = 0, gflops = 0;  // gflops 0: the peak is not known, and the roof has no flat part
    bool measured = false;
    std::string exact;
};
struct RoofPoint {
    enum class Kind : uint8_t { Asked, L2, Dram, Bound } kind = Kind::Asked;
    std::string kernel;
    double intensity = 0, gflops = 0;
    std::string label, exact;
};
struct RooflineChart : draw::Axes {
    std::string nothing;
    std::vector<Roof> roofs;
    std::vector<RoofPoint> points;
    // What the chosen kernel's threads do for what they ask of global memory, each with its formula:
    // "arithmetic intensity 2T FLOP / 8 B = T/4 = 8 FLOP/B", "CGMA 2T FLOP / 2 accesses = T = 32 FLOP per
    // ..."
    std::vector<std::string> ratios;
};
RooflineChart roofline_chart(const Machine& machine, const std::vector<kernels::Counters>& counters,
                             const TimingChoice& chosen, uint32_t width);

// Bytes of loads at each level, and what they make of the intensity.
struct ChainRow {
    std::string name, about;  // "read from L2", "lts__t_sectors_op_read.sum times 32 bytes"
    double bytes = 0, intensity = 0;
    std::string
        beside_asked{};  // beside the first row's bytes: "2.00 × more", "4.13 × fewer"; "" of the first
};
// What a kernel saves beside the untiled one: how many times fewer loads its threads make, and in how many times
// less time it ends.
struct Savings {
    double loads = 0, time = 0;
    // "Tiles make 32 × fewer loads, but are only 1.47 × as fast: L1 had caught 98.9 % of them"
    std::string sentence;
};
struct TrafficChain {
    std::vector<ChainRow> rows;  // the first where the kernel was timed, all where it was counted
    std::string why;             // what the reasons are about
    std::vector<std::string> reasons;
    std::string note;  // who counted, or that nobody did
    std::optional<Savings> savings{};
};
TrafficChain traffic_chain(const Machine& machine, const std::vector<kernels::Counters>& counters,
                           std::string_view kernel, uint32_t width, uint32_t tile);

// A launch that is no product, by what was counted of its recorded blocks. own_ms: its own time, measured in
// this launch; 0 where it was not.
struct Launched {
    std::string kernel;
    const analysis::RecordedWork& work;
    double own_ms = 0;
};
// What its recording says of it: "floating-point operations", "1,024".
std::vector<std::pair<std::string, std::string>> counted_rows(const Machine& machine, const Launched& launch);
RooflineChart roofline_chart(const Machine& machine, const Launched& launch);
TrafficChain traffic_chain(const Machine& machine, const Launched& launch);

}  // namespace tilescope::timing
