// For app_figures_test.cpp: texts held against patterns, and counts of a recording made the slow, obvious way
// from trace::decode, its sites and its launch alone: none of the program's own sums is used.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <deque>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/base/contents.h"
#include "core/base/words.h"
#include "core/trace/trace.h"

namespace tilescope::test {

// --- patterns: a whole text, in which
//
//   #      is a whole number: 12, 1,224         ~    a figure with its unit: -4, 2.5, 18.5 µs, 1.05 M
//   @      a word without spaces                *    anything, also nothing
//   {a|b}  one of these                         (s)  an s, unless what was captured last is 1
//   ^      once, twice, 16 times
//
// Captures are what stands for all but (s), in their order; for ^ the number.
using Captures = std::vector<std::string>;

inline bool is_digit(char c) { return c >= '0' && c <= '9'; }
inline bool has_digit(std::string_view text) { return std::ranges::any_of(text, is_digit); }

inline constexpr std::pair<std::string_view, double> kUnits[] = {
    {" ns", 1e-9}, {" µs", 1e-6}, {" ms", 1e-3}, {" KiB", 1024}, {" MiB", 1048576}, {" GiB", 1073741824.0},
    {" kB", 1e3},  {" MB", 1e6},  {" GB", 1e9},  {" TB", 1e12},  {" B", 1},         {" bytes", 1},
    {" byte", 1},  {" k", 1e3},   {" M", 1e6},   {" G", 1e9}};

// Where a number that begins a text ends: with its groups of three, and without.
inline std::pair<size_t, size_t> ends_of_number(std::string_view t) {
    size_t plain = 0;
    while (plain < t.size() && is_digit(t[plain])) ++plain;
    size_t grouped = plain;
    const auto group_at = [&](size_t at) {
        return at + 3 < t.size() && t[at] == ',' && is_digit(t[at + 1]) && is_digit(t[at + 2]) &&
               is_digit(t[at + 3]) && (at + 4 >= t.size() || !is_digit(t[at + 4]));
    };
    while (plain >= 1 && plain <= 3 && group_at(grouped)) grouped += 4;
    return {grouped, plain};
}

inline bool match(std::string_view p, std::string_view t, Captures& found) {
    if (p.empty()) return t.empty();
    const auto stands_for = [&](size_t pattern, size_t length) {
        const size_t before = found.size();
        found.emplace_back(t.substr(0, length));
        if (match(p.substr(pattern), t.substr(length), found)) return true;
        found.resize(before);
        return false;
    };
    if (p.starts_with("(s)")) {
        const bool plural = found.empty() || found.back() != "1";
        return plural ? t.starts_with('s') && match(p.substr(3), t.substr(1), found)
                      : !t.starts_with('s') && match(p.substr(3), t, found);
    }
    if (p[0] == '^') {
        for (const auto& [word, number] : {std::pair("once", "1"), {"twice", "2"}})
            if (t.starts_with(word)) {
                found.emplace_back(number);
                if (match(p.substr(1), t.substr(std::string_view(word).size()), found)) return true;
                found.pop_back();
            }
        const size_t end = ends_of_number(t).first;
        if (end == 0 || !t.substr(end).starts_with(" times")) return false;
        found.emplace_back(t.substr(0, end));
        if (match(p.substr(1), t.substr(end + std::size(" times") - 1), found)) return true;
        found.pop_back();
        return false;
    }
    if (p[0] == '#') {
        const auto [grouped, plain] = ends_of_number(t);
        return plain > 0 && (stands_for(1, grouped) || (plain != grouped && stands_for(1, plain)));
    }
    if (p[0] == '~') {
        const size_t sign = t.starts_with('-') ? 1 : 0;
        size_t end = ends_of_number(t.substr(sign)).first + sign;
        if (end == sign) return false;
        if (end + 1 < t.size() && t[end] == '.' && is_digit(t[end + 1]))
            for (++end; end < t.size() && is_digit(t[end]);) ++end;
        for (const auto& [unit, factor] : kUnits)
            if (t.substr(end).starts_with(unit) && stands_for(1, end + unit.size())) return true;
        return stands_for(1, end);
    }
    if (p[0] == '@') {
        for (size_t end = std::min(t.find(' '), t.size()); end > 0; --end)
            if (stands_for(1, end)) return true;
        return false;
    }
    if (p[0] == '*') {
        for (size_t end = 0; end <= t.size(); ++end)
            if (stands_for(1, end)) return true;
        return false;
    }
    if (p[0] == '{') {
        const size_t close = p.find('}');
        for (std::string_view rest = p.substr(1, close - 1);;) {
            const size_t bar = std::min(rest.find('|'), rest.size());
            if (t.starts_with(rest.substr(0, bar)) && stands_for(close + 1, bar)) return true;
            if (bar == rest.size()) return false;
            rest.remove_prefix(bar + 1);
        }
    }
    return t.starts_with(p[0]) && match(p.substr(1), t.substr(1), found);
}

// What a text must say in one place: a count, a figure as it is rounded there, or one of some words. key:
// what it is the number of; a frame that says two numbers for one thing contradicts itself.
struct Figure {
    enum class Kind { Anything, Whole, Near, Words, Condition } kind = Kind::Anything;
    uint64_t whole = 0;
    double near = 0;
    std::vector<std::string> words{};
    std::string key{};

