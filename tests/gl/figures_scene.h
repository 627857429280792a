// For the tests of figures: a place in a recording, and what texts may say of it, counted by twin::Recording.
#pragma once

#include <functional>
#include <random>

#include "core/base/contents.h"
#include "tests/gl/compare_drawn.h"
#include "tests/gl/figures.h"
#include "tests/launch_examples.h"
#include "tests/twin/recording.h"

namespace tilescope::app {

using test::Captures, test::Figure, twin::Request, twin::Tally;
using twin::kBarrier, twin::kGlobalLoad, twin::kGlobalStore, twin::kSharedLoad, twin::kSharedStore;

// What is drawn: a recording, and where in it.
struct Scene {
    const State& state;
    const twin::Recording& f;
    playback::Cursor cursor;
    std::string side{};                // "A " or "B " of the Compare screen's
    const Notation* spoken = nullptr;  // of that one's
    const Notation& notation() const {
        return spoken != nullptr ? *spoken : state.session.recording->notation;
    }
    const trace::Trace& trace() const { return f.trace; }
    const trace::Block& block() const { return f.trace.blocks[cursor.block]; }
    const Request& r() const { return f.at(cursor.block, cursor.step); }
    uint32_t steps() const { return f.steps(cursor.block); }
    uint32_t first() const { return notation().phases_from_1 ? 1 : 0; }  // phase
    const Array& of(uint8_t array) const { return f.trace.launch.arrays[array]; }
    std::string name(uint8_t array) const { return test::array_text(of(array), notation()); }
    std::string name(uint8_t array, uint64_t element) const {
        return test::element_text(of(array), element, notation());
    }
    std::string thread(uint32_t thread) const { return "thread" + thread_index(thread); }
    std::string thread_index(uint32_t thread) const {
        return test::thread_index_text(trace().launch.block, thread, notation());
    }
    std::string block_words(size_t number) const {
        const trace::Block& b = trace().blocks[number];
        const Dim3& grid = trace().launch.grid;
        if (grid.y == 1 && grid.z == 1) return fmt::format("({})", b.x);
        if (grid.z > 1)
            return notation().x_first ? fmt::format("({},{},{})", b.x, b.y, b.z)
                                      : fmt::format("({},{},{})", b.z, b.y, b.x);
        return notation().x_first ? fmt::format("({},{})", b.x, b.y) : fmt::format("({},{})", b.y, b.x);
    }
    std::string phase(uint32_t step) const {
        const uint32_t p = f.phase(cursor.block, step);
        return p == twin::kAfterPhases ? "after the last phase" : fmt::format("phase {}", p + first());
    }
    bool clocked() const { return !trace().time.empty(); }
    uint32_t clock(uint32_t step) const { return trace().time[block().first + step]; }
    std::string when(uint32_t step) const {  // "step 12 (clock 1,204)"
        return fmt::format("step {}", grouped(step + 1)) +
               (clocked() ? fmt::format(" (clock {})", grouped(clock(step))) : "");
    }
    // The array and the linear number of an element that is named; nothing for what is no such name.
    std::optional<std::pair<uint8_t, uint64_t>> element(const std::string& text) const {
        for (uint8_t i = 0; i < trace().launch.arrays.size(); ++i)
            if (text.starts_with(name(i) + "["))
                for (uint64_t e = 0; e < of(i).elements(); ++e)
                    if (name(i, e) == text) return std::pair(i, e);
        return std::nullopt;
    }
    std::optional<uint32_t> thread_named(const std::string& text) const {  // "thread[1,0]" or "[1,0]"
        for (uint32_t t = 0; t < trace().launch.block.count(); ++t)
            if (thread(t) == text || thread_index(t) == text) return t;
        return std::nullopt;
    }
};

// A rule that looks at a text: what was captured, and what it finds wrong.
struct Reading {
    const Scene& s;
    const Captures& c;
    std::vector<std::string> wrong{};
    std::vector<std::pair<std::string, std::string>> numbers{};  // the thing, what is said of it

