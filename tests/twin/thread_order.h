// What threads of a block race on, slow and obvious: a vector clock for every thread, over what each of them does in
// its own order. Nothing is known here of recordings, of paths, or of the order in which an engine ran the threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <set>
#include <tuple>
#include <utility>
#include <vector>

namespace tilescope::test {

struct ThreadOp {
    enum class What : uint8_t { Load, Store, Sync, Barrier, Arrive, Wait } what{};
    uint32_t cell = 0, line = 0;  // Load, Store; Arrive, Wait: cell is the number of an mbarrier
    uint32_t mask = 0;            // Sync: __syncwarp(mask), of the thread's warp
};

// Barrier interval, cell, the two lines (lower first).
using CellRace = std::tuple<uint32_t, uint32_t, uint32_t, uint32_t>;

class ThreadOrder {
public:
    // arrivals: of each mbarrier, that end a phase of it. A thread waits for every phase, one after the other.
    explicit ThreadOrder(const std::vector<std::vector<ThreadOp>>& threads,
                         std::vector<uint32_t> arrivals = {})
        : threads_(threads), at_(threads.size()), passed_(threads.size()), expected_(std::move(arrivals)) {
        waited_.assign(threads.size(), std::vector<size_t>(expected_.size(), 0));
        phases_.resize(expected_.size());
        clocks_.assign(threads.size(), std::vector<uint32_t>(threads.size(), 0));
    }

    // False where threads wait for each other in vain.
    bool run() {
        for (bool on = true; on;) {
            on = false;
            for (size_t t = 0; t < threads_.size(); ++t) on = go_on(t) || on;
            for (size_t t = 0; t < threads_.size(); ++t) on = (waits(t) && meet(t)) || on;
        }
        for (size_t t = 0; t < threads_.size(); ++t)
            if (at_[t] < threads_[t].size()) return false;
        return true;
    }

    std::set<CellRace> races() const {
        std::set<CellRace> races;
        for (size_t i = 0; i < done_.size(); ++i)
            for (size_t j = 0; j < i; ++j) {
                const Done &a = done_[j], &b = done_[i];
                if (a.cell != b.cell || a.thread == b.thread || !(a.store || b.store)) continue;
                if (before(a, b) || before(b, a)) continue;
                races.insert({a.interval, a.cell, std::min(a.line, b.line), std::max(a.line, b.line)});
            }
        return races;
    }

private:
    using What = ThreadOp::What;
    struct Done {
        uint32_t thread, cell, line, interval;
        bool store;
        std::vector<uint32_t> clock;
    };

    // Whatever b has seen of a's thread, a is among it.
    static bool before(const Done& a, const Done& b) { return b.clock[a.thread] >= a.clock[a.thread]; }

    bool waits(size_t t) const {
        return at_[t] < threads_[t].size() &&
               (threads_[t][at_[t]].what == What::Sync || threads_[t][at_[t]].what == What::Barrier);
    }

    bool go_on(size_t t) {
        const size_t from = at_[t];
        for (; at_[t] < threads_[t].size() && !waits(t); ++at_[t]) {
            const ThreadOp& op = threads_[t][at_[t]];
            if (op.what == What::Arrive) {
                arrive(op.cell, clocks_[t]);
                continue;
            }
            if (op.what == What::Wait) {
                const size_t phase = waited_[t][op.cell];
                if (phase >= phases_[op.cell].size() || phases_[op.cell][phase].come < expected_[op.cell])
                    break;
                join(clocks_[t], phases_[op.cell][phase].clock);
                ++waited_[t][op.cell];
                continue;
            }
            ++clocks_[t][t];
            done_.push_back(
                {static_cast<uint32_t>(t), op.cell, op.line, passed_[t], op.what == What::Store, clocks_[t]});
        }
        return at_[t] != from;
    }

    static void join(std::vector<uint32_t>& all, const std::vector<uint32_t>& other) {
        all.resize(std::max(all.size(), other.size()), 0);
        for (size_t i = 0; i < other.size(); ++i) all[i] = std::max(all[i], other[i]);
    }
    void arrive(uint32_t barrier, const std::vector<uint32_t>& clock) {
        std::vector<SignalPhase>& phases = phases_[barrier];
        if (phases.empty() || phases.back().come == expected_[barrier]) {
            phases.emplace_back();
            if (phases.size() > 1) phases.back().clock = phases[phases.size() - 2].clock;
        }
        ++phases.back().come;
        join(phases.back().clock, clock);
    }

    // Those that the thread waits for go on together once all of them are there.
    bool meet(size_t t) {
        const ThreadOp op = threads_[t][at_[t]];
        std::vector<size_t> team;
        for (size_t other = 0; other < threads_.size(); ++other) {
            const bool named =
                op.what == What::Barrier || (other / 32 == t / 32 && (op.mask >> other % 32 & 1));
            if (!named || at_[other] >= threads_[other].size()) continue;
            const ThreadOp& its = threads_[other][at_[other]];
            if (!waits(other) || its.what != op.what || its.mask != op.mask) return false;
            team.push_back(other);
        }
        std::vector<uint32_t> all(threads_.size(), 0);
        for (const size_t one : team)
            for (size_t i = 0; i < all.size(); ++i) all[i] = std::max(all[i], clocks_[one][i]);
        for (const size_t one : team) {
            clocks_[one] = all;
            ++at_[one];
            passed_[one] += op.what == What::Barrier;
        }
        return true;
    }

    const std::vector<std::vector<ThreadOp>>& threads_;
    std::vector<size_t> at_;
    std::vector<uint32_t> passed_;
    std::vector<std::vector<uint32_t>> clocks_;
    struct SignalPhase {
        uint32_t come = 0;
        std::vector<uint32_t> clock;
    };
    std::vector<uint32_t> expected_;                // by mbarrier
    std::vector<std::vector<SignalPhase>> phases_;  // the same
    std::vector<std::vector<size_t>> waited_;       // by thread, then mbarrier
    std::vector<Done> done_;
};

}  // namespace tilescope::test
