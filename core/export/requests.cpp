#include "core/export/requests.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/words.h"

namespace tilescope::report {
namespace {

struct StepSpan {
    uint64_t first = 0, end = 0;
};

// The selected steps of one block.
StepSpan span_of(const trace::Trace& trace, const Selected& selected, uint32_t block) {
    if (selected.block >= 0 && selected.block != block) return {};
    const trace::Block& b = trace.blocks[block];
    const uint64_t first = std::max(b.first, selected.first), end = std::min(b.first + b.count, selected.end);
    return first < end ? StepSpan{first, end} : StepSpan{};
}

// By array, what an element's member takes in a row, about.
std::vector<uint64_t> member_bytes(const trace::Trace& trace) {
    std::vector<uint64_t> bytes;
    for (const Array& array : trace.launch.arrays)
        bytes.push_back(has_structs(array)
                            ? index_text(array, static_cast<int64_t>(array.elements() / 2)).size() + 3
                            : 0);
    return bytes;
}

}  // namespace

uint64_t steps_in(const trace::Trace& trace, const Selected& selected) {
    uint64_t steps = 0;
    const bool one = selected.block >= 0 && static_cast<uint64_t>(selected.block) < trace.blocks.size();
    const auto from = static_cast<uint32_t>(one ? selected.block : 0);
    for (uint32_t block = from; block < (one ? from + 1 : trace.blocks.size()); ++block) {
        const StepSpan span = span_of(trace, selected, block);
        steps += span.end - span.first;
    }
    return steps;
}

uint64_t bytes_about(const trace::Trace& trace, const Selected& selected, const ExportBytes& of) {
    const std::vector<uint64_t> members = member_bytes(trace);
    uint64_t bytes = 0;
    for (uint32_t block = 0; block < trace.blocks.size(); ++block) {
        const StepSpan span = span_of(trace, selected, block);
        for (uint64_t step = span.first; step < span.end; ++step) {
            const trace::Form& form = trace.form_of(step);
            const uint64_t lanes = of.lane > 0 ? static_cast<uint64_t>(std::popcount(form.mask)) : 0;
            const uint64_t name = of.names ? std::min(array_of(trace, form).size(), kLongestCell) : 0;
            const uint64_t member = form.array < members.size() ? members[form.array] : 0;
            bytes += of.step + lanes * of.lane + std::max<uint64_t>(1, lanes) * (name + member);
        }
    }
    return bytes;
}

bool each_step(const analysis::Recording& recording, const Selected& selected, const ExportProgress& progress,
               const std::function<bool(const StepRow&)>& visit) {
    const trace::Trace& trace = *recording.trace;
    analysis::CostTable costs(trace);
    analysis::PhaseWalk walk(trace, recording.rule);
    for (uint32_t block = 0; block < trace.blocks.size(); ++block) {
        const StepSpan span = span_of(trace, selected, block);
        if (span.first == span.end) continue;
        walk.enter(block);
        StepRow row;
        row.block = block;
        for (row.step = trace.blocks[block].first; row.step < span.end; ++row.step) {
            if (progress.stop.at(row.step)) return false;
            row.phase = walk.next().phase;
            if (row.step < span.first) continue;
            progress.add(1);
            row.form = &trace.form_of(row.step);
            row.site = &trace.sites[row.form->site];
            row.cost = &costs.of(row.step);
            if (!visit(row)) return false;
        }
    }
    return true;
}

std::string_view array_of(const trace::Trace& trace, const trace::Form& form) {
    const Array* array = trace.array_of(form);
    return array ? std::string_view(array->name) : "";
}

std::string exchanged_by(const trace::Trace& trace, const trace::Access& exchange, uint32_t lane) {
    const ptx::Exchange what = trace.sites[exchange.site].exchange;
    const uint64_t of = exchange.offset[lane];
    if (ptx::is_vote(what)) return of >> lane & 1 ? "1" : "0";
    return of >= ptx::kOutside ? "own" : fmt::to_string(of);
}

std::string exchanged(const trace::Trace& trace, const trace::Access& exchange) {
    if (ptx::is_vote(trace.sites[exchange.site].exchange))
        return fmt::format("{:#010x}", trace::votes_for(exchange));
    std::string all;
    if (ptx::is_of_matrices(trace.sites[exchange.site].exchange)) return all;
    for_lanes(exchange.mask,
              [&](uint32_t lane) { all += (all.empty() ? "" : " ") + exchanged_by(trace, exchange, lane); });
    return all;
}

bool timed(const trace::Trace& trace) { return !trace.time.empty() && trace.time.size() == trace.steps(); }

CostsByName costs_by_name(const trace::Trace& trace, const trace::Form& form, const analysis::Cost& cost) {
    const ptx::Site& site = trace.sites[form.site];
    CostsByName costs;
    if (analysis::has_sectors(form.space)) {
        costs[0] = cost.global.sectors;
        costs[1] = cost.global.ideal_sectors;
    } else if (analysis::has_wavefronts(form.space) && site.box == ptx::Box::None &&
               !trace::is_elsewhere(trace, form)) {
        costs[2] = cost.shared.wavefronts;
        costs[3] = cost.shared.ideal_wavefronts;
    }
    if (analysis::has_addresses(form.space, site.kind)) {
        costs[4] = cost.addresses.addresses;
        costs[5] = cost.addresses.most_lanes;
    }
    return costs;
}

void add_costs(Pieces& out, const trace::Trace& trace, const trace::Form& form, const analysis::Cost& cost) {
    const CostsByName costs = costs_by_name(trace, form, cost);
    for (size_t i = 0; i < costs.size(); ++i)
        if (costs[i]) out.add(",\"{}\":{}", kCostNames[i], *costs[i]);
}

std::string phase_text(uint32_t phase) { return phase == analysis::kAfter ? "after" : fmt::to_string(phase); }

std::optional<uint64_t> element_at(const trace::Trace& trace, uint8_t array, uint64_t offset) {
    if (array >= trace.launch.arrays.size()) return {};
    const Array& a = trace.launch.arrays[array];
    const uint64_t element = offset / a.element_bytes();
    if (offset % a.element_bytes() != 0 || element >= a.elements()) return {};
    return element;
}

uint64_t first_offset(const trace::Trace& trace, const StepRow& row) {
    if (row.form->irregular >= 0)
        return trace::decode(trace, row.step).offset[std::countr_zero(row.form->mask) % kWarpSize];
    return uint64_t{row.form->base_high} << 32 | trace.base[row.step];  // offsets count from that lane
}

uint64_t first_address(const trace::Trace& trace, const StepRow& row) {
    const uint64_t offset = first_offset(trace, row);
    const Array* array = trace.array_of(*row.form);
    return array ? array->base + offset : offset;
}

}  // namespace tilescope::report