    Figure() = default;
    template <std::integral T>
    Figure(T count, std::string of = "")
        : kind(Kind::Whole), whole(static_cast<uint64_t>(count)), key(std::move(of)) {}
    Figure(double value, std::string of = "") : kind(Kind::Near), near(value), key(std::move(of)) {}
    Figure(std::string text) : kind(Kind::Words), words{std::move(text)} {}
    Figure(const char* text) : kind(Kind::Words), words{text} {}
    Figure(std::vector<std::string> any) : kind(Kind::Words), words(std::move(any)) {}
    static Figure condition(bool so) {
        Figure made;
        made.kind = Kind::Condition, made.whole = so ? 1 : 0;
        return made;
    }
};

inline std::string without_groups(std::string text) {
    std::erase(text, ',');
    return text;
}

// "" or what is wrong with what was said.
inline std::string disagrees(const std::string& said, const Figure& right) {
    switch (right.kind) {
        case Figure::Kind::Anything:
            return "";
        case Figure::Kind::Condition:
            return right.whole == 1 ? "" : "what it says is not so";
        case Figure::Kind::Whole:
            if (without_groups(said) == std::to_string(right.whole)) return "";
            return fmt::format("'{}' should be {}", said, right.whole);
        case Figure::Kind::Words:
            if (std::ranges::find(right.words, said) != right.words.end()) return "";
            return fmt::format("'{}' should be '{}'", said, right.words.empty() ? "" : right.words[0]);
        case Figure::Kind::Near: {
            const std::string plain = without_groups(said);
            double factor = 1;
            for (const auto& [unit, of] : kUnits)
                if (plain.ends_with(unit)) {
                    factor = of;
                    break;
                }
            const size_t point = plain.find('.');
            size_t digits = 0;
            while (point != std::string::npos && point + 1 + digits < plain.size() &&
                   is_digit(plain[point + 1 + digits]))
                ++digits;
            const double half = 0.5 * std::pow(10, -static_cast<double>(digits)) * factor;
            const double value = std::strtod(plain.c_str(), nullptr) * factor;
            if (std::abs(value - right.near) <= half * 1.001 + 1e-9 * std::abs(right.near)) return "";
            return fmt::format("'{}' should be {:.6g}", said, right.near / factor);
        }
    }
    return "";
}

// --- counts

enum Kind { kGlobalLoad, kGlobalStore, kSharedLoad, kSharedStore, kBarrier, kKinds };

// A request as it was recorded, and what it costs by rules written anew from their sources: sectors are
// 32-byte parts of memory; shared memory serves groups of 32, 16 or 8 lanes of 4, 8 or 16 bytes, each with as
// many wavefronts as its worst bank has different 4-byte words (core/analysis/banks.h).
struct Request {
    Kind kind = kBarrier;
    uint32_t site = 0, line = 0, warp = 0, mask = 0, lanes = 0, bytes = 0;
    uint8_t array = trace::kNoArray;
    std::array<uint64_t, 32> at{};  // bytes in the array
    uint64_t base = 0;              // of the array
    uint64_t cost = 0, least = 0;   // sectors, or wavefronts
    // Rows of the block with an active lane, and the sectors that they need at least, each by itself; 0 where
    // warps begin at different places of a row.
    uint64_t rows = 0, least_of_rows = 0;
    uint64_t lines = 0, words = 0, banks = 0, worst = 0, worst_bank = 0;
    bool active(uint32_t lane) const { return (mask >> lane & 1) != 0; }
};

struct Tally {
    uint64_t requests = 0, lanes = 0, bytes = 0, cost = 0, least = 0;
    void operator+=(const Tally& other) {
        requests += other.requests, lanes += other.lanes, bytes += other.bytes;
        cost += other.cost, least += other.least;
    }
};

// width: threads of a row of the block.
inline void count_sectors(Request& r, uint32_t width) {
    std::set<uint64_t> sectors, lines, bytes;
    std::map<uint32_t, std::set<uint64_t>> of_rows;
    for (uint32_t lane = 0; lane < 32; ++lane)
        for (uint64_t byte = 0; r.active(lane) && byte < r.bytes; ++byte) {
            const uint64_t address = r.base + r.at[lane] + byte;
            bytes.insert(address);
            of_rows[(r.warp * 32 + lane) / width].insert(address);
            sectors.insert(address / 32);
            lines.insert(address / 128);
        }
    r.cost = sectors.size(), r.lines = lines.size(), r.least = (bytes.size() + 31) / 32;
    r.rows = of_rows.size();
    for (const auto& [row, of] : of_rows) r.least_of_rows += 32 % width == 0 ? (of.size() + 31) / 32 : 0;
}

inline void count_wavefronts(Request& r) {
    uint32_t group = r.bytes <= 4 ? 32 : r.bytes <= 8 ? 16 : 8;
    bool pairs = r.kind == kSharedLoad && r.bytes > 4;
    for (uint32_t lane = 0; lane < 32; lane += 2)
        pairs = pairs && (!r.active(lane) || !r.active(lane + 1) || r.at[lane] == r.at[lane + 1]);
    if (pairs) group *= 2;
    std::map<uint64_t, std::set<uint64_t>> all;  // words by bank, of the whole request
    for (uint32_t first = 0; first < 32; first += group) {
        std::map<uint64_t, std::set<uint64_t>> banks;
        for (uint32_t lane = first; lane < first + group; ++lane)
            for (uint64_t byte = 0; r.active(lane) && byte < r.bytes; ++byte) {
                const uint64_t word = (r.base + r.at[lane] + byte) / 4;
                banks[word % 32].insert(word);
                all[word % 32].insert(word);
            }
        size_t most = 0;
        for (const auto& [bank, words] : banks) most = std::max(most, words.size());
        r.cost += most, r.least += most > 0 ? 1 : 0;
    }
    r.banks = all.size();
    for (const auto& [bank, words] : all) {
        r.words += words.size();
        if (words.size() > r.worst) r.worst = words.size(), r.worst_bank = bank;
    }
}

// A cell of shared memory, and what is known of where its value came from.
struct Cell {
    bool written = false;
    double value = std::numeric_limits<double>::quiet_NaN();  // what it holds before anything is stored
    int64_t source = -1;                                      // element of M or N; -1 a zero
    uint8_t source_array = trace::kNoArray;
    std::pair<uint8_t, uint64_t> at{};  // array and element
    uint32_t thread = 0, step = 0, load_step = 0, reads = 0;
};
struct Sum {
    double value = 0;
    uint32_t products = 0;
};
struct Played {
    std::map<std::pair<uint8_t, uint64_t>, Cell> cells;
    std::vector<Cell> fillings{};   // each cell once for every store to it, with the reads until the next
    std::vector<Sum> sums;          // by thread
    std::vector<uint32_t> added{};  // products by thread, by the last step alone
};

inline constexpr uint32_t kAfterPhases = ~0u;

class Facts {
public:
    explicit Facts(std::shared_ptr<const trace::Trace> of) : held_(std::move(of)), trace(*held_) {
        for (uint64_t step = 0; step < trace.steps(); ++step) all_.push_back(read(step));
        for (const trace::Block& block : trace.blocks) {
            std::map<uint32_t, uint32_t> arrivals;  // by warp
            for (uint64_t step = block.first; step < block.first + block.count; ++step) {
                passed_.push_back(arrivals[all_[step].warp]);
                arrivals[all_[step].warp] += all_[step].kind == kBarrier;
            }
        }
        for (uint8_t i = 0; i < trace.launch.arrays.size(); ++i) names_[trace.launch.arrays[i].name] = i;
        if (!names_.contains("M") || !names_.contains("N") || !names_.contains("P")) return;
        m = array("M").rows, k = array("M").cols, n = array("N").cols, T = trace.launch.block.x;
    }
    bool product() const { return T > 0; }
    bool tiled() const { return names_.contains("Mds"); }
    const Array& array(const std::string& name) const { return trace.launch.arrays[names_.at(name)]; }
    uint8_t number(const std::string& name) const { return names_.at(name); }
    uint32_t steps(size_t block) const { return static_cast<uint32_t>(trace.blocks[block].count); }
    const Request& at(size_t block, uint32_t step) const { return all_[trace.blocks[block].first + step]; }
    const std::vector<Request>& all() const { return all_; }

