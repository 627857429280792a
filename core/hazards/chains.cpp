#include "core/hazards/chains.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace tilescope::analysis {
namespace {

constexpr uint64_t kMostKept = 4u << 20;         // accesses in one piece, of all blocks
constexpr uint64_t kMostLookedAt = 400'000'000;  // of them, for all pairs
constexpr uint64_t kSharedWord = uint64_t{1} << 63;

// A thread's last step and its latest fence.
struct Last {
    uint32_t site = KernelFacts::kEntry;
    uint32_t steps = 0;   // of the block, up to and with it
    uint32_t fenced = 0;  // the same of its last step before its latest fence
    bool operator==(const Last&) const = default;
};

bool counts(ptx::Atomic how) { return how == ptx::Atomic::Add || how == ptx::Atomic::Inc; }

}  // namespace

Chains::OfBlock Chains::make(uint32_t number, bool grid) {
    const trace::Trace& trace = forms_.trace;
    const trace::Block& b = trace.blocks[number];
    OfBlock out;
    std::vector<LaneClasses<Last>> warps;
    const auto warp_at = [&](uint32_t warp) -> LaneClasses<Last>& {
        if (warp >= warps.size()) warps.resize(warp + 1), out.arrivals.resize(warp + 1);
        return warps[warp];
    };
    uint64_t returned = b.first_returned;
    for (uint32_t i = 0; i < b.count; ++i) {
        const uint64_t step = b.first + i;
        const trace::Form& form = trace.form_of(step);
        const ptx::Site& site = trace.sites[form.site];
        const uint32_t warp = trace.warp_of(step);
        LaneClasses<Last>& lanes = warp_at(warp);
        lanes.update(form.mask, [&](Last& last) {
            const Passed& passed = forms_.facts.passed(last.site, form.site);
            if (grid ? passed.grid_fence : passed.block_fence) last.fenced = last.steps;
            last.site = form.site;
            last.steps = i + 1;
        });
        std::vector<Arrival>& arrivals = out.arrivals[warp];
        if (site.kind == ptx::SiteKind::Barrier) {
            arrivals.push_back({i, 0});
            lanes.each([&](uint32_t of, const Last& last) {
                if (of & form.mask) arrivals.back().fenced = std::max(arrivals.back().fenced, last.fenced);
            });
            continue;
        }
        const uint64_t bytes = trace::returned_bytes(trace, form), from = returned;
        returned += bytes;
        if (!forms_.facts.strong(form.site) || (grid && form.space != Space::Global)) continue;
        if (out.strong.size() + kept_ >= kMostKept) {
            out.full = true;
            continue;
        }
        const trace::Access access = trace::decode(trace, step);
        const uint64_t base = form.array == trace::kNoArray ? 0 : trace.launch.arrays[form.array].base;
        uint32_t place = 0;  // of the lane among the active ones
        for_lanes(form.mask, [&](uint32_t lane) {
            Strong one;
            one.word = (base + access.offset[lane]) / 4 | (form.space == Space::Shared ? kSharedWord : 0);
            one.thread = warp * kWarpSize + lane;
            one.step = i;
            one.passed = static_cast<uint32_t>(arrivals.size());
            one.reads = ptx::reads(site.kind);
            one.writes = ptx::writes(site.kind);
            one.polls = forms_.facts.polls(form.site);
            one.counts = bytes > 0 && counts(site.atomic) && from + bytes <= trace.returned.size();
            if (one.counts)
                std::memcpy(&one.found, trace.returned.data() + from + place * site.bytes, site.bytes);
            ++place;
            out.strong.push_back(one);
        });
        const size_t first = out.strong.size() - place;
        lanes.each([&](uint32_t of, const Last& last) {
            for (size_t at = first; at < out.strong.size(); ++at) {
                Strong& one = out.strong[at];
                if (!(of >> one.thread % kWarpSize & 1)) continue;
                one.fenced = forms_.facts.releases(form.site) ? i : last.fenced;
            }
        });
    }
    kept_ += out.strong.size();
    for (uint32_t i = 0; i < out.strong.size(); ++i) out.by_word.push_back(i);
    std::ranges::stable_sort(out.by_word, {}, [&](uint32_t i) { return out.strong[i].word; });
    return out;
}

const Chains::OfBlock& Chains::block(uint32_t number, bool grid) {
    const auto [at, fresh] = blocks_.try_emplace({number, grid});
    if (fresh) at->second = make(number, grid);
    return at->second;
}

// Barriers that a thread's warp had passed before a step.
uint32_t Chains::passed(const OfBlock& of, uint32_t thread, uint32_t step) {
    const std::vector<Arrival>& arrivals = of.arrivals[thread / kWarpSize];
    return static_cast<uint32_t>(std::ranges::lower_bound(arrivals, step, {}, &Arrival::step) -
                                 arrivals.begin());
}

bool Chains::is_one(const Strong& by, uint32_t thread, uint32_t lanes) {
    return by.thread == thread ||
           (by.thread / kWarpSize == thread / kWarpSize && (lanes >> by.thread % kWarpSize & 1));
}

