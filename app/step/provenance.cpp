#include "app/step/provenance.h"

#include <algorithm>
#include <bit>
#include <ranges>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "app/look/timeline.h"

namespace tilescope::step {
namespace {

using playback::BlockReplay;
using playback::CellState;
using playback::Element;
using playback::kNever;
using Store = BlockReplay::Store;

bool is_global(const trace::Trace& trace, uint8_t array) {
    return array != trace::kNoArray && trace.launch.arrays[array].space == Space::Global;
}

// The store that a state of a cell speaks of: one lane stores to a cell at a step, the last in lane order.
const Store* store_of(const BlockReplay& replay, const Element& cell, uint32_t step) {
    const Store* last = nullptr;
    for (const Store& store : std::ranges::equal_range(replay.shared_stores(), step, {}, &Store::step))
        if (store.to == cell) last = &store;
    return last;
}

// The step and the thread that fetched a stored value from global memory, through other shared cells where it
// went so.
std::pair<uint32_t, uint32_t> fetched(const trace::Trace& trace, const BlockReplay& replay,
                                      const Store* store) {
    for (int hops = 0; store != nullptr && hops < 64; ++hops) {
        const playback::Factor from = replay.factor(store->origin, store->thread % kWarpSize);
        if (!from.known()) break;
        if (is_global(trace, from.element.array)) return {from.step, store->thread};
        const CellState state = replay.cell(from.element.array, from.element.index, from.step);
        store = state.written ? store_of(replay, from.element, state.step) : nullptr;
    }
    return {kNever, 0};
}

Origin origin_of(const BlockIndex& index, const CellState& state, uint32_t read_step) {
    if (!state.written) return Origin::Nothing;
    const uint32_t phase = index.phase_at(read_step);
    if (phase != analysis::kAfter && index.phase_at(state.step) != phase) return Origin::Stale;
    if (state.source.array != trace::kNoArray) return Origin::Element;
    return number_of(state.value) == 0 ? Origin::ZeroFill : Origin::Computed;
}

// Lane reads of a cell from a store to the next: those up to the last step at which it holds what was stored.
uint32_t reads_after(const BlockReplay& replay, const Element& cell, uint32_t store_step) {
    const auto at = [&](uint32_t step) { return replay.cell(cell.array, cell.index, step); };
    const auto steps = std::views::iota(store_step, replay.steps());
    const auto held =
        std::ranges::partition_point(steps, [&](uint32_t step) { return at(step).step == store_step; }) -
        steps.begin();
    return at(store_step + static_cast<uint32_t>(held) - 1).reads;
}

FactorTrail factor_trail(const trace::Trace& trace, const BlockIndex& index, const BlockReplay& replay,
                         simt::Origin origin, Value value, uint32_t thread) {
    FactorTrail trail;
    trail.value = value;
    trail.thread = thread;
    const playback::Factor read = replay.factor(origin, thread % kWarpSize);
    const auto [array, element] = read.element;
    if (!read.known()) {
        trail.origin = origin == 0 && number_of(value) == 0 ? Origin::ZeroFill : Origin::Computed;
        return trail;
    }
    trail.read_step = read.step;
    if (is_global(trace, array)) {
        trail.origin = Origin::Element;
        trail.array = array;
        trail.index = element;
        trail.load_step = read.step;
        trail.used = 1;
        return trail;
    }
    trail.cell_array = array;
    trail.cell = element;
    const CellState state = replay.cell(array, element, read.step);
    trail.origin = origin_of(index, state, read.step);
    if (!state.written) return trail;
    trail.array = state.source.array;
    trail.index = state.source.index;
    trail.store_step = state.step;
    std::tie(trail.load_step, trail.thread) =
        fetched(trace, replay, store_of(replay, read.element, state.step));
    if (trail.load_step == kNever) trail.thread = state.thread;
    trail.used = reads_after(replay, read.element, state.step);
    return trail;
}

// Counts the lane loads by the block of every global element that the trail names.
void count_loads(const trace::Trace& trace, const BlockIndex& index, OutputTrail& trail) {
    const auto key = [](uint8_t array, uint64_t element) { return uint64_t{array} << 56 | element; };
    std::unordered_map<uint64_t, uint32_t> loads;
    for (const ProductTrail& product : trail.products)
        for (const FactorTrail& of : {product.m, product.n})
            if (of.array != trace::kNoArray) loads[key(of.array, of.index)] = 0;
    for (uint64_t step = index.first; step < index.first + index.steps; ++step) {
        const trace::Form& form = trace.form_of(step);
        const ptx::Site& site = trace.sites[form.site];
        if (site.kind != ptx::SiteKind::Load || !is_global(trace, form.array)) continue;
        const trace::Access access = trace::decode(trace, step);
        const uint64_t bytes = trace.launch.arrays[form.array].element_bytes();
        for_lanes(access.mask, [&](uint32_t lane) {
            const uint64_t last = access.offset[lane] + std::max(site.bytes, 1u) - 1;
            for (uint64_t element = access.offset[lane] / bytes; element <= last / bytes; ++element)
                if (const auto at = loads.find(key(form.array, element)); at != loads.end()) ++at->second;
        });
    }
    for (ProductTrail& product : trail.products)
        for (FactorTrail* of : {&product.m, &product.n})
            if (of->array != trace::kNoArray) of->loaded = loads[key(of->array, of->index)];
}

// The lanes of a request, `bytes` each, that touch an element of its array.
uint32_t lanes_on(const trace::Access& access, uint32_t bytes, uint64_t element, uint32_t element_bytes) {
    const auto first = static_cast<int64_t>(element * element_bytes), end = first + element_bytes;
    uint32_t lanes = 0;
    for_lanes(access.mask, [&](uint32_t lane) {
        const auto from = static_cast<int64_t>(access.offset[lane]);
        if (from < end && from + std::max<int64_t>(bytes, 1) > first) lanes |= 1u << lane;
    });
    return lanes;
}

}  // namespace

OutputTrail output_trail(const trace::Trace& trace, const BlockIndex& index, const BlockReplay& replay,
                         uint64_t element) {
    OutputTrail trail;
    trail.element = element;
    if (!index.product) return trail;
    const analysis::Product& product = *index.product;
    const Element output{product.P, element};
    trail.expected = analysis::expected_element(trace, product, element);
    const std::optional<uint32_t> thread = replay.thread_of_output(output);
    if (!thread) return trail;
    trail.here = true;
    trail.thread = *thread;
    for (const Store& store : replay.global_stores()) {
        if (store.to != output || store.thread != *thread) continue;
        trail.store_step = store.step;
        trail.stored = store.value;
    }

    const uint32_t warp = *thread / kWarpSize, lane = *thread % kWarpSize;
    for (const playback::MultiplyStep& step : replay.products()) {
        if (step.warp != warp || (step.mask >> lane & 1) == 0) continue;
        if (replay.output_of_sum(*thread, step.result[lane]) != output) continue;
        ProductTrail made;
        made.after_step = step.after_step;
        made.sum = {step.sum_type, step.sum[lane]};
        const auto factor = [&](simt::Origin origin, uint64_t bits) {
            return factor_trail(trace, index, replay, origin, {step.factor_type, bits}, *thread);
        };
        made.m = factor(step.a[lane], step.a_value[lane]);
        made.n = factor(step.b[lane], step.b_value[lane]);
        // A compiler may write the factors in either order; without an element the cells' order tells.
        const bool known = made.m.array != trace::kNoArray || made.n.array != trace::kNoArray;
        if (known ? made.m.array == product.N || made.n.array == product.M
                  : made.m.cell_array > made.n.cell_array)
            std::swap(made.m, made.n);
        const uint32_t read = made.m.read_step != kNever ? made.m.read_step : made.n.read_step;
        made.phase = index.phase_at(read != kNever ? read : step.after_step);
        for (const Origin of : {made.m.origin, made.n.origin}) {
            trail.zeros = trail.zeros || of == Origin::ZeroFill;
            trail.stale = trail.stale || of == Origin::Stale || of == Origin::Nothing;
        }
        trail.products.push_back(made);
    }
    count_loads(trace, index, trail);
    return trail;
}

size_t products_done(const OutputTrail& trail, uint32_t step) {
    const auto later = std::ranges::upper_bound(trail.products, step, {}, &ProductTrail::after_step);
    return static_cast<size_t>(later - trail.products.begin());
}

CellTrail cell_trail(const trace::Trace& trace, const BlockIndex& index, const BlockReplay& replay,
                     uint8_t array, uint64_t cell, uint32_t step) {
    CellTrail trail;
    const CellState& state = trail.held = replay.cell(array, cell, step);
    trail.origin = origin_of(index, state, step);
    if (state.written)
        trail.load_step = fetched(trace, replay, store_of(replay, {array, cell}, state.step)).first;
    const uint32_t from = state.written ? state.step : 0, width = trace.launch.arrays[array].element_bytes();
    uint32_t found = 0;
    for (uint32_t at = step < index.steps ? step + 1 : index.steps;
         at > from && found < state.reads && trail.readers.size() < CellTrail::kMostReaders;) {
        const uint64_t read = index.first + --at;
        const trace::Form& form = trace.form_of(read);
        const ptx::Site& site = trace.sites[form.site];
        if (form.array != array || site.kind != ptx::SiteKind::Load) continue;
        const trace::Access access = trace::decode(trace, read);
        const uint32_t lanes = lanes_on(access, site.bytes, cell, width);
        if (lanes != 0) trail.readers.push_back({read, access.warp, lanes});
        found += static_cast<uint32_t>(std::popcount(lanes));
    }
    std::reverse(trail.readers.begin(), trail.readers.end());
    return trail;
}

TouchScan begin_scan(const trace::Trace& trace, uint8_t array, uint64_t element) {
    TouchScan scan{.array = array, .element = element};
    scan.reach.resize(trace.forms.size());
    return scan;
}

void go_on(TouchScan& scan, const trace::Trace& trace, uint64_t steps) {
    const uint64_t end = std::min(trace.steps(), scan.next + std::min(steps, trace.steps()));
    const bool exists = scan.array < trace.launch.arrays.size();
    const uint32_t width = exists ? std::max(trace.launch.arrays[scan.array].element_bytes(), 1u) : 1;
    const auto first_byte = static_cast<int64_t>(scan.element * width), last_byte = first_byte + width - 1;
    for (; scan.next < end; ++scan.next) {
        const trace::Form& form = trace.form_of(scan.next);
        const ptx::Site& site = trace.sites[form.site];
        if (!exists || form.array != scan.array || site.kind == ptx::SiteKind::Barrier) continue;
        std::optional<TouchScan::Reach>& reach = scan.reach[trace.key[scan.next] & 0xFFFFFF];
        const auto base = static_cast<int64_t>(uint64_t{form.base_high} << 32 | trace.base[scan.next]);
        if (reach && (base + reach->highest < first_byte || base + reach->lowest > last_byte)) continue;
        const trace::Access access = trace::decode(trace, scan.next);
        if (!reach) {  // any step of the form would say the same
            reach.emplace();
            for_lanes(access.mask, [&](uint32_t lane) {
                const int64_t from = static_cast<int64_t>(access.offset[lane]) - base;
                reach->lowest = std::min(reach->lowest, from);
                reach->highest = std::max(reach->highest, from + std::max<int64_t>(site.bytes, 1) - 1);
            });
        }
        const uint32_t lanes = lanes_on(access, site.bytes, scan.element, width);
        if (lanes == 0) continue;
        if (scan.next >= scan.block_end) {
            const trace::Block& block = trace.blocks[trace::block_of(trace, scan.next)];
            scan.block_end = block.first + block.count;
            ++scan.blocks;
        }
        ++scan.requests;
        scan.lanes += static_cast<uint64_t>(std::popcount(lanes));
        if (scan.touches.size() < TouchScan::kMost)
            scan.touches.push_back({scan.next, access.warp, lanes, site.kind == ptx::SiteKind::Store});
    }
}

const char* words_of(Origin origin) {
    constexpr const char* kWords[] = {"loaded element", "zero fill", "stale", "computed", "never stored"};
    return kWords[static_cast<size_t>(origin)];
}

std::string when_text(const trace::Trace& trace, const BlockIndex& index, uint32_t step) {
    std::string text = fmt::format("at step {}", grouped(uint64_t{step} + 1));
    if (index.clocked) text += fmt::format(" (clock {})", grouped(clock_of(trace, index, step)));
    return text;
}

std::string times_text(uint64_t times) { return times == 1 ? "once" : grouped(times) + " times"; }

std::string phase_words(uint32_t phase, const Notation& notation) {
    return phase == analysis::kAfter ? "after the last phase" : phase_name(phase, notation);
}

std::string factors_text(const trace::Trace& trace, const BlockIndex& index, uint64_t element) {
    const analysis::Product& product = *index.product;
    const auto name = [&](uint8_t array) { return name_in(index.notation, trace.launch.arrays[array]); };
    return fmt::format("row {} of {} times column {} of {}", element / product.n, name(product.M),
                       element % product.n, name(product.N));
}

std::string factor_text(const trace::Trace& trace, const BlockIndex& index, const FactorTrail& factor) {
    const std::string used = "used " + times_text(factor.used);
    const auto by_at = [&](uint32_t step) {  // "thread[3,3] in phase 1 at step 133"
        const uint32_t phase = index.phase_at(step);
        return fmt::format("{} {}{} {}", thread_name(trace.launch.block, factor.thread, index.notation),
                           phase == analysis::kAfter ? "" : "in ", phase_words(phase, index.notation),
                           when_text(trace, index, step));
    };
    if (factor.origin == Origin::Nothing) return "read before anything was stored there";
    if (factor.array == trace::kNoArray) {
        const std::string what = factor.origin == Origin::Computed ? "a computed value" : "a zero";
        if (factor.store_step == kNever) return what;
        return fmt::format("{}: stored by {}, {}", what, by_at(factor.store_step), used);
    }
    const std::string name =
        (factor.origin == Origin::Stale ? "stale " : "") +
        element_name(trace.launch.arrays[factor.array], static_cast<int64_t>(factor.index), index.notation);
    if (factor.load_step == kNever) return fmt::format("{}: {}", name, used);
    std::string text = fmt::format("{}: {} by {}, {}", name, factor.loaded <= 1 ? "loaded once" : "loaded",
                                   by_at(factor.load_step), used);
    if (factor.loaded > 1) text += fmt::format("; {} by this block", times_text(factor.loaded));
    return text;
}

}  // namespace tilescope::step
