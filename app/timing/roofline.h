// The roofline of a device, with the kernels on it, and the chain of traffic that says why they stand where
// they stand.
//
//   GFLOP/s |        ______ peak         A kernel's arithmetic intensity depends on where bytes are counted:
//           |      /                     what its threads ask for, what comes from L2, what comes from DRAM.
//           |  o--/--x-----#             The lecture's bound counts the first; the device pays for the last.
//           |   /
//           +-------------- FLOP/B       o asked   x from L2   # from DRAM
//
// Source: Williams, Waterman and Patterson, "Roofline", CACM 52(4), 2009.
#pragma once

#include <string>
#include <vector>

#include "app/timing/time_chart.h"
#include "kernels/textbook/shipped.h"

namespace tilescope::timing {

struct Roof {
    std::string name;            // "measured", "stated"
    double gbs = 0, gflops = 0;  // gflops 0: the peak is not known, and the roof has no flat part
    bool measured = false;
    std::string exact;
};

struct RoofPoint {
    enum class Kind : uint8_t { Asked, L2, Dram, Bound } kind = Kind::Asked;
    double intensity = 0, gflops = 0;
    std::string kernel, label, exact;
    Operands operands = Operands::Global;
    Shape shape = Shape::Circle;
    bool chosen = false;
};

struct RooflineChart {
    std::string nothing;
    std::vector<Roof> roofs;
    std::vector<RoofPoint> points;
    Axis x, y;
    std::vector<Tick> x_ticks, y_ticks;
};

// Bytes of loads at each level, and what they make of the intensity.
struct ChainRow {
    std::string name, about;  // "read from L2", "lts__t_sectors_op_read.sum x 32 bytes"
    double bytes = 0, intensity = 0;
    double of_asked = 0;  // times the first row
};
struct TrafficChain {
    std::vector<ChainRow> rows;        // the first where the kernel was timed, all where it was counted
    std::vector<std::string> reasons;  // why the bound and the measurement differ
    std::string note;                  // who counted, or that nobody did
};

TrafficChain traffic_chain(const Machine& machine, const std::vector<kernels::Counters>& counters,
                           std::string_view kernel, uint32_t width, uint32_t tile);
RooflineChart roofline_chart(const Machine& machine, const std::vector<kernels::Counters>& counters,
                             const State& chosen, uint32_t width);

// The width that the roofline shows: the chosen one, else the largest that was counted, else the largest.
uint32_t shown_width(const Machine& machine, const std::vector<kernels::Counters>& counters,
                     const State& chosen);

std::string bytes_short(double bytes);  // "8.59 GB": powers of 1000, as bandwidths are

}  // namespace tilescope::timing
