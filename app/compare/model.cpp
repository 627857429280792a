#include "app/compare/model.h"

#include <algorithm>
#include <cmath>
#include <tuple>

#include "app/draw/sheet.h"

namespace tilescope::compare {
namespace {

// The elements of the output that a block stores, as their bounding box.
CellRect stored_by(const trace::Trace& trace, const trace::Block& block) {
    CellRect rect;
    for (uint64_t step = block.first; step < block.first + block.count; ++step) {
        const trace::Form& form = trace.form_of(step);
        if (form.array == trace::kNoArray || trace.sites[form.site].kind != ptx::SiteKind::Store) continue;
        const Array& array = trace.launch.arrays[form.array];
        if (array.space != Space::Global || !array.writes()) continue;
        const trace::Access access = trace::decode(trace, step);
        for_lanes(access.mask, [&](uint32_t lane) {
            rect.include(draw::cell_on_sheet(array, access.offset[lane] / array.element_bytes()));
        });
    }
    return rect;
}

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
const draw::PhaseSpan* last_span(const BlockIndex& index, uint32_t draw::PhaseSpan::*from, uint32_t at) {
    const auto after = std::ranges::upper_bound(index.spans, at, {}, from);
    return after == index.spans.begin() ? nullptr : &*(after - 1);
}

uint32_t same_phase(const BlockIndex& a, uint32_t step, const BlockIndex& b) {
    const draw::PhaseSpan* from = last_span(a, &draw::PhaseSpan::first, step);
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
    const draw::PhaseSpan* to = last_span(b, &draw::PhaseSpan::phase, static_cast<uint32_t>(phase));
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

Tally tally_of(const trace::Trace& trace) {
    Tally side;
    side.before = look::sums_before_blocks(trace);
    for (const trace::Block& block : trace.blocks) side.outputs.push_back(stored_by(trace, block));
    const auto product = analysis::product_of(trace);
    side.product = product.has_value();
    side.kernel = analysis::kernel_name(trace, product);
    side.size = analysis::size_name(trace, product);
    return side;
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
    switch (lock) {
        case Lock::Step:
            return std::min(at.step, last);
        case Lock::Phase:
            return std::min(same_phase(a_index, at.step, b_index), last);
        case Lock::Share: {
            const uint64_t step = same_share(run_step(a.trace, at), a.trace.steps(), b.trace.steps());
            return step < b_index.first
                       ? 0
                       : static_cast<uint32_t>(std::min<uint64_t>(step - b_index.first, last));
        }
    }
    return 0;
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

std::optional<double> Count::ratio() const {
    if (a == 0) return std::nullopt;
    return static_cast<double>(b) / static_cast<double>(a);
}

Counters counters(Lock lock, const Run& a, const BlockIndex& a_index, uint32_t a_step, const Run& b,
                  const BlockIndex& b_index, uint32_t b_step) {
    Counters made;
    made.of_run = lock == Lock::Share;
    const auto right = [](const Run& one) {
        return (!one.trace.meta.result.checked || one.trace.meta.result.verified) && one.faults == 0;
    };
    const bool comparable = right(a) && right(b) && same_work(a, b);
    const auto so_far = [&](const Run& one, const BlockIndex& index, uint32_t step) {
        SplitSums sums = sums_so_far(one.trace, index, step);
        if (made.of_run && index.block < one.tally.before.size()) sums += one.tally.before[index.block];
        return sums;
    };
    const SplitSums here[] = {so_far(a, a_index, a_step), so_far(b, b_index, b_step)};
    const SplitSums all[] = {a.tally.before.back(), b.tally.before.back()};
    using analysis::Sums;
    constexpr auto load = StepKind::GlobalLoad, store = StepKind::GlobalStore, shared = StepKind::SharedLoad;
    static constexpr struct {
        const char* what;
        StepKind kind;  // shared: loads and stores
        uint64_t Sums::*count;
        bool bytes = false, least = false;
    } kRows[] = {{"load requests", load, &Sums::requests},
                 {"load sectors", load, &Sums::sectors},
                 {"least sectors", load, &Sums::ideal_sectors, false, true},
                 {"bytes loaded", load, &Sums::bytes, true},
                 {"store sectors", store, &Sums::sectors},
                 {"shared requests", shared, &Sums::requests},
                 {"wavefronts", shared, &Sums::wavefronts},
                 {"least wavefronts", shared, &Sums::ideal_wavefronts, false, true},
                 {"shared bytes", shared, &Sums::bytes, true},
                 {"barrier arrivals", StepKind::Barrier, nullptr}};
    for (const auto& [what, kind, field, bytes, least] : kRows) {
        const auto count = [&, kind = kind, field = field](const SplitSums& sums) {
            return kind == load     ? sums.global_load.*field
                   : kind == store  ? sums.global_store.*field
                   : kind == shared ? sums.shared_load.*field + sums.shared_store.*field
                                    : sums.barriers;
        };
        const Count whole{count(all[0]), count(all[1])};
        if (whole.a + whole.b == 0) continue;
        const bool merit = comparable && !least && whole.a > 0 && whole.b > 0;
        made.rows.push_back({what, kind, bytes, least, merit, {count(here[0]), count(here[1])}, whole});
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

}  // namespace tilescope::compare