    // Of steps [first, end) of the recording.
    Tally tally(Kind kind, uint64_t first, uint64_t end) const {
        Tally sum;
        for (uint64_t step = first; step < end; ++step)
            if (const Request& r = all_[step]; r.kind == kind)
                sum += Tally{1, r.lanes, uint64_t{r.lanes} * r.bytes, r.cost, r.least};
        return sum;
    }
    Tally so_far(Kind kind, size_t block, uint32_t step) const {
        const uint64_t first = trace.blocks[block].first;
        return tally(kind, first, first + step + 1);
    }
    Tally whole(Kind kind) const { return tally(kind, 0, all_.size()); }

    // visit(lane, element)
    template <class Visit>
    void elements(const Request& r, Visit visit) const {
        if (r.array == trace::kNoArray || r.kind == kBarrier) return;
        const uint64_t width = trace.launch.arrays[r.array].element_bytes();
        for (uint32_t lane = 0; lane < 32; ++lane)
            if (r.active(lane))
                for (uint64_t e = r.at[lane] / width; e <= (r.at[lane] + r.bytes - 1) / width; ++e)
                    visit(lane, e);
    }
    // By element, how often lanes of all recorded blocks loaded it.
    std::map<uint64_t, uint64_t> loads(uint8_t of) const {
        std::map<uint64_t, uint64_t> count;
        for (const Request& r : all_)
            if (r.kind == kGlobalLoad && r.array == of)
                elements(r, [&](uint32_t, uint64_t element) { ++count[element]; });
        return count;
    }
    // What the recorded blocks touched of an array, as rows and columns: {row0, row1, col0, col1}, half open.
    using Box = std::array<uint64_t, 4>;
    template <class Which>
    Box box(uint8_t of, Which which) const {
        const uint64_t cols = std::max(trace.launch.arrays[of].cols, 1u);
        Box b{~0ull, 0, ~0ull, 0};
        for (uint64_t step = 0; step < all_.size(); ++step)
            if (all_[step].array == of && which(step))
                elements(all_[step], [&](uint32_t, uint64_t e) {
                    b = {std::min(b[0], e / cols), std::max(b[1], e / cols + 1), std::min(b[2], e % cols),
                         std::max(b[3], e % cols + 1)};
                });
        return b;
    }

