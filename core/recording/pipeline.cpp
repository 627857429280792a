#include "core/recording/pipeline.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "core/recording/phases.h"
#include "core/trace/access.h"

namespace tilescope::analysis {

namespace {

using ptx::Signal;

// A part of shared memory that one copy fills, and the barrier to which it reports.
struct StageCopy {
    uint32_t step = 0, warp = 0, site = 0;
    uint32_t barrier = 0, phase = 0;
    PipelineStage::Part part;
};

void join(std::vector<PipelineStage::Part>& parts) {
    std::ranges::sort(parts, {}, &PipelineStage::Part::first);
    size_t kept = 0;
    for (const PipelineStage::Part& part : parts)
        if (kept > 0 && part.first <= parts[kept - 1].end)
            parts[kept - 1].end = std::max(parts[kept - 1].end, part.end);
        else
            parts[kept++] = part;
    parts.resize(kept);
}

uint32_t phase_before(const Signals& signals, uint32_t step, uint32_t barrier) {
    const SignalEvent* const latest = signals.before(step, barrier);
    return latest == nullptr ? 0 : latest->phase;
}

// Copies in bulk that report to a barrier, and those of cp.async that a thread has arrive at one, in order.
std::vector<StageCopy> copies_of(const trace::Trace& trace, const trace::Block& block,
                                 const Signals& signals) {
    std::vector<bool> wanted;  // by site
    for (const ptx::Site& site : trace.sites)
        wanted.push_back(site.signal == Signal::CopyArrive ||
                         (site.lands_later() && site.space == Space::Shared));
    std::vector<StageCopy> copies;
    std::map<uint32_t, std::vector<StageCopy>> open;  // by warp: of cp.async, which arrive nowhere yet
    for (uint32_t step = 0; step < block.count; ++step) {
        const uint64_t at = block.first + step;
        const trace::Form& form = trace.form_of(at);
        if (!wanted[form.site]) continue;
        const ptx::Site& site = trace.sites[form.site];
        const trace::AccessView access(trace, at);
        const uint32_t warp = access.warp();
        if (site.signal == Signal::CopyArrive) {
            std::set<uint32_t> barriers;
            for_lanes(form.mask, [&](uint32_t lane) {
                barriers.insert(static_cast<uint32_t>(access.addresses()[lane]));
            });
            for (const StageCopy& copy : open[warp])
                for (const uint32_t barrier : barriers) {
                    copies.push_back(copy);
                    copies.back().barrier = barrier;
                    copies.back().phase = phase_before(signals, step, barrier);
                }
            open[warp].clear();
            continue;
        }
        access.for_pieces([&](uint32_t lane, uint64_t first, uint64_t bytes) {
            StageCopy copy{step, warp, form.site, 0, 0, {first, first + bytes}};
            if (site.box == ptx::Box::None) return open[warp].push_back(copy);
            if (site.words <= 1) return;
            copy.barrier = trace::words_of(trace, at, lane)[1];
            if (copy.barrier == ptx::kNoBarrier) return;
            copy.phase = phase_before(signals, step + 1, copy.barrier);
            copies.push_back(copy);
        });
    }
    std::ranges::stable_sort(copies, {}, &StageCopy::step);
    return copies;
}

// Rings: stages that share an instruction which copies; those that one instruction each fills, as where a loop is
// unrolled, belong together by the line of the source and the bytes of a stage.
std::vector<uint32_t> rings_of(const trace::Trace& trace, const std::vector<PipelineStage>& stages,
                               const std::vector<std::set<uint32_t>>& sites) {
    std::vector<uint32_t> ring(stages.size());
    std::iota(ring.begin(), ring.end(), 0u);
    const auto unite = [&](uint32_t a, uint32_t b) {
        const uint32_t from = std::max(ring[a], ring[b]), to = std::min(ring[a], ring[b]);
        std::ranges::replace(ring, from, to);
    };
    std::map<uint32_t, uint32_t> of_site;
    for (uint32_t stage = 0; stage < stages.size(); ++stage)
        for (const uint32_t site : sites[stage]) unite(of_site.try_emplace(site, stage).first->second, stage);
    std::map<std::tuple<uint32_t, uint64_t>, uint32_t> alone;
    for (uint32_t stage = 0; stage < stages.size(); ++stage) {
        if (std::ranges::count(ring, ring[stage]) > 1) continue;
        uint64_t bytes = 0;
        for (const PipelineStage::Part& part : stages[stage].parts) bytes += part.end - part.first;
        alone.try_emplace({trace.sites[*sites[stage].begin()].line, bytes}, stage);
    }
    for (uint32_t stage = 0; stage < stages.size(); ++stage) {
        uint64_t bytes = 0;
        for (const PipelineStage::Part& part : stages[stage].parts) bytes += part.end - part.first;
        const auto same = alone.find({trace.sites[*sites[stage].begin()].line, bytes});
        if (same != alone.end() && sites[stage].size() == 1 && sites[same->second].size() == 1)
            unite(same->second, stage);
    }
    return ring;
}

// By stage and barrier: how often a warp that copies into it waited for the barrier just before, and how often one that
// has waited for the stage arrived there next.
struct EmptyVotes {
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> by_copies, by_readers;
};

EmptyVotes votes_of(const std::vector<StageCopy>& copies, const Signals& signals,
                    const std::map<uint32_t, uint32_t>& stage_of_full, const trace::Trace& trace,
                    const trace::Block& block) {
    EmptyVotes votes;
    std::map<uint32_t, uint32_t> last_full, last_other;  // by warp: barrier waited for
    size_t next = 0;
    const auto copied = [&](uint32_t step) {
        for (; next < copies.size() && copies[next].step < step; ++next)
            if (const auto waited = last_other.find(copies[next].warp); waited != last_other.end())
                ++votes.by_copies[{stage_of_full.at(copies[next].barrier), waited->second}],
                    last_other.erase(waited);
    };
    for (const SignalEvent& event : signals.events()) {
        if (event.signal != Signal::Wait && event.signal != Signal::Arrive && event.signal != Signal::Drop)
            continue;
        copied(event.step);
        const uint32_t warp = trace.warp_of(block.first + event.step);
        const bool full = stage_of_full.contains(event.barrier);
        if (event.signal == Signal::Wait)
            (full ? last_full : last_other)[warp] = event.barrier;
        else if (const auto read = last_full.find(warp); !full && event.bytes == 0 && read != last_full.end())
            ++votes.by_readers[{stage_of_full.at(read->second), event.barrier}];
    }
    copied(UINT32_MAX);
    return votes;
}

void find_empties(Pipeline& made, const EmptyVotes& votes) {
    std::set<uint32_t> taken;
    for (const auto* all : {&votes.by_copies, &votes.by_readers})
        for (uint32_t stage = 0; stage < made.stages.size(); ++stage) {
            if (made.stages[stage].empty) continue;
            uint32_t most = 0;
            for (const auto& [of, count] : *all)
                if (of.first == stage && count > most && !taken.contains(of.second))
                    most = count, made.stages[stage].empty = of.second;
            if (made.stages[stage].empty) taken.insert(*made.stages[stage].empty);
        }
}

void add_role(Pipeline& made, uint32_t warp, WarpRole role) {
    if (warp >= made.roles.size()) made.roles.resize(warp + 1, WarpRole::None);
    WarpRole& of = made.roles[warp];
    if (of != role) of = of == WarpRole::None ? role : WarpRole::Both;
}

// Where the block's barrier lets warps go: the last arrival at it. As many arrivals of a warp have come before a step of
// it, so many barriers has it passed.
class Openings {
public:
    Openings(const trace::Trace& trace, const trace::Block& block) {
        std::map<uint32_t, uint32_t> passed;  // by warp
        for (uint32_t step = 0; step < block.count; ++step) {
            const ptx::Site& site = trace.sites[trace.form_of(block.first + step).site];
            if (site.kind != ptx::SiteKind::Barrier) continue;
            const uint32_t number = passed[trace.warp_of(block.first + step)]++;
            if (number == last_.size()) last_.push_back(step);
            last_[number] = step;
            arrivals_[step] = number;
        }
    }
    // Where a warp goes on behind a step.
    uint32_t opening(uint32_t step) const {
        const auto arrival = arrivals_.find(step);
        return arrival == arrivals_.end() ? step : last_[arrival->second];
    }

private:
    std::vector<uint32_t> last_;             // by barrier
    std::map<uint32_t, uint32_t> arrivals_;  // by step: which barrier
};

std::vector<SignalWaitSpan> waits_of(const trace::Trace& trace, const trace::Block& block,
                                     const Signals& signals) {
    std::vector<SignalWaitSpan> waits;
    const Openings opened(trace, block);
    std::map<uint32_t, uint32_t> latest;                        // by warp: step
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> ends_at;  // by barrier and phase
    auto event = signals.events().begin();
    for (uint32_t step = 0; step < block.count; ++step) {
        const uint32_t warp = trace.warp_of(block.first + step);
        for (; event != signals.events().end() && event->step <= step; ++event) {
            if (event->ended) ends_at[{event->barrier, event->phase - 1}] = event->step;
            if (event->signal != Signal::Wait) continue;
            // The latest phase of that parity that has ended.
            SignalWaitSpan wait{.warp = warp, .barrier = event->barrier, .step = step};
            for (uint32_t back = 1; back <= 2 && !wait.phase; ++back)
                if (event->phase >= back && (event->phase - back) % 2 == event->count % 2)
                    wait.phase = event->phase - back,
                    wait.ended = ends_at[{event->barrier, event->phase - back}];
            if (const auto before = latest.find(warp); before != latest.end())
                wait.since = opened.opening(before->second);
            if (waits.empty() || waits.back().step != step || waits.back().barrier != event->barrier)
                waits.push_back(wait);
        }
        latest[warp] = step;
    }
    return waits;
}

}  // namespace

bool PipelineStage::holds(uint64_t first, uint64_t end) const {
    return std::ranges::any_of(parts, [&](const Part& part) { return first < part.end && end > part.first; });
}

std::optional<uint32_t> Pipeline::stage_of(uint32_t barrier) const {
    for (uint32_t stage = 0; stage < stages.size(); ++stage)
        if (stages[stage].full == barrier || stages[stage].empty == barrier) return stage;
    return std::nullopt;
}

const StageFill* Pipeline::fill_at(uint32_t stage, uint32_t step) const {
    const std::vector<uint32_t>& own = fills_of[stage];
    const auto after =
        std::ranges::upper_bound(own, step, {}, [&](uint32_t fill) { return fills[fill].asked; });
    return after == own.begin() ? nullptr : &fills[*(after - 1)];
}

Pipeline pipeline_of(const trace::Trace& trace, uint32_t number, const Signals& signals) {
    Pipeline made;
    if (signals.events().empty()) return made;
    const trace::Block& block = trace.blocks[number];
    made.waits = waits_of(trace, block, signals);
    const std::vector<StageCopy> copies = copies_of(trace, block, signals);

    // Stages in the order in which they are first filled, then ring after ring.
    std::vector<PipelineStage> stages;
    std::vector<std::set<uint32_t>> sites;
    std::map<uint32_t, uint32_t> stage_of;  // by full barrier
    for (const StageCopy& copy : copies) {
        const auto [at, added] = stage_of.try_emplace(copy.barrier, static_cast<uint32_t>(stages.size()));
        if (added) stages.push_back({.full = copy.barrier}), sites.emplace_back();
        stages[at->second].parts.push_back(copy.part);
        sites[at->second].insert(copy.site);
    }
    for (PipelineStage& stage : stages) join(stage.parts);
    const std::vector<uint32_t> ring = rings_of(trace, stages, sites);
    std::map<uint32_t, std::vector<uint32_t>> by_ring;
    for (uint32_t stage = 0; stage < stages.size(); ++stage) by_ring[ring[stage]].push_back(stage);
    for (const auto& [key, members] : by_ring) {
        for (const uint32_t stage : members) {
            stages[stage].ring = made.rings;
            made.stages.push_back(stages[stage]);
        }
        ++made.rings;
    }
    for (uint32_t stage = 0; stage < made.stages.size(); ++stage) stage_of[made.stages[stage].full] = stage;
    find_empties(made, votes_of(copies, signals, stage_of, trace, block));

    std::map<std::pair<uint32_t, uint32_t>, size_t> fill_of;  // by stage and phase
    std::vector<uint32_t> trips(made.rings);
    made.fills_of.resize(made.stages.size());
    for (const StageCopy& copy : copies) {
        const uint32_t stage = stage_of[copy.barrier];
        const auto [at, added] = fill_of.try_emplace({stage, copy.phase}, made.fills.size());
        if (added) {
            made.fills_of[stage].push_back(static_cast<uint32_t>(made.fills.size()));
            made.fills.push_back({.stage = stage,
                                  .trip = trips[made.stages[stage].ring]++,
                                  .phase = copy.phase,
                                  .warp = copy.warp,
                                  .asked = copy.step});
        }
        StageFill& fill = made.fills[at->second];
        fill.bytes += copy.part.end - copy.part.first;
        if (fill.copies.empty() || fill.copies.back() != copy.step) fill.copies.push_back(copy.step);
        add_role(made, copy.warp, WarpRole::Producer);
    }
    for (const SignalEvent& event : signals.events()) {
        const std::optional<uint32_t> stage = made.stage_of(event.barrier);
        if (!stage) continue;
        const bool full = made.stages[*stage].full == event.barrier;
        if (full && event.ended)
            if (const auto at = fill_of.find({*stage, event.phase - 1}); at != fill_of.end())
                made.fills[at->second].landed = event.step;
        if (event.signal == Signal::None) continue;
        const uint32_t warp = trace.warp_of(block.first + event.step);
        const bool waits = event.signal == Signal::Wait,
                   arrives = event.signal == Signal::Arrive || event.signal == Signal::Drop;
        if (full ? event.bytes > 0 && !waits : waits) add_role(made, warp, WarpRole::Producer);
        if (full ? waits : arrives) add_role(made, warp, WarpRole::Consumer);
    }
    // A stage is free at the first end of its empty barrier's phase behind the landing.
    std::vector<size_t> next(made.stages.size());  // the fill of each stage that is not free yet
    for (const SignalEvent& event : signals.events()) {
        const std::optional<uint32_t> stage = made.stage_of(event.barrier);
        if (!stage || !event.ended || made.stages[*stage].empty != event.barrier) continue;
        const std::vector<uint32_t>& own = made.fills_of[*stage];
        if (next[*stage] >= own.size()) continue;
        StageFill& fill = made.fills[own[next[*stage]]];
        if (fill.landed > event.step) continue;
        fill.freed = event.step;
        ++next[*stage];
    }
    return made;
}

bool may_have_ring(const std::vector<ptx::Site>& sites) {
    const auto waits = [](const ptx::Site& site) { return site.signal == Signal::Wait; };
    const auto fills = [](const ptx::Site& site) {
        return site.signal == Signal::CopyArrive || (site.box != ptx::Box::None && site.lands_later());
    };
    return std::ranges::any_of(sites, waits) && std::ranges::any_of(sites, fills);
}

std::vector<uint32_t> phases_by_ring(const trace::Trace& trace, uint32_t number) {
    const trace::Block& block = trace.blocks[number];
    const Signals signals(trace, number);
    const Pipeline pipeline = pipeline_of(trace, number, signals);
    if (pipeline.empty()) return {};
    constexpr uint32_t kNone = UINT32_MAX;
    std::vector<uint32_t> begins(block.count, kNone), brings(block.count, kNone);  // trips, by step
    std::map<std::pair<uint32_t, uint32_t>, uint32_t> trip_of;                     // by stage and phase
    for (const StageFill& fill : pipeline.fills) {
        trip_of[{fill.stage, fill.phase}] = fill.trip;
        for (const uint32_t copy : fill.copies) brings[copy] = fill.trip;
    }
    for (const SignalWaitSpan& wait : pipeline.waits)
        if (const auto stage = pipeline.stage_of(wait.barrier);
            stage && wait.phase && pipeline.stages[*stage].full == wait.barrier)
            if (const auto trip = trip_of.find({*stage, *wait.phase}); trip != trip_of.end())
                begins[wait.step] = trip->second;
    // The instruction that reads what a copy brings stands before it.
    for (uint32_t step = 0; step < block.count; ++step)
        if (brings[step] != kNone)
            if (const auto transfer = trace::transfer_of(trace, block.first + step);
                transfer && transfer->read && *transfer->read >= block.first)
                brings[*transfer->read - block.first] = brings[step];
    for (const SignalEvent& event :
         signals.events()) {  // a full barrier's bytes are of the trip that they are for
        if (event.bytes == 0 || event.signal == Signal::None) continue;
        const auto stage = pipeline.stage_of(event.barrier);
        if (!stage || pipeline.stages[*stage].full != event.barrier) continue;
        const auto trip = trip_of.find({*stage, event.phase - (event.ended ? 1 : 0)});
        if (trip != trip_of.end()) brings[event.step] = trip->second;
    }

    std::vector<bool> of_ring(block.count);  // steps by which warps take part
    for (const SignalEvent& event : signals.events())
        if (event.signal != Signal::None && pipeline.stage_of(event.barrier)) of_ring[event.step] = true;
    std::vector<uint32_t> phase(block.count), now(pipeline.roles.size());
    const auto role = [&](uint32_t warp) { return pipeline.role_of(warp); };
    for (uint32_t step = 0; step < block.count; ++step) {
        const uint32_t warp = trace.warp_of(block.first + step);
        if (role(warp) == WarpRole::None) continue;
        uint32_t& of_warp = now[warp];
        if (begins[step] != kNone) of_warp = std::max(of_warp, begins[step]);
        if (brings[step] != kNone && role(warp) == WarpRole::Producer)
            of_warp = std::max(of_warp, brings[step]);
        phase[step] = brings[step] != kNone ? brings[step] : of_warp;
    }
    // From the end, warp by warp, up to the last step by which it takes part.
    std::vector<bool> found(pipeline.roles.size());
    for (uint32_t step = static_cast<uint32_t>(block.count); step-- > 0;) {
        const uint32_t warp = trace.warp_of(block.first + step);
        if (role(warp) != WarpRole::Consumer && role(warp) != WarpRole::Both) continue;
        if (found[warp]) continue;
        const trace::Form& form = trace.form_of(block.first + step);
        const ptx::Site& site = trace.sites[form.site];
        bool takes_part = of_ring[step] || brings[step] != kNone || site.box == ptx::Box::Tile;
        if (!takes_part && ptx::asks_memory(site.kind) && form.space == Space::Shared) {
            const trace::AccessView access(trace, block.first + step);
            access.for_pieces([&](uint32_t, uint64_t at, uint64_t bytes) {
                for (const PipelineStage& stage : pipeline.stages)
                    takes_part = takes_part || stage.holds(at, at + bytes);
            });
        }
        if (takes_part)
            found[warp] = true;
        else
            phase[step] = kAfter;
    }
    return phase;
}

}  // namespace tilescope::analysis
