#include "core/analysis/hazards.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "core/analysis/hazard_block.h"
#include "core/base/parallel.h"

namespace tilescope::analysis {
namespace {

auto order_of(const HazardExample& e) {
    return std::tuple(e.a.block, e.interval, e.array, e.element, e.a.thread, e.b.thread, e.a.step, e.b.step);
}

// A recording that ended at a barrier: the kernel's own fault.
Hazard barrier_fault(const trace::Trace& trace) {
    const trace::BarrierFault& fault = trace.meta.barrier_fault;
    Hazard h;
    h.kind = HazardKind::BarrierDivergence;
    h.line = fault.line;
    h.count = h.blocks = h.threads = 1;
    h.sentence = trace.meta.incomplete_reason;
    for (uint32_t i = 0; i < trace.blocks.size(); ++i) {
        const trace::Block& b = trace.blocks[i];
        if (b.x != fault.x || b.y != fault.y || b.z != fault.z) continue;
        HazardExample e;
        e.a.block = e.b.block = i;
        e.a.thread = e.b.thread = fault.thread;
        e.first_step = e.last_step = e.a.step = e.b.step = b.first + b.count - (b.count > 0 ? 1 : 0);
        h.examples.push_back(e);
    }
    return h;
}

// Equal findings under one number; the fewest first examples of each.
class Groups {
public:
    Groups(const trace::Trace& trace, uint32_t examples) : trace_(trace), examples_(examples) {}

    Hazard& add(const HazardInstance& found) {
        const Key key{found.kind,        found.place.line,  found.other.line, found.example.array,
                      found.place.space, found.other.store, found.same_warp};
        const auto [at, fresh] = groups_.try_emplace(key);
        Hazard& h = at->second.hazard;
        if (fresh) {
            h.kind = found.kind;
            h.array = found.example.array;
            h.space = found.place.space;
            h.line = found.place.line;
            h.other_line = found.other.line;
            h.other_stores = found.other.store;
            h.same_warp = found.same_warp;
        }
        ++h.count;
        if (at->second.last_block != found.example.a.block) {
            at->second.last_block = found.example.a.block;
            ++h.blocks;
        }
        keep(h.examples, found.example);
        return h;
    }

    // What another part of the blocks found; no block is in both.
    void merge(Groups&& other) {
        for (auto& [key, group] : other.groups_) {
            const auto [at, fresh] = groups_.try_emplace(key, std::move(group));
            if (fresh) continue;
            Hazard& h = at->second.hazard;
            h.count += group.hazard.count;
            h.blocks += group.hazard.blocks;
            h.threads = std::max(h.threads, group.hazard.threads);
            for (const HazardExample& example : group.hazard.examples) keep(h.examples, example);
        }
    }

    std::vector<Hazard> take() {
        std::vector<Hazard> out;
        for (auto& [key, group] : groups_) {
            Hazard& h = group.hazard;
            if (!h.examples.empty()) h.sentence = sentence_of(trace_, h.kind, h.examples.front());
            out.push_back(std::move(h));
        }
        return out;
    }

private:
    using Key = std::tuple<HazardKind, uint32_t, uint32_t, uint8_t, Space, bool, bool>;
    struct Group {
        Hazard hazard;
        uint32_t last_block = 0xFFFF'FFFFu;
    };

    void keep(std::vector<HazardExample>& kept, const HazardExample& example) const {
        const size_t most = std::max(examples_, 1u);
        if (kept.size() == most && order_of(example) >= order_of(kept.back())) return;
        const auto at = std::upper_bound(
            kept.begin(), kept.end(), example,
            [](const HazardExample& x, const HazardExample& y) { return order_of(x) < order_of(y); });
        kept.insert(at, example);
        if (kept.size() > most) kept.pop_back();
    }

