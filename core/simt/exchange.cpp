// Lanes of a warp that come together and may give each other something: __syncwarp, shuffles, votes, matches,
// reductions. What they get, lanes_warp.inl says; here it is checked who comes, and reported.
#include "core/ptx/exchange.h"

#include <algorithm>
#include <array>
#include <bit>

#include "core/simt/machine.h"

namespace tilescope::simt {

namespace {

using Numbers = std::array<uint64_t, kWarpSize>;

// For a match: the lowest lane of its team that holds a lane's value.
void find_equals(const Numbers& value, uint32_t team, Numbers& from) {
    for_lanes(team, [&](uint32_t lane) {
        uint32_t first = lane;
        for_lanes(team & ((1u << lane) - 1), [&](uint32_t other) {
            if (value[other] == value[lane]) first = std::min(first, other);
        });
        from[lane] = first;
    });
}

}  // namespace

// The Converge at pc and what follows it.
template <bool Values>
void Machine::exchange(Warp& warp, uint32_t pc, uint32_t mask) {
    const MicroOp& meeting = program_.code[pc];
    const uint32_t from_nobody = mask == ~0u ? 0 : meet(warp, meeting, mask);
    if (meeting.c == 0) return;
    const bool reported = observer_ != nullptr && meeting.target != kNoSite;
    Exchange made;
    Numbers from{}, given{}, got{};
    if (reported) {
        made.site = meeting.target;
        made.warp = warp.number;
        made.mask = mask;
        made.from = from.data();
        numbers_of(warp, pc, mask, from, given, made.bytes);
    }
    const MicroOp& together = program_.code[pc + 1];
    lane_op<Values>(warp, together, mask);
    if (options_.absent != 0)
        for_lanes(from_nobody, [&](uint32_t lane) {
            reinterpret_cast<uint32_t*>(at(warp, together.d))[lane] ^= options_.absent;
        });
    if (!reported) return;
    if constexpr (Values) {
        const bool predicate = program_.sites[made.site].exchange != ptx::Exchange::VoteBallot &&
                               ptx::is_vote(program_.sites[made.site].exchange);
        const auto* const d = reinterpret_cast<const uint32_t*>(at(warp, together.d));
        for_lanes(mask, [&](uint32_t lane) { got[lane] = predicate ? *d >> lane & 1 : d[lane]; });
        made.given = given.data();
        made.got = got.data();
    }
    observer_->on_exchange(made);
}

// What is recorded of an exchange, and what each lane gives, before it is made.
void Machine::numbers_of(Warp& warp, uint32_t pc, uint32_t mask, Numbers& from, Numbers& given,
                         uint32_t& bytes) {
    const MicroOp &meeting = program_.code[pc], &together = program_.code[pc + 1];
    const ptx::Exchange what = program_.sites[meeting.target].exchange;
    const auto* const members = reinterpret_cast<const uint32_t*>(at(warp, meeting.a));
    const std::byte* const a = at(warp, together.a);
    bytes = ptx::is_match(what) && size_of(program_.lanes[pc + 1].does.type) == 8 ? 8 : 4;
    for_lanes(mask, [&](uint32_t lane) {
        given[lane] = bytes == 8           ? reinterpret_cast<const uint64_t*>(a)[lane]
                      : ptx::is_vote(what) ? *reinterpret_cast<const uint32_t*>(a) >> lane & 1
                                           : reinterpret_cast<const uint32_t*>(a)[lane];
    });
    if (ptx::is_shuffle(what)) {
        const auto* const b = reinterpret_cast<const uint32_t*>(at(warp, together.b));
        const auto* const c = reinterpret_cast<const uint32_t*>(at(warp, together.c));
        for_lanes(mask,
                  [&](uint32_t lane) { from[lane] = ptx::shuffle_source(what, lane, b[lane], c[lane]); });
        return;
    }
    ptx::each_team(members, mask, [&](uint32_t team) {
        if (ptx::is_match(what)) return find_equals(given, team, from);
        uint32_t yes = 0;
        for_lanes(team, [&](uint32_t lane) { yes |= given[lane] != 0 ? 1u << lane : 0u; });
        const auto lowest = static_cast<uint32_t>(std::countr_zero(team));
        for_lanes(team, [&](uint32_t lane) { from[lane] = ptx::is_vote(what) ? yes : lowest; });
    });
}

template void Machine::exchange<false>(Warp&, uint32_t, uint32_t);
template void Machine::exchange<true>(Warp&, uint32_t, uint32_t);

}  // namespace tilescope::simt
