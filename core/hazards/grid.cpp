// Elements of global arrays that two blocks touch, one of them storing: no barrier orders blocks.
//
// A first walk keeps a word for each element of the arrays that are stored to: the first block that came,
// whether another came, whether anyone stored. Only elements with a conflict are looked at again, for who and
// where.
#include <algorithm>
#include <bit>

#include "core/hazards/block.h"
#include "core/trace/claims.h"

namespace tilescope::analysis {
namespace {

constexpr size_t kMostBytes = size_t{512} << 20;
constexpr size_t kMostConflicts = 1u << 18;
constexpr size_t kMostPlaces = kMostConflicts * 8;  // of all of them, on average

struct SeenCell {
    uint32_t first = 0;  // block + 1, 0 for none
    bool several = false;
    bool stored = false;                 // not by an atomic
    bool atomic = false, plain = false;  // touched by an atomic; touched by anything else
    bool conflict() const { return several && (stored || (atomic && plain)); }
};

// What the threads of the grid did to one element at one place, by the first and the last of them.
struct Who {
    uint32_t place = 0;
    int32_t next = -1;
    uint64_t low = 0, high = 0;  // block * 2^13 + thread
    uint64_t low_step = 0, high_step = 0;
};
struct Conflict {
    int32_t head = -1;
    bool is = false;
};

template <class Visit>  // visit(block, step, kind, cell, lanes)
void each_access(HazardForms& forms, uint32_t blocks, Stop stop, Visit visit) {
    const trace::Trace& trace = forms.trace;
    for (uint32_t block = 0; block < blocks; ++block) {
        const trace::Block& b = trace.blocks[block];
        for (uint64_t step = b.first; step < b.first + b.count; ++step) {
            if (stop.at(step)) return;
            const HazardForms::FormKind& kind = forms.kind_of(step);
            if (!kind.grid_written) continue;
            forms.each_cell(step, ~0u,
                            [&](uint64_t cell, uint32_t lanes) { visit(block, step, kind, cell, lanes); });
        }
    }
}

}  // namespace

bool find_grid_races(HazardForms& forms, Chains& chains, uint32_t blocks, const HazardSink& sink, Stop stop) {
    const trace::Trace& trace = forms.trace;
    if (blocks < 2) return true;
    bool whole = true;
    const size_t most_bytes = std::min<uint64_t>(kMostBytes, trace::memory_left(trace) / 4 * 3);
    CellMap<SeenCell> seen;
    each_access(forms, blocks, stop,
                [&](uint32_t block, uint64_t, const HazardForms::FormKind& kind, uint64_t cell, uint32_t) {
                    SeenCell* const reached = seen.reach(cell, most_bytes);
                    if (!reached) {
                        whole = false;
                        return;
                    }
                    SeenCell& s = *reached;
                    if (s.first == 0) s.first = block + 1;
                    s.several = s.several || s.first != block + 1;
                    s.stored = s.stored || (kind.store && !kind.atomic);
                    (kind.atomic ? s.atomic : s.plain) = true;
                });
    std::vector<uint64_t> cells;
    seen.each([&](uint64_t cell, const SeenCell& s) {
        if (s.conflict() && cells.size() <= kMostConflicts) cells.push_back(cell);
    });
    seen = {};
    if (cells.empty()) return whole;
    if (cells.size() > kMostConflicts) {
        cells.resize(kMostConflicts);
        whole = false;
    }

    CellMap<Conflict> conflicts;
    for (const uint64_t cell : cells) conflicts.at(cell).is = true;
    std::vector<Who> all;
    each_access(
        forms, blocks, stop,
        [&](uint32_t block, uint64_t step, const HazardForms::FormKind& kind, uint64_t cell, uint32_t lanes) {
            Conflict* const conflict = conflicts.find(cell);
            if (!conflict || !conflict->is) return;
            const uint64_t warp = uint64_t{block} << 13 | uint64_t{trace.warp_of(step)} * kWarpSize;
            const uint64_t low = warp | static_cast<uint64_t>(std::countr_zero(lanes));
            const uint64_t high = warp | static_cast<uint64_t>(31 - std::countl_zero(lanes));
            for (int32_t i = conflict->head; i >= 0; i = all[i].next) {
                Who& who = all[i];
                if (who.place != kind.place) continue;
                if (low < who.low) who.low = low, who.low_step = step;
                if (high > who.high) who.high = high, who.high_step = step;
                return;
            }
            if (all.size() == kMostPlaces) {
                whole = false;
                return;
            }
            all.push_back({kind.place, conflict->head, low, high, step, step});
            conflict->head = static_cast<int32_t>(all.size()) - 1;
        });

    const std::vector<SourceAccess>& places = forms.places();
    std::vector<const Who*> of_cell;
    for (const uint64_t cell : cells) {
        of_cell.clear();
        for (int32_t i = conflicts.find(cell)->head; i >= 0; i = all[i].next) of_cell.push_back(&all[i]);
        std::sort(of_cell.begin(), of_cell.end(),
                  [](const Who* x, const Who* y) { return x->place < y->place; });
        for (size_t i = 0; i < of_cell.size() && places[of_cell[i]->place].store; ++i)
            for (size_t j = i; j < of_cell.size(); ++j) {
                const Who &p = *of_cell[i], &q = *of_cell[j];
                const bool low_high = p.low >> 13 != q.high >> 13;
                if (!low_high && p.high >> 13 == q.low >> 13) continue;
                if (places[p.place].atomic && places[q.place].atomic) continue;
                const auto side = [&](uint64_t who, uint64_t step) {
                    return HazardSide{static_cast<uint32_t>(who >> 13), static_cast<uint32_t>(who & 0x1FFF),
                                      trace.form_of(step).site, step, 0};
                };
                HazardInstance found{HazardKind::GridRace, places[p.place], places[q.place], false, {}};
                found.example.a = low_high ? side(p.low, p.low_step) : side(p.high, p.high_step);
                found.example.b = low_high ? side(q.high, q.high_step) : side(q.low, q.low_step);
                found.example.first_step = found.example.last_step = found.example.a.step;
                forms.name(Space::Global, cell, found.example.array, found.example.element);
                if (judge_race(forms, chains, p.place, q.place, found, 0)) sink(found);
            }
    }
    return whole;
}

}  // namespace tilescope::analysis
