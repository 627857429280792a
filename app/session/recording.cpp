#include "app/session/recording.h"

#include <algorithm>
#include <atomic>
#include <utility>

#include "app/draw/sheet.h"

namespace tilescope::session {
namespace {

constexpr uint64_t kMostMapElements = 16ull << 20;

analysis::Summary outline_of(const trace::Trace& trace) {
    analysis::Summary outline;
    for (const ptx::Site& site : trace.sites) {
        const bool global = site.space == Space::Global, store = site.kind == ptx::SiteKind::Store;
        if (site.kind == ptx::SiteKind::Barrier)
            outline.barriers_per_block = 1;
        else
            (global  ? store ? outline.global_store : outline.global_load
             : store ? outline.shared_store
                     : outline.shared_load)
                .requests = 1;
    }
    return outline;
}

}  // namespace

Result<std::shared_ptr<const Recording>> make_recording(trace::Trace trace, std::string origin) {
    return make_recording(std::make_shared<const trace::Trace>(std::move(trace)), std::move(origin));
}

Result<std::shared_ptr<const Recording>> make_recording(std::shared_ptr<const trace::Trace> trace,
                                                        std::string origin) {
    auto rule = analysis::phase_rule(*trace);
    if (!rule) return rule.error();
    static std::atomic<uint64_t> made{0};
    auto recording = std::make_shared<Recording>();
    recording->outline = outline_of(*trace);
    recording->trace = std::move(trace);
    recording->rule = std::move(*rule);
    recording->product = analysis::product_of(*recording->trace);
    recording->serial = ++made;
    recording->origin = std::move(origin);
    return std::shared_ptr<const Recording>(std::move(recording));
}

std::shared_ptr<const Recording> worded(std::shared_ptr<const Recording> recording,
                                        const analysis::Wording& wording) {
    if (!recording) return recording;
    Notation notation = analysis::notation_of(recording->trace->launch, recording->product, wording);
    if (notation == recording->notation) return recording;
    auto copy = std::make_shared<Recording>(*recording);
    copy->notation = std::move(notation);
    return copy;
}

LoadsWindow loads_window(const Array& array, const analysis::ElementCounts& counts, uint64_t most) {
    LoadsWindow window;
    const draw::Sheet sheet(array);
    counts.each([&](uint64_t element, uint32_t) { window.box.include(sheet.cell(element)); });
    const draw::CellRect& box = window.box;
    if (box.empty() || uint64_t{box.rows()} * box.cols() > most) return window;
    window.loads.resize(size_t{box.rows()} * box.cols());
    counts.each([&](uint64_t element, uint32_t count) {
        const draw::CellRect cell = sheet.cell(element);
        window.loads[size_t{cell.row0 - box.row0} * box.cols() + (cell.col0 - box.col0)] = count;
        window.most = std::max(window.most, count);
    });
    return window;
}

MadeTotals totals_of(const Recording& recording) {
    const trace::Trace& trace = *recording.trace;
    auto summary = analysis::summarize(trace);
    if (!summary) return summary.error();
    auto totals = std::make_shared<Totals>();
    totals->serial = recording.serial;
    totals->summary = std::move(*summary);
    totals->loads.resize(trace.launch.arrays.size());
    totals->most_loads.resize(trace.launch.arrays.size(), 0);
    totals->windows.resize(trace.launch.arrays.size());
    analysis::LoadCounter counter(trace);
    for (uint64_t step = 0; step < trace.steps(); ++step) counter.add(step);
    for (size_t at = 0; at < trace.launch.arrays.size(); ++at) {
        const Array& array = trace.launch.arrays[at];
        if (array.space != Space::Global || !array.reads()) continue;
        if (array.elements() > kMostMapElements) {
            totals->windows[at] = loads_window(array, counter.of(static_cast<uint8_t>(at)), kMostMapElements);
            totals->most_loads[at] = totals->windows[at].most;
            continue;
        }
        totals->loads[at] = counter.of(static_cast<uint8_t>(at)).all(array.elements());
        totals->most_loads[at] = std::ranges::max(totals->loads[at]);
    }
    return std::shared_ptr<const Totals>(std::move(totals));
}

bool uses_shared(const trace::Trace& trace) {
    return std::any_of(
        trace.sites.begin(), trace.sites.end(),
        [](const ptx::Site& site) {
            return site.kind == ptx::SiteKind::Load && site.space == Space::Shared;
        });
}

}  // namespace tilescope::session
