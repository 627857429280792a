// What fences, words that threads read and store in one piece, and barriers order, slow and obvious: a run is followed
// step by step, in the order that it happened in, with vector clocks for every thread and every word.
//
// A thread knows what it did, what whoever met it at a barrier knew, and what the words told that it read in one
// piece. A fence makes ready what it knows; its next store in one piece tells the word so. One that reads and stores
// at once adds to what the word tells, a plain volatile store replaces it (PTX ISA, release sequences).
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace tilescope::test {

struct OrderedOp {
    enum class What : uint8_t {
        Load,
        Store,
        BlockFence,
        GridFence,
        Add,
        Exchange,
        Volatile,
        Read,
        Poll,
        Barrier
    };
    What what{};
    uint32_t place = 0;   // Load, Store: a cell; a word else
    bool shared = false;  // the block's own cell or word
    uint32_t line = 0;
};

class ReleasedOrder {
public:
    ReleasedOrder(uint32_t blocks, uint32_t threads)  // of each block
        : threads_(threads), all_(size_t{blocks} * threads, Known{Clock(size_t{blocks} * threads, 0)}) {}

    // One thread's op; a barrier by meet(), once all of the block have come.
    void step(uint32_t block, uint32_t thread, const OrderedOp& op) {
        using What = OrderedOp::What;
        const uint32_t number = block * threads_ + thread;
        Known& own = all_[number];
        ++own.seen[number];
        if (op.what == What::GridFence) own.for_grid = own.for_block = own.seen;
        if (op.what == What::BlockFence) own.for_block = own.seen;
        if (op.what == What::Load || op.what == What::Store)
            done_.push_back({block, number, op, own.seen, own.passed});
        if (op.what < What::Add || op.what == What::Barrier) return;
        Word& word = words_[{op.shared ? block + 1 : 0, op.place}];
        if (op.what != What::Volatile) {
            join(own.seen, word.for_grid);
            join(own.seen, word.for_block[block]);
        }
        if (op.what == What::Read || op.what == What::Poll) return;
        if (op.what == What::Volatile) word = {};
        join(word.for_grid, own.for_grid);
        join(word.for_block[block], own.for_block);
    }

    void meet(uint32_t block) {
        Known all;
        const auto first = all_.begin() + block * threads_;
        for (auto at = first; at != first + threads_; ++at)
            join(all.seen, at->seen), join(all.for_block, at->for_block), join(all.for_grid, at->for_grid);
        all.passed = first->passed + 1;
        std::fill_n(first, threads_, all);
    }

    // By their lines, the lower first.
    std::set<std::pair<uint32_t, uint32_t>> races() const {
        std::set<std::pair<uint32_t, uint32_t>> races;
        for (const Done& b : done_)
            for (const Done& a : done_) {
                if (&a == &b) break;
                const bool one_cell = a.op.place == b.op.place && a.op.shared == b.op.shared &&
                                      (!a.op.shared || a.block == b.block);
                const bool store = a.op.what == OrderedOp::What::Store || b.op.what == OrderedOp::What::Store;
                if (!one_cell || !store || b.clock[a.thread] >= a.clock[a.thread]) continue;
                races.insert(std::minmax(a.op.line, b.op.line));
            }
        return races;
    }

private:
    using Clock = std::vector<uint32_t>;
    struct Known {
        Clock seen, for_block{}, for_grid{};
        uint32_t passed = 0;
    };
    struct Word {
        Clock for_grid;
        std::map<uint32_t, Clock> for_block;
    };
    struct Done {
        uint32_t block, thread;
        OrderedOp op;
        Clock clock;
        uint32_t passed;
    };

    static void join(Clock& to, const Clock& from) {
        to.resize(std::max(to.size(), from.size()));
        for (size_t i = 0; i < from.size(); ++i) to[i] = std::max(to[i], from[i]);
    }

    uint32_t threads_;
    std::vector<Known> all_;
    std::map<std::pair<uint32_t, uint32_t>, Word> words_;
    std::vector<Done> done_;
};

}  // namespace tilescope::test
