#include "core/playback/phase_table.h"

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "core/analysis/product.h"

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
    const Notation& notation;

    std::string name(uint8_t array, uint64_t index) const {
        return element_name(trace.launch.arrays[array], static_cast<int64_t>(index), notation);
    }
    std::string name(Element element) const { return name(element.array, element.index); }

    bool is_global_load(const trace::Access& access) const {
        return access.array != trace::kNoArray && trace.launch.arrays[access.array].space == Space::Global &&
               trace.sites[access.site].kind == ptx::SiteKind::Load;
    }

    // All loads of global arrays, then matched with the stores of what they brought, and constants stored.
    std::vector<LoadEntry> loads() const {
        std::vector<LoadEntry> entries;
        std::map<std::tuple<uint32_t, uint32_t, uint64_t>, size_t> entry_of;  // by step, lane and element
        for (uint32_t step = 0; step < steps; ++step) {
            const trace::Access access = trace::decode(trace, trace.blocks[replay.block()].first + step);
            if (!is_global_load(access)) continue;
            for_lanes(access.mask, [&](uint32_t lane) {
                const uint32_t width = trace.launch.arrays[access.array].element_bytes();
                for (uint32_t part = 0; part < std::max(trace.sites[access.site].bytes / width, 1u); ++part) {
                    const Element element = replay.touched(step, lane, part).element;
                    entry_of[{step, lane, element.index}] = entries.size();
                    entries.push_back({access.warp * kWarpSize + lane, phases.phase[step], element.array,
                                       trace::kNoArray, name(element)});
                }
            });
        }
        for (const BlockReplay::Store& store : replay.shared_stores()) {
            if (store.step >= steps) continue;
            const std::string to = fmt::format(" -> {}", name(store.to));
            const uint32_t lane = store.thread % kWarpSize;
            if (const Factor from = replay.factor(store.origin, lane); from.known()) {
                const auto loaded = entry_of.find({from.step, lane, from.element.index});
                if (loaded != entry_of.end()) {
                    entries[loaded->second].text += to;
                    entries[loaded->second].stored_to = store.to.array;
                    continue;
                }
            }
            std::string from = "(computed)";
            if (store.origin == 0)
                from = value_text(store.value);
            else if (store.source.array != trace::kNoArray)
                from = name(store.source);
            entries.push_back(
                {store.thread, phases.phase[store.step], trace::kNoArray, store.to.array, from + to});
        }
        return entries;
    }

    std::string factor_name(const Factor& factor, Value value) const {
        return factor.known() ? name(factor.element) : value_text(value);
    }

    std::string target_of(uint32_t thread, simt::Origin chain) const {
        auto output = replay.output_of_sum(thread, chain);
        if (!output) output = replay.output_of(thread);
        return output ? name(*output) : "(no element)";
    }

    void add_products(std::vector<std::vector<Sum>>& sums, uint32_t threads) const {
        for (const MultiplyStep& product : replay.products()) {
            for_lanes(
                product.mask,
                [&](uint32_t lane) {
                    const Factor a = replay.factor(product.a[lane], lane),
                                 b = replay.factor(product.b[lane], lane);
                    if (!a.known() && !b.known()) return;
                    std::string first = factor_name(a, {product.factor_type, product.a_value[lane]});
                    std::string second = factor_name(b, {product.factor_type, product.b_value[lane]});
                    if (b.element.array < a.element.array) std::swap(first, second);
                    const uint32_t load = a.known() ? a.step : b.step;
                    const uint32_t thread = product.warp * kWarpSize + lane;
                    if (load >= steps || thread >= threads || phases.phase[load] >= phases.phases) return;
                    std::vector<Sum>& of_phase = sums[size_t{thread} * phases.phases + phases.phase[load]];
                    const simt::Origin chain = product.result[lane];
                    auto sum = std::find_if(
                        of_phase.begin(), of_phase.end(), [&](const Sum& s) { return s.chain == chain; });
                    if (sum == of_phase.end())
                        sum = of_phase.insert(sum, {chain, target_of(thread, chain), ""});
                    if (!sum->terms.empty()) sum->terms += " + ";
                    sum->terms.append(first).append("*").append(second);
                });
        }
    }

    // What a launch that is no product stores: "c[5] = 3.5". Behind the loop counts to the last phase.
    void add_stores(PhaseTable& table) const {
        for (const BlockReplay::Store& store : replay.global_stores()) {
            if (store.step >= steps || store.thread >= table.rows.size() || phases.phases == 0) continue;
            const uint32_t phase = std::min(phases.phase[store.step], phases.phases - 1);
            std::string& text = table.rows[store.thread].phase[phase].multiplies;
            text +=
                fmt::format("{}{} = {}", text.empty() ? "" : "; ", name(store.to), value_text(store.value));
        }
    }
};

}  // namespace

uint64_t table_bytes(const trace::Trace& trace, const analysis::PhaseMap& phases) {
    return trace.launch.block.count() * phases.phases * (sizeof(TableCell) + sizeof(std::vector<Sum>));
}

PhaseTable phase_table(const trace::Trace& trace, const BlockReplay& replay, const analysis::PhaseMap& phases,
                       const Notation& notation) {
    const trace::Block& block = trace.blocks[replay.block()];
    const Dim3& size = trace.launch.block;
    PhaseTable table{
        block.x,  block.y, block.z, trace.launch.grid, phases.phases, analysis::product_of(trace).has_value(),
        notation, {}};
    const auto threads = static_cast<uint32_t>(size.count());
    for (uint32_t thread = 0; thread < threads; ++thread) {
        table.rows.push_back({thread % size.x, thread / size.x % size.y, thread / size.x / size.y,
                              thread_index(size, thread, notation), std::vector<TableCell>(phases.phases)});
    }

    const auto steps = static_cast<uint32_t>(
        std::min({uint64_t{replay.steps()}, block.count, uint64_t{phases.phase.size()}}));
    const Maker maker{trace, replay, phases, steps, notation};
    std::vector<LoadEntry> loads = maker.loads();
    // By where the value went, whether loaded or filled with zero: the arrays' order.
    std::stable_sort(loads.begin(), loads.end(), [](const LoadEntry& a, const LoadEntry& b) {
        return std::pair(a.stored_to, a.array) < std::pair(b.stored_to, b.array);
    });
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
    if (!table.product) maker.add_stores(table);
    return table;
}

}  // namespace tilescope::playback
