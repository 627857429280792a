// What of a recording's forms and steps the search for hazards needs, made ready: which cells a form touches,
// and which barrier interval a step lies in.
#include <algorithm>
#include <bit>
#include <map>
#include <numeric>
#include <optional>
#include <tuple>

#include "core/analysis/cost.h"
#include "core/hazards/block.h"

namespace tilescope::analysis {
namespace {

// Parts of the steps of a block, beyond one a step.
constexpr uint64_t kMostParts = 4u << 20;

uint64_t grain_of(const trace::Trace& trace) {
    uint64_t grain = 16;
    for (const Array& array : trace.launch.arrays)
        grain = std::min<uint64_t>(grain, std::max(array.element_bytes(), 1u));
    for (const ptx::Site& site : trace.sites)
        if (ptx::asks_memory(site.kind)) grain = std::min<uint64_t>(grain, std::max(site.bytes, 1u));
    return std::bit_floor(grain);
}

}  // namespace

HazardForms::HazardForms(const trace::Trace& t)
    : trace(t), facts(t), grain_(grain_of(t)), kinds_(t.forms.size()), row_(t.forms.size(), -1) {
    std::map<std::tuple<uint32_t, bool, uint8_t, Space, bool, bool>, uint32_t> numbers;
    std::vector<bool> written(256, false);
    for (size_t i = 0; i < kinds_.size(); ++i) {
        const trace::Form& form = t.forms[i];
        const ptx::Site& site = t.sites[form.site];
        FormKind& kind = kinds_[i];
        kind.barrier = site.kind == ptx::SiteKind::Barrier;
        if (kind.barrier) continue;
        kind.apart = form.space == Space::Local || form.space == Space::Const || !ptx::asks_memory(site.kind);
        if (kind.apart) continue;
        kind.store = ptx::writes(site.kind);
        // cp.reduce updates each element as one, too.
        kind.atomic = site.kind == ptx::SiteKind::Atomic ||
                      (kind.store && site.box != ptx::Box::None && site.atomic != ptx::Atomic::None);
        kind.shared = form.space == Space::Shared;
        kind.array_bit = array_bit(form.array);
        kind.later = site.lands_later();
        kind.box = site.box != ptx::Box::None;
        const SourceAccess place{site.line, kind.store, form.array, form.space, kind.atomic, kind.later};
        const auto number = numbers.try_emplace(
            {place.line, place.store, place.array, place.space, place.atomic, place.later},
            static_cast<uint32_t>(places_.size()));
        if (number.second) places_.push_back(place);
        kind.place = number.first->second;
        if (kind.store && !kind.shared) written[form.array] = true;
    }
    sort_places();
    find_uniform();
    find_cells_of_arrays();
    const bool outside = written[trace::kNoArray];
    const bool any = std::find(written.begin(), written.end(), true) != written.end();
    for (size_t i = 0; i < kinds_.size(); ++i) {
        const uint8_t array = t.forms[i].array;
        kinds_[i].grid_written = !kinds_[i].barrier && !kinds_[i].apart && !kinds_[i].shared &&
                                 (written[array] || outside || (array == trace::kNoArray && any));
    }
}

void HazardForms::sort_places() {
    std::vector<uint32_t> order(places_.size()), number(places_.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](uint32_t x, uint32_t y) {
        const SourceAccess &p = places_[x], &q = places_[y];
        return std::tuple(!p.store, p.line, p.array, p.space, p.atomic, p.later) <
               std::tuple(!q.store, q.line, q.array, q.space, q.atomic, q.later);
    });
    std::vector<SourceAccess> sorted;
    for (const uint32_t old : order) {
        number[old] = static_cast<uint32_t>(sorted.size());
        sorted.push_back(places_[old]);
    }
    places_ = std::move(sorted);
    for (FormKind& kind : kinds_)
        if (!kind.barrier && !kind.apart) kind.place = number[kind.place];
}

void HazardForms::find_uniform() {
    uniform_.assign(places_.size(), std::nullopt);
    std::vector<bool> met(places_.size(), false);
    for (size_t i = 0; i < kinds_.size(); ++i) {
        const FormKind& kind = kinds_[i];
        if (kind.barrier || kind.apart || !kind.store) continue;
        const auto value = facts.uniform(trace.forms[i].site);
        if (met[kind.place] && uniform_[kind.place] != value)
            uniform_[kind.place] = std::nullopt;
        else if (!met[kind.place])
            uniform_[kind.place] = value;
        met[kind.place] = true;
    }
}

bool HazardForms::store_one_value(uint32_t place, uint32_t other, const HazardSide& a, const HazardSide& b,
                                  uint64_t stored) const {
    const std::optional<UniformValue>& value = uniform_[place];
    return value && value == uniform_[other] && !(value->of_block && a.block != b.block) &&
           (value->loaded & stored) == 0 && trace.sites[a.site].bytes == trace.sites[b.site].bytes;
}

