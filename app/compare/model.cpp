#include "app/compare/model.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <iterator>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "app/look/sums.h"
#include "app/look/time_words.h"

namespace tilescope::compare {

using analysis::Sums;
using look::claim, look::ReportedClaim, look::same_size, look::same_work, look::stored, look::three_digits;
namespace {

// `at` of `count` steps, as one of `other`: the first is the first and the last the last.
uint64_t same_share(uint64_t at, uint64_t count, uint64_t other) {
    if (other == 0) return 0;
    if (count == other || count <= 1) return std::min(at, other - 1);
    const double share = static_cast<double>(at) / static_cast<double>(count - 1);
    return std::min(static_cast<uint64_t>(std::llround(share * static_cast<double>(other - 1))), other - 1);
}

// The step of all of a run at which a cursor stands.
uint64_t run_step(const trace::Trace& trace, playback::Cursor at) {
    return at.block < trace.blocks.size() ? trace.blocks[at.block].first + at.step : 0;
}

// The last part of the block whose `from`, its first step or its phase, is not beyond `at`.
const look::PhaseSpan* last_span(const BlockIndex& index, uint32_t look::PhaseSpan::*from, uint32_t at) {
    const auto after = std::ranges::upper_bound(index.spans, at, {}, from);
    return after == index.spans.begin() ? nullptr : &*(after - 1);
}

uint32_t same_phase(const BlockIndex& a, uint32_t step, const BlockIndex& b) {
    const look::PhaseSpan* from = last_span(a, &look::PhaseSpan::first, step);
    if (from == nullptr || a.phases.phases == 0 || b.phases.phases == 0)
        return static_cast<uint32_t>(same_share(step, a.steps, b.steps));
    const uint64_t length = std::max(from->end - from->first, 1u), into = step - from->first;
    uint64_t phase = analysis::kAfter, part = into, parts = length;  // of B: a phase, and part/parts into it
    if (from->phase != analysis::kAfter) {
        // x phases into A is x * PB / PA phases into B.
        const uint64_t scaled = (from->phase * length + into) * b.phases.phases;
        parts = a.phases.phases * length;
        phase = scaled / parts;
        part = scaled % parts;
    }
    const look::PhaseSpan* to = last_span(b, &look::PhaseSpan::phase, static_cast<uint32_t>(phase));
    if (to == nullptr) return 0;
    // A phase that B's block never begins: it stands at the end of what came before.
    if (to->phase != phase) return to->end - 1;
    const uint64_t room = std::max(to->end - to->first, 1u);
    // What follows the loop ends in both at once.
    if (phase == analysis::kAfter) return to->first + static_cast<uint32_t>(same_share(into, length, room));
    return to->first + static_cast<uint32_t>(part * room / parts);
}

}  // namespace

std::optional<Lock> lock_of(std::string_view name) {
    const auto found = std::find(std::begin(kLockNames), std::end(kLockNames), name);
    if (found == std::end(kLockNames)) return std::nullopt;
    return static_cast<Lock>(found - std::begin(kLockNames));
}

uint32_t partner_block(Lock lock, const Run& a, playback::Cursor at, const Run& b) {
    if (b.trace.blocks.empty() || at.block >= a.trace.blocks.size()) return 0;
    if (lock == Lock::Share)
        return trace::block_of(b.trace, same_share(run_step(a.trace, at), a.trace.steps(), b.trace.steps()));
    const auto number = [](const auto& all, auto found) {
        return static_cast<uint32_t>(found - all.begin());
    };
    if (const CellRect& mine = a.tally.outputs[at.block]; !mine.empty()) {
        const auto has_its_first = [&](const CellRect& rect) { return rect.contains(mine.row0, mine.col0); };
        const auto found = std::ranges::find_if(b.tally.outputs, has_its_first);
        if (found != b.tally.outputs.end()) return number(b.tally.outputs, found);
    }
    const auto place = [](const trace::Block& block) { return std::tuple(block.x, block.y, block.z); };
    const auto found = std::ranges::find(b.trace.blocks, place(a.trace.blocks[at.block]), place);
    return found == b.trace.blocks.end() ? 0 : number(b.trace.blocks, found);
}

uint32_t partner_step(Lock lock, const Run& a, const BlockIndex& a_index, playback::Cursor at, const Run& b,
                      const BlockIndex& b_index) {
    if (b_index.steps == 0) return 0;
    const uint32_t last = b_index.steps - 1;
    if (lock == Lock::Step) return std::min(at.step, last);
    if (lock == Lock::Phase) return std::min(same_phase(a_index, at.step, b_index), last);
    const uint64_t step = same_share(run_step(a.trace, at), a.trace.steps(), b.trace.steps());
    const uint64_t into = step - std::min(step, b_index.first);
    return static_cast<uint32_t>(std::min<uint64_t>(into, last));
}

uint32_t leading_step(Lock lock, const Run& a, const BlockIndex& a_index, const Run& b,
                      const BlockIndex& b_index, uint32_t step) {
    // B never goes back while A goes on: a binary search.
    uint32_t low = 0, high = a_index.steps == 0 ? 0 : a_index.steps - 1;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (partner_step(lock, a, a_index, {a_index.block, middle}, b, b_index) < step)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

Costs costs_so_far(Lock lock, const Run& a, const BlockIndex& a_index, uint32_t a_step, const Run& b,
                   const BlockIndex& b_index, uint32_t b_step) {
    const auto of = [&](const Run& one, const BlockIndex& index, uint32_t step) {
        SplitSums sums = sums_so_far(one.trace, index, step);
        if (lock == Lock::Share && index.block < one.tally.before.size())
            sums += one.tally.before[index.block];
        return sums;
    };
    return {of(a, a_index, a_step), of(b, b_index, b_step)};
}

Counters counters(Lock lock, const Run& a, const BlockIndex& a_index, uint32_t a_step, const Run& b,
                  const BlockIndex& b_index, uint32_t b_step) {
    Counters made;
    made.of_run = lock == Lock::Share;
    const auto right = [](const Run& one) {
        return (!one.trace.meta.result.checked || one.trace.meta.result.verified) && one.faults == 0;
    };
    made.products = a.tally.product && same_size(a, b);
    const bool comparable = right(a) && right(b) && same_work(a, b);
    const auto [here_a, here_b] = costs_so_far(lock, a, a_index, a_step, b, b_index, b_step);
    const SplitSums all[] = {a.tally.before.back(), b.tally.before.back()};
    using enum StepKind;
    static constexpr struct {
        std::string_view what;
        StepKind kind, and_kind;  // the same twice where it counts one kind
        uint64_t Sums::*count;
        bool bytes = false, least = false;
    } kRows[] = {{"load requests", GlobalLoad, GlobalLoad, &Sums::requests},
                 {"load sectors", GlobalLoad, GlobalLoad, &Sums::sectors},
                 {"least sectors", GlobalLoad, GlobalLoad, &Sums::ideal_sectors, false, true},
                 {kEfficiency, GlobalLoad, GlobalLoad, &Sums::bytes, false, true},
                 {"bytes loaded", GlobalLoad, GlobalLoad, &Sums::bytes, true},
                 {"store sectors", GlobalStore, GlobalStore, &Sums::sectors},
                 {"shared requests", SharedLoad, SharedStore, &Sums::requests},
                 {"wavefronts", SharedLoad, SharedStore, &Sums::wavefronts},
                 {"least wavefronts", SharedLoad, SharedStore, &Sums::ideal_wavefronts, false, true},
                 {"shared bytes", SharedLoad, SharedStore, &Sums::bytes, true},
                 {"atomic requests", GlobalAtomic, SharedAtomic, &Sums::requests},
                 {"atomic turns", GlobalAtomic, SharedAtomic, &Sums::turns},
                 {"local requests", LocalLoad, LocalStore, &Sums::requests},
                 {"local sectors", LocalLoad, LocalStore, &Sums::sectors},
                 {"constant requests", ConstantLoad, ConstantLoad, &Sums::requests},
                 {"constant words", ConstantLoad, ConstantLoad, &Sums::addresses},
                 {kIdle, GlobalLoad, GlobalLoad, nullptr},
                 {kIdleShare, GlobalLoad, GlobalLoad, nullptr, false, true},
                 {"barrier arrivals", Barrier, Barrier, nullptr},
                 {"exchanges", Exchange, Exchange, nullptr}};
    for (const auto& row : kRows) {
        const auto count = [&row](const SplitSums& sums) {
            if (row.kind == Barrier) return sums.barriers;
            if (row.kind == Exchange) return sums.exchanges;
            if (row.count == nullptr) return sums.total().idle_lanes();
            return sums[row.kind].*row.count + (row.and_kind != row.kind ? sums[row.and_kind].*row.count : 0);
        };
        const Count whole{count(all[0]), count(all[1])};
        if (whole.a + whole.b == 0) continue;
        const bool merit = comparable && !row.least && whole.a > 0 && whole.b > 0;
        CounterRow shown;
        shown.what = row.what;
        shown.kind = row.kind;
        shown.bytes = row.bytes;
        shown.least = row.least;
        shown.merit = merit;
        shown.so_far = {count(here_a), count(here_b)};
        shown.whole = whole;
        const auto of = [&row](const SplitSums& sums) {
            return row.what == kEfficiency ? sums[row.kind].moved_bytes() : sums.total().all_lanes();
        };
        shown.share = row.what == kEfficiency || row.what == kIdleShare;
        if (shown.share) {
            shown.so_far_of = {of(here_a), of(here_b)};
            shown.whole_of = {of(all[0]), of(all[1])};
        }
        made.rows.push_back(std::move(shown));
    }
    return made;
}

CellRect part_shown(uint32_t rows, uint32_t cols, const CellRect& touched, const CellRect& tile) {
    constexpr uint32_t kSmall = 160, kLeast = 32, kMost = 256;  // cells a side
    const CellRect all{0, rows, 0, cols};
    const uint64_t area = uint64_t{touched.rows()} * touched.cols();
    if (std::max(rows, cols) <= kSmall || touched.empty() || area * 2 >= uint64_t{rows} * cols) return all;
    const uint32_t side = std::clamp(
        std::max({std::min(touched.rows(), touched.cols()), tile.rows(), tile.cols()}), kLeast, kMost);
    const auto page = [&](uint32_t first, uint32_t end, uint32_t at, uint32_t size) {
        const uint32_t from = at > first ? first + (std::min(at, end - 1) - first) / side * side : first;
        const uint32_t low = from + side <= size ? from : size - std::min(side, size);
        return std::pair{low, std::min(low + side, size)};
    };
    const auto [row0, row1] = page(touched.row0, touched.row1, tile.empty() ? 0 : tile.row0, rows);
    const auto [col0, col1] = page(touched.col0, touched.col1, tile.empty() ? 0 : tile.col0, cols);
    return {row0, row1, col0, col1};
}

// --- what is said about the two: numbers, ratios, and the sentence that they come to

std::string counter_text(const CounterRow& row, uint64_t count, uint64_t of) {
    if (!row.share) return grouped(count);
    return of == 0 ? "-" : share_text(static_cast<double>(count) / static_cast<double>(of));
}

std::string ratio_text(const Count& count) {
    const auto ratio = count.ratio();
    return ratio ? three_digits(*ratio) : "";
}

namespace {

// Of different work: whole products have a measure that does not depend on their sizes. It is of the whole run, however
// far that is.
std::string different_work(const Run& a, const Run& b) {
    const auto whole = [](const Run& run) {
        const auto& product = run.tally.product;
        return product && stored(run) == uint64_t{product->m} * product->n * sizeof(float);
    };
    const auto each = [](const Run& run) {
        const auto& product = run.tally.product;
        return static_cast<double>(run.tally.before.back()[StepKind::GlobalLoad].lanes) /
               (static_cast<double>(product->m) * product->k * product->n);
    };
    if (!whole(a) || !whole(b) || each(a) == 0 || each(b) == 0)
        return "Different work: fewer requests do not mean better.";
    const std::string fewer = times_fewer(each(a), each(b));
    if (fewer == "same")
        return "Different work. For each multiplication both load as many elements in the whole run.";
    return fmt::format("Different work. For each multiplication B loads {} elements than A in the whole run.",
                       fewer);
}

}  // namespace

std::string headline(const Run& a, const Run& b, const Costs* so_far) {
    // The one that is spoken of, its letter, and that of the other.
    const auto spoken_of = [&](bool is_a) -> std::tuple<const Run&, char, char> {
        return {is_a ? a : b, is_a ? 'A' : 'B', is_a ? 'B' : 'A'};
    };
    const trace::Verification &ra = a.trace.meta.result, &rb = b.trace.meta.result;
    if (ra.checked && rb.checked && ra.verified != rb.verified) {
        const auto& [wrong, letter, other] = spoken_of(rb.verified);
        std::string said = look::result_text(wrong.trace, wrong.recording.notation);
        said.replace(0, 6, fmt::format("{}'s result is", letter));
        return fmt::format("{}; {}'s is right.", said, other);
    }
    if ((a.faults > 0) != (b.faults > 0)) {
        const auto& [wrong, letter, other] = spoken_of(a.faults > 0);
        const bool right = wrong.trace.meta.result.verified;
        return fmt::format("{} is at fault at {} of this block, {} at none{}.", letter,
                           counted(wrong.faults, "step"), other,
                           right ? fmt::format("; {}'s right result was luck", letter) : "");
    }
    const SplitSums &sa = so_far ? so_far->a : a.tally.before.back(),
                    &sb = so_far ? so_far->b : b.tally.before.back();
    if (!same_work(a, b)) return different_work(a, b);
    ReportedClaim claims[] = {
        claim({sa[StepKind::GlobalLoad].requests, sb[StepKind::GlobalLoad].requests}, "load requests"),
        claim({sa[StepKind::GlobalLoad].sectors, sb[StepKind::GlobalLoad].sectors}, "load sectors"),
        claim({sa[StepKind::SharedLoad].wavefronts + sa[StepKind::SharedStore].wavefronts,
               sb[StepKind::SharedLoad].wavefronts + sb[StepKind::SharedStore].wavefronts},
              "wavefronts of shared memory"),
        claim({sa.barriers, sb.barriers}, "arrivals at barriers"),
    };
    std::ranges::stable_sort(claims, std::greater(), &ReportedClaim::factor);
    if (claims[0].text.empty())
        claims[0] =
            claim({sa[StepKind::GlobalStore].sectors, sb[StepKind::GlobalStore].sectors}, "store sectors");
    if (claims[0].text.empty())
        claims[0] = claim({sa.total().idle_lanes(), sb.total().idle_lanes()}, "idle lanes");
    const char* const of = so_far ? " so far" : " in the whole run";
    if (claims[0].text.empty()) {
        const Sums &la = sa[StepKind::GlobalLoad], &lb = sb[StepKind::GlobalLoad];
        if ((la.requests > 0) != (lb.requests > 0))
            return fmt::format("Only {} has loaded anything{}.", la.requests > 0 ? 'A' : 'B', of);
        if (sa != sb) return fmt::format("Both ask for global memory alike{}.", of);
        return fmt::format("The same requests in both{}: {}, {}.", of, counted(la.requests, "load"),
                           counted(la.sectors, "sector"));
    }
    std::string text = claims[0].text;
    if (!claims[1].text.empty() && claims[1].better == claims[0].better) text += " and " + claims[1].text;
    const auto& [better, letter, other] = spoken_of(claims[0].better < 0);
    return fmt::format("{}, {}: {} than {}{}.", letter, better.tally.kernel, text, other, of);
}

std::string caveat(const Run& a, const Run& b) {
    for (const Run* one : {&a, &b}) {
        const std::string trouble = look::not_whole(one->trace);
        if (!trouble.empty()) return fmt::format("{}: {}", one == &a ? "A" : "B", trouble);
    }
    if (!a.tally.product && !b.tally.product && !same_size(a, b))
        return "Different work: the arrays of A and B have different sizes. A ratio compares these as well.";
    if (!same_size(a, b))
        return fmt::format("Different work: {} in A, {} in B. A ratio compares the sizes as well.",
                           a.tally.size, b.tally.size);
    if (stored(a) != stored(b))
        return fmt::format("Different parts: {} stored in A, {} in B. A ratio compares these as well.",
                           bytes_text(stored(a)), bytes_text(stored(b)));
    return "";
}

LoadsLabel loads_label(const look::LoadedRange& range) {
    if (range.most == 0) return {"", "not loaded yet", ""};
    if (range.least != range.most)
        return {fmt::format("{} to {}", range.least, range.most), "loads each", ""};
    return {grouped(range.most), range.most == 1 ? "load each" : "loads each", ""};
}

LoadsLabel loads_label(const trace::Trace& trace, const std::optional<analysis::Product>& product,
                       size_t array, const std::vector<uint32_t>& loads) {
    if (loads.empty()) return {"", "too large to count", ""};
    uint32_t least = UINT32_MAX, most = 0;
    for (const uint32_t count : loads) {
        most = std::max(most, count);
        if (count > 0) least = std::min(least, count);
    }
    if (most == 0) return {"", "never loaded", ""};
    LoadsLabel label = loads_label(look::LoadedRange{least, most});
    if (least != most) return label;
    if (!product || (array != product->M && array != product->N)) return label;
    // Every column of P asks for M, every row for N; in a window only those that its blocks compute.
    const bool is_m = array == product->M;
    // A block's tile of P has that many columns, or rows.
    const uint64_t width = product->uses_of(static_cast<uint8_t>(array)),
                   tile = is_m ? product->tile_cols : product->tile_rows;
    const std::string T = product->tile > 0 ? "T" : std::to_string(tile);
    const BlockWindow& window = trace.meta.window;
    const Dim3& grid = trace.launch.grid;
    const bool whole = window.x0 == 0 && window.y0 == 0 && window.x1 >= grid.x && window.y1 >= grid.y;
    const uint32_t blocks = is_m ? window.x1 - window.x0 : window.y1 - window.y0;
    const std::string all = whole ? (is_m ? "n" : "m") : counted(blocks, "block");
    if (most == (whole ? width : blocks * tile))
        label.why = fmt::format("= {}{}", all, whole ? "" : " \u00d7 " + T);
    else if (most == (whole ? (width + tile - 1) / tile : blocks))
        label.why = fmt::format("= {}{}{}", all, whole ? "/" + T : "",
                                whole && width % tile != 0 ? " rounded up" : "");
    return label;
}

uint32_t Loads::at(const draw::Sheet& sheet, uint32_t row, uint32_t col) const {
    if (counts.empty() || !part.contains(row, col)) return 0;
    if (!whole) return counts[size_t{row - part.row0} * part.cols() + (col - part.col0)];
    const auto element = sheet.element(row, col);
    return element ? counts[*element] : 0;
}

Loads loads_of(const session::Totals& totals, const draw::Sheet& sheet, size_t array) {
    const session::LoadsWindow& window = totals.windows[array];
    const std::vector<uint32_t>& all = totals.loads[array];
    if (all.empty()) return {window.loads, window.box, false};
    return {all, {0, sheet.rows, 0, sheet.cols}};
}

LoadsSummary loads_summary(const trace::Trace& trace, const std::optional<analysis::Product>& product,
                           size_t array, const Loads& loads) {
    const auto& [counts, part, whole] = loads;
    LoadsSummary made{{}, loads_label(trace, product, array, counts)};
    const Array& shape = trace.launch.arrays[array];
    const draw::Sheet sheet(shape);
    // Row by row of the sheet, or of one of its slices, the first and the last that was loaded.
    const size_t cols = whole ? std::min(shape.cols, sheet.cols) : part.cols();
    const auto include = [&](size_t at) {
        const auto row = static_cast<uint32_t>(at / cols), col = static_cast<uint32_t>(at % cols);
        made.box.include(
            whole ? sheet.cell(at)
                  : CellRect{part.row0 + row, part.row0 + row + 1, part.col0 + col, part.col0 + col + 1});
    };
    for (size_t first = 0; first < counts.size(); first += cols) {
        size_t last = std::min(first + cols, counts.size()), at = first;
        while (at < last && counts[at] == 0) ++at;
        if (at == last) continue;
        while (counts[last - 1] == 0) --last;
        include(at);
        include(last - 1);
    }
    return made;
}

}  // namespace tilescope::compare
