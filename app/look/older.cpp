#include "app/look/older.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "core/analysis/coalescing_rules.h"

namespace tilescope::look {
namespace {

struct Capability {
    uint32_t major, minor;
};
constexpr Capability kCapability[] = {{1, 0}, {1, 3}};  // by OlderGpu

// Different bytes of a transaction that its lanes ask for.
uint32_t bytes_used(const analysis::Transaction& transaction, const trace::AccessView& access,
                    uint32_t bytes) {
    std::set<uint64_t> words;
    for_lanes(transaction.lanes, [&](uint32_t lane) { words.insert(access.addresses()[lane]); });
    return std::min(static_cast<uint32_t>(words.size()) * bytes, transaction.bytes);
}

}  // namespace

const char* name_of(OlderGpu gpu) { return gpu == OlderGpu::G80 ? "G80" : "GT200"; }

std::optional<OlderView> older_view(const trace::Trace& trace, const BlockIndex& index, uint32_t step,
                                    OlderGpu gpu) {
    if (step >= index.steps) return std::nullopt;
    const uint64_t at = index.first + step;
    const StepKind kind = kind_of(trace, at);
    if (kind != StepKind::GlobalLoad && kind != StepKind::GlobalStore) return std::nullopt;
    const trace::AccessView access(trace, at);
    if (access.site().box != ptx::Box::None) return std::nullopt;  // which they do not have
    const uint32_t bytes = access.site().bytes;
    const auto [major, minor] = kCapability[static_cast<size_t>(gpu)];
    const analysis::CoalescingRule rule = analysis::coalescing_rule(major, minor);
    const analysis::Coalesced request =
        analysis::coalesce(rule, access.addresses(), access.mask(), bytes, kind == StepKind::GlobalStore);

    OlderView view;
    view.gpu = name_of(gpu);
    view.rule = analysis::name_of(rule);
    view.source = analysis::source_of(rule);
    view.verdict = analysis::in_words(request);
    const uint64_t base = access.array() == trace::kNoArray ? 0 : trace.launch.arrays[access.array()].base;
    for (const analysis::Transaction& of : request.transactions)
        view.transactions.push_back(
            {static_cast<int64_t>(of.address - base), of.bytes, bytes_used(of, access, bytes), of.lanes});
    // A half warp needs one transaction, two where its words are of 16 bytes.
    const int halves = ((access.mask() & 0xFFFFu) != 0) + ((access.mask() >> 16) != 0);
    view.good = view.transactions.size() <= static_cast<size_t>(halves) * (bytes == 16 ? 2 : 1);
    return view;
}

std::string older_gpus_text(const trace::Trace& trace, const BlockIndex& index, uint32_t step) {
    std::string text;
    for (const OlderGpu gpu : {OlderGpu::G80, OlderGpu::Gt200})
        if (const auto view = older_view(trace, index, step, gpu))
            text += fmt::format("{}{}: {}", text.empty() ? "" : "; ", view->gpu, view->verdict);
    return text;
}

}  // namespace tilescope::look