    // --- phases
    uint32_t warps() const { return static_cast<uint32_t>((trace.launch.block.count() + 31) / 32); }
    uint32_t passed(size_t block, uint32_t step) const {  // barriers, by the step's warp before it
        return passed_[trace.blocks[block].first + step];
    }
    uint32_t phases(size_t block) const {
        if (product()) return tiled() ? (k + T - 1) / T : k;
        uint32_t most = 0;
        for (uint32_t s = 0; s < steps(block); ++s)
            if (const uint32_t p = phase(block, s); p != kAfterPhases) most = std::max(most, p + 1);
        return most;
    }
    // Of a product with tiles by the barriers that its warp has passed; without tiles, and of any kernel that
    // has loops and no barriers, how often the first active lane has been at that line and array before.
    uint32_t phase(size_t block, uint32_t step) const {
        const Request& r = at(block, step);
        if (product() && r.kind == kGlobalStore) return kAfterPhases;
        if (product() && tiled()) {
            const bool one = trace.meta.kernel == "tiled_no_barrier";  // barrier a phase
            const uint32_t before = passed(block, step);
            return one ? before - (r.kind == kSharedLoad ? 1 : 0) : before / 2;
        }
        uint32_t count = 0;
        for (uint32_t s = 0; s < steps(block); ++s) {
            const Request& other = at(block, s);
            if (other.kind == kBarrier) return 0;
            count += s < step && other.warp == r.warp && other.line == r.line && other.kind == r.kind &&
                     other.array == r.array && other.active(static_cast<uint32_t>(std::countr_zero(r.mask)));
        }
        return count;
    }

