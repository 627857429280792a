#include "core/hazards/chains.h"

#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>

#include "core/recording/lane_classes.h"

namespace tilescope::analysis {
namespace {

constexpr uint64_t kMostKept = 4u << 20;         // accesses in one piece, of all blocks
constexpr uint64_t kMostLookedAt = 400'000'000;  // of them, for all pairs
constexpr uint64_t kMostReached = 100'000'000;   // of them, on ways through other threads
constexpr uint64_t kMostOfReach = 4'000'000;     // of those, from one access
constexpr uint64_t kSharedWord = uint64_t{1} << 63;
constexpr uint32_t kNever = 0xFFFF'FFFFu;

}  // namespace

// The strong accesses of a block while they are put together, step by step.
struct Chains::Making {
    // A thread's last step and its latest fence.
    struct Last {
        uint32_t site = KernelFacts::kEntry;
        uint32_t steps = 0;   // of the block, up to and with it
        uint32_t fenced = 0;  // the same of its last step before its latest fence
        bool operator==(const Last&) const = default;
    };
    HazardForms& forms;
    bool grid;
    uint64_t most;
    struct OfLanes {
        LaneClasses<Last> last;
        std::array<uint32_t, 32> passed{};  // barriers
        std::array<uint32_t, 32> begun{};   // steps of the block up to its latest barrier
    };
    OfBlock out{};
    std::vector<OfLanes> lanes{};  // by warp

