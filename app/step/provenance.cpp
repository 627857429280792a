// Where a value comes from: what a click on an element, or on a shared cell, is answered with.
//
//   P[1,0]  <-  thread [1,0]  <-  phase 0   M[1,0] (by [1,0]) in Mds[1,0]  *  N[0,0] (by [0,0]) in Nds[0,0]
//                                           M[1,1] (by [1,1]) in Mds[1,1]  *  N[1,0] (by [1,0]) in Nds[1,0]
//                                 phase 1   ...          (by [1,0]): loaded by that thread
//
// Everything is followed through the recording, never computed from the kernel's formula: a product has two
// factors, a factor was read by a request from a shared cell or from global memory, a shared cell was filled
// by a store, and what was stored had been loaded by the storing lane. So a stale value shows as what it is.
//
// Of any other element: every request of the recording that touched it. A recording is looked through from
// its first step on, a part at a time, so that a click into ten million steps stalls nothing:
//
//   steps   0 ..... next | ............ end      `next` moves; what was found so far is shown
//
// Most steps need not be decoded: all requests of a form (trace.h) reach equally far around their base. That
// reach is kept from the first of them, and tells of the others whether they can touch the element.
#include <algorithm>
#include <bit>
#include <ranges>
#include <tuple>
#include <unordered_map>

#include <fmt/format.h>

#include "app/look/timeline.h"
#include "app/step/model.h"

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

// The step and the thread that fetched a stored value from global memory, perhaps through other shared cells.
std::pair<uint32_t, uint32_t> fetched(const trace::Trace& trace, const BlockReplay& replay,
                                      const Store* store) {
    for (int hops = 0; store != nullptr && hops < 64; ++hops) {
        const playback::Factor from = replay.loaded(*store);
        if (!from.known()) break;
        if (is_global(trace, from.element.array)) return {from.step, store->thread};
        const CellState state = replay.cell(from.element.array, from.element.index, from.step);
        store = state.written ? store_of(replay, from.element, state.step) : nullptr;
    }
    return {kNever, 0};
}

// Lane reads of a cell from a store to the next: those up to the last step at which it holds what was stored.
uint32_t reads_after(const BlockReplay& replay, const Element& cell, uint32_t store_step, uint32_t from) {
    const auto at = [&](uint32_t step) { return replay.cell(cell.array, cell.index, step); };
    const auto steps = std::views::iota(from, replay.steps());
    const auto held =
        std::ranges::partition_point(steps, [&](uint32_t step) { return at(step).step == store_step; }) -
        steps.begin();
    return at(from + static_cast<uint32_t>(held) - 1).reads;
}

FactorTrail factor_trail(const trace::Trace& trace, const BlockIndex& index, const BlockReplay& replay,
                         simt::Origin origin, Value value, uint32_t thread) {
    FactorTrail trail;
    trail.value = value;
    trail.thread = thread;
    const playback::Factor read = replay.factor(origin, thread % kWarpSize);
    if (!read.known()) {
        trail.origin = origin == 0 && number_of(value) == 0 ? Origin::ZeroFill : Origin::Computed;
        return trail;
    }
    trail.read_step = read.step;
    if (is_global(trace, read.element.array)) {
        trail.origin = Origin::Element;
        trail.element = read.element;
        trail.load_step = read.step;
        trail.used = 1;
        return trail;
    }
    trail.cell = read.element;
    const CellState state = replay.cell(trail.cell.array, trail.cell.index, read.step);
    trail.origin = origin_of(index, state, read.step);
    if (!state.written) return trail;
    trail.element = state.source;
    trail.store_step = state.step;
    std::tie(trail.load_step, trail.thread) =
        fetched(trace, replay, store_of(replay, trail.cell, state.step));
    if (trail.load_step == kNever) trail.thread = state.thread;
    trail.used = reads_after(replay, trail.cell, state.step, read.step);
    return trail;
}

