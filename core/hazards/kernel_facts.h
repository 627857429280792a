// What the PTX of a recording says of its steps that the steps themselves do not: what a thread passes between
// two sites (a __syncwarp, a fence), and what a store puts into memory.
//
//     site a --> ... bar.warp.sync ... --> site b       on a path from a to b that comes to no other site
//            \-> ... membar.gl ...     -/               on another one
//
// Which of several paths a thread took is not known: a fence on some path counts as passed, so that no order is
// overlooked.
//
// Without PTX that fits the sites nothing is known.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/hazards/register_values.h"
#include "core/ptx/cfg.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {

// The bar.warp.sync that a thread passes on all paths between two sites, by the number of their mask.
struct WarpSyncs {
    static constexpr uint8_t kMany = 64;  // and more, or any number of them
    struct Times {
        uint8_t least = 0, most = 0;
        bool operator==(const Times&) const = default;
    };
    std::vector<Times> times;    // by mask
    bool one_order = true;       // whether it passes the same masks in the same order on all of them
    std::vector<uint8_t> order;  // those masks, then
    bool operator==(const WarpSyncs&) const = default;
};

// What an atomic adds to its word, in every thread.
enum class Adds : uint8_t {
    Unknown,  // that is not known, or makes it less, or it does not add
    Nothing,
    Up,
};

// The groups of copies that a thread closes between two sites, and how many it has waited for then. Where paths differ, the
// most that it can have waited for counts.
struct PassedGroups {
    static constexpr uint8_t kMany = 64;  // and more, or any number of them
    static constexpr int32_t kNoWait = INT32_MIN, kAll = INT32_MAX;
    uint8_t least = 0, most = 0;  // groups that it closes
    // It has waited for the groups that were closed before and for so many behind them, or fewer than these where it is
    // below 0; kAll: for the open one, too.
    int32_t waited = kNoWait;
    int32_t read = kNoWait;  // the same of bulk copies whose sources alone it has waited for (.read)
    bool any() const { return most != 0 || waited != kNoWait || read != kNoWait; }
    bool operator==(const PassedGroups&) const = default;
};

// What a thread passes between two sites.
struct Passed {
    uint32_t syncs = 0;        // for KernelFacts::syncs(); 0 where it passes none
    bool block_fence = false;  // a fence for the block at least, on some path
    bool grid_fence = false;   // a fence for the whole GPU at least, on some path
    bool proxy_fence =
        false;  // a fence between what threads and what copies in bulk access (fence.proxy.async), the same
    PassedGroups copies{}, bulk{};  // of cp.async; of cp.async.bulk
    bool orders_copies() const { return proxy_fence || copies.any() || bulk.any(); }
};

// What a thread asks of a barrier of its block (bar, barrier).
struct BarrierUse {
    bool arrives = false;             // it goes on without waiting
    bool waits = false;               // it has arrived before, and is not counted here
    bool counted = false;             // it names a number of threads
    std::optional<uint32_t> number;   // 0 to 15; none where it is not known
    std::optional<uint32_t> threads;  // that it is for; none where it is not known, or for all
};

class KernelFacts {
public:
    static constexpr uint32_t kEntry = 0xFFFF'FFFFu;  // where threads begin, as `from`

    explicit KernelFacts(const trace::Trace& trace);  // keeps a reference

    bool known() const { return kernel_ != nullptr; }
    bool warp_syncs() const { return !masks_.empty(); }  // whether there is any bar.warp.sync
    bool fences() const { return fences_; }              // whether there is any fence
    bool block_fences() const { return block_fences_; }  // whether any is for the block alone
    // The lanes that a thread waits for somewhere, at a bar.warp.sync or to exchange values, or that wait for such a
    // lane in turn; itself included. `perhaps` where not every mask is known.
    struct Waits {
        uint32_t sure = 0, perhaps = 0;
    };
    Waits waits_of(const trace::Block& block, uint32_t thread) const;
    // The mask of a bar.warp.sync, by its number, as a thread has it; none where that is not known.
    std::optional<uint32_t> mask(uint8_t number, const trace::Block& block, uint32_t thread) const;
    // Whether barriers with a number or a number of threads of their own hold parts of a block.
    bool part_barriers() const { return part_barriers_; }
    // Of a barrier's site. That of a whole grid has a number of its own, kGridNumber, and that of a cluster.
    BarrierUse barrier_use(uint32_t site, const trace::Block& block, uint32_t thread) const;
    static constexpr uint32_t kGridNumber = 16, kClusterNumber = 17;

