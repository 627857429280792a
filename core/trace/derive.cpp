// What a recording says of itself as a whole, held against its steps.
//
// A warp that stops behind a site has left the kernel there. So a path must lead from that site to the end of
// the kernel on which there is no other site that every thread executes:
//
//     for (...) {
//         load M, load N, store Mds, store Nds
//         barrier                                 a warp may not end here: a barrier follows on every path
//         load Mds, load Nds, ...                 nor here
//         barrier                                 it may end here: the store below is guarded
//     }
//     if (row < m && col < n) store P             and here
//
// Steps that are cut off behind a place where a warp may end are not found this way.
#include <algorithm>
#include <bit>
#include <optional>
#include <vector>

#include <fmt/core.h>

#include "core/base/words.h"
#include "core/ptx/cfg.h"
#include "core/ptx/parse.h"
#include "core/trace/access.h"
#include "core/trace/claims.h"
#include "core/trace/format.h"

namespace tilescope::trace {

namespace {

// Where a warp may stop: behind each site, and before the first one.
struct WarpEnds {
    std::vector<bool> behind;  // by site
    bool at_once = false;
};

// Instructions that make a step whenever a warp comes to them. A generic address may be one of local memory, and a wait
// that finds its phase still open makes none.
std::vector<bool> always_recorded(const ptx::Kernel& kernel, const std::vector<ptx::Site>& sites) {
    std::vector<bool> always(kernel.instructions.size(), false);
    for (const ptx::Site& site : sites) {
        const ptx::Instruction& at = kernel.instructions[site.instruction];
        always[site.instruction] = at.guard < 0 && site.signal != ptx::Signal::Wait &&
                                   (!ptx::asks_memory(site.kind) || at.space != ptx::StateSpace::Generic);
    }
    return always;
}

// None where the PTX is not that of the sites: phase_rule says so to who needs it.
std::optional<WarpEnds> ends_of(const Trace& trace) {
    const ptx::Kernel* const kernel = trace.module ? kernel_of(trace, *trace.module) : nullptr;
    if (!kernel || kernel->instructions.empty()) return std::nullopt;
    const std::vector<ptx::Site> sites = ptx::sites_like(*kernel, trace.sites);
    if (!same_sites(sites, trace.sites)) return std::nullopt;

    const ptx::ControlFlow flow = ptx::control_flow(*kernel);
    const std::vector<bool> always = always_recorded(*kernel, sites);
    const auto free_from = [&](uint32_t first, uint32_t last) {
        return std::find(always.begin() + first, always.begin() + last, true) == always.begin() + last;
    };
    std::vector<bool> leaves(flow.blocks.size(), false);  // from the block's first instruction
    std::vector<int32_t> open;
    const auto goes_out = [&](const ptx::BasicBlock& block) {
        return std::ranges::any_of(
            block.successors, [&](int32_t next) { return next < 0 || leaves[static_cast<size_t>(next)]; });
    };
    const auto enter = [&](size_t at) {
        const ptx::BasicBlock& block = flow.blocks[at];
        if (leaves[at] || !goes_out(block) || !free_from(block.first, block.last)) return;
        leaves[at] = true;
        open.push_back(static_cast<int32_t>(at));
    };
    for (size_t at = 0; at < flow.blocks.size(); ++at) enter(at);
    while (!open.empty()) {
        const int32_t at = open.back();
        open.pop_back();
        for (const int32_t before : flow.blocks[static_cast<size_t>(at)].predecessors)
            enter(static_cast<size_t>(before));
    }
    WarpEnds ends;
    ends.at_once = leaves[0];
    for (const ptx::Site& site : sites) {
        const ptx::BasicBlock& block = flow.blocks[static_cast<size_t>(flow.block_of[site.instruction])];
        // A copy's store follows its load in any case.
        const bool half = site.id + 1 < sites.size() && goes_on(site, sites[site.id + 1]);
        ends.behind.push_back(!half && goes_out(block) && free_from(site.instruction + 1, block.last));
    }
    return ends;
}

// The first block that has a warp which stops where it may not, null for none. From a block's end backwards:
// the first step met of a warp is its last.
const Block* cut_block(const Trace& trace, const WarpEnds& ends) {
    const uint64_t warps = (trace.launch.block.count() + kWarpSize - 1) / kWarpSize;
    const auto all = static_cast<uint32_t>((uint64_t{1} << warps) - 1);
    for (const Block& block : trace.blocks) {
        uint32_t met = 0;
        for (uint64_t step = block.first + block.count; met != all && step-- > block.first;) {
            const uint32_t warp = 1u << trace.warp_of(step);
            if (!(met & warp) && !ends.behind[trace.form_of(step).site]) return &block;
            met |= warp;
        }
        if (met != all && !ends.at_once) return &block;
    }
    return nullptr;
}

bool stores_boxes(const ptx::Site& site) { return site.box != ptx::Box::None && ptx::writes(site.kind); }

// What sites say of their instructions and the file does not: where the descriptor of a tile is.
void adopt_operands(Trace& trace) {
    const auto is_tile = [](const ptx::Site& site) { return site.box == ptx::Box::Tile; };
    const ptx::Kernel* const kernel = trace.module ? kernel_of(trace, *trace.module) : nullptr;
    if (kernel == nullptr || std::ranges::none_of(trace.sites, is_tile)) return;
    const std::vector<ptx::Site> sites = ptx::sites_like(*kernel, trace.sites);
    if (!same_sites(sites, trace.sites)) return;
    for (size_t i = 0; i < sites.size(); ++i) trace.sites[i].operand = sites[i].operand;
}

}  // namespace

void drop_result(Meta& meta) {
    const uint8_t array = meta.result.array;
    meta.result = {};
    meta.result.array = array;
}

Result<std::shared_ptr<const ptx::Module>> module_of(const Trace& trace) {
    if (trace.module) return trace.module;
    auto module = ptx::parse(trace.meta.ptx, trace.meta.ptx_name);
    if (!module) return module.error();
    return std::make_shared<const ptx::Module>(std::move(*module));
}

const ptx::Kernel* kernel_of(const Trace& trace, const ptx::Module& module) {
    const ptx::Kernel* const named = ptx::find_kernel(module, trace.launch.entry);
    return !named && module.kernels.size() == 1 ? &module.kernels.front() : named;
}

StoredElements::StoredElements(const Trace& trace) {
    const Verification& result = trace.meta.result;
    if (!trace.meta.complete || !result.verified || trace.blocks.size() != trace.launch.grid.count()) return;
    const Array& array = trace.launch.arrays[result.array];
    // What is not stored there may be right as it was.
    if (array.contents.kind != Contents::Kind::Zeros) return;
    elements_ = array.elements();
    const auto limit = memory_limit();
    too_many_ = !limit || elements_ / 8 > *limit / 16;
    if (too_many_) return;
    bits_ = std::vector<std::atomic<uint64_t>>((elements_ + 63) / 64);
}

void StoredElements::enter(const Trace& trace, const std::vector<uint32_t>& stores) {
    if (bits_.empty() || (requests_ += stores.size()) > kMostRequests) return;
    for (const uint32_t step : stores) enter_request(trace, step);
}

void StoredElements::enter_request(const Trace& trace, uint64_t step) {
    const uint64_t size = trace.launch.arrays[trace.meta.result.array].element_bytes();
    const Access access = decode(trace, step);
    const uint32_t bytes = trace.sites[access.site].bytes;
    // Lanes that lie side by side share a word of 64 elements, which is entered once.
    uint64_t word = 0, bits = 0;
    const auto enter_word = [&] {
        if (bits & ~bits_[word].load(std::memory_order_relaxed))
            bits_[word].fetch_or(bits, std::memory_order_relaxed);
    };
    for_lanes(access.mask, [&](uint32_t lane) {
        const uint64_t last = (access.offset[lane] + bytes - 1) / size;
        for (uint64_t at = access.offset[lane] / size; at <= last; ++at) {
            if (at / 64 != word) {
                enter_word();
                word = at / 64;
                bits = 0;
            }
            bits |= uint64_t{1} << at % 64;
        }
    });
    enter_word();
}

void StoredElements::enter_boxes(const Trace& trace) {
    const uint8_t result = trace.meta.result.array;
    if (elements_ == 0 || std::ranges::none_of(trace.sites, stores_boxes)) return;
    has_boxes_ = true;
    if (bits_.empty()) return;
    const Array& array = trace.launch.arrays[result];
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        const Form& form = trace.form_of(step);
        if (form.array != result || !stores_boxes(trace.sites[form.site])) continue;
        const AccessView view(trace, step);
        constexpr uint64_t kBytesOfRequest = 512;
        if ((requests_ += 1 + view.lane_bytes() / kBytesOfRequest) > kMostRequests) return;
        view.for_pieces([&](uint32_t, uint64_t address, uint64_t bytes) {
            const uint64_t first = address - array.base, size = array.element_bytes();
            for (uint64_t at = first / size; at <= (first + bytes - 1) / size; ++at)
                bits_[at / 64].fetch_or(uint64_t{1} << at % 64, std::memory_order_relaxed);
        });
    }
}

