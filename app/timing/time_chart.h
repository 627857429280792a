// What the Timing screen's chart shows: a line a kernel, over the width of square matrices.
//
// Speed-ups divide two medians of the same width and tile width; cuBLAS has no tile width and is divided by
// the same. Where a device was not measured the lines are the bounds of the lecture's sum.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "app/draw/axes.h"
#include "app/timing/machine.h"

namespace tilescope::timing {

using draw::Axis;
using draw::Shape;
using draw::Tick;

// What was chosen on the Timing screen.
struct State {
    enum class Plot : uint8_t { Time, Gflops, OverUntiled, OverSwapped } plot = Plot::Time;
    std::string device;            // by name; empty for the first that was measured
    std::string kernel = "tiled";  // the one that is shown large
    uint32_t tile = 32;
    uint32_t width = 0;  // of the roofline and the table; 0: the largest whose traffic was counted
};

// Where the inner loop reads its operands from: the colour of a kernel, as everywhere.
enum class Operands : uint8_t { Global, Shared, Library };
Operands operands_of(std::string_view kernel);
// A shape for each kernel, besides the colour: of the catalogue in its order, then cuBLAS.
Shape shape_of(std::string_view kernel);
std::string shown_name(std::string_view kernel);  // "tiled swapped", "cuBLAS"

struct TimePoint {
    uint32_t width = 0;
    double value = 0;                      // in the chart's unit
    const kernels::Timing* row = nullptr;  // null for a bound
    std::string exact;                     // what hover says
};
struct TimeLine {
    std::string kernel, label;
    Operands operands = Operands::Global;
    Shape shape = Shape::Circle;
    bool chosen = false;
    bool faulty = false;  // its point is a fault: drawn dashed, as its time is of a wrong result
    bool bound = false;   // computed, not measured
    std::vector<TimePoint> points;
};
struct TimeChart {
    std::string title;    // "Time, ms"
    std::string nothing;  // one sentence where there is nothing to draw
    std::vector<TimeLine> lines;
    Axis x, y;  // low and high; the pixels are the caller's
    std::vector<Tick> x_ticks, y_ticks;
};
TimeChart time_chart(const Machine& machine, const State& chosen);

// The row of a kernel, cuBLAS's where it is that; null where it was not measured.
const kernels::Timing* row_of(const Machine& machine, std::string_view kernel, uint32_t width, uint32_t tile);

// Kernels, tile widths and widths that a machine has times of, in the order they are stepped through.
std::vector<std::string> timed_kernels(const Machine& machine);
std::vector<uint32_t> timed_tiles(const Machine& machine);
std::vector<uint32_t> timed_widths(const Machine& machine);

// "tiled, T = 32, width 1,024: 0.2360 ms, 9,098 GFLOP/s; 1.47 times as fast as untiled, 18.7 times swapped".
std::string headline(const Machine& machine, const State& chosen, uint32_t width);

}  // namespace tilescope::timing
