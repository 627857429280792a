// What lanes of a warp tell one another: vote, match, redux, shfl, activemask. Source: PTX ISA, "Parallel
// Synchronization and Communication Instructions: vote, match, redux, activemask" and "Data Movement: shfl".
// Lanes in the member mask that do not take part (they are elsewhere, or have exited) count as absent.
namespace tilescope::simt::TILESCOPE_LANES {

inline void activemask(std::byte* d, std::byte*, const std::byte*, const std::byte*, const std::byte*,
                       uint32_t mask) {
    for (int i = 0; i < kWarpSize; ++i)
        if (mask >> i & 1) slots<uint32_t>(d)[i] = mask;
}

// Lanes may come to one instruction in several teams, each with its own member mask (the tiles of
// cooperative groups do): fn(lanes of a team), one team after the other.
template <class Fn>
void each_team(const std::byte* members, uint32_t mask, Fn fn) {
    ptx::each_team(&slots<uint32_t>(members)[0], mask, fn);
}

// d of the lanes of `team` becomes `value`.
inline void tell(uint32_t* d, uint32_t team, uint32_t value) {
    for (int i = 0; i < kWarpSize; ++i) d[i] = (team >> i & 1) ? value : d[i];
}

// a: predicate, b: member mask
template <Mode M>
void vote(std::byte* d, std::byte*, const std::byte* a, const std::byte* b, const std::byte*, uint32_t mask) {
    const uint32_t says = word(a);
    uint32_t ballot[kWarpSize] = {}, result = 0;
    each_team(b, mask, [&](uint32_t team) {
        const uint32_t yes = says & team;
        if constexpr (M == Mode::Ballot) {
            tell(ballot, team, yes);
        } else {
            const bool all = yes == team, none = yes == 0;
            const bool r = M == Mode::All ? all : M == Mode::Any ? !none : all || none;
            result |= r ? team : 0u;
        }
    });
    if constexpr (M == Mode::Ballot) {
        for (int i = 0; i < kWarpSize; ++i)
            if (mask >> i & 1) slots<uint32_t>(d)[i] = ballot[i];
    } else {
        word(d) = (word(d) & ~mask) | result;
    }
}

// match.any: the lanes whose value is this lane's. match.all: the team if all have one value, else none; e
// says which.
template <class T, bool All>
void match(std::byte* d, std::byte* e, const std::byte* a, const std::byte* b, const std::byte*,
           uint32_t mask) {
    const auto& value = slots<T>(a);
    uint32_t found[kWarpSize] = {}, agreed = 0;
    each_team(b, mask, [&](uint32_t team) {
        uint32_t left = team;
        while (left) {
            const T wanted = value[std::countr_zero(left)];
            uint32_t same = 0;
            for (int i = 0; i < kWarpSize; ++i) same |= value[i] == wanted ? 1u << i : 0u;
            same &= team;
            if (All && same != team) return;
            if (All) agreed |= team;
            tell(found, same, same);
            left &= ~same;
        }
    });
    for (int i = 0; i < kWarpSize; ++i)
        if (mask >> i & 1) slots<uint32_t>(d)[i] = found[i];
    if constexpr (All) word(e) = (word(e) & ~mask) | agreed;
}

// F over the values of all lanes of a team. b: member mask
template <class F, class T>
void redux(std::byte* d, std::byte*, const std::byte* a, const std::byte* b, const std::byte*,
           uint32_t mask) {
    uint32_t result[kWarpSize] = {};
    each_team(b, mask, [&](uint32_t team) {
        T sum = from_slot<T>(slots<T>(a)[std::countr_zero(team)]);
        for (uint32_t rest = team & (team - 1); rest; rest &= rest - 1)
            sum = F::apply(sum, from_slot<T>(slots<T>(a)[std::countr_zero(rest)]));
        tell(result, team, to_slot<T>(sum));
    });
    for (int i = 0; i < kWarpSize; ++i)
        if (mask >> i & 1) slots<uint32_t>(d)[i] = result[i];
}

template <class T>
LaneOp redux_as(ptx::Atomic how) {
    switch (how) {
        case ptx::Atomic::Add: return same(redux<IntAdd, T>);
        case ptx::Atomic::Min: return same(redux<IntMin, T>);
        case ptx::Atomic::Max: return same(redux<IntMax, T>);
        case ptx::Atomic::And: return same(redux<And, T>);
        case ptx::Atomic::Or: return same(redux<Or, T>);
        case ptx::Atomic::Xor: return same(redux<Xor, T>);
        default: return {};
    }
}
template <class T>
LaneOp match_as(Mode mode) {
    return mode == Mode::All ? same(match<T, true>) : same(match<T, false>);
}

// d | e = shfl(a, b, c): c holds the clamp (bits 0 to 4) and the segment mask (bits 8 to 12); e is
// true where the source lane is within the segment.
template <Mode M>
void shfl(std::byte* d, std::byte* e, const std::byte* a, const std::byte* b, const std::byte* c,
          uint32_t mask) {
    uint32_t from[kWarpSize], result[kWarpSize], inside = 0;
    TILESCOPE_EACH_LANE
    for (uint32_t lane = 0; lane < kWarpSize; ++lane) {
        const uint32_t bval = slots<uint32_t>(b)[lane] & 31, cval = slots<uint32_t>(c)[lane] & 31;
        const uint32_t segment = slots<uint32_t>(c)[lane] >> 8 & 31;
        const int max_lane = static_cast<int>((lane & segment) | (cval & ~segment));
        const uint32_t min_lane = lane & segment;
        int j = 0;
        bool in = false;
        if constexpr (M == Mode::Up) j = static_cast<int>(lane) - static_cast<int>(bval), in = j >= max_lane;
        if constexpr (M == Mode::Down) j = static_cast<int>(lane + bval), in = j <= max_lane;
        if constexpr (M == Mode::Bfly) j = static_cast<int>(lane ^ bval), in = j <= max_lane;
        if constexpr (M == Mode::Idx) j = static_cast<int>(min_lane | (bval & ~segment)), in = j <= max_lane;
        from[lane] = in ? static_cast<uint32_t>(j) : lane;
        inside |= in ? 1u << lane : 0u;
    }
    for (int i = 0; i < kWarpSize; ++i) result[i] = slots<uint32_t>(a)[from[i]];
    auto& out = slots<uint32_t>(d);
    for (int i = 0; i < kWarpSize; ++i) out[i] = (mask >> i & 1) ? result[i] : out[i];
    word(e) = (word(e) & ~mask) | (inside & mask);
}

inline LaneOp find_warp(const Operation& i) {
    switch (i.op) {
        case Op::Activemask: return same(activemask);
        case Op::Redux:
            return i.type == Type::S32 ? redux_as<int32_t>(i.atomic) : redux_as<uint32_t>(i.atomic);
        case Op::Match: return size_of(i.type) == 8 ? match_as<uint64_t>(i.mode) : match_as<uint32_t>(i.mode);
        case Op::Vote:
            return with_one_of<Mode::All, Mode::Any, Mode::Uni, Mode::Ballot>(
                i.mode, [](auto mode) { return same(vote<decltype(mode)::value>); });
        case Op::Shfl:
            return with_one_of<Mode::Up, Mode::Down, Mode::Bfly, Mode::Idx>(
                i.mode, [](auto mode) { return same(shfl<decltype(mode)::value>); });
        default: return {};
    }
}

}  // namespace tilescope::simt::TILESCOPE_LANES
