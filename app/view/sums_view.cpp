#include "app/view/sums_view.h"

#include <fmt/format.h>

namespace tilescope::view {

SplitSums split(const analysis::Summary& summary) {
    SplitSums sums;
    sums.global_load = summary.global_load;
    sums.global_store = summary.global_store;
    sums.shared_load = summary.shared_load;
    sums.shared_store = summary.shared_store;
    return sums;
}

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
    if (whole.shared_load.requests + whole.shared_store.requests > 0) {
        table.bytes += fmt::format(", {} shared", bytes_text(shared));
    }
    return table;
}

std::string not_whole(const trace::Trace& trace) {
    if (trace.meta.complete) return "";
    if (!trace.meta.incomplete_reason.empty()) return "Not whole: " + trace.meta.incomplete_reason;
    return "This recording is not whole: its sums count what was recorded.";
}

std::string result_text(const trace::Trace& trace) {
    const trace::Verification& result = trace.meta.result;
    if (!result.checked) return "result not checked";
    if (result.verified) return "result verified";
    std::string text = fmt::format("result wrong in {}", counted(result.wrong, "element"));
    for (const Array& array : trace.arrays) {
        if (array.role == ArrayRole::Output && result.first_wrong >= 0) {
            text +=
                fmt::format(", the first {}", element_name(array, static_cast<uint64_t>(result.first_wrong)));
        }
    }
    return text;
}

}  // namespace tilescope::view
