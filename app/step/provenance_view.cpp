#include "app/step/provenance_view.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "app/look/block_clock.h"
#include "app/step/matrix_view.h"
#include "kernels/record.h"

namespace tilescope::step {
namespace {

using playback::BlockReplay;
using playback::kNever;
using SharedStore = BlockReplay::SharedStore;

bool is_global(const trace::Trace& trace, uint8_t array) {
    return array != trace::kNoArray && trace.arrays[array].space == Space::Global;
}

// The store that a state of a cell speaks of: one lane stores to a cell at a step, the last in lane order.
const SharedStore* store_of(const BlockReplay& replay, uint8_t array, uint64_t cell, uint32_t step) {
    const auto& stores = replay.shared_stores();
    auto at = std::upper_bound(stores.begin(), stores.end(), step,
                               [](uint32_t s, const SharedStore& store) { return s < store.step; });
    while (at != stores.begin() && (at - 1)->step == step) {
        --at;
        if (at->array == array && at->index == cell) return &*at;
    }
    return nullptr;
}

// The load from global memory behind a stored value, through other shared cells where it went so.
struct Fetched {
    uint32_t step = kNever, thread = 0;
};
Fetched fetched(const trace::Trace& trace, const BlockReplay& replay, const SharedStore* store) {
    for (int hops = 0; store != nullptr && hops < 64; ++hops) {
        const uint32_t warp = store->thread / kWarpSize, lane = store->thread % kWarpSize;
        const playback::Factor from = replay.factor(store->origin, warp, lane);
        if (from.array == trace::kNoArray) return {};
        if (is_global(trace, from.array)) return {from.step, store->thread};
        const playback::CellState state = replay.cell(from.array, from.index, from.step);
        store = state.written ? store_of(replay, from.array, from.index, state.step) : nullptr;
    }
    return {};
}

Origin origin_of(const BlockIndex& index, const playback::CellState& state, uint32_t read_step) {
    if (!state.written) return Origin::Nothing;
    const uint32_t phase = index.phase_at(read_step);
    if (phase != analysis::kAfter && index.phase_at(state.step) != phase) return Origin::Stale;
    if (state.source_array != trace::kNoArray) return Origin::Element;
    return state.value == 0 ? Origin::ZeroFill : Origin::Computed;
}

// Steps at which each cell of each shared array is stored to.
class StoreSteps {
public:
    StoreSteps(const trace::Trace& trace, const BlockReplay& replay) : steps_(trace.arrays.size()) {
        for (const SharedStore& store : replay.shared_stores()) {
            auto& cells = steps_[store.array];
            if (cells.size() <= store.index) cells.resize(store.index + 1);
            cells[store.index].push_back(store.step);
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

    FactorTrail factor(simt::Origin origin, float value, uint32_t thread) const {
        FactorTrail trail;
        trail.value = value;
        trail.thread = thread;
        const playback::Factor read = replay.factor(origin, thread / kWarpSize, thread % kWarpSize);
        if (read.array == trace::kNoArray) {
            trail.origin = origin == 0 && value == 0 ? Origin::ZeroFill : Origin::Computed;
            return trail;
        }
        trail.read_step = read.step;
        if (is_global(trace, read.array)) {
            trail.origin = Origin::Element;
            trail.array = read.array;
            trail.index = read.index;
            trail.load_step = read.step;
            trail.used = 1;
            return trail;
        }
        trail.cell_array = read.array;
        trail.cell = read.index;
        const playback::CellState state = replay.cell(read.array, read.index, read.step);
        trail.origin = origin_of(index, state, read.step);
        if (!state.written) return trail;
        trail.array = state.source_array;
        trail.index = state.source_index;
        trail.store_step = state.step;
        trail.thread = state.thread;
        const Fetched load = fetched(trace, replay, store_of(replay, read.array, read.index, state.step));
        if (load.step != kNever) {
            trail.load_step = load.step;
            trail.thread = load.thread;
        }
        const uint32_t last = stores.last_of(replay, read.array, read.index, state.step);
        trail.used = replay.cell(read.array, read.index, last).reads;
        return trail;
    }
};

// Lane loads by the block of every element of row `row` of M, by column, and of column `col` of N, by row.
struct BlockLoads {
    std::vector<uint32_t> m, n;
};
BlockLoads block_loads(const trace::Trace& trace, const BlockIndex& index, const look::Roles& roles,
                       uint64_t row, uint64_t col) {
    BlockLoads loads;
    if (roles.m < 0 || roles.n < 0) return loads;
    const Array& M = trace.arrays[static_cast<size_t>(roles.m)];
    const Array& N = trace.arrays[static_cast<size_t>(roles.n)];
    loads.m.resize(M.cols);
    loads.n.resize(N.rows);
    for (const ptx::Site& site : trace.sites) {
        if (site.kind != ptx::SiteKind::Load || site.id >= index.steps_of_site.size()) continue;
        for (const uint32_t step : index.steps_of_site[site.id]) {
            const uint8_t array = trace.form_of(index.first + step).array;
            if (array != roles.m && array != roles.n) continue;
            const trace::Access access = trace::decode(trace, index.first + step);
            const Array& of = trace.arrays[array];
            const uint64_t width = std::max(of.element_bytes, 1u), cols = std::max(of.cols, 1u);
            for (uint32_t mask = access.mask; mask != 0; mask &= mask - 1) {
                const uint64_t first = access.offset[std::countr_zero(mask)] / width;
                const uint64_t last =
                    (access.offset[std::countr_zero(mask)] + std::max(site.bytes, 1u) - 1) / width;
                for (uint64_t element = first; element <= last; ++element) {
                    if (array == roles.m && element / cols == row) ++loads.m[element % cols];
                    if (array == roles.n && element % cols == col && element / cols < loads.n.size())
                        ++loads.n[element / cols];
                }
            }
        }
    }
    return loads;
}

double expected_of(const trace::Trace& trace, const look::Roles& roles, uint64_t row, uint64_t col) {
    const Array& M = trace.arrays[static_cast<size_t>(roles.m)];
    const Array& N = trace.arrays[static_cast<size_t>(roles.n)];
    double sum = 0;
    for (uint64_t k = 0; k < M.cols && k < N.rows; ++k) {
        sum += double{kernels::input_value(trace.meta.seed, 0, row * M.cols + k)} *
               double{kernels::input_value(trace.meta.seed, 1, k * N.cols + col)};
    }
    return sum;
}

}  // namespace

OutputTrail output_trail(const trace::Trace& trace, const BlockIndex& index, const BlockReplay& replay,
                         uint64_t element) {
    OutputTrail trail;
    trail.element = element;
    const look::Roles roles = look::roles_of(trace);
    if (roles.m < 0 || roles.n < 0 || roles.p < 0) return trail;
    const uint64_t cols = std::max(trace.arrays[static_cast<size_t>(roles.p)].cols, 1u);
    const uint64_t row = element / cols, col = element % cols;
    trail.expected = expected_of(trace, roles, row, col);
    const std::optional<uint32_t> thread = replay.thread_of_output(element);
    if (!thread) return trail;
    trail.here = true;
    trail.thread = *thread;
    const uint32_t warp = *thread / kWarpSize, lane = *thread % kWarpSize;
    if (warp < index.steps_of_warp.size()) {
        for (const uint32_t step : index.steps_of_warp[warp]) {
            const trace::Form& form = trace.form_of(index.first + step);
            if (form.array != roles.p || trace.sites[form.site].kind != ptx::SiteKind::Store) continue;
            if (replay.touched(step, lane).array != roles.p || replay.touched(step, lane).index != element)
                continue;
            trail.store_step = step;
            trail.stored = replay.value(step, lane);
        }
    }

    const BlockLoads loads = block_loads(trace, index, roles, row, col);
    const Trails trails{trace, index, replay, StoreSteps(trace, replay)};
    for (const playback::ProductStep& product : replay.products()) {
        if (product.warp != warp || (product.mask >> lane & 1) == 0) continue;
        if (replay.output_of_sum(*thread, product.result[lane]) != element) continue;
        ProductTrail made;
        made.after_step = product.after_step;
        made.sum = product.sum[lane];
        made.m = trails.factor(product.a[lane], product.a_value[lane], *thread);
        made.n = trails.factor(product.b[lane], product.b_value[lane], *thread);
        // A compiler may write the factors in either order; without an element the cells' order tells.
        const bool known = made.m.array != trace::kNoArray || made.n.array != trace::kNoArray;
        if (known ? made.m.array == roles.n || made.n.array == roles.m
                  : made.m.cell_array > made.n.cell_array)
            std::swap(made.m, made.n);
        const uint32_t read = made.m.read_step != kNever ? made.m.read_step : made.n.read_step;
        made.phase = index.phase_at(read != kNever ? read : product.after_step);
        if (made.m.array == roles.m) {
            const uint64_t m_cols = std::max<uint64_t>(loads.m.size(), 1);
            made.m.loaded = made.m.index / m_cols == row ? loads.m[made.m.index % m_cols] : 0;
        }
        if (made.n.array == roles.n) {
            const uint64_t n_cols = std::max(trace.arrays[static_cast<size_t>(roles.n)].cols, 1u);
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
    return static_cast<size_t>(
        std::upper_bound(trail.products.begin(), trail.products.end(), step,
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
        trail.array = state.source_array;
        trail.index = state.source_index;
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
            const uint64_t width = std::max(trace.arrays[array].element_bytes, 1u);
            uint32_t lanes = 0;
            for (uint32_t mask = access.mask; mask != 0; mask &= mask - 1) {
                const auto lane = static_cast<uint32_t>(std::countr_zero(mask));
                const uint64_t offset = access.offset[lane];
                if (offset / width <= cell && cell <= (offset + std::max(site.bytes, 1u) - 1) / width)
                    lanes |= 1u << lane;
            }
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
    const std::string thread = thread_name(trace.meta, factor.thread);
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
    const std::string name = element_name(trace.arrays[factor.array], factor.index);
    const std::string stale = factor.origin == Origin::Stale ? "stale " : "";
    if (factor.load_step == kNever) return fmt::format("{}{}: {}", stale, name, used);
    const std::string loads = factor.loaded <= 1 ? "loaded once" : "loaded";
    std::string text = fmt::format("{}{}: {} by {} {} {}, {}", stale, name, loads, thread,
                                   phase(factor.load_step), when_text(trace, index, factor.load_step), used);
    if (factor.loaded > 1) text += fmt::format("; {} by this block", times_text(factor.loaded));
    return text;
}

}  // namespace tilescope::step
