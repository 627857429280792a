// Two thoughts make ten million requests a matter of a second:
//
//   what a request costs depends on its form and its place modulo 128 bytes (cost.h): so steps are only
//   counted by form and place, and judged once for each pair; which elements a request loads depends on its
//   form and its first element: so the lanes of a form are put together once, as runs of neighbouring
//   elements with equal counts (reuse.h).
#include "core/analysis/summary.h"

#include <algorithm>
#include <array>
#include <bit>
#include <unordered_map>

#include <fmt/core.h>

#include "core/analysis/cost.h"
#include "core/analysis/reuse.h"
#include "core/base/words.h"

namespace tilescope::analysis {
namespace {

constexpr uint64_t kAskEvery = 4096;  // steps: whether it is still wanted, and within what is allowed
constexpr uint64_t kBytesAForm = 16;  // of what is kept for each form

// Sums over `count` steps of a form, each of the same cost.
Sums sums_of(const trace::Form& form, const Cost& cost, uint64_t count) {
    const uint64_t lanes = count * static_cast<uint64_t>(std::popcount(form.mask));
    return {.requests = count,
            .lanes = lanes,
            .bytes = count * cost.bytes,
            .sectors = count * cost.global.sectors,
            .ideal_sectors = count * cost.global.ideal_sectors,
            .block_sectors = count * cost.global.block_sectors,
            .lines = count * cost.global.lines,
            .wavefronts = count * cost.shared.wavefronts,
            .ideal_wavefronts = count * cost.shared.ideal_wavefronts,
            .addresses = count * cost.addresses.addresses,
            .turns = count * cost.addresses.most_lanes};
}

void add_to(SplitSums& sums, const trace::Trace& trace, const trace::Form& form, const Sums& of_form) {
    const StepKind kind = kind_of(trace, form);
    if (kind == StepKind::Barrier)
        sums.barriers += of_form.requests;
    else if (kind == StepKind::Exchange)
        sums.exchanges += of_form.requests;
    else if (kind == StepKind::Signal)
        sums.signals += of_form.requests;
    else if (kind == StepKind::SignalWait)
        sums.signal_waits += of_form.requests;
    else
        sums[kind] += of_form;
}

// Steps counted by form and place.
class Tally {
public:
    explicit Tally(const trace::Trace& trace) : trace_(trace), costs_(trace), row_(trace.forms.size(), -1) {}

    // Requests that were judged one by one.
    uint64_t judged() const { return costs_.judged(); }

    void add(uint64_t step) {
        const uint32_t form = trace_.key[step] & 0xFFFFFF;
        if (trace_.sites[trace_.forms[form].site].box != ptx::Box::None) return add_alone(form, step);
        if (row_[form] < 0) {
            if (entries_.size() >= kRememberedForms * kCostPeriod) return add_alone(form, step);
            open_row(form);
        }
        Entry& entry = entries_[static_cast<size_t>(row_[form]) * kCostPeriod + costs_.place(step)];
        ++entry.count;
        entry.step = step;
    }

    // visit(form, Sums) for every form that occurred.
    template <class Visit>
    void each(Visit visit) {
        for (uint32_t form = 0; form < row_.size(); ++form) {
            if (row_[form] < 0) continue;
            Sums sums;
            for (uint32_t place = 0; place < kCostPeriod; ++place) {
                const Entry& entry = entries_[static_cast<size_t>(row_[form]) * kCostPeriod + place];
                if (entry.count > 0)
                    sums += sums_of(trace_.forms[form], costs_.of(form, place, entry.step), entry.count);
            }
            visit(form, sums);
        }
        for (const auto& [form, sums] : alone_) visit(form, sums);
    }

private:
    struct Entry {
        uint64_t count = 0;
        uint64_t step = 0;  // any of them
    };

    // For forms beyond those that are remembered, and those of other shapes: judged at once.
    void add_alone(uint32_t form, uint64_t step) {
        alone_[form] += sums_of(trace_.forms[form], costs_.of(step), 1);
    }

    void open_row(uint32_t form) {
        row_[form] = static_cast<int32_t>(entries_.size() / kCostPeriod);
        entries_.resize(entries_.size() + kCostPeriod);
    }

