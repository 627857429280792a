#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "app/look/request.h"

namespace tilescope::look {
namespace {

// The different elements that a request touches, and how they lie.
struct Pattern {
    uint32_t lanes = 0;
    std::vector<uint64_t> elements;  // ascending, distinct
    uint32_t repeats = 0;            // lanes per element where all have as many, else 0
    uint32_t runs = 0;               // stretches of neighbours
    uint32_t run_length = 0;         // where all are as long, else 0
    uint64_t run_sectors = 0;        // that the stretches would need if each began at a sector's edge
    bool one_column = false;         // elements of one column, at least two
    bool even_rows = false;          // ... in rows one apart
};

Pattern pattern_of(const RequestView& view, uint32_t cols) {
    Pattern pattern;
    std::vector<uint64_t> all;
    for (const LaneView& lane : view.lanes)
        if (lane.active) all.push_back(lane.index);
    std::sort(all.begin(), all.end());
    pattern.lanes = static_cast<uint32_t>(all.size());
    pattern.elements = all;
    pattern.elements.erase(std::unique(pattern.elements.begin(), pattern.elements.end()),
                           pattern.elements.end());
    const auto& elements = pattern.elements;
    pattern.repeats = pattern.lanes / static_cast<uint32_t>(std::max<size_t>(elements.size(), 1));
    for (const uint64_t element : elements) {
        const auto [first, last] = std::equal_range(all.begin(), all.end(), element);
        if (static_cast<uint32_t>(last - first) != pattern.repeats) pattern.repeats = 0;
        if (pattern.repeats == 0) break;
    }
    size_t begin = 0;
    for (size_t at = 1; at <= elements.size(); ++at) {
        // Neighbours in memory; the end of one row and the start of the next are neighbours too.
        if (at < elements.size() && elements[at] == elements[at - 1] + 1) continue;
        const auto length = static_cast<uint32_t>(at - begin);
        pattern.run_length = pattern.runs == 0 || pattern.run_length == length ? length : 0;
        ++pattern.runs;
        pattern.run_sectors += (uint64_t{length} * view.bytes + 31) / 32;
        begin = at;
    }
    pattern.one_column = elements.size() > 1 && cols > 1;
    pattern.even_rows = true;
    for (size_t at = 1; at < elements.size(); ++at) {
        if (elements[at] % cols != elements[0] % cols) pattern.one_column = false;
        if (elements[at] - elements[at - 1] != cols) pattern.even_rows = false;
    }
    return pattern;
}

std::string each_times(const Pattern& pattern) {
    if (pattern.repeats == 1) return "";
    if (pattern.repeats == 2) return ", each twice";
    if (pattern.repeats > 2) return fmt::format(", each {} times", pattern.repeats);
    return ", some more than once";
}

std::string who(const RequestView& view, uint32_t lanes) {
    const bool load = view.kind == StepKind::GlobalLoad || view.kind == StepKind::SharedLoad;
    const char* verb = load ? (lanes == 1 ? "reads" : "read") : (lanes == 1 ? "writes" : "write");
    return fmt::format("{} {}", counted(lanes, "lane"), verb);
}

// What is touched in global memory, without its cost.
std::string global_places(const trace::Trace& trace, const RequestView& view, const Pattern& pattern) {
    const size_t count = pattern.elements.size();
    const bool known = view.array != trace::kNoArray;
    const std::string of = known ? " of " + view.array_name : "";
    if (count == 1) return pattern.lanes == 1 ? "one element" + of : "one and the same element" + of;
    if (pattern.one_column && known) {
        const Array& array = trace.launch.arrays[view.array];
        const std::string apart =
            fmt::format("a row ({}) apart", bytes_text(uint64_t{array.cols} * array.element_bytes()));
        const std::string what = pattern.even_rows && count == pattern.lanes
                                     ? fmt::format("one column{}", of)
                                     : fmt::format("{} elements of one column{}", count, of);
        return fmt::format("{}, {}{}", what, apart, each_times(pattern));
    }
    if (pattern.runs == 1) {
        const bool off_edge = !view.good;
        return fmt::format("{} neighbours{}{}", count, each_times(pattern),
                           off_edge ? ", not starting at a sector's edge" : "");
    }
    if (pattern.run_length > 1) {
        const analysis::SectorCost& cost = view.cost.global;
        const char* why = "";
        if (cost.sectors > pattern.run_sectors)
            why = ", not starting at a sector's edge";
        else if (cost.sectors > cost.ideal_sectors)
            why = pattern.run_length * view.bytes < 32 ? ", each shorter than a sector"
                                                       : ", each ending inside a sector";
        const bool flat = known && trace.launch.arrays[view.array].rank == 1;
        return fmt::format("{} {} of {} neighbours{}{}", pattern.runs, flat ? "stretches" : "rows",
                           pattern.run_length, each_times(pattern), why);
    }
    if (pattern.run_length == 0)
        return fmt::format("{} elements in {} stretches{}", count, pattern.runs, each_times(pattern));
    return fmt::format("{} elements{}, no two of them neighbours{}", count, of, each_times(pattern));
}

std::string global_cost(const analysis::SectorCost& cost) {
    if (cost.sectors <= cost.ideal_sectors)
        return fmt::format("{} of {} needed", counted(cost.sectors, "sector"), cost.ideal_sectors);
    return fmt::format("{} where {} would do", counted(cost.sectors, "sector"), cost.ideal_sectors);
}

std::string shared_verdict(const RequestView& view, const Pattern& pattern) {
    const analysis::BankCost& cost = view.cost.shared;
    size_t words = 0, banks = 0, most = 0, worst = 0;
    for (size_t bank = 0; bank < view.banks.size(); ++bank) {
        words += view.banks[bank].size();
        banks += view.banks[bank].empty() ? 0 : 1;
        if (view.banks[bank].size() > most) {
            most = view.banks[bank].size();
            worst = bank;
        }
    }
    const std::string start = who(view, pattern.lanes);
    const std::string price = cost.conflicts() == 0
                                  ? counted(cost.wavefronts, "wavefront")
                                  : fmt::format("{} where {} would do", counted(cost.wavefronts, "wavefront"),
                                                cost.ideal_wavefronts);
    if (words == 1) {
        return pattern.lanes == 1 ? fmt::format("{} one word: {}", start, price)
                                  : fmt::format("{} one word: a broadcast, {}", start, price);
    }
    if (most == 1) {
        const std::string repeats = each_times(pattern);
        return fmt::format("{} {} words in {} different banks{}: {}{}", start, words, banks, repeats,
                           repeats.empty() ? "" : "broadcasts, ", price);
    }
    if (banks == 1) {
        return fmt::format("{} {} different words of bank {}{}: {}", start, words, worst, each_times(pattern),
                           price);
    }
    return fmt::format("{} {} words in only {} banks, up to {} in one{}: {}", start, words, banks, most,
                       each_times(pattern), price);
}

}  // namespace

std::string request_verdict(const trace::Trace& trace, const RequestView& view) {
    const uint32_t cols = view.array == trace::kNoArray ? 1
                          : trace.launch.arrays[view.array].rank == 1
                              ? 1
                              : std::max(trace.launch.arrays[view.array].cols, 1u);
    const Pattern pattern = pattern_of(view, cols);
    if (view.kind == StepKind::SharedLoad || view.kind == StepKind::SharedStore)
        return shared_verdict(view, pattern);
    return fmt::format("{} {}: {}", who(view, pattern.lanes), global_places(trace, view, pattern),
                       global_cost(view.cost.global));
}

std::string barrier_verdict(const BlockIndex& index, uint32_t step) {
    const uint32_t interval = step < index.phases.interval.size() ? index.phases.interval[step] : 0;
    if (interval >= index.arrivals.size()) return "";
    const auto& arrivals = index.arrivals[interval];
    if (arrivals.size() == 1) return "The block is a single warp: it goes straight on.";
    const auto arrived = std::upper_bound(arrivals.begin(), arrivals.end(), step) - arrivals.begin();
    if (static_cast<size_t>(arrived) == arrivals.size())
        return fmt::format("The last of {} warps arrives: the block goes on.", arrivals.size());
    return fmt::format("{} of {} warps {} arrived; the block waits for the others.", arrived, arrivals.size(),
                       arrived == 1 ? "has" : "have");
}

}  // namespace tilescope::look
