// How much of a recording the search for hazards looks at: the first blocks whose accesses are no more than
// is allowed (trace/claims.h). Known before the search, so that any number of threads finds the same.
//
// What a request costs follows from its form: nothing for loads of arrays that nobody stores to; a shared
// load less than a store, as most are those of a request before (BlockHazards::Judged); accesses to global
// arrays that are stored to more, as they are held against those of other blocks as well, and those far from
// the lane before most of all, as caches do not hold what is kept of their elements.
#include <algorithm>
#include <bit>

#include <fmt/core.h>

#include "core/hazards/block.h"
#include "core/trace/claims.h"

namespace tilescope::analysis {
namespace {

constexpr uint64_t kSharedLoad = 1, kSharedStore = 4, kGlobal = 12;  // of a lane, in quarters
constexpr uint64_t kApart = 52;                                      // beside, of a lane
constexpr uint64_t kBytesAForm = 28;                                 // of HazardForms

// Lanes of a form that lie in another page of what is kept (CellMap) than the lane before, of words.
uint64_t lanes_apart(const trace::Trace& trace, uint32_t form) {
    const trace::Access access = trace::decode_form(trace, form, 0);
    constexpr uint64_t kPageBytes = CellMap<uint32_t>::kPage * 4;
    uint64_t apart = 0, page = ~uint64_t{0};
    for_lanes(access.mask, [&](uint32_t lane) {
        if (access.offset[lane] / kPageBytes != page) ++apart;
        page = access.offset[lane] / kPageBytes;
    });
    return apart;
}

std::vector<uint32_t> costs_of_forms(const trace::Trace& trace) {
    std::vector<bool> stored(256, false);
    for (const trace::Form& form : trace.forms)
        if (ptx::writes(trace.sites[form.site].kind) && form.space != Space::Local) stored[form.array] = true;
    std::vector<uint32_t> costs;
    costs.reserve(trace.forms.size());
    for (uint32_t number = 0; number < trace.forms.size(); ++number) {
        const trace::Form& form = trace.forms[number];
        const ptx::SiteKind kind = trace.sites[form.site].kind;
        const uint64_t lanes = static_cast<uint64_t>(std::popcount(form.mask));
        const uint64_t words = std::max<uint64_t>(trace.sites[form.site].bytes / 4, 1);
        uint64_t cost = 0;
        if (form.space == Space::Shared)
            cost = lanes * (kind == ptx::SiteKind::Load ? kSharedLoad : kSharedStore);
        else if (form.space != Space::Global || !ptx::asks_memory(kind))
            cost = 0;
        else if (stored[form.array] || stored[trace::kNoArray])
            cost = lanes * kGlobal + lanes_apart(trace, number) * kApart;
        costs.push_back(!ptx::asks_memory(kind) ? 1 : static_cast<uint32_t>(1 + cost * words));
    }
    return costs;
}

// In quarters.
uint64_t cost_of_block(const trace::Trace& trace, const std::vector<uint32_t>& costs,
                       const trace::Block& block) {
    uint64_t cost = 0;
    for (uint64_t step = block.first; step < block.first + block.count; ++step)
        cost += costs[trace.key[step] & 0xFF'FFFF];
    const auto is_box = [](const ptx::Site& site) { return site.box != ptx::Box::None; };
    if (std::ranges::none_of(trace.sites, is_box)) return cost;
    for (uint64_t step = block.first; step < block.first + block.count; ++step)
        if (is_box(trace.sites[trace.form_of(step).site]))
            cost += trace::AccessView(trace, step).lane_bytes() / 4 * kSharedStore;
    return cost;
}

uint64_t most_bytes(const trace::Trace& trace) { return trace::memory_left(trace) / 2; }

// What is known of the forms takes a part of what they take themselves.
bool forms_fit(const trace::Trace& trace) {
    return trace.forms.size() * kBytesAForm <= std::max(most_bytes(trace), trace::bytes_of(trace)) / 4;
}
uint64_t most_cost() { return trace::most_lane_accesses() * 2 * 4; }

}  // namespace

bool is_looked_at(const trace::Trace& trace, const trace::Block& block) {
    return forms_fit(trace) && block.count * interval_bytes(trace) <= most_bytes(trace) &&
           cost_of_block(trace, costs_of_forms(trace), block) <= most_cost();
}

uint64_t most_found_of_a_block(uint32_t blocks) {
    constexpr uint64_t kMostFound = 64'000'000, kLeast = 1u << 16;  // tiled_no_barrier: 32,000 a block
    return std::max(kMostFound / std::max(blocks, 1u), kLeast);
}

uint32_t blocks_looked_at(const trace::Trace& trace, std::string& why) {
    const auto blocks = static_cast<uint32_t>(trace.blocks.size());
    uint32_t looked_at = 0;
    if (forms_fit(trace)) {
        const std::vector<uint32_t> costs = costs_of_forms(trace);
        for (uint64_t spent = 0; looked_at < blocks; ++looked_at) {
            const trace::Block& block = trace.blocks[looked_at];
            if (block.count * interval_bytes(trace) > most_bytes(trace)) break;
            spent += cost_of_block(trace, costs, block);
            if (spent > most_cost()) break;
        }
    }
    if (looked_at < blocks)
        why = fmt::format(
            "hazards were looked for in the first {} of {}: more would take more memory or "
            "accesses than are allowed; set TILESCOPE_MAX_MEMORY to more gigabytes",
            grouped(looked_at), counted(blocks, "block"));
    return looked_at;
}

}  // namespace tilescope::analysis
