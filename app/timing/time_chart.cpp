#include "app/timing/time_chart.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "app/look/time_words.h"
#include "core/base/words.h"
#include "kernels/textbook/catalogue.h"

namespace tilescope::timing {
namespace {

using Plot = State::Plot;
using kernels::Timing;

constexpr std::string_view kLibrary = "cublas";
constexpr uint32_t kBoundWidths[] = {256, 512, 1024, 2048, 4096, 8192};

const char* rival_of(Plot plot) { return plot == Plot::OverSwapped ? "untiled_swapped" : "untiled"; }

double value_of(const Machine& machine, const Timing& row, Plot plot, uint32_t tile) {
    if (plot == Plot::Time) return row.median_ms;
    if (plot == Plot::Gflops) return row.gflops;
    const Timing* rival = row_of(machine, rival_of(plot), row.n, tile);
    return rival == nullptr ? 0 : rival->median_ms / row.median_ms;
}

std::string exact(const Machine& machine, const Timing& row, uint32_t tile) {
    std::string text = fmt::format("{}{}, width {}: {} ({} to {}), {} GFLOP/s", shown_name(row.kernel),
                                   row.tile ? fmt::format(", T = {}", row.tile) : "", grouped(row.n),
                                   look::milliseconds(row.median_ms), look::milliseconds(row.low_ms),
                                   look::milliseconds(row.high_ms), draw::figure(row.gflops));
    for (const Plot plot : {Plot::OverUntiled, Plot::OverSwapped}) {
        const double times = value_of(machine, row, plot, tile);
        if (times > 0 && row.kernel != rival_of(plot))
            text += fmt::format(", {} x {}", draw::ratio_text(times), shown_name(rival_of(plot)));
    }
    return text + (row.verified ? "" : "; its result is wrong, as made to show");
}

void add_measured(TimeChart& chart, const Machine& machine, const State& chosen) {
    for (const std::string& kernel : timed_kernels(machine)) {
        TimeLine line;
        line.kernel = kernel;
        line.label = shown_name(kernel);
        line.operands = operands_of(kernel);
        line.shape = shape_of(kernel);
        line.chosen = kernel == chosen.kernel;
        line.faulty = kernels::made_wrong(kernel);
        for (const uint32_t width : timed_widths(machine)) {
            const Timing* row = row_of(machine, kernel, width, chosen.tile);
            if (row == nullptr) continue;
            const double value = value_of(machine, *row, chosen.plot, chosen.tile);
            if (value > 0) line.points.push_back({width, value, row, exact(machine, *row, chosen.tile)});
        }
        if (!line.points.empty()) chart.lines.push_back(std::move(line));
    }
}

void add_bounds(TimeChart& chart, const Machine& machine, const State& chosen) {
    const double untiled = bound_gflops(machine, analysis::tile_intensity(1));
    if (untiled <= 0) return;
    for (const bool tiled : {false, true}) {
        const double gflops = bound_gflops(machine, analysis::tile_intensity(tiled ? chosen.tile : 1));
        TimeLine line;
        line.kernel = tiled ? "tiled" : "untiled";
        line.label = (tiled ? fmt::format("tiled, T = {}", chosen.tile) : std::string("untiled")) + ", bound";
        line.operands = operands_of(line.kernel);
        line.shape = shape_of(line.kernel);
        line.chosen = line.kernel == chosen.kernel;
        line.bound = true;
        for (const uint32_t width : kBoundWidths) {
            const double n = width, ms = 2 * n * n * n / gflops / 1e6;
            const double value = chosen.plot == Plot::Time     ? ms
                                 : chosen.plot == Plot::Gflops ? gflops
                                                               : gflops / untiled;
            line.points.push_back(
                {width, value, nullptr,
                 fmt::format("{}, width {}: {} at least, {} GFLOP/s at most", line.label, grouped(width),
                             look::milliseconds(ms), draw::figure(gflops))});
        }
        chart.lines.push_back(std::move(line));
    }
}

void fit_axes(TimeChart& chart, Plot plot) {
    std::set<uint32_t> widths;
    double low = 0, high = 0;
    for (const TimeLine& line : chart.lines) {
        for (const TimePoint& point : line.points) {
            widths.insert(point.width);
            low = low == 0 ? point.value : std::min(low, point.value);
            high = std::max(high, point.value);
        }
    }
    if (widths.empty()) return;
    if (plot == Plot::OverUntiled || plot == Plot::OverSwapped) low = std::min(low, 1.0);
    draw::round_out(low, high);
    chart.y = {low, high, true, 0, 1};
    chart.y_ticks = draw::log_ticks(low, high);
    chart.x = {static_cast<double>(*widths.begin()) / 1.15, static_cast<double>(*widths.rbegin()) * 1.15,
               true, 0, 1};
    for (const uint32_t width : widths) chart.x_ticks.push_back({static_cast<double>(width), grouped(width)});
}

}  // namespace

Operands operands_of(std::string_view kernel) {
    if (kernel == kLibrary) return Operands::Library;
    const kernels::KernelInfo* info = kernels::find(kernel);
    return info != nullptr && info->tiled ? Operands::Shared : Operands::Global;
}

Shape shape_of(std::string_view kernel) {
    if (kernel == kLibrary) return Shape::Star;
    const auto& all = kernels::catalogue();
    const auto found = std::find_if(all.begin(), all.end(), [&](const auto& k) { return k.name == kernel; });
    return static_cast<Shape>(static_cast<size_t>(found - all.begin()) % static_cast<size_t>(Shape::Star));
}

std::string shown_name(std::string_view kernel) {
    if (kernel == kLibrary) return "cuBLAS";
    std::string name(kernel);
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
}

const Timing* row_of(const Machine& machine, std::string_view kernel, uint32_t width, uint32_t tile) {
    if (machine.times == nullptr) return nullptr;
    return kernels::find_timing(*machine.times, kernel, width, width, width, kernel == kLibrary ? 0 : tile);
}

std::vector<std::string> timed_kernels(const Machine& machine) {
    std::vector<std::string> names;
    if (machine.times == nullptr) return {"untiled", "tiled"};
    const auto timed = [&](std::string_view kernel) {
        return std::any_of(machine.times->rows.begin(), machine.times->rows.end(),
                           [&](const Timing& row) { return row.kernel == kernel; });
    };
    for (const kernels::KernelInfo& kernel : kernels::catalogue())
        if (timed(kernel.name)) names.push_back(kernel.name);
    if (timed(kLibrary)) names.emplace_back(kLibrary);
    return names;
}

std::vector<uint32_t> timed_tiles(const Machine& machine) {
    if (machine.times == nullptr) return {std::begin(kernels::kTiles), std::end(kernels::kTiles)};
    std::set<uint32_t> tiles;
    for (const Timing& row : machine.times->rows)
        if (row.tile > 0) tiles.insert(row.tile);
    return {tiles.begin(), tiles.end()};
}

std::vector<uint32_t> timed_widths(const Machine& machine) {
    if (machine.times == nullptr) return {std::begin(kBoundWidths), std::end(kBoundWidths)};
    std::set<uint32_t> widths;
    for (const Timing& row : machine.times->rows)
        if (row.m == row.k && row.k == row.n) widths.insert(row.n);
    return {widths.begin(), widths.end()};
}

TimeChart time_chart(const Machine& machine, const State& chosen) {
    TimeChart chart;
    switch (chosen.plot) {
        case Plot::Time:
            chart.title = "Time in ms by width";
            break;
        case Plot::Gflops:
            chart.title = "GFLOP/s by width";
            break;
        case Plot::OverUntiled:
            chart.title = "Times as fast as untiled, by width";
            break;
        case Plot::OverSwapped:
            chart.title = "Times as fast as untiled swapped, by width";
            break;
    }
    if (machine.times != nullptr)
        add_measured(chart, machine, chosen);
    else
        add_bounds(chart, machine, chosen);
    if (chart.lines.empty()) {
        chart.nothing =
            machine.times != nullptr
                ? fmt::format("No times of T = {} were measured on {}; choose another T.", chosen.tile,
                              machine.name)
                : fmt::format("No bandwidth is stated for {}: there is no bound to draw.", machine.name);
    }
    fit_axes(chart, chosen.plot);
    return chart;
}

std::string headline(const Machine& machine, const State& chosen, uint32_t width) {
    const bool library = chosen.kernel == kLibrary;
    const std::string who = fmt::format("{}{}, width {}", shown_name(chosen.kernel),
                                        library ? "" : fmt::format(", T = {}", chosen.tile), grouped(width));
    if (machine.times == nullptr) {
        const bool tiled = operands_of(chosen.kernel) == Operands::Shared;
        const double gflops = bound_gflops(machine, analysis::tile_intensity(tiled ? chosen.tile : 1));
        if (gflops <= 0) return who + ": no bound without a stated bandwidth";
        return fmt::format("{}: a bound of {} GFLOP/s, {}", who, draw::figure(gflops),
                           machine.stated_gflops > 0
                               ? draw::figure(100 * gflops / machine.stated_gflops) + " % of the peak"
                               : std::string("whose share of the peak is not known"));
    }
    const Timing* row = row_of(machine, chosen.kernel, width, chosen.tile);
    if (row == nullptr) return who + ": not measured";
    std::string text =
        fmt::format("{}: {}, {} GFLOP/s", who, look::milliseconds(row->median_ms), draw::figure(row->gflops));
    for (const Plot plot : {Plot::OverUntiled, Plot::OverSwapped}) {
        const double times = value_of(machine, *row, plot, chosen.tile);
        if (times > 0 && chosen.kernel != rival_of(plot))
            text += fmt::format(", {} x {}", draw::ratio_text(times), shown_name(rival_of(plot)));
    }
    return text + (row->verified ? "" : "; its result is wrong, as made to show");
}

}  // namespace tilescope::timing
