#include "app/look/tally.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <tuple>

#include <fmt/format.h>

#include "app/look/time_words.h"
#include "core/base/hash.h"
#include "core/trace/claims.h"
#include "kernels/textbook/catalogue.h"
#include "kernels/textbook/shipped.h"

namespace tilescope::look {
namespace {

// Requests of a block that were lately looked at: one that comes again adds nothing.
struct SeenForm {
    uint64_t request = 0;  // form << 32 | base
    const trace::Block* block = nullptr;
    bool operator==(const SeenForm&) const = default;
};
using SeenLately = std::array<SeenForm, 1024>;

// Bounding box of the output's elements that a block stores. left: lane accesses that may still be looked at.
Result<CellRect> stored_by(const trace::Trace& trace, const trace::Block& block, SeenLately& seen,
                           uint64_t& left, Stop stop) {
    CellRect rect;
    for (uint64_t step = block.first; step < block.first + block.count; ++step) {
        if (stop.at(step)) return Error{kStopped};
        const trace::Form& form = trace.form_of(step);
        if (form.array == trace::kNoArray || !ptx::writes(trace.sites[form.site].kind)) continue;
        const Array& array = trace.launch.arrays[form.array];
        if (array.space != Space::Global || !array.writes()) continue;
        const SeenForm request{uint64_t{trace.key[step] & 0xFF'FFFF} << 32 | trace.base[step], &block};
        if (std::exchange(seen[slot_of_key(request.request, seen.size())], request) == request) continue;
        const auto lanes = static_cast<uint64_t>(std::popcount(form.mask));
        if (left < lanes) return trace::more_work("looking for the output of each block");
        left -= lanes;
        const trace::Access access = trace::decode(trace, step);
        for_lanes(access.mask, [&](uint32_t lane) {
            rect.include(draw::cell_on_sheet(array, access.offset[lane] / array.element_bytes()));
        });
    }
    return rect;
}

// Both kernels as they were timed on one device at one size, and what was counted of them there.
struct Timed {
    const kernels::Timing *a = nullptr, *b = nullptr;
    const kernels::Timings* of = nullptr;
};

// At the size of what is compared alone; of the device of a recording before others.
Timed timed(const Run& a, const Run& b, const std::vector<kernels::Timings>& all) {
    const auto row_of = [](const kernels::Timings& times, const Run& run) -> const kernels::Timing* {
        const auto& [m, k, n, tile] = kernels::shape_of(*run.tally.product);
        const auto* row = kernels::find_timing(times, run.trace.meta.kernel, m, k, n, tile);
        return row != nullptr && row->verified && row->median_ms > 0 ? row : nullptr;
    };
    Timed best;
    for (const kernels::Timings& times : all) {
        const Timed found{row_of(times, a), row_of(times, b), &times};
        if (found.a == nullptr || found.b == nullptr) continue;
        const bool here = times.device == a.trace.meta.device || times.device == b.trace.meta.device;
        if (here) return found;
        if (best.a == nullptr) best = found;
    }
    return best;
}

// The share of its load sectors that a kernel read from L2, as counted; none where it was not.
std::optional<double> share_of_l2(const kernels::Timing& row, const std::string& device,
                                  const std::vector<kernels::Counters>& all) {
    for (const kernels::Counters& counters : all)
        for (const kernels::CounterRow& counted : counters.rows) {
            const auto what = [](const auto& of) { return std::tuple(of.kernel, of.m, of.k, of.n, of.tile); };
            if (counters.device != device || what(counted) != what(row)) continue;
            const double* asked =
                kernels::find_counter(counted, "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum");
            const double* read = kernels::find_counter(counted, "lts__t_sectors_op_read.sum");
            if (asked != nullptr && read != nullptr && *asked > 0 && *read > 0) return *read / *asked;
        }
    return std::nullopt;
}

}  // namespace

Result<Tally> tally_of(const analysis::Recording& recording, Stop stop) {
    const trace::Trace& trace = *recording.trace;
    Tally side;
    auto before = look::sums_before_blocks(trace, stop);
    if (!before) return before.error();
    side.before = std::move(*before);
    uint64_t left = trace::most_lane_accesses() / 4;  // half of them for both sides, half for the rest
    SeenLately seen;
    for (const trace::Block& block : trace.blocks) {
        const auto stored = stored_by(trace, block, seen, left, stop);
        if (!stored) return stored.error();
        side.outputs.push_back(*stored);
    }
    side.product = recording.product;
    for (const Array& array : trace.launch.arrays)
        if (array.space == Space::Global) side.arrays.emplace_back(array.writes(), array.elements());
    std::ranges::sort(side.arrays);
    side.kernel = analysis::kernel_name(recording);
    side.size = analysis::size_name(recording);
    return side;
}

uint64_t loaded(const Run& run) { return run.tally.before.back()[StepKind::GlobalLoad].bytes; }

uint64_t stored(const Run& run) { return run.tally.before.back()[StepKind::GlobalStore].bytes; }

bool same_size(const Run& a, const Run& b) {
    if (a.tally.product.has_value() != b.tally.product.has_value()) return false;
    if (a.tally.product) return a.tally.size == b.tally.size;
    return a.tally.arrays == b.tally.arrays || (loaded(a) == loaded(b) && stored(a) == stored(b));
}

bool same_work(const Run& a, const Run& b) { return same_size(a, b) && stored(a) == stored(b); }

std::optional<double> Count::ratio() const {
    if (a == 0) return std::nullopt;
    return static_cast<double>(b) / static_cast<double>(a);
}

std::string three_digits(double value) {
    if (value >= 1000) return grouped(static_cast<uint64_t>(std::llround(value)));
    return fmt::format("{:.3g}", value);
}

ReportedClaim claim(const Count& count, const char* what) {
    if (count.a == 0 || count.b == 0 || count.a == count.b) return {};
    const double factor = std::max(*count.ratio(), 1 / *count.ratio());
    return {fmt::format("{} times fewer {}", three_digits(factor), what), factor, count.fewer()};
}

std::string Speed::name(const Run& run) const { return one_tile ? run.trace.meta.kernel : run.tally.kernel; }

std::optional<Speed> speed_of(const Run& a, const Run& b, const std::vector<kernels::Timings>& timings,
                              const std::vector<kernels::Counters>& counters) {
    if (!a.tally.product || !same_work(a, b)) return std::nullopt;
    const Timed found = timed(a, b, timings);
    if (found.a == nullptr || found.a == found.b) return std::nullopt;
    const bool a_first = found.a->median_ms <= found.b->median_ms;
    Speed made{a_first ? a : b, a_first ? b : a, *(a_first ? found.a : found.b),
               *(a_first ? found.b : found.a), found.of->device};
    const auto requests = [](const Run& run) {
        return run.tally.before.back()[StepKind::GlobalLoad].requests;
    };
    made.requests = {requests(made.slow), requests(made.fast)};
    if (made.requests.a == 0 || made.requests.b == 0) return std::nullopt;
    made.a_is_fast = a_first;
    made.times = made.late.median_ms / made.quick.median_ms;
    made.told_apart = !kernels::spreads_overlap(made.quick, made.late);
    made.one_tile = made.quick.tile == made.late.tile;
    made.l2_fast = share_of_l2(made.quick, made.device, counters);
    made.l2_slow = share_of_l2(made.late, made.device, counters);
    return made;
}

std::string speed_text(const Run& a, const Run& b, const std::vector<kernels::Timings>& timings,
                       const std::vector<kernels::Counters>& counters) {
    const auto speed = speed_of(a, b, timings, counters);
    if (!speed) return "";
    const kernels::Timing &quick = speed->quick, &late = speed->late;
    const Count& requests = speed->requests;
    const bool square = quick.m == quick.k && quick.k == quick.n;
    const std::string fewer =
        requests.a == requests.b ? "as many load requests"
        : requests.fewer() > 0   ? claim(requests, "load requests").text
                               : fmt::format("{} times more load requests", three_digits(*requests.ratio()));
    const std::string fast = speed->name(speed->fast), slow = speed->name(speed->slow);
    const std::string measured =
        fmt::format("{}, {}{}: {} {}, {} {}", speed->device,
                    square ? fmt::format("width {}", grouped(quick.n))
                           : fmt::format("{} × {} × {}", quick.m, quick.k, quick.n),
                    speed->one_tile ? kernels::tile_text(quick.tile, ", T=") : "", fast,
                    look::milliseconds(quick.median_ms), slow, look::milliseconds(late.median_ms));
    if (!speed->told_apart) return measured + ": no difference beyond the spread of the runs.";
    std::string text = fmt::format("{}: {}{} times as fast with {}", measured, speed->only() ? "only " : "",
                                   three_digits(speed->times), fewer);
    // What L2 was not read for, L1 had; L2 is read for instructions too, so that L1 may have had more.
    if (!speed->l2_fast || !speed->l2_slow || *speed->l2_slow >= 1) return text + ".";
    text += fmt::format("{} the L1 cache serves at least {:.0f} % of {}'s load sectors",
                        speed->cache_is_why() ? ", because" : ";", 100 * (1 - *speed->l2_slow), slow);
    if (*speed->l2_fast < 1) text += fmt::format(" and {:.0f} % of {}'s", 100 * (1 - *speed->l2_fast), fast);
    return text + ".";
}

}  // namespace tilescope::look