    // --- values: the block's steps again, up to and with `step`. What a lane stores to shared memory it
    // loaded just before from global memory, of a product from the matrix of that tile; else it is a zero.
    Played play(size_t block, uint32_t step) const {
        struct Load {
            uint8_t array = trace::kNoArray;
            uint64_t element = 0;
            uint32_t step = 0;
        };
        struct Thread {
            std::array<std::optional<Load>, 2> loaded;  // of M, of N
            std::array<std::deque<double>, 2> factors;
        };
        std::vector<Thread> threads(trace.launch.block.count());
        Played made;
        made.sums.resize(threads.size());
        for (uint32_t s = 0; s <= step && s < steps(block); ++s) {
            const Request& r = at(block, s);
            made.added.assign(threads.size(), 0);
            if (r.kind == kBarrier || r.kind == kGlobalStore || r.array == trace::kNoArray) continue;
            const size_t side = product() && trace.launch.arrays[r.array].name[0] == 'N' ? 1 : 0;
            elements(r, [&](uint32_t lane, uint64_t e) {
                const uint32_t number = r.warp * 32 + lane;
                Thread& thread = threads[number];
                if (r.kind == kGlobalLoad) thread.loaded[side] = {r.array, e, s};
                if (r.kind == kGlobalLoad && product() && !tiled())
                    thread.factors[side].push_back(value(r.array, e));
                if (r.kind == kSharedStore) {
                    const auto from = std::exchange(thread.loaded[side], std::nullopt);
                    Cell& cell = made.cells[{r.array, e}];
                    if (cell.written) made.fillings.push_back(cell);
                    cell = {true, 0, -1, trace::kNoArray, {r.array, e}, number, s, 0, 0};
                    if (from) {
                        cell.value = value(from->array, from->element), cell.load_step = from->step;
                        cell.source = static_cast<int64_t>(from->element), cell.source_array = from->array;
                    }
                }
                if (r.kind == kSharedLoad) {
                    Cell& cell = made.cells[{r.array, e}];
                    ++cell.reads;
                    thread.factors[side].push_back(cell.value);
                }
                while (product() && !thread.factors[0].empty() && !thread.factors[1].empty()) {
                    made.sums[number].value += thread.factors[0].front() * thread.factors[1].front();
                    ++made.sums[number].products, ++made.added[number];
                    thread.factors[0].pop_front(), thread.factors[1].pop_front();
                }
            });
        }
        for (const auto& [where, cell] : made.cells)
            if (cell.written) made.fillings.push_back(cell);
        return made;
    }
    double value(uint8_t of, uint64_t element) const {
        return number_of(initial_value(trace.launch.arrays[of], element));
    }
    double expected(uint64_t element) const {
        double sum = 0;
        for (uint64_t i = 0; i < k; ++i)
            sum += number_of(initial_value(array("M"), element / n * k + i)) *
                   number_of(initial_value(array("N"), i * n + element % n));
        return sum;
    }
    // The thread of the block that stores an element, the last time.
    std::optional<std::pair<uint32_t, uint32_t>> stores(size_t block, uint8_t of, uint64_t element) const {
        std::optional<std::pair<uint32_t, uint32_t>> found;  // thread, step
        for (uint32_t s = 0; s < steps(block); ++s)
            if (at(block, s).kind == kGlobalStore && at(block, s).array == of)
                elements(at(block, s), [&](uint32_t lane, uint64_t e) {
                    if (e == element) found = {at(block, s).warp * 32 + lane, s};
                });
        return found;
    }

