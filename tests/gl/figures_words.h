// For the tests of figures: results, faults, the selection and the legend, as what texts say of them is
// counted.
#pragma once

#include "tests/gl/figures_scene.h"

namespace tilescope::app {

// --- results and faults

// Elements that the recorded blocks store wrong, by playing them, and the first.
inline std::pair<uint64_t, uint64_t> wrong_elements(const Scene& s) {
    std::map<uint64_t, bool> right;
    for (size_t block = 0; block < s.trace().blocks.size(); ++block) {
        if (s.f.steps(block) == 0) continue;
        const test::Played played = s.f.play(block, s.f.steps(block) - 1);
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

// An access of a thread to a cell, as a fault names it.
inline bool accessed(const Scene& s, const std::string& cell, const std::string& thread, bool store,
                     uint64_t line, const std::string& phase, uint32_t* interval = nullptr) {
    const auto e = s.element(cell);
    const auto t = s.thread_named(thread);
    for (uint32_t step = 0; e && t && step < s.steps(); ++step) {
        const Request& q = s.f.at(s.cursor.block, step);
        if (q.array != e->first || q.warp != *t / 32 || !q.active(*t % 32) || q.line != line) continue;
        if (store != (q.kind == kSharedStore || q.kind == kGlobalStore)) continue;
        bool here = false;
        s.f.elements(
            q, [&](uint32_t lane, uint64_t of) { here = here || (lane == *t % 32 && of == e->second); });
        if (!here || "phase " + phase != s.phase(step)) continue;
        if (interval != nullptr) *interval = s.f.passed(s.cursor.block, step);
        return true;
    }
    return false;
}
// Two accesses to one cell in one barrier interval, one of them a store.
inline bool race(const Scene& s, const std::string& cell, const std::string& a, const std::string& a_line,
                 const std::string& a_phase, const std::string& b, const std::string& verb,
                 const std::string& b_line, const std::string& b_phase, bool one_warp) {
    uint32_t one = 0, two = 1;
    const auto x = s.thread_named(a), y = s.thread_named(b);
    return accessed(s, cell, a, true, std::stoul(a_line), a_phase, &one) &&
           accessed(s, cell, b, verb == "stores", std::stoul(b_line), b_phase, &two) && one == two && x &&
           y && x != y && (*x / 32 == *y / 32) == one_warp;
}

// --- more of what rules ask

inline const std::string kWavefronts = "# wavefront(s)";

// Rules of wavefronts also where there are more than the least.
inline std::vector<Rule> with_conflicts(std::vector<Rule> rules) {
    for (size_t i = rules.size(); i-- > 0;)
        if (rules[i].pattern.starts_with(kLanes) && rules[i].pattern.ends_with(kWavefronts))
            rules.push_back({rules[i].pattern + " where # would do", rules[i].right});
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
    const test::Sum sum = s.f.play(s.cursor.block, step).sums[*thread];
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
// Requests of the block, up to a step, of a source line, or of the pinned site alone.
inline uint64_t hits(const Scene& s, uint32_t until, uint32_t line, std::optional<uint32_t> site = {}) {
    uint64_t count = 0;
    for (uint32_t step = 0; step <= until; ++step) {
        const Request& q = s.f.at(s.cursor.block, step);
        count += site ? q.site == *site : q.line == line;
    }
    return count;
}
inline uint32_t line_of_pin(const Scene& s) {
    const ptx::Site& site = s.trace().sites[pin(s).site];
    return s.trace().meta.source.empty() ? site.ptx_line : site.line;
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
inline test::Cell cell_named(const Scene& s, const std::string& name) {
    const auto at = s.element(name);
    return at ? cell_of(s, at->first, at->second) : test::Cell{};
}
inline bool holds_pin(const Scene& s, const std::string& name) {
    const test::Cell cell = cell_named(s, name);
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
    for (const test::Cell& cell : s.f.play(s.cursor.block, s.steps() - 1).fillings)
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
    for (const test::Cell& cell : s.f.play(s.cursor.block, s.steps() - 1).fillings)
        if (cell.source < 0 && s.thread(cell.thread) == c[0] && s.phase(cell.step) == "phase " + c[1] &&
            s.when(cell.step) == c[2] && cell.reads == std::stoull(test::without_groups(c[3])))
            return true;
    return false;
}

// Accesses to shared cells at fault, of which the last is the step shown: races, stale loads, loads of what
// was never stored.
inline uint64_t races_ending_here(const Scene& s) {
    struct Access {
        uint32_t thread = 0, step = 0;
        bool store = false;
    };
    uint64_t cells = 0;
    std::map<std::tuple<uint32_t, uint8_t, uint64_t>, std::vector<Access>> all;  // by interval and cell
    for (uint32_t step = 0; step < s.steps(); ++step) {
        const Request& q = s.f.at(s.cursor.block, step);
        if (q.kind == kSharedLoad || q.kind == kSharedStore)
            s.f.elements(q, [&](uint32_t lane, uint64_t e) {
                all[{s.f.passed(s.cursor.block, step), q.array, e}].push_back(
                    {q.warp * 32 + lane, step, q.kind == kSharedStore});
            });
    }
    for (const auto& [where, accesses] : all) {
        uint32_t last = 0;
        bool found = false;
        for (const Access& a : accesses)
            for (const Access& b : accesses)
                if (a.thread != b.thread && (a.store || b.store))
                    found = true, last = std::max({last, a.step, b.step});
        cells += found && last == s.cursor.step;
    }
    return cells;
}
// A load of the block at a step finds the cell filled in an earlier phase, or never.
inline uint64_t stale_loads_ending_here(const Scene& s, bool filled) {
    std::set<uint64_t> cells;
    s.f.elements(s.r(), [&](uint32_t, uint64_t e) {
        const test::Cell cell = cell_of(s, s.r().array, e);
        if (cell.written == filled && (!filled || stale(s, cell))) cells.insert(e);
    });
    uint64_t last = 0;  // of those that no later step of the same interval loads again
    for (const uint64_t e : cells) {
        bool again = false;
        for (uint32_t step = s.cursor.step + 1; step < s.steps(); ++step)
            if (const Request& q = s.f.at(s.cursor.block, step);
                q.kind == kSharedLoad && q.array == s.r().array &&
                s.f.passed(s.cursor.block, step) == s.f.passed(s.cursor.block, s.cursor.step))
                s.f.elements(q, [&](uint32_t, uint64_t of) { again = again || of == e; });
        last += !again;
    }
    return last;
}
// captures: prefix, cell, thread, line, phase, other thread, its line, its phase
inline bool stale_load(const Scene& s, const Captures& c) {
    return accessed(s, c[1], c[2], false, std::stoul(c[3]), c[4]) &&
           accessed(s, c[1], c[5], true, std::stoul(c[6]), c[7]) && std::stoul(c[7]) < std::stoul(c[4]);
}
inline bool unstored_load(const Scene& s, const Captures& c) {
    return accessed(s, c[1], c[2], false, std::stoul(c[3]), c[4]);
}

}  // namespace tilescope::app
