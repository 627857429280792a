#include "app/look/sums.h"

#include <fmt/format.h>

#include "core/base/text.h"

namespace tilescope::look {

SumsTable sums_table(const std::string& title, const SplitSums& sums, const analysis::Summary& whole) {
    static constexpr struct {
        const char* what;
        StepKind kind;
        analysis::Sums SplitSums::*part;
    } kRows[] = {{"global loads", StepKind::GlobalLoad, &SplitSums::global_load},
                 {"shared stores", StepKind::SharedStore, &SplitSums::shared_store},
                 {"shared loads", StepKind::SharedLoad, &SplitSums::shared_load},
                 {"global stores", StepKind::GlobalStore, &SplitSums::global_store}};
    SumsTable table;
    table.title = title;
    for (const auto& [what, kind, of] : kRows) {
        if ((whole.*of).requests == 0) continue;  // the kernel makes none: a row of zeros says nothing
        const analysis::Sums& part = sums.*of;
        const bool global = kind == StepKind::GlobalLoad || kind == StepKind::GlobalStore;
        const uint64_t cost = global ? part.sectors : part.wavefronts;
        const uint64_t least = global ? part.ideal_sectors : part.ideal_wavefronts;
        table.rows.push_back({what, kind, short_count(part.requests), short_count(cost), short_count(least),
                              fmt::format("{}: {}, of {} needed", counted(part.requests, "request"),
                                          counted(cost, global ? "sector" : "wavefront"), grouped(least)),
                              cost > (global ? part.block_sectors : least)});
    }
    table.bytes = bytes_text(sums.global_load.bytes + sums.global_store.bytes) + " global";
    if (whole.shared_load.requests + whole.shared_store.requests > 0)
        table.bytes +=
            fmt::format(", {} shared", bytes_text(sums.shared_load.bytes + sums.shared_store.bytes));
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
