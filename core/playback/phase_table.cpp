#include "core/playback/phase_table.h"

#include <algorithm>
#include <bit>
#include <unordered_map>

#include <fmt/format.h>

namespace tilescope::playback {
namespace {

struct LoadEntry {
    uint32_t thread = 0, phase = 0;
    uint8_t array = trace::kNoArray;      // loaded from; kNoArray for a stored constant
    uint8_t stored_to = trace::kNoArray;  // kNoArray for a value that stayed in a register
    std::string text;
};

// The terms of one thread in one phase, by the sum that they went into.
struct Sum {
    simt::Origin chain = 0;
    std::string target, terms;
};

struct Maker {
    const trace::Trace& trace;
    const BlockReplay& replay;
    const analysis::PhaseMap& phases;
    uint32_t steps;
    bool column_first;

    std::string name(uint8_t array, uint64_t index) const {
        return element_name(trace.arrays[array], index, column_first);
    }

    bool is_global_load(const trace::Access& access) const {
        return access.array != trace::kNoArray && trace.arrays[access.array].space == Space::Global &&
               trace.sites[access.site].kind == ptx::SiteKind::Load;
    }

    // All loads of global arrays, then matched with the stores of what they brought, and constants stored.
    std::vector<LoadEntry> loads() const {
        std::vector<LoadEntry> entries;
        std::unordered_map<uint64_t, size_t> entry_of;  // step * 32 + lane
        for (uint32_t step = 0; step < steps; ++step) {
            const trace::Access access = trace::decode(trace, trace.blocks[replay.block()].first + step);
            if (!is_global_load(access)) continue;
            for (uint32_t rest = access.mask; rest != 0; rest &= rest - 1) {
                const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
                const Factor element = replay.touched(step, lane);
                entry_of[uint64_t{step} * kWarpSize + lane] = entries.size();
                entries.push_back({access.warp * kWarpSize + lane, phases.phase[step], element.array,
                                   trace::kNoArray, name(element.array, element.index)});
            }
        }
        for (const BlockReplay::SharedStore& store : replay.shared_stores()) {
            if (store.step >= steps) continue;
            const std::string to = fmt::format(" -> {}", name(store.array, store.index));
            const uint32_t lane = store.thread % kWarpSize;
            if (store.origin != 0 && !(store.origin & simt::kComputed)) {
                const auto loaded = entry_of.find(uint64_t{store.origin - 1} * kWarpSize + lane);
                if (loaded != entry_of.end()) {
                    entries[loaded->second].text += to;
                    entries[loaded->second].stored_to = store.array;
                    continue;
                }
            }
            std::string from = "(computed)";
            if (store.origin == 0)
                from = fmt::format("{:g}", store.value);
            else if (store.source_array != trace::kNoArray)
                from = name(store.source_array, store.source_index);
            entries.push_back(
                {store.thread, phases.phase[store.step], trace::kNoArray, store.array, from + to});
        }
        return entries;
    }

    std::string factor_name(const Factor& factor, float value) const {
        return factor.array == trace::kNoArray ? fmt::format("{:g}", value)
                                               : name(factor.array, factor.index);
    }

    std::string target_of(uint32_t thread, simt::Origin chain) const {
        auto output = replay.output_of_sum(thread, chain);
        if (!output) output = replay.output_of(thread);
        if (!output) return "(no element)";
        const auto is_output = [](const Array& a) { return a.role == ArrayRole::Output; };
        const auto array = std::find_if(trace.arrays.begin(), trace.arrays.end(), is_output);
        return element_name(*array, *output, column_first);
    }

    void add_products(std::vector<std::vector<Sum>>& sums, uint32_t threads) const {
        for (const ProductStep& product : replay.products()) {
            for (uint32_t rest = product.mask; rest != 0; rest &= rest - 1) {
                const auto lane = static_cast<uint32_t>(std::countr_zero(rest));
                Factor a = replay.factor(product.a[lane], product.warp, lane);
                Factor b = replay.factor(product.b[lane], product.warp, lane);
                if (a.array == trace::kNoArray && b.array == trace::kNoArray) continue;
                std::string first = factor_name(a, product.a_value[lane]);
                std::string second = factor_name(b, product.b_value[lane]);
                if (b.array < a.array) std::swap(first, second);
                const uint32_t load = a.array != trace::kNoArray ? a.step : b.step;
                const uint32_t thread = product.warp * kWarpSize + lane;
                if (load >= steps || thread >= threads || phases.phase[load] >= phases.phases) continue;
                std::vector<Sum>& of_phase = sums[size_t{thread} * phases.phases + phases.phase[load]];
                const simt::Origin chain = product.result[lane];
                auto sum = std::find_if(of_phase.begin(), of_phase.end(),
                                        [&](const Sum& s) { return s.chain == chain; });
                if (sum == of_phase.end()) sum = of_phase.insert(sum, {chain, target_of(thread, chain), ""});
                if (!sum->terms.empty()) sum->terms += " + ";
                sum->terms.append(first).append("*").append(second);
            }
        }
    }
};

}  // namespace

std::string element_name(const Array& array, uint64_t index, bool column_first) {
    if (array.cols == 0) return fmt::format("{}[{}]", array.name, index);
    const uint64_t row = index / array.cols, col = index % array.cols;
    return fmt::format("{}[{},{}]", array.name, column_first ? col : row, column_first ? row : col);
}

PhaseTable phase_table(const trace::Trace& trace, const BlockReplay& replay, const analysis::PhaseMap& phases,
                       bool column_first) {
    const trace::Block& block = trace.blocks[replay.block()];
    PhaseTable table{block.x, block.y, phases.phases, column_first, {}};
    const uint32_t threads = trace.meta.block.x * trace.meta.block.y * trace.meta.block.z;
    for (uint32_t thread = 0; thread < threads; ++thread) {
        const uint32_t x = thread % trace.meta.block.x;
        table.rows.push_back({x, thread / trace.meta.block.x, std::vector<TableCell>(phases.phases)});
    }

    const auto steps = static_cast<uint32_t>(
        std::min({uint64_t{replay.steps()}, block.count, uint64_t{phases.phase.size()}}));
    const Maker maker{trace, replay, phases, steps, column_first};
    std::vector<LoadEntry> loads = maker.loads();
    std::stable_sort(loads.begin(), loads.end(), [](const LoadEntry& a, const LoadEntry& b) {
        return std::pair(a.stored_to, a.array) < std::pair(b.stored_to, b.array);
    });
    // Sorted by where the value went: M's tile before N's, whether loaded or filled with zero.
    for (LoadEntry& load : loads)
        if (load.thread < threads && load.phase < phases.phases)
            table.rows[load.thread].phase[load.phase].loads.push_back(std::move(load.text));

    std::vector<std::vector<Sum>> sums(size_t{threads} * phases.phases);  // (thread, phase)
    maker.add_products(sums, threads);
    for (size_t i = 0; i < sums.size(); ++i) {
        std::string& text = table.rows[i / phases.phases].phase[i % phases.phases].multiplies;
        for (const Sum& sum : sums[i])
            text += fmt::format("{}{} += {}", text.empty() ? "" : "; ", sum.target, sum.terms);
    }
    return table;
}

}  // namespace tilescope::playback
