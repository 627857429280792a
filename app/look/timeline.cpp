#include "app/look/timeline.h"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

namespace tilescope::look {
namespace {

const uint32_t* clocks_of(const trace::Trace& trace, const BlockIndex& index) {
    return trace.time.data() + index.first;
}

// Marks of one warp, each from one of its steps to the next; neighbours of one kind are one mark.
void add_mark(std::vector<TimelineMark>& marks, uint32_t first, uint32_t end, StepKind kind) {
    if (first >= end) return;
    // Each barrier and exchange has a mark of its own.
    if (!marks.empty() && marks.back().kind == kind && marks.back().end == first && asks_memory(kind))
        marks.back().end = end;
    else
        marks.push_back({first, end, kind});
}

void add_wait_mark(std::vector<TimelineMark>& waits, uint32_t first, uint32_t end) {
    if (first >= end) return;
    if (!waits.empty() && waits.back().end == first)
        waits.back().end = end;
    else
        waits.push_back({first, end, StepKind::SignalWait});
}

// By clocks everything is in columns, so that a block of a million steps costs one pass over them and draws
// no more than the screen has room for. Column c holds the clocks [begin(c), begin(c + 1)) of what is shown;
// where there are fewer clocks than columns every clock is a column.
struct ColumnMarks {
    uint32_t first = 0, end = 0, count = 1;
    uint64_t shown() const { return end - first; }
    uint32_t begin(uint32_t column) const {
        return first + static_cast<uint32_t>((shown() * column + count - 1) / count);
    }
    uint32_t of(uint32_t clock) const {
        return static_cast<uint32_t>(uint64_t{clock - first} * count / shown());
    }
    // Clocks [first, end) of neighbouring columns that show the same, but not 0: visit(first, end, what).
    template <class What, class Visit>
    void each_stretch(const What& what, const Visit& visit) const {
        for (uint32_t column = 0, next = 0; column < count; column = next) {
            for (next = column + 1; next < count && what(next) == what(column);) ++next;
            if (what(column) != 0) visit(begin(column), begin(next), what(column));
        }
    }
};

std::vector<TimelineMark> marks_of(const std::vector<uint8_t>& loudest, const ColumnMarks& columns) {
    std::vector<TimelineMark> marks;
    columns.each_stretch([&](uint32_t column) { return loudest[column]; },
                         [&](uint32_t first, uint32_t end, uint8_t loudness) {
                             const auto row = std::ranges::find(analysis::kStepKindRows, loudness,
                                                                &analysis::StepKindRow::loudness);
                             marks.push_back({first, end, row->kind});
                         });
    return marks;
}

// Adds the clocks of a wait to each column that it lies in.
void add_wait(std::vector<uint32_t>& clocks, const ColumnMarks& columns, uint32_t from, uint32_t to) {
    from = std::max(from, columns.first);
    to = std::min(to, columns.end);
    if (from >= to) return;
    for (uint32_t column = columns.of(from); column < columns.count && columns.begin(column) < to; ++column)
        clocks[column] += std::min(to, columns.begin(column + 1)) - std::max(from, columns.begin(column));
}

std::vector<TimelineMark> waits_of(const std::vector<uint32_t>& clocks, const ColumnMarks& columns) {
    std::vector<TimelineMark> waits;
    const auto stands = [&](uint32_t column) {
        return uint64_t{clocks[column]} * 2 >= columns.begin(column + 1) - columns.begin(column);
    };
    columns.each_stretch(stands, [&](uint32_t first, uint32_t end, bool) {
        waits.push_back({first, end, StepKind::Barrier});
    });
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
    view.waits.resize(index.steps_of_warp.size());
    const uint64_t shown = view.end - view.first;
    // Of those that begin in one column the first is seen.
    uint64_t free = 0;  // the first column without one
    for (const PhaseSpan& span : index.spans) {
        if (span.end <= view.first || span.first >= view.end) continue;
        const uint64_t column =
            (std::max(span.first, view.first) - view.first) * uint64_t{view.columns} / shown;
        if (column < free) continue;
        view.phases.push_back(span);
        free = index.spans.size() > view.columns ? column + 1 : 0;
    }
    for (const auto& arrivals : index.arrivals)
        if (!arrivals.empty() && arrivals.back() >= view.first && arrivals.back() < view.end)
            view.barriers.push_back(arrivals.back());
    for (size_t warp = 0; warp < index.steps_of_warp.size(); ++warp) {
        const auto& steps = index.steps_of_warp[warp];
        auto at = std::lower_bound(steps.begin(), steps.end(), view.first);
        if (at != steps.begin()) --at;  // the mark that reaches into the view
        auto& marks = view.warps[warp];
        // Of a wait for a barrier in memory: the step behind which the warp stands.
        const auto stands_behind = [&](auto step) -> std::optional<uint32_t> {
            if (step == steps.end() || !index.pipeline) return std::nullopt;
            const auto& waits = index.pipeline->waits;
            const auto wait = std::ranges::lower_bound(waits, *step, {}, &analysis::SignalWaitSpan::step);
            if (wait == waits.end() || wait->step != *step || wait->since == analysis::kNoStep)
                return std::nullopt;
            return wait->since;
        };
        const auto inside = std::lower_bound(at, steps.end(), view.end) - at;
        if (static_cast<uint64_t>(inside) <= uint64_t{view.columns} * 2) {
            for (auto to = at; to != steps.end() && *to < view.end; ++to) {
                const uint32_t next = to + 1 == steps.end() ? *to + 1 : *(to + 1);
                const auto since = stands_behind(to + 1);
                const uint32_t until = since ? std::min(std::max(*since, *to) + 1, next) : next;
                add_wait_mark(view.waits[warp], std::max(until, view.first), std::min(next, view.end));
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
            if (const auto since = stands_behind(next); since && begin > std::max(*since, *(next - 1)))
                add_wait_mark(view.waits[warp], begin, stop);
            else
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
    const ColumnMarks cut{view.first, view.end, std::min(view.columns, shown)};

    for (const PhaseSpan& span : index.spans) {
        const uint32_t from = clock_of(trace, index, span.first);
        const uint32_t to =
            span.end >= index.steps ? last_clock(trace, index) + 1 : clock_of(trace, index, span.end);
        if (to > view.first && from < view.end) view.phases.push_back({span.phase, from, to});
    }
    for (size_t warp = 0; warp < index.steps_of_warp.size(); ++warp) {
        std::vector<uint8_t> loudest(cut.count, 0);
        for (const uint32_t step : index.steps_of_warp[warp]) {
            const uint32_t clock = trace.time[index.first + step];
            if (clock < view.first || clock >= view.end) continue;
            uint8_t& here = loudest[cut.of(clock)];
            here = std::max(here, row_of(kind_of(trace, index.first + step)).loudness);
        }
        view.warps[warp] = marks_of(loudest, cut);
    }
    std::vector<std::vector<uint32_t>> waited(index.steps_of_warp.size(),
                                              std::vector<uint32_t>(cut.count, 0));
    for (const BarrierTimes& barrier : index.barriers) {
        if (barrier.opens >= view.first && barrier.opens < view.end) view.barriers.push_back(barrier.opens);
        for (const BarrierTimes::WarpArrival& arrival : barrier.arrivals)
            add_wait(waited[arrival.warp], cut, arrival.clock, barrier.opens);
    }
    if (index.pipeline)
        for (const analysis::SignalWaitSpan& wait : index.pipeline->waits)
            if (wait.since != analysis::kNoStep)
                add_wait(waited[wait.warp], cut, clock_of(trace, index, wait.since),
                         clock_of(trace, index, wait.step));
    for (size_t warp = 0; warp < waited.size(); ++warp) view.waits[warp] = waits_of(waited[warp], cut);
    return view;
}

uint32_t step_at(const TimelineView& view, double position) {
    if (view.end <= view.first) return view.first;
    const double at = std::clamp(position, 0.0, 1.0) * static_cast<double>(view.end - view.first);
    return std::min(view.first + static_cast<uint32_t>(at), view.end - 1);
}

std::optional<uint32_t> step_of_warp(const BlockIndex& index, uint32_t warp, uint32_t step) {
    if (warp >= index.steps_of_warp.size()) return std::nullopt;
    const std::vector<uint32_t>& own = index.steps_of_warp[warp];
    const auto after = std::ranges::upper_bound(own, step);
    return after == own.begin() ? std::nullopt : std::optional(*(after - 1));
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

const BarrierTimes* barrier_of_step(const BlockIndex& index, uint32_t step) {
    if (step >= index.phases.interval.size()) return nullptr;
    const auto at =
        std::ranges::lower_bound(index.barriers, index.phases.interval[step], {}, &BarrierTimes::number);
    if (at == index.barriers.end()) return nullptr;
    const auto here = std::ranges::find(at->arrivals, step, &BarrierTimes::WarpArrival::step);
    return here == at->arrivals.end() ? nullptr : &*at;
}

const BarrierTimes* barrier_at(const BlockIndex& index, uint32_t warp, uint32_t clock) {
    // Barriers open one after the other: only the next to open can be stood at.
    const auto at = std::ranges::upper_bound(index.barriers, clock, {}, &BarrierTimes::opens);
    if (at == index.barriers.end()) return nullptr;
    const auto own = std::ranges::find(at->arrivals, warp, &BarrierTimes::WarpArrival::warp);
    return own == at->arrivals.end() || own->clock > clock ? nullptr : &*at;
}

std::optional<GateView> gate_at(const trace::Trace& trace, const BlockIndex& index, uint32_t step) {
    // Barriers are completed one after the other: the first that is not complete before this step.
    const auto barrier = std::ranges::partition_point(
        index.arrivals, [&](const std::vector<uint32_t>& of) { return !of.empty() && of.back() < step; });
    if (barrier == index.arrivals.end() || barrier->size() < 2 || barrier->front() > step)
        return std::nullopt;
    GateView gate;
    gate.number = static_cast<uint32_t>(barrier - index.arrivals.begin());
    gate.open = barrier->back() == step;
    for (const uint32_t arrival : *barrier) {
        gate.warps.push_back({trace.warp_of(index.first + arrival), arrival <= step, arrival});
        gate.held += arrival <= step;
    }
    std::ranges::sort(gate.warps, {}, &GateView::WarpAtGate::warp);
    return gate;
}

std::string order_words(const trace::Trace& trace, const BlockIndex& index) {
    uint32_t barriers = 0, in_turn = 0;
    std::vector<uint32_t> last(index.warps, 0);  // barriers at which a warp was the last to come
    for (const auto& arrivals : index.arrivals) {
        if (arrivals.size() < 2) continue;
        const auto warp = [&](uint32_t step) { return trace.warp_of(index.first + step); };
        ++barriers;
        in_turn += std::ranges::is_sorted(arrivals, {}, warp);
        ++last[warp(arrivals.back())];
    }
    if (barriers == 0) return "";
    if (trace.meta.backend == trace::Backend::Cpu && in_turn == barriers)
        return "On a CPU warps take turns; CUDA promises no order among them.";
    const std::string all = barriers == 1 ? "barrier" : fmt::format("{} barriers", barriers);
    const auto lasts = std::ranges::count_if(last, [](uint32_t n) { return n > 0; });
    if (lasts > 1)
        return fmt::format("{} different warps come last at the {}; CUDA promises no order.", lasts, all);
    return fmt::format("Warp {} comes last at {} {}; CUDA promises no order.",
                       std::ranges::max_element(last) - last.begin(), barriers == 1 ? "the" : "all", all);
}

uint32_t clock_of(const trace::Trace& trace, const BlockIndex& index, uint32_t step) {
    if (index.steps == 0) return 0;
    return clocks_of(trace, index)[std::min(step, index.steps - 1)];
}

uint32_t step_at_clock(const trace::Trace& trace, const BlockIndex& index, double clock) {
    const uint32_t* begin = clocks_of(trace, index);
    const auto after = std::upper_bound(begin, begin + index.steps, clock,
                                        [](double at, uint32_t of) { return at < static_cast<double>(of); });
    return after == begin ? 0 : static_cast<uint32_t>(after - begin - 1);
}

uint32_t last_clock(const trace::Trace& trace, const BlockIndex& index) {
    return clock_of(trace, index, UINT32_MAX);
}

std::string no_clocks(const trace::Trace& trace) {
    if (trace.meta.backend == trace::Backend::Cpu)
        return "There are no clocks: this was recorded on the CPU, whose time is the logical step.";
    return trace.time.empty() ? "This recording holds no clocks, so its time is the step."
                              : "The clocks of this block run backwards, so it is shown by steps.";
}

std::string microseconds(const trace::Meta& meta, double clocks) {
    if (!(meta.price.clock_mhz > 0)) return "";
    const double us = clocks / meta.price.clock_mhz;
    if (us < 0.0995) return fmt::format("{:.0f} ns", us * 1000);
    if (us >= 1000) return fmt::format("{:.2f} ms", us / 1000);
    return fmt::format("{:.{}f} µs", us, us < 10 ? 2 : us < 100 ? 1 : 0);
}

std::string block_time(const trace::Trace& trace, const BlockIndex& index) {
    const uint32_t clocks = last_clock(trace, index) + 1;
    std::string text = counted(clocks, "clock");
    if (index.block < trace.blocks.size()) text += fmt::format(" of SM {}", trace.blocks[index.block].sm);
    if (trace.meta.price.clock_mhz > 0)
        text += fmt::format(", about {} at {} MHz", microseconds(trace.meta, clocks),
                            grouped(static_cast<uint64_t>(std::llround(trace.meta.price.clock_mhz))));
    return text;
}

std::string wait_words(const trace::Trace& trace, const BarrierTimes& barrier, uint32_t warp) {
    std::string waited;
    const auto own = std::ranges::find(barrier.arrivals, warp, &BarrierTimes::WarpArrival::warp);
    if (own != barrier.arrivals.end()) {
        const uint32_t clocks = barrier.opens - own->clock;
        const std::string us = microseconds(trace.meta, clocks);
        waited = clocks == 0 ? fmt::format("Warp {} did not wait here", warp)
                             : fmt::format("Warp {} waited {}{} here", warp, counted(clocks, "clock"),
                                           us.empty() ? "" : fmt::format(" ({})", us));
    }
    if (barrier.arrivals.size() < 2) return waited.empty() ? "" : waited + ".";
    return fmt::format("{}he warps came {} apart, warp {} last.", waited.empty() ? "T" : waited + "; t",
                       counted(barrier.skew(), "clock"), barrier.last_warp);
}

}  // namespace tilescope::look