// Counts the lane loads by the block of every global element that the products name.
void count_loads(const trace::Trace& trace, const BlockIndex& index, std::vector<ProductTrail>& products) {
    const auto key = [](const Element& of) { return uint64_t{of.array} << 56 | of.index; };
    std::unordered_map<uint64_t, uint32_t> loads;
    for (const ProductTrail& product : products)
        for (const FactorTrail* of : {&product.m, &product.n}) loads[key(of->element)] = 0;
    for (uint64_t step = index.first; step < index.first + index.steps; ++step) {
        const trace::Form& form = trace.form_of(step);
        if (trace.sites[form.site].kind != ptx::SiteKind::Load || !is_global(trace, form.array)) continue;
        for_elements(trace, step, [&](uint32_t, uint64_t element) {
            if (const auto at = loads.find(key({form.array, element})); at != loads.end()) ++at->second;
        });
    }
    for (ProductTrail& product : products)
        for (FactorTrail* of : {&product.m, &product.n}) of->loaded = loads[key(of->element)];
}

// The lanes of a request that touch an element of its array.
uint32_t lanes_on(const trace::Trace& trace, uint64_t step, const trace::Access& access, uint64_t element) {
    uint32_t lanes = 0;
    for_elements(trace, step, access, [&](uint32_t lane, uint64_t touched) {
        if (touched == element) lanes |= 1u << lane;
    });
    return lanes;
}

}  // namespace

OutputTrail output_trail(const trace::Trace& trace, const BlockIndex& index, const BlockReplay& replay,
                         uint64_t element) {
    OutputTrail trail;
    if (!index.product) return trail;
    const analysis::Product& product = *index.product;
    const Element output{product.P, element};
    trail.expected = analysis::expected_element(trace, product, element);
    trail.thread = replay.thread_of_output(output);
    if (!trail.thread) return trail;
    for (const Store& store : replay.global_stores())
        if (store.to == output && store.thread == *trail.thread) trail.stored = store;

    const uint32_t warp = *trail.thread / kWarpSize, lane = *trail.thread % kWarpSize;
    for (const playback::MultiplyStep& step : replay.products()) {
        if (step.warp != warp || (step.mask >> lane & 1) == 0) continue;
        if (replay.output_of_sum(*trail.thread, step.result[lane]) != output) continue;
        const auto factor = [&](simt::Origin origin, uint64_t bits) {
            return factor_trail(trace, index, replay, origin, {step.factor_type, bits}, *trail.thread);
        };
        ProductTrail made{.after_step = step.after_step,
                          .m = factor(step.a[lane], step.a_value[lane]),
                          .n = factor(step.b[lane], step.b_value[lane]),
                          .sum = {step.sum_type, step.sum[lane]}};
        // A compiler may write the factors in either order; without an element the cells' order tells.
        const uint8_t m = made.m.element.array, n = made.n.element.array;
        const bool known = m != trace::kNoArray || n != trace::kNoArray;
        if (known ? m == product.N || n == product.M : made.m.cell.array > made.n.cell.array)
            std::swap(made.m, made.n);
        const uint32_t read = made.m.read_step != kNever ? made.m.read_step : made.n.read_step;
        made.phase = index.phase_at(read != kNever ? read : step.after_step);
        trail.products.push_back(made);
    }
    count_loads(trace, index, trail.products);
    return trail;
}

size_t products_done(const OutputTrail& trail, uint32_t step) {
    const auto later = std::ranges::upper_bound(trail.products, step, {}, &ProductTrail::after_step);
    return static_cast<size_t>(later - trail.products.begin());
}

CellTrail cell_trail(const trace::Trace& trace, const BlockIndex& index, const BlockReplay& replay,
                     const Element& cell, uint32_t step) {
    CellTrail trail;
    const CellState& state = trail.held = replay.cell(cell.array, cell.index, step);
    if (state.written) trail.load_step = fetched(trace, replay, store_of(replay, cell, state.step)).first;
    const uint32_t from = state.written ? state.step : 0;
    uint32_t found = 0;
    for (uint32_t at = step < index.steps ? step + 1 : index.steps;
         at > from && found < state.reads && trail.readers.size() < CellTrail::kMostReaders;) {
        const uint64_t read = index.first + --at;
        const trace::Form& form = trace.form_of(read);
        if (form.array != cell.array || trace.sites[form.site].kind != ptx::SiteKind::Load) continue;
        const trace::Access access = trace::decode(trace, read);
        const uint32_t lanes = lanes_on(trace, read, access, cell.index);
        if (lanes != 0) trail.readers.push_back({read, access.warp, lanes});
        found += static_cast<uint32_t>(std::popcount(lanes));
    }
    std::ranges::reverse(trail.readers);
    return trail;
}