    const trace::Trace& trace_;
    uint32_t examples_;
    std::map<Key, Group> groups_;
};

// A thread is worth starting for a few milliseconds of work.
constexpr uint64_t kStepsWorthAThread = 100'000;

bool whole(const trace::Trace& trace) { return trace.meta.complete && trace::dropped_of(trace) == 0; }

}  // namespace

Result<Hazards> find_hazards(const trace::Trace& trace, const HazardOptions& options) {
    const auto rule = phase_rule(trace);
    if (!rule) return rule.error();
    return find_hazards(trace, *rule, options);
}

Hazards find_hazards(const trace::Trace& trace, const PhaseRule& rule, const HazardOptions& options) {
    const bool barriers = whole(trace);
    const uint64_t blocks = trace.blocks.size();
    const uint64_t parts = std::clamp<uint64_t>(
        trace.steps() / kStepsWorthAThread, 1,
        std::clamp<uint64_t>(threads_of(options.threads), 1, std::max<uint64_t>(blocks, 1)));
    std::vector<Groups> of_part(parts, Groups(trace, options.examples));
    std::vector<std::map<uint32_t, uint64_t>> judged_of_part(parts);
    for_each_index(parts, static_cast<unsigned>(parts), [&](uint64_t part) {
        HazardForms forms(trace);
        BlockHazards hazards(forms);
        Groups& groups = of_part[part];
        const HazardSink sink = [&](const HazardInstance& found) { groups.add(found); };
        std::vector<bool> needed;
        for (uint64_t i = blocks * part / parts; i < blocks * (part + 1) / parts; ++i) {
            const BlockIntervals block = intervals_of_block(forms, rule, static_cast<uint32_t>(i));
            hazards.find(block, sink, needed);
            if (!barriers) continue;
            uint32_t missing = 0;
            find_divergence(forms, block, [&](const HazardInstance& found) {
                Hazard& h = groups.add(found);
                h.threads = std::max(h.threads, ++missing);
            });
            find_redundant(forms, rule, block, needed, judged_of_part[part], sink);
        }
    });
    Groups& groups = of_part[0];
    std::map<uint32_t, uint64_t>& judged = judged_of_part[0];
    for (uint64_t part = 1; part < parts; ++part) {
        groups.merge(std::move(of_part[part]));
        for (const auto& [line, passages] : judged_of_part[part]) judged[line] += passages;
    }
    HazardForms forms(trace);
    const HazardSink sink = [&](const HazardInstance& found) { groups.add(found); };
    Hazards out;
    if (!barriers) out.not_judged = "the recording is not whole: barriers were not judged";
    if (!find_grid_races(forms, sink))
        out.not_judged =
            "more elements were stored to than are held against one another between blocks: "
            "the others were not looked at; record a smaller window of blocks";
    out.found = groups.take();
    if (trace.meta.barrier_fault.is) out.found.push_back(barrier_fault(trace));
    for (Hazard& h : out.found)
        if (h.kind == HazardKind::RedundantBarrier) h.of = judged[h.line];
    return out;
}

FaultyCells faulty_cells(const trace::Trace& trace, const PhaseRule& rule, uint32_t block, size_t most) {
    HazardForms forms(trace);
    BlockHazards hazards(forms);
    FaultyCells out;
    std::vector<bool> needed;
    const BlockIntervals intervals = intervals_of_block(forms, rule, block);
    const auto sink = [&](const HazardInstance& found) {
        if (out.cells.size() >= most) {
            out.cut = true;
            return;
        }
        const HazardExample& e = found.example;
        out.cells.push_back({found.kind, found.same_warp, e.array, e.element, e.interval,
                             static_cast<uint32_t>(e.first_step - intervals.first),
                             static_cast<uint32_t>(e.last_step - intervals.first), e});
    };
    hazards.find(intervals, sink, needed);
    std::sort(out.cells.begin(), out.cells.end(), [](const FaultyCell& x, const FaultyCell& y) {
        const auto key = [](const FaultyCell& c) {
            return std::tuple(c.interval, c.array, c.element, c.kind, order_of(c.example));
        };
        return key(x) < key(y);
    });
    return out;
}

}  // namespace tilescope::analysis
