// What a recording holds at one step, counted slowly and plainly from its requests (recording.h) and from its
// block run again: what the sentences of lessons are held against. Nothing here asks the program's own views.
#pragma once

#include <cmath>
#include <regex>
#include <set>
#include <sstream>
#include <tuple>

#include <gtest/gtest.h>

#include "core/playback/replay.h"
#include "core/recording/phases.h"
#include "core/recording/product.h"
#include "kernels/run/record.h"
#include "kernels/textbook/timings.h"
#include "tests/twin/recording.h"

namespace tilescope::twin {

using CellName = std::pair<uint8_t, uint64_t>;  // array, element

// Names of tests/data/lesson_words.txt that are no facts of lessons: 1 for what is so, 0 elsewhere.
inline constexpr const char* kMoreOfAStep[] = {
    "is_load",      "is_shared",   "is_barrier",  "has_clocks",    "in_lockstep",
    "is_whole",     "is_verified", "in_one_row",  "in_one_column", "in_next_banks",
    "side_by_side", "at_last_row", "loads_fewer", "all_came"};

struct LessonFacts {
    // By the names that lessons have for them, and by those of kMoreOfAStep.
    std::map<std::string, uint64_t> number;
    std::map<std::string, std::string> word;   // threads, elements and so on, likewise
    std::map<std::string, std::string> value;  // that lanes bring: "first", "last"
    std::string array;                         // of the request
    bool load = false, shared = false, barrier = false;
    std::vector<uint64_t> element;    // by active lane
    std::set<CellName> stale, zeros;  // those that are marked
};

inline std::shared_ptr<playback::BlockReplay> run_again(const trace::Trace& trace, uint32_t block) {
    auto replay = std::make_shared<playback::BlockReplay>(trace, block);
    auto replayer = kernels::Replayer::of(trace);
    EXPECT_TRUE(replayer && replayer->replay(trace, block, *replay));
    replay->finish();
    return replay;
}

// The elements of P that the block stored and that are not the product of M and N.
inline std::set<uint64_t> wrong_elements(const Recording& f, const playback::BlockReplay& replay) {
    std::map<uint64_t, double> stored;
    for (const auto& store : replay.global_stores()) stored[store.to.index] = number_of(store.value);
    std::set<uint64_t> wrong;
    for (const auto& [element, value] : stored)
        if (value != f.expected(element)) wrong.insert(element);
    return wrong;
}

// Lanes of a tiled kernel's global request that are switched off because their row, or only their column,
// lies outside the matrix.
inline void count_outside(LessonFacts& facts, const Recording& f, const trace::Block& block, const Request& r,
                          uint64_t phase) {
    const Array& array = f.trace.launch.arrays[r.array];
    uint64_t by_row = 0, by_column = 0;
    for (uint32_t lane = 0; lane < 32; ++lane) {
        const uint64_t thread = uint64_t{r.warp} * 32 + lane, x = thread % f.T, y = thread / f.T;
        if (y >= f.T || r.active(lane)) continue;
        const uint64_t row = (array.name == "N" ? phase : block.y) * f.T + y;
        const uint64_t col = (array.name == "M" ? phase : block.x) * f.T + x;
        by_row += row >= array.rows ? 1 : 0;
        by_column += row < array.rows && col >= array.cols ? 1 : 0;
    }
    facts.number["outside_by_row"] = by_row;
    facts.number["outside_by_column"] = by_column;
}

// How its lanes lie in their array.
inline void look_at_lanes(LessonFacts& facts, const Array& array) {
    const std::vector<uint64_t>& all = facts.element;
    const auto each = [&](size_t most, auto holds) {  // behind the first, of each and the one before it
        bool so = true;
        for (size_t lane = 1; lane < std::min(most, all.size()); ++lane)
            so = so && holds(all[lane - 1], all[lane]);
        return so;
    };
    const auto row = [&](uint64_t e) { return e / array.cols; };
    const auto col = [&](uint64_t e) { return e % array.cols; };
    const std::set<uint64_t> different(all.begin(), all.end());
    auto& number = facts.number;
    number["in_one_row"] = each(all.size(), [&](uint64_t a, uint64_t b) { return row(a) == row(b); });
    number["in_next_banks"] =
        facts.shared && each(all.size(), [](uint64_t a, uint64_t b) { return b % 32 == (a + 1) % 32; });
    number["side_by_side"] =
        !different.empty() && *different.rbegin() - *different.begin() + 1 == different.size();
    number["at_last_row"] = !all.empty() && row(all[0]) + 1 == array.rows;
    number["in_one_column"] =
        all.size() > 1 && each(16, [&](uint64_t a, uint64_t b) {  // a row of threads reads down it
            return col(a) == col(b) && row(b) == row(a) + 1;
        });
}

inline void count_request(LessonFacts& facts, const Recording& f, const Request& r) {
    auto& number = facts.number;
    number["row_words"] = 0;
    number["lane_bytes"] = r.bytes;
    if (r.array == trace::kNoArray) return;
    const Array& array = f.trace.launch.arrays[r.array];
    facts.array = array.name;
    facts.shared = array.space == Space::Shared;
    f.elements(r, [&](uint32_t, uint64_t e) { facts.element.push_back(e); });
    look_at_lanes(facts, array);
    number["touched"] = std::set<uint64_t>(facts.element.begin(), facts.element.end()).size();
    number["row_words"] = array.cols * array.element_bytes() / 4;
    if (array.space == Space::Global) {
        number["sectors"] = r.cost;
        number["least_sectors"] = r.least;
        number["fetched"] = r.cost * 32;
        number["used"] = r.global.bytes;
    }
    if (!facts.shared) return;
    number["wavefronts"] = r.cost;
    number["least_wavefronts"] = r.least;
    number["words"] = r.shared.words;
    number["banks"] = r.shared.banks;
    number["bank"] = r.shared.fullest_bank;
}

// Over all blocks: how often elements of M and N were loaded, and what the loads cost.
inline std::map<std::string, uint64_t> count_recording(const Recording& f) {
    std::map<CellName, uint64_t> loaded;
    uint64_t sectors = 0, least_sectors = 0, reads = 0, copied = 0, loads = 0;
    for (uint64_t step = 0; step < f.trace.steps(); ++step) {
        const Request& r = f.decoded(step);
        if (!r.load || r.array == trace::kNoArray || r.space == Space::Const) continue;
        if (r.space == Space::Shared) {
            reads += r.lanes;
            continue;
        }
        sectors += f.at(step).cost, least_sectors += r.least;
        f.elements(r, [&](uint32_t, uint64_t e) {
            ++loaded[{r.array, e}];
            ++loads;
            copied += r.copy ? 1 : 0;  // it has no register to go to
        });
    }
    uint64_t least = UINT64_MAX, most = 0;
    for (const auto& [cell, times] : loaded) least = std::min(least, times), most = std::max(most, times);
    return {{"load_sectors", sectors},   {"least_load_sectors", least_sectors},
            {"shared_reads", reads},     {"copied", copied},
            {"elements", loaded.size()}, {"loads", loads},
            {"least_loads", least},      {"most_loads", most}};
}

// Two recordings are the same question where they hold the same.
struct Held {
    std::shared_ptr<const trace::Trace> trace;
    bool operator==(const Held& other) const {
        const trace::Trace &a = *trace, &b = *other.trace;
        return a.key == b.key && a.base == b.base && a.forms == b.forms && a.irregular == b.irregular &&
               a.meta.ptx == b.meta.ptx && a.launch.arrays == b.launch.arrays;
    }
};
// The same, kept: a lesson comes back to the same accesses at every stop.
inline const std::map<std::string, uint64_t>& counts_of(const Recording& f) {
    static Latest<Held, std::map<std::string, uint64_t>> counts;
    return counts.answer({f.shared()}, [&] { return count_recording(f); });
}

// Who gives to whom in a shuffle: a lane that reads another one has that one's number.
inline void count_exchange(LessonFacts& facts, const Recording& f, const Request& r) {
    if (r.kind != kExchange) return;
    const ptx::Exchange what = f.trace.sites[r.site].exchange;
    uint64_t moved = 0, votes = 0;
    for (uint32_t lane = 0; lane < 32; ++lane) {
        if (!r.active(lane)) continue;
        moved += r.at[lane] < 32 && r.at[lane] != lane && r.active(static_cast<uint32_t>(r.at[lane])) ? 1 : 0;
        votes += r.at[lane] >> lane & 1;
    }
    if (ptx::is_shuffle(what)) {
        facts.number["getter"] = 3;
        facts.number["giver"] = r.at[3] % 32, facts.number["moved"] = moved;
    }
    // Of lessons all lanes of a warp shuffle down: the first one reads as far on as any.
    if (what == ptx::Exchange::ShuffleDown && r.active(0)) facts.number["distance"] = r.at[0];
    if (ptx::is_vote(what)) facts.number["votes"] = votes;
}

// A row of a matrix goes to four lanes, or, where it is transposed, to eight, of which the first is that of its pair.
inline void count_matrices(LessonFacts& facts, const Recording& f, const Request& r) {
    const ptx::Site& site = f.trace.sites[r.site];
    if (!facts.shared || site.matrices == 0) return;
    facts.number["matrices"] = r.lanes / 8;
    facts.number["pointer"] = 5;
    facts.number["receiver"] = site.transposed ? 2 : 20;
}

// Of a step that multiplies matrices, by the text of its instruction: "mma.sync.aligned.m16n8k16.row.col...". Lanes
// hold pairs of sums, and lanes side by side pairs side by side, eight columns a row of lanes.
inline void count_product(LessonFacts& facts, const Recording& f, const Request& r) {
    const ptx::Site& site = f.trace.sites[r.site];
    if (r.kind != kExchange || site.exchange != ptx::Exchange::Multiply) return;
    std::istringstream text(f.trace.meta.ptx);
    std::string line;
    for (uint32_t at = 0; at < site.ptx_line; ++at) std::getline(text, line);
    std::smatch sizes;
    ASSERT_TRUE(std::regex_search(line, sizes, std::regex("m([0-9]+)n([0-9]+)k([0-9]+)"))) << line;
    const uint64_t m = std::stoul(sizes[1]), n = std::stoul(sizes[2]), k = std::stoul(sizes[3]);
    facts.number.insert({{"product_rows", m},
                         {"product_columns", n},
                         {"product_depth", k},
                         {"multiply_adds", m * n * k},
                         {"held", m * n / 32},
                         {"holder", 5},
                         {"held_row", 5 / 4},
                         {"held_column", 5 % 4 * 2}});
}

// Reads of shared memory between a copy and the wait for it. The store of a copy is its warp's next step.
inline void count_meanwhile(LessonFacts& facts, const Recording& f, size_t block, uint32_t here) {
    if (!f.at(block, here).copy) return;
    uint32_t store = here;
    while (f.at(block, store).warp != f.at(block, here).warp || f.at(block, store).kind != kSharedStore)
        ++store;
    uint64_t requests = 0;
    const trace::Arrivals arrivals(f.trace, f.trace.blocks[block]);
    for (uint32_t at = here; at < arrivals.visible_from(store).value_or(0); ++at) {
        const Request& r = f.at(block, at);
        requests += r.load && r.space == Space::Shared ? 1 : 0;
    }
    facts.number["read_meanwhile"] = requests;
}

// Who came to which barrier: a warp's n-th arrival is at the block's n-th barrier.
inline void count_barriers(LessonFacts& facts, const Recording& f, size_t block, uint32_t here) {
    const auto& time = f.trace.time;
    const uint64_t first = f.trace.blocks[block].first;
    std::map<uint32_t, std::vector<uint32_t>> came;  // by barrier: steps
    std::map<uint32_t, uint32_t> by_now;             // barriers that each warp came to
    for (uint32_t step = 0; step < f.steps(block); ++step) {
        if (f.at(block, step).kind != kBarrier) continue;
        came[f.passed(block, step)].push_back(step);
        by_now[f.at(block, step).warp] += step <= here ? 1 : 0;
    }
    facts.number["barriers"] = came.size();
    const uint32_t own =
        by_now[f.at(block, here).warp];  // and every warp came to those that this one has passed
    facts.number["all_came"] =
        own > 0 && std::ranges::all_of(by_now, [&](const auto& of) { return of.second >= own; });
    std::set<std::vector<uint32_t>> orders;
    for (const auto& [barrier, steps] : came) {
        std::vector<uint32_t> order;
        for (const uint32_t step : steps) order.push_back(f.at(block, step).warp);
        orders.insert(order);
        if (!facts.barrier || f.passed(block, here) != barrier) continue;
        const auto arrived = static_cast<uint64_t>(std::ranges::upper_bound(steps, here) - steps.begin());
        facts.number["barrier"] = barrier;
        facts.number["arrived"] = arrived;
        facts.number["awaited"] = steps.size() - arrived;
        if (time.empty()) continue;
        facts.number["first_warp"] = order.front();
        facts.number["last_warp"] = order.back();
        facts.number["first_wait"] = time[first + steps.back()] - time[first + steps[0]];
    }
    if (facts.barrier && !time.empty()) facts.number["orders"] = orders.size();
}

// Copies in bulk and barriers in memory, by the words beside their steps (core/ptx/signal.h): a box is as many elements as
// its map says, a barrier expects the arrivals that it was initialised with, and the bytes that an arrival told it of.
inline void count_ring(LessonFacts& facts, const Recording& f, size_t block, uint32_t here) {
    std::map<uint64_t, uint64_t> arrivals;
    std::set<uint64_t> told;  // barriers that wait for bytes
    for (uint32_t step = 0; step < f.steps(block); ++step) {
        const uint64_t at = f.trace.blocks[block].first + step;
        const trace::Access access = trace::decode(f.trace, at);
        const ptx::Site& site = f.trace.sites[access.site];
        if (site.signal == ptx::Signal::None && site.box != ptx::Box::Tensor) continue;
        const auto lane = static_cast<uint32_t>(std::countr_zero(access.mask));
        const auto words = trace::words_of(f.trace, at, lane);
        if (site.box == ptx::Box::Tensor) {
            const auto copy = trace::tensor_copy(f.trace, words);
            if (step == here && copy)
                facts.number["copy_bytes"] =
                    test::box_elements(copy->map, copy->box).size() * ptx::size_of(copy->map.type);
            continue;
        }
        const uint64_t barrier = access.offset[lane] + f.trace.launch.arrays.at(access.array).base;
        const bool tells = site.signal == ptx::Signal::Arrive && words[1] > 0;
        if (site.signal == ptx::Signal::Init) arrivals[barrier] = words[0];
        if (tells) told.insert(barrier);
        if (step != here) continue;
        facts.array = f.trace.launch.arrays[access.array].name;
        facts.number["arrivals_asked"] = arrivals[barrier];
        if (site.signal != ptx::Signal::Wait) facts.number["bytes_asked"] = tells ? words[1] : 0;
    }
    if (!told.empty()) facts.number["stages"] = told.size();
}

// What the block's shared cells hold, and what comes in its other steps.
inline void count_cells(LessonFacts& facts, const Recording& f, size_t block,
                        const analysis::PhaseMap& phases, const playback::BlockReplay& replay,
                        uint32_t step) {
    const Request& here = f.at(block, step);
    std::map<CellName, const playback::BlockReplay::Store*> latest;
    std::set<CellName> filled, to_fill;
    for (const auto& store : replay.shared_stores()) {
        const CellName cell{store.to.array, store.to.index};
        if (store.step <= step) latest[cell] = &store;
        if (phases.phase[store.step] == phases.phase[step])
            (store.step <= step ? filled : to_fill).insert(cell);
    }
    std::erase_if(to_fill, [&](const CellName& cell) { return filled.contains(cell); });
    facts.number["unfilled"] = to_fill.size();
    std::set<CellName> touched;
    f.elements(here, [&](uint32_t, uint64_t e) { touched.emplace(here.array, e); });
    if (here.kind == kSharedLoad) {
        std::set<uint32_t> lucky;
        f.elements(here, [&](uint32_t lane, uint64_t e) {
            const auto store = latest.find({here.array, e});
            if (store == latest.end()) return;
            const Request& by = f.at(block, store->second->step);
            if (by.warp != here.warp && f.passed(block, store->second->step) == f.passed(block, step))
                lucky.insert(lane);
        });
        facts.number["by_luck"] = lucky.size();
    }
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
        const Request& r = f.at(block, at);
        const bool same_phase = phases.phase[at] == phases.phase[step];
        if (at > step && r.load && r.space == Space::Shared && phases.phase[at] < phases.phase[step])
            reading.insert(r.warp);
        if (same_phase && r.site == here.site) same_site.insert(r.warp);
        if (same_phase && r.kind == kGlobalLoad) ++global[r.warp];
    }
    facts.number["still_reading"] = reading.size();
    facts.number["warps_here"] = same_site.size();
    // Another warp makes more global requests in this phase.
    facts.number["loads_fewer"] =
        std::ranges::any_of(global, [&](const auto& of) { return of.second > global[here.warp]; });
}

