#include "core/playback/phase_table.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

namespace tilescope::playback {
namespace {

struct Maker {
    const trace::Trace& trace;
    const BlockReplay& replay;
    const analysis::PhaseMap& phases;
    const TableWindow window;
    const uint32_t steps = static_cast<uint32_t>(std::min(
        {uint64_t{replay.steps()}, trace.blocks[replay.block()].count, uint64_t{phases.phase.size()}}));
    const uint32_t threads = static_cast<uint32_t>(trace.launch.block.count());

    bool wanted(uint32_t thread, uint32_t phase) const {
        return thread < threads && phase < phases.phases && window.has(thread, phase);
    }
    bool wanted_warp(uint32_t warp) const {
        const uint64_t first = uint64_t{warp} * kWarpSize;
        return first < window.end_thread && first + kWarpSize > window.first_thread;
    }
    bool is_global_load(uint64_t at) const {
        const trace::Form& form = trace.form_of(at);
        return form.array != trace::kNoArray && trace.launch.arrays[form.array].space == Space::Global &&
               trace.sites[form.site].kind == ptx::SiteKind::Load;
    }

    // Whether the store put a whole member of a struct there, and this is not the member's first element.
    bool goes_on(const BlockReplay::Store& store) const {
        const Array& array = trace.launch.arrays[store.to.array];
        if (!goes_on_member(array, store.to.index)) return false;
        const Member& member = *member_of(array, store.to.index);
        const uint32_t into =
            struct_place(array, static_cast<int64_t>(store.to.index)).offset - member.offset;
        const uint64_t first = store.to.index - into / array.element_bytes();
        const CellState state = replay.cell(store.to.array, first, store.step);
        return state.step == store.step && state.thread == store.thread;
    }

    // All loads of global arrays, then matched with the stores of what they brought, and constants stored.
    std::vector<LoadedInPhase> loads() const {
        std::vector<LoadedInPhase> entries;
        std::map<std::tuple<uint32_t, uint32_t, uint64_t>, size_t> entry_of;  // by step, lane and element
        const uint64_t first = trace.blocks[replay.block()].first;
        for (uint32_t step = 0; step < steps; ++step) {
            if (!wanted_warp(trace.warp_of(first + step)) || !is_global_load(first + step)) continue;
            // What is copied in bulk is told by what it stores, below.
            if (trace.sites[trace.form_of(first + step).site].box != ptx::Box::None) continue;
            const trace::Access access = trace::decode(trace, first + step);
            for_lanes(access.mask, [&](uint32_t lane) {
                const uint32_t thread = access.warp * kWarpSize + lane;
                if (!wanted(thread, phases.phase[step])) return;
                const Array& array = trace.launch.arrays[access.array];
                const uint32_t width = array.element_bytes();
                for (uint32_t part = 0; part < std::max(trace.sites[access.site].bytes / width, 1u); ++part) {
                    const Factor touched = replay.touched(step, lane, part);
                    if (part > 0 && goes_on_member(array, touched.element.index)) continue;
                    entry_of[{step, lane, touched.element.index}] = entries.size();
                    entries.push_back(
                        {thread, phases.phase[step], touched.element, false, touched.value, step, {}, 1, {}});
                }
            });
        }
        for (const BlockReplay::Store& store : replay.shared_stores()) {
            if (store.step >= steps || !wanted_warp(store.thread / kWarpSize) || goes_on(store)) continue;
            const uint32_t lane = store.thread % kWarpSize;
            if (const Factor from = replay.loaded(store);
                from.known() && from.step < steps && is_global_load(first + from.step)) {
                const auto loaded = entry_of.find({from.step, lane, from.element.index});
                if (loaded != entry_of.end()) entries[loaded->second].to.push_back({store.to, store.step});
                if (loaded != entry_of.end() || !wanted(store.thread, phases.phase[from.step])) continue;
            }
            if (!wanted(store.thread, phases.phase[store.step])) continue;
            if (trace.sites[trace.form_of(first + store.step).site].box != ptx::Box::None &&
                !entries.empty()) {
                LoadedInPhase& before = entries.back();
                if (before.thread == store.thread && before.to.size() == 1 &&
                    before.to.front().step == store.step && before.from.array == store.source.array &&
                    before.to.front().cell.array == store.to.array) {
                    ++before.elements;
                    before.last_from = store.source;
                    continue;
                }
            }
            const bool computed = store.origin != 0 && store.source.array == trace::kNoArray;
            entries.push_back({store.thread,
                               phases.phase[store.step],
                               store.origin == 0 ? Element{} : store.source,
                               computed,
                               store.value,
                               kNever,
                               {{store.to, store.step}},
                               1,
                               {}});
        }
        // By where the value went, whether loaded or filled with zero: the arrays' order.
        const auto order = [](const LoadedInPhase& load) {
            return std::pair(load.to.empty() ? trace::kNoArray : load.to.back().cell.array, load.from.array);
        };
        std::ranges::stable_sort(entries, {}, order);
        return entries;
    }

