#include "core/hazards/order.h"

#include <algorithm>
#include <bit>

#include "core/ptx/warpgroup.h"
#include "core/trace/access.h"

namespace tilescope::analysis {
namespace {

constexpr uint32_t kNone = AskedCopy::kOpen;
constexpr uint32_t kManySites = kNone - 1, kAnySite = kNone - 2;
constexpr size_t kMostApart = 1u << 18;   // steps whose lanes come to different sites next
constexpr size_t kMostWords = 1024;       // told apart, of those that threads access in one piece
constexpr size_t kMostOpenCopies = 1024;  // of a warp's groups
constexpr uint32_t kManyGroups = 1u << 30;

void raise(std::vector<uint32_t>& of, size_t index, uint32_t to) {
    if (index >= of.size()) of.resize(index + 1, 0);
    of[index] = std::max(of[index], to);
}

void join_vectors(std::vector<uint32_t>& of, const std::vector<uint32_t>& other) {
    if (of.size() < other.size()) of.resize(other.size(), 0);
    for (size_t i = 0; i < other.size(); ++i) of[i] = std::max(of[i], other[i]);
}

}  // namespace

void VectorClock::join(const VectorClock& other) {
    join_vectors(seen, other.seen);
    join_vectors(fenced, other.fenced);
}

BlockOrder::BlockOrder(KernelFacts& facts, const trace::Trace& trace, uint32_t block, bool fences)
    : facts_(facts), trace_(trace), block_(trace.blocks[block]), fences_(fences), signals_(trace, block_) {
    uint64_t warps = (trace.launch.block.count() + kWarpSize - 1) / kWarpSize;
    warps = std::clamp<uint64_t>(warps, 1, trace::kMaxWarpsPerBlock);
    for (uint64_t step = block_.first; step < block_.first + block_.count; ++step)
        warps = std::max<uint64_t>(warps, trace.warp_of(step) + 1);
    threads_ = static_cast<uint32_t>(warps) * kWarpSize;
    warps_.resize(warps);
    const auto nothing = std::make_shared<const VectorClock>();
    for (OfWarp& of : warps_) {
        of.teams.push_back({~0u, nothing});
        of.last.fill(kNone), of.fence.fill(0), of.next_join.fill(0);
    }
    groups_.resize(threads_), bulk_groups_.resize(threads_);
    for (const ptx::Site& site : trace.sites)
        if (site.kind == ptx::SiteKind::Barrier)
            for (uint32_t one = 0; one < threads_; one += kWarpSize)
                one_barrier_ = one_barrier_ || !facts_.barrier_use(site.id, block_, one).number;
    find_next_sites();
    find_stretches();
}

// Of lanes that execute a site without an address, too.
uint32_t BlockOrder::lanes_that_come(uint32_t step) const {
    const trace::Form& form = trace_.form_of(block_.first + step);
    return facts_.whole_warp(form.site) ? ~0u : form.mask;
}

void BlockOrder::find_next_sites() {
    std::vector<uint32_t> next(threads_, kNone);
    next_site_.resize(block_.count);
    for (auto step = static_cast<uint32_t>(block_.count); step-- > 0;) {
        const uint32_t lanes = lanes_that_come(step), warp = trace_.warp_of(block_.first + step);
        uint32_t* const of_warp = next.data() + size_t{warp} * kWarpSize;
        const uint32_t first = lanes == 0 ? kNone : of_warp[std::countr_zero(lanes)];
        bool same = true;
        for_lanes(lanes, [&](uint32_t lane) { same = same && of_warp[lane] == first; });
        next_site_[step] = same ? first : next_sites_.size() < kMostApart ? kManySites : kAnySite;
        if (next_site_[step] == kManySites) std::copy_n(of_warp, kWarpSize, next_sites_[step].begin());
        const uint32_t site = trace_.form_of(block_.first + step).site;
        for_lanes(lanes, [&](uint32_t lane) { of_warp[lane] = site; });
    }
}

void BlockOrder::find_stretches() {
    if (!facts_.warp_syncs()) return;
    WarpOrder order(facts_, block_);
    for (uint32_t step = 0; step < block_.count; ++step) {
        const trace::Form& form = trace_.form_of(block_.first + step);
        const bool barrier = trace_.sites[form.site].kind == ptx::SiteKind::Barrier;
        order.add(step, trace_.warp_of(block_.first + step), form.mask, form.site, barrier);
    }
    stretches_ = order.finish();
}

// --- clocks

void BlockOrder::put(uint32_t warp, uint32_t lanes, SharedClock clock) {
    std::vector<Team>& teams = warps_[warp].teams;
    for (Team& team : teams) team.lanes &= ~lanes;
    std::erase_if(teams, [](const Team& team) { return team.lanes == 0; });
    const auto same = std::ranges::find(teams, clock, &Team::clock);
    if (same != teams.end())
        same->lanes |= lanes;
    else
        teams.push_back({lanes, std::move(clock)});
}

// behind: what the lanes do behind their last steps, too.
void BlockOrder::give(VectorClock& to, uint32_t warp, uint32_t lanes, bool behind) const {
    const OfWarp& of = warps_[warp];
    for (const Team& team : of.teams)
        if ((team.lanes & lanes) != 0) to.join(*team.clock);
    for_lanes(lanes, [&](uint32_t lane) {
        if (of.last[lane] == kNone) return;
        raise(to.seen, thread(warp, lane), 2 * of.last[lane] + (behind ? 1 : 0));
        if (fences_) raise(to.fenced, thread(warp, lane), of.fence[lane]);
    });
}

void BlockOrder::take(uint32_t warp, uint32_t lanes, const SharedClock& from) {
    std::vector<Team> taken;
    for (const Team& team : warps_[warp].teams) {
        if ((team.lanes & lanes) == 0 || team.clock == from) continue;
        auto joined = std::make_shared<VectorClock>(*team.clock);
        joined->join(*from);
        taken.push_back({team.lanes & lanes, std::move(joined)});
    }
    for (Team& team : taken) put(warp, team.lanes, std::move(team.clock));
}

// What some lanes did before comes before what others do from now on.
void BlockOrder::meet(uint32_t warp, uint32_t lanes, uint32_t heard, bool behind) {
    auto clock = std::make_shared<VectorClock>();
    give(*clock, warp, heard, behind);
    put(warp, lanes, std::move(clock));
}

// --- lanes of a warp that wait for each other

// All waits of the lanes of a stretch up to its beginning. Those that stand before it have been left by nobody.
void BlockOrder::join_up_to(uint32_t warp, uint32_t number) {
    const std::span<const WarpJoin> joins = stretches_[warp].joins();
    OfWarp& of = warps_[warp];
    const auto earlier = [&](size_t join) {
        size_t found = join;
        for_lanes(joins[join].lanes, [&](uint32_t lane) {
            size_t& next = of.next_join[lane];
            while (next < join && !(joins[next].lanes >> lane & 1)) ++next;
            found = std::min(found, next);
        });
        return found;
    };
    if (number == 0) return;
    std::vector<size_t> open{number - 1};
    while (!open.empty()) {
        const size_t join = open.back();
        const auto lane = static_cast<size_t>(std::countr_zero(joins[join].lanes));
        if (of.next_join[lane] > join) {  // it has been
            open.pop_back();
            continue;
        }
        if (const size_t before = earlier(join); before < join) {
            open.push_back(before);
            continue;
        }
        meet(warp, joins[join].lanes, joins[join].heard, true);
        for_lanes(joins[join].lanes, [&](uint32_t one) { of.next_join[one] = join + 1; });
        open.pop_back();
    }
}

// --- barriers of the block

void BlockOrder::come_to(uint32_t warp, uint32_t lanes) {
    const uint32_t first = thread(warp, static_cast<uint32_t>(std::countr_zero(lanes)));
    const BarrierUse use = facts_.barrier_use(site_->id, block_, first);
    const uint32_t of_all = use.number.value_or(0) % (KernelFacts::kClusterNumber + 1);
    const uint32_t number = one_barrier_ && of_all != KernelFacts::kClusterNumber ? 0 : of_all;
    NamedBarrier& barrier = named_[number];
    barrier.lanes.resize(warps_.size(), 0);
    if (!use.waits) {
        if ((barrier.lanes[warp] & lanes) != 0) release(number);  // nobody comes again before that
        barrier.lanes.resize(warps_.size(), 0);
        give(barrier.given, warp, lanes, false);
        barrier.lanes[warp] |= lanes;
    }
    if (!use.arrives) {
        barrier.waiting.emplace_back(warp, lanes);
        warps_[warp].waits.emplace_back(number, lanes);
    }
    // A warp counts as a whole (PTX ISA, "bar, barrier").
    const auto warps = static_cast<uint32_t>(
        std::ranges::count_if(barrier.lanes, [](uint32_t of_warp) { return of_warp != 0; }));
    if (!one_barrier_ && use.threads && warps * kWarpSize >= *use.threads) release(number);
}

void BlockOrder::release(uint32_t number) {
    NamedBarrier barrier = std::move(named_[number]);
    named_[number] = {};
    const auto given = std::make_shared<const VectorClock>(std::move(barrier.given));
    for (const auto& [warp, lanes] : barrier.waiting) {
        put(warp, lanes, given);
        std::erase(warps_[warp].waits, std::pair(number, lanes));
    }
}

// Lanes that waited at a barrier go on: all have come.
void BlockOrder::release_awaited(uint32_t warp, uint32_t lanes) {
    std::vector<std::pair<uint32_t, uint32_t>>& waits = warps_[warp].waits;
    for (size_t i = 0; i < waits.size();)
        if ((waits[i].second & lanes) != 0)
            release(waits[i].first), i = 0;
        else
            ++i;
}

// --- words that threads access in one piece

void BlockOrder::access_words(bool before) {
    if (!facts_.fences() || !ptx::asks_memory(site_->kind) || !facts_.strong(site_->id)) return;
    if (before ? !ptx::reads(site_->kind) : !ptx::writes(site_->kind)) return;
    const trace::AccessView access(trace_, block_.first + step_);
    std::map<uint64_t, uint32_t> lanes_of;  // word -> lanes
    for_lanes(mask_, [&](uint32_t lane) {
        uint64_t word = access.addresses()[lane] / 4;
        if (access.space() == Space::Shared) word |= uint64_t{1} << 63;
        if (words_.size() >= kMostWords && !words_.contains(word)) word = ~uint64_t{0};
        lanes_of[word] |= 1u << lane;
    });
    for (const auto& [word, lanes] : lanes_of) {
        if (before) {
            if (const auto found = words_.find(word); found != words_.end())
                take(warp_, lanes, found->second);
            continue;
        }
        SharedClock& given = words_[word];
        auto more = given ? std::make_shared<VectorClock>(*given) : std::make_shared<VectorClock>();
        give(*more, warp_, lanes, false);
        given = std::move(more);
    }
}

// --- the steps

void BlockOrder::begin(uint32_t step) {
    step_ = step;
    const trace::Form& form = trace_.form_of(block_.first + step);
    site_ = &trace_.sites[form.site];
    warp_ = trace_.warp_of(block_.first + step);
    mask_ = form.mask, come_ = lanes_that_come(step);
    events_.clear(), asked_.clear();
    signals_.go(step, [&](const SignalEvent& event) {
        if (event.signal == ptx::Signal::None)
            signal(event);
        else
            events_.push_back(event);
    });
    release_awaited(warp_, come_);
    if (warp_ < stretches_.size()) {
        for (const WarpStretch& stretch : stretches_[warp_].of_step(step)) join_up_to(warp_, stretch.number);
        // In which order lanes wait is not known: they count as in the order of the recording.
        if (stretches_[warp_].unclear()) meet(warp_, ~0u, ~0u, true);
    }
    OfWarp& of = warps_[warp_];
    if (const uint32_t again = of.fences_again & come_) {
        fence(warp_, again);
        of.fences_again &= ~again;
    }
    if (site_->past_registers()) ask();
    access_words(true);
}

void BlockOrder::end() {
    OfWarp& of = warps_[warp_];
    for_lanes(come_, [&](uint32_t lane) { of.last[lane] = step_; });
    if (site_->kind == ptx::SiteKind::Barrier && mask_ != 0) come_to(warp_, mask_);
    // ldmatrix and stmatrix are done by all lanes of a warp at once (.sync).
    const bool matrices = ptx::asks_memory(site_->kind) && site_->box == ptx::Box::None;
    if (site_->kind == ptx::SiteKind::Exchange) meet(warp_, mask_, mask_, false);
    if (matrices && facts_.whole_warp(site_->id)) meet(warp_, come_, come_, true);
    if (!events_.empty() && events_.front().signal == ptx::Signal::Wait)
        wait(events_);
    else
        for (const SignalEvent& event : events_) signal(event);
    access_words(false);
    const uint32_t next = next_site_[step_];
    if (next != kManySites) return go_on(come_, next);
    const std::array<uint32_t, 32>& sites = next_sites_.at(step_);
    for (uint32_t left = come_; left != 0;) {
        const uint32_t site = sites[static_cast<size_t>(std::countr_zero(left))];
        uint32_t lanes = 0;
        for_lanes(left, [&](uint32_t lane) { lanes |= sites[lane] == site ? 1u << lane : 0u; });
        go_on(lanes, site);
        left &= ~lanes;
    }
}

// What lanes pass on their way to their next site.
void BlockOrder::go_on(uint32_t lanes, uint32_t next) {
    const std::vector<ptx::Site>& sites = trace_.sites;
    if (next == kAnySite) {  // not kept: it may pass all that there is
        Passed all;
        all.copies.waited = all.bulk.waited = PassedGroups::kAll;
        end_groups(all, lanes);
        if (fences_) fence(warp_, lanes);
        return;
    }
    if (next != kNone && ptx::goes_on(*site_, sites[next])) return;
    while (next != kNone && next > 0 && ptx::goes_on(sites[next - 1], sites[next])) --next;
    const Passed& passed = next == kNone ? facts_.behind(site_->id) : facts_.passed(site_->id, next);
    if (!passed.orders_copies()) return;
    end_groups(passed, lanes);
    if (!passed.proxy_fence || !fences_) return;
    // It may stand before what the lanes wait for on the way, or behind that.
    fence(warp_, lanes);
    warps_[warp_].fences_again |= lanes;
}

void BlockOrder::fence(uint32_t warp, uint32_t lanes) {
    OfWarp& of = warps_[warp];
    std::vector<Team> fenced;
    for (const Team& team : of.teams) {
        if ((team.lanes & lanes) == 0) continue;
        auto clock = std::make_shared<VectorClock>(*team.clock);
        join_vectors(clock->fenced, clock->seen);
        fenced.push_back({team.lanes & lanes, std::move(clock)});
    }
    for (Team& team : fenced) put(warp, team.lanes, std::move(team.clock));
    for_lanes(lanes, [&](uint32_t lane) {
        if (of.last[lane] != kNone) of.fence[lane] = 2 * of.last[lane] + 1;
    });
}

// --- copies

void BlockOrder::ask() {
    const bool bulk = site_->box != ptx::Box::None;
    const bool reads = ptx::reads(site_->kind);
    if (!bulk && reads) return;  // what a cp.async reads counts as read at once
    AskedCopy copy;
    copy.reads = reads, copy.warp = static_cast<uint8_t>(warp_), copy.step = step_;
    const auto add = [&](uint32_t lanes) {
        copy.lanes = lanes;
        asked_.push_back(static_cast<uint32_t>(copies_.size()));
        copies_.push_back(copy);
        if (copy.by != AskedCopy::Ends::Phase) warps_[warp_].open.push_back(asked_.back());
    };
    if (!bulk) {
        copy.by = AskedCopy::Ends::Group;
        for (uint32_t left = mask_; left != 0;) {
            const auto first = static_cast<uint32_t>(std::countr_zero(left));
            copy.group = groups_[thread(warp_, first)].least;
            uint32_t lanes = 0;
            for_lanes(left, [&](uint32_t lane) {
                lanes |= groups_[thread(warp_, lane)].least == copy.group ? 1u << lane : 0u;
            });
            add(lanes);
            left &= ~lanes;
        }
        return;
    }
    const trace::StepWords of_step(trace_, block_.first + step_);
    for_lanes(mask_, [&](uint32_t lane) {
        const auto words = of_step.of(lane);
        copy.bytes = words[0];
        copy.by = words[1] == ptx::kNoBarrier ? AskedCopy::Ends::BulkGroup : AskedCopy::Ends::Phase;
        if (copy.by == AskedCopy::Ends::BulkGroup) {
            copy.group = bulk_groups_[thread(warp_, lane)].least;
            return add(1u << lane);
        }
        copy.barrier = barrier_number(words[1]);
        MemoryBarrierOrder& barrier = barriers_[copy.barrier];
        copy.counted_in = barrier.phase;
        if (!reads) barrier.brought += copy.bytes;
        add(1u << lane);
        barrier.copies.push_back(asked_.back());
    });
}

void BlockOrder::end_groups(const Passed& passed, uint32_t lanes) {
    OfWarp& of = warps_[warp_];
    for (const uint32_t number : of.open) {
        AskedCopy& copy = copies_[number];
        const bool bulk = copy.by == AskedCopy::Ends::BulkGroup;
        const PassedGroups& groups = bulk ? passed.bulk : passed.copies;
        const int32_t waited = copy.reads ? std::max(groups.waited, groups.read) : groups.waited;
        if (waited == PassedGroups::kNoWait) continue;
        for_lanes(copy.lanes & lanes, [&](uint32_t lane) {
            const uint32_t closed = (bulk ? bulk_groups_ : groups_)[thread(warp_, lane)].most;
            if (waited == PassedGroups::kAll || copy.group < int64_t{closed} + waited)
                copy.end = 2 * step_ + 1;
        });
    }
    for (const bool bulk : {false, true}) {
        const PassedGroups& groups = bulk ? passed.bulk : passed.copies;
        if (groups.most == 0) continue;
        for_lanes(lanes, [&](uint32_t lane) {
            GroupCount& count = (bulk ? bulk_groups_ : groups_)[thread(warp_, lane)];
            count.least += groups.least;
            count.most = std::min(
                count.most + (groups.most == PassedGroups::kMany ? kManyGroups : groups.most), kManyGroups);
        });
    }
    std::erase_if(of.open, [&](uint32_t number) { return copies_[number].end != kNone; });
    // Of more that nobody waits for than any kernel needs, the first count as ended.
    while (of.open.size() > kMostOpenCopies) {
        AskedCopy& copy = copies_[of.open.front()];
        if (copy.barrier == kNone) copy.end = 2 * step_ + 1;
        of.open.erase(of.open.begin());
    }
}

// --- questions

// Whether some thread of the four warps is known to have gone on behind what they did together.
bool BlockOrder::knows_one(const std::vector<uint32_t>& seen, const PastAccess& past) const {
    constexpr uint32_t kThreads = ptx::kWarpsOfGroup * kWarpSize;
    const uint32_t first = past.warp * kWarpSize / kThreads * kThreads;
    for (uint32_t one = first; one < first + kThreads; ++one)
        if (VectorClock::of(seen, one) > 2 * past.step) return true;
    return false;
}

// The lanes of a warp whose doings at a time some team does not know of. Cells side by side ask for the same ones.
uint32_t BlockOrder::not_known(const Team& team, const PastAccess& past, uint32_t until) const {
    Asked& kept = asked_before_[(past.step * 0x9E37'79B1u ^ past.warp) >> 24];
    if (kept.clock != team.clock.get() || kept.now != step_ || kept.warp != past.warp ||
        kept.until != until) {
        kept = {team.clock.get(), step_, past.warp, until, 0};
        for (uint32_t lane = 0; lane < kWarpSize; ++lane)
            if (VectorClock::of(team.clock->seen, thread(past.warp, lane)) < until) kept.lanes |= 1u << lane;
    }
    return kept.lanes & past.lanes;
}

BlockOrder::Unordered BlockOrder::unordered(const PastAccess& past, uint32_t warp, uint32_t lanes) const {
    const AskedCopy* const copy = past.copy == PastAccess::kNoCopy ? nullptr : &copies_[past.copy];
    const uint32_t until = copy ? copy->end : 2 * past.step;
    Unordered found;
    for (const Team& team : warps_[warp].teams) {
        uint32_t bad = team.lanes & lanes;
        if (bad == 0) continue;
        const std::vector<uint32_t>& seen = team.clock->seen;
        if (copy && copy->phase != kNone && VectorClock::of(seen, threads_ + copy->barrier) > copy->phase)
            continue;
        if (past.together && knows_one(seen, past)) continue;
        const uint32_t missing = until == kNone ? past.lanes : not_known(team, past, until);
        if (missing == 0) continue;
        // A thread's own doings are in its order, but for a copy that has not ended.
        const bool own = past.warp == warp && until != kNone;
        if (own && std::has_single_bit(missing)) bad &= ~missing;
        if (bad == 0) continue;
        if (found.lanes == 0 || std::countr_zero(bad) < std::countr_zero(found.lanes)) {
            const uint32_t self = bad & (~bad + 1);
            const bool of_self = past.warp == warp && until == kNone && (missing & self) != 0;
            found.lane = static_cast<uint32_t>(std::countr_zero(of_self ? self
                                                                : own   ? missing & ~self
                                                                        : missing));
        }
        found.lanes |= bad;
    }
    return found;
}

uint32_t BlockOrder::unfenced(const PastAccess& past, uint32_t warp, uint32_t lane) const {
    const OfWarp& of = warps_[warp];
    const auto team = std::ranges::find_if(of.teams, [&](const Team& one) { return one.lanes >> lane & 1; });
    uint32_t missing = 0;
    for_lanes(past.lanes, [&](uint32_t other) {
        const bool own = past.warp == warp && other == lane && of.fence[lane] > 2 * past.step;
        if (!own && VectorClock::of(team->clock->fenced, thread(past.warp, other)) < 2 * past.step)
            missing |= 1u << other;
    });
    return missing;
}

bool BlockOrder::full(uint64_t most_bytes) const {
    return copies_.size() * sizeof(AskedCopy) > most_bytes || barriers_.size() > kMostBarriers;
}

}  // namespace tilescope::analysis