    void add(uint64_t step, uint32_t number, uint64_t& returned);
    void arrive(uint32_t number, uint32_t warp, uint32_t mask);
    void enter(uint64_t step, uint32_t number, uint64_t from, uint64_t bytes);
};

void Chains::Making::add(uint64_t step, uint32_t number, uint64_t& returned) {
    const trace::Trace& trace = forms.trace;
    const trace::Form& form = trace.form_of(step);
    const uint32_t warp = trace.warp_of(step);
    if (warp >= lanes.size()) lanes.resize(warp + 1), out.warps.resize(warp + 1);
    lanes[warp].last.update(form.mask, [&](Last& last) {
        const Passed& passed = forms.facts.passed(last.site, form.site);
        if (grid ? passed.grid_fence : passed.block_fence) last.fenced = last.steps;
        last.site = form.site;
        last.steps = number + 1;
    });
    if (trace.sites[form.site].kind == ptx::SiteKind::Barrier) return arrive(number, warp, form.mask);
    const uint64_t bytes = trace::returned_bytes(trace, form), from = returned;
    returned += bytes;
    if (!forms.facts.strong(form.site) || (grid && form.space != Space::Global)) return;
    if (out.strong.size() >= most)
        out.full = true;
    else
        enter(step, number, from, bytes);
}

void Chains::Making::arrive(uint32_t number, uint32_t warp, uint32_t mask) {
    OfWarp& of = out.warps[warp];
    of.split = of.split || (!of.arrivals.empty() && (mask & ~of.arrivals.back().lanes) != 0);
    Arrival arrival{number, mask, 0};
    auto& [last_of, passed, begun] = lanes[warp];
    last_of.each([&](uint32_t some, const Last& last) {
        for_lanes(some & mask, [&](uint32_t lane) {
            arrival.fenced = std::max(arrival.fenced, last.fenced);
            out.fences.resize(std::max<size_t>(out.fences.size(), passed[lane] + 1));
            if (last.fenced >= std::max(begun[lane], 1u)) out.fences[passed[lane]] = 1;
            begun[lane] = number + 1, ++passed[lane];
        });
    });
    of.arrivals.push_back(arrival);
}

void Chains::Making::enter(uint64_t step, uint32_t number, uint64_t from, uint64_t bytes) {
    const trace::Trace& trace = forms.trace;
    const trace::Form& form = trace.form_of(step);
    const ptx::Site& site = trace.sites[form.site];
    const uint32_t warp = trace.warp_of(step);
    const Adds adds = forms.facts.adds(form.site);
    const bool told = bytes > 0 && adds != Adds::Unknown && from + bytes <= trace.returned.size();
    const trace::Access access = trace::decode(trace, step);
    const uint64_t base = form.array == trace::kNoArray ? 0 : trace.launch.arrays[form.array].base;
    const size_t first = out.strong.size();
    for_lanes(form.mask, [&](uint32_t lane) {
        Strong one;
        one.word = (base + access.offset[lane]) / 4 | (form.space == Space::Shared ? kSharedWord : 0);
        one.thread = warp * kWarpSize + lane;
        one.step = number;
        one.passed = lanes[warp].passed[lane];
        one.reads = ptx::reads(site.kind);
        one.writes = ptx::writes(site.kind);
        one.polls = forms.facts.polls(form.site);
        if (told) {
            const size_t place = out.strong.size() - first;  // of the lane among the active ones
            std::memcpy(&one.found, trace.returned.data() + from + place * site.bytes, site.bytes);
            one.counts = one.found >> (8 * site.bytes - 1) == 0;
            one.wraps = site.atomic == ptx::Atomic::Inc;
            one.left = one.found + (adds == Adds::Up ? 1 : 0);
        }
        out.strong.push_back(one);
    });
    const bool releases = forms.facts.releases(form.site);
    lanes[warp].last.each([&](uint32_t some, const Last& last) {
        for (size_t at = first; at < out.strong.size(); ++at)
            if (some >> out.strong[at].thread % kWarpSize & 1)
                out.strong[at].fenced = releases ? number : last.fenced;
    });
}

Chains::Chains(HazardForms& forms) : forms_(forms) {
    inside_ = forms.facts.block_fences();
    for (const trace::Form& form : forms.trace.forms)
        inside_ = inside_ || (form.space == Space::Shared && forms.facts.strong(form.site));
}

// Nobody but those that count stores to a counter, and it has each value once.
void Chains::find_counters(std::span<Strong* const> of_word) {
    std::vector<uint64_t> found;
    bool counter = true, wraps = false;
    for (const Strong* const one : of_word) {
        counter = counter && (one->counts || !one->writes);
        wraps = wraps || one->wraps;
        if (one->left > one->found) found.push_back(one->found);
    }
    std::ranges::sort(found);
    counter = counter && std::ranges::adjacent_find(found) == found.end();
    // Where values are left out, it may have gone from the highest to the lowest between them.
    if (wraps && !found.empty()) counter = counter && found.back() - found.front() + 1 == found.size();
    for (Strong* const one : of_word) one->counts = one->counts && counter;
}

Chains::OfBlock Chains::make(uint32_t number, Scope scope) {
    const trace::Block& b = forms_.trace.blocks[number];
    Making making{forms_, scope == Scope::Grid, kMostKept - std::min(kept_, kMostKept)};
    uint64_t returned = b.first_returned;
    for (uint32_t i = 0; i < b.count; ++i) making.add(b.first + i, i, returned);
    OfBlock out = std::move(making.out);
    std::inclusive_scan(out.fences.begin(), out.fences.end(), out.fences.begin());
    kept_ += out.strong.size();
    for (uint32_t i = 0; i < out.strong.size(); ++i) out.by_word.push_back(i);
    std::ranges::stable_sort(out.by_word, {}, [&](uint32_t i) { return out.strong[i].word; });
    std::vector<Strong*> of_word;
    for (size_t i = 0; i < out.by_word.size(); ++i) {
        Strong& one = out.strong[out.by_word[i]];
        if (!of_word.empty() && of_word.front()->word != one.word) {
            find_counters(of_word);
            of_word.clear();
        }
        of_word.push_back(&one);
    }
    find_counters(of_word);
    return out;
}

Chains::OfBlock& Chains::block(uint32_t number, Scope scope) {
    const auto [at, fresh] = blocks_.try_emplace({number, scope});
    if (fresh) at->second = make(number, scope);
    return at->second;
}

// Words that threads of several blocks know.
void Chains::look_at_all() {
    if (std::exchange(all_, true)) return;
    const auto blocks = static_cast<uint32_t>(forms_.trace.blocks.size());
    for (uint32_t number = 0; number < blocks; ++number) {
        const OfBlock& of = block(number, Scope::Grid);
        all_full_ = all_full_ || of.full;
        for (uint32_t at = 0; at < of.strong.size(); ++at) words_.push_back({of.strong[at].word, number, at});
    }
    std::ranges::stable_sort(words_, {}, &OfWord::word);
    std::vector<Strong*> of_word;
    for (auto at = words_.begin(); at != words_.end();) {
        of_word.clear();
        const uint64_t word = at->word;
        for (; at != words_.end() && at->word == word; ++at)
            of_word.push_back(&block(at->block, Scope::Grid).strong[at->at]);
        find_counters(of_word);
    }
}

// Barriers that a thread had passed before a step.
uint32_t Chains::passed(const OfBlock& of, uint32_t thread, uint32_t step) {
    const OfWarp& warp = of.warps[thread / kWarpSize];
    const auto end = std::ranges::lower_bound(warp.arrivals, step, {}, &Arrival::step);
    const auto own = [&](const Arrival& arrival) { return (arrival.lanes >> thread % kWarpSize & 1) != 0; };
    return static_cast<uint32_t>(warp.split ? std::count_if(warp.arrivals.begin(), end, own)
                                            : end - warp.arrivals.begin());
}

// The arrival of a thread at a barrier, by how many it had passed; null for none.
const Chains::Arrival* Chains::arrival(const OfBlock& of, uint32_t thread, uint32_t number) {
    const OfWarp& warp = of.warps[thread / kWarpSize];
    if (!warp.split) return number < warp.arrivals.size() ? &warp.arrivals[number] : nullptr;
    for (const Arrival& one : warp.arrivals)
        if ((one.lanes >> thread % kWarpSize & 1) && number-- == 0) return &one;
    return nullptr;
}

bool Chains::is_one(uint32_t by, uint32_t thread, uint32_t lanes) {
    return by == thread || (by / kWarpSize == thread / kWarpSize && (lanes >> by % kWarpSize & 1));
}

// Whether what a thread did, or knew, at a step comes before a store in one piece, by its own fence or, behind a
// barrier, by a fence of either thread. lanes: those of its warp that count as the thread itself.
bool Chains::released(const OfBlock& of, const Strong& by, uint32_t thread, uint32_t step, uint32_t lanes) {
    if (is_one(by.thread, thread, lanes) && by.step > step && by.fenced > step) return true;
    const uint32_t here = passed(of, thread, step);
    if (by.passed <= here) return false;
    if (by.passed >= here + 2 && of.fences[by.passed - 1] > of.fences[here]) return true;  // anybody's
    const Arrival *const own = arrival(of, thread, here), *const other = arrival(of, by.thread, here);
    return (own && own->fenced > step) || (other && by.fenced > other->step);
}

// Whether the one comes before the other of the same word, as far as is known.
bool Chains::may_precede(const Strong& r, const Strong& q, bool& sure) {
    sure = r.counts && q.counts;
    return !sure || r.left <= q.found;
}

// visit(index) for the strong accesses that hand on what a thread knows; also for the one that it is about.
template <class Visit>
void Chains::each_released(const OfBlock& of, const Knows& from, uint32_t lanes, Visit visit) {
    if (from.thread / kWarpSize >= of.warps.size()) return;
    auto at = std::ranges::lower_bound(of.strong, from.step, {}, &Strong::step);
    for (; at != of.strong.end(); ++at)
        if (at->writes && (is_itself(*at, from) || released(of, *at, from.thread, from.step, lanes)))
            visit(static_cast<uint32_t>(at - of.strong.begin()));
}

// visit(strong access) for those of a word in one block.
template <class Visit>
void Chains::each_of_word(const OfBlock& of, uint64_t word, Visit visit) {
    auto at = std::ranges::lower_bound(of.by_word, word, {}, [&](uint32_t i) { return of.strong[i].word; });
    for (; at != of.by_word.end() && of.strong[*at].word == word; ++at) visit(of.strong[*at]);
}

// Whether what a thread of b's block did at a step comes before b.
bool Chains::comes_before(const OfBlock& of, uint32_t thread, uint32_t step, const Pair& pair,
                          uint32_t lanes) {
    return (is_one(thread, pair.b.thread, lanes) && step < pair.b.step) ||
           passed(of, thread, step) < pair.passed_b;
}

// By a word that threads of both blocks know.
bool Chains::directly(const Pair& pair, uint32_t lanes_a, uint32_t lanes_b) {
    const OfBlock &of_a = block(pair.a.block, pair.scope()), &of_b = block(pair.b.block, pair.scope());
    bool found = false;
    looked_at_ += of_a.strong.size();
    each_released(of_a, pair.a, lanes_a, [&](uint32_t index) {
        const Strong& r = of_a.strong[index];
        if (found || pair.too_late(r.passed)) return;
        const bool itself = is_itself(r, pair.a);
        each_of_word(of_b, r.word, [&](const Strong& q) {
            ++looked_at_;
            bool sure = false;
            found = found || (q.reads && comes_before(of_b, q.thread, q.step, pair, lanes_b) &&
                              (!itself || q.polls || (r.reads && pair.b_writes)) && may_precede(r, q, sure));
        });
    });
    return found;
}

// What all threads come to know.
void Chains::find_reach(Reach& reach) {
    const Knows& from = reach.from;
    look_at_all();
    std::vector<Knows> open;
    const auto learn = [&](Knows who) {
        auto& known =
            reach.known.try_emplace({who.block, who.thread}, Steps{kNever, kNever, kNever}).first->second;
        for (uint32_t doubts = 0; doubts <= who.doubts; ++doubts)
            if (known[doubts] <= who.step) return;
        known[who.doubts] = who.step;
        open.push_back(who);
    };
    uint64_t looked_at = 0;
    const auto hand_on = [&](const Strong& r, uint32_t number, Scope scope, uint32_t doubts, bool itself) {
        const auto to = [&](const Strong& q, uint32_t other) {
            ++looked_at;
            bool sure = false;
            if (!q.reads || (other == number && q.thread == r.thread) || !may_precede(r, q, sure)) return;
            sure = sure || q.polls;
            if (itself && !sure) return;
            learn({other, q.thread, q.step, std::min(doubts + (sure ? 0 : 1), kMostDoubts)});
        };
        if (scope == Scope::Block)
            return each_of_word(block(number, scope), r.word, [&](const Strong& q) { to(q, number); });
        for (const OfWord& one : std::ranges::equal_range(words_, r.word, {}, &OfWord::word))
            to(block(one.block, scope).strong[one.at], one.block);
    };
    for (const auto& [index, scope] : reach.by) {
        const Strong r = block(from.block, scope).strong[index];
        hand_on(r, from.block, scope, 0, is_itself(r, from));
    }
    while (!open.empty() && !reach.cut) {
        const Knows who = open.back();
        open.pop_back();
        const KernelFacts::Waits waits = forms_.facts.waits_of(forms_.trace.blocks[who.block], who.thread);
        for (const Scope scope : {Scope::Grid, Scope::Block}) {
            if (scope == Scope::Block && !inside_) continue;
            const OfBlock& of = block(who.block, scope);
            looked_at += of.strong.size();
            each_released(of, who, waits.perhaps, [&](uint32_t index) {
                const Strong& r = of.strong[index];
                const bool known = waits.sure == waits.perhaps || is_one(r.thread, who.thread, waits.sure) ||
                                   !is_one(r.thread, who.thread, waits.perhaps);
                if (!is_itself(r, who)) hand_on(r, who.block, scope, known ? who.doubts : kMostDoubts, false);
            });
        }
        reach.cut = looked_at > kMostOfReach;
    }
    reached_ += looked_at;
}

// By words that other threads know.
Ordered Chains::through_others(const Pair& pair, uint32_t lanes_a, uint32_t lanes_b) {
    const auto scopes = inside_ ? std::vector{Scope::Grid, Scope::Block} : std::vector{Scope::Grid};
    const OfBlock& of_b = block(pair.b.block, Scope::Grid);
    bool acquires = false;
    Reach reach;
    reach.from.block = pair.a.block;
    for (const Scope scope : scopes) {
        const OfBlock& of_a = block(pair.a.block, scope);
        each_released(of_a, pair.a, lanes_a, [&](uint32_t index) {
            const Strong& r = of_a.strong[index];
            if (!pair.too_late(r.passed)) reach.by.emplace_back(index, scope);
            if (is_itself(r, pair.a)) reach.from = pair.a;
        });
        for (const Strong& q : block(pair.b.block, scope).strong)
            acquires = acquires || (q.reads && comes_before(of_b, q.thread, q.step, pair, lanes_b));
    }
    if (reach.by.empty() || !acquires) return Ordered::No;
    if (reach.from != latest_.from || reach.by != latest_.by) {
        if (reached_ >= kMostReached) return Ordered::Unclear;
        find_reach(reach);
        latest_ = std::move(reach);
    }
    uint32_t doubts = kMostDoubts + 1;
    const auto end = latest_.known.upper_bound({pair.b.block, kNever});
    for (auto at = latest_.known.lower_bound({pair.b.block, 0}); at != end; ++at)
        for (uint32_t i = 0; i < doubts && i <= kMostDoubts; ++i)
            if (at->second[i] != kNever && comes_before(of_b, at->first.second, at->second[i], pair, lanes_b))
                doubts = i;
    if (doubts < kMostDoubts) return Ordered::Yes;
    return doubts == kMostDoubts || latest_.cut || all_full_ ? Ordered::Unclear : Ordered::No;
}

Ordered Chains::before(const HazardSide& a, const HazardSide& b) {
    const trace::Trace& trace = forms_.trace;
    const auto knows = [&](const HazardSide& side) {
        return Knows{side.block, side.thread,
                     static_cast<uint32_t>(side.step - trace.blocks[side.block].first)};
    };
    Pair pair{knows(a), knows(b), 0, 0, ptx::writes(trace.sites[b.site].kind)};
    const OfBlock &of_a = block(a.block, pair.scope()), &of_b = block(b.block, pair.scope());
    if (of_a.full || of_b.full || looked_at_ >= kMostLookedAt) return Ordered::Unclear;
    if (a.thread / kWarpSize >= of_a.warps.size() || b.thread / kWarpSize >= of_b.warps.size())
        return Ordered::No;
    pair.passed_a = passed(of_a, a.thread, pair.a.step);
    pair.passed_b = passed(of_b, b.thread, pair.b.step);
    const KernelFacts::Waits with_a = forms_.facts.waits_of(trace.blocks[a.block], a.thread),
                             with_b = forms_.facts.waits_of(trace.blocks[b.block], b.thread);
    // In one warp what its lanes wait for is WarpOrder's.
    const bool one_warp = a.block == b.block && a.thread / kWarpSize == b.thread / kWarpSize;
    const uint32_t sure_a = one_warp ? 0 : with_a.sure, sure_b = one_warp ? 0 : with_b.sure;
    if (directly(pair, sure_a, sure_b)) return Ordered::Yes;
    const bool more = !one_warp && (with_a.sure != with_a.perhaps || with_b.sure != with_b.perhaps);
    if (more && directly(pair, with_a.perhaps, with_b.perhaps)) return Ordered::Unclear;
    if (!forms_.facts.fences()) return Ordered::No;
    const Ordered through = through_others(pair, sure_a, sure_b);
    if (through != Ordered::No || (!one_warp && !more)) return through;
    const Ordered perhaps = through_others(pair, with_a.perhaps, with_b.perhaps);
    return perhaps == Ordered::No ? Ordered::No : Ordered::Unclear;
}

Ordered Chains::ordered(const HazardSide& a, const HazardSide& b) {
    if (!forms_.facts.known()) return Ordered::No;
    if (a.block != b.block && forms_.facts.fences()) look_at_all();  // which words are counters
    return std::max(before(a, b), before(b, a));
}

bool judge_race(HazardForms& forms, Chains& chains, uint32_t place, uint32_t other, HazardInstance& race,
                uint64_t stored) {
    const auto &a = race.example.a, &b = race.example.b;
    const KernelFacts& facts = forms.facts;
    const std::vector<SourceAccess>& places = forms.places();
    const bool strong = facts.strong(a.site) && facts.strong(b.site);
    const bool atomic = places[place].atomic || places[other].atomic;
    // The hardware keeps accesses in one piece apart: those of a word that is waited for, or counted.
    if (strong && (atomic || facts.polls(a.site) || facts.polls(b.site))) return false;
    const bool stores = places[place].store && places[other].store;
    if (stores && !atomic && forms.store_one_value(place, other, a, b, stored)) {
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
