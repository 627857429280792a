#include "app/look/timeline.h"

#include <algorithm>
#include <array>

#include "app/look/block_clock.h"

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

// By clocks everything is in columns: a block of a million steps costs one pass over them and draws no more
// than the screen has room for.
// The columns of what is shown. Column c holds the clocks [begin(c), begin(c + 1)); where there are fewer
// clocks than columns every clock is a column.
struct Columns {
    uint32_t first = 0, end = 0, count = 1;
    uint64_t shown() const { return end - first; }
    uint32_t begin(uint32_t column) const {
        return first + static_cast<uint32_t>((shown() * column + count - 1) / count);
    }
    uint32_t of(uint32_t clock) const {
        return static_cast<uint32_t>(uint64_t{clock - first} * count / shown());
    }
};

// Louder kinds are seen where several share a column. A barrier has its wait beside it.
constexpr std::array<uint8_t, 5> kLoudness = {3, 5, 2, 4, 1};  // by StepKind
constexpr uint8_t kNothing = 0;

std::vector<TimelineMark> marks_of(const std::vector<uint8_t>& loudest, const Columns& columns) {
    std::vector<TimelineMark> marks;
    for (uint32_t column = 0; column < columns.count; ++column) {
        if (loudest[column] == kNothing) continue;
        const auto kind = static_cast<StepKind>(
            std::find(kLoudness.begin(), kLoudness.end(), loudest[column]) - kLoudness.begin());
        const uint32_t first = columns.begin(column), end = columns.begin(column + 1);
        if (!marks.empty() && marks.back().end == first && marks.back().kind == kind)
            marks.back().end = end;
        else
            marks.push_back({first, end, kind});
    }
    return marks;
}

// Adds the clocks of a wait to each column that it lies in.
void add_wait(std::vector<uint32_t>& clocks, const Columns& columns, uint32_t from, uint32_t to) {
    from = std::max(from, columns.first);
    to = std::min(to, columns.end);
    if (from >= to) return;
    for (uint32_t column = columns.of(from); column < columns.count && columns.begin(column) < to; ++column)
        clocks[column] += std::min(to, columns.begin(column + 1)) - std::max(from, columns.begin(column));
}

std::vector<TimelineMark> waits_of(const std::vector<uint32_t>& clocks, const Columns& columns) {
    std::vector<TimelineMark> waits;
    for (uint32_t column = 0; column < columns.count; ++column) {
        const uint32_t first = columns.begin(column), end = columns.begin(column + 1);
        if (clocks[column] == 0 || uint64_t{clocks[column]} * 2 < end - first) continue;
        if (!waits.empty() && waits.back().end == first)
            waits.back().end = end;
        else
            waits.push_back({first, end, StepKind::Barrier});
    }
    return waits;
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

ClockWindow zoomed(const ClockWindow& window, uint32_t clocks, double position, double by) {
    constexpr double kClosest = 64;
    const double first = window.whole() ? 0 : window.first, end = window.whole() ? clocks : window.end;
    const double length = std::max((end - first) / by, std::min<double>(kClosest, clocks));
    if (length >= clocks) return {};
    const double kept = first + (end - first) * position;
    const double from = std::clamp(kept - length * position, 0.0, clocks - length);
    return {from, from + length};
}

ClockWindow following(const ClockWindow& window, uint32_t clocks, double clock) {
    if (window.whole() || (clock >= window.first && clock < window.end)) return window;
    const double length = window.end - window.first;
    const double from = std::clamp(clock - length / 10, 0.0, std::max(clocks - length, 0.0));
    return {from, from + length};
}

TimelineView clock_timeline(const trace::Trace& trace, const BlockIndex& index, uint32_t first, uint32_t end,
                            uint32_t columns) {
    TimelineView view;
    view.axis = TimeAxis::Clocks;
    view.warps.resize(index.steps_of_warp.size());
    view.waits.resize(index.steps_of_warp.size());
    if (!index.clocked) return view;
    view.end = std::min(end, last_clock(trace, index) + 1);
    view.first = std::min(first, view.end);
    const uint32_t shown = view.end - view.first;
    view.columns = std::max(columns, 1u);
    if (shown == 0) return view;
    const Columns cut{view.first, view.end, std::min(view.columns, shown)};

    for (const PhaseSpan& span : index.spans) {
        const uint32_t from = clock_of(trace, index, span.first);
        const uint32_t to =
            span.end >= index.steps ? last_clock(trace, index) + 1 : clock_of(trace, index, span.end);
        if (to > view.first && from < view.end) view.phases.push_back({span.phase, from, to});
    }
    for (size_t warp = 0; warp < index.steps_of_warp.size(); ++warp) {
        const auto& steps = index.steps_of_warp[warp];
        std::vector<uint8_t> loudest(cut.count, kNothing);
        for (const uint32_t step : steps) {
            const uint32_t clock = trace.time[index.first + step];
            if (clock < view.first || clock >= view.end) continue;
            uint8_t& here = loudest[cut.of(clock)];
            here = std::max(here, kLoudness[static_cast<size_t>(kind_of(trace, index.first + step))]);
        }
        view.warps[warp] = marks_of(loudest, cut);
    }
    std::vector<std::vector<uint32_t>> waited(index.steps_of_warp.size(),
                                              std::vector<uint32_t>(cut.count, 0));
    for (const BarrierTimes& barrier : index.barriers) {
        if (barrier.opens >= view.first && barrier.opens < view.end) view.barriers.push_back(barrier.opens);
        for (const BarrierTimes::Arrival& arrival : barrier.arrivals)
            add_wait(waited[arrival.warp], cut, arrival.clock, barrier.opens);
    }
    for (size_t warp = 0; warp < waited.size(); ++warp) view.waits[warp] = waits_of(waited[warp], cut);
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