// Of the first and of the last active lane: its thread, its element, and what it brings there.
inline void count_lanes(LessonFacts& facts, const Recording& f, const Request& r, uint32_t step,
                        const playback::BlockReplay& replay) {
    if (r.mask == 0) return;
    const auto lowest = static_cast<uint32_t>(std::countr_zero(r.mask)),
               highest = 31 - static_cast<uint32_t>(std::countl_zero(r.mask));
    for (const auto& [before, name, lane] : {std::tuple{"", "first", lowest}, {"last_", "last", highest}}) {
        const uint64_t thread = uint64_t{r.warp} * 32 + lane, T = f.trace.launch.block.x;
        facts.word[std::string(before) + "thread"] =
            "thread[" + std::to_string(thread / T) + "," + std::to_string(thread % T) + "]";
        if (facts.barrier || r.array == trace::kNoArray) continue;
        const Array& array = f.trace.launch.arrays[r.array];
        const uint64_t element = r.at[lane] / size_of(array.type);
        facts.word[std::string(before) + "element"] = array.name + "[" +
                                                      std::to_string(element / array.cols) + "," +
                                                      std::to_string(element % array.cols) + "]";
        std::optional<Value> value;
        if (!facts.shared && facts.load) value = initial_value(array, element);
        for (const auto& store : facts.shared ? replay.shared_stores() : replay.global_stores()) {
            if (store.to.array != r.array || store.to.index != element || store.step > step) continue;
            if (facts.load ? facts.shared : store.step == step) value = store.value;
        }
        if (value) facts.value[name] = value_text(*value, 17);
    }
}