    uint32_t m = 0, k = 0, n = 0, T = 0;  // of a product

private:
    std::shared_ptr<const trace::Trace> held_;

public:
    const trace::Trace& trace;

private:
    Request read(uint64_t step) const {
        const trace::Access access = trace::decode(trace, step);
        const ptx::Site& site = trace.sites[access.site];
        Request r;
        r.site = access.site, r.warp = access.warp, r.mask = access.mask, r.array = access.array;
        r.line = trace.meta.source.empty() ? site.ptx_line : site.line;
        r.lanes = static_cast<uint32_t>(std::popcount(r.mask));
        if (site.kind == ptx::SiteKind::Barrier) return r;
        const bool load = site.kind == ptx::SiteKind::Load;
        const bool global = trace.form_of(step).space == Space::Global;
        r.kind = global ? (load ? kGlobalLoad : kGlobalStore) : (load ? kSharedLoad : kSharedStore);
        r.bytes = site.bytes, r.at = access.offset;
        r.base = r.array == trace::kNoArray ? 0 : trace.launch.arrays[r.array].base;
        global ? count_sectors(r, trace.launch.block.x) : count_wavefronts(r);
        return r;
    }
    std::vector<Request> all_;
    std::vector<uint32_t> passed_;
    std::map<std::string, uint8_t> names_;
};

// --- names, as a notation has them

inline std::string indices_text(std::vector<std::string> outer_first, const Notation& notation) {
    if (notation.x_first) std::ranges::reverse(outer_first);
    std::string text;
    for (const std::string& one : outer_first) text += (text.empty() ? "" : ",") + one;
    return "[" + text + "]";
}
inline std::string array_text(const Array& array, const Notation& notation) {
    for (const auto& [name, other] : notation.renamed)
        if (name == array.name) return other;
    return array.name;
}
inline std::string index_of_element(const Array& array, uint64_t e, const Notation& notation) {
    const uint64_t cols = std::max(array.cols, 1u), rows = std::max(array.rows, 1u);
    std::vector<std::string> indices{std::to_string(array.rank > 1 ? e % cols : e)};
    if (array.rank > 1)
        indices.insert(indices.begin(), std::to_string(array.rank > 2 ? e / cols % rows : e / cols));
    if (array.rank > 2) indices.insert(indices.begin(), std::to_string(e / cols / rows));
    return indices_text(indices, notation);
}
inline std::string element_text(const Array& array, uint64_t e, const Notation& notation) {
    return array_text(array, notation) + index_of_element(array, e, notation);
}
inline std::string thread_index_text(const Dim3& block, uint32_t thread, const Notation& notation) {
    std::vector<std::string> indices{std::to_string(thread % block.x)};
    if (block.y > 1 || block.z > 1)
        indices.insert(indices.begin(), std::to_string(thread / block.x % block.y));
    if (block.z > 1) indices.insert(indices.begin(), std::to_string(thread / block.x / block.y));
    return indices_text(indices, notation);
}
inline std::string size_words(const Dim3& size) {
    return fmt::format("{} x {}", size.x, size.y) + (size.z > 1 ? fmt::format(" x {}", size.z) : "");
}

}  // namespace tilescope::test
