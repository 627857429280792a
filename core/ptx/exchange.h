// What lanes of a warp give each other without memory: shuffles, votes, matches and reductions.
//
// An exchange is recorded with one number for each active lane:
//
//   shuffle   the lane that it reads; kOutside more where that lies outside its segment, so that the lane
//             keeps its own value
//   vote      the lanes of its team whose predicate holds, a bit each
//   match     the lowest lane of its team that holds the same value
//   reduce    the lowest lane of its team
//   transpose, multiply   movmatrix, and products of matrices: 0
//
// A team are the lanes that come to the instruction together and name the same member mask. Whether a lane that
// is read takes part, the active mask of the step says.
//
// Source: PTX ISA, "Data Movement: shfl.sync, movmatrix"; "Parallel Synchronization and Communication Instructions:
// vote.sync, match.sync, redux.sync".
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>

#include "core/base/launch.h"

namespace tilescope::ptx {

// clang-format off
enum class Exchange : uint8_t {
    None, ShuffleUp, ShuffleDown, ShuffleXor, ShuffleIdx, VoteAll, VoteAny, VoteUni, VoteBallot,
    MatchAny, MatchAll, Reduce, Transpose, Multiply,
};
// clang-format on

constexpr bool is_shuffle(Exchange what) {
    return what >= Exchange::ShuffleUp && what <= Exchange::ShuffleIdx;
}
constexpr bool is_vote(Exchange what) { return what >= Exchange::VoteAll && what <= Exchange::VoteBallot; }
// Of matrices: which lane gives what to which, the form of the instruction says (matrix.h).
constexpr bool is_of_matrices(Exchange what) { return what >= Exchange::Transpose; }
constexpr bool is_match(Exchange what) { return what == Exchange::MatchAny || what == Exchange::MatchAll; }

// As files call it.
inline const char* name_of(Exchange what) {
    constexpr const char* kNames[] = {"none",      "shuffle_up", "shuffle_down", "shuffle_xor", "shuffle_idx",
                                      "vote_all",  "vote_any",   "vote_uni",     "ballot",      "match_any",
                                      "match_all", "reduce",     "transpose",    "multiply"};
    return kNames[static_cast<size_t>(what)];
}

inline constexpr uint32_t kOutside = 32;

// The highest number that a lane of an exchange may have.
constexpr uint32_t most_of(Exchange what) {
    if (is_of_matrices(what)) return 0;
    return is_vote(what) ? UINT32_MAX : is_shuffle(what) ? kOutside + kWarpSize - 1 : kWarpSize - 1;
}

// The number of a lane of a shuffle. b: by how much, or which lane; c: the clamp in bits 0 to 4, the segment
// mask in bits 8 to 12.
constexpr uint32_t shuffle_source(Exchange what, uint32_t lane, uint32_t b, uint32_t c) {
    const uint32_t by = b & 31, clamp = c & 31, segment = c >> 8 & 31;
    const auto most = static_cast<int>((lane & segment) | (clamp & ~segment));
    const auto own = static_cast<int>(lane), distance = static_cast<int>(by);
    const int from = what == Exchange::ShuffleUp     ? own - distance
                     : what == Exchange::ShuffleDown ? own + distance
                     : what == Exchange::ShuffleXor  ? static_cast<int>(lane ^ by)
                                                     : static_cast<int>((lane & segment) | (by & ~segment));
    const bool inside = what == Exchange::ShuffleUp ? from >= most : from <= most;
    return inside ? static_cast<uint32_t>(from) : lane + kOutside;
}

// fn(lanes of a team), one team of the lanes `mask` after the other; members: the mask that each lane names.
template <class Fn>
void each_team(const uint32_t* members, uint32_t mask, Fn fn) {
    while (mask != 0) {
        const auto first = static_cast<uint32_t>(std::countr_zero(mask));
        const uint32_t named = members[first];
        uint32_t same = 0;
        for (size_t lane = 0; lane < kWarpSize; ++lane) same |= members[lane] == named ? 1u << lane : 0u;
        const uint32_t team = (same & mask & named) | 1u << first;
        fn(team);
        mask &= ~team;
    }
}

}  // namespace tilescope::ptx
