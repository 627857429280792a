// What lanes of a warp tell one another: vote, shfl, activemask. Source: PTX ISA, "Parallel
// Synchronization and Communication Instructions: vote, activemask" and "Data Movement: shfl". Lanes in
// the member mask that do not take part (they are elsewhere, or have exited) count as absent.
namespace tilescope::simt::TILESCOPE_LANES {

inline void activemask(std::byte* d, std::byte*, const std::byte*, const std::byte*, const std::byte*,
                       uint32_t mask) {
    for (int i = 0; i < kWarpSize; ++i)
        if (mask >> i & 1) slots<uint32_t>(d)[i] = mask;
}

// a: predicate
template <Mode M>
void vote(std::byte* d, std::byte*, const std::byte* a, const std::byte*, const std::byte*, uint32_t mask) {
    const uint32_t yes = word(a) & mask;
    if constexpr (M == Mode::Ballot) {
        for (int i = 0; i < kWarpSize; ++i)
            if (mask >> i & 1) slots<uint32_t>(d)[i] = yes;
    } else {
        const bool all = yes == mask, none = yes == 0;
        const bool r = M == Mode::All ? all : M == Mode::Any ? !none : all || none;
        word(d) = (word(d) & ~mask) | (r ? mask : 0u);
    }
}

// d | e = shfl(a, b, c): c holds the clamp (bits 0 to 4) and the segment mask (bits 8 to 12); e is
// true where the source lane is within the segment.
template <Mode M>
void shfl(std::byte* d, std::byte* e, const std::byte* a, const std::byte* b, const std::byte* c,
          uint32_t mask) {
    uint32_t result[kWarpSize] = {};
    uint32_t inside = 0;
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
        result[lane] = slots<uint32_t>(a)[in ? j : static_cast<int>(lane)];
        inside |= in ? 1u << lane : 0u;
    }
    for (int i = 0; i < kWarpSize; ++i)
        if (mask >> i & 1) slots<uint32_t>(d)[i] = result[i];
    word(e) = (word(e) & ~mask) | (inside & mask);
}

inline LaneOp find_warp(const Instruction& i) {
    if (i.op == Op::Activemask) return {activemask, activemask};
    switch (i.mode) {
        case Mode::All:
            return {vote<Mode::All>, vote<Mode::All>};
        case Mode::Any:
            return {vote<Mode::Any>, vote<Mode::Any>};
        case Mode::Uni:
            return {vote<Mode::Uni>, vote<Mode::Uni>};
        case Mode::Ballot:
            return {vote<Mode::Ballot>, vote<Mode::Ballot>};
        case Mode::Up:
            return {shfl<Mode::Up>, shfl<Mode::Up>};
        case Mode::Down:
            return {shfl<Mode::Down>, shfl<Mode::Down>};
        case Mode::Bfly:
            return {shfl<Mode::Bfly>, shfl<Mode::Bfly>};
        case Mode::Idx:
            return {shfl<Mode::Idx>, shfl<Mode::Idx>};
        default:
            return {};
    }
}

}  // namespace tilescope::simt::TILESCOPE_LANES
