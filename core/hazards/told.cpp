// What was found of a block's cells, told one by one: who the two sides of each are.
#include <algorithm>

#include "core/hazards/block.h"

namespace tilescope::analysis {
namespace {

// How far apart two threads are; those of different warps always farther than those of one.
constexpr uint32_t apart(uint32_t a, uint32_t b) {
    return (a / kWarpSize != b / kWarpSize ? 1u << 16 : 0) + (a < b ? b - a : a - b);
}

}  // namespace

HazardSide BlockHazards::side(const BlockIntervals& b, uint32_t thread, uint32_t step) const {
    return {b.block, thread, forms_.trace.form_of(b.first + step).site, b.first + step, b.phases.phase[step]};
}

// The race of two places' accesses to a cell, told by two of their threads.
HazardInstance BlockHazards::race_of(const BlockIntervals& b, uint32_t interval, const TouchedCell& touched,
                                     const Record& p, const Record& q) const {
    const std::vector<SourceAccess>& places = forms_.places();
    HazardInstance found{HazardKind::Race, places[p.place], places[q.place], false, {}};
    found.same_warp = std::min(p.low, q.low) / kWarpSize == std::max(p.high, q.high) / kWarpSize;
    // The extremes of one against those of the other: of different warps where there are such.
    const bool low_high = apart(p.low, q.high) >= apart(p.high, q.low);
    const auto lower = side(b, p.low, p.low_step), higher = side(b, p.high, p.high_step);
    found.example.a = low_high ? lower : higher;
    found.example.b = low_high ? side(b, q.high, q.high_step) : side(b, q.low, q.low_step);
    // In step order: a store before the latest load of a phase before, or behind the earliest.
    const auto phase = [&](uint32_t step) { return b.phases.phase[step]; };
    const bool load = !places[q.place].store;
    const bool first =
        load && p.first_step < q.last_step && p.first != q.last && phase(p.first_step) > phase(q.last_step);
    const bool last =
        load && p.last_step < q.last_step && p.last != q.last && phase(p.last_step) > phase(q.last_step);
    if (first || last) {
        found.example.order = ReadOrder::Overwritten;
        found.example.a = first ? side(b, p.first, p.first_step) : side(b, p.last, p.last_step);
        found.example.b = side(b, q.last, q.last_step);
    } else if (load && q.first_step < p.last_step && p.last != q.first &&
               places[p.place].line < places[q.place].line && phase(p.last_step) == phase(q.first_step)) {
        found.example.order = ReadOrder::Early;
        found.example.a = side(b, p.last, p.last_step);
        found.example.b = side(b, q.first, q.first_step);
    }
    found.example.interval = interval;
    found.example.first_step = b.first + std::min(p.first_step, q.first_step);
    found.example.last_step = b.first + std::max(p.last_step, q.last_step);
    forms_.name(touched.shared ? Space::Shared : Space::Global, touched.cell, found.example.array,
                found.example.element);
    return found;
}

void BlockHazards::tell_races(const BlockIntervals& b, uint32_t interval, bool between_warps,
                              const HazardSink& sink) {
    std::vector<const Record*> of_cell;
    for (const TouchedCell& touched : touched_) {
        const HazardCell& cell = *map(touched.shared).find(touched.cell);
        if (cell.records < 0) continue;
        if (const Record& only = records_[cell.records]; only.next < 0 && only.low == only.high) continue;
        if (found_ >= most_found_) {
            full_ = true;
            return;
        }
        of_cell.clear();
        for (int32_t r = cell.records; r >= 0; r = records_[r].next) of_cell.push_back(&records_[r]);
        const std::vector<SourceAccess>& places = forms_.places();
        std::sort(of_cell.begin(), of_cell.end(),
                  [](const Record* x, const Record* y) { return x->place < y->place; });
        for (size_t i = 0; i < of_cell.size() && places[of_cell[i]->place].store; ++i)
            for (size_t j = i; j < of_cell.size(); ++j) {
                const Record &p = *of_cell[i], &q = *of_cell[j];
                const uint32_t low = std::min(p.low, q.low), high = std::max(p.high, q.high);
                if (low == high || (places[p.place].atomic && places[q.place].atomic)) continue;
                if (between_warps && low / kWarpSize == high / kWarpSize) continue;
                if (places[p.place].later && !places[q.place].store) continue;  // read before the wait
                HazardInstance found = race_of(b, interval, touched, p, q);
                if (!judge_race(forms_, chains_, p.place, q.place, found, b.stored[interval])) continue;
                if (!tells()) return;
                sink(found);
            }
    }
}

void BlockHazards::tell_loads(const BlockIntervals& b, uint32_t interval, const HazardSink& sink) {
    for (const TouchedCell& touched : bad_) {
        const HazardCell& cell = *shared_.find(touched.cell);
        for (int32_t r = cell.bad; r >= 0; r = records_[r].next) {
            if (!tells()) return;
            const Record& load = records_[r];
            // An atomic at fault found nothing, and left something.
            const bool never = cell.written == kNoInterval || forms_.places()[load.place].atomic;
            HazardInstance found{never ? HazardKind::Uninitialised : HazardKind::Stale,
                                 forms_.places()[load.place],
                                 {},
                                 false,
                                 {}};
            found.example.interval = interval;
            found.example.a = side(b, load.low, load.low_step);
            if (!never) {
                found.example.b = side(b, cell.writer, cell.writer_step);
                found.other =
                    forms_.places()[forms_.kind(forms_.trace.key[found.example.b.step] & 0xFFFFFF).place];
            }
            found.example.first_step = b.first + load.first_step;
            found.example.last_step = b.first + load.last_step;
            forms_.name(Space::Shared, touched.cell, found.example.array, found.example.element);
            sink(found);
        }
    }
}

}  // namespace tilescope::analysis
