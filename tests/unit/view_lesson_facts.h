// What a recording holds at one step, counted slowly and plainly from its decoded accesses and from its block
// run again: what the sentences of lessons are held against. Nothing here asks the program's own views.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "core/analysis/phases.h"
#include "core/analysis/product.h"
#include "core/base/contents.h"
#include "core/playback/replay.h"
#include "kernels/run/record.h"
#include "kernels/textbook/timings.h"

namespace tilescope::app {

using Cell = std::pair<uint8_t, uint64_t>;  // array, element

struct Facts {
    std::map<std::string, uint64_t> number;    // by the names that lessons have for them
    std::map<std::string, std::string> place;  // threads and elements, likewise
    std::map<std::string, std::string> value;  // that lanes bring: "first", "last"
    std::string array;                         // of the request
    bool load = false, shared = false, barrier = false;
    bool all_came = false;          // every warp came to the barriers that this one has passed
    std::vector<uint64_t> element;  // by active lane
    std::vector<std::pair<uint64_t, uint64_t>> row_and_col;  // of those
    std::set<Cell> stale, zeros;                             // those that are marked
    uint64_t rows = 0;                                       // of the array
    uint64_t loads_fewer = 0;  // global requests that other warps make in this phase beyond this one's
};

// Bytes of an element. Local memory is no array, and its words are counted.
inline uint64_t bytes_of(const trace::Trace& trace, uint8_t array) {
    return array == trace::kNoArray ? 4 : trace.launch.arrays[array].element_bytes();
}
// Lane after lane, of a vector access several each.
inline std::vector<Cell> cells_of(const trace::Trace& trace, const trace::Access& access) {
    std::vector<Cell> cells;
    const uint64_t each = bytes_of(trace, access.array);
    for (uint32_t lane = 0; lane < 32; ++lane)
        for (uint64_t at = 0; (access.mask >> lane & 1) != 0 && at < trace.sites[access.site].bytes;
             at += each)
            cells.emplace_back(access.array, (access.offset[lane] + at) / each);
    return cells;
}

// The elements of P that the block stored and that are not the product of M and N.
inline std::set<uint64_t> wrong_elements(const trace::Trace& trace, const playback::BlockReplay& replay) {
    std::map<uint64_t, double> stored;
    for (const auto& store : replay.global_stores()) stored[store.to.index] = number_of(store.value);
    std::set<uint64_t> wrong;
    const auto product = analysis::product_of(trace);
    for (const auto& [element, value] : stored)
        if (value != analysis::expected_element(trace, *product, element)) wrong.insert(element);
    return wrong;
}

inline std::shared_ptr<playback::BlockReplay> run_again(const trace::Trace& trace, uint32_t block) {
    auto replay = std::make_shared<playback::BlockReplay>(trace, block);
    auto replayer = kernels::Replayer::of(trace);
    EXPECT_TRUE(replayer && replayer->replay(trace, block, *replay));
    replay->finish();
    return replay;
}

// Lanes of a tiled kernel's global request that are switched off because their row, or only their column,
// lies outside the matrix.
inline void count_outside(Facts& facts, const trace::Trace& trace, const trace::Block& block,
                          const trace::Access& access, uint64_t phase) {
    const Array& array = trace.launch.arrays[access.array];
    const uint64_t T = trace.launch.block.x;
    uint64_t by_row = 0, by_column = 0;
    for (uint32_t lane = 0; lane < 32; ++lane) {
        const uint64_t thread = uint64_t{access.warp} * 32 + lane, x = thread % T, y = thread / T;
        if (thread >= T * T || (access.mask >> lane & 1) != 0) continue;
        const uint64_t row = (array.name == "N" ? phase : block.y) * T + y;
        const uint64_t col = (array.name == "M" ? phase : block.x) * T + x;
        by_row += row >= array.rows ? 1 : 0;
        by_column += row < array.rows && col >= array.cols ? 1 : 0;
    }
    facts.number["outside_by_row"] = by_row;
    facts.number["outside_by_column"] = by_column;
}

// Shared memory serves as many lanes together as ask for 128 bytes, of a load twice as many where neighbours
// in pairs ask for the same or one of them for nothing: wavefronts, and as many as there are such groups.
inline std::pair<uint64_t, uint64_t> wavefronts_of(const trace::Trace& trace, const trace::Access& access,
                                                   bool load) {
    const uint64_t bytes = trace.sites[access.site].bytes;
    bool alike = load && bytes > 4;
    for (uint32_t lane = 0; lane < 32; lane += 2)
        if ((access.mask >> lane & 3) == 3 && access.offset[lane] != access.offset[lane + 1]) alike = false;
    const auto lanes = static_cast<uint32_t>(bytes <= 4 ? 32 : alike ? 256 / bytes : 128 / bytes);
    std::pair<uint64_t, uint64_t> wavefronts;
    for (uint32_t first = 0; first < 32; first += lanes) {
        std::map<uint64_t, std::set<uint64_t>> banks;
        for (uint32_t lane = first; lane < first + lanes; ++lane)
            for (uint64_t at = 0; (access.mask >> lane & 1) != 0 && at < bytes; at += 4) {
                const uint64_t word = (trace.launch.arrays[access.array].base + access.offset[lane] + at) / 4;
                banks[word % 32].insert(word);
            }
        uint64_t most = 0;
        for (const auto& [bank, words] : banks) most = std::max<uint64_t>(most, words.size());
        wavefronts.first += most;
        wavefronts.second += banks.empty() ? 0 : 1;
    }
    return wavefronts;
}

inline void count_cost(Facts& facts, const trace::Trace& trace, const trace::Access& access) {
    auto& number = facts.number;
    const uint64_t bytes = bytes_of(trace, access.array);
    number["row_words"] = 0;
    number["lane_bytes"] = trace.sites[access.site].bytes;
    if (access.array == trace::kNoArray) return;
    std::set<uint64_t> sectors, words, elements;
    std::map<uint64_t, std::set<uint64_t>> banks;
    for (const auto& [array, element] : cells_of(trace, access)) {
        const uint64_t address = trace.launch.arrays[array].base + element * bytes;
        elements.insert(element);
        sectors.insert(address / 32);
        words.insert(address / 4);
        banks[address / 4 % 32].insert(address / 4);
    }
    number["touched"] = elements.size();
    number["row_words"] = trace.launch.arrays[access.array].cols * bytes / 4;
    if (trace.launch.arrays[access.array].space == Space::Global) {
        number["sectors"] = sectors.size();
        number["least_sectors"] = (elements.size() * bytes + 31) / 32;
        number["fetched"] = sectors.size() * 32;
        number["used"] = elements.size() * bytes;
    }
    if (!facts.shared) return;
    uint64_t most = 0;
    for (const auto& [bank, of] : banks)
        if (of.size() > most) most = of.size(), number["bank"] = bank;
    std::tie(number["wavefronts"], number["least_wavefronts"]) = wavefronts_of(trace, access, facts.load);
    number["words"] = words.size();
    number["banks"] = banks.size();
}

// Over all blocks: how often elements of M and N were loaded, and what the loads cost.
inline void count_recording(Facts& facts, const trace::Trace& trace) {
    std::map<Cell, uint64_t> loaded;
    std::map<std::string, uint64_t> sums = {
        {"load_sectors", 0}, {"least_load_sectors", 0}, {"shared_reads", 0}, {"copied", 0}};
    for (uint64_t step = 0; step < trace.steps(); ++step) {
        const trace::Access access = trace::decode(trace, step);
        if (trace.sites[access.site].kind != ptx::SiteKind::Load || access.array == trace::kNoArray) continue;
        if (trace.launch.arrays[access.array].space == Space::Const) continue;
        Facts one;
        one.shared = trace.launch.arrays[access.array].space == Space::Shared;
        count_cost(one, trace, access);
        if (one.shared) {
            sums["shared_reads"] += static_cast<uint64_t>(std::popcount(access.mask));
            continue;
        }
        // What a cp.async loads has no register to go to.
        if (trace.sites[access.site].copy) sums["copied"] += cells_of(trace, access).size();
        sums["load_sectors"] += one.number["sectors"];
        sums["least_load_sectors"] += one.number["least_sectors"];
        for (const Cell& cell : cells_of(trace, access)) ++loaded[cell];
    }
    facts.number.insert(sums.begin(), sums.end());
    uint64_t least = UINT64_MAX, most = 0, loads = 0;
    for (const auto& [cell, times] : loaded)
        least = std::min(least, times), most = std::max(most, times), loads += times;
    facts.number["elements"] = loaded.size();
    facts.number["loads"] = loads;
    facts.number["least_loads"] = least;
    facts.number["most_loads"] = most;
}

// Reads of shared memory between a copy and the wait for it. The store of a copy is its warp's next step.
inline void count_meanwhile(Facts& facts, const trace::Trace& trace, const trace::Block& block,
                            uint64_t here) {
    if (!trace.sites[trace.form_of(here).site].copy) return;
    uint64_t store = here;
    while (trace.warp_of(store) != trace.warp_of(here) ||
           trace.sites[trace.form_of(store).site].kind != ptx::SiteKind::Store)
        ++store;
    uint64_t requests = 0;
    for (uint64_t at = here; at < block.first + trace::arrival_of(trace, store); ++at) {
        const trace::Form& form = trace.form_of(at);
        if (trace.sites[form.site].kind == ptx::SiteKind::Load && form.space == Space::Shared) ++requests;
    }
    facts.number["read_meanwhile"] = requests;
}

// Who came to which barrier: a warp's n-th arrival is at the block's n-th barrier.
inline void count_barriers(Facts& facts, const trace::Trace& trace, uint64_t first, uint64_t steps,
                           uint64_t here) {
    std::map<uint32_t, uint64_t> passed;
    std::map<uint64_t, std::vector<std::pair<uint32_t, uint64_t>>> came;  // by barrier: warp, step
    for (uint64_t step = first; step < first + steps; ++step)
        if (trace.sites[trace.form_of(step).site].kind == ptx::SiteKind::Barrier)
            came[passed[trace.warp_of(step)]++].emplace_back(trace.warp_of(step), step);
    facts.number["barriers"] = came.size();
    std::map<uint32_t, uint64_t> by_now;  // barriers that each warp came to
    for (const auto& [barrier, arrivals] : came)
        for (const auto& [warp, step] : arrivals) by_now[warp] += step <= here ? 1 : 0;
    facts.all_came = by_now[trace.warp_of(here)] > 0 && std::ranges::all_of(by_now, [&](const auto& of) {
                         return of.second >= by_now[trace.warp_of(here)];
                     });
    std::set<std::vector<uint32_t>> orders;
    for (const auto& [barrier, arrivals] : came) {
        std::vector<uint32_t> order;
        uint64_t arrived = 0;
        for (const auto& [warp, step] : arrivals) order.push_back(warp), arrived += step <= here ? 1 : 0;
        orders.insert(order);
        if (std::ranges::find(arrivals, here, &std::pair<uint32_t, uint64_t>::second) == arrivals.end())
            continue;
        facts.number["barrier"] = barrier;
        facts.number["arrived"] = arrived;
        facts.number["awaited"] = arrivals.size() - arrived;
        if (trace.time.empty()) continue;
        facts.number["first_warp"] = order.front();
        facts.number["last_warp"] = order.back();
        facts.number["first_wait"] = trace.time[arrivals.back().second] - trace.time[arrivals[0].second];
    }
    if (facts.barrier && !trace.time.empty()) facts.number["orders"] = orders.size();
}

// What the block's shared cells hold, and what comes in its other steps.
inline void count_cells(Facts& facts, const trace::Trace& trace, const analysis::PhaseMap& phases,
                        const playback::BlockReplay& replay, uint64_t first, uint32_t step) {
    const trace::Access here = trace::decode(trace, first + step);
    std::map<Cell, const playback::BlockReplay::Store*> latest;
    std::set<Cell> filled, to_fill;
    for (const auto& store : replay.shared_stores()) {
        const Cell cell{store.to.array, store.to.index};
        if (store.step <= step) latest[cell] = &store;
        if (phases.phase[store.step] == phases.phase[step])
            (store.step <= step ? filled : to_fill).insert(cell);
    }
    std::erase_if(to_fill, [&](const Cell& cell) { return filled.contains(cell); });
    facts.number["unfilled"] = to_fill.size();
    std::set<Cell> touched;
    if (!facts.barrier)
        for (const Cell& cell : cells_of(trace, here)) touched.insert(cell);
    uint64_t stale_read = 0, overwritten = 0;
    for (const auto& [cell, store] : latest) {
        const bool old =
            phases.phase[step] != analysis::kAfter && phases.phase[store->step] != phases.phase[step];
        const bool zero = store->source.array == trace::kNoArray && number_of(store->value) == 0;
        overwritten += touched.contains(cell) && phases.phase[store->step] > phases.phase[step] ? 1 : 0;
        if (touched.contains(cell))
            stale_read += old ? 1 : 0;
        else if (zero)
            facts.zeros.insert(cell);
        else if (old)
            facts.stale.insert(cell);
    }
    facts.number["stale"] = facts.stale.size();
    facts.number["zeros"] = facts.zeros.size();
    if (facts.shared && facts.load) {
        facts.number["stale_read"] = stale_read;
        facts.number["overwritten"] = overwritten;
    }

    std::set<uint32_t> reading, same_site;
    std::map<uint32_t, uint64_t> global;
    for (uint32_t at = 0; at < phases.phase.size(); ++at) {
        const trace::Form& form = trace.form_of(first + at);
        const ptx::Site& site = trace.sites[form.site];
        const uint32_t warp = trace.warp_of(first + at);
        const bool same_phase = phases.phase[at] == phases.phase[step];
        if (at > step && site.kind == ptx::SiteKind::Load && form.space == Space::Shared &&
            phases.phase[at] < phases.phase[step])
            reading.insert(warp);
        if (same_phase && form.site == here.site) same_site.insert(warp);
        if (same_phase && site.kind == ptx::SiteKind::Load && form.space == Space::Global) ++global[warp];
    }
    facts.number["still_reading"] = reading.size();
    facts.number["warps_here"] = same_site.size();
    for (const auto& [warp, requests] : global)
        if (requests > global[here.warp])
            facts.loads_fewer = std::max(facts.loads_fewer, requests - global[here.warp]);
}

// Of the first and of the last active lane: its thread, its element, and what it brings there.
inline void count_lanes(Facts& facts, const trace::Trace& trace, const trace::Access& access, uint32_t step,
                        const playback::BlockReplay& replay) {
    uint32_t first = 32, last = 0;
    for (uint32_t lane = 0; lane < 32; ++lane)
        if ((access.mask >> lane & 1) != 0) first = std::min(first, lane), last = lane;
    if (first == 32) return;
    for (const auto& [before, name, lane] : {std::tuple{"", "first", first}, {"last_", "last", last}}) {
        const uint64_t thread = uint64_t{access.warp} * 32 + lane, T = trace.launch.block.x;
        facts.place[std::string(before) + "thread"] =
            "thread[" + std::to_string(thread / T) + "," + std::to_string(thread % T) + "]";
        if (facts.barrier || access.array == trace::kNoArray) continue;
        const Array& array = trace.launch.arrays[access.array];
        const uint64_t element = access.offset[lane] / size_of(array.type);
        facts.place[std::string(before) + "element"] = array.name + "[" +
                                                       std::to_string(element / array.cols) + "," +
                                                       std::to_string(element % array.cols) + "]";
        std::optional<Value> value;
        if (!facts.shared && facts.load) value = initial_value(array, element);
        for (const auto& store : facts.shared ? replay.shared_stores() : replay.global_stores()) {
            if (store.to.array != access.array || store.to.index != element || store.step > step) continue;
            if (facts.load ? facts.shared : store.step == step) value = store.value;
        }
        if (value) facts.value[name] = value_text(*value, 17);
    }
}

// The kernel's speed in per cent of the other's, where both were timed at this size on the recording's
// device.
inline std::optional<uint64_t> speed_of(const trace::Trace& trace, const analysis::Product& product) {
    const std::string rival = trace.meta.kernel == "untiled" ? "tiled" : "untiled";
    double own_ms = 0, rival_ms = 0;
    for (const kernels::Timings& timings : kernels::shipped_timings()) {
        if (timings.device != trace.meta.device || own_ms > 0) continue;
        for (const kernels::Timing& row : timings.rows) {
            const bool size = row.m == product.m && row.k == product.k && row.n == product.n;
            if (!size || row.tile != product.tile) continue;
            if (row.kernel == trace.meta.kernel) own_ms = row.median_ms;
            if (row.kernel == rival) rival_ms = row.median_ms;
        }
    }
    if (own_ms <= 0 || rival_ms <= 0) return std::nullopt;
    if (trace.meta.price.plain_ms > 0) own_ms = trace.meta.price.plain_ms;
    return static_cast<uint64_t>(std::llround(100 * rival_ms / own_ms));
}

inline Facts facts_at(const trace::Trace& trace, uint32_t block, uint32_t step,
                      const playback::BlockReplay& replay) {
    Facts facts;
    const trace::Block& of = trace.blocks[block];
    const uint64_t at = of.first + step;
    const auto rule = analysis::phase_rule(trace);
    const analysis::PhaseMap phases = analysis::phases_of_block(trace, *rule, block);
    const trace::Access access = trace::decode(trace, at);
    const ptx::Site& site = trace.sites[access.site];
    const auto product = analysis::product_of(trace);
    facts.barrier = site.kind == ptx::SiteKind::Barrier;
    facts.load = site.kind == ptx::SiteKind::Load;
    std::set<uint32_t> seen;
    for (uint32_t i = 0; i < of.count; ++i)
        if (phases.phase[i] != analysis::kAfter) seen.insert(phases.phase[i]);
    const auto lanes = static_cast<uint64_t>(std::popcount(access.mask));
    facts.number = {{"m", product ? product->m : 0},
                    {"k", product ? product->k : 0},
                    {"n", product ? product->n : 0},
                    {"products", product ? uint64_t{product->m} * product->k * product->n : 0},
                    {"tile", product ? product->tile : 0},
                    {"threads", trace.launch.block.count()},
                    {"blocks", trace.launch.grid.count()},
                    {"grid_threads", trace.launch.grid.count() * trace.launch.block.count()},
                    {"warps", (trace.launch.block.count() + 31) / 32},
                    {"phases", seen.size()},
                    {"last_phase", seen.empty() ? 0 : *seen.rbegin()},
                    {"wrong", trace.meta.result.wrong},
                    {"step", uint64_t{step} + 1},
                    {"line", site.line},
                    {"phase", phases.phase[step]},
                    {"warp", access.warp},
                    {"lanes", lanes},
                    {"idle", 32 - lanes}};
    if (const auto speed = product ? speed_of(trace, *product) : std::nullopt) facts.number["speed"] = *speed;
    if (!facts.barrier) {
        if (access.array != trace::kNoArray) {
            const Array& array = trace.launch.arrays[access.array];
            facts.array = array.name;
            facts.rows = array.rows;
            facts.shared = array.space == Space::Shared;
            for (const Cell& cell : cells_of(trace, access)) {
                facts.element.push_back(cell.second);
                facts.row_and_col.emplace_back(cell.second / array.cols, cell.second % array.cols);
            }
        }
        count_cost(facts, trace, access);
        if (trace.meta.kernel == "tiled" && !facts.shared)
            count_outside(facts, trace, of, access, phases.phase[step]);
    }
    count_lanes(facts, trace, access, step, replay);
    if (product) {  // the most that one thread stores
        std::map<uint32_t, uint64_t> stored;
        for (const auto& store : replay.global_stores()) ++stored[store.thread];
        for (const auto& [thread, elements] : stored)
            facts.number["patch"] = std::max(facts.number["patch"], elements);
    }
    count_recording(facts, trace);
    count_meanwhile(facts, trace, of, at);
    count_barriers(facts, trace, of.first, of.count, at);
    count_cells(facts, trace, phases, replay, of.first, step);
    return facts;
}

}  // namespace tilescope::app
