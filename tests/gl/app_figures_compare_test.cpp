// The figures of Compare, as app_figures_test.cpp holds those of the Step screen.
#include <fmt/ranges.h>

#include "tests/gl/figures_screens.h"

namespace tilescope::app {
namespace {

// --- Compare: A at the left, B at the right, and between them and above what both come to

struct Both {
    Scene a, b;
};
const Both* g_both = nullptr;  // of the frame that is read

// "m", "n/T", "4 blocks × T" as a number; nothing where it is not whole, or means nothing.
std::optional<uint64_t> worth(const Scene& s, const std::string& words) {
    const auto size = [&](const std::string& name) -> uint64_t { return name == "n" ? s.f.n : s.f.m; };
    Captures c;
    if (test::match("{m|n}", words, c)) return size(c[0]);
    c.clear();
    if (test::match("{m|n}/T", words, c))
        return size(c[0]) % s.f.T == 0 ? std::optional(size(c[0]) / s.f.T) : std::nullopt;
    c.clear();
    if (test::match("{m|n}/T rounded up", words, c))
        return size(c[0]) % s.f.T != 0 ? std::optional((size(c[0]) + s.f.T - 1) / s.f.T) : std::nullopt;
    c.clear();
    if (test::match("# block(s)", words, c)) return std::stoull(c[0]);
    c.clear();
    if (test::match("# block(s) × T", words, c)) return std::stoull(c[0]) * s.f.T;
    return std::nullopt;
}

bool of_run() { return g_both->a.state.compare.lock == compare::Lock::Share; }
bool whole_run() { return g_both->a.state.compare.whole_run; }

// Least and most loads of an element, of those that were loaded at all: of the whole run, or so far. at_end: so far
// of the block is all of it.
std::pair<uint64_t, uint64_t> range_of_loads(const Scene& s, uint8_t array, bool at_end = false) {
    std::map<uint64_t, uint64_t> loads;
    const bool all = whole_run() || (at_end && of_run());
    for (uint32_t block = 0; block < s.trace().blocks.size(); ++block) {
        const bool here = block == s.cursor.block;
        if (!all && !here && !(of_run() && block < s.cursor.block)) continue;
        const uint32_t end = !all && here && !at_end ? s.cursor.step + 1 : s.f.steps(block);
        for (uint32_t step = 0; step < end; ++step)
            if (const Request& q = s.f.at(block, step); q.kind == kGlobalLoad && q.array == array)
                s.f.elements(q, [&](uint32_t, uint64_t element) { ++loads[element]; });
    }
    uint64_t least = ~0ull, most = 0;
    for (const auto& [element, count] : loads) least = std::min(least, count), most = std::max(most, count);
    return {least, most};
}
uint64_t most_of_inputs(const Scene& s, bool at_end) {
    uint64_t most = 0;
    for (uint8_t i = 0; i < s.trace().launch.arrays.size(); ++i)
        most = std::max(most, range_of_loads(s, i, at_end).second);
    return most;
}

// Of the rows that are worked out of others: lanes that touch nothing, of all of their warps; bytes that loads ask
// for, of those of their sectors.
struct Part {
    uint64_t part = 0, of = 0;
    std::string share() const {
        return of == 0 ? "-" : share_text(static_cast<double>(part) / static_cast<double>(of));
    }
};
std::optional<Part> part_on_side(const Scene& s, const std::string& what, bool whole) {
    const uint64_t first = of_run() ? 0 : s.block().first;
    const auto tally = [&](twin::Kind kind) {
        return whole ? s.f.whole(kind) : s.f.tally(kind, first, s.block().first + s.cursor.step + 1);
    };
    const Tally load = tally(kGlobalLoad);
    if (what == "load efficiency") return Part{load.bytes, load.cost * 32};
    if (what != "idle lanes" && what != "idle share") return std::nullopt;
    Part idle;
    for (const twin::Kind kind : {kGlobalLoad, kGlobalStore, kSharedLoad, kSharedStore}) {
        const Tally of = tally(kind);
        idle.of += of.requests * 32;
        idle.part += of.requests * 32 - of.lanes;
    }
    return idle;
}

// Counts by the names that the table has for them: so far, and of the whole run.
std::optional<uint64_t> count_on_side(const Scene& s, const std::string& what, bool whole, bool of_run) {
    const uint64_t first = of_run ? 0 : s.block().first;
    const auto tally = [&](twin::Kind kind) {
        return whole ? s.f.whole(kind) : s.f.tally(kind, first, s.block().first + s.cursor.step + 1);
    };
    const Tally load = tally(kGlobalLoad), store = tally(kGlobalStore);
    Tally shared = tally(kSharedLoad);
    shared += tally(kSharedStore);
    const std::pair<const char*, uint64_t> all[] = {
        {"load requests", load.requests}, {"load sectors", load.cost},
        {"least sectors", load.least},    {"bytes loaded", load.bytes},
        {"store sectors", store.cost},    {"shared requests", shared.requests},
        {"wavefronts", shared.cost},      {"least wavefronts", shared.least},
        {"shared bytes", shared.bytes},   {"barrier arrivals", tally(kBarrier).requests}};
    for (const auto& [name, count] : all)
        if (name == what) return count;
    return std::nullopt;
}
std::string three_digits(double value) {
    return value >= 1000 ? grouped(static_cast<uint64_t>(std::llround(value))) : fmt::format("{:.3g}", value);
}
// Three digits, but whole factors as they are.
std::string times_words(uint64_t a, uint64_t b) {
    const uint64_t more = std::max(a, b), less = std::min(a, b);
    if (less == 0) return "";
    const double times = static_cast<double>(more) / static_cast<double>(less);
    const std::string text = more % less == 0 ? grouped(more / less)
                             : times >= 99.95 ? grouped(static_cast<uint64_t>(std::llround(times)))
                                              : fmt::format("{:.{}f}", times, times < 9.995 ? 2 : 1);
    if (text == "1" || text == "1.00") return "same";
    return text + " × " + (b < a ? "fewer" : "more");
}

// "3 loads each = n/T" below a map, or "3" beside it and the rest below that; of an output how many are
// wrong.
void label(Page& page, size_t at, const Scene& s, uint8_t array) {
    const auto heading = [&](const std::string& text) {
        return text.find("\u00d7") != std::string::npos || text.starts_with("at ") ||
               text == std::to_string(s.of(array).cols);
    };
    while (at < page.size() && heading(page.text(at)) && page.text(at).find('=') == std::string::npos) {
        page.claim(at);
        ++at;
    }
    if (at >= page.size()) return;
    const std::string whole = page.text(at);
    const bool beside = page.number(at) && at + 1 < page.size() && page.text(at + 1).starts_with("load");
    const std::string unit = beside ? page.text(at + 1) : "";
    const std::string why =
        beside && at + 2 < page.size() && page.text(at + 2).starts_with("= ") ? page.text(at + 2) : "";
    const std::string said = beside ? whole + " " + unit + (why.empty() ? "" : " " + why) : whole;
    Captures c;
    const auto [least, most] = range_of_loads(s, array);
    const auto hold = [&](bool right) {
        if (!right)
            page.complain(
                fmt::format("{}: '{}', and it is {} to {}", s.side + s.name(array), said, least, most));
        for (size_t i = at; i < at + (beside ? why.empty() ? 2 : 3 : 1); ++i) page.claim(i);
    };
    if (s.of(array).writes() && !s.of(array).reads()) {
        if (test::match("# wrong", said, c))
            hold(std::stoull(test::without_groups(c[0])) == wrong_elements(s).first);
        return;
    }
    const auto all = [&] { return least == most && std::stoull(test::without_groups(c[0])) == most; };
    if (test::match("# load(s) each", said, c) || (c.clear(), test::match("#", said, c))) return hold(all());
    if (c.clear(); test::match("# to # loads each", said, c))
        return hold(std::stoull(c[0]) == least && std::stoull(c[1]) == most && least != most);
    if (c.clear(); test::match("# to #", said, c))
        return hold(std::stoull(c[0]) == least && std::stoull(c[1]) == most && least != most);
    if (c.clear(); test::match("# load(s) each = *", said, c) || (c.clear(), test::match("# = *", said, c)))
        return hold(all() && worth(s, c[1]) == most);
    if (test::has_digit(said)) hold(false);
}

const draw::Inspection* g_seen = nullptr;  // of the frame that is read

// The counts of a row, which are not recorded as texts: of A and B so far, and of their whole runs.
void counts(Page& page, size_t i, const std::vector<std::string>& wanted) {
    std::vector<draw::Written> row;
    const float middle = (page.at(i).min.y + page.at(i).max.y) / 2;
    for (const draw::Written& text : unrecorded(*g_seen))
        if (std::abs((text.min.y + text.max.y) / 2 - middle) < 3 && text.min.x > page.at(i).max.x &&
            text.max.x < page.panel(i).z && test::has_digit(text.text))
            row.push_back(text);
    std::ranges::sort(row, {}, [](const draw::Written& text) { return text.min.x; });
    std::vector<std::string> said;
    for (const draw::Written& text : row) said.push_back(text.text);
    if (said != wanted)
        page.complain(
            fmt::format("{}: {}, not {}", page.text(i), fmt::join(wanted, " "), fmt::join(said, " ")));
}

// What is short has its unit, M or kB, as a word of its own.
std::vector<std::string> as_drawn(const std::vector<uint64_t>& counts, bool bytes) {
    std::vector<std::string> drawn;
    for (const uint64_t count : counts) {
        double shown = static_cast<double>(count);
        while (bytes && shown >= 999.5) shown /= 1000;
        drawn.push_back(bytes && count >= 1000
                            ? fmt::format("{:.{}f}", shown, shown < 9.995 ? 2 : shown < 99.95)
                        : count < 1'000'000 ? grouped(count)
                                            : fmt::format("{:#.3g}", static_cast<double>(count) / 1e6));
    }
    return drawn;
}

// The number of a share: its sign is a word of its own.
std::string as_drawn(const std::string& share) { return share.substr(0, share.find(' ')); }

void compare_tables(Page& page) {
    // One group is always there, the one of which the maps are; the other if room is, and the factors of both if
    // more is. "whole run" is on the switch as well.
    bool so_far = false;
    size_t factors = 0, wholes = 0;
    for (size_t i = 0; i < page.size(); ++i) {
        so_far = so_far || page.text(i) == (of_run() ? "run so far" : "block so far");
        wholes += page.text(i) == "whole run" ? 1 : 0;
        factors += page.text(i) == "B has" ? 1 : 0;
    }
    const bool whole = wholes > 1, both = so_far && whole;
    if (!both && whole != whole_run()) page.complain("the counts are not of what the maps are");
    // Of both groups, in their order.
    const auto groups = [&](const auto& of_here, const auto& of_all) {
        auto all = so_far ? of_here : of_all;
        if (both) all.insert(all.end(), of_all.begin(), of_all.end());
        return all;
    };
    for (size_t i = 0; i < page.size(); ++i) {
        const Scene& s = page.scene_of(i);
        // The scale of both: 0, the most of each as it is shown, and the most that one of them comes to.
        if (i > 1 && page.text(i - 1) == "whole run" && page.text(i - 2) == "so far") {
            std::set<std::string> right{"0"}, said;
            for (const bool at_end : {false, true})
                for (const Scene* one : {&g_both->a, &g_both->b})
                    if (at_end)
                        right.insert(short_count(
                            std::max(most_of_inputs(g_both->a, true), most_of_inputs(g_both->b, true))));
                    else
                        right.insert(short_count(most_of_inputs(*one, false)));
            for (size_t j = i + 1; page.number(j); ++j) said.insert(page.text(j)), page.claim(j);
            if (said != right)
                page.complain(fmt::format("the scale of loads says {}, not {}", fmt::join(said, " "),
                                          fmt::join(right, " ")));
        }
        if (const auto a = part_on_side(g_both->a, page.text(i), false)) {
            const auto b = part_on_side(g_both->b, page.text(i), false),
                       all_a = part_on_side(g_both->a, page.text(i), true),
                       all_b = part_on_side(g_both->b, page.text(i), true);
            if (page.text(i) != "idle lanes") {
                const auto shares = [](const Part& of_a, const Part& of_b) {
                    std::vector<std::string> texts;
                    for (const Part* one : {&of_a, &of_b})
                        if (one->of > 0) texts.push_back(as_drawn(one->share()));
                    return texts;
                };
                counts(page, i, groups(shares(*a, *b), shares(*all_a, *all_b)));
            } else {
                counts(page, i,
                       as_drawn(groups(std::vector{a->part, b->part}, std::vector{all_a->part, all_b->part}),
                                false));
                std::vector<std::string> right =
                    both && factors == 1 ? std::vector{times_words(all_a->part, all_b->part)}
                                         : groups(std::vector{times_words(a->part, b->part)},
                                                  std::vector{times_words(all_a->part, all_b->part)});
                std::erase(right, "");
                size_t j = i + 1;
                for (const std::string& one : right) {
                    if (j >= page.size() || page.text(j) != one)
                        page.complain(fmt::format("idle lanes: B has {}, not {}", one,
                                                  j < page.size() ? page.text(j) : ""));
                    if (j < page.size()) page.claim(j++);
                }
            }
        }
        // Rows of the table: what B has, of the block so far, and of the whole run.
        if (const auto a = count_on_side(g_both->a, page.text(i), false, of_run())) {
            const auto b = count_on_side(g_both->b, page.text(i), false, of_run());
            const auto all_a = count_on_side(g_both->a, page.text(i), true, of_run()),
                       all_b = count_on_side(g_both->b, page.text(i), true, of_run());
            counts(page, i,
                   as_drawn(groups(std::vector{*a, *b}, std::vector{*all_a, *all_b}),
                            page.text(i).find("bytes") != std::string::npos));
            std::vector<std::string> right =
                both && factors == 1
                    ? std::vector{times_words(*all_a, *all_b)}
                    : groups(std::vector{times_words(*a, *b)}, std::vector{times_words(*all_a, *all_b)});
            std::erase(right, "");
            size_t j = i + 1;
            for (const std::string& one : right) {
                if (j >= page.size() || page.text(j) != one)
                    page.complain(fmt::format("{}: B has {}, not {}", page.text(i), one,
                                              j < page.size() ? page.text(j) : ""));
                if (j < page.size()) page.claim(j++);
            }
        }
        // The label of a map: how often each element of the array named before it was loaded.
        for (uint8_t array = 0; array < s.trace().launch.arrays.size(); ++array) {
            if (page.text(i) != s.name(array) || s.of(array).space != Space::Global || s.side.empty())
                continue;
            label(page, i + 1, s, array);
        }
    }
}

const Scene& side(const std::string& letter) { return letter == "A" ? g_both->a : g_both->b; }
size_t faulty_steps(const Scene& s) { return steps_at_fault(s.f, s.cursor.block, values_known(s)).size(); }
std::string kernel_words(const Scene& s) {
    return s.f.product() ? fmt::format("{} T={}", s.trace().meta.kernel, s.f.T) : s.trace().meta.kernel;
}
std::string size_of_work(const Scene& s) {
    return s.f.product() ? fmt::format("{}×{}×{}", s.f.m, s.f.k, s.f.n)
                         : fmt::format("grid {}, block {}", test::size_words(s.trace().launch.grid),
                                       test::size_words(s.trace().launch.block));
}
// How many times fewer `letter` has of something than the other one, of what the screen is about.
std::string times_fewer(const std::string& letter, const std::string& what) {
    const auto count = [&](const Scene& s) -> uint64_t {
        const auto of = [&](const std::string& name) {
            return count_on_side(s, name, whole_run(), of_run()).value_or(0);
        };
        if (what == "wavefronts of shared memory") return of("wavefronts");
        if (what == "arrivals at barriers") return of("barrier arrivals");
        if (what == "idle lanes") return part_on_side(s, what, whole_run())->part;
        return of(what);
    };
    const double own = static_cast<double>(count(side(letter))),
                 rival = static_cast<double>(count(side(letter == "A" ? "B" : "A")));
    return own > 0 && rival > own ? three_digits(rival / own) : "not";
}
const std::string kFewer =
    "@ times fewer {load requests|load sectors|wavefronts of shared memory|arrivals at barriers|store "
    "sectors|idle lanes}";
bool others(const std::string& a, const std::string& b) { return a != b; }
const std::string kOf = "{so far|in the whole run}";
bool is_of(const std::string& words) { return (words == "so far") != whole_run(); }

bool same_work() {
    const twin::Recording &a = g_both->a.f, &b = g_both->b.f;
    return a.m == b.m && a.k == b.k && a.n == b.n &&
           a.whole(kGlobalStore).bytes == b.whole(kGlobalStore).bytes;
}
// How many times fewer elements, or more, B loads for each multiplication; of whole products alone.
Figures beside_loads_a_multiplication(const std::string& direction) {
    const auto whole = [](const Scene& s) {
        return s.f.product() && s.f.whole(kGlobalStore).lanes == uint64_t{s.f.m} * s.f.n;
    };
    const auto each = [](const Scene& s) {
        return static_cast<double>(s.f.whole(kGlobalLoad).lanes) / (double{1} * s.f.m * s.f.k * s.f.n);
    };
    const double a = each(g_both->a), b = each(g_both->b);
    return {std::max(a, b) / std::min(a, b), any,
            must(whole(g_both->a) && whole(g_both->b) && !same_work() && (b < a) == (direction == "fewer"))};
}

// How much faster one is: both medians are found again among the times of the device, of kernels whose result
// was right, at the size compared.
struct Speed {
    const kernels::Timing *fast = nullptr, *slow = nullptr;
    const Scene *of_fast = nullptr, *of_slow = nullptr;
    std::string size;
    double times() const { return slow->median_ms / fast->median_ms; }
    std::string name(const Scene& s) const {
        return fast->tile == slow->tile ? s.trace().meta.kernel : kernel_words(s);
    }
    double requests(const Scene* s) const { return static_cast<double>(s->f.whole(kGlobalLoad).requests); }
};
Speed speed(const std::string& device) {
    Speed best;
    const twin::Recording &a = g_both->a.f, &b = g_both->b.f;
    for (const kernels::Timings& set : g_both->a.state.session.assets.timings())
        for (const kernels::Timing& of_a : set.rows)
            for (const kernels::Timing& of_b : set.rows) {
                const auto of = [](const kernels::Timing& row, const twin::Recording& f) {
                    return row.kernel == f.trace.meta.kernel && row.tile == f.T && row.verified &&
                           row.m == f.m && row.k == f.k && row.n == f.n;
                };
                if (best.fast != nullptr || set.device != device || !of(of_a, a) || !of(of_b, b)) continue;
                const bool a_first = of_a.median_ms <= of_b.median_ms;
                best.fast = a_first ? &of_a : &of_b, best.slow = a_first ? &of_b : &of_a;
                best.of_fast = a_first ? &g_both->a : &g_both->b;
                best.of_slow = a_first ? &g_both->b : &g_both->a;
                best.size = a.m == a.k && a.k == a.n ? fmt::format("width {}", grouped(a.n))
                                                     : fmt::format("{} × {} × {}", a.m, a.k, a.n);
                if (of_a.tile == of_b.tile) best.size += fmt::format(", T={}", of_a.tile);
            }
    return best;
}
std::string requests_words(const Speed& of) {
    const double fast = of.requests(of.of_fast), slow = of.requests(of.of_slow);
    return fast == slow  ? "as many load requests"
           : fast < slow ? three_digits(slow / fast) + " times fewer load requests"
                         : three_digits(fast / slow) + " times more load requests";
}
// Percent of a kernel's load sectors that did not come from L2.
std::optional<double> l1_percent(const kernels::Timing& row, const std::string& device) {
    for (const kernels::Counters& set : g_both->a.state.session.assets.counters())
        for (const kernels::CounterRow& of : set.rows) {
            if (set.device != device || of.kernel != row.kernel || of.m != row.m || of.k != row.k ||
                of.n != row.n || of.tile != row.tile || of.ptx != "clang")
                continue;
            double asked = 0, read = 0;
            for (const auto& [name, value] : of.counters) {
                if (name == "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum") asked = value;
                if (name == "lts__t_sectors_op_read.sum") read = value;
            }
            if (asked > 0 && read > 0) return 100 * (1 - read / asked);
        }
    return std::nullopt;
}
Figures faster(const Captures& c) {
    const Speed of = speed(c[0]);
    if (of.fast == nullptr) return {"a device with times of both"};
    const bool apart = of.fast->high_ms < of.slow->low_ms || of.slow->high_ms < of.fast->low_ms;
    if (!apart)
        return {any,
                of.size,
                of.name(*of.of_fast),
                of.fast->median_ms / 1e3,
                of.name(*of.of_slow),
                of.slow->median_ms / 1e3};
    const bool fewer = of.requests(of.of_fast) * of.times() < of.requests(of.of_slow);
    Figures right{any,
                  of.size,
                  of.name(*of.of_fast),
                  of.fast->median_ms / 1e3,
                  of.name(*of.of_slow),
                  of.slow->median_ms / 1e3,
                  fewer ? "only " : "",
                  three_digits(of.times()),
                  requests_words(of),
                  must(same_work())};
    const auto l1_fast = l1_percent(*of.fast, c[0]), l1_slow = l1_percent(*of.slow, c[0]);
    if (!l1_fast || !l1_slow || *l1_slow < 0) return right;
    const bool because = fewer && *l1_slow > *l1_fast;
    right = joined(right, {because ? ", because" : ";", *l1_slow, of.name(*of.of_slow)});
    return *l1_fast < 0 ? right : joined(right, {*l1_fast, of.name(*of.of_fast)});
}

std::vector<Rule> compare_rules() {
    const std::string kFaster = "*, *: * ~, * ~: {only |}@ times as fast with *";
    std::vector<Rule> rules{
        {"{A|B}, *: " + kFewer + " than {A|B} " + kOf + ".",
         SAYS(any, kernel_words(side(c[0])), times_fewer(c[0], c[3]), any, any, any,
              must(others(c[0], c[4]) && is_of(c[5])))},
        {"{A|B}, *: " + kFewer + " and " + kFewer + " than {A|B} " + kOf + ".",
         SAYS(any, kernel_words(side(c[0])), times_fewer(c[0], c[3]), any, times_fewer(c[0], c[5]), any, any,
              any, must(others(c[0], c[6]) && c[3] != c[5] && is_of(c[7])))},
        {"The same requests in both " + kOf + ": # load(s), # sector(s).",
         SAYS(any, *count_on_side(g_both->a, "load requests", whole_run(), of_run()),
              *count_on_side(g_both->b, "load sectors", whole_run(), of_run()),
              must(is_of(c[0]) && count_on_side(g_both->a, "load requests", whole_run(), of_run()) ==
                                      count_on_side(g_both->b, "load requests", whole_run(), of_run())))},
        {"{Loads of an element so far|Loads so far|so far}, step # of #{| of the run}",
         SAYS(any, {(of_run() ? s.block().first : 0) + s.cursor.step + 1, "step of A"},
              of_run() ? s.trace().steps() : s.steps(), any,
              must(!whole_run() && (c[3].empty() || of_run())))},
        {"Different work: * in A, * in B. A ratio compares the sizes as well.",
         SAYS(size_of_work(g_both->a), size_of_work(g_both->b))},
        {"Different work. For each multiplication B loads ~ × {fewer|more} elements than A in the whole run.",
         SAYS(beside_loads_a_multiplication(c[1]))},
        {"*, *: * ~, * ~: no difference beyond the spread of the runs.", SAYS(faster(c))},
        {kFaster + ".", SAYS(faster(c))},
        {kFaster + "{, because|;} the L1 cache serves at least # % of *'s load sectors.", SAYS(faster(c))},
        {kFaster + "{, because|;} the L1 cache serves at least # % of *'s load sectors and # % of *'s.",
         SAYS(faster(c))},
        {"Different parts: * stored in A, * in B. A ratio compares these as well.",
         SAYS(bytes_text(g_both->a.f.whole(kGlobalStore).bytes),
              bytes_text(g_both->b.f.whole(kGlobalStore).bytes))},
        {"{A|B}'s result is wrong in # element(s), the first @; {A|B}'s is right.",
         SAYS(any, wrong_elements(side(c[0])).first,
              side(c[0]).name(side(c[0]).f.number("P"), wrong_elements(side(c[0])).second), any,
              must(others(c[0], c[3])))},
        {"{A|B} is at fault at # step(s) of this block, {A|B} at none{|; A's right result was luck|; B's "
         "right result was luck}.",
         SAYS(any, faulty_steps(side(c[0])), any, any,
              must(others(c[0], c[2]) && faulty_steps(side(c[2])) == 0))},
        {"block@, step # of #, phase # (#{st|nd|rd|th} of #)",
         SAYS(s.block_words(s.cursor.block), {s.cursor.step + 1, "step of the block"},
              {s.steps(), "steps of the block"},
              {s.f.phase(s.cursor.block, s.cursor.step), "phase of the step"},
              s.f.phase(s.cursor.block, s.cursor.step) + 1, any, s.f.phases(s.cursor.block),
              must(s.first() == 0))},
        {"block@, step # of #, phase # of #",
         SAYS(s.block_words(s.cursor.block), {s.cursor.step + 1, "step of the block"},
              {s.steps(), "steps of the block"},
              {s.f.phase(s.cursor.block, s.cursor.step) + 1, "phase of the step"}, s.f.phases(s.cursor.block),
              must(s.first() == 1))},
        {"block@, step # of #, after the last phase",
         SAYS(s.block_words(s.cursor.block), {s.cursor.step + 1, "step of the block"}, s.steps(),
              must(s.r().kind == kGlobalStore))},
        {"block@, step # of #",
         SAYS(s.block_words(s.cursor.block), {s.cursor.step + 1, "step of the block"}, s.steps())},
        {"block@, step #", SAYS(s.block_words(s.cursor.block), {s.cursor.step + 1, "step of the block"})},
    };
    rules.insert(rules.end(), step_rules().begin(), step_rules().end());
    return rules;
}

// every: that a figure changed in any text is found, too.
void hold_compare_screen(trace::Trace one, trace::Trace two, Lot& lot, const std::string& what, int places,
                         bool every = false) {
    static Drawn small(1280, 720), large(1600, 1000);
    const auto a = std::make_shared<const trace::Trace>(std::move(one)),
               b = std::make_shared<const trace::Trace>(std::move(two));
    const twin::Recording of_a(a), of_b(b);
    State state;
    show_trace(state, a, "a.tsc");
    auto beside = session::make_recording(b, "b.tsc");
    ASSERT_TRUE(beside);
    set_beside(state.session, *beside);
    for (int place = 0; place < places; ++place) {
        place_by_lot(lot, state, of_a);
        state.session.pin = {};
        state.session.screen = "compare";
        state.compare.lock = static_cast<compare::Lock>(lot.below(3));
        state.compare.whole_run = lot.below(3) == 0;
        const std::set<uint32_t> told = steps_at_fault(of_a, state.session.cursor.block, false);
        if (of_a.trace.meta.kernel == of_b.trace.meta.kernel && !told.empty())  // twice the same: at a fault
            state.session.cursor.step =
                *std::next(told.begin(), lot.below(static_cast<uint32_t>(told.size())));
        const bool big = state.session.lecture || lot.below(2) == 0;
        Drawn& drawn = big ? large : small;
        const float width = big ? 1600 : 1280;
        drawn.frames(state);
        const Notation& in_a = state.session.recording->notation;
        const Notation& in_b = state.session.pair.other.recording->notation;
        const Both both{{state, of_a, state.session.cursor, "A ", &in_a},
                        {state, of_b, state.session.pair.other.cursor, "B ", &in_b}};
        const Scene middle{state, of_a, state.session.cursor, "", &in_a};
        g_both = &both;
        g_seen = &drawn.seen();
        const auto side_of = [&](const draw::Written& text) -> const Scene& {
            // The panels of one recording are narrow; what lies above reaches over both.
            bool panels = false;
            for (const ImVec4& of : drawn.seen().surfaces)
                panels = panels || (of.z - of.x < 0.4f * width && text.min.x >= of.x && text.max.x <= of.z &&
                                    text.min.y >= of.y && text.min.y < of.w);
            return panels && text.max.x < 0.32f * width   ? both.a
                   : panels && text.min.x > 0.68f * width ? both.b
                                                          : middle;
        };
        const auto complaints = [&](const draw::Inspection& seen) {
            return Page(seen, middle, side_of).complaints(compare_rules(), compare_tables);
        };
        const std::string where =
            fmt::format("{}, place {}, {}{}, block {}, step {}: ", what, place, width,
                        state.session.lecture ? " lecture" : "", middle.cursor.block, middle.cursor.step + 1);
        for (const std::string& complaint : complaints(drawn.seen())) ADD_FAILURE() << where << complaint;
        if (!every) continue;
        for (const std::string& text : unheld(drawn.seen(), complaints))
            ADD_FAILURE() << where << "changed and not found: " << text;
    }
}

TEST(FiguresOfTheCompareScreen, OfProducts) {
    SKIP_WITHOUT_GLYPHS();
    for (uint32_t seed = 0; seed < 40; ++seed) {
        Lot lot(seed + 1000);
        const char *a = kKernels[lot.below(std::size(kKernels))],
                   *b = kKernels[lot.below(std::size(kKernels))];
        trace::Trace one = product_by_lot(lot, a);
        kernels::Shape shape{one.launch.arrays[0].rows, one.launch.arrays[0].cols, one.launch.arrays[1].cols,
                             one.launch.block.x};
        trace::Trace two = seed % 2 == 0 ? kernels::recorded(b, shape) : product_by_lot(lot, b);
        hold_compare_screen(std::move(one), std::move(two), lot,
                            fmt::format("{} and {}, seed {}", a, b, seed), 2);
    }
}

TEST(FiguresOfTheCompareScreen, OfTimedSizes) {
    SKIP_WITHOUT_GLYPHS();
    const kernels::Shape timed[] = {{4, 4, 4, 2}, {16, 16, 16, 4}, {20, 20, 20, 8}, {64, 64, 64, 16}};
    for (uint32_t seed = 0; seed < 12; ++seed) {
        Lot lot(seed + 3000);
        const char *a = kKernels[lot.below(std::size(kKernels))],
                   *b = kKernels[lot.below(std::size(kKernels))];
        const kernels::Shape& shape = timed[seed == 0 ? 3 : seed % 3];
        hold_compare_screen(kernels::recorded(a, shape), kernels::recorded(b, shape), lot,
                            fmt::format("{} and {} of {}", a, b, shape.n), 2, seed == 1);
    }
}

TEST(FiguresOfTheCompareScreen, OfFaults) {
    SKIP_WITHOUT_GLYPHS();
    for (uint32_t seed = 0; seed < 12; ++seed) {
        Lot lot(seed + 2000);
        const char* kernel = seed % 4 == 0 ? "tiled_stale_edge" : "tiled_no_barrier";
        const trace::Trace made = product_by_lot(lot, kernel);
        hold_compare_screen(made, made, lot, fmt::format("{} twice, seed {}", kernel, seed), 6);
    }
}

TEST(WrongFiguresOfTheCompareScreen, AreFoundInEveryText) {
    SKIP_WITHOUT_GLYPHS();
    Lot lot(5);
    const auto of = [](const char* kernel, kernels::Shape shape) { return kernels::recorded(kernel, shape); };
    hold_compare_screen(of("untiled", {20, 20, 20, 8}), of("tiled", {20, 20, 20, 8}), lot, "times", 1, true);
    hold_compare_screen(of("untiled", {6, 7, 9, 4}), of("tiled", {5, 7, 9, 4}), lot, "other work", 1, true);
    hold_compare_screen(of("tiled", {16, 20, 16, 8}), of("tiled_stale_edge", {16, 20, 16, 8}), lot, "a fault",
                        1, true);
}

TEST(FiguresOfTheCompareScreen, OfLaunches) {
    SKIP_WITHOUT_GLYPHS();
    Lot lot(77);
    for (const kernels::Plan& plan : kernels::launch_examples())
        hold_compare_screen(kernels::recorded(plan), product_by_lot(lot, "tiled"), lot, plan.kernel, 2);
}

}  // namespace
}  // namespace tilescope::app
