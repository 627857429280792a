#include "core/limits/roofline.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/analysis/coalescing.h"
#include "core/base/text.h"

namespace tilescope::analysis {

const char* name_of(Kind kind) { return kind == Kind::Bound ? "bound" : "measured"; }

Roof stated_roof(const DeviceSpec& device, ElementType input) {
    return {device.name + ", stated", device.memory_gbs, peak_gflops(device, input)};
}

double peak_gflops(const DeviceSpec& device, ElementType input) {
    return input == ElementType::F16 ? device.half_gflops : device.peak_gflops;
}

double operands_per_second(const Roof& roof) { return roof.memory_gbs / kFp32Bytes; }

double bound_gflops(const Roof& roof, double flop_per_byte) {
    const double memory = roof.memory_gbs * flop_per_byte;
    return roof.has_peak() ? std::min(roof.peak_gflops, memory) : memory;
}

double ridge(const Roof& roof) { return roof.memory_gbs > 0 ? roof.peak_gflops / roof.memory_gbs : 0; }

uint32_t widest_tile(const SmLimits& sm) {
    uint32_t tile = 1;
    while ((tile + 1) * (tile + 1) <= sm.threads_per_block) ++tile;
    return tile;
}

RoofPoint measured_point(std::string name, const Roof& roof, double flop_per_byte, double gflops) {
    return {std::move(name),
            Kind::Measured,
            flop_per_byte,
            gflops,
            roof.has_peak() ? gflops / roof.peak_gflops : 0,
            !roof.has_peak() || flop_per_byte < ridge(roof)};
}

RoofPoint bound_point(std::string name, const Roof& roof, double flop_per_byte) {
    RoofPoint point = measured_point(std::move(name), roof, flop_per_byte, bound_gflops(roof, flop_per_byte));
    point.kind = Kind::Bound;
    return point;
}

Result<RecordedWork> recorded_work(const Recording& recording, const Summary& summary,
                                   std::optional<uint64_t> counted) {
    const trace::Trace& trace = *recording.trace;
    const auto& product = recording.product;
    const std::string name = product
                                 ? fmt::format("{} {}", one_line(trace.meta.kernel), product->sizes(" × "))
                                 : title_of(recording);
    if (!trace.meta.complete) {
        return Error{
            fmt::format("the recording of {} is not whole, so its bytes are no sum; record it again", name)};
    }
    RecordedWork work;
    work.flops =
        product ? product->flop_an_element() * summary[StepKind::GlobalStore].lanes : counted.value_or(0);
    work.loaded = summary[StepKind::GlobalLoad].bytes;
    work.stored = summary[StepKind::GlobalStore].bytes;
    if (!product && !counted)
        return Error{fmt::format("the operations of {} were not counted; replay it to count them", name)};
    if ((product && work.flops == 0) || work.loaded == 0)
        return Error{fmt::format("the recording of {} loads or stores nothing; choose other blocks", name)};
    work.intensity = static_cast<double>(work.flops) / static_cast<double>(work.loaded);
    work.intensity_with_stores =
        static_cast<double>(work.flops) / static_cast<double>(work.loaded + work.stored);
    work.sector_bytes = summary[StepKind::GlobalLoad].sectors * kSectorBytes;
    work.intensity_of_sectors = static_cast<double>(work.flops) / static_cast<double>(work.sector_bytes);
    return work;
}

Result<std::vector<RoofCase>> roof_cases(const std::vector<DeviceSpec>& devices) {
    const auto of = [&](const char* id) {
        const auto it =
            std::find_if(devices.begin(), devices.end(), [&](const auto& d) { return d.id == id; });
        return it == devices.end() ? Roof{} : stated_roof(*it);
    };
    const Roof g80 = of("g80"), rtx = of("rtx-3090");
    if (g80.peak_gflops == 0 || rtx.peak_gflops == 0)
        return Error{"the cases of the roofline need the devices 'g80' and 'rtx-3090', which are not known"};
    const Roof first{"a device of 200 GB/s and 1,500 GFLOP/s", 200, 1500};
    const Roof second{"a device of 150 GB/s, its peak not said", 150, 0};
    const Roof third{"a device of 1,000 GB/s and 12,000 GFLOP/s", 1000, 12000};
    return std::vector<RoofCase>{{"gbs-200", "200 GB/s: operands and operations at CGMA 1", first, 1, false},
                                 {"g80", "G80, untiled", g80, 1},
                                 {"g80-tiled-16", "G80 with 16 × 16 tiles", g80, 16},
                                 {"gbs-150-tiled-16", "150 GB/s with 16 × 16 tiles", second, 16, false},
                                 {"gbs-1000", "1,000 GB/s and 12 TFLOP/s at CGMA 1", third, 1, false},
                                 {"rtx-3090", "RTX 3090, untiled", rtx, 1},
                                 {"rtx-3090-tiled-32", "RTX 3090 with 32 × 32 tiles", rtx, 32}};
}

}  // namespace tilescope::analysis
