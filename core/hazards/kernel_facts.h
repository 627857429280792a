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

#include "core/ptx/cfg.h"
#include "core/trace/trace.h"

namespace tilescope::analysis {

// What a thread passes between two sites.
struct Passed {
    static constexpr uint8_t kMany = 64;  // and more of bar.warp.sync, or any number of them
    uint8_t least = 0, most = 0;          // times that it passes a bar.warp.sync, on all the paths
    bool block_fence = false;             // a fence for the block at least, on some path
    bool grid_fence = false;              // a fence for the whole GPU at least, on some path
};

class KernelFacts {
public:
    static constexpr uint32_t kEntry = 0xFFFF'FFFFu;  // where threads begin, as `from`

    explicit KernelFacts(const trace::Trace& trace);  // keeps a reference

    bool known() const { return kernel_ != nullptr; }
    bool warp_syncs() const { return warp_syncs_; }  // whether there is any bar.warp.sync
    bool fences() const { return fences_; }          // whether there is any fence
    // Whether lanes of a warp wait for each other anywhere, by a bar.warp.sync or to exchange values.
    bool warp_waits() const { return warp_waits_; }
    // Whether barriers with a number or a number of threads of their own hold parts of a block.
    bool part_barriers() const { return part_barriers_; }

    // The reference holds as long as the object.
    const Passed& passed(uint32_t from, uint32_t to) { return row(from)[to]; }
    // How often a thread passes a bar.warp.sync at least, before it comes to another site or to its end.
    uint8_t syncs_behind(uint32_t from) { return row(from).back().least; }

    // Whether the hardware takes care of the word in one piece and at once: atomics, and loads and stores that
    // are volatile, relaxed, acquire or release (PTX ISA, "Memory Consistency Model": strong operations).
    bool strong(uint32_t site) const { return known() && facts_[site].strong; }
    // Whether it is a fence for what the thread did before.
    bool releases(uint32_t site) const { return known() && facts_[site].releases; }
    // Whether it comes to nothing but such loads as long as its loop runs: it waits for a value.
    bool polls(uint32_t site) const { return known() && facts_[site].polls; }
    // What stands for the value that a store puts there, where it is the same in all threads whenever they come
    // by: a constant's bits, or a number for what is made of constants and parameters. Equal for equal values
    // alone.
    std::optional<uint64_t> constant(uint32_t site) const {
        return known() ? facts_[site].constant : std::nullopt;
    }
    // Whether a store to shared memory brings what was loaded from global memory, or made of that alone.
    bool fills(uint32_t site) const { return !known() || facts_[site].fills; }

private:
    struct SiteFacts {
        bool strong = false, polls = false, fills = false, releases = false;
        std::optional<uint64_t> constant;
    };
    void look_at_sites();
    const std::vector<Passed>& row(uint32_t from);
    std::vector<Passed> passed_from(uint32_t from) const;

    const trace::Trace& trace_;
    std::shared_ptr<const ptx::Module> module_;
    const ptx::Kernel* kernel_ = nullptr;
    ptx::ControlFlow flow_;
    std::vector<int32_t> site_of_;  // instruction -> its first site, -1 for none
    std::vector<SiteFacts> facts_;
    // By `from` + 1, where it was asked for: by `to`, and behind them up to any site or the thread's end.
    std::vector<std::vector<Passed>> rows_;
    bool warp_syncs_ = false, warp_waits_ = false, fences_ = false, part_barriers_ = false;
};

}  // namespace tilescope::analysis