// Whether what a thread did at a step comes before a store in one piece, by its own fence or, behind a barrier,
// by a fence of either thread. lanes: those of its warp that count as the thread itself.
bool Chains::released(const OfBlock& of, const Strong& by, uint32_t thread, uint32_t step, uint32_t lanes) {
    if (is_one(by, thread, lanes) && by.step > step && by.fenced > step) return true;
    const uint32_t here = passed(of, thread, step);
    if (by.passed <= here) return false;
    const std::vector<Arrival>& own = of.arrivals[thread / kWarpSize];
    const std::vector<Arrival>& other = of.arrivals[by.thread / kWarpSize];
    return (here < own.size() && own[here].fenced > step) ||
           (here < other.size() && by.fenced > other[here].step);
}

Ordered Chains::before(const HazardSide& a, const HazardSide& b) {
    const trace::Trace& trace = forms_.trace;
    KernelFacts::Waits with_a{}, with_b{};
    // In one warp what its lanes wait for is WarpOrder's.
    if (a.block != b.block || a.thread / kWarpSize != b.thread / kWarpSize) {
        with_a = forms_.facts.waits_of(trace.blocks[a.block], a.thread);
        with_b = forms_.facts.waits_of(trace.blocks[b.block], b.thread);
    }
    const Ordered sure = before(a, b, with_a.sure, with_b.sure);
    if (sure == Ordered::Yes || (with_a.sure == with_a.perhaps && with_b.sure == with_b.perhaps)) return sure;
    return before(a, b, with_a.perhaps, with_b.perhaps) == Ordered::No ? Ordered::No : Ordered::Unclear;
}

Ordered Chains::before(const HazardSide& a, const HazardSide& b, uint32_t lanes_a, uint32_t lanes_b) {
    const bool grid = a.block != b.block;
    const OfBlock &of_a = block(a.block, grid), &of_b = block(b.block, grid);
    if (of_a.full || of_b.full || looked_at_ >= kMostLookedAt) return Ordered::Unclear;
    const auto first_a = forms_.trace.blocks[a.block].first, first_b = forms_.trace.blocks[b.block].first;
    const auto step_a = static_cast<uint32_t>(a.step - first_a),
               step_b = static_cast<uint32_t>(b.step - first_b);
    if (a.thread / kWarpSize >= of_a.arrivals.size() || b.thread / kWarpSize >= of_b.arrivals.size())
        return Ordered::No;
    const uint32_t passed_b = passed(of_b, b.thread, step_b);
    const auto acquired = [&](const Strong& q) {
        return q.reads && ((is_one(q, b.thread, lanes_b) && q.step < step_b) || q.passed < passed_b);
    };
    const bool b_writes = ptx::writes(forms_.trace.sites[b.site].kind);
    bool releases = false;
    looked_at_ += of_a.strong.size();
    for (const Strong& r : of_a.strong) {
        if (!r.writes || r.step < step_a) continue;
        const bool itself = r.thread == a.thread && r.step == step_a;
        if (!itself && !released(of_a, r, a.thread, step_a, lanes_a)) continue;
        releases = releases || !itself;
        auto at = std::ranges::lower_bound(of_b.by_word, r.word, {},
                                           [&](uint32_t i) { return of_b.strong[i].word; });
        for (; at != of_b.by_word.end() && of_b.strong[*at].word == r.word; ++at) {
            ++looked_at_;
            const Strong& q = of_b.strong[*at];
            if (!acquired(q) || (itself && !q.polls && !(r.reads && b_writes))) continue;
            if (!r.counts || !q.counts || r.found < q.found) return Ordered::Yes;
        }
    }
    if (!releases) return Ordered::No;
    looked_at_ += of_b.strong.size();
    const bool acquires = std::ranges::any_of(of_b.strong, [&](const Strong& q) {
        return acquired(q) &&
               std::ranges::none_of(of_a.strong, [&](const Strong& r) { return r.word == q.word; });
    });
    return acquires ? Ordered::Unclear : Ordered::No;
}

Ordered Chains::ordered(const HazardSide& a, const HazardSide& b) {
    if (!forms_.facts.known()) return Ordered::No;
    return std::max(before(a, b), before(b, a));
}

bool judge_race(HazardForms& forms, Chains& chains, uint32_t place, uint32_t other, HazardInstance& race) {
    const auto &a = race.example.a, &b = race.example.b;
    const KernelFacts& facts = forms.facts;
    const std::vector<SourceAccess>& places = forms.places();
    const bool strong = facts.strong(a.site) && facts.strong(b.site);
    const bool atomic = places[place].atomic || places[other].atomic;
    // The hardware keeps accesses in one piece apart: those of a word that is waited for, or counted.
    if (strong && (atomic || facts.polls(a.site) || facts.polls(b.site))) return false;
    const bool stores = places[place].store && places[other].store;
    if (stores && !atomic && forms.store_one_value(place, other, a, b)) {
        race.kind = HazardKind::SameValue;
        race.severity = Severity::Remark;
        return true;
    }
    if (!facts.fences() && !atomic) return true;
    const Ordered ordered = chains.ordered(a, b);
    if (ordered == Ordered::Yes) return false;
    if (ordered == Ordered::Unclear) race.severity = Severity::CannotTell;
    return true;
}

}  // namespace tilescope::analysis
