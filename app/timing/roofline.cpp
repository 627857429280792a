#include "app/timing/roofline.h"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/words.h"

namespace tilescope::timing {
namespace {

using kernels::Timing;

void add_roofs(RooflineChart& chart, const Machine& machine) {
    if (machine.times != nullptr && machine.times->roofs.copy_gbs > 0 &&
        machine.times->roofs.fp32_gflops > 0) {
        const kernels::Roofs& roofs = machine.times->roofs;
        chart.roofs.push_back(
            {"measured", roofs.copy_gbs, roofs.fp32_gflops, true,
             fmt::format("Measured on {}: a copy moves {} GB/s, fused multiply-adds do {} "
                         "GFLOP/s",
                         machine.name, draw::figure(roofs.copy_gbs), draw::figure(roofs.fp32_gflops))});
    }
    if (machine.stated_gbs > 0) {
        chart.roofs.push_back(
            {"stated", machine.stated_gbs, machine.stated_gflops, false,
             fmt::format("Stated for {}: {} GB/s, {}, by {}", machine.name, draw::figure(machine.stated_gbs),
                         machine.stated_gflops > 0 ? draw::figure(machine.stated_gflops) + " GFLOP/s"
                                                   : std::string("its peak not known"),
                         machine.source)});
    }
}

RoofPoint point_of(std::string_view kernel, RoofPoint::Kind kind, double intensity, double gflops) {
    RoofPoint point;
    point.kind = kind;
    point.intensity = intensity;
    point.gflops = gflops;
    point.kernel = kernel;
    point.label = shown_name(kernel);
    point.operands = operands_of(kernel);
    point.shape = shape_of(kernel);
    return point;
}

void add_kernels(RooflineChart& chart, const Machine& machine, const State& chosen, uint32_t width) {
    for (const std::string& kernel : timed_kernels(machine)) {
        const Timing* row = row_of(machine, kernel, width, chosen.tile);
        if (row == nullptr || row->requested_gbs <= 0) continue;
        RoofPoint point =
            point_of(kernel, RoofPoint::Kind::Asked, row->gflops / row->requested_gbs, row->gflops);
        point.chosen = kernel == chosen.kernel;
        point.exact =
            fmt::format("{}, T = {}, width {}: {} GFLOP/s at {} FLOP per byte asked", point.label, row->tile,
                        grouped(width), draw::figure(row->gflops), draw::figure(point.intensity));
        chart.points.push_back(std::move(point));
    }
}

// The chosen kernel again, by what L2 and DRAM moved for it.
void add_levels(RooflineChart& chart, const TrafficChain& chain, const Machine& machine, const State& chosen,
                uint32_t width) {
    const Timing* row = row_of(machine, chosen.kernel, width, chosen.tile);
    if (row == nullptr || chain.rows.size() < 4) return;
    for (const auto& [at, kind, label] :
         {std::tuple{2, RoofPoint::Kind::L2, "by L2"}, std::tuple{3, RoofPoint::Kind::Dram, "by DRAM"}}) {
        const ChainRow& level = chain.rows[static_cast<size_t>(at)];
        RoofPoint point = point_of(chosen.kernel, kind, level.intensity, row->gflops);
        point.chosen = true;
        point.label = label;
        point.exact = fmt::format("{}: {} {}, {} FLOP/B", shown_name(chosen.kernel), bytes_short(level.bytes),
                                  level.name, draw::figure(level.intensity));
        chart.points.push_back(std::move(point));
    }
}

void add_bounds(RooflineChart& chart, const Machine& machine, uint32_t tile) {
    if (bound_gflops(machine, analysis::tile_intensity(1)) <= 0) return;
    for (const bool tiled : {false, true}) {
        const double intensity = analysis::tile_intensity(tiled ? tile : 1);
        const double gflops = bound_gflops(machine, intensity);
        RoofPoint point = point_of(tiled ? "tiled" : "untiled", RoofPoint::Kind::Bound, intensity, gflops);
        point.label = fmt::format("bound, {} {}",
                                  tiled ? fmt::format("T = {}:", tile) : "untiled:", draw::figure(gflops));
        point.exact = fmt::format("Bound of the lecture's sum for {}: {} FLOP/B x {} GB/s{}",
                                  tiled ? fmt::format("tiles of T = {}", tile) : "the untiled kernel",
                                  draw::figure(intensity), draw::figure(machine.stated_gbs),
                                  gflops < machine.stated_gbs * intensity
                                      ? ", cut at the peak"
                                      : fmt::format(" = {} GFLOP/s", draw::figure(gflops)));
        if (machine.stated_gflops > 0)
            point.exact +=
                fmt::format(", {} % of the stated peak", draw::figure(100 * gflops / machine.stated_gflops));
        chart.points.push_back(std::move(point));
    }
}

}  // namespace

RooflineChart roofline_chart(const Machine& machine, const std::vector<kernels::Counters>& counters,
                             const State& chosen, uint32_t width) {
    RooflineChart chart;
    add_roofs(chart, machine);
    if (machine.times != nullptr) {
        add_kernels(chart, machine, chosen, width);
        add_levels(chart, traffic_chain(machine, counters, chosen.kernel, width, chosen.tile), machine,
                   chosen, width);
    }
    add_bounds(chart, machine, chosen.tile);
    if (chart.roofs.empty()) {
        chart.nothing =
            fmt::format("Neither bandwidth nor peak of {} is known: there is no roof to draw.", machine.name);
        return chart;
    }
    double left = 0.125, right = 32, low = chart.roofs[0].gbs * left, high = 0;
    for (const Roof& roof : chart.roofs) {
        high = std::max(high, roof.gflops > 0 ? roof.gflops : roof.gbs * right);
        low = std::min(low, roof.gbs * left);
        right = std::max(right, 16 * roof.gflops / roof.gbs);
    }
    for (const RoofPoint& point : chart.points) {
        low = std::min(low, point.gflops / 1.2);
        left = std::min(left, point.intensity / 1.5);
        right = std::max(right, point.intensity * 2);
    }
    high *= 1.3;
    draw::round_out(low, high);
    chart.x = {left, right, true, 0, 1};
    chart.y = {low, high, true, 0, 1};
    chart.x_ticks = draw::log_ticks(left, right);
    chart.y_ticks = draw::log_ticks(low, high);
    return chart;
}

}  // namespace tilescope::timing
