// What fences and atomics order. A thread that stores, passes a fence and then stores to a word that another
// thread reads in one piece (an atomic, a volatile access) has its store seen by whatever follows that read:
//
//     thread A   data = 1; __threadfence(); atomicAdd(&ticket, 1);
//     thread B                                                      atomicAdd(&ticket, 1); ... = data;
//
// Barriers of the two blocks carry this to and from their other threads, and so do the lanes of a warp that wait
// for each other. The recording holds what each atomic
// of global memory found: where the word is a counter, that tells which of the two came first, and else either
// order is taken for possible. Behind B's read no fence is asked for, which CUDA's own samples leave out.
//
// Source: PTX ISA, "Memory Consistency Model": release and acquire patterns, causality order.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "core/hazards/block.h"
#include "core/recording/lane_classes.h"

namespace tilescope::analysis {

enum class Ordered : uint8_t {
    No,
    Unclear,  // both threads take part in such an order, but by different words: perhaps through others
    Yes,
};

class Chains {
public:
    explicit Chains(HazardForms& forms) : forms_(forms) {}  // keeps a reference
    // Two accesses of threads of one block, in one barrier interval, or of two blocks.
    Ordered ordered(const HazardSide& a, const HazardSide& b);

private:
    // An access of a word in one piece, by one thread.
    struct Strong {
        uint64_t word = 0;
        uint32_t thread = 0, step = 0;
        uint32_t passed = 0;  // barriers that its warp had passed
        uint32_t fenced = 0;  // steps of the block up to the thread's last one before its latest fence
        bool reads = false, writes = false, polls = false, counts = false;
        uint64_t found = 0;  // of an atomic that counts
    };
    struct Arrival {
        uint32_t step = 0;
        uint32_t fenced = 0;  // as in Strong, the most of its lanes
    };
    struct OfBlock {
        std::vector<Strong> strong;                  // in step order
        std::vector<uint32_t> by_word;               // index into `strong`, by word, then step
        std::vector<std::vector<Arrival>> arrivals;  // by warp
        bool full = false;                           // it makes more such accesses than are kept
    };

    const OfBlock& block(uint32_t number, bool grid);
    OfBlock make(uint32_t number, bool grid);
    Ordered before(const HazardSide& a, const HazardSide& b);
    Ordered before(const HazardSide& a, const HazardSide& b, uint32_t lanes_a, uint32_t lanes_b);
    static bool is_one(const Strong& by, uint32_t thread, uint32_t lanes);
    static uint32_t passed(const OfBlock& of, uint32_t thread, uint32_t step);
    static bool released(const OfBlock& of, const Strong& by, uint32_t thread, uint32_t step, uint32_t lanes);

    HazardForms& forms_;
    std::map<std::pair<uint32_t, bool>, OfBlock>
        blocks_;  // by number, and whether fences of the GPU count alone
    uint64_t kept_ = 0, looked_at_ = 0;
};

}  // namespace tilescope::analysis
