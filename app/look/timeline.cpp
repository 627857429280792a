#include "app/look/timeline.h"

#include <algorithm>

namespace tilescope::look {
namespace {

// Marks of one warp, each from one of its steps to the next; neighbours of one kind are one mark.
void add_mark(std::vector<TimelineMark>& marks, uint32_t first, uint32_t end, StepKind kind) {
    if (first >= end) return;
    if (!marks.empty() && marks.back().kind == kind && marks.back().end == first && kind != StepKind::Barrier)
        marks.back().end = end;
    else
        marks.push_back({first, end, kind});
}

}  // namespace

TimelineView timeline_view(const trace::Trace& trace, const BlockIndex& index, uint32_t first, uint32_t end,
                           uint32_t columns) {
    TimelineView view;
    view.end = std::min(end, index.steps);
    view.first = std::min(first, view.end);
    view.columns = std::max(columns, 1u);
    view.warps.resize(index.steps_of_warp.size());
    for (const PhaseSpan& span : index.spans)
        if (span.end > view.first && span.first < view.end) view.phases.push_back(span);
    for (const auto& arrivals : index.arrivals)
        if (!arrivals.empty() && arrivals.back() >= view.first && arrivals.back() < view.end)
            view.barriers.push_back(arrivals.back());
    const uint64_t shown = view.end - view.first;
    for (size_t warp = 0; warp < index.steps_of_warp.size(); ++warp) {
        const auto& steps = index.steps_of_warp[warp];
        auto at = std::lower_bound(steps.begin(), steps.end(), view.first);
        if (at != steps.begin()) --at;  // the mark that reaches into the view
        auto& marks = view.warps[warp];
        const auto inside = std::lower_bound(at, steps.end(), view.end) - at;
        if (static_cast<uint64_t>(inside) <= uint64_t{view.columns} * 2) {
            for (auto to = at; to != steps.end() && *to < view.end; ++to) {
                const uint32_t until = to + 1 == steps.end() ? *to + 1 : *(to + 1);
                add_mark(marks, std::max(*to, view.first), std::min(until, view.end),
                         kind_of(trace, index.first + *to));
            }
            continue;
        }
        for (uint32_t column = 0; column < view.columns; ++column) {
            const auto begin = view.first + static_cast<uint32_t>(shown * column / view.columns);
            const auto stop = view.first + static_cast<uint32_t>(shown * (column + 1) / view.columns);
            auto next = std::upper_bound(at, steps.end(), begin);
            if (next == steps.begin() || begin > steps.back()) continue;
            add_mark(marks, begin, stop, kind_of(trace, index.first + *(next - 1)));
        }
    }
    return view;
}

uint32_t step_at(const TimelineView& view, double position) {
    if (view.end <= view.first) return view.first;
    const double at = std::clamp(position, 0.0, 1.0) * static_cast<double>(view.end - view.first);
    return std::min(view.first + static_cast<uint32_t>(at), view.end - 1);
}

std::vector<uint32_t> ticks(uint32_t first, uint32_t end, uint32_t most) {
    std::vector<uint32_t> at;
    if (end <= first || most == 0) return at;
    constexpr uint64_t kSteps[] = {1, 2, 5};
    for (uint64_t power = 1;; power *= 10) {
        for (const uint64_t step : kSteps) {
            const uint64_t from = (first + power * step - 1) / (power * step),
                           to = (end - 1) / (power * step);
            if (to >= from && to - from + 1 > most) continue;
            for (uint64_t i = from; i <= to; ++i) at.push_back(static_cast<uint32_t>(i * power * step));
            return at;
        }
    }
}

}  // namespace tilescope::look
