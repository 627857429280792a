#include "core/hazards/hazards.h"

#include <algorithm>
#include <atomic>
#include <map>
#include <set>
#include <tuple>

#include <fmt/core.h>

#include "core/base/cluster.h"
#include "core/base/parallel.h"
#include "core/base/text.h"
#include "core/hazards/block.h"
#include "core/hazards/chains.h"
#include "core/hazards/ordered.h"
#include "core/hazards/said.h"
#include "core/trace/claims.h"

namespace tilescope::analysis {
namespace {

auto order_of(const HazardExample& e) {
    return std::tuple(rank_of(e), e.a.block, e.interval, e.array, e.element, e.a.thread, e.b.thread, e.a.step,
                      e.b.step);
}

// A recording that ended at a barrier: the kernel's own fault.
Hazard barrier_fault(const trace::Trace& trace) {
    const trace::BarrierFault& fault = trace.meta.barrier_fault;
    Hazard h;
    h.kind = HazardKind::BarrierDivergence;
    h.line = fault.line;
    h.count = h.blocks = h.threads = 1;
    h.sentence = one_sentence(trace.meta.incomplete_reason);
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

void say(const trace::Trace& trace, Hazard& h) {
    std::sort(h.examples.begin(), h.examples.end(),
              [](const HazardExample& x, const HazardExample& y) { return order_of(x) < order_of(y); });
    if (!h.examples.empty()) h.sentence = sentence_of(trace, h.kind, h.examples.front(), {}, h.severity);
}

// The kinds whose examples tell_pairs is for.
bool of_cells(HazardKind kind) {
    return kind == HazardKind::Race || kind == HazardKind::Uninitialised || kind == HazardKind::Stale ||
           kind == HazardKind::ReadBeforeWait;
}

// Of one block.
std::vector<HazardExample*> examples_of(std::vector<Hazard>& found, uint32_t block) {
    std::vector<HazardExample*> of_block;
    for (Hazard& h : found)
        for (HazardExample& e : h.examples)
            if (of_cells(h.kind) && e.a.block == block) of_block.push_back(&e);
    return of_block;
}

// Equal findings under one number; the fewest first examples of each.
class Groups {
public:
    explicit Groups(uint32_t examples) : examples_(examples) {}

    Hazard& add(const HazardInstance& found) {
        const HazardExample& e = found.example;
        const bool between = of_cells(found.kind) && e.b.site != kNoSite && e.b.block != e.a.block;
        const Key key{found.kind,        found.place.line,  found.other.line, e.array,
                      found.place.space, found.other.store, found.same_warp,  between,
                      found.severity,    e.missing};
        auto at = groups_.find(key);
        const bool fresh = at == groups_.end();
        if (fresh && groups_.size() >= kMostFindings) {
            full_ = true;
            return rest_;
        }
        if (fresh) at = groups_.try_emplace(key).first;
        Hazard& h = at->second.hazard;
        if (fresh) {
            h.kind = found.kind;
            h.array = found.example.array;
            h.space = found.place.space;
            h.line = found.place.line;
            h.other_line = found.other.line;
            h.other_stores = found.other.store;
            h.same_warp = found.same_warp;
            h.between_blocks = between;
            h.severity = found.severity;
        }
        ++h.count;
        if (at->second.last_block != found.example.a.block) {
            at->second.last_block = found.example.a.block;
            ++h.blocks;
        }
        keep(h.examples, found.example);
        return h;
    }

    // Whether there are more findings than are kept.
    bool full() const { return full_; }

    // What another part of the blocks found; no block is in both.
    void merge(Groups&& other) {
        full_ = full_ || other.full_;
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
        for (auto& [key, group] : groups_) out.push_back(std::move(group.hazard));
        return out;
    }

private:
    using Key =
        std::tuple<HazardKind, uint32_t, uint32_t, uint8_t, Space, bool, bool, bool, Severity, Missing>;
    struct HazardGroup {
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

    static constexpr size_t kMostFindings = 4096;

    uint32_t examples_;
    std::map<Key, HazardGroup> groups_;
    Hazard rest_;  // of those that are not kept
    bool full_ = false;
};

// A thread is worth starting for a few milliseconds of work.
constexpr uint64_t kStepsWorthAThread = 100'000;

// Threads that lay out a block and know the forms at a time, in half of the memory.
unsigned threads_that_fit(const trace::Trace& trace, uint32_t blocks) {
    uint64_t longest = 1;
    for (uint32_t i = 0; i < blocks; ++i) longest = std::max(longest, trace.blocks[i].count);
    const uint64_t bytes =
        longest * interval_bytes(trace) + trace.forms.size() * sizeof(HazardForms::FormKind) * 2;
    return static_cast<unsigned>(std::clamp<uint64_t>(trace::memory_left(trace) / 2 / bytes, 1, 256));
}

// What Tilescope's headers leave in the PTX where threads of a block wait for each other by cuda::barrier,
// which is made of plain accesses.
constexpr std::string_view kAccessBarrier = "// tilescope: cuda::barrier";

// Whether a finding between blocks is of two of one cluster.
bool in_one_cluster(const trace::Trace& trace, const HazardExample& e) {
    const auto cluster_of = [&](uint32_t number) {
        const trace::Block& block = trace.blocks[number];
        return block_of_rank(trace.launch.cluster, {block.x, block.y, block.z}, 0);
    };
    return has_clusters(trace.launch) && e.a.block < trace.blocks.size() && e.b.block < trace.blocks.size() &&
           cluster_of(e.a.block) == cluster_of(e.b.block);
}

bool whole(const trace::Trace& trace) { return trace.meta.complete && trace::dropped_of(trace) == 0; }

}  // namespace

Hazards find_hazards(const Recording& recording, const HazardOptions& options) {
    const trace::Trace& trace = *recording.trace;
    const bool barriers = whole(trace);
    Hazards out;
    if (!barriers) out.not_judged = "the recording is not whole: barriers were not judged";
    std::string cut;  // blocks that are not looked at
    const uint32_t blocks = blocks_looked_at(trace, cut);
    if (!cut.empty()) out.not_judged = cut;
    const auto lacks = [&](const char* what) {
        out.not_judged = cut.empty() ? what : fmt::format("{}; {}", cut, what);
    };
    const bool unseen = trace.meta.ptx.find(kAccessBarrier) != std::string::npos;
    if (unseen)
        lacks(
            "threads wait for each other by cuda::barrier, whose order is not followed: races and values "
            "that "
            "were never stored were not looked for");
    const KernelFacts facts(trace);
    const bool by_order = is_by_order(trace, facts),
               whole_order = facts.known() && trace::dropped_of(trace) == 0;
    if (by_order && !whole_order)
        lacks(facts.known() ? "the recording lacks steps, and threads wait for each other by more than the "
                              "barrier of their block: "
                              "races within a block and values that were never stored were not looked for"
                            : "the PTX that the recording holds is not that of its steps, and threads wait "
                              "for each other by more "
                              "than the barrier of their block: races within a block and values that were "
                              "never stored were not "
                              "looked for");
    else if (by_order)
        lacks(
            "threads wait for each other by more than the barrier of their block: barriers that keep nothing "
            "apart, or "
            "that not all threads come to, were not looked for");
    const bool shares = trace::shares_memory_in_clusters(trace);
    if (shares)
        lacks(
            "blocks of a cluster touch each other's shared memory, and the steps of a block do not have what "
            "others do to its own: races within a block and values that were never stored were not looked "
            "for");
    if (blocks == 0 || unseen) {
        if (trace.meta.barrier_fault.is) out.found.push_back(barrier_fault(trace));
        add_findings(trace, out);
        return out;
    }
    const uint64_t parts = std::clamp<uint64_t>(
        trace.steps() / kStepsWorthAThread, 1,
        std::clamp<uint64_t>(std::min(threads_of(options.threads), threads_that_fit(trace, blocks)), 1,
                             std::max<uint64_t>(blocks, 1)));
    std::vector<Groups> of_part(parts, Groups(options.examples));
    std::vector<PassagesOfLines> passages_of_part(parts);
    std::atomic<bool> left_out = false;
    const uint64_t most_bytes = trace::memory_left(trace) / 2 / parts;
    for_each_index(parts, static_cast<unsigned>(parts), [&](uint64_t part) {
        HazardForms forms(trace);
        PhaseWalk walk(trace, recording.rule);
        Chains chains(forms);
        const uint64_t most_found = most_found_of_a_block(blocks);
        BlockHazards hazards(forms, chains, most_bytes, most_found, options.stop);
        OrderedHazards ordered(forms, most_bytes, most_found, options.stop);
        Groups& groups = of_part[part];
        const HazardSink sink = [&](const HazardInstance& found) { groups.add(found); };
        std::vector<bool> needed;
        for (uint64_t i = blocks * part / parts; i < blocks * (part + 1) / parts; ++i) {
            if (options.stop.now() || shares || (by_order && !whole_order)) return;
            if (by_order) {
                ordered.find(static_cast<uint32_t>(i), walk, sink);
                if (ordered.full()) left_out = true;
                continue;
            }
            const BlockIntervals block = intervals_of_block(forms, walk, static_cast<uint32_t>(i));
            hazards.find(block, sink, needed);
            if (block.cut || hazards.full()) left_out = true;
            if (!barriers) continue;
            uint32_t missing = 0;
            find_divergence(forms, block, [&](const HazardInstance& found) {
                Hazard& h = groups.add(found);
                h.threads = std::max(h.threads, ++missing);
            });
            find_redundant(forms, recording.rule, block, needed, passages_of_part[part], sink);
        }
    });
    Groups& groups = of_part[0];
    PassagesOfLines& passages = passages_of_part[0];
    for (uint64_t part = 1; part < parts; ++part) {
        groups.merge(std::move(of_part[part]));
        for (const auto& [line, more] : passages_of_part[part]) {
            passages[line].judged += more.judged;
            passages[line].all += more.all;
        }
    }
    HazardForms forms(trace);
    Chains chains(forms);
    // How a block's own order carries that of fences and atomics on is followed by its intervals alone (chains.h).
    const HazardSink sink = [&](HazardInstance found) {
        if (in_one_cluster(trace, found.example)) return;  // what orders them is not followed
        if (by_order && facts.fences() && found.severity == Severity::Fault)
            found.severity = Severity::CannotTell;
        groups.add(found);
    };
    if (left_out)
        lacks(
            "a block touches more elements, or has more faults, than are held against one another: the "
            "others were not looked at; "
            "set TILESCOPE_MAX_MEMORY to more gigabytes");
    // Where blocks wait for each other, in which intervals they touched an element is not recorded.
    const bool ordered = trace.meta.ptx.find(ptx::kGridBarrier) != std::string::npos;
    if (!ordered && !find_grid_races(forms, chains, blocks, sink, options.stop))
        lacks(
            "more elements were stored to than are held against one another between blocks: "
            "the others were not looked at; record a smaller window of blocks");
    if (groups.full()) lacks("there are more faults than are told apart: the others were left out");
    out.found = groups.take();
    std::set<uint32_t> told;  // blocks that an example is of
    for (const Hazard& h : out.found)
        for (const HazardExample& e : h.examples)
            if (h.kind == HazardKind::Race && !by_order) told.insert(e.a.block);
    PhaseWalk walk(trace, recording.rule);
    for (const uint32_t block : told)
        if (!options.stop.now())
            tell_pairs(trace, intervals_of_block(forms, walk, block), examples_of(out.found, block), {});
    for (Hazard& h : out.found) say(trace, h);
    if (trace.meta.barrier_fault.is) out.found.push_back(barrier_fault(trace));
    add_findings(trace, out);
    for (Hazard& h : out.found)
        if (h.kind == HazardKind::RedundantBarrier)
            h.of = passages[h.line].judged, h.passed = passages[h.line].all;
    return out;
}

void tell_values(const Recording& recording, uint32_t block, const ValueAt& value, Hazards& hazards) {
    const trace::Trace& trace = *recording.trace;
    HazardForms forms(trace);
    if (is_by_order(trace, forms.facts)) return;
    PhaseWalk walk(trace, recording.rule);
    tell_pairs(trace, intervals_of_block(forms, walk, block), examples_of(hazards.found, block), value);
    for (Hazard& h : hazards.found)
        if (of_cells(h.kind)) say(trace, h);
}

FaultyCells faulty_cells(const Recording& recording, uint32_t block, const ValueAt& value, size_t most,
                         Stop stop) {
    const trace::Trace& trace = *recording.trace;
    FaultyCells out;
    HazardForms forms(trace);
    const trace::Block& steps = trace.blocks[block];
    const bool by_order = is_by_order(trace, forms.facts);
    out.not_looked = trace::shares_memory_in_clusters(trace) || !is_looked_at(trace, steps) ||
                     (by_order && (!forms.facts.known() || steps.dropped > 0));
    if (out.not_looked) return out;
    PhaseWalk walk(trace, recording.rule);
    const auto sink = [&](const HazardInstance& found) {
        if (found.severity != Severity::Fault) return;
        if (out.cells.size() >= most) {
            out.cut = true;
            return;
        }
        const HazardExample& e = found.example;
        out.cells.push_back({found.kind, found.same_warp, e.array, e.element, e.interval,
                             static_cast<uint32_t>(e.first_step - steps.first),
                             static_cast<uint32_t>(e.last_step - steps.first), e, 0});
    };
    const uint64_t most_bytes = trace::memory_left(trace) / 2, most_found = most_found_of_a_block(1);
    if (by_order) {
        OrderedHazards(forms, most_bytes, most_found, stop).find(block, walk, sink);
    } else {
        Chains chains(forms);
        const BlockIntervals intervals = intervals_of_block(forms, walk, block);
        std::vector<bool> needed;
        BlockHazards(forms, chains, most_bytes, most_found, stop).find(intervals, sink, needed);
        std::vector<HazardExample*> examples;
        for (FaultyCell& cell : out.cells) examples.push_back(&cell.example);
        if (!stop.now()) tell_pairs(trace, intervals, examples, value);
    }
    if (stop.now()) return {};
    for (FaultyCell& cell : out.cells) {
        const HazardExample& e = cell.example;
        const bool late = cell.kind == HazardKind::Race && !reads_wrong(e) && e.a.step > e.b.step;
        const uint64_t step = cell.kind == HazardKind::Race && !late ? e.b.step : e.a.step;
        cell.told_step = static_cast<uint32_t>(step - steps.first);
    }
    std::sort(out.cells.begin(), out.cells.end(), [](const FaultyCell& x, const FaultyCell& y) {
        const auto key = [](const FaultyCell& c) {
            return std::tuple(c.interval, c.array, c.element, c.kind, order_of(c.example));
        };
        return key(x) < key(y);
    });
    return out;
}

}  // namespace tilescope::analysis