inline std::string rival_of(const trace::Trace& trace) {
    return trace.meta.kernel == "untiled" ? "tiled" : "untiled";
}

// The kernel's speed in per cent of the other's, where both were timed at this size on the recording's
// device.
inline std::optional<uint64_t> speed_of(const trace::Trace& trace, const analysis::Product& of) {
    const trace::Meta& meta = trace.meta;
    double own_ms = 0, rival_ms = 0;
    for (const kernels::Timings& timings : kernels::shipped_timings()) {
        if (timings.device != meta.device || own_ms > 0) continue;
        for (const kernels::Timing& row : timings.rows) {
            if (row.m != of.m || row.k != of.k || row.n != of.n || row.tile != of.tile) continue;
            if (row.kernel == meta.kernel) own_ms = row.median_ms;
            if (row.kernel == rival_of(trace)) rival_ms = row.median_ms;
        }
    }
    if (own_ms <= 0 || rival_ms <= 0) return std::nullopt;
    if (meta.price.plain_ms > 0) own_ms = meta.price.plain_ms;
    return static_cast<uint64_t>(std::llround(100 * rival_ms / own_ms));
}

inline LessonFacts facts_at(const Recording& f, uint32_t block, uint32_t step,
                            const playback::BlockReplay& replay) {
    LessonFacts facts;
    const trace::Trace& trace = f.trace;
    const trace::Block& of = trace.blocks[block];
    const auto rule = analysis::phase_rule(trace);
    const analysis::PhaseMap phases = analysis::phases_of_block(trace, *rule, block);
    const Request& r = f.at(block, step);
    facts.barrier = r.kind == kBarrier;
    facts.load = r.load;
    std::set<uint32_t> seen;
    for (uint32_t i = 0; i < of.count; ++i)
        if (phases.phase[i] != analysis::kAfter) seen.insert(phases.phase[i]);
    const auto product = analysis::product_of(trace);
    const analysis::Product sizes = product.value_or(analysis::Product{});
    const uint64_t threads = trace.launch.block.count(), blocks = trace.launch.grid.count();
    facts.number = {{"m", sizes.m},
                    {"k", sizes.k},
                    {"n", sizes.n},
                    {"products", uint64_t{sizes.m} * sizes.k * sizes.n},
                    {"tile", sizes.tile},
                    {"threads", threads},
                    {"blocks", blocks},
                    {"grid_threads", blocks * threads},
                    {"warps", f.warps()},
                    {"phases", seen.size()},
                    {"last_phase", seen.empty() ? 0 : *seen.rbegin()},
                    {"wrong", trace.meta.result.wrong},
                    {"step", uint64_t{step} + 1},
                    {"line", r.line},
                    {"phase", phases.phase[step]},
                    {"warp", r.warp},
                    {"lanes", r.lanes},
                    {"idle", 32 - r.lanes}};
    if (const auto speed = product ? speed_of(trace, *product) : std::nullopt) facts.number["speed"] = *speed;
    count_exchange(facts, f, r);
    count_product(facts, f, r);
    if (!facts.barrier && r.kind != kExchange && r.kind != kSignal) {
        count_request(facts, f, r);
        count_matrices(facts, f, r);
        if (trace.meta.kernel == "tiled" && !facts.shared) count_outside(facts, f, of, r, phases.phase[step]);
    }
    count_lanes(facts, f, r, step, replay);
    if (product) {  // the most that one thread stores
        std::map<uint32_t, uint64_t> stored;
        for (const auto& store : replay.global_stores()) ++stored[store.thread];
        for (const auto& [thread, elements] : stored)
            facts.number["patch"] = std::max(facts.number["patch"], elements);
    }
    facts.number.insert(counts_of(f).begin(), counts_of(f).end());
    count_meanwhile(facts, f, block, step);
    count_barriers(facts, f, block, step);
    count_ring(facts, f, block, step);
    count_cells(facts, f, block, phases, replay, step);
    facts.number.insert({{"is_load", facts.load},
                         {"is_shared", facts.shared},
                         {"is_barrier", facts.barrier},
                         {"has_clocks", !trace.time.empty()},
                         {"in_lockstep", trace.meta.backend == trace::Backend::Cpu},
                         {"is_whole", trace.meta.complete},
                         {"is_verified", trace.meta.result.verified}});
    for (const char* const name : kMoreOfAStep) facts.number.try_emplace(name, 0);
    facts.word.insert({{"array", facts.array},
                       {"device", trace.meta.device},
                       {"fault", trace.meta.incomplete_reason},
                       {"rival", rival_of(trace)},
                       {"mark_stale", "a notch in the corner (stale value)"},
                       {"mark_zero", "a diagonal stroke (zero fill)"}});
    return facts;
}

}  // namespace tilescope::twin
