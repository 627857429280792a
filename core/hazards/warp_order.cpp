#include "core/hazards/warp_order.h"

#include <algorithm>
#include <bit>

namespace tilescope::analysis {

std::span<const WarpStretch> WarpStretches::of_step(uint32_t step) const {
    const auto range = std::ranges::equal_range(stretches_, step, {}, &WarpStretch::step);
    return {range.begin(), range.end()};
}

bool WarpStretches::may_order(uint32_t interval, const WarpStretch& x, uint32_t a, const WarpStretch& y,
                              uint32_t b) const {
    if (interval >= unclear_.size() || !unclear_[interval]) return false;
    const auto after = [&](const WarpStretch& of, uint32_t lane) {
        return passed_[interval][lane] > of.passed;
    };
    return (after(x, a) && y.passed > 0) || (after(y, b) && x.passed > 0);
}

void WarpOrder::add(uint32_t step, uint32_t warp, uint32_t mask, uint32_t site, bool barrier) {
    if (warp >= warps_.size()) warps_.resize(warp + 1);
    OfWarp& of = warps_[warp];
    const uint32_t come = facts_.whole_warp(site) ? ~0u : mask;
    // Lanes whose way is known first: the others are held against them.
    for (const bool known : {true, false})
        for (uint32_t left = come; left != 0;) {
            const uint32_t from = of.site[static_cast<size_t>(std::countr_zero(left))];
            uint32_t lanes = 0;
            for_lanes(left, [&](uint32_t lane) { lanes |= of.site[lane] == from ? 1u << lane : 0u; });
            left &= ~lanes;
            if (facts_.syncs(facts_.passed(from, site)).one_order == known) go(of, warp, lanes, from, site);
        }
    for_lanes(come, [&](uint32_t lane) { of.site[lane] = site; });
    of.events.push_back({barrier ? What::Barrier : What::Step, mask, step});
}

// Lanes come from one site to the next.
void WarpOrder::go(OfWarp& of, uint32_t warp, uint32_t lanes, uint32_t from, uint32_t to) {
    const Passed& passed = facts_.passed(from, to);
    if (passed.syncs == 0) return;
    const WarpSyncs syncs = facts_.syncs(passed);
    if (syncs.one_order)
        pass_in_order(of, warp, lanes, syncs);
    else
        pass_as_others(of, warp, lanes, syncs);
}

void WarpOrder::pass_in_order(OfWarp& of, uint32_t warp, uint32_t lanes, const WarpSyncs& syncs) {
    for (const uint8_t number : syncs.order) {
        uint32_t unknown = 0;
        std::map<uint32_t, uint32_t> by_mask;
        for_lanes(lanes, [&](uint32_t lane) {
            const auto mask = facts_.mask(number, block_, warp * kWarpSize + lane);
            (mask ? by_mask[*mask] : unknown) |= 1u << lane;
        });
        if (unknown != 0) of.events.push_back({What::Unknown, unknown, 0});
        for (const auto& [mask, team] : by_mask) {
            of.events.push_back({What::Sync, team, mask});
            for_lanes(team, [&](uint32_t lane) { ++of.passed[mask][lane]; });
        }
    }
}

// How often a lane will pass a bar.warp.sync of a mask, at least, before it comes to another site or to its end.
uint32_t WarpOrder::behind(const OfWarp& of, uint32_t warp, uint32_t lane, uint32_t mask) {
    const Passed& passed = facts_.behind(of.site[lane]);
    const WarpSyncs& syncs = facts_.syncs(passed);
    uint32_t times = 0;
    for (size_t i = 0; passed.syncs != 0 && i < syncs.times.size(); ++i)
        if (syncs.times[i].least > 0 &&
            facts_.mask(static_cast<uint8_t>(i), block_, warp * kWarpSize + lane) == mask)
            times += syncs.times[i].least;
    return times;
}

// Lanes that may have passed more or fewer of a mask on their way have passed as many as the others that it names:
// these could not go on without them.
void WarpOrder::pass_as_others(OfWarp& of, uint32_t warp, uint32_t lanes, const WarpSyncs& syncs) {
    struct Team {
        uint32_t lanes = 0, least = 0, most = 0;
    };
    std::map<uint32_t, Team> teams;
    uint32_t unknown = 0;
    for_lanes(lanes, [&](uint32_t lane) {
        std::map<uint32_t, Team> own;  // masks that name the lane
        for (size_t i = 0; i < syncs.times.size(); ++i) {
            const WarpSyncs::Times& times = syncs.times[i];
            if (times.most == 0) continue;
            const auto mask = facts_.mask(static_cast<uint8_t>(i), block_, warp * kWarpSize + lane);
            if (!mask) unknown |= 1u << lane;
            if (!mask || !(*mask >> lane & 1)) continue;
            Team& team = own[*mask];
            team.least += times.least;
            team.most =
                times.most == WarpSyncs::kMany ? UINT32_MAX : std::max(team.most, team.most + times.most);
        }
        if (own.size() > 1) unknown |= 1u << lane;  // in which order is not known
        if (own.size() != 1 || (unknown >> lane & 1)) return;
        auto& [mask, one] = *own.begin();
        Team& team = teams.try_emplace(mask, Team{0, one.least, one.most}).first->second;
        team.lanes |= 1u << lane;
        team.least = std::min(team.least, one.least), team.most = std::max(team.most, one.most);
    });
    if (unknown != 0) of.events.push_back({What::Unknown, unknown, 0});
    for (const auto& [mask, team] : teams) {
        Counts& passed = of.passed[mask];
        uint32_t all = 0;
        for_lanes(mask, [&](uint32_t lane) {
            const bool own = team.lanes >> lane & 1;
            all =
                std::max(all, passed[lane] + (own ? std::max(team.least, 1u) : behind(of, warp, lane, mask)));
        });
        uint32_t left = team.lanes;
        for (uint32_t times = 0; left != 0 && times < team.most; ++times) {
            uint32_t ready = 0;
            for_lanes(left, [&](uint32_t lane) { ready |= passed[lane] < all ? 1u << lane : 0u; });
            if (ready != 0) of.events.push_back({What::Sync, ready, mask});
            for_lanes(ready, [&](uint32_t lane) { ++passed[lane]; });
            left = ready;
        }
    }
}

// Every lane goes on until it waits; who has come together goes on again.
struct WarpOrder::Walk {
    static constexpr uint32_t kEnded = UINT32_MAX;

