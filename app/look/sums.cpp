#include "app/look/sums.h"

#include <fmt/format.h>

#include "core/base/text.h"

namespace tilescope::look {

namespace {

// What requests of a kind are judged by.
struct Measure {
    uint64_t cost = 0, least = 0;
    uint64_t allowed = 0;  // the least that the block's shape allows
    const char* unit = "";
};

Measure measure_of(StepKind kind, const analysis::Sums& of) {
    switch (analysis::row_of(kind).judged_by) {
        case analysis::JudgedBy::Sectors: return {of.sectors, of.ideal_sectors, of.block_sectors, "sector"};
        case analysis::JudgedBy::Wavefronts:
            return {of.wavefronts, of.ideal_wavefronts, of.ideal_wavefronts, "wavefront"};
        case analysis::JudgedBy::Turns: return {of.turns, of.requests, of.requests, "turn"};
        default: return {of.addresses, of.requests, of.requests, "word"};
    }
}

}  // namespace

namespace {

// Why it may be more than all stands beside it.
std::string efficiency_words(const analysis::Sums& of) {
    const auto efficiency = of.efficiency();
    if (!efficiency) return "";
    return fmt::format("; efficiency {}: lanes ask for {}, the sectors move {}{}", share_text(*efficiency),
                       bytes_text(of.bytes), bytes_text(of.moved_bytes()),
                       *efficiency > 1 ? ", and lanes share bytes" : "");
}

std::vector<std::string> shares_of(const SplitSums& sums) {
    const analysis::Sums all = sums.total();
    if (all.requests == 0) return {};
    const auto loads = sums[StepKind::GlobalLoad].efficiency(),
               stores = sums[StepKind::GlobalStore].efficiency();
    const std::string idle_share = share_text(static_cast<double>(all.idle_lanes()) /
                                              static_cast<double>(all.all_lanes())),
                      idle = fmt::format("{} of {} lanes idle, {}", short_count(all.idle_lanes()),
                                         short_count(all.all_lanes()), idle_share),
                      of_loads = loads ? "load efficiency " + share_text(*loads) + ", " : "";
    return {of_loads + (stores ? "store efficiency " + share_text(*stores) + ", " : "") + idle,
            of_loads + idle, of_loads + "idle lanes " + idle_share, "idle lanes " + idle_share};
}

}  // namespace

SumsTable sums_table(const std::string& title, const SplitSums& sums, const analysis::Summary& whole) {
    SumsTable table;
    table.title = title;
    for (const StepKind kind : analysis::kOrderOfSums) {
        if (whole[kind].requests == 0) continue;  // the kernel makes none: a row of zeros says nothing
        const analysis::Sums& part = sums[kind];
        const Measure by = measure_of(kind, part);
        if (measure_of(kind, whole[kind]).cost == 0 && whole[kind].requests > 0) {  // copies in bulk alone
            table.rows.push_back({analysis::row_of(kind).plural, kind, short_count(part.requests), "", "",
                                  fmt::format("{} in bulk; what they take of the banks is not modelled",
                                              counted(part.requests, "request")),
                                  false});
            continue;
        }
        table.rows.push_back(
            {analysis::row_of(kind).plural, kind, short_count(part.requests), short_count(by.cost),
             short_count(by.least),
             fmt::format(
                 "{}: {}, of {} needed{}", counted(part.requests, "request"), counted(by.cost, by.unit),
                 grouped(by.least),
                 kind == StepKind::GlobalLoad || kind == StepKind::GlobalStore ? efficiency_words(part) : ""),
             by.cost > by.allowed});
    }
    if (whole.exchanges > 0)
        table.rows.push_back({analysis::row_of(StepKind::Exchange).plural, StepKind::Exchange,
                              short_count(sums.exchanges), "", "",
                              fmt::format("{} of warps among their lanes: one instruction each, no memory",
                                          counted(sums.exchanges, "exchange")),
                              false});
    const auto of_mbarriers = [&](StepKind kind, const char* name, uint64_t SplitSums::*count,
                                  const char* does) {
        if (whole.*count > 0)
            table.rows.push_back(
                {name, kind, short_count(sums.*count), "", "",
                 fmt::format("{} of warps {} barriers in shared memory", counted(sums.*count, "step"), does),
                 false});
    };
    of_mbarriers(StepKind::Signal, "signals", &SplitSums::signals,
                 "that initialise, arrive at, or set bytes for,");
    of_mbarriers(StepKind::SignalWait, "waits", &SplitSums::signal_waits, "that have waited for");
    table.shares = shares_of(sums);
    for (const Space space : {Space::Global, Space::Shared, Space::Local, Space::Const}) {
        uint64_t bytes = 0, requests = 0;
        for (const StepKind kind : analysis::kOrderOfSums) {
            if (space_of(kind) != space) continue;
            bytes += sums[kind].bytes;
            requests += whole[kind].requests;
        }
        if (space != Space::Global && requests == 0) continue;
        table.bytes +=
            fmt::format("{}{} {}", table.bytes.empty() ? "" : ", ", bytes_text(bytes), name_of(space));
    }
    return table;
}

std::string not_whole(const trace::Trace& trace, std::optional<uint32_t> block) {
    const uint64_t dropped = trace::dropped_of(trace);
    if (trace.meta.complete && dropped == 0) return "";
    std::string text = "Not whole: ";
    if (!trace.meta.incomplete_reason.empty())
        text += one_sentence(trace.meta.incomplete_reason);
    else if (dropped > 0)
        text += counted(dropped, "request") + " found no room in the device trace buffer";
    else
        text += "sums count what was recorded";
    if (text.back() != '.') text += '.';
    const uint64_t here = block && *block < trace.blocks.size() ? trace.blocks[*block].dropped : 0;
    if (here == 0) return text;
    return text +
           fmt::format(" Of this block {} {} missing.", counted(here, "request"), here == 1 ? "is" : "are");
}

std::string warning(const trace::Trace& trace, uint32_t block, const Notation& notation) {
    std::string text = not_whole(trace, block);
    const trace::Verification& result = trace.meta.result;
    if (!text.empty() || !result.checked || result.verified) return text;
    text = result_text(trace, notation);
    text[0] = 'R';
    return text + ".";
}

std::string result_text(const trace::Trace& trace, const Notation& notation) {
    const trace::Verification& result = trace.meta.result;
    if (!result.checked) return "result not checked";
    if (result.verified) return "result verified";
    std::string text = fmt::format("result wrong in {}", counted(result.wrong, "element"));
    if (result.first_wrong >= 0)
        text +=
            ", the first " + element_name(trace.launch.arrays[result.array], result.first_wrong, notation);
    return text;
}

}  // namespace tilescope::look