// Bytes are what an array has whose type nobody knows: then a cell is the least that a site touches there.
void HazardForms::find_cells_of_arrays() {
    std::vector<uint64_t> least_touched(256, 16);
    for (size_t i = 0; i < kinds_.size(); ++i) {
        const uint8_t array = trace.forms[i].array;
        if (kinds_[i].barrier || kinds_[i].apart || array == trace::kNoArray) continue;
        const uint64_t element = trace.launch.arrays[array].element_bytes();
        const uint64_t bytes = trace.sites[trace.forms[i].site].bytes, least = element > 1 ? element : 16;
        least_touched[array] = std::min({least_touched[array], bytes, least});
    }
    for (size_t array = 0; array < least_touched.size(); ++array)
        cell_[array] = std::max<uint64_t>(std::bit_floor(least_touched[array]) / grain_, 1);
}

const std::vector<ShapeCell>& HazardForms::cells(uint32_t number) {
    if (row_[number] >= 0) return rows_[row_[number]];
    const trace::Form& form = trace.forms[number];
    const int width = form.width;
    const auto offset = [&](int lane) -> int64_t {
        if (form.irregular < 0)
            return int64_t{form.stride} * (lane % width) + int64_t{form.stride2} * (lane / width);
        const int32_t low = trace.irregular[form.irregular][lane];
        if (!form.wide) return low;
        const int32_t high = trace.irregular[form.irregular + 1][lane];
        return static_cast<int64_t>(uint64_t{static_cast<uint32_t>(high)} << 32 | static_cast<uint32_t>(low));
    };
    const auto grain = static_cast<int64_t>(grain_);
    const int64_t start = form.irregular < 0 ? offset(std::countr_zero(form.mask)) : 0;
    const int64_t size = std::max<int64_t>(trace.sites[form.site].bytes / grain, 1);
    const auto step = form.array == trace::kNoArray ? 1 : static_cast<int64_t>(cell_[form.array]);
    std::vector<ShapeCell> all;
    for_lanes(form.mask, [&](uint32_t lane) {
        const int64_t from = (offset(static_cast<int>(lane)) - start) / grain;
        for (int64_t i = 0; i < size; i += step) all.push_back({from + i, 1u << lane});
    });
    std::sort(all.begin(), all.end(), [](const ShapeCell& a, const ShapeCell& b) {
        return std::tie(a.cell, a.lanes) < std::tie(b.cell, b.lanes);
    });
    std::vector<ShapeCell> joined;
    for (const ShapeCell& cell : all)
        if (!joined.empty() && joined.back().cell == cell.cell)
            joined.back().lanes |= cell.lanes;
        else
            joined.push_back(cell);
    if (rows_.size() >= kRememberedForms) return scratch_ = std::move(joined);
    row_[number] = static_cast<int32_t>(rows_.size());
    rows_.push_back(std::move(joined));
    return rows_.back();
}

uint64_t HazardForms::first_cell(uint64_t step) const {
    const trace::Form& form = trace.form_of(step);
    uint64_t address = uint64_t{form.base_high} << 32 | trace.base[step];
    if (form.array != trace::kNoArray) address += trace.launch.arrays[form.array].base;
    return address / grain_;
}

void HazardForms::name(Space space, uint64_t cell, uint8_t& array, uint64_t& element) const {
    const uint64_t address = cell * grain_;
    for (size_t i = 0; i < trace.launch.arrays.size() && i < trace::kNoArray; ++i) {
        const Array& a = trace.launch.arrays[i];
        if (a.space != space || address < a.base || address - a.base >= a.bytes()) continue;
        array = static_cast<uint8_t>(i);
        element = (address - a.base) / std::max(a.element_bytes(), 1u);
        return;
    }
    array = trace::kNoArray;
    element = address;
}

uint64_t interval_bytes(const trace::Trace& trace) {
    const bool syncs = trace.meta.ptx.find("bar.warp.sync") != std::string::npos;  // then WarpStretches too
    return (trace.arrival.empty() ? 36 : 56) + (syncs ? 40 : 0);
}