    const std::vector<Event>& events;
    WarpStretches out{};
    std::vector<std::vector<WarpStretch>> of_event;
    std::array<uint32_t, 32> at{}, stretch{}, passed{}, interval{};
    uint32_t waits = 0;  // lanes

    explicit Walk(const std::vector<Event>& of) : events(of), of_event(of.size()) {
        out.clocks_.push_back({});
        out.passed_.push_back({});
        out.unclear_.push_back(false);
    }

    void mark_unclear(uint32_t lane) { out.unclear_[interval[lane]] = true; }

    void advance(uint32_t lane) {
        for (uint32_t& i = at[lane]; i < events.size(); ++i) {
            const Event& event = events[i];
            if (!(event.lanes >> lane & 1)) continue;
            if (event.what == What::Step) {
                std::vector<WarpStretch>& parts = of_event[i];
                const auto same = std::ranges::find_if(parts, [&](const WarpStretch& part) {
                    return part.number == stretch[lane] && part.passed == passed[lane];
                });
                if (same != parts.end())
                    same->lanes |= 1u << lane;
                else
                    parts.push_back({event.value, 1u << lane, stretch[lane], passed[lane]});
            } else if (event.what == What::Unknown || event.what == What::Behind) {
                if (event.what == What::Unknown) mark_unclear(lane);
                ++passed[lane];
            } else {
                waits |= 1u << lane;
                return;
            }
        }
        out.passed_[interval[lane]][lane] = passed[lane];
    }

