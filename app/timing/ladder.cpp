#include "app/timing/ladder.h"

#include <algorithm>
#include <ranges>

#include <fmt/format.h>

#include "app/draw/axes.h"
#include "core/base/words.h"
#include "kernels/textbook/devices.h"

namespace tilescope::timing {
namespace {

using analysis::Levels, kernels::Timing;

struct MeasuredRung {
    std::string name;
    const Timing* row = nullptr;
    const Levels* levels = nullptr;  // null while they are not known
};

// Whose ladder it is.
struct LadderOf {
    const Machine& machine;
    const Bounds& bounds;
    ElementType input = ElementType::F32;
    uint32_t tile = 0, width = 0;

    const Timing* timed(std::string_view kernel) const { return row_of(machine, kernel, width, tile); }
    std::optional<BoundsOf> launch(std::string_view kernel) const {
        return bounds_of(machine, kernel, tile, width);
    }
};

const Levels* levels_of(const LadderOf& ladder, std::string_view kernel) {
    const auto of = ladder.launch(kernel);
    const Result<Levels>* const made = of ? ladder.bounds.find(*of) : nullptr;
    return made != nullptr && *made ? &**made : nullptr;
}

// The rungs that were measured, from the lowest up.
std::vector<MeasuredRung> measured_rungs(const LadderOf& ladder) {
    std::vector<MeasuredRung> all;
    for (const Rung& rung : rungs(ladder.input))
        if (const Timing* const row = ladder.timed(rung.kernel))
            all.push_back({shown_name(rung.kernel), row, levels_of(ladder, rung.kernel)});
    return all;
}

std::string share_of(const Timing& row, const Timing& library) {
    return fmt::format("{:.0f} %", 100 * row.gflops / library.gflops);
}
// How many times as fast a is.
std::string times(const Timing& a, const Timing& b) { return ratio_text(b.median_ms / a.median_ms); }

// Which rungs gain on the one below them, and which does most.
std::string steps_words(const std::vector<MeasuredRung>& rungs) {
    if (rungs.size() < 3) return "";
    std::vector<std::string> idle;
    size_t best = 1;
    const auto gain = [&](size_t at) { return rungs[at - 1].row->median_ms / rungs[at].row->median_ms; };
    for (size_t at = 1; at < rungs.size(); ++at) {
        if (gain(at) > gain(best)) best = at;
        if (gain(at) <= 1 || kernels::spreads_overlap(*rungs[at].row, *rungs[at - 1].row))
            idle.push_back(rungs[at].name);
    }
    const std::string most = times(*rungs[best].row, *rungs[best - 1].row);
    if (idle.empty())
        return fmt::format(" Each rung is faster than the one below it, {} by most: {} times.",
                           rungs[best].name, most);
    const std::string slow =
        fmt::format(" {} {} no faster than the rung below", listed(idle), idle.size() == 1 ? "is" : "are");
    if (idle.size() + 1 == rungs.size()) return slow + ".";
    return fmt::format("{}; {} gains most: {} times.", slow, rungs[best].name, most);
}

std::string sentence(const std::vector<MeasuredRung>& rungs, const Timing* library, const LadderOf& ladder) {
    const uint32_t width = ladder.width;
    if (rungs.empty())
        return fmt::format("None of these kernels was timed at width {} on {}; choose another width or T.",
                           grouped(width), ladder.machine.name);
    const MeasuredRung& first = rungs.front();
    const MeasuredRung& best =
        *std::ranges::min_element(rungs, {}, [](const MeasuredRung& one) { return one.row->median_ms; });
    std::string words = library != nullptr ? fmt::format("{} reaches {} of cuBLAS at width {}", best.name,
                                                         share_of(*best.row, *library), grouped(width))
                                           : fmt::format("{} reaches {} GFLOP/s at width {}", best.name,
                                                         draw::figure(best.row->gflops), grouped(width));
    if (&best != &first) words += fmt::format(", {} times {}", times(*best.row, *first.row), first.name);
    words += "." + steps_words(rungs);
    if (&best == &first || first.levels == nullptr || best.levels == nullptr) return words;
    const std::string below(said_of(first.levels->bounds.longest().resource)),
        above(said_of(best.levels->bounds.longest().resource));
    return words + (below == above
                        ? fmt::format(" {} and {} are both bound by {}.", first.name, best.name, above)
                        : fmt::format(" {} is bound by {}, {} by {}.", first.name, below, best.name, above));
}

void add_bound(LadderRow& row, const LadderOf& ladder) {
    const auto of = ladder.launch(row.kernel);
    if (!of) return;
    const Result<Levels>* const made = ladder.bounds.find(*of);
    if (made == nullptr) {
        const bool now = ladder.bounds.working.begun() && ladder.bounds.working_on == *of;
        row.bound = now ? "being worked out" : kToBeKnown;
        row.bound_rests_on = "Its blocks are replayed through L1, L2 and DRAM, one kernel after the other.";
        return;
    }
    if (!*made) {
        row.bound = "not known";
        row.bound_rests_on = made->error().message + ".";
        return;
    }
    const analysis::LevelDevice on{*leveled_device(ladder.machine), *kernels::find_levels(of->device)};
    const BoundChart chart = bound_chart(*of, **made, on, {});
    row.known = true;
    row.bound = bound_name(**made);
    row.bound_rests_on = "Modelled. " + chart.sentence + " " + chart.rests_on;
}

LadderRow row_of_rung(const LadderOf& ladder, std::string_view kernel, const Timing* library) {
    LadderRow row;
    row.kernel = kernel;
    row.name = name_with_tile(kernel, ladder.tile);
    const Timing* const timed = ladder.timed(kernel);
    if (timed == nullptr) return row;
    row.gflops = timed->gflops;
    row.rate = draw::figure(timed->gflops);
    const bool is_library = kernels::is_library(kernel);
    row.measured =
        median_words(*timed, is_library ? row.name : "the PTX by " + ladder.machine.times->compiler,
                     ladder.machine.times->device);
    row.measured +=
        fmt::format(" GFLOP/s: 2 × {0} × {0} × {0} operations in that time.", grouped(ladder.width));
    if (library != nullptr) {
        row.share = share_of(*timed, *library);
        if (!is_library)
            row.measured +=
                fmt::format(" {}: of {} GFLOP/s, cuBLAS.", row.share, draw::figure(library->gflops));
    }
    if (is_library)
        row.bound_rests_on = "What cuBLAS runs is not known here, and so neither is what bounds it.";
    else
        add_bound(row, ladder);
    return row;
}

}  // namespace

std::span<const Rung> rungs(ElementType input) {
    const auto made_of = [](ElementType type) {
        std::vector<Rung> made;
        for (const kernels::KernelInfo& info : kernels::catalogue())
            if (info.rung && info.input == type) made.push_back({info.name, *info.rung});
        return made;
    };
    static const std::vector<Rung> floats = made_of(ElementType::F32), halves = made_of(ElementType::F16);
    return input == ElementType::F16 ? halves : floats;
}

LadderChart ladder_chart(const Machine& machine, ElementType input, uint32_t tile, uint32_t width,
                         const Bounds& bounds) {
    const LadderOf ladder{machine, bounds, input, tile, width};
    LadderChart chart;
    const std::string_view name_of_library = kernels::library_of(input);
    const Timing* const library = row_of(machine, name_of_library, width, 0);
    const std::vector<MeasuredRung> measured = measured_rungs(ladder);
    chart.sentence = sentence(measured, library, ladder);
    chart.rests_on = fmt::format(
        "Ratios of measured times, medians of runs on {}. No faster: a longer time, or one that its runs do "
        "not "
        "tell apart.",
        machine.times->device);
    if (library != nullptr) chart.rows.push_back(row_of_rung(ladder, name_of_library, library));
    std::vector<std::string> missing;
    for (const Rung& rung : std::views::reverse(rungs(input))) {
        chart.rows.push_back(row_of_rung(ladder, rung.kernel, library));
        chart.rows.back().step = rung.removes;
        if (chart.rows.back().gflops == 0) missing.push_back(shown_name(rung.kernel));
    }
    std::ranges::reverse(missing);
    if (library == nullptr) missing.push_back(shown_name(name_of_library));
    if (!missing.empty() && !measured.empty())
        chart.note = fmt::format("Not timed at this width: {}. ", listed(missing));
    chart.note += "GFLOP/s are measured, bounds modelled. Point at a figure for its source.";
    return chart;
}

std::vector<BoundsOf> bounds_of_ladder(const Machine& machine, const TimingChoice& chosen, uint32_t width) {
    std::vector<BoundsOf> all;
    for (const Rung& rung : rungs(kernels::input_of(chosen.kernel)))
        if (auto of = bounds_of(machine, rung.kernel, chosen.tile, width)) all.push_back(std::move(*of));
    std::ranges::stable_partition(all, [&](const BoundsOf& of) { return of.kernel == chosen.kernel; });
    return all;
}

}  // namespace tilescope::timing
