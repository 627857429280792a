// What an instruction does to a barrier in memory (mbarrier): a step of its own, whose address is the barrier's.
//
//   Init          mbarrier.init                         words: arrivals expected in each phase
//   Invalidate    mbarrier.inval
//   Arrive        mbarrier.arrive, .expect_tx too       words: arrivals, bytes expected beside
//   Drop          mbarrier.arrive_drop, .expect_tx too  words: the same; later phases expect so many arrivals less
//   Expect        mbarrier.expect_tx                    words: bytes
//   Complete      mbarrier.complete_tx                  words: bytes
//   CopyArrive    cp.async.mbarrier.arrive              words: 1 with .noinc, 0 without
//   Wait          mbarrier.test_wait, try_wait          words: the parity of the phase whose end it has seen
//
// A wait is a step once its phase has ended; a look before that is none.
//
// Source: PTX ISA, "Parallel Synchronization and Communication Instructions: mbarrier".
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tilescope::ptx {

enum class Signal : uint8_t { None, Init, Invalidate, Arrive, Drop, Expect, Complete, CopyArrive, Wait };
inline constexpr size_t kSignals = 9;

inline std::string_view name_of(Signal signal) {
    constexpr std::string_view kNames[kSignals] = {"",       "init",     "invalidate",  "arrive", "drop",
                                                   "expect", "complete", "copy_arrive", "wait"};
    return kNames[static_cast<size_t>(signal)];
}

constexpr bool arrives(Signal signal) {
    return signal == Signal::Arrive || signal == Signal::Drop || signal == Signal::CopyArrive;
}

// How many words a step of it has for each lane.
constexpr uint8_t words_of(Signal signal) {
    constexpr uint8_t kWords[kSignals] = {0, 1, 0, 2, 2, 1, 1, 1, 1};
    return kWords[static_cast<size_t>(signal)];
}

// The bytes that an mbarrier takes.
inline constexpr uint32_t kBarrierBytes = 8;

// An access of another shape than an address and some bytes for each lane.
//   Row       cp.async.bulk: bytes side by side             words: bytes, the barrier's offset in shared memory
//   Tensor    cp.async.bulk.tensor: a box of a tensor       words: bytes, the barrier's offset, the map (2), five
//                                                           coordinates, offsets and whether it gathers (2)
//                                                           With .multicast::cluster both have one word more: the
//                                                           blocks of the cluster that it goes to, a bit each
//   Tile      wgmma: a tile of a matrix in shared memory    words: the lower and upper half of its descriptor
enum class Box : uint8_t { None, Row, Tensor, Tile };
inline std::string_view name_of(Box box) {
    constexpr std::string_view kNames[] = {"", "row", "tensor", "tile"};
    return kNames[static_cast<size_t>(box)];
}
inline constexpr uint32_t kBulkBytes = 16;  // a bulk copy moves a multiple of them
// In place of the barrier's offset: the copy is one of a group of its thread.
inline constexpr uint32_t kNoBarrier = UINT32_MAX;
// Of a Tensor's map, in its second word: the first one is an offset in the kernel's parameters, and no address.
inline constexpr uint32_t kMapInParameters = UINT32_MAX;
inline constexpr uint8_t kRowWords = 2, kTensorWords = 11, kTileWords = 2;
inline constexpr size_t kMostStepWords = kTensorWords + 1;
constexpr uint8_t words_of(Box box) {
    constexpr uint8_t kWords[] = {0, kRowWords, kTensorWords, kTileWords};
    return kWords[static_cast<size_t>(box)];
}
// Whether it goes to several blocks of a cluster. words: of its site; which blocks stands in words[words_of(box)].
constexpr bool is_multicast(Box box, uint8_t words) {
    return (box == Box::Row || box == Box::Tensor) && words == words_of(box) + 1;
}

}  // namespace tilescope::ptx