    const trace::Trace& trace_;
    CostTable costs_;
    std::vector<int32_t> row_;  // per form, -1 until it occurs
    std::unordered_map<uint32_t, Sums> alone_;
    std::vector<Entry> entries_;  // row * 128 + place
};

Reuse reuse_of(const Array& array, const ElementCounts& loads) {
    Reuse reuse;
    reuse.array = array.name;
    loads.each([&](uint64_t, uint32_t count) {
        reuse.min = reuse.elements == 0 ? count : std::min<uint64_t>(reuse.min, count);
        reuse.max = std::max<uint64_t>(reuse.max, count);
        reuse.loads += count;
        ++reuse.elements;
    });
    return reuse;
}

}  // namespace

Sums& Sums::operator+=(const Sums& other) {
    requests += other.requests;
    lanes += other.lanes;
    bytes += other.bytes;
    sectors += other.sectors;
    ideal_sectors += other.ideal_sectors;
    block_sectors += other.block_sectors;
    lines += other.lines;
    wavefronts += other.wavefronts;
    ideal_wavefronts += other.ideal_wavefronts;
    addresses += other.addresses;
    turns += other.turns;
    return *this;
}

std::optional<double> Sums::efficiency() const {
    if (sectors == 0) return std::nullopt;
    return static_cast<double>(bytes) / static_cast<double>(moved_bytes());
}

Sums SplitSums::total() const {
    Sums all;
    for (const Sums& sums : of_kind) all += sums;
    return all;
}

SplitSums& SplitSums::operator+=(const SplitSums& other) {
    for (size_t at = 0; at < kMemoryKinds; ++at) of_kind[at] += other.of_kind[at];
    barriers += other.barriers;
    exchanges += other.exchanges;
    signals += other.signals;
    signal_waits += other.signal_waits;
    return *this;
}

void add_step(SplitSums& sums, const trace::Trace& trace, uint64_t step, const Cost& cost) {
    const trace::Form& form = trace.form_of(step);
    add_to(sums, trace, form, sums_of(form, cost, 1));
}

Result<Summary> summarize(const Recording& recording, Stop stop, LoadCounter* counted_loads) {
    const trace::Trace& trace = *recording.trace;
    if (trace.forms.size() * kBytesAForm > trace::memory_left(trace))
        return trace::more_memory(
            fmt::format("counting requests of {}", counted(trace.forms.size(), "form")));

    Tally tally(trace);
    LoadCounter own(trace, trace::memory_left(trace) / 4 * 3);
    LoadCounter& loads = counted_loads ? *counted_loads : own;
    const uint64_t allowed = trace::most_lane_accesses();
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        if (step % kAskEvery == 0) {
            if (stop.now()) return Error{kStopped};
            if (loads.looked_at() > allowed)
                return trace::more_work("counting how often each element is loaded");
            if (tally.judged() > (allowed - loads.looked_at()) / (2 * kWarpSize))
                return trace::more_work("judging what each request costs");
        }
        tally.add(step);
        loads.add(step);
        if (loads.full()) break;
    }
    loads.finish();
    if (loads.full()) return trace::more_memory("counting how often each element is loaded");

    Summary summary;
    std::vector<int32_t> row(trace.sites.size(), -1);  // site -> summary.sites
    for (const ptx::Site& site : trace.sites) {
        if (!ptx::asks_memory(site.kind)) continue;
        row[site.id] = static_cast<int32_t>(summary.sites.size());
        summary.sites.push_back({site.id, trace::kNoArray, {}});
    }
    std::vector<std::array<uint64_t, 256>> lanes_by_array(summary.sites.size());
    tally.each([&](uint32_t form, const Sums& sums) {
        const trace::Form& f = trace.forms[form];
        add_to(summary, trace, f, sums);
        if (row[f.site] < 0) return;
        summary.sites[row[f.site]].sums += sums;
        lanes_by_array[row[f.site]][f.array] += sums.lanes;
    });
    for (size_t i = 0; i < summary.sites.size(); ++i) {
        const auto most = std::max_element(lanes_by_array[i].begin(), lanes_by_array[i].end());
        if (*most > 0) summary.sites[i].array = static_cast<uint8_t>(most - lanes_by_array[i].begin());
    }

    for (uint8_t i = 0; i < trace.launch.arrays.size() && i < trace::kNoArray; ++i)
        if (trace.launch.arrays[i].reads() && trace.launch.arrays[i].space == Space::Global)
            summary.reuse.push_back(reuse_of(trace.launch.arrays[i], loads.of(i)));

    PhaseWalk walk(trace, recording.rule);
    for (uint32_t block = 0; block < trace.blocks.size(); ++block) {
        walk.enter(block);
        for (uint64_t left = trace.blocks[block].count; left > 0; left -= std::min(left, kAskEvery)) {
            if (stop.now()) return Error{kStopped};
            if (walk.looked_at() > allowed) return trace::more_work("counting phases");
            walk.skip(std::min(left, kAskEvery));
        }
        summary.phases = std::max(summary.phases, walk.phases());
        summary.barriers_per_block = std::max(summary.barriers_per_block, walk.barriers());
    }
    return summary;
}

Sums sums_of_steps(const trace::Trace& trace, uint64_t first, uint64_t last) {
    Tally tally(trace);
    for (uint64_t step = first; step < std::min(last, trace.steps()); ++step) tally.add(step);
    SplitSums sums;
    tally.each([&](uint32_t form, const Sums& of_form) { add_to(sums, trace, trace.forms[form], of_form); });
    return sums.total();
}

}  // namespace tilescope::analysis
