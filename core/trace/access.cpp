#include "core/trace/access.h"

#include <algorithm>

namespace tilescope::trace {

AccessView::AccessView(const Trace& trace, uint64_t step)
    : site_(&trace.sites[trace.form_of(step).site]),
      space_(trace.form_of(step).space),
      access_(decode(trace, step)) {
    if (access_.array != kNoArray) move(static_cast<int64_t>(trace.launch.arrays[access_.array].base));
}

Arrivals::Arrivals(const Trace& trace, const Block& block) {
    if (trace.arrival.empty()) return;
    uint64_t number = block.first_arrival;
    for (uint32_t step = 0; step < block.count; ++step)
        if (lands_later(trace, block.first + step)) {
            later_.push_back({step, number < trace.arrival.size() ? trace.arrival[number] : kNeverWaited});
            ++number;
        }
}

std::optional<uint32_t> Arrivals::visible_from(uint32_t step) const {
    const auto at = std::ranges::lower_bound(later_, step, {}, &Later::step);
    if (at == later_.end() || at->step != step) return step + 1;
    return at->visible_from == kNeverWaited ? std::nullopt : std::optional(at->visible_from);
}

ArrivalCursor::ArrivalCursor(const Arrivals& arrivals) : later_(arrivals.later()) {
    for (uint32_t i = 0; i < later_.size(); ++i)
        if (later_[i].visible_from != kNeverWaited) order_.push_back(i);
    std::ranges::stable_sort(order_, {}, [&](uint32_t i) { return later_[i].visible_from; });
}

std::optional<size_t> ArrivalCursor::next(uint32_t step) {
    if (next_ == order_.size() || later_[order_[next_]].visible_from > step) return std::nullopt;
    return order_[next_++];
}

bool lands_later(const Trace& trace, uint64_t step) {
    return trace.sites[trace.form_of(step).site].lands_later();
}

bool has_arrivals(const Trace& trace) { return std::ranges::any_of(trace.sites, &ptx::Site::past_registers); }

std::optional<Transfer> transfer_of(const Trace& trace, uint64_t step) {
    const ptx::Site& site = trace.sites[trace.form_of(step).site];
    if (!site.past_registers()) return std::nullopt;
    const bool reads = ptx::reads(site.kind);
    Transfer transfer;
    (reads ? transfer.read : transfer.written) = step;
    const Block& block = trace.blocks[block_of(trace, step)];
    const uint32_t warp = trace.warp_of(step), other = reads ? site.id + 1 : site.id - 1;
    // The warp's next step, or its one before.
    for (uint64_t at = step; reads ? ++at < block.first + block.count : at-- > block.first;)
        if (trace.warp_of(at) == warp) {
            if (trace.form_of(at).site == other) (reads ? transfer.written : transfer.read) = at;
            break;
        }
    return transfer;
}

}  // namespace tilescope::trace
