// The roofline: how fast a kernel can be, by what it asks of memory for each operation.
//
//   GFLOP/s |            ____________  peak
//           |          /
//           |        /  GB/s x FLOP/B
//           |      /
//           +--------------------------  FLOP/B (log)
//
// Two scales of the same thing are taught: arithmetic intensity, operations for each byte, and CGMA,
// operations for each access to global memory (of 4 bytes in fp32, so that CGMA is 4 times the intensity).
// A figure worked out here is a bound and says so; only a figure with a clock behind it is measured.
//
// Source: Williams, Waterman, Patterson, "Roofline: An Insightful Visual Performance Model for Multicore
// Architectures", Communications of the ACM 52(4), 2009.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "core/analysis/summary.h"
#include "core/base/result.h"
#include "core/limits/device_spec.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {

inline constexpr double kFp32Bytes = 4;

enum class Kind : uint8_t { Bound, Measured };
const char* name_of(Kind kind);  // "bound", "measured"

struct Roof {
    std::string name;        // "GeForce RTX 3090, stated"
    double memory_gbs = 0;   // 1e9 bytes a second
    double peak_gflops = 0;  // of the operands' type; 0: not known, memory alone bounds
    bool has_peak() const { return peak_gflops > 0; }
};
// input: what is multiplied; F16 stands for halves on tensor cores.
Roof stated_roof(const DeviceSpec& device, ElementType input = ElementType::F32);
double peak_gflops(const DeviceSpec& device, ElementType input);  // stated; 0: not known

// Operands of 4 bytes that memory brings, 1e9 a second.
double operands_per_second(const Roof& roof);
double bound_gflops(const Roof& roof, double flop_per_byte);
// The intensity at which the two roofs meet, FLOP/B; 0 where one of them is not known.
double ridge(const Roof& roof);

inline double intensity_of_cgma(double cgma) { return cgma / kFp32Bytes; }
inline double cgma_of_intensity(double flop_per_byte) { return flop_per_byte * kFp32Bytes; }

// A T x T tile is loaded once for T uses of each element: T / 4 FLOP/B. T = 1 is the untiled kernel.
inline double tile_intensity(uint32_t tile) { return tile / kFp32Bytes; }
// Shared memory of a block with a tile of M and one of N, bytes.
inline uint64_t tile_shared_bytes(uint32_t tile) { return uint64_t{2} * tile * tile * 4; }
// The widest square tile of one thread an element.
uint32_t widest_tile(const SmLimits& sm);

struct RoofPoint {
    std::string name;  // "tiled 64 x 64 x 64, T = 16"
    Kind kind = Kind::Bound;
    double flop_per_byte = 0;  // by the bytes that threads requested from global memory
    double gflops = 0;         // bound: under the roof; measured: by a clock
    double share_of_peak = 0;  // of the roof's; 0 where that is not known
    bool memory_bound = false;
};
RoofPoint bound_point(std::string name, const Roof& roof, double flop_per_byte);
RoofPoint measured_point(std::string name, const Roof& roof, double flop_per_byte, double gflops);

// What the recorded blocks did: operations, and the bytes that lanes requested. Of a product the operations
// are 2 k for each element of P stored; of any other launch those that its instructions made (fma counts as
// 2), which somebody has to have counted by running it. As the lectures count, stores are left out;
// intensity_with_stores has them. The lectures' count does not see who asks for what together;
// intensity_of_sectors does: it counts the sectors that the requests for loads need, so that a scattered warp
// pays 32 bytes for each 4, and lanes that ask for one element pay once.
struct RecordedWork {
    uint64_t flops = 0, loaded = 0, stored = 0;  // number of operations; bytes loaded and stored
    uint64_t sector_bytes = 0;                   // 32 bytes for each sector that a request to load needs
    double intensity = 0, intensity_with_stores = 0, intensity_of_sectors = 0;
    double cgma() const { return cgma_of_intensity(intensity); }
};
// counted: the operations of a launch that is no product. Fails where nothing was loaded, where the recording
// is not whole, and for a launch that is no product without a count.
Result<RecordedWork> recorded_work(const Recording& recording, const Summary& summary,
                                   std::optional<uint64_t> counted = std::nullopt);

// The cases by which the roofs are taught.
struct RoofCase {
    std::string id;  // "g80-tiled-16"
    std::string title;
    Roof roof;
    uint32_t tile = 1;  // 1: untiled
    bool known = true;  // false: the roof is of no device, but of figures of the case's own
};
// Devices of assets where a case names one, others by figures of its own.
Result<std::vector<RoofCase>> roof_cases(const std::vector<DeviceSpec>& devices);

}  // namespace tilescope::analysis