    bool ended(uint32_t lane) const { return at[lane] >= events.size(); }
    bool meets(uint32_t lane, const Event& event) const {
        const Event& own = events[at[lane]];
        return own.what == event.what && (own.what == What::Barrier || own.value == event.value);
    }

    // The lanes that a lane waits for, and whether all of them have come that will.
    uint32_t team_of(uint32_t lane, bool& complete) const {
        const Event& event = events[at[lane]];
        uint32_t team = 0;
        complete = true;
        for_lanes(event.what == What::Barrier ? ~0u : event.value | 1u << lane, [&](uint32_t other) {
            if (ended(other)) return;
            if ((waits >> other & 1) && meets(other, event))
                team |= 1u << other;
            else
                complete = false;
        });
        return team;
    }

    void join(uint32_t team) {
        const Event event = events[at[static_cast<size_t>(std::countr_zero(team))]];
        const uint32_t named = event.what == What::Barrier ? ~0u : event.value | team;
        WarpStretches::Lanes clock{};
        for_lanes(named, [&](uint32_t lane) {
            if (!(team >> lane & 1) && !ended(lane)) return;
            for (size_t i = 0; i < 32; ++i) clock[i] = std::max(clock[i], out.clocks_[stretch[lane]][i]);
        });
        // An ended lane has done all that it does before.
        for_lanes(named, [&](uint32_t lane) { clock[lane] += team >> lane & 1 || ended(lane) ? 1 : 0; });
        const auto number = static_cast<uint32_t>(out.clocks_.size());
        out.clocks_.push_back(clock);
        out.joins_.push_back({number, team, team});
        for_lanes(named & ~team, [&](uint32_t lane) {
            if (ended(lane)) out.joins_.back().heard |= 1u << lane;
        });
        for_lanes(team, [&](uint32_t lane) {
            stretch[lane] = number;
            ++passed[lane];
            if (event.what == What::Barrier) {
                out.passed_[interval[lane]][lane] = passed[lane] - 1;
                passed[lane] = 0;
                ++interval[lane];
                if (interval[lane] == out.passed_.size())
                    out.passed_.push_back({}), out.unclear_.push_back(false);
            }
            ++at[lane];
        });
        waits &= ~team;
    }

    WarpStretches walk() {
        for (;;) {
            for (uint32_t lane = 0; lane < 32; ++lane)
                if (!(waits >> lane & 1) && !ended(lane)) advance(lane);
            if (waits == 0) break;
            bool joined = false;
            for (uint32_t left = waits; left != 0;) {
                bool complete = false;
                const uint32_t team = team_of(static_cast<uint32_t>(std::countr_zero(left)), complete);
                left &= ~team;
                if (complete) join(team), joined = true;
            }
            if (joined) continue;
            // Nobody can go on: how often somebody passed was not told right.
            bool complete = false;
            const auto lane = static_cast<uint32_t>(std::countr_zero(waits));
            mark_unclear(lane);
            join(team_of(lane, complete));
        }
        for (std::vector<WarpStretch>& parts : of_event)
            out.stretches_.insert(out.stretches_.end(), parts.begin(), parts.end());
        return std::move(out);
    }
};

WarpStretches WarpOrder::stretches_of(const OfWarp& of) { return Walk(of.events).walk(); }

std::vector<WarpStretches> WarpOrder::finish() {
    std::vector<WarpStretches> all;
    for (OfWarp& of : warps_) {
        uint32_t lanes = 0;
        for (uint32_t lane = 0; lane < 32; ++lane)
            if (facts_.behind(of.site[lane]).syncs != 0) lanes |= 1u << lane;
        if (lanes != 0) of.events.push_back({What::Behind, lanes, 0});
        all.push_back(stretches_of(of));
        of = {};
    }
    return all;
}

}  // namespace tilescope::analysis
