#include "app/step/provenance_view.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "app/look/block_clock.h"
#include "app/step/matrix_view.h"
#include "kernels/run/record.h"

namespace tilescope::step {
namespace {

using playback::BlockReplay;
using playback::kNever;
using Store = BlockReplay::Store;

bool is_global(const trace::Trace& trace, uint8_t array) {
    return array != trace::kNoArray && trace.launch.arrays[array].space == Space::Global;
}

// The store that a state of a cell speaks of: one lane stores to a cell at a step, the last in lane order.
const Store* store_of(const BlockReplay& replay, uint8_t array, uint64_t cell, uint32_t step) {
    const auto& stores = replay.shared_stores();
    auto at = std::upper_bound(stores.begin(), stores.end(), step,
                               [](uint32_t s, const Store& store) { return s < store.step; });
    while (at != stores.begin() && (at - 1)->step == step) {
        --at;
        if (at->to == playback::Element{array, cell}) return &*at;
    }
    return nullptr;
}

// The load from global memory behind a stored value, through other shared cells where it went so.
struct Fetched {
    uint32_t step = kNever, thread = 0;
};
Fetched fetched(const trace::Trace& trace, const BlockReplay& replay, const Store* store) {
    for (int hops = 0; store != nullptr && hops < 64; ++hops) {
        const uint32_t lane = store->thread % kWarpSize;
        const playback::Factor from = replay.factor(store->origin, lane);
        if (!from.known()) return {};
        if (is_global(trace, from.element.array)) return {from.step, store->thread};
        const auto [array, index] = from.element;
        const playback::CellState state = replay.cell(array, index, from.step);
        store = state.written ? store_of(replay, array, index, state.step) : nullptr;
    }
    return {};
}

Origin origin_of(const BlockIndex& index, const playback::CellState& state, uint32_t read_step) {
    if (!state.written) return Origin::Nothing;
    const uint32_t phase = index.phase_at(read_step);
    if (phase != analysis::kAfter && index.phase_at(state.step) != phase) return Origin::Stale;
    if (state.source.array != trace::kNoArray) return Origin::Element;
    return number_of(state.value) == 0 ? Origin::ZeroFill : Origin::Computed;
}

// Steps at which each cell of each shared array is stored to.
class StoreSteps {
public:
    StoreSteps(const trace::Trace& trace, const BlockReplay& replay) : steps_(trace.launch.arrays.size()) {
        for (const Store& store : replay.shared_stores()) {
            auto& cells = steps_[store.to.array];
            if (cells.size() <= store.to.index) cells.resize(store.to.index + 1);
            cells[store.to.index].push_back(store.step);
        }
    }
    // The last step at which a cell still holds what was stored at `step`.
    uint32_t last_of(const BlockReplay& replay, uint8_t array, uint64_t cell, uint32_t step) const {
        const auto& stores = steps_[array][cell];
        const auto next = std::upper_bound(stores.begin(), stores.end(), step);
        return next == stores.end() ? replay.steps() - 1 : *next - 1;
    }

private:
    std::vector<std::vector<std::vector<uint32_t>>> steps_;
};

struct Trails {
    const trace::Trace& trace;
    const BlockIndex& index;
    const BlockReplay& replay;
    StoreSteps stores;