void go_on(TouchScan& scan, const trace::Trace& trace, uint64_t steps) {
    scan.reach.resize(trace.forms.size());
    const uint64_t end = std::min(trace.steps(), scan.next + std::min(steps, trace.steps()));
    for (; scan.next < end; ++scan.next) {
        const trace::Form& form = trace.form_of(scan.next);
        if (form.array != scan.element.array || form.array == trace::kNoArray) continue;
        const ptx::Site& site = trace.sites[form.site];
        const auto width = static_cast<int64_t>(trace.launch.arrays[form.array].element_bytes());
        const auto first_byte = static_cast<int64_t>(scan.element.index) * width;
        std::optional<TouchScan::Reach>& reach = scan.reach[trace.key[scan.next] & 0xFFFFFF];
        const bool box = site.box != ptx::Box::None;  // whose words say how far it reaches
        const auto base = static_cast<int64_t>(uint64_t{form.base_high} << 32 | trace.base[scan.next]);
        if (!box && reach &&
            (base + reach->highest < first_byte || base + reach->lowest >= first_byte + width))
            continue;
        const trace::Access access = trace::decode(trace, scan.next);
        if (!reach && !box) {
            reach.emplace();
            for_lanes(access.mask, [&](uint32_t lane) {
                const int64_t from = static_cast<int64_t>(access.offset[lane]) - base;
                reach->lowest = std::min(reach->lowest, from);
                reach->highest = std::max(reach->highest, from + std::max<int64_t>(site.bytes, 1) - 1);
            });
        }
        const uint32_t lanes = lanes_on(trace, scan.next, access, scan.element.index);
        if (lanes == 0) continue;
        if (scan.next >= scan.block_end) {
            const trace::Block& block = trace.blocks[trace::block_of(trace, scan.next)];
            scan.block_end = block.first + block.count;
            ++scan.blocks;
        }
        ++scan.requests;
        scan.lanes += static_cast<uint64_t>(std::popcount(lanes));
        if (scan.touches.size() < TouchScan::kMost)
            scan.touches.push_back({scan.next, access.warp, lanes, ptx::writes(site.kind)});
    }
}

std::string when_text(const trace::Trace& trace, const BlockIndex& index, uint32_t step) {
    std::string text = fmt::format("at step {}", grouped(uint64_t{step} + 1));
    if (index.clocked) text += fmt::format(" (clock {})", grouped(clock_of(trace, index, step)));
    return text;
}

std::string phase_words(uint32_t phase, const Notation& notation) {
    return phase == analysis::kAfter ? "after the last phase" : phase_name(phase, notation);
}

std::string factor_text(const trace::Trace& trace, const BlockIndex& index, const FactorTrail& factor) {
    const std::string used = "used " + times_in_words(factor.used);
    const auto by_at = [&](uint32_t step) {  // "thread[3,3] in phase 1 at step 133"
        const uint32_t phase = index.phase_at(step);
        return fmt::format("{} {}{} {}", thread_name(trace.launch.block, factor.thread, index.notation),
                           phase == analysis::kAfter ? "" : "in ", phase_words(phase, index.notation),
                           when_text(trace, index, step));
    };
    if (factor.origin == Origin::Nothing) return "read before anything was stored there";
    if (factor.element.array == trace::kNoArray) {
        const std::string what = factor.origin == Origin::Computed ? "a computed value" : "a zero";
        if (factor.store_step == kNever) return what;
        return fmt::format("{}: stored by {}, {}", what, by_at(factor.store_step), used);
    }
    const std::string name = (factor.origin == Origin::Stale ? "stale " : "") +
                             element_name(trace.launch.arrays[factor.element.array],
                                          static_cast<int64_t>(factor.element.index), index.notation);
    if (factor.load_step == kNever) return fmt::format("{}: {}", name, used);
    std::string text = fmt::format("{}: {} by {}, {}", name, factor.loaded <= 1 ? "loaded once" : "loaded",
                                   by_at(factor.load_step), used);
    if (factor.loaded > 1) text += fmt::format("; {} by this block", times_in_words(factor.loaded));
    return text;
}

}  // namespace tilescope::step