uint64_t StoredElements::lacking(const Trace& trace) const {
    constexpr uint64_t kMostOfALane = 17;   // bytes of a vector access, and one for where it begins
    if (too_many_ && has_boxes_) return 0;  // which may store to any number
    if (too_many_) return elements_ - std::min(elements_, trace.steps() * kWarpSize * kMostOfALane);
    if (!all_entered()) return 0;
    uint64_t stored = 0;
    for (const std::atomic<uint64_t>& word : bits_)
        stored += static_cast<uint64_t>(std::popcount(word.load()));
    return elements_ - stored;
}

Result<void> derive(Trace& trace, const StoredElements& stored) {
    Meta& meta = trace.meta;
    if (auto module = module_of(trace)) trace.module = std::move(*module);
    if (trace.module) ptx::name_members(trace.launch, trace.module->structs);
    adopt_operands(trace);
    if (!meta.complete) return {};
    if (const auto ends = ends_of(trace)) {
        if (const Block* const cut = cut_block(trace, *ends)) {
            meta.complete = false;
            meta.incomplete_reason =
                fmt::format("the steps of {} end before the kernel does; record it again",
                            block_name(trace.launch.grid, {cut->x, cut->y, cut->z}));
            drop_result(meta);
        }
    }
    const bool whole_grid = trace.blocks.size() == trace.launch.grid.count();
    if (!meta.result.verified || !whole_grid) return {};
    if (const uint64_t lacking = stored.lacking(trace); lacking > 0)
        return Error{fmt::format("it says that its result is verified and stores nothing to {} of it",
                                 counted(lacking, "element"))};
    if (!stored.all_entered()) drop_result(meta);
    return {};
}

}  // namespace tilescope::trace
