#include "app/timing/latency.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

#include <fmt/format.h>

#include "app/draw/axes.h"
#include "app/look/time_words.h"
#include "core/base/words.h"
#include "core/limits/occupancy.h"
#include "kernels/textbook/catalogue.h"

namespace tilescope::timing {
namespace {

using analysis::Levels;

uint32_t threads_of(const BoundsOf& of) {  // of a block
    const kernels::KernelInfo* const info = kernels::find(of.kernel);
    return info == nullptr ? 0
                           : static_cast<uint32_t>(kernels::block_tile(*info, of.shape()).threads.count());
}

// What a warp waits for. Source: Nsight Compute documentation, Profiling Guide, "Warp Stall Reasons".
constexpr struct {
    const char *key, *name, *about;
} kStalls[] = {
    {"long_scoreboard", "long scoreboard", "waits for data of a load from global or local memory"},
    {"short_scoreboard", "short scoreboard", "waits for data from shared memory"},
    {"lg_throttle", "LG throttle", "the queue of loads and stores to global and local memory is full"},
    {"mio_throttle", "MIO throttle", "the queue of shared memory and other slow instructions is full"},
    {"barrier", "barrier", "waits for the other warps of its block"},
    {"not_selected", "not selected", "could issue, but another warp was taken"},
    {"wait", "wait", "waits the fixed clocks of the instruction before"},
    {"math_pipe_throttle", "math pipe throttle", "the unit for its arithmetic is busy"},
    {"dispatch_stall", "dispatch stall", "the dispatcher holds it back"},
    {"no_instruction", "no instruction", "its next instruction is not in the cache"},
    {"imc_miss", "IMC miss", "waits for the cache of constants"},
    {"drain", "drain", "has ended and waits for its stores"},
};
constexpr size_t kMostStalls = 4;

void add_stalls(LatencyChart& chart, const kernels::LevelCounterRow& row, std::string_view device) {
    double all = 0;
    for (const auto& [state, warps] : row.stalls) all += warps;
    if (all <= 0) return;
    for (const auto& stall : kStalls)
        for (const auto& [state, warps] : row.stalls)
            if (state == stall.key)
                chart.stalls.push_back(
                    {stall.name, warps / all, fmt::format("{:.0f} %", 100 * warps / all), true, false,
                     fmt::format("{}: a warp {}. Measured by Nsight Compute on {}: {} of {} warps of a "
                                 "scheduler, each time that it issues.",
                                 stall.name, stall.about, device, draw::figure(warps), draw::figure(all))});
    std::ranges::stable_sort(chart.stalls, std::greater{}, &BoundBar::value);
    if (chart.stalls.size() > kMostStalls) chart.stalls.resize(kMostStalls);
    chart.stalls_title = "Why warps wait, measured";
}

void add_flights(LatencyChart& chart, const LoadFlow& flow, const analysis::LevelDevice& on,
                 const std::string& held) {
    const auto bar = [&](std::string name, double value, bool marked, std::string rests_on) {
        chart.flights.push_back(
            {std::move(name), value, draw::figure(std::round(value)), false, marked, std::move(rests_on)});
    };
    bar("in flight", flow.in_flight(), true, held);
    const std::string roof = fmt::format(" clocks × {:.3g} loads a clock, modelled.", flow.a_clock);
    bar("needed", flow.needed(flow.wait), false, fmt::format("Needed in flight: {:.0f}{}", flow.wait, roof));
    for (const auto& [name, cycles] : {std::pair{"L1", &analysis::LevelSpec::l1_cycles},
                                       {"L2", &analysis::LevelSpec::l2_cycles},
                                       {"DRAM", &analysis::LevelSpec::dram_cycles}}) {
        const analysis::LevelFigure& figure = on.levels.*cycles;
        bar(fmt::format("if from {}", name), flow.needed(figure.value), false,
            fmt::format("In flight, were all data from {}: {}{} {}.", name, draw::figure(figure.value), roof,
                        figure_words("Clocks:", figure)));
    }
}

// "1.91 times as long".
std::string against(double own, double other) {
    return own >= other ? fmt::format("{} times as long as", ratio_text(own / other))
                        : fmt::format("{} times as fast as", ratio_text(other / own));
}

std::string shown_compiler(std::string_view compiler) {
    return compiler == "nvrtc" ? "NVRTC" : std::string(compiler);
}

// What one compiler makes better: unrolling lets loads of several trips be in flight and spares instructions
// of the loop, and loads of neighbouring words that are joined spare passes.
constexpr double kAlike = 1.05;  // times that differ less are about the same
void add_compilers(LatencyChart& chart, const BoundsOf& of, const Levels& levels,
                   const analysis::LevelDevice& on, const BoundsBeside& beside, const ByCompiler& other) {
    if (beside.measured == nullptr || other.measured == nullptr || other.levels == nullptr) return;
    const LoadFlow own_flow = flow_of(of, levels, on), other_flow = flow_of(other.of, *other.levels, on);
    const auto row = [&](const BoundsOf& by, const Levels& l, const LoadFlow& flow, double ms) {
        chart.compilers.push_back({shown_compiler(by.compiler), draw::figure(flow.loads),
                                   ratio_text(each_multiply_add(by, l.asked.all.instructions)), bound_name(l),
                                   look::milliseconds(ms)});
    };
    const double own_ms = beside.measured->median_ms, other_ms = other.measured->median_ms;
    row(of, levels, own_flow, own_ms);
    row(other.of, *other.levels, other_flow, other_ms);
    const bool own_slow = own_ms >= other_ms;
    const CompilerRow &a = chart.compilers[0], &b = chart.compilers[1];
    const CompilerRow &slow = own_slow ? a : b, &fast = own_slow ? b : a;
    if (std::max(own_ms, other_ms) < kAlike * std::min(own_ms, other_ms)) {
        chart.difference = "The PTX of both compilers takes about as long.";
        return;
    }
    chart.difference =
        fmt::format("{} PTX takes {} {}", a.compiler + "'s", against(own_ms, other_ms), b.compiler + "'s");
    // What the slower one is bound by, the faster one needs less of.
    const Levels &of_slow = own_slow ? levels : *other.levels, &of_fast = own_slow ? *other.levels : levels;
    const LoadFlow &slow_flow = own_slow ? own_flow : other_flow,
                   &fast_flow = own_slow ? other_flow : own_flow;
    const std::string_view by = of_slow.bounds.longest().resource;
    const auto passes = [&](const Levels& l) {
        return ratio_text(each_multiply_add(of, static_cast<uint64_t>(l.passes()) + l.asked.all.wavefronts));
    };
    if (by == "latency" && fast_flow.loads > slow_flow.loads)
        chart.difference +=
            fmt::format(": {} unrolls the loop, so that a warp has {} loads in flight and not {}",
                        fast.compiler, fast.loads, slow.loads);
    else if (by == "data_pipe" && passes(of_fast) != passes(of_slow))
        chart.difference +=
            fmt::format(": {} needs {} passes of the data pipe for each multiply-add of a warp and not {}",
                        fast.compiler, passes(of_fast), passes(of_slow));
    else if (by == "issue")
        chart.difference +=
            fmt::format(": {} needs {} instructions for each multiply-add of a warp and not {}",
                        fast.compiler, fast.instructions, slow.instructions);
    chart.difference += ".";
}

}  // namespace

LoadFlow flow_of(const BoundsOf& of, const Levels& levels, const analysis::LevelDevice& on) {
    LoadFlow flow;
    const double sms = on.device.sms, blocks = static_cast<double>(levels.launch.blocks);
    const double warps = std::ceil(static_cast<double>(threads_of(of)) / kWarpSize);  // of a block
    const auto loads = static_cast<double>(levels.asked.all.loads),
               ahead = static_cast<double>(levels.asked.all.loads_ahead);
    const auto units = static_cast<double>(levels.asked.all.load_turns);
    flow.warps = std::min<double>(levels.launch.resident, blocks / sms) * warps;
    flow.loads = units > 0 ? ahead / (units * warps) : 0;
    // What is asked for ahead waits as long, but for units later.
    flow.wait = units > 0 && loads > 0 ? levels.model.misses.latency_cycles / units * ahead / loads : 0;
    // At its full rate: a roof of what SMs do themselves without what their blocks wait.
    double ms = 0;
    for (size_t i = 0; i < levels.bounds.all.size(); ++i) {
        const std::string_view resource = levels.bounds.all[i].resource;
        if (resource == "latency") continue;
        const bool shared = resource == "dram" || resource == "l2";
        const double busy =
            levels.bounds.all[i].ms - levels.bounds.launch_ms - (shared ? 0 : levels.bounds.idle_ms);
        if (busy > ms) ms = busy, flow.roof = i;
    }
    if (ms > 0) flow.a_clock = loads / (sms * ms * on.levels.clock_mhz.value * 1e3);
    return flow;
}

LatencyChart latency_chart(const BoundsOf& of, const Levels& levels, const analysis::LevelDevice& on,
                           const BoundsBeside& beside, const ByCompiler* other) {
    LatencyChart chart;
    const LoadFlow flow = flow_of(of, levels, on);
    const double needed = flow.needed(flow.wait);
    const std::string warps = draw::figure(flow.warps), loads = draw::figure(flow.loads);
    chart.sentence = fmt::format("An SM holds {} warps, each with {} loads in flight: {:.0f}. ", warps, loads,
                                 flow.in_flight());
    const std::string roof(said_of(levels.bounds.all[flow.roof].resource));
    if (flow.in_flight() > 0)
        chart.sentence += fmt::format(
            "A warp loads again after {} clocks at least, and {} take{} {:.3g} loads a clock: {:.0f} {}.",
            draw::figure(std::round(flow.wait)), roof, roof.ends_with('s') ? "" : "s", flow.a_clock, needed,
            flow.in_flight() < needed ? "would be needed" : "are enough");
    std::string held =
        fmt::format("In flight: {} of {} threads an SM, {} registers a thread",
                    counted(levels.launch.resident, "block"), grouped(threads_of(of)), of.registers);
    if (beside.measured != nullptr)
        held +=
            ", " + analysis::limits_in_words(analysis::occupancy(
                       on.device.sm,
                       {threads_of(of), of.registers, static_cast<uint32_t>(beside.measured->shared_bytes)},
                       analysis::Sum::Hardware));
    held += fmt::format(
        "; {} loads of a warp before it comes to the same load again, counted from recorded "
        "blocks.",
        loads);
    chart.rests_on = held + fmt::format(
                                " Clocks: modelled, the mean of how long warps wait for their data and work "
                                "on them, by {}.",
                                blocks_simulated(levels));
    add_flights(chart, flow, on, held);
    if (beside.counted != nullptr) add_stalls(chart, *beside.counted, on.device.name);
    if (other != nullptr) add_compilers(chart, of, levels, on, beside, *other);
    return chart;
}

}  // namespace tilescope::timing
