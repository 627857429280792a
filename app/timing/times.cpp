// Devices that were timed or only stated, and a line a kernel over the width of the matrices.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "app/look/time_words.h"
#include "app/timing/ladder.h"
#include "core/base/words.h"
#include "kernels/textbook/catalogue.h"
#include "kernels/textbook/devices.h"

namespace tilescope::timing {
namespace {

using Plot = TimingChoice::Plot;
using kernels::Timing;

constexpr uint32_t kBoundWidths[] = {256, 512, 1024, 2048, 4096, 8192};

bool is_tiled(std::string_view kernel) {
    const kernels::KernelInfo* info = kernels::find(kernel);
    return info != nullptr && info->tiled;
}

const char* rival_of(Plot plot) { return plot == Plot::OverSwapped ? "untiled_swapped" : "untiled"; }

double value_of(const Machine& machine, const Timing& row, Plot plot, uint32_t tile) {
    if (plot == Plot::Time) return row.median_ms;
    if (plot == Plot::Gflops) return row.gflops;
    const Timing* rival = row_of(machine, rival_of(plot), row.n, tile);
    return rival == nullptr ? 0 : rival->median_ms / row.median_ms;
}

// ", 1.47 × untiled, 18.7 × untiled swapped", as far as they were measured, and whether its result is wrong.
std::string rivals_text(const Machine& machine, const Timing& row, uint32_t tile) {
    std::string text;
    for (const Plot plot : {Plot::OverUntiled, Plot::OverSwapped}) {
        const double times = value_of(machine, row, plot, tile);
        if (times > 0 && row.kernel != rival_of(plot))
            text += fmt::format(", {} × {}", ratio_text(times), shown_name(rival_of(plot)));
    }
    return text + (row.verified ? "" : "; its result is wrong, as made to show");
}

// "tiled, T = 32, width 1,024".
std::string who(std::string_view kernel, uint32_t tile, uint32_t width) {
    return fmt::format("{}, width {}", name_with_tile(kernel, tile), grouped(width));
}

std::string exact(const Machine& machine, const Timing& row, uint32_t tile) {
    return fmt::format("{}: {} ({} to {}), {} GFLOP/s{}", who(row.kernel, row.tile, row.n),
                       look::milliseconds(row.median_ms), look::milliseconds(row.low_ms),
                       look::milliseconds(row.high_ms), draw::figure(row.gflops),
                       rivals_text(machine, row, tile));
}

void add_measured(TimeChart& chart, const Machine& machine, const TimingChoice& chosen) {
    const ElementType input = kernels::input_of(chosen.kernel);
    for (const std::string& kernel : timed_kernels(machine)) {
        if (kernels::input_of(kernel) != input) continue;
        TimeLine line{kernel, shown_name(kernel)};
        for (const uint32_t width : timed_widths(machine)) {
            const Timing* row = row_of(machine, kernel, width, chosen.tile);
            if (row == nullptr) continue;
            const double value = value_of(machine, *row, chosen.plot, chosen.tile);
            if (value > 0) line.points.push_back({width, value, exact(machine, *row, chosen.tile)});
        }
        if (!line.points.empty()) chart.lines.push_back(std::move(line));
    }
}

void add_bounds(TimeChart& chart, const Machine& machine, const TimingChoice& chosen) {
    const double untiled = bound_gflops(machine, analysis::tile_intensity(1));
    if (untiled <= 0) return;
    for (const bool tiled : {false, true}) {
        const double gflops = bound_gflops(machine, analysis::tile_intensity(tiled ? chosen.tile : 1));
        TimeLine line{tiled ? "tiled" : "untiled",
                      tiled ? fmt::format("tiled, T = {}, bound", chosen.tile) : "untiled, bound", true};
        for (const uint32_t width : kBoundWidths) {
            const double n = width, ms = 2 * n * n * n / gflops / 1e6;
            const double value = chosen.plot == Plot::Time     ? ms
                                 : chosen.plot == Plot::Gflops ? gflops
                                                               : gflops / untiled;
            line.points.push_back(
                {width, value,
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

// The different values of the rows on curves, ascending; those of 0 left out.
template <class Value>
std::vector<uint32_t> values_of(const Machine& machine, Value value) {
    std::set<uint32_t> values;
    for (const Timing& row : machine.times->rows)
        if (on_curves(row)) values.insert(value(row));
    values.erase(0);
    return {values.begin(), values.end()};
}

}  // namespace

std::vector<Machine> machines(const std::vector<kernels::Timings>& timings,
                              const std::vector<analysis::DeviceSpec>& devices) {
    std::vector<Machine> all;
    for (const kernels::Timings& times : timings) {
        const bool ships = times.compiler == "clang";
        all.push_back({ships ? times.device : fmt::format("{}, PTX by {}", times.device, times.compiler),
                       &times, times.roofs.stated_gbs, times.roofs.stated_gflops,
                       "clocks and widths that the driver gives"});
        if (const auto* const device = kernels::find_driver_name(times.device))
            all.back().half_gflops = device->half_gflops;
    }
    // Of a device the times of the compiler that a user would use come before those of what ships, whose
    // loops are the source's.
    std::ranges::stable_sort(all, [](const Machine& a, const Machine& b) {
        return a.times->device == b.times->device && a.times->compiler != "clang" &&
               b.times->compiler == "clang";
    });
    for (const analysis::DeviceSpec& device : devices) {
        const bool measured = std::any_of(timings.begin(), timings.end(), [&](const kernels::Timings& times) {
            const auto* named = kernels::find_driver_name(times.device);
            return named != nullptr && named->id == device.id;
        });
        if (!measured)
            all.push_back({device.name, nullptr, device.memory_gbs, device.peak_gflops, device.source,
                           device.chip, device.sm.threads_per_block, device.half_gflops});
    }
    if (const auto cases = analysis::roof_cases(devices)) {
        for (const analysis::RoofCase& one : *cases) {
            if (!one.known)
                all.push_back({one.roof.name, nullptr, one.roof.memory_gbs, one.roof.peak_gflops,
                               "the figures of a lecture's sum"});
        }
    }
    return all;
}

std::string name_of(const Machine& machine) {
    return machine.chip.empty() ? machine.name : fmt::format("{} ({})", machine.name, machine.chip);
}

const Machine* find_machine(const std::vector<Machine>& all, std::string_view name) {
    for (const Machine& machine : all)
        if (machine.name == name) return &machine;
    return all.empty() ? nullptr : &all.front();
}

std::string measured_words(const Machine& machine) {
    if (machine.times == nullptr)
        return fmt::format(
            "No measured times ship for {}: what is drawn is a bound, from {}", name_of(machine),
            machine.source.substr(0, machine.source.find(": ")));  // what each says, hover tells
    const kernels::Timings& times = *machine.times;
    std::string words = "Measured on " + times.device;
    if (!times.driver.empty()) words += ", driver " + times.driver;
    if (!times.cuda.empty()) words += ", CUDA " + times.cuda;
    if (const std::string days = kernels::days_of(times); !days.empty()) words += ", " + days;
    return words;
}

double bound_gflops(const Machine& machine, double flop_per_byte, ElementType input) {
    return analysis::bound_gflops({machine.name, machine.stated_gbs, machine.peak(input)}, flop_per_byte);
}

draw::Rgba color_of(const draw::Palette& palette, std::string_view kernel) {
    using draw::Ink;
    if (kernels::is_library(kernel)) return palette[Ink::TextQuiet];
    if (kernels::made_wrong(kernel)) return palette[Ink::Fault];
    const std::span<const Rung> all = rungs(kernels::input_of(kernel));
    const auto found = std::ranges::find(all, kernel, &Rung::kernel);
    if (found == all.end()) return palette[Ink::LineStrong];
    const draw::Rgba ground = palette[Ink::Panel], hue = palette[Ink::GlobalLoad];
    const draw::Rgba faint = draw::mix(ground, hue, 0.6f),
                     strong = draw::mix(hue, palette.text_on(ground), 0.5f);
    return draw::mix(faint, strong,
                     static_cast<float>(found - all.begin()) / static_cast<float>(all.size() - 1));
}

draw::PointShape shape_of(std::string_view kernel) {
    using draw::PointShape;
    if (kernels::is_library(kernel)) return PointShape::Star;
    size_t before = 0;
    for (const kernels::KernelInfo& info : kernels::catalogue()) {
        if (info.name == kernel) break;
        before += info.input == kernels::input_of(kernel);
    }
    return static_cast<PointShape>(before %
                                   static_cast<size_t>(PointShape::Star));  // as many as there are kernels
}

std::string shown_name(std::string_view kernel) {
    if (kernel == kLibrary) return "cuBLAS";
    if (kernels::is_library(kernel)) return "cuBLAS (halves)";
    std::string name(kernel);
    std::replace(name.begin(), name.end(), '_', ' ');
    return name;
}

uint32_t tile_of(std::string_view kernel, uint32_t chosen) {
    return kernels::is_library(kernel) || kernels::tile_width(kernel) == 0 ? 0 : chosen;
}

std::string name_with_tile(std::string_view kernel, uint32_t tile) {
    return shown_name(kernel) + kernels::tile_text(tile_of(kernel, tile), ", T = ");
}

const analysis::DeviceSpec* leveled_device(const Machine& machine) {
    if (machine.times == nullptr) return nullptr;
    const analysis::DeviceSpec* const device = kernels::find_driver_name(machine.times->device);
    return device != nullptr && kernels::find_levels(device->id) != nullptr ? device : nullptr;
}

std::optional<BoundsOf> bounds_of(const Machine& machine, std::string_view kernel, uint32_t tile,
                                  uint32_t width) {
    const analysis::DeviceSpec* const device = leveled_device(machine);
    const Timing* const row = row_of(machine, kernel, width, tile);
    if (device == nullptr || row == nullptr || kernels::find(kernel) == nullptr) return std::nullopt;
    return BoundsOf{device->id, machine.times->compiler, std::string(kernel),
                    width,      tile_of(kernel, tile),   static_cast<uint32_t>(std::max(row->registers, 0))};
}

const Machine* other_compiler(const std::vector<Machine>& all, const Machine& machine) {
    for (const Machine& one : all)
        if (machine.times != nullptr && one.times != nullptr && one.times->device == machine.times->device &&
            one.times->compiler != machine.times->compiler)
            return &one;
    return nullptr;
}

const Timing* row_of(const Machine& machine, std::string_view kernel, uint32_t width, uint32_t tile) {
    if (machine.times == nullptr) return nullptr;
    return kernels::find_timing(*machine.times, kernel, width, width, width, tile_of(kernel, tile));
}

std::vector<std::string> timed_kernels(const Machine& machine) {
    std::vector<std::string> names;
    if (machine.times == nullptr) return {"untiled", "tiled"};
    const auto timed = [&](std::string_view kernel) {
        return std::any_of(machine.times->rows.begin(), machine.times->rows.end(),
                           [&](const Timing& row) { return row.kernel == kernel; });
    };
    for (const ElementType input : {ElementType::F32, ElementType::F16}) {
        for (const kernels::KernelInfo& kernel : kernels::catalogue())
            if (kernel.input == input && timed(kernel.name)) names.push_back(kernel.name);
        if (timed(kernels::library_of(input))) names.emplace_back(kernels::library_of(input));
    }
    return names;
}

std::vector<ElementType> timed_inputs(const Machine& machine) {
    std::vector<ElementType> all;
    for (const std::string& kernel : timed_kernels(machine))
        if (const ElementType input = kernels::input_of(kernel); std::ranges::find(all, input) == all.end())
            all.push_back(input);
    return all;
}

const char* words_of(ElementType input) { return input == ElementType::F16 ? "halves" : "fp32"; }

std::vector<uint32_t> timed_tiles(const Machine& machine) {
    if (machine.times != nullptr) return values_of(machine, [](const Timing& row) { return row.tile; });
    std::vector<uint32_t> tiles;
    for (const uint32_t tile : kernels::kTiles)
        if (tile * tile <= machine.threads_per_block) tiles.push_back(tile);
    return tiles;
}

std::string left_out_tiles(const Machine& machine) {
    for (const uint32_t tile : kernels::kTiles)
        if (tile * tile > machine.threads_per_block)
            return fmt::format("T = {} does not launch: {} × {} = {} threads, a block of {} has at most {}.",
                               tile, tile, tile, grouped(tile * tile),
                               machine.chip.empty() ? machine.name : machine.chip,
                               grouped(machine.threads_per_block));
    return "";
}

std::vector<uint32_t> timed_widths(const Machine& machine) {
    if (machine.times == nullptr) return {std::begin(kBoundWidths), std::end(kBoundWidths)};
    return values_of(machine, [](const Timing& row) { return row.n; });
}

TimeChart time_chart(const Machine& machine, const TimingChoice& chosen) {
    TimeChart chart;
    constexpr const char* kTitles[] = {"Time in ms by width", "GFLOP/s by width",
                                       "Times as fast as untiled, by width",
                                       "Times as fast as untiled swapped, by width"};
    chart.title = kTitles[static_cast<size_t>(chosen.plot)];
    if (kernels::input_of(chosen.kernel) == ElementType::F16) chart.title += ", products of halves";
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

std::string headline(const Machine& machine, const TimingChoice& chosen, uint32_t width) {
    const std::string shown = who(chosen.kernel, chosen.tile, width);
    if (machine.times == nullptr) {
        const uint32_t tile = is_tiled(chosen.kernel) ? chosen.tile : 1;
        const double gflops = bound_gflops(machine, analysis::tile_intensity(tile));
        if (gflops <= 0) return shown + ": no bound without a stated bandwidth";
        return fmt::format("{}: a bound of {} GFLOP/s, {}", shown, draw::figure(gflops),
                           machine.stated_gflops > 0
                               ? share_text(gflops / machine.stated_gflops) + " of the peak"
                               : std::string("whose share of the peak is not known"));
    }
    const Timing* row = row_of(machine, chosen.kernel, width, chosen.tile);
    if (row == nullptr) return shown + ": not measured";
    return fmt::format("{}: {}, {} GFLOP/s{}", shown, look::milliseconds(row->median_ms),
                       draw::figure(row->gflops), rivals_text(machine, *row, chosen.tile));
}

}  // namespace tilescope::timing