    std::vector<SummedInPhase> sums() const {
        std::vector<SummedInPhase> all;
        std::map<std::tuple<uint32_t, uint32_t, simt::Origin>, size_t> sum_of;  // by thread, phase and chain
        for (const MultiplyStep& product : replay.products()) {
            if (!wanted_warp(product.warp)) continue;
            for_lanes(product.mask, [&](uint32_t lane) {
                Factor a = replay.factor(product.a[lane], lane), b = replay.factor(product.b[lane], lane);
                if (!a.known() && !b.known()) return;
                const uint32_t load = a.known() ? a.step : b.step;
                const uint32_t thread = product.warp * kWarpSize + lane;
                if (load >= steps || !wanted(thread, phases.phase[load])) return;
                a.value = {product.factor_type, product.a_value[lane]};
                b.value = {product.factor_type, product.b_value[lane]};
                if (b.element.array < a.element.array) std::swap(a, b);
                const simt::Origin chain = product.result[lane];
                const auto [at, added] = sum_of.try_emplace({thread, phases.phase[load], chain}, all.size());
                if (added) {
                    auto target = replay.output_of_sum(thread, chain);
                    if (!target) target = replay.output_of(thread);
                    all.push_back({thread, phases.phase[load], chain, target, {}});
                }
                all[at->second].terms.push_back(
                    {a, b, {product.sum_type, product.sum[lane]}, product.after_step});
            });
        }
        return all;
    }

    std::vector<MatrixProductInPhase> matrices() const {
        std::vector<MatrixProductInPhase> all;
        const uint64_t first = trace.blocks[replay.block()].first;
        for (uint32_t step = 0; step < steps; ++step) {
            const trace::Form& form = trace.form_of(first + step);
            const uint32_t warp = trace.warp_of(first + step);
            if (trace.sites[form.site].exchange != ptx::Exchange::Multiply || !wanted_warp(warp)) continue;
            for_lanes(form.mask, [&](uint32_t lane) {
                const uint32_t thread = warp * kWarpSize + lane;
                if (wanted(thread, phases.phase[step])) all.push_back({thread, phases.phase[step], step});
            });
        }
        return all;
    }

    // Stores behind the loop count to the last phase.
    std::vector<StoredInPhase> stores() const {
        std::vector<StoredInPhase> all;
        for (const BlockReplay::Store& store : replay.global_stores()) {
            if (store.step >= steps || phases.phases == 0 || goes_on(store)) continue;
            const uint32_t phase = std::min(phases.phase[store.step], phases.phases - 1);
            if (wanted(store.thread, phase))
                all.push_back({store.thread, phase, store.step, store.to, store.value});
        }
        return all;
    }
};

// The work in words.
struct WorkWords {
    const trace::Trace& trace;
    const Notation& notation;

    std::string name(const Element& element) const {
        return element_name(trace.launch.arrays[element.array], static_cast<int64_t>(element.index),
                            notation);
    }
    std::string text(const LoadedInPhase& load) const {
        std::string text = load.from.array != trace::kNoArray ? name(load.from)
                           : load.computed                    ? "(computed)"
                                                              : value_text(load.value);
        if (load.elements > 1) {
            if (load.from.array != trace::kNoArray) text += " to " + name(load.last_from);
            return text + " -> " + name(load.to.front().cell) + " on";
        }
        for (const LoadedInPhase::Stored& stored : load.to) text += " -> " + name(stored.cell);
        return text;
    }
    std::string text(const Factor& factor) const {
        return factor.known() ? name(factor.element) : value_text(factor.value);
    }
    std::string text(const SummedInPhase& sum) const {
        std::string text = (sum.target ? name(*sum.target) : "(no element)") + " += ";
        for (const SummedInPhase::Addend& term : sum.terms) {
            if (&term != &sum.terms.front()) text += " + ";
            text += this->text(term.a) + "*" + this->text(term.b);
        }
        return text;
    }
};

}  // namespace

uint64_t table_bytes(const trace::Trace& trace, const analysis::PhaseMap& phases) {
    return trace.launch.block.count() * phases.phases * (sizeof(TableCell) + sizeof(SummedInPhase));
}

PhaseWork phase_work(const trace::Trace& trace, const BlockReplay& replay, const analysis::PhaseMap& phases,
                     const TableWindow& window) {
    const Maker maker{trace, replay, phases, window};
    return {maker.loads(), maker.sums(), maker.stores(), maker.matrices()};
}

PhaseTable phase_table(const analysis::Recording& recording, const BlockReplay& replay,
                       const analysis::PhaseMap& phases) {
    const trace::Trace& trace = *recording.trace;
    const Notation& notation = recording.notation;
    const trace::Block& block = trace.blocks[replay.block()];
    const Dim3& size = trace.launch.block;
    PhaseTable table{
        block.x,  block.y, block.z, trace.launch.grid, phases.phases, recording.product.has_value(),
        notation, {}};
    const auto threads = static_cast<uint32_t>(size.count());
    for (uint32_t thread = 0; thread < threads; ++thread) {
        table.rows.push_back({thread % size.x, thread / size.x % size.y, thread / size.x / size.y,
                              thread_index(size, thread, notation), std::vector<TableCell>(phases.phases)});
    }

    const PhaseWork work = phase_work(trace, replay, phases);
    const WorkWords words{trace, notation};
    const auto add = [](std::string& text, const std::string& more) {
        text += (text.empty() ? "" : "; ") + more;
    };
    for (const LoadedInPhase& load : work.loads)
        table.rows[load.thread].phase[load.phase].loads.push_back(words.text(load));
    std::map<std::pair<uint32_t, uint32_t>, size_t> matrices;  // by thread and phase
    for (const MatrixProductInPhase& made : work.matrices) ++matrices[{made.thread, made.phase}];
    for (const auto& [at, count] : matrices)
        table.rows[at.first].phase[at.second].multiplies = counted(count, "product") + " of matrices";
    for (const SummedInPhase& sum : work.sums)
        add(table.rows[sum.thread].phase[sum.phase].multiplies, words.text(sum));
    if (table.product) return table;
    for (const StoredInPhase& store : work.stores)
        add(table.rows[store.thread].phase[store.phase].multiplies,
            fmt::format("{} = {}", words.name(store.to), value_text(store.value)));
    return table;
}

}  // namespace tilescope::playback