    // Whether a wait at a barrier in memory is for the phase of a parity, and not for that of a state.
    bool waits_for_parity(uint32_t site) const;

    // The reference holds as long as the object.
    const Passed& passed(uint32_t from, uint32_t to) { return row(from)[to]; }
    // The same before it comes to any other site, or to its end.
    const Passed& behind(uint32_t from) { return row(from).back(); }
    const WarpSyncs& syncs(const Passed& passed) const { return syncs_[passed.syncs]; }

    // Whether the hardware takes care of the word in one piece and at once: atomics, and loads and stores that
    // are volatile, relaxed, acquire or release (PTX ISA, "Memory Consistency Model": strong operations).
    bool strong(uint32_t site) const { return known() && facts_[site].strong; }
    // Whether it is a fence for what the thread did before.
    bool releases(uint32_t site) const { return known() && facts_[site].releases; }
    // Whether all lanes of a warp execute it, though some of them may ask for nothing, as of an ldmatrix.
    bool whole_warp(uint32_t site) const { return known() && facts_[site].whole_warp; }
    Adds adds(uint32_t site) const { return known() ? facts_[site].adds : Adds::Unknown; }
    // Whether it comes to nothing but such loads as long as its loop runs: it waits for a value.
    bool polls(uint32_t site) const { return known() && facts_[site].polls; }
    // What stands for the value that a store puts there, where it is the same in all threads.
    std::optional<UniformValue> uniform(uint32_t site) const {
        return known() ? facts_[site].uniform : std::nullopt;
    }
    // Whether a store to shared memory brings what was loaded from global memory, or made of that alone.
    bool fills(uint32_t site) const { return !known() || facts_[site].fills; }

private:
    struct SiteFacts {
        bool strong = false, polls = false, fills = false, releases = false, whole_warp = false;
        Adds adds = Adds::Unknown;
        std::optional<UniformValue> uniform;
    };
    void look_at_sites();
    // The memory that the loads of a site have been to.
    struct LoadedFrom {
        bool any = false;      // they have been somewhere
        bool changes = false;  // to memory that someone may store to, but for shared memory
        uint64_t shared = 0;   // array_bit() of arrays in shared memory
    };
    std::vector<LoadedFrom> loaded_from() const;  // by site
    bool in_one_interval(uint32_t first, uint32_t second) const;
    struct Way;
    struct OnPaths;
    void look_at_masks();
    Adds added_by(const ptx::Site& site) const;
    void pass(uint32_t instruction, Way& way) const;
    uint32_t number_of(WarpSyncs syncs);
    const std::vector<Passed>& row(uint32_t from);
    std::vector<Passed> passed_from(uint32_t from);
    std::optional<uint32_t> number_in(const ptx::Operand& operand, const trace::Block& block,
                                      uint32_t thread) const;

    const trace::Trace& trace_;
    std::shared_ptr<const ptx::Module> module_;
    const ptx::Kernel* kernel_ = nullptr;
    ptx::ControlFlow flow_;
    std::vector<int32_t> site_of_;  // instruction -> its first site, -1 for none
    std::vector<SiteFacts> facts_;
    // By `from` + 1, where it was asked for: by `to`, and behind them up to any site or the thread's end.
    std::vector<std::vector<Passed>> rows_;
    Definitions definitions_;
    std::vector<const ptx::Operand*> masks_;  // of bar.warp.sync, each once
    std::vector<const ptx::Operand*> waits_;  // and those of exchanges
    std::vector<int16_t> mask_number_;        // instruction -> index into masks_, -1 for none
    std::vector<WarpSyncs> syncs_{{}};        // each once
    bool fences_ = false, block_fences_ = false, part_barriers_ = false;
};

}  // namespace tilescope::analysis