    FactorTrail factor(simt::Origin origin, Value value, uint32_t thread) const {
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
        const playback::CellState state = replay.cell(array, element, read.step);
        trail.origin = origin_of(index, state, read.step);
        if (!state.written) return trail;
        trail.array = state.source.array;
        trail.index = state.source.index;
        trail.store_step = state.step;
        trail.thread = state.thread;
        const Fetched load = fetched(trace, replay, store_of(replay, array, element, state.step));
        if (load.step != kNever) {
            trail.load_step = load.step;
            trail.thread = load.thread;
        }
        const uint32_t last = stores.last_of(replay, array, element, state.step);
        trail.used = replay.cell(array, element, last).reads;
        return trail;
    }
};

// Lane loads by the block of every element of row `row` of M, by column, and of column `col` of N, by row.
struct BlockLoads {
    std::vector<uint32_t> m, n;
};
BlockLoads block_loads(const trace::Trace& trace, const BlockIndex& index, const analysis::Product& product,
                       uint64_t row, uint64_t col) {
    BlockLoads loads;
    loads.m.resize(product.k);
    loads.n.resize(product.k);
    for (const ptx::Site& site : trace.sites) {
        if (site.kind != ptx::SiteKind::Load || site.id >= index.steps_of_site.size()) continue;
        for (const uint32_t step : index.steps_of_site[site.id]) {
            const uint8_t array = trace.form_of(index.first + step).array;
            if (array != product.M && array != product.N) continue;
            const trace::Access access = trace::decode(trace, index.first + step);
            const Array& of = trace.launch.arrays[array];
            const uint64_t width = of.element_bytes(), cols = of.cols;
            for_lanes(access.mask, [&](uint32_t lane) {
                const uint64_t first = access.offset[lane] / width;
                const uint64_t last = (access.offset[lane] + std::max(site.bytes, 1u) - 1) / width;
                for (uint64_t element = first; element <= last; ++element) {
                    if (array == product.M && element / cols == row) ++loads.m[element % cols];
                    if (array == product.N && element % cols == col && element / cols < loads.n.size())
                        ++loads.n[element / cols];
                }
            });
        }
    }
    return loads;
}

}  // namespace

OutputTrail output_trail(const trace::Trace& trace, const BlockIndex& index, const BlockReplay& replay,
                         uint64_t element) {
    OutputTrail trail;
    trail.element = element;
    if (!index.product) return trail;
    const analysis::Product& product = *index.product;
    const uint64_t row = element / product.n, col = element % product.n;
    trail.expected = analysis::expected_element(trace, product, row, col);
    const std::optional<uint32_t> thread = replay.thread_of_output({product.P, element});
    if (!thread) return trail;
    trail.here = true;
    trail.thread = *thread;
    const uint32_t warp = *thread / kWarpSize, lane = *thread % kWarpSize;
    if (warp < index.steps_of_warp.size()) {
        for (const uint32_t step : index.steps_of_warp[warp]) {
            const trace::Form& form = trace.form_of(index.first + step);
            if (form.array != product.P || trace.sites[form.site].kind != ptx::SiteKind::Store) continue;
            if (replay.touched(step, lane).element != playback::Element{product.P, element}) continue;
            trail.store_step = step;
            trail.stored = replay.value(step, lane);
        }
    }

    const BlockLoads loads = block_loads(trace, index, product, row, col);
    const Trails trails{trace, index, replay, StoreSteps(trace, replay)};
    for (const playback::MultiplyStep& step : replay.products()) {
        if (step.warp != warp || (step.mask >> lane & 1) == 0) continue;
        if (replay.output_of_sum(*thread, step.result[lane]) != playback::Element{product.P, element})
            continue;
        ProductTrail made;
        made.after_step = step.after_step;
        made.sum = {step.sum_type, step.sum[lane]};
        made.m = trails.factor(step.a[lane], {step.factor_type, step.a_value[lane]}, *thread);
        made.n = trails.factor(step.b[lane], {step.factor_type, step.b_value[lane]}, *thread);
        // A compiler may write the factors in either order; without an element the cells' order tells.
        const bool known = made.m.array != trace::kNoArray || made.n.array != trace::kNoArray;
        if (known ? made.m.array == product.N || made.n.array == product.M
                  : made.m.cell_array > made.n.cell_array)
            std::swap(made.m, made.n);
        const uint32_t read = made.m.read_step != kNever ? made.m.read_step : made.n.read_step;
        made.phase = index.phase_at(read != kNever ? read : step.after_step);
        if (made.m.array == product.M) {
            const uint64_t m_cols = std::max<uint64_t>(loads.m.size(), 1);
            made.m.loaded = made.m.index / m_cols == row ? loads.m[made.m.index % m_cols] : 0;
        }
        if (made.n.array == product.N) {
            const uint64_t n_cols = product.n;
            made.n.loaded = made.n.index % n_cols == col && made.n.index / n_cols < loads.n.size()
                                ? loads.n[made.n.index / n_cols]
                                : 0;
        }
        if (trail.products.empty() || trail.products.back().phase != made.phase)
            trail.phases.push_back(trail.products.size());
        for (const FactorTrail* factor : {&made.m, &made.n}) {
            trail.zeros = trail.zeros || factor->origin == Origin::ZeroFill;
            trail.stale = trail.stale || factor->origin == Origin::Stale || factor->origin == Origin::Nothing;
        }
        trail.products.push_back(made);
    }
    return trail;
}

size_t products_done(const OutputTrail& trail, uint32_t step) {
    return static_cast<size_t>(std::upper_bound(
                                   trail.products.begin(), trail.products.end(), step,
                                   [](uint32_t s, const ProductTrail& p) { return s < p.after_step; }) -
                               trail.products.begin());
}

CellTrail cell_trail(const trace::Trace& trace, const BlockIndex& index, const BlockReplay& replay,
                     uint8_t array, uint64_t cell, uint32_t step) {
    CellTrail trail;
    const playback::CellState state = replay.cell(array, cell, step);
    trail.origin = origin_of(index, state, step);
    trail.reads = state.reads;
    if (state.written) {
        trail.value = state.value;
        trail.array = state.source.array;
        trail.index = state.source.index;
        trail.store_step = state.step;
        trail.thread = state.thread;
        trail.load_step = fetched(trace, replay, store_of(replay, array, cell, state.step)).step;
    }
    const uint32_t from = state.written ? state.step : 0;
    uint32_t found = 0;
    for (uint32_t at = std::min(step, index.steps == 0 ? 0 : index.steps - 1);
         at >= from && found < trail.reads && trail.readers.size() < CellTrail::kMostReaders; --at) {
        const trace::Form& form = trace.form_of(index.first + at);
        const ptx::Site& site = trace.sites[form.site];
        if (form.array == array && site.kind == ptx::SiteKind::Load) {
            const trace::Access access = trace::decode(trace, index.first + at);
            const uint64_t width = trace.launch.arrays[array].element_bytes();
            uint32_t lanes = 0;
            for_lanes(access.mask, [&](uint32_t lane) {
                const uint64_t offset = access.offset[lane];
                if (offset / width <= cell && cell <= (offset + std::max(site.bytes, 1u) - 1) / width)
                    lanes |= 1u << lane;
            });
            if (lanes != 0) trail.readers.push_back({at, access.warp, lanes});
            found += static_cast<uint32_t>(std::popcount(lanes));
        }
        if (at == 0) break;
    }
    std::reverse(trail.readers.begin(), trail.readers.end());
    return trail;
}

const char* words_of(Origin origin) {
    switch (origin) {
        case Origin::Element:
            return "loaded element";
        case Origin::ZeroFill:
            return "zero fill";
        case Origin::Stale:
            return "stale";
        case Origin::Computed:
            return "computed";
        case Origin::Nothing:
            return "never stored";
    }
    return "";
}

std::string when_text(const trace::Trace& trace, const BlockIndex& index, uint32_t step) {
    std::string text = fmt::format("at step {}", grouped(uint64_t{step} + 1));
    if (index.clocked) text += fmt::format(" (clock {})", grouped(clock_of(trace, index, step)));
    return text;
}

std::string times_text(uint64_t times) {
    return times == 1 ? std::string("once") : grouped(times) + " times";
}

std::string factor_text(const trace::Trace& trace, const BlockIndex& index, const FactorTrail& factor) {
    const std::string used = fmt::format("used {}", times_text(factor.used));
    const std::string thread = thread_name(trace.launch.block, factor.thread);
    const auto phase = [&](uint32_t step) {
        const uint32_t number = index.phase_at(step);
        return number == analysis::kAfter ? std::string("after the last phase")
                                          : fmt::format("in phase {}", number);
    };
    if (factor.origin == Origin::Nothing) return "read before anything was stored there";
    if (factor.array == trace::kNoArray) {
        const std::string what = factor.origin == Origin::Computed ? "a computed value" : "a zero";
        if (factor.store_step == kNever) return what;
        return fmt::format("{}: stored by {} {} {}, {}", what, thread, phase(factor.store_step),
                           when_text(trace, index, factor.store_step), used);
    }
    const std::string name = element_name(trace.launch.arrays[factor.array], factor.index);
    const std::string stale = factor.origin == Origin::Stale ? "stale " : "";
    if (factor.load_step == kNever) return fmt::format("{}{}: {}", stale, name, used);
    const std::string loads = factor.loaded <= 1 ? "loaded once" : "loaded";
    std::string text = fmt::format("{}{}: {} by {} {} {}, {}", stale, name, loads, thread,
                                   phase(factor.load_step), when_text(trace, index, factor.load_step), used);
    if (factor.loaded > 1) text += fmt::format("; {} by this block", times_text(factor.loaded));
    return text;
}

}  // namespace tilescope::step