BlockIntervals intervals_of_block(HazardForms& forms, PhaseWalk& walk, uint32_t block) {
    const trace::Trace& trace = forms.trace;
    const trace::Block& b = trace.blocks[block];
    BlockIntervals out;
    out.first = b.first;
    out.block = block;
    out.phases = phases_of_block(walk, trace, block);
    const uint64_t warps = (trace.launch.block.count() + kWarpSize - 1) / kWarpSize;
    const uint64_t threads = std::clamp<uint64_t>(warps, 1, trace::kMaxWarpsPerBlock) * kWarpSize;
    out.passed.assign(threads, 0);
    out.last_step.assign(threads, kNoInterval);

    std::vector<uint32_t> interval;       // of each part
    std::vector<bool> split(256, false);  // warps whose lanes may have passed different numbers of barriers
    uint32_t highest = 0;
    bool sorted = true;
    interval.reserve(b.count);  // one part a step, but where a warp's lanes have passed different barriers
    out.parts.reserve(b.count);
    WarpOrder order(forms.facts, b);
    const bool syncs = forms.facts.warp_syncs();
    const auto put = [&](uint32_t at, StepPart part) {
        sorted = sorted && (interval.empty() || interval.back() <= at);
        highest = std::max(highest, at);
        interval.push_back(at);
        out.parts.push_back(part);
    };
    // Where requests are lost, the wait may be among them: then all stores count as landing at once.
    const trace::Arrivals arrivals = b.dropped == 0 ? trace::Arrivals(trace, b) : trace::Arrivals{};
    trace::ArrivalCursor cursor(arrivals);
    std::vector<uint32_t> first_part{0};  // of each of Arrivals::later(): into out.copies
    const auto arrive_before = [&](uint32_t step) {
        while (const auto number = cursor.next(step))
            for (uint32_t i = first_part[*number]; i < first_part[*number + 1]; ++i) {
                LaterPart& copy = out.copies[i];
                const uint32_t warp = trace.warp_of(b.first + copy.part.step);
                copy.to = out.passed[size_t{warp} * kWarpSize +
                                     static_cast<uint32_t>(std::countr_zero(copy.part.mask))];
                put(copy.to, copy.part);
            }
    };
    for (uint32_t i = 0; i < b.count; ++i) {
        const uint64_t step = b.first + i;
        const uint32_t form = trace.key[step] & 0xFFFFFF, warp = trace.warp_of(step);
        arrive_before(i);
        const uint32_t mask = trace.forms[form].mask;
        if (syncs) order.add(i, warp, mask, trace.forms[form].site, forms.kind(form).barrier);
        if (out.passed.size() <= size_t{warp} * kWarpSize) {  // a warp that the launch does not have
            out.passed.resize((size_t{warp} + 1) * kWarpSize, 0);
            out.last_step.resize(out.passed.size(), kNoInterval);
        }
        uint32_t* const passed = out.passed.data() + size_t{warp} * kWarpSize;
        uint32_t* const last = out.last_step.data() + size_t{warp} * kWarpSize;
        if (mask == ~0u)
            std::fill_n(last, kWarpSize, i);
        else
            for (uint32_t lanes = mask; lanes; lanes &= lanes - 1) last[std::countr_zero(lanes)] = i;
        if (forms.kind(form).barrier) {
            out.arrivals.push_back({i, warp, mask});
            for (uint32_t lanes = mask; lanes; lanes &= lanes - 1) ++passed[std::countr_zero(lanes)];
            split[warp] = split[warp] || mask != ~0u;
            continue;
        }
        if (forms.kind(form).apart) continue;
        const bool later = forms.kind(form).later && b.dropped == 0;
        uint32_t rest = mask;
        while (rest != 0) {
            const uint32_t at = passed[std::countr_zero(rest)];
            uint32_t together = rest;
            out.cut = out.cut || out.parts.size() >= kMostParts + b.count;
            if (split[warp] && !out.cut)
                for (uint32_t lanes = rest; lanes; lanes &= lanes - 1)
                    if (passed[std::countr_zero(lanes)] != at) together &= ~(lanes & (~lanes + 1));
            if (later)
                out.copies.push_back(
                    {{i, together}, at, kNoInterval, arrivals.visible_from(i).value_or(kNoInterval)});
            else
                put(at, {i, together});
            rest &= ~together;
        }
        if (later) first_part.push_back(static_cast<uint32_t>(out.copies.size()));
    }
    arrive_before(static_cast<uint32_t>(b.count));
    if (syncs) out.warps = order.finish();
    const uint32_t most = *std::max_element(out.passed.begin(), out.passed.end());
    const uint32_t count = std::max(highest, most) + 1;
    for (LaterPart& copy : out.copies) copy.to = std::min(copy.to, count - 1);  // of those nobody waits for
    std::ranges::stable_sort(out.copies, {}, &LaterPart::from);
    out.begin.assign(size_t{count} + 1, 0);
    for (const uint32_t at : interval) ++out.begin[at + 1];
    for (uint32_t i = 0; i < count; ++i) out.begin[i + 1] += out.begin[i];
    if (!sorted) {
        std::vector<uint32_t> next(out.begin.begin(), out.begin.end() - 1);
        std::vector<StepPart> parts(out.parts.size());
        for (size_t i = 0; i < parts.size(); ++i) parts[next[interval[i]]++] = out.parts[i];
        out.parts = std::move(parts);
    }
    out.stored.assign(count, 0);
    for (uint32_t at = 0; at < count; ++at)
        for (uint32_t i = out.begin[at]; i < out.begin[at + 1]; ++i) {
            const HazardForms::FormKind& kind = forms.kind(trace.key[b.first + out.parts[i].step] & 0xFFFFFF);
            if (kind.store) out.stored[at] |= kind.array_bit;
        }
    out.ends.resize(count);
    std::fill(out.passed.begin(), out.passed.end(), 0);
    for (const BarrierArrival& arrival : out.arrivals)
        for (uint32_t lanes = arrival.mask; lanes; lanes &= lanes - 1) {
            const uint32_t thread = arrival.warp * kWarpSize + static_cast<uint32_t>(std::countr_zero(lanes));
            BlockIntervals::End& end = out.ends[out.passed[thread]++];
            if (thread < end.thread) end = {trace.form_of(b.first + arrival.step).site, thread, arrival.step};
        }
    return out;
}

}  // namespace tilescope::analysis
