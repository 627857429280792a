// What bar.warp.sync orders within a warp. It is no step of a recording: where a lane passed which of them is
// worked out from the PTX between its steps (KernelFacts). Lanes wait for those that the mask names, so that the
// n-th of a mask is one event for all lanes that it names:
//
//     lane 0    store s[0]   sync 0xffff        load s[1]   sync ~0   ...
//     lane 1    store s[1]   sync 0xffff        load s[0]   sync ~0
//     lane 16   store s[16]  sync 0xffff0000    ...         sync ~0
//
// Each such event begins a stretch of the lanes that it names, and every stretch knows the latest stretch of each
// lane that comes before it: a vector clock. How often a lane passes one where several paths lead from one of its
// steps to the next is taken from the lanes that have waited for it.
//
// Source: PTX ISA, "bar.warp.sync": it waits for all threads of the mask, with the same mask, and orders memory
// accesses among them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "core/hazards/kernel_facts.h"

namespace tilescope::analysis {

// Lanes of a step that are in one stretch.
struct WarpStretch {
    uint32_t step = 0;  // of the block
    uint32_t lanes = 0;
    uint32_t number = 0;  // ascends in every order that the waits allow
    uint32_t passed = 0;  // bar.warp.syncs of this barrier interval that each of the lanes has passed
};

// Where lanes of a warp waited for each other.
struct WarpJoin {
    uint32_t number = 0;  // of the stretch that begins there
    uint32_t lanes = 0;   // whose stretch it is
    uint32_t heard =
        0;  // what these lanes did before comes before it: those above, and named ones that have ended
};

// The steps of one warp in a block.
class WarpStretches {
public:
    std::span<const WarpStretch> of_step(uint32_t step) const;
    // Whether what lane `a` does in stretch x comes before what another lane does in stretch y, y.number >=
    // x.number; the other way round it cannot be.
    bool before(const WarpStretch& x, uint32_t a, const WarpStretch& y) const {
        return clocks_[y.number][a] > clocks_[x.number][a];
    }
    // Whether two accesses of a barrier interval that `before` does not order may be ordered after all: not every
    // mask is known, or not how often it was passed.
    bool may_order(uint32_t interval, const WarpStretch& x, uint32_t a, const WarpStretch& y,
                   uint32_t b) const;
    std::span<const WarpJoin> joins() const { return joins_; }  // by number
    // Whether in some interval not every mask is known, or not how often it was passed.
    bool unclear() const { return std::ranges::find(unclear_, true) != unclear_.end(); }

private:
    friend class WarpOrder;
    using Lanes = std::array<uint32_t, 32>;

    std::vector<WarpStretch> stretches_;  // by step
    std::vector<WarpJoin> joins_;
    std::vector<Lanes> clocks_;  // by stretch: lane -> its stretches that have begun by then
    std::vector<Lanes> passed_;  // by interval: lane -> bar.warp.syncs in it
    std::vector<bool> unclear_;  // by interval
};

// The steps of a block, one after the other.
class WarpOrder {
public:
    WarpOrder(KernelFacts& facts, const trace::Block& block) : facts_(facts), block_(block) {}
    void add(uint32_t step, uint32_t warp, uint32_t mask, uint32_t site, bool barrier);
    std::vector<WarpStretches> finish();  // by warp

private:
    // Behind: what a lane may pass behind its last step.
    enum class What : uint8_t { Step, Sync, Unknown, Barrier, Behind };
    struct Event {
        What what{};
        uint32_t lanes = 0;
        uint32_t value = 0;  // the step, or the mask
    };
    using Counts = std::array<uint32_t, 32>;
    struct OfWarp {
        OfWarp() { site.fill(KernelFacts::kEntry); }
        std::array<uint32_t, 32> site;      // of each lane's last step
        std::map<uint32_t, Counts> passed;  // mask -> lane -> how often
        std::vector<Event> events;          // of each lane in its order
    };
    struct Walk;

    void go(OfWarp& of, uint32_t warp, uint32_t lanes, uint32_t from, uint32_t to);
    void pass_in_order(OfWarp& of, uint32_t warp, uint32_t lanes, const WarpSyncs& syncs);
    void pass_as_others(OfWarp& of, uint32_t warp, uint32_t lanes, const WarpSyncs& syncs);
    uint32_t behind(const OfWarp& of, uint32_t warp, uint32_t lane, uint32_t mask);
    static WarpStretches stretches_of(const OfWarp& of);

    KernelFacts& facts_;
    const trace::Block& block_;
    std::vector<OfWarp> warps_;
};

}  // namespace tilescope::analysis