    void say(const std::string& what) { wrong.push_back(what); }
    void hold(const std::vector<Figure>& figures) {
        size_t at = 0;
        for (const Figure& figure : figures) {
            const bool condition = figure.kind == Figure::Kind::Condition;
            if (!condition && at == c.size()) return say("the rule has more figures than the text");
            if (const std::string no = test::disagrees(condition ? "" : c[at], figure); !no.empty()) say(no);
            if (condition) continue;
            if (!figure.key.empty()) numbers.emplace_back(s.side + figure.key, test::without_groups(c[at]));
            ++at;
        }
        if (at != c.size()) say("the rule has fewer figures than the text");
    }
};
using Figures = std::vector<Figure>;
struct Rule {
    std::string pattern;
    std::function<Figures(const Scene& s, const Captures& c)> right;
};
// What a text must say, in the order of its places; must() what else has to be so for it to be true.
#define SAYS(...)                                                                        \
    []([[maybe_unused]] const Scene& s, [[maybe_unused]] const Captures& c) -> Figures { \
        return {__VA_ARGS__};                                                            \
    }
inline Figure must(bool so) { return Figure::condition(so); }
inline const Figure any;  // a place that another figure of the same text decides

// --- what rules of several screens ask

// The distinct elements that a request touches.
struct Shape {
    std::vector<uint64_t> elements;
    uint64_t runs = 0, run_length = 0;  // 0: of different lengths
    std::string repeats;
    bool misaligned = false;  // a run begins inside a sector
    bool one_column = true;
};
inline Shape shape_of(const Scene& s, const Request& r) {
    Shape shape;
    const uint64_t width = r.array == trace::kNoArray ? 4 : s.of(r.array).element_bytes();
    const uint64_t cols = r.array == trace::kNoArray ? 1 : std::max(s.of(r.array).cols, 1u);
    std::map<uint64_t, uint64_t> lanes;
    s.f.elements(r, [&](uint32_t, uint64_t e) { ++lanes[e]; });
    uint64_t least = ~0ull, most = 0, length = 0;
    for (const auto& [e, count] : lanes) {
        least = std::min(least, count), most = std::max(most, count);
        const bool begins = shape.elements.empty() || shape.elements.back() + 1 != e;
        if (begins) {
            if (shape.runs > 0) shape.run_length = shape.runs == 1 || shape.run_length == length ? length : 0;
            ++shape.runs, length = 0;
            shape.misaligned = shape.misaligned || (r.base + e * width) % 32 != 0;
        }
        ++length;
        shape.one_column = shape.one_column && e % cols == lanes.begin()->first % cols;
        shape.elements.push_back(e);
    }
    shape.run_length = shape.runs <= 1 || shape.run_length == length ? length : 0;
    shape.repeats = least != most ? ", some more than once"
                    : most == 1   ? ""
                    : most == 2   ? ", each twice"
                                  : fmt::format(", each {} times", most);
    return shape;
}

// The places at which a request may be said to be: its box of elements, or rows and columns of a tile that
// the block touches in this phase, or of a shared array, where the box is as wide as that.
inline std::vector<std::string> places(const Scene& s) {
    const Request& r = s.r();
    if (r.array == trace::kNoArray) return {"memory outside every array"};
    const Array& array = s.of(r.array);
    const uint64_t cols = std::max(array.cols, 1u), rows = std::max(array.rows, 1u);
    std::array<std::set<uint64_t>, 3> at;  // slices, rows, columns
    s.f.elements(r, [&](uint32_t, uint64_t e) {
        at[0].insert(array.rank > 2 ? e / cols / rows : 0);
        at[1].insert(array.rank > 1 ? (array.rank > 2 ? e / cols % rows : e / cols) : 0);
        at[2].insert(array.rank > 1 ? e % cols : e);
    });
    const auto span = [](const std::set<uint64_t>& of) {
        return *of.begin() == *of.rbegin() ? std::to_string(*of.begin())
                                           : fmt::format("{}..{}", *of.begin(), *of.rbegin());
    };
    std::vector<std::string> box;
    for (size_t i = 3 - std::max<size_t>(array.rank, 1); i < 3; ++i) box.push_back(span(at[i]));
    std::vector<std::string> said{s.name(r.array) + test::indices_text(box, s.notation())};
    if (array.rank != 2 || r.lanes == 0) return said;
    twin::Recording::Box whole{0, array.rows, 0, array.cols};
    std::string name = s.name(r.array);
    if (array.space == Space::Global) {
        if (!s.f.product() || !s.f.tiled() || r.kind != kGlobalLoad) return said;
        const uint32_t phase = s.f.phase(s.cursor.block, s.cursor.step);
        whole = s.f.box(r.array, [&](uint64_t step) {
            const uint64_t first = s.block().first;
            return step >= first && step < first + s.steps() &&
                   s.f.phase(s.cursor.block, static_cast<uint32_t>(step - first)) == phase;
        });
        name = fmt::format("the {} tile", name);
    }
    const auto range = [&](const char* noun, const std::set<uint64_t>& of, uint64_t from) {
        const uint64_t a = *of.begin() - from, b = *of.rbegin() - from;
        return a == b       ? fmt::format("{} {}", noun, a)
               : b == a + 1 ? fmt::format("{}s {} and {}", noun, a, b)
                            : fmt::format("{}s {} to {}", noun, a, b);
    };
    const bool wide = *at[2].begin() == whole[2] && *at[2].rbegin() + 1 == whole[3];
    const bool high = *at[1].begin() == whole[0] && *at[1].rbegin() + 1 == whole[1];
    if (wide && high) said.push_back("all of " + name);
    if (wide) said.push_back(range("row", at[1], whole[0]) + " of " + name);
    if (high) said.push_back(range("column", at[2], whole[2]) + " of " + name);
    return said;
}

inline std::string recorder(const trace::Meta& meta) {
    if (meta.backend == trace::Backend::Cpu) return "CPU lockstep";
    return meta.device + (meta.driver.empty() ? "" : ", driver " + meta.driver) +
           (meta.price.launches == 0
                ? ""
                : fmt::format(", {} launch{}", meta.price.launches, meta.price.launches == 1 ? "" : "es"));
}
inline std::vector<std::string> recorders(const trace::Meta& meta) {
    const std::string whole = recorder(meta);
    return {whole, whole.substr(0, whole.find(','))};
}

inline Figures product_title(const Scene& s, const Captures& c) {
    Figures right{s.trace().meta.kernel,         {s.f.T, "T of the recording"}, {s.f.m, "m of the recording"},
                  {s.f.k, "k of the recording"}, {s.f.n, "n of the recording"}, recorders(s.trace().meta)};
    right.resize(c.size());
    return right;
}
inline Figures launch_title(const Scene& s, const Captures& c) {
    Figures right{s.trace().meta.kernel, test::size_words(s.trace().launch.grid),
                  test::size_words(s.trace().launch.block), recorders(s.trace().meta)};
    right.resize(c.size());
    return right;
}

inline Figures joined(Figures all, const Figures& more) {
    all.insert(all.end(), more.begin(), more.end());
    return all;
}
inline bool global(const Request& q) { return q.kind == kGlobalLoad || q.kind == kGlobalStore; }
inline Figure cost(const Scene& s) {
    return {s.r().cost, global(s.r()) ? "sectors of the request" : "wavefronts of the request"};
}
inline Figure lanes(const Scene& s) { return {s.r().lanes, "lanes of the request"}; }
inline Figure warp(const Scene& s) { return {s.r().warp, "warp of the request"}; }

// "Warp 0 loads M[0,0..15]: 16 lanes, 2 sectors." and more.
inline Figures caption(const Scene& s, const Figures& also = {}) {
    const std::vector<std::string> verbs[] = {
        {"loads"}, {s.f.product() ? "writes its sums to" : "stores to"}, {"reads"}, {"fills"}, {}};
    const std::string noun = global(s.r()) ? "sector" : "wavefront";
    return joined(
        {warp(s), verbs[s.r().kind], places(s), lanes(s), cost(s), noun + (s.r().cost == 1 ? "" : "s")},
        also);
}
// Products that each active lane adds right after the step; nothing where they differ.
inline std::optional<uint64_t> products_added(const Scene& s) {
    const twin::Played& played = s.f.play(s.cursor.block, s.cursor.step);
    std::set<uint32_t> added;
    for (uint32_t lane = 0; lane < 32; ++lane)
        if (s.r().active(lane)) added.insert(played.added[s.r().warp * 32 + lane]);
    return added.size() == 1 ? std::optional<uint64_t>(*added.begin()) : std::nullopt;
}
inline uint64_t zeros_stored(const Scene& s) {
    const twin::Played& played = s.f.play(s.cursor.block, s.cursor.step);
    uint64_t zeros = 0;
    s.f.elements(s.r(), [&](uint32_t, uint64_t e) {
        const auto cell = played.cells.find({s.r().array, e});
        zeros += cell != played.cells.end() && cell->second.source < 0;
    });
    return zeros;
}

// More sectors than the least of all, and no more than the warp's rows of threads need.
inline bool least_of_rows(const Request& q) {
    return global(q) && q.cost > q.least && q.cost == q.global.least_of_rows;
}
// Lanes, what they touch, and the price of it: `middle` are the figures between.
inline Figures verdict(const Scene& s, const Figures& middle) {
    const Request& q = s.r();
    const bool load = q.kind == kGlobalLoad || q.kind == kSharedLoad, one = q.lanes == 1;
    Figures right = joined({lanes(s), load ? (one ? "reads" : "read") : (one ? "writes" : "write")}, middle);
    right.push_back(cost(s));
    const bool least = q.cost <= q.least;
    if (least_of_rows(q)) {
        right.emplace_back(q.global.rows);
        right.emplace_back(q.least, "least of the request");
        return right;
    }
    if (global(q)) right.emplace_back(least ? "of" : "where");
    if (global(q) || !least) right.emplace_back(q.least, "least of the request");
    if (global(q)) right.emplace_back(least ? "needed" : "would do");
    return right;
}
// What may be added to how often: why the sectors are more than the least.
inline std::vector<std::string> reasons(const Scene& s) {
    const Shape shape = shape_of(s, s.r());
    std::vector<std::string> all{shape.repeats};
    if (s.r().cost <= s.r().least || least_of_rows(s.r())) return all;
    all.clear();
    if (shape.misaligned) all.push_back(shape.repeats + ", not starting at a sector's edge");
    const uint64_t bytes = shape.run_length * s.of(s.r().array).element_bytes();
    if (bytes < 32) all.push_back(shape.repeats + ", each shorter than a sector");
    if (bytes % 32 != 0) all.push_back(shape.repeats + ", each ending inside a sector");
    if (shape.runs == 1 && !shape.misaligned) all.push_back(shape.repeats);
    return all;
}
inline const std::string kLanes = "# lane(s) {reads|read|writes|write} ";
inline const std::string kSectors = ": # sector(s) {of|where} # {needed|would do}",
                         kSectorsOfRows = ": # sector(s) for # rows of threads, # at best";

// --- barriers: the warps of the block at the passage that the step belongs to

struct Passage {
    uint64_t arrived = 0, warps = 0;                                  // so far, in all
    uint32_t first = 0, last = 0, opens = 0, last_warp = 0, own = 0;  // clocks
};
inline Passage passage_of(const Scene& s) {
    Passage p;
    const uint32_t number = s.f.passed(s.cursor.block, s.cursor.step);
    std::set<uint32_t> came;
    for (uint32_t step = 0; step < s.steps(); ++step) {
        const Request& q = s.f.at(s.cursor.block, step);
        if (q.kind != kBarrier || s.f.passed(s.cursor.block, step) != number) continue;
        ++p.warps, p.arrived += step <= s.cursor.step;
        came.insert(q.warp);
        if (!s.clocked()) continue;
        if (p.warps == 1) p.first = s.clock(step);
        if (step == s.cursor.step) p.own = s.clock(step);
        p.last = p.opens = s.clock(step), p.last_warp = q.warp;
    }
    std::map<uint32_t, uint32_t> leaves;  // warps that do not come have left by then
    for (uint32_t step = 0; s.clocked() && step < s.steps(); ++step)
        leaves[s.f.at(s.cursor.block, step).warp] = s.clock(step);
    for (const auto& [warp, clock] : leaves)
        if (!came.contains(warp)) p.opens = std::max(p.opens, clock);
    return p;
}
inline double seconds(const Scene& s, double clocks) {
    return clocks / s.trace().meta.price.clock_mhz * 1e-6;
}

// --- the pin

inline uint32_t lane_spoken_of(const Scene& s) {
    const Pick& pin = s.state.session.pin;
    if (pin.kind == Pick::Kind::Thread && pin.thread / 32 == s.r().warp) return pin.thread % 32;
    return s.r().mask == 0 ? 0 : static_cast<uint32_t>(std::countr_zero(s.r().mask));
}
inline uint64_t byte_spoken_of(const Scene& s) { return s.r().at[lane_spoken_of(s)]; }
inline uint64_t element_spoken_of(const Scene& s) {
    return byte_spoken_of(s) / s.of(s.r().array).element_bytes();
}

inline std::string value_words(double value) {
    if (std::isnan(value)) return "NaN";
    const double size = std::abs(value);
    return (value < 0 ? "−" : "") + (std::floor(size) == size && size < 1e6 ? fmt::format("{:.0f}", size)
                                                                            : fmt::format("{:.3g}", size));
}
inline std::string value_of(const Scene& s, uint8_t array, uint64_t element) {
    return value_words(number_of(initial_value(s.of(array), element)));
}
// The thread that a pin speaks of: its own, or the one that stores the pinned element.
inline std::optional<uint32_t> thread_of_pin(const Scene& s) {
    const Pick& pin = s.state.session.pin;
    if (pin.kind == Pick::Kind::Thread) return pin.thread;
    if (pin.kind != Pick::Kind::Element) return std::nullopt;
    const auto stored = s.f.stores(s.cursor.block, pin.array, pin.index);
    return stored ? std::optional(stored->first) : std::nullopt;
}
// What a thread stores last.
inline std::optional<std::pair<uint8_t, uint64_t>> output_of(const Scene& s, uint32_t thread) {
    std::optional<std::pair<uint8_t, uint64_t>> last;
    for (uint32_t step = 0; step < s.steps(); ++step)
        if (const Request& q = s.f.at(s.cursor.block, step); q.kind == kGlobalStore && q.warp == thread / 32)
            s.f.elements(q, [&](uint32_t lane, uint64_t e) {
                if (lane == thread % 32) last = {q.array, e};
            });
    return last;
}
// Global loads of the pinned element by the block.
struct Loaded {
    uint64_t lanes = 0, requests = 0;
    uint32_t first = 0;
    std::set<uint32_t> threads;
};
inline Loaded loads_of(const Scene& s, uint8_t array, uint64_t element) {
    Loaded made;
    for (uint32_t step = 0; step < s.steps(); ++step)
        if (const Request& q = s.f.at(s.cursor.block, step); q.kind == kGlobalLoad && q.array == array) {
            const uint64_t before = made.lanes;
            s.f.elements(q, [&](uint32_t lane, uint64_t e) {
                if (e != element) return;
                if (made.lanes++ == 0) made.first = step;
                made.threads.insert(q.warp * 32 + lane);
            });
            made.requests += made.lanes > before;
        }
    return made;
}
inline twin::Cell cell_of(const Scene& s, uint8_t array, uint64_t element) {
    const twin::Played& played = s.f.play(s.cursor.block, s.cursor.step);
    const auto found = played.cells.find({array, element});
    return found == played.cells.end() ? twin::Cell{} : found->second;
}
inline twin::Cell pinned_cell(const Scene& s) {
    return cell_of(s, s.state.session.pin.array, s.state.session.pin.index);
}
inline bool stale(const Scene& s, const twin::Cell& cell) {
    return cell.written && s.f.phase(s.cursor.block, cell.step) != s.f.phase(s.cursor.block, s.cursor.step);
}
// Requests of the recording that touched the pinned element: {requests, lanes, blocks}.
inline std::array<uint64_t, 3> touches(const Scene& s) {
    std::array<uint64_t, 3> all{};
    for (const trace::Block& b : s.trace().blocks) {
        const uint64_t before = all[0];
        for (uint64_t step = b.first; step < b.first + b.count; ++step) {
            const Request& q = s.f.at(step);
            uint64_t lanes = 0;
            if (q.array == s.state.session.pin.array)
                s.f.elements(q, [&](uint32_t, uint64_t e) { lanes += e == s.state.session.pin.index; });
            all[0] += lanes > 0, all[1] += lanes;
        }
        all[2] += all[0] > before;
    }
    return all;
}

// --- recordings and places, drawn by lot

class Lot {
public:
    explicit Lot(uint32_t seed) : random_(seed) {}
    uint32_t below(uint32_t end) { return static_cast<uint32_t>(random_() % end); }
    uint32_t from(uint32_t first, uint32_t last) { return first + below(last - first + 1); }

private:
    std::mt19937 random_;
};

inline constexpr const char* kKernels[] = {"untiled",          "untiled_swapped",  "tiled",
                                           "tiled_swapped",    "tiled_transposed", "tiled_padded",
                                           "tiled_no_barrier", "tiled_stale_edge"};

inline trace::Trace product_by_lot(Lot& lot, const char* kernel) {
    constexpr uint32_t kTiles[] = {2, 4, 8, 16};
    const uint32_t T = kTiles[lot.below(4)], most = std::min(3 * T, 24u);
    kernels::Shape shape{lot.from(1, most), lot.from(1, most), lot.from(1, most), T};
    constexpr kernels::Shape kTimed[] = {{3, 3, 3, 2}, {4, 4, 4, 2}, {16, 16, 16, 4}, {20, 20, 20, 8}};
    if (lot.below(5) == 0) shape = kTimed[lot.below(4)];
    const auto plan = kernels::plan(kernel, shape);
    EXPECT_TRUE(plan);
    kernels::RecordOptions options;
    options.timestamp = false;
    const Dim3& grid = plan->launch.grid;
    if (lot.below(3) == 0) {
        options.window.x0 = lot.below(grid.x), options.window.y0 = lot.below(grid.y);
        options.window.x1 = lot.from(options.window.x0 + 1, grid.x),
        options.window.y1 = lot.from(options.window.y0 + 1, grid.y);
    }
    auto trace = kernels::record_cpu(*plan, options);
    EXPECT_TRUE(trace);
    return std::move(*trace);
}

inline void place_by_lot(Lot& lot, State& state, const twin::Recording& f) {
    session::Session& session = state.session;
    session.lecture = lot.below(4) == 0;
    session.theme = lot.below(2) == 0 ? Theme::Dark : Theme::Light;
    session.wording = {lot.below(3) == 0, lot.below(3) == 0,
                       static_cast<analysis::MatrixNames>(lot.below(3))};
    const uint32_t block = lot.below(static_cast<uint32_t>(f.trace.blocks.size()));
    if (f.steps(block) == 0) return;
    session.cursor = {block, lot.below(f.steps(block))};
    Pick& pin = session.pin;
    pin = {};
    const uint32_t threads = static_cast<uint32_t>(f.trace.launch.block.count());
    const auto element = [&](Space space) {
        for (int tries = 0; tries < 20; ++tries) {
            const uint32_t array = lot.below(static_cast<uint32_t>(f.trace.launch.arrays.size()));
            const Array& of = f.trace.launch.arrays[array];
            if (of.space != space || of.elements() == 0) continue;
            return look::picked_element(
                static_cast<uint8_t>(array), lot.below(static_cast<uint32_t>(of.elements())),
                space == Space::Global ? Pick::Kind::Element : Pick::Kind::SharedCell);
        }
        return Pick{};
    };
    switch (lot.below(8)) {
        case 0:
            pin.kind = Pick::Kind::Thread, pin.thread = lot.below(threads), pin.warp = pin.thread / 32;
            break;
        case 1: pin.kind = Pick::Kind::Warp, pin.warp = lot.below((threads + 31) / 32); break;
        case 2:
        case 3: pin = element(Space::Global); break;
        case 4: pin = element(Space::Shared); break;
        case 5:
            pin.kind = Pick::Kind::Site, pin.site = lot.below(static_cast<uint32_t>(f.trace.sites.size()));
            break;
        default: break;
    }
}

}  // namespace tilescope::app
