// For the tests of figures: results, faults, the selection and the legend, as what texts say of them is
// counted.
#pragma once

#include "tests/gl/figures_faults.h"

namespace tilescope::app {

// --- results and faults

// Elements that the recorded blocks store wrong, by playing them, and the first.
inline std::pair<uint64_t, uint64_t> wrong_elements(const Scene& s) {
    std::map<uint64_t, bool> right;
    for (size_t block = 0; block < s.trace().blocks.size(); ++block) {
        if (s.f.steps(block) == 0) continue;
        const twin::Played& played = s.f.play(block, s.f.steps(block) - 1);
        for (uint32_t step = 0; step < s.f.steps(block); ++step)
            if (const Request& q = s.f.at(block, step); q.kind == kGlobalStore)
                s.f.elements(q, [&](uint32_t lane, uint64_t e) {
                    right[e] = played.sums[q.warp * 32 + lane].value == s.f.expected(e);
                });
    }
    std::erase_if(right, [](const auto& one) { return one.second; });
    return {right.size(), right.empty() ? 0 : right.begin()->first};
}
inline Figures wrong_result(const Scene& s) {
    const auto [wrong, first] = wrong_elements(s);
    return {{wrong, "wrong elements"}, s.name(s.f.number("P"), first)};
}

// --- more of what rules ask

inline const std::string kWavefronts = "# wavefront(s)";

// Rules of verdicts also with the other ways to say what a request costs.
inline std::vector<Rule> with_costs(std::vector<Rule> rules) {
    for (size_t i = rules.size(); i-- > 0;) {
        const std::string said = rules[i].pattern;
        if (!said.starts_with(kLanes)) continue;
        if (said.ends_with(kWavefronts)) rules.push_back({said + " where # would do", rules[i].right});
        if (said.ends_with(kSectors))
            rules.push_back({said.substr(0, said.size() - kSectors.size()) + kSectorsOfRows, rules[i].right});
    }
    return rules;
}

inline uint64_t here(const Scene& s) {  // threads of the block in the request's warp
    return std::min<uint64_t>(s.trace().launch.block.count() - s.r().warp * 32ull, 32);
}
inline std::string of_array(const Scene& s, const std::string& of) {
    return of.empty() ? "" : s.name(s.r().array);
}
inline double row_bytes(const Scene& s) {
    return double{1} * s.of(s.r().array).cols * s.of(s.r().array).element_bytes();
}
inline uint64_t place_spoken_of(const Scene& s) {  // sector of the array, or bank
    return global(s.r()) ? byte_spoken_of(s) / 32 : (s.r().base + byte_spoken_of(s)) / 4 % 32;
}
inline const Pick& pin(const Scene& s) { return s.state.session.pin; }
inline uint64_t element_of_pin(const Scene& s) {
    if (pin(s).kind != Pick::Kind::Thread) return pin(s).index;
    return output_of(s, pin(s).thread).value_or(std::pair<uint8_t, uint64_t>()).second;
}
// The sum of the thread of the pin after a step, and how many products it has.
inline std::pair<std::string, uint64_t> sum_of(const Scene& s, uint32_t step) {
    const auto thread = thread_of_pin(s);
    if (!thread) return {"nobody's", 0};
    const twin::Sum sum = s.f.play(s.cursor.block, step).sums[*thread];
    return {value_words(sum.value), sum.products};
}
inline uint32_t store_step(const Scene& s) {
    const auto stored = s.f.stores(s.cursor.block, pin(s).array, pin(s).index);
    return stored ? stored->second : 0;
}
inline uint32_t last_thread_of_warp(const Scene& s) {
    return static_cast<uint32_t>(
               std::min<uint64_t>(pin(s).warp * 32ull + 32, s.trace().launch.block.count())) -
           1;
}
// "P[0..1,0..15]": the box of what the threads of the pinned warp store last.
inline std::string owned_by_warp(const Scene& s) {
    std::array<std::set<uint64_t>, 3> at;
    uint8_t array = 0;
    for (uint32_t thread = pin(s).warp * 32; thread <= last_thread_of_warp(s); ++thread)
        if (const auto out = output_of(s, thread)) {
            array = out->first;
            const Position p = position_of(s.of(array), static_cast<int64_t>(out->second));
            const int64_t of[] = {p.slice, p.row, p.col};
            for (size_t i = 0; i < 3; ++i) at[i].insert(static_cast<uint64_t>(of[i]));
        }
    if (at[0].empty()) return "nothing";
    std::vector<std::string> box;
    for (size_t i = 3 - std::max<size_t>(s.of(array).rank, 1); i < 3; ++i)
        box.push_back(*at[i].begin() == *at[i].rbegin()
                          ? std::to_string(*at[i].begin())
                          : fmt::format("{}..{}", *at[i].begin(), *at[i].rbegin()));
    return s.name(array) + test::indices_text(box, s.notation());
}
inline std::string stored_by_thread(const Scene& s) {
    const auto thread = thread_of_pin(s);
    const auto out = thread ? output_of(s, *thread) : std::nullopt;
    return out ? s.name(out->first, out->second) : "nothing";
}
// Requests and arrivals of the block, up to a step, of a source line.
inline uint64_t hits(const Scene& s, uint32_t until, uint32_t line) {
    uint64_t count = 0;
    for (uint32_t step = 0; step <= until; ++step) count += s.f.at(s.cursor.block, step).line == line;
    return count;
}
inline uint32_t line_of_pin(const Scene& s) {
    const ptx::Site& site = s.trace().sites[pin(s).site];
    return s.trace().meta.source.empty() ? site.ptx_line : site.line;
}
inline bool pinned_barrier(const Scene& s) {
    return s.trace().sites[pin(s).site].kind == ptx::SiteKind::Barrier;
}
// "M[1,0] into Mds[1,0], N[1,0] into Nds[1,0] and 2 more": what the pin's thread loads from global memory in
// the phase of the step, and where it stores that. What the histogram stores it has computed.
inline std::string loads_in_phase(const Scene& s) {
    const auto thread = thread_of_pin(s);
    if (!thread) return "nothing";
    const twin::Played& whole = s.f.play(s.cursor.block, s.steps() - 1);
    std::vector<std::pair<uint8_t, uint64_t>> loaded;
    std::vector<std::string> said;
    for (uint32_t step = 0; step < s.steps(); ++step) {
        const Request& q = s.f.at(s.cursor.block, step);
        if (q.warp != *thread / 32 || (q.kind != kGlobalLoad && q.kind != kSharedStore) ||
            s.f.phase(s.cursor.block, step) != s.f.phase(s.cursor.block, s.cursor.step))
            continue;
        s.f.elements(q, [&](uint32_t lane, uint64_t e) {
            if (lane != *thread % 32) return;
            if (q.kind == kGlobalLoad) {
                loaded.emplace_back(q.array, e);
                said.push_back(s.name(q.array, e));
            }
            for (const twin::Cell& cell : whole.fillings)
                if (cell.at == std::pair(q.array, e) && cell.step == step && cell.thread == *thread &&
                    s.trace().meta.kernel != "histogram")
                    for (size_t i = 0; i < loaded.size(); ++i)
                        if (loaded[i] == std::pair(cell.source_array, static_cast<uint64_t>(cell.source)))
                            said[i] += " into " + s.name(q.array, e);
        });
    }
    std::string text;
    for (size_t i = 0; i < std::min<size_t>(said.size(), 4); ++i) text += (i > 0 ? ", " : "") + said[i];
    return text + (said.size() > 4 ? fmt::format(" and {} more", said.size() - 4) : "");
}
// The largest magnitude that the block stores to the output.
inline double largest_stored(const Scene& s) {
    const twin::Played& played = s.f.play(s.cursor.block, s.steps() - 1);
    double largest = 0;
    for (uint32_t step = 0; step < s.steps(); ++step)
        if (const Request& q = s.f.at(s.cursor.block, step); q.kind == kGlobalStore)
            s.f.elements(q, [&](uint32_t lane, uint64_t) {
                const double sum = std::abs(played.sums[q.warp * 32 + lane].value);
                if (sum > largest) largest = sum;
            });
    return largest;
}
// What the histogram stores in shared memory it has computed: nothing to hold it against.
inline Figure value_of_pin(const Scene& s) {
    if (pin(s).kind == Pick::Kind::SharedCell && s.trace().meta.kernel == "histogram") return any;
    if (pin(s).kind == Pick::Kind::SharedCell) return value_words(pinned_cell(s).value);
    return value_of(s, pin(s).array, pin(s).index);
}
inline uint64_t bank_of_pin(const Scene& s) {
    return (s.of(pin(s).array).base + pin(s).index * s.of(pin(s).array).element_bytes()) / 4 % 32;
}
inline Loaded loads_of_pin(const Scene& s) { return loads_of(s, pin(s).array, pin(s).index); }
inline twin::Cell cell_named(const Scene& s, const std::string& name) {
    const auto at = s.element(name);
    return at ? cell_of(s, at->first, at->second) : twin::Cell{};
}
inline bool holds_pin(const Scene& s, const std::string& name) {
    const twin::Cell cell = cell_named(s, name);
    return cell.written && cell.source_array == pin(s).array &&
           cell.source == static_cast<int64_t>(pin(s).index);
}
// Requests that read the pinned shared cell since it was stored.
inline uint64_t requests_since(const Scene& s) {
    uint64_t count = 0;
    for (uint32_t step = pinned_cell(s).step; step <= s.cursor.step; ++step) {
        const Request& q = s.f.at(s.cursor.block, step);
        bool reads = false;
        if (q.kind == kSharedLoad && q.array == pin(s).array)
            s.f.elements(q, [&](uint32_t, uint64_t e) { reads = reads || e == pin(s).index; });
        count += reads;
    }
    return count;
}
inline uint64_t most_loads(const Scene& s, uint8_t array) {
    uint64_t most = 0;
    for (const auto& [element, count] : s.f.loads(array)) most = std::max(most, count);
    return most;
}
// How often each element of an input was loaded, where all were equally often; ~0 where not.
inline uint64_t even_loads(const Scene& s, const char* input) {
    const auto all = s.f.loads(s.f.number(input));
    for (const auto& [element, count] : all)
        if (count != all.begin()->second) return ~0ull;
    return all.size() == s.f.array(input).elements() ? all.begin()->second : ~0ull;
}
inline double bytes_so_far(const Scene& s, bool of_global) {
    Tally sum;
    for (const auto kind :
         of_global ? std::array{kGlobalLoad, kGlobalStore} : std::array{kSharedLoad, kSharedStore})
        sum += s.f.so_far(kind, s.cursor.block, s.cursor.step);
    return static_cast<double>(sum.bytes);
}
inline std::string result_words(const Scene& s) {
    const trace::Verification& result = s.trace().meta.result;
    if (!result.checked) return "not checked";
    const auto [wrong, first] = s.f.product() ? wrong_elements(s) : std::pair<uint64_t, uint64_t>();
    if (wrong == 0 && result.verified) return "verified";
    return fmt::format("wrong in {} element{}, the first {}", grouped(wrong), wrong == 1 ? "" : "s",
                       s.name(s.f.number("P"), first));
}
inline bool phase_there(const Scene& s, const std::string& number) {
    const uint64_t p = std::stoull(number);
    return p >= s.first() && p < s.f.phases(s.cursor.block) + s.first();
}
// How often an element of an input was used from each shared cell that it was put into, until that was filled
// again; once where there are no tiles. Of the zeros that stand for elements outside: array kNoArray.
inline std::set<uint64_t> uses_of(const Scene& s, const std::pair<uint8_t, uint64_t>& element) {
    if (!s.f.tiled()) return {1};
    std::set<uint64_t> used;
    for (const twin::Cell& cell : s.f.play(s.cursor.block, s.steps() - 1).fillings)
        if (cell.source_array == element.first &&
            (cell.source < 0 || cell.source == static_cast<int64_t>(element.second)))
            used.insert(cell.reads);
    return used;
}
// {"" or "stale ", element, thread, phase, when, used} and, of one that is loaded more than once, how often.
inline Figures factor(const Scene& s, const Captures& c) {
    const auto at = s.element(c[1]);
    const auto thread = s.thread_named(c[2]);
    if (!at || !thread) return {any, "an element", "a thread"};
    const Loaded loaded = loads_of(s, at->first, at->second);
    bool there = false;  // a load by that thread in that phase at that step
    for (uint32_t step = 0; step < s.steps(); ++step) {
        bool loads = false;
        const Request& q = s.f.at(s.cursor.block, step);
        if (q.kind == kGlobalLoad && q.array == at->first)
            s.f.elements(q, [&](uint32_t lane, uint64_t e) {
                loads = loads || (q.warp * 32 + lane == *thread && e == at->second);
            });
        there = there || (loads && c[4] == s.when(step) && "phase " + c[3] == s.phase(step));
    }
    const bool more = c.size() > 6;
    Figures right{any, any, any, any, any, any};
    if (more) right.emplace_back(loaded.lanes);
    const bool used = uses_of(s, *at).contains(std::stoull(test::without_groups(c[5])));
    right.push_back(must(there && used && more == (loaded.lanes > 1)));
    return right;
}
// {thread, phase, when, used}: a zero that stands for an element outside the matrix.
inline bool zero_stored(const Scene& s, const Captures& c) {
    for (const twin::Cell& cell : s.f.play(s.cursor.block, s.steps() - 1).fillings)
        if (cell.source < 0 && s.thread(cell.thread) == c[0] && s.phase(cell.step) == "phase " + c[1] &&
            s.when(cell.step) == c[2] && cell.reads == std::stoull(test::without_groups(c[3])))
            return true;
    return false;
}

}  // namespace tilescope::app
