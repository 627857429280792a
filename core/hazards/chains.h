// What fences and atomics order. A thread that stores, passes a fence and then stores to a word that another
// thread reads in one piece (an atomic, a volatile access) has its store seen by whatever follows that read:
//
//     thread A   data = 1; __threadfence(); atomicAdd(&ticket, 1);
//     thread B                                                      atomicAdd(&ticket, 1); ... = data;
//
// Barriers of the two blocks carry this to and from their other threads, and so do the lanes of a warp that wait
// for each other. The recording holds what each atomic of global memory found: where the word is a counter, that
// tells which of the two came first, and else either order is taken for possible. Behind B's read no fence is
// asked for, which CUDA's own samples leave out.
//
// What B has come to know so it hands on by a fence and an atomic of its own, of the same word or of another:
//
//     A --ticket--> C --flag--> B      C is the last that counts; B waits for the flag
//
// Such a way counts where at most one of its parts is but possible. Where two are, as with two locks, they may
// not be possible together: then nothing is said of the order.
//
// Source: PTX ISA, "Memory Consistency Model": release and acquire patterns, causality order.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "core/hazards/block.h"

namespace tilescope::analysis {

enum class Ordered : uint8_t {
    No,
    Unclear,  // it cannot be told
    Yes,
};

class Chains {
public:
    explicit Chains(HazardForms& forms);  // keeps a reference
    // Two accesses of threads of one block, in one barrier interval, or of two blocks.
    Ordered ordered(const HazardSide& a, const HazardSide& b);

private:
    // An access of a word in one piece, by one thread.
    struct Strong {
        uint64_t word = 0;
        uint32_t thread = 0, step = 0;
        uint32_t passed = 0;  // barriers that its thread had passed
        uint32_t fenced = 0;  // steps of the block up to the thread's last one before its latest fence
        bool reads = false, writes = false, polls = false;
        bool counts = false;           // the word is a counter: `found` and `left` tell which came first
        bool wraps = false;            // an increment that may begin anew
        uint64_t found = 0, left = 0;  // what the word held before it, and at least behind it
    };
    struct Arrival {
        uint32_t step = 0, lanes = 0;
        uint32_t fenced = 0;  // as in Strong, the most of its lanes
    };
    struct OfWarp {
        std::vector<Arrival> arrivals;
        bool split = false;  // lanes came to barriers by themselves: the n-th arrival is not the n-th of each
    };
    struct OfBlock {
        std::vector<Strong> strong;     // in step order
        std::vector<uint32_t> by_word;  // index into `strong`, by word, then step
        std::vector<OfWarp> warps;
        std::vector<uint32_t> fences;  // interval -> those up to it in which a thread passed a fence
        bool full = false;             // it makes more such accesses than are kept
    };
    enum class Scope : uint8_t { Block, Grid };  // which fences count, and words of which memory
    // A thread that has come to know of an access by a step, on a way of which `doubts` parts are but possible.
    static constexpr uint32_t kMostDoubts = 2;  // and more
    struct Knows {
        uint32_t block = 0, thread = 0, step = 0, doubts = 0;
        bool operator==(const Knows&) const = default;
    };
    struct Pair {
        Knows a, b;
        uint32_t passed_a = 0, passed_b = 0;  // barriers that their threads had passed
        bool b_writes = false;
        Scope scope() const { return a.block != b.block ? Scope::Grid : Scope::Block; }
        // Behind the barrier that ends the interval of both.
        bool too_late(uint32_t passed) const { return a.block == b.block && passed > passed_a; }
    };
    struct OfWord {
        uint64_t word = 0;
        uint32_t block = 0, at = 0;  // index into its `strong`
    };
    // Who comes to know of an access that these strong accesses of its block hand on.
    using Steps = std::array<uint32_t, kMostDoubts + 1>;
    struct Reach {
        Knows from;
        std::vector<std::pair<uint32_t, Scope>> by;
        std::map<std::pair<uint32_t, uint32_t>, Steps> known;  // block and thread -> first step, by doubts
        bool cut = false;
    };
    struct Making;

    OfBlock& block(uint32_t number, Scope scope);
    OfBlock make(uint32_t number, Scope scope);
    void look_at_all();
    Ordered before(const HazardSide& a, const HazardSide& b);
    bool directly(const Pair& pair, uint32_t lanes_a, uint32_t lanes_b);
    Ordered through_others(const Pair& pair, uint32_t lanes_a, uint32_t lanes_b);
    void find_reach(Reach& reach);

    static void find_counters(std::span<Strong* const> of_word);
    static bool is_one(uint32_t by, uint32_t thread, uint32_t lanes);
    static bool is_itself(const Strong& by, const Knows& of) {
        return by.thread == of.thread && by.step == of.step;
    }
    static uint32_t passed(const OfBlock& of, uint32_t thread, uint32_t step);
    static const Arrival* arrival(const OfBlock& of, uint32_t thread, uint32_t number);
    static bool released(const OfBlock& of, const Strong& by, uint32_t thread, uint32_t step, uint32_t lanes);
    static bool may_precede(const Strong& r, const Strong& q, bool& sure);
    static bool comes_before(const OfBlock& of, uint32_t thread, uint32_t step, const Pair& pair,
                             uint32_t lanes);
    template <class Visit>
    static void each_released(const OfBlock& of, const Knows& from, uint32_t lanes, Visit visit);
    template <class Visit>
    static void each_of_word(const OfBlock& of, uint64_t word, Visit visit);

    HazardForms& forms_;
    bool inside_ = false;  // a block may have an order of its own: by words of shared memory, or its fences
    std::map<std::pair<uint32_t, Scope>, OfBlock> blocks_;
    std::vector<OfWord> words_;  // of all blocks, by word
    bool all_ = false, all_full_ = false;
    Reach latest_;
    uint64_t kept_ = 0, looked_at_ = 0, reached_ = 0;
};

}  // namespace tilescope::analysis
