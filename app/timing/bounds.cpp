#include "app/timing/bounds.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string_view>

#include <fmt/format.h>

#include "app/draw/axes.h"
#include "app/look/time_words.h"
#include "core/analysis/coalescing.h"
#include "core/base/words.h"
#include "kernels/textbook/catalogue.h"
#include "kernels/textbook/devices.h"

namespace tilescope::timing {
namespace {

using analysis::LevelBound, analysis::Levels;
using analysis::LevelFigure, analysis::LevelSpec;

// Lines that the replay asks L1 for. It takes seconds; `tilescope levels` replays ten times as many.
constexpr uint64_t kMostLines = 10'000'000;

// A resource, as people call it.
struct Resource {
    const char *key, *name, *bound_by;  // "issue", "issue slots", "issue slots"
    // What of it is modelled, and not counted from recorded blocks.
    const char* known;
    bool counted;                  // nothing of it is modelled: what SMs do themselves
    LevelFigure LevelSpec::*rate;  // what it does a clock; null where that is no figure of the levels
    double kernels::LevelCounterRow::*machine = nullptr;  // the same, counted of the machine code
};
constexpr Resource kResources[] = {
    {"dram", "DRAM", "DRAM", "bytes stored are counted, bytes read modelled", false, nullptr},
    {"l2", "L2", "L2", "bytes stored are counted, bytes read modelled", false, &LevelSpec::l2_per_clock},
    {"data_pipe", "L1 data pipe", "the L1 data pipe", "counted from recorded blocks", true,
     &LevelSpec::pipe_per_clock, &kernels::LevelCounterRow::pipe_wavefronts},
    {"lsu", "load/store units", "the load/store units",
     "counted from recorded blocks, and lookups of tags again of what was modelled to miss", true,
     &LevelSpec::lsu_per_clock},
    {"issue", "issue slots", "issue slots", "counted from recorded blocks and their PTX", true,
     &LevelSpec::issue_per_clock, &kernels::LevelCounterRow::instructions},
    {"fp32", "fp32 units", "the fp32 units", "counted from recorded blocks and their PTX", true,
     &LevelSpec::fp32_per_clock},
    {"tensor", "tensor cores", "the tensor cores", "counted from recorded blocks and their PTX", true,
     &LevelSpec::half_per_clock},
    {"latency", "latency", "latency", "modelled", false, nullptr},
};
const Resource& resource_of(std::string_view key) {
    for (const Resource& one : kResources)
        if (one.key == key) return one;
    return kResources[0];
}

// "one", "4", "5,120".
std::string many(double value) { return value == 1 ? "one" : draw::figure(value); }

// What the longest bound consists of; for a multiply-add of a warp, where that says more than the sum.
std::string says_alone(const BoundsOf& of, const Levels& l, const analysis::LevelDevice& on) {
    const analysis::LevelSums& s = l.asked.all;
    const std::string_view by = l.bounds.longest().resource;
    const auto each = [&](uint64_t amount) { return ratio_text(each_multiply_add(of, amount)); };
    const std::string stored = bytes_text(static_cast<double>(s.stored_sectors) * analysis::kSectorBytes);
    if (by == "dram")
        return fmt::format("{} read and {} stored, at {} GB/s", bytes_text(l.model.misses.dram_read_bytes),
                           stored, draw::figure(on.device.memory_gbs));
    if (by == "l2" && l.bounds.by_sending) return l.bounds.longest().of;
    if (by == "l2")
        return fmt::format("{} read and {} stored, at {} bytes a clock",
                           bytes_text(l.model.misses.l2_read_sectors * analysis::kSectorBytes), stored,
                           draw::figure(on.levels.l2_per_clock.value));
    if (by == "data_pipe")
        return fmt::format("{} passes for each multiply-add of a warp, {} a clock",
                           each(static_cast<uint64_t>(l.passes()) + s.wavefronts),
                           many(on.levels.pipe_per_clock.value));
    if (by == "lsu") {
        const auto lookups = static_cast<uint64_t>(l.lookups());
        return fmt::format("{} {} for each multiply-add of a warp, {} a clock",
                           each(std::max(s.accesses, lookups)),
                           lookups > s.accesses ? "lookups of tags" : "loads and stores",
                           many(on.levels.lsu_per_clock.value));
    }
    if (by == "issue")
        return fmt::format("{} instructions for each multiply-add of a warp, {} a clock",
                           each(s.instructions), many(on.levels.issue_per_clock.value));
    if (by == "fp32")
        return fmt::format("{} fp32 instructions for each multiply-add of a warp, {} a clock", each(s.fp32),
                           many(on.levels.fp32_per_clock.value / kWarpSize));
    if (by == "tensor")
        return fmt::format("{} multiply-adds for each of the product's, {} a clock",
                           ratio_text(each_multiply_add(of, s.tensor) / kWarpSize),
                           many(on.levels.half_per_clock.value));
    return fmt::format("a block waits {} cycles for its data, and an SM holds {}",
                       draw::figure(l.model.misses.latency_cycles / static_cast<double>(l.launch.blocks)),
                       counted(l.launch.resident, "block"));
}

// With the blocks of the busiest SM, where those are clearly more than its share, and with the time in which
// an SM's blocks all wait, where that is clearly a part of the bound.
std::string says(const BoundsOf& of, const Levels& l, const analysis::LevelDevice& on) {
    std::string text = says_alone(of, l, on);
    constexpr double kClearly = 1.05;
    const uint64_t most = l.launch.of_busiest(on.device.sms);
    const bool of_sms = resource_of(l.bounds.longest().resource).counted;
    if (of_sms && static_cast<double>(most * on.device.sms) > kClearly * static_cast<double>(l.launch.blocks))
        text += fmt::format("; {} on {} SMs, so that one runs {}", counted(l.launch.blocks, "block"),
                            on.device.sms, grouped(most));
    if (const double bound = l.bounds.longest().ms, clear = (1 - 1 / kClearly) * bound;
        of_sms && l.bounds.idle_ms > clear)
        text += fmt::format(
            "; for {} {}{}", in_ms(l.bounds.idle_ms, bound),
            l.launch.resident == 1
                ? "an SM's block waits for data"
                : fmt::format("the {} blocks of an SM wait for data at once", grouped(l.launch.resident)),
            l.bounds.sending_ms > clear ? ", or send what they store" : "");
    return text;
}

// counted: what counters said of the launch; null where they were not read.
std::string rests_on(const LevelBound& bound, const Levels& levels, const analysis::LevelDevice& on,
                     const kernels::LevelCounterRow* counted) {
    Resource resource = resource_of(bound.resource);
    const bool by_sending = levels.bounds.by_sending && resource.key == std::string_view("l2");
    if (by_sending)
        resource.known = "counted from recorded blocks", resource.rate = &LevelSpec::sent_per_clock;
    const bool part = !resource.counted && !by_sending &&
                      (levels.model.simulated < levels.launch.blocks || levels.model.part < 1);
    std::string words = fmt::format("{}: {}; {}{}. ", resource.name, bound.of, resource.known,
                                    part ? " by the first " + blocks_simulated(levels) : "");
    if (resource.key == std::string_view("dram"))
        return words + fmt::format("GB/s: documented, {}.", on.device.source);
    if (counted != nullptr && resource.machine != nullptr && counted->*resource.machine > 0)
        words += fmt::format("By the machine code, as Nsight Compute counted it: {}. ",
                             short_count(static_cast<uint64_t>(counted->*resource.machine)));
    if (resource.counted && levels.bounds.idle_ms > 0)
        words += fmt::format("For {} of {} all blocks of an SM wait for data{}, modelled{}. ",
                             in_ms(levels.bounds.idle_ms, bound.ms), in_ms(bound.ms, bound.ms),
                             levels.bounds.sending_ms > 0 ? ", or send what they store" : "",
                             levels.launch.in_step ? ": few warps, which stay in step" : "");
    if (resource.rate != nullptr) words += figure_words("A clock:", on.levels.*resource.rate) + ". ";
    if (resource.key == std::string_view("latency")) {
        const analysis::LevelFigure& l2 = levels.launch.in_step ? on.levels.l2_latency : on.levels.l2_cycles;
        const analysis::LevelFigure& dram =
            levels.launch.in_step ? on.levels.dram_latency : on.levels.dram_cycles;
        words += figure_words("Cycles until data are here, from L1:", on.levels.l1_cycles) + ", from L2 " +
                 draw::figure(l2.value) + ", from DRAM " + draw::figure(dram.value) + ". ";
    }
    return words + figure_words("MHz:", on.levels.clock_mhz) + ". " +
           figure_words("Nanoseconds of each launch:", on.levels.launch_ns) + ".";
}

}  // namespace

std::string_view said_of(std::string_view resource) { return resource_of(resource).bound_by; }

std::string blocks_simulated(const Levels& levels) {
    return fmt::format(
        "{} of {} blocks{}", grouped(levels.model.simulated), grouped(levels.launch.blocks),
        levels.model.part < 1 ? fmt::format(", {} of each", share_text(levels.model.part)) : "");
}

std::string bound_name(const Levels& levels) {
    std::string_view name = said_of(levels.bounds.longest().resource);
    if (constexpr std::string_view kArticle = "the "; name.starts_with(kArticle))
        name.remove_prefix(kArticle.size());
    return std::string(name);
}

std::string median_words(const kernels::Timing& row, std::string_view of, std::string_view device) {
    return fmt::format("Measured: the median of {}, {} to {}, of {}, on {}.", counted(row.runs, "run"),
                       look::milliseconds(row.low_ms), look::milliseconds(row.high_ms), of, device);
}

double each_multiply_add(const BoundsOf& of, uint64_t amount) {
    return static_cast<double>(amount) * kWarpSize / (static_cast<double>(of.width) * of.width * of.width);
}

std::string figure_words(std::string_view name, const LevelFigure& figure) {
    return fmt::format("{} {} ({}: {})", name, draw::figure(figure.value), name_of(figure.known),
                       figure.source);
}

Result<analysis::Levels> work_out_bounds(const BoundsOf& of, session::Control& control) {
    auto plan = kernels::plan(of.kernel, of.shape());
    if (!plan) return plan.error();
    if (of.compiler != "clang") plan->ptx = kernels::shipped_nvrtc_ptx(of.kernel, of.tile);
    if (plan->ptx.empty())
        return Error{
            fmt::format("no PTX of {} by {} ships, from which its instructions could be counted; "
                        "choose the times of clang's PTX",
                        of.kernel, of.compiler)};
    // Which elements a product touches does not depend on their values.
    for (Array& array : plan->launch.arrays) array.contents = {};
    plan->check = {};
    const auto device = kernels::device_named(of.device);
    if (!device) return device.error();
    const LevelSpec* const levels = kernels::find_levels(of.device);
    if (levels == nullptr)
        return Error{fmt::format("nothing is known of the caches of {}; choose another device", of.device)};
    analysis::LevelOptions how;
    how.registers = of.registers;
    how.most_lines = kMostLines;
    how.stop = &control.stop;
    how.begun = &control.done;
    return kernels::levels_of(static_cast<const kernels::Plan&>(*plan), {*device, *levels}, how);
}

const Result<analysis::Levels>* Bounds::find(const BoundsOf& of) const {
    const auto found = known.find(of);
    return found == known.end() ? nullptr : found->second.get();
}

bool Bounds::ask(const BoundsOf& of, session::Jobs& jobs, bool wait) {
    if (find(of) != nullptr) return false;
    if (!working.begun() || working_on != of) {
        working.stop();
        working_on = of;
        working = jobs.start([of](session::Control& control) { return work_out_bounds(of, control); });
    }
    if (auto made = working.take(wait))
        known.emplace(of, std::make_shared<const Result<analysis::Levels>>(std::move(*made)));
    return working.begun();
}

std::optional<double> caught_of_saved(const kernels::LevelCounterRow& untiled,
                                      const kernels::LevelCounterRow& tiled) {
    const double at_l1 = untiled.l1_sectors - tiled.l1_sectors;
    if (at_l1 <= 0) return std::nullopt;
    return 1 - (untiled.l2_read_sectors - tiled.l2_read_sectors) / at_l1;
}

namespace {

// What L1 makes of the loads: compared with the untiled kernel where both were counted, else modelled.
void say_l1(BoundChart& chart, const Levels& levels, const BoundsBeside& beside) {
    const auto saved =
        beside.counted && beside.untiled ? caught_of_saved(*beside.untiled, *beside.counted) : std::nullopt;
    if (saved) {
        chart.sentence += *saved < 0.9995
                              ? fmt::format(" L1 caught {} of what tiles were to save.", share_text(*saved))
                              : std::string(" L1 caught all that tiles were to save.");
        const auto sectors = [](double amount) { return short_count(static_cast<uint64_t>(amount)); };
        chart.rests_on += fmt::format(
            " Caught: measured by Nsight Compute. With tiles L1 was asked for {} sectors and not for {}, and "
            "L2 "
            "for {} and not for {}.",
            sectors(beside.counted->l1_sectors), sectors(beside.untiled->l1_sectors),
            sectors(beside.counted->l2_read_sectors), sectors(beside.untiled->l2_read_sectors));
    } else if (levels.asked.all.l1_sectors > 0) {
        chart.sentence += fmt::format(" L1 finds {} of the sectors that it is asked for.",
                                      share_text(levels.model.l1_hit_rate));
        chart.rests_on += fmt::format(" Found by L1: modelled, of {} sectors, by {}.",
                                      short_count(levels.asked.all.l1_sectors), blocks_simulated(levels));
    }
}

}  // namespace

BoundChart bound_chart(const BoundsOf& of, const Levels& levels, const analysis::LevelDevice& on,
                       const BoundsBeside& beside) {
    BoundChart chart;
    const LevelBound& longest = levels.bounds.longest();
    chart.sentence =
        fmt::format("Bound by {}: {}.", resource_of(longest.resource).bound_by, says(of, levels, on));
    chart.rests_on = rests_on(longest, levels, on, beside.counted);
    say_l1(chart, levels, beside);

    const kernels::Timing* const row = beside.measured;
    const double most = row == nullptr ? longest.ms : std::max(longest.ms, row->median_ms);
    for (size_t i = 0; i < levels.bounds.all.size(); ++i) {
        const LevelBound& bound = levels.bounds.all[i];
        chart.bars.push_back({resource_of(bound.resource).name, bound.ms, in_ms(bound.ms, most), false,
                              i == levels.bounds.bound_by, rests_on(bound, levels, on, beside.counted)});
    }
    std::ranges::stable_sort(chart.bars, std::greater{}, &BoundBar::value);
    chart.note = fmt::format("Modelled: the least that each needs, at {} MHz.",
                             grouped(static_cast<uint64_t>(on.levels.clock_mhz.value)));
    if (row == nullptr) return chart;
    chart.bars.insert(chart.bars.begin(),
                      {"measured", row->median_ms, in_ms(row->median_ms, most), true, false,
                       median_words(*row, "the PTX by " + of.compiler,
                                    beside.timings != nullptr ? beside.timings->device : of.device)});
    const double times = row->median_ms / longest.ms;
    chart.note +=
        times >= 1 ? fmt::format(" Measured: {} times the longest.", ratio_text(times))
                   : fmt::format(" Measured: {:.2f} times the longest, which is modelled as more than it is.",
                                 times);
    return chart;
}

std::string in_ms(double ms, double longest) {
    const int digits = longest >= 99.95 ? 1 : longest >= 9.995 ? 2 : longest >= 0.0995 ? 3 : 4;
    const double least = std::pow(10., -digits);
    if (ms > 0 && ms < least / 2) return fmt::format("<{:.{}f} ms", least, digits);
    return fmt::format("{:.{}f} ms", ms, digits);
}

}  // namespace tilescope::timing
