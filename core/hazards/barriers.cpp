// Threads that do not come to a barrier that others of their block come to: each thread's arrivals are
// counted, and they must be as many. A thread that has exited no longer holds others up (PTX ISA, "bar,
// barrier"), but CUDA wants every thread of the block at a barrier (CUDA C++ Programming Guide,
// "Synchronization Functions").
#include <algorithm>

#include "core/hazards/block.h"

namespace tilescope::analysis {
namespace {

// The lowest thread at the barrier behind an interval.
HazardExample passage(const BlockIntervals& block, uint32_t interval) {
    const BlockIntervals::End& end = block.ends[interval];
    HazardExample example;
    example.interval = interval;
    example.first_step = example.last_step = block.first + end.step;
    example.a = {block.block, end.thread, end.site, block.first + end.step, block.phases.phase[end.step]};
    return example;
}

}  // namespace

void find_divergence(const HazardForms& forms, const BlockIntervals& block, const HazardSink& sink) {
    const trace::Trace& trace = forms.trace;
    const auto threads =
        static_cast<uint32_t>(std::min<uint64_t>(trace.launch.block.count(), block.passed.size()));
    // A thread that lags behind misses every barrier from its own count on; it is told of for the first.
    const uint32_t most = *std::max_element(block.passed.begin(), block.passed.end());
    for (uint32_t t = 0; t < threads; ++t) {
        const uint32_t at = block.passed[t];
        if (at == most) continue;
        const BlockIntervals::End& end = block.ends[at];
        HazardInstance found;
        found.kind = HazardKind::BarrierDivergence;
        found.place.line = trace.sites[end.site].line;
        found.example = passage(block, at);
        found.example.b.block = block.block;
        found.example.b.thread = t;
        if (const uint32_t last = block.last_step[t]; last != kNoInterval) {
            found.example.b.site = trace.form_of(block.first + last).site;
            found.example.b.step = block.first + last;
            found.example.b.phase = block.phases.phase[last];
        }
        sink(found);
    }
}

void find_redundant(const HazardForms& forms, const PhaseRule& rule, const BlockIntervals& block,
                    const std::vector<bool>& needed, PassagesOfLines& passages, const HazardSink& sink) {
    const auto line = [&](uint32_t at) { return forms.trace.sites[block.ends[at].site].line; };
    std::map<uint32_t, uint32_t> last;  // line -> its last passage
    for (uint32_t at = 0; at < block.intervals(); ++at)
        if (block.ends[at].site != kNoSite) last[line(at)] = at;
    for (uint32_t at = 0; at < block.intervals(); ++at) {
        const uint32_t site = block.ends[at].site;
        if (site == kNoSite) continue;
        ++passages[line(at)].all;
        if (rule.rank[site] >= 0 && last[line(at)] == at) continue;
        ++passages[line(at)].judged;
        if (needed[at]) continue;
        HazardInstance found;
        found.kind = HazardKind::RedundantBarrier;
        found.severity = Severity::Remark;
        found.place.line = line(at);
        found.example = passage(block, at);
        sink(found);
    }
}

}  // namespace tilescope::analysis
