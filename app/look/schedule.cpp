#include "app/look/schedule.h"

#include <algorithm>

#include "app/look/timeline.h"

namespace tilescope::look {
namespace {

// A long time without a recorded block is cut to this part of the time with one.
constexpr uint64_t kIdlePart = 20;

struct TimedStep {
    uint64_t at = 0;
    StepKind kind = StepKind::GlobalLoad;
};

// The steps of a block's warps, each in its order, and until when the warp is held at each of its barriers.
struct Warps {
    std::vector<std::vector<TimedStep>> steps;
    std::vector<std::vector<uint64_t>> opens;  // by warp, barrier after barrier
};

// A barrier opens when the last warp that comes to it is there. Of a warp that never comes, since it exits,
// its last step counts (timeline.h).
Warps warps_of(const trace::Trace& trace, const SmSchedule::Resident& resident) {
    Warps made;
    made.steps.resize(resident.warps), made.opens.resize(resident.warps);
    const trace::Block& block = trace.blocks[resident.block];
    std::vector<uint64_t> last;  // arrival, by barrier
    for (uint64_t step = block.first; step < block.first + block.count; ++step) {
        const uint32_t warp = trace.warp_of(step);
        const TimedStep one{resident.at + trace.time[step] - trace.time[block.first], kind_of(trace, step)};
        made.steps[warp].push_back(one);
        if (one.kind != StepKind::Barrier) continue;
        const size_t number = made.opens[warp].size();
        if (number == last.size()) last.push_back(0);
        last[number] = std::max(last[number], one.at);
        made.opens[warp].push_back(0);
    }
    for (size_t warp = 0; warp < made.steps.size(); ++warp)
        if (!made.steps[warp].empty())
            for (size_t number = made.opens[warp].size(); number < last.size(); ++number)
                last[number] = std::max(last[number], made.steps[warp].back().at);
    for (auto& opens : made.opens)
        for (size_t number = 0; number < opens.size(); ++number) opens[number] = last[number];
    return made;
}

// What a warp is between its steps: visit(first, end, kind of the step before), for global loads and, as long
// as it is held, barriers.
template <class Visit>
void each_stretch(const Warps& warps, size_t warp, const Visit& visit) {
    const std::vector<TimedStep>& steps = warps.steps[warp];
    size_t barrier = 0;
    for (size_t at = 0; at < steps.size(); ++at) {
        const uint64_t next = at + 1 < steps.size() ? steps[at + 1].at : steps[at].at;
        if (steps[at].kind == StepKind::GlobalLoad) visit(steps[at].at, next, StepKind::GlobalLoad);
        if (steps[at].kind == StepKind::Barrier)
            visit(steps[at].at, warps.opens[warp][barrier++], StepKind::Barrier);
    }
}

bool in_order(const trace::Trace& trace, const trace::Block& block) {
    const auto first = trace.time.begin() + static_cast<std::ptrdiff_t>(block.first);
    return std::is_sorted(first, first + static_cast<std::ptrdiff_t>(block.count));
}

// Columns of positions, and clocks gathered in them.
class ColumnCut {
public:
    ColumnCut(uint64_t first, uint64_t end, uint32_t count) : first_(first), end_(end), count_(count) {}
    uint64_t begin(uint32_t column) const {
        return first_ + ((end_ - first_) * column + count_ - 1) / count_;
    }
    uint32_t of(uint64_t at) const { return static_cast<uint32_t>((at - first_) * count_ / (end_ - first_)); }
    bool contains(uint64_t at) const { return at >= first_ && at < end_; }
    // each(column, clocks of [from, to) that lie in it).
    template <class Each>
    void spread(uint64_t from, uint64_t to, const Each& each) const {
        from = std::max(from, first_), to = std::min(to, end_);
        if (from >= to) return;
        for (uint32_t column = of(from); column < count_ && begin(column) < to; ++column)
            each(column, std::min(to, begin(column + 1)) - std::max(from, begin(column)));
    }

private:
    uint64_t first_, end_;
    uint32_t count_;
};

// Neighbouring columns that show the same, which is not 0.
template <class What>
std::vector<TimelineMark> stretches(uint32_t first, uint32_t end, const What& what, StepKind (*kind)(int)) {
    std::vector<TimelineMark> marks;
    for (uint32_t column = first, next = first; column < end; column = next) {
        const int here = what(column);
        for (next = column + 1; next < end && what(next) == here;) ++next;
        if (here != 0) marks.push_back({column, next, kind(here)});
    }
    return marks;
}

// What one warp shows, in the columns in which it is there: so that of many blocks that follow each other
// each costs its own time alone.
void add_row(ScheduleView& view, const ColumnCut& cut, const Warps& warps, size_t warp, size_t row) {
    const std::vector<TimedStep>& steps = warps.steps[warp];
    if (steps.empty()) return;
    uint64_t until = steps.back().at + 1;
    if (!warps.opens[warp].empty()) until = std::max(until, warps.opens[warp].back());
    const uint64_t from = std::max(steps.front().at, view.first), to = std::min(until, view.end);
    if (from >= to) return;
    const uint32_t first = cut.of(from), end = cut.of(to - 1) + 1;
    std::vector<int> loudest(end - first, 0);  // kind + 1
    std::vector<uint64_t> behind(end - first, 0), held(end - first, 0);
    const auto as_kind = [](int kind) { return static_cast<StepKind>(kind - 1); };
    for (const TimedStep& step : steps) {
        if (!cut.contains(step.at)) continue;
        int& here = loudest[cut.of(step.at) - first];
        if (here == 0 || row_of(step.kind).loudness > row_of(as_kind(here)).loudness)
            here = static_cast<int>(step.kind) + 1;
    }
    each_stretch(warps, warp, [&](uint64_t begin, uint64_t over, StepKind kind) {
        auto& into = kind == StepKind::Barrier ? held : behind;
        cut.spread(begin, over, [&](uint32_t column, uint64_t clocks) { into[column - first] += clocks; });
    });
    const auto half = [&](const std::vector<uint64_t>& of) {
        return [&](uint32_t at) {
            return static_cast<int>(of[at - first] * 2 >= cut.begin(at + 1) - cut.begin(at));
        };
    };
    view.rows.warps[row] = stretches(
        first, end, [&](uint32_t at) { return loudest[at - first]; }, as_kind);
    view.rows.waits[row] = stretches(first, end, half(held), [](int) { return StepKind::Barrier; });
    view.behind[row] = stretches(first, end, half(behind), [](int) { return StepKind::GlobalLoad; });
    const auto share = [&](uint32_t column, uint64_t clocks) {
        return static_cast<double>(clocks) / static_cast<double>(cut.begin(column + 1) - cut.begin(column));
    };
    for (uint32_t column = first; column < end; ++column) {
        view.levels[column].behind_load += share(column, behind[column - first]);
        view.levels[column].at_barrier += share(column, held[column - first]);
    }
    cut.spread(steps.front().at, until,
               [&](uint32_t column, uint64_t clocks) { view.levels[column].there += share(column, clocks); });
}

}  // namespace

std::vector<uint32_t> sms_with_blocks(const trace::Trace& trace) {
    std::vector<uint32_t> sms;
    if (trace.meta.backend != trace::Backend::Gpu || trace.time.empty()) return sms;
    for (const trace::Block& block : trace.blocks)
        if (block.count > 0) sms.push_back(block.sm);
    std::ranges::sort(sms);
    sms.erase(std::unique(sms.begin(), sms.end()), sms.end());
    return sms;
}

SmSchedule sm_schedule(const trace::Trace& trace, uint32_t sm, uint64_t most_steps) {
    SmSchedule made;
    made.sm = sm;
    if (trace.meta.backend != trace::Backend::Gpu || trace.time.empty()) return made;
    std::vector<uint32_t> blocks;
    for (uint32_t at = 0; at < trace.blocks.size(); ++at)
        if (trace.blocks[at].sm == sm && trace.blocks[at].count > 0) blocks.push_back(at);
    const auto clock = [&](uint32_t at) { return trace.blocks[at].clock; };
    std::ranges::stable_sort(blocks, {}, clock);

    // As they ran, then without most of the time between them.
    for (const uint32_t at : blocks) {
        const trace::Block& block = trace.blocks[at];
        if (!made.blocks.empty() && made.steps + block.count > most_steps) {
            ++made.beyond;
            continue;
        }
        if (!in_order(trace, block)) {
            ++made.backwards;
            continue;
        }
        SmSchedule::Resident one{at, block.clock + trace.time[block.first], 0, 0, 0};
        const uint64_t last = block.first + block.count - 1;
        one.clocks = uint64_t{trace.time[last]} - trace.time[block.first] + 1;
        for (uint64_t step = block.first; step <= last; ++step)
            one.warps = std::max(one.warps, trace.warp_of(step) + 1);
        made.steps += block.count, made.warps += one.warps;
        made.blocks.push_back(one);
    }
    if (made.blocks.empty()) return made;
    std::ranges::stable_sort(made.blocks, {}, &SmSchedule::Resident::at);
    uint64_t busy = 0, until = made.blocks.front().at;
    for (const SmSchedule::Resident& one : made.blocks) {
        busy += std::max(until, one.at + one.clocks) - std::max(until, one.at);
        until = std::max(until, one.at + one.clocks);
    }
    const uint64_t keep = busy / kIdlePart + 1;
    uint64_t left_out = made.blocks.front().at;
    until = left_out;
    std::vector<uint64_t> free;  // by slot
    for (SmSchedule::Resident& one : made.blocks) {
        if (one.at > until + 2 * keep) {
            made.cuts.push_back({until - left_out + keep / 2, one.at - until - keep});
            left_out += one.at - until - keep;
        }
        until = std::max(until, one.at + one.clocks);
        one.at -= left_out;
        const auto slot = std::ranges::find_if(free, [&](uint64_t end) { return end <= one.at; });
        one.slot = static_cast<uint32_t>(slot - free.begin());
        if (slot == free.end()) free.push_back(0);
        free[one.slot] = one.at + one.clocks;
    }
    made.slots = static_cast<uint32_t>(free.size());
    made.clocks = std::ranges::max(free);
    return made;
}

SmTimes sm_times(const trace::Trace& trace, const SmSchedule& schedule) {
    SmTimes made;
    std::vector<uint64_t> at;
    at.reserve(schedule.steps);
    for (const SmSchedule::Resident& one : schedule.blocks) {
        const trace::Block& block = trace.blocks[one.block];
        for (uint64_t step = block.first; step < block.first + block.count; ++step)
            at.push_back(one.at + trace.time[step] - trace.time[block.first]);
        const Warps warps = warps_of(trace, one);
        for (size_t warp = 0; warp < warps.steps.size(); ++warp) {
            if (warps.steps[warp].empty()) continue;
            made.warps += warps.steps[warp].back().at - warps.steps[warp].front().at;
            each_stretch(warps, warp, [&](uint64_t from, uint64_t to, StepKind kind) {
                (kind == StepKind::Barrier ? made.at_barrier : made.behind_load) += to - from;
            });
        }
    }
    if (!std::ranges::is_sorted(at)) std::ranges::sort(at);
    // Between two blocks none of which runs nobody could ask.
    uint64_t until = 0;
    auto next = schedule.blocks.begin();
    for (size_t i = 0; i + 1 < at.size(); ++i) {
        for (; next != schedule.blocks.end() && next->at <= at[i]; ++next)
            until = std::max(until, next->at + next->clocks);
        if (at[i + 1] < until && at[i + 1] - at[i] > made.gap)
            made.gap = at[i + 1] - at[i], made.gap_at = at[i];
    }
    return made;
}

ScheduleView schedule_view(const trace::Trace& trace, const SmSchedule& schedule, uint64_t first,
                           uint64_t end, uint32_t columns) {
    ScheduleView view;
    view.end = std::min(end, schedule.clocks), view.first = std::min(first, view.end);
    view.rows.axis = TimeAxis::Clocks;
    if (view.first == view.end) return view;
    const auto count =
        static_cast<uint32_t>(std::min<uint64_t>(std::max(columns, 1u), view.end - view.first));
    view.rows.columns = view.rows.end = count;
    view.levels.resize(count);
    const ColumnCut cut(view.first, view.end, count);
    for (const SmSchedule::Resident& one : schedule.blocks) {
        view.first_row.push_back(view.rows.warps.size());
        view.rows.warps.resize(view.rows.warps.size() + one.warps);
        view.rows.waits.resize(view.rows.warps.size());
        view.behind.resize(view.rows.warps.size());
        if (one.at >= view.end || one.at + one.clocks <= view.first) continue;
        const Warps warps = warps_of(trace, one);
        for (size_t warp = 0; warp < one.warps; ++warp)
            add_row(view, cut, warps, warp, view.first_row.back() + warp);
    }
    return view;
}

}  // namespace tilescope::look
