#include "core/analysis/cost.h"

#include <algorithm>

namespace tilescope::analysis {

namespace {

// Sectors that the rows of threads of a warp need at least, each row by itself.
uint32_t least_of_rows(const trace::AccessView& access, uint32_t width, uint32_t bytes) {
    if (width == 0 || width >= kWarpSize || kWarpSize % width != 0) return 0;
    uint32_t least = 0;
    for (uint32_t row = 0; row < kWarpSize / width; ++row) {
        const uint32_t lanes = ((1u << width) - 1) << row * width;
        least += sector_cost(access.addresses(), access.mask() & lanes, bytes).ideal_sectors;
    }
    return least;
}

}  // namespace

Cost cost_of(const trace::Trace& trace, uint64_t step) {
    Cost cost;
    const trace::Form& form = trace.form_of(step);
    const ptx::Site& site = trace.sites[form.site];
    if (!ptx::asks_memory(site.kind)) return cost;
    const trace::AccessView access(trace, step);
    const uint64_t* const address = access.addresses();
    cost.bytes = access.lane_bytes();
    if (site.box != ptx::Box::None) {
        if (form.space == Space::Global) cost.global = sector_cost(access);
        return cost;
    }
    if (has_addresses(form.space, site.kind)) cost.addresses = address_cost(address, access.mask());
    switch (form.space) {
        case Space::Global: {
            SectorCost& global = cost.global = sector_cost(address, access.mask(), site.bytes);
            if (site.kind == ptx::SiteKind::Atomic) global.sectors = atomic_sectors(address, access.mask());
            const uint32_t rows = least_of_rows(access, trace.launch.block.x, site.bytes);
            global.block_sectors = std::max(global.ideal_sectors, rows <= global.sectors ? rows : 0);
            break;
        }
        case Space::Shared:
            if (trace::is_elsewhere(trace, form)) break;  // what other blocks' memory costs is not modelled
            cost.shared = bank_cost(address, access.mask(), site.bytes, keeps_groups(site));
            break;
        case Space::Local:
            cost.global = local_sector_cost(address, access.mask(), site.bytes);
            cost.global.block_sectors = cost.global.ideal_sectors;
            break;
        case Space::Const: break;
    }
    return cost;
}

CostTable::CostTable(const trace::Trace& trace) : trace_(trace), row_(trace.forms.size(), -1), costs_(1) {
    array_base_.reserve(trace.forms.size());
    for (const trace::Form& form : trace.forms)
        array_base_.push_back(
            form.array == trace::kNoArray ? 0 : static_cast<uint32_t>(trace.launch.arrays[form.array].base));
}

const Cost& CostTable::of(uint64_t step) { return of(trace_.key[step] & 0xFFFFFF, place(step), step); }

const Cost& CostTable::of(uint32_t form, uint32_t place, uint64_t step) {
    if (trace_.sites[trace_.forms[form].site].box != ptx::Box::None) return of_box_ = cost_of(trace_, step);
    if (row_[form] < 0) {
        if (known_.size() >= kRememberedForms * kCostPeriod) {  // forget all, begin anew
            std::fill(row_.begin(), row_.end(), -1);
            known_.clear();
            costs_.resize(1);
        }
        row_[form] = static_cast<int32_t>(known_.size() / kCostPeriod);
        known_.resize(known_.size() + kCostPeriod, -1);
    }
    int32_t& known = known_[static_cast<size_t>(row_[form]) * kCostPeriod + place];
    if (known < 0) {
        if (!ptx::asks_memory(trace_.sites[trace_.forms[form].site].kind)) {
            known = 0;
        } else {
            known = static_cast<int32_t>(costs_.size());
            ++judged_;
            costs_.push_back(cost_of(trace_, step));
        }
    }
    return costs_[static_cast<size_t>(known)];
}

}  // namespace tilescope::analysis
