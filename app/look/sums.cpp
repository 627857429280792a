#include "app/look/sums.h"

#include <fmt/format.h>

namespace tilescope::look {

SumsTable sums_table(const std::string& title, const SplitSums& sums, const analysis::Summary& whole) {
    SumsTable table;
    table.title = title;
    const auto add = [&](const char* what, StepKind kind, const analysis::Sums& part,
                         const analysis::Sums& all) {
        if (all.requests == 0) return;  // the kernel makes none: a row of zeros says nothing
        const bool global = kind == StepKind::GlobalLoad || kind == StepKind::GlobalStore;
        const uint64_t cost = global ? part.sectors : part.wavefronts;
        const uint64_t least = global ? part.ideal_sectors : part.ideal_wavefronts;
        SumsRow row{what, kind,        short_count(part.requests), short_count(cost), short_count(least),
                    "",   cost > least};
        row.exact = fmt::format("{}: {}, of {} needed", counted(part.requests, "request"),
                                counted(cost, global ? "sector" : "wavefront"), grouped(least));
        table.rows.push_back(std::move(row));
    };
    add("global loads", StepKind::GlobalLoad, sums.global_load, whole.global_load);
    add("shared stores", StepKind::SharedStore, sums.shared_store, whole.shared_store);
    add("shared loads", StepKind::SharedLoad, sums.shared_load, whole.shared_load);
    add("global stores", StepKind::GlobalStore, sums.global_store, whole.global_store);
    const uint64_t global = sums.global_load.bytes + sums.global_store.bytes;
    const uint64_t shared = sums.shared_load.bytes + sums.shared_store.bytes;
    table.bytes = fmt::format("{} global", bytes_text(global));
    if (whole.shared_load.requests + whole.shared_store.requests > 0)
        table.bytes += fmt::format(", {} shared", bytes_text(shared));
    return table;
}

std::string not_whole(const trace::Trace& trace) {
    const uint64_t dropped = trace::dropped_of(trace);
    if (trace.meta.complete && dropped == 0) return "";
    std::string text = "Not whole: ";
    if (!trace.meta.incomplete_reason.empty())
        text += trace.meta.incomplete_reason;
    else if (dropped > 0)
        text += counted(dropped, "request") + " found no room in the device trace buffer";
    else
        text += "sums count what was recorded";
    if (text.back() != '.') text += '.';
    return text;
}

std::string not_whole(const trace::Trace& trace, uint32_t block) {
    std::string text = not_whole(trace);
    if (text.empty() || block >= trace.blocks.size()) return text;
    const uint64_t here = trace.blocks[block].dropped;
    if (here > 0)
        text +=
            fmt::format(" Of this block {} {} missing.", counted(here, "request"), here == 1 ? "is" : "are");
    return text;
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
