// One block, interval by interval. The stores of an interval are entered by cell; then its own loads are held
// against them (a race), and the accesses of the intervals before and behind it (whether the barrier between
// keeps anything apart), each only until the first meeting. Loads of arrays that the interval does not store
// to are not looked at, so a sound kernel costs little more than its stores.
#include "core/hazards/block.h"

#include <algorithm>
#include <bit>

namespace tilescope::analysis {
namespace {

constexpr uint32_t kMostPlacesOfCell = 256;  // that access one cell in one interval

constexpr uint32_t lane_of(uint32_t lanes) { return static_cast<uint32_t>(std::countr_zero(lanes)); }
constexpr uint32_t last_lane_of(uint32_t lanes) {
    return 31 - static_cast<uint32_t>(std::countl_zero(lanes));
}

}  // namespace

BlockHazards::BlockHazards(HazardForms& forms, Chains& chains, uint64_t most_bytes, uint64_t most_found,
                           Stop stop)
    : forms_(forms),
      chains_(chains),
      judged_(1u << 12),
      epoch_(64),
      most_bytes_(most_bytes),
      most_found_(most_found),
      stop_(stop) {}

bool BlockHazards::tells() {
    full_ = full_ || found_ >= most_found_;
    return found_++ < most_found_;
}

// A quarter of the memory for the cells of each space, and for the records.
BlockHazards::HazardCell* BlockHazards::reach(bool shared, uint64_t number) {
    HazardCell* const cell = map(shared).reach(number, most_bytes_ / 4);
    full_ = full_ || !cell;
    return cell;
}

template <class Visit>  // visit(cell, lanes)
void BlockHazards::each_cell(const BlockIntervals& b, const StepPart& part, Visit visit) {
    forms_.each_cell(b.first + part.step, part.mask, visit);
}

void BlockHazards::add(int32_t& head, uint32_t place, uint32_t warp, uint32_t lanes, uint32_t step) {
    const uint32_t low = warp * kWarpSize + lane_of(lanes), high = warp * kWarpSize + last_lane_of(lanes);
    uint32_t places = 0;
    for (int32_t i = head; i >= 0; i = records_[i].next) {
        Record& r = records_[i];
        if (r.place != place) {
            ++places;
            continue;
        }
        if (low < r.low || (low == r.low && step < r.low_step)) r.low = low, r.low_step = step;
        if (high > r.high || (high == r.high && step < r.high_step)) r.high = high, r.high_step = step;
        if (step < r.first_step) r.first = low, r.first_step = step;
        if (step > r.last_step) r.last = low, r.last_step = step;
        return;
    }
    if (places >= kMostPlacesOfCell || records_.size() * sizeof(Record) >= most_bytes_ / 4) {
        full_ = true;
        return;
    }
    records_.push_back({place, head, low, high, step, step, step, step, low, low});
    head = static_cast<int32_t>(records_.size()) - 1;
}

void BlockHazards::enter_stores(const BlockIntervals& b, uint32_t interval) {
    for (uint32_t i = b.begin[interval]; i < b.begin[interval + 1]; ++i) {
        if (stop_.at(i)) break;
        const StepPart& part = b.parts[i];
        const uint64_t step = b.first + part.step;
        const HazardForms::FormKind& kind = forms_.kind(forms_.trace.key[step] & 0xFFFFFF);
        if (!kind.store) continue;
        const uint32_t warp = forms_.trace.warp_of(step);
        each_cell(b, part, [&](uint64_t number, uint32_t lanes) {
            HazardCell* const reached = reach(kind.shared, number);
            if (!reached) return;
            HazardCell& cell = *reached;
            if (cell.stamp != stamp_) {
                cell.stamp = stamp_;
                cell.records = -1;
                touched_.push_back({number, kind.shared});
            }
            const bool reads = kind.atomic && site_at(step).atomic != ptx::Atomic::Exch;
            if (reads && kind.shared && cell.written == kNoInterval)
                add_bad(cell, number, kind, step, lanes, part);
            add(cell.records, kind.place, warp, lanes, part.step);
            const uint32_t writer = warp * kWarpSize + lane_of(lanes);
            if (cell.written != interval || writer <= cell.writer)
                cell.writer = writer, cell.writer_step = part.step;
            if (cell.written != interval) cell.first_read = kNoInterval;
            cell.written = interval;
        });
        if (!kind.shared || !forms_.facts.fills(forms_.trace.form_of(step).site)) continue;
        for (uint64_t bits = kind.array_bit; bits; bits &= bits - 1)
            epoch_[static_cast<size_t>(std::countr_zero(bits))] = interval + 1;
        Filled& filled = filled_[kind.place];
        filled.latest = interval + 1;
        filled.of_thread.resize(std::max(filled.of_thread.size(), size_t{warp + 1} * kWarpSize));
        for_lanes(part.mask,
                  [&](uint32_t lane) { filled.of_thread[warp * kWarpSize + lane] = interval + 1; });
    }
}

void BlockHazards::add_bad(HazardCell& cell, uint64_t number, const HazardForms::FormKind& kind,
                           uint64_t step, uint32_t lanes, const StepPart& part) {
    if (cell.bad_stamp != stamp_) {
        cell.bad_stamp = stamp_;
        cell.bad = -1;
        bad_.push_back({number, true});
    }
    add(cell.bad, kind.place, forms_.trace.warp_of(step), lanes, part.step);
}

// Copies that are asked for in the interval, and may write from there on. The barrier before it keeps them
// apart from the accesses before that, as it does a store.
void BlockHazards::enter_copies(const BlockIntervals& b, uint32_t interval, std::vector<bool>& needed) {
    uint64_t written = 0;
    for (; next_copy_ < b.copies.size() && b.copies[next_copy_].from == interval; ++next_copy_) {
        const LaterPart& copy = b.copies[next_copy_];
        const uint64_t step = b.first + copy.part.step;
        const HazardForms::FormKind& kind = forms_.kind(forms_.trace.key[step] & 0xFFFFFF);
        const uint32_t warp = forms_.trace.warp_of(step);
        written |= kind.array_bit;
        each_cell(b, copy.part, [&](uint64_t number, uint32_t lanes) {
            HazardCell* const cell = reach(true, number);
            if (!cell) return;
            if (cell->stamp != stamp_) cell->stamp = stamp_, cell->records = -1;
            add(cell->records, kind.place, warp, lanes, copy.part.step);
            for (int32_t* at = &cell->writing; *at >= 0;) {  // those that have ended give their place
                const int32_t ended = *at;
                if (b.copies[writings_[ended].part].to >= interval) {
                    at = &writings_[ended].next;
                    continue;
                }
                *at = writings_[ended].next;
                writings_[ended].next = free_writing_;
                free_writing_ = ended;
            }
            if (free_writing_ < 0) {
                if (writings_.size() * sizeof(Writing) >= most_bytes_ / 4) {
                    full_ = true;
                    return;
                }
                writings_.emplace_back();
                free_writing_ = static_cast<int32_t>(writings_.size()) - 1;
            }
            const int32_t made = free_writing_;
            free_writing_ = writings_[made].next;
            writings_[made] = {static_cast<uint32_t>(next_copy_), lanes, cell->writing};
            cell->writing = made;
        });
    }
    if (written == 0) return;
    if (interval > 0 && !needed[interval - 1]) needed[interval - 1] = meets(b, interval - 1, written, false);
    records_.clear();
    ++stamp_;
}

// The lanes of a load for which a copy into the cell may come too late.
uint32_t BlockHazards::early_lanes(const BlockIntervals& b, uint32_t interval, HazardCell& cell,
                                   uint64_t number, uint32_t lanes, const StepPart& load) {
    uint32_t early = 0;
    for (int32_t i = cell.writing; i >= 0; i = writings_[i].next) {
        const LaterPart& copy = b.copies[writings_[i].part];
        if (copy.to < interval) continue;
        const uint64_t step = b.first + copy.part.step, load_step = b.first + load.step;
        const uint32_t warp = forms_.trace.warp_of(load_step);
        const bool under_way = load.step > copy.part.step && load.step < copy.visible_from;
        uint32_t found = lanes;
        if (forms_.trace.warp_of(step) == warp && !under_way) found &= ~writings_[i].lanes;
        if (found == 0) continue;
        early |= found;
        const auto place = [&](uint64_t of) { return forms_.kind(forms_.trace.key[of] & 0xFFFFFF).place; };
        const auto [at, fresh] = early_.try_emplace({number, place(load_step), place(step)});
        if (!fresh) {
            at->second.example.last_step = std::max(at->second.example.last_step, load_step);
            continue;
        }
        // The thread's own copy where it is that; else another thread's.
        const uint32_t own = found & writings_[i].lanes, of_copy = lane_of(writings_[i].lanes);
        const bool mine = forms_.trace.warp_of(step) == warp && own != 0 && under_way;
        HazardInstance& told = at->second;
        told.kind = HazardKind::ReadBeforeWait;
        told.place = forms_.places()[place(load_step)];
        told.other = forms_.places()[place(step)];
        told.example.interval = interval;
        told.example.a = side(b, warp * kWarpSize + lane_of(mine ? own : found), load.step);
        told.example.b =
            side(b, mine ? told.example.a.thread : forms_.trace.warp_of(step) * kWarpSize + of_copy,
                 copy.part.step);
        told.example.first_step = std::min(step, load_step);
        told.example.last_step = load_step;
        forms_.name(Space::Shared, number, told.example.array, told.example.element);
    }
    return early;
}

void BlockHazards::tell_early(const HazardSink& sink) {
    for (const auto& [key, found] : early_) {
        if (!tells()) return;
        sink(found);
    }
}

// Whether the latest filling of its array, `epoch` - 1, left the cell out, though its value had been used: the
// store that filled it took part in that filling, but the thread that made it did not come to it.
bool BlockHazards::is_left_over(const BlockIntervals& b, const HazardCell& cell, uint32_t epoch) const {
    if (cell.written + 1 >= epoch || cell.first_read >= epoch - 1) return false;
    const auto at = filled_.find(forms_.kind_of(b.first + cell.writer_step).place);
    if (at == filled_.end()) return false;
    return at->second.latest == epoch && at->second.of_thread[cell.writer] < epoch;
}

// Shared loads: of nothing, or of what is left over.
void BlockHazards::judge_loads(const BlockIntervals& b, uint32_t interval) {
    for (uint32_t i = b.begin[interval]; i < b.begin[interval + 1]; ++i) {
        if (stop_.at(i)) break;
        const StepPart& part = b.parts[i];
        const uint64_t step = b.first + part.step;
        const uint32_t form = forms_.trace.key[step] & 0xFFFFFF;
        const HazardForms::FormKind& kind = forms_.kind(form);
        if (kind.store || !kind.shared) continue;
        uint32_t epoch = 0;
        if (std::has_single_bit(kind.array_bit))
            epoch = epoch_[static_cast<size_t>(std::countr_zero(kind.array_bit))];
        else
            epoch = *std::max_element(epoch_.begin(), epoch_.end());
        const uint32_t base = forms_.trace.base[step];
        Judged& judged = judged_[(form * 0x9E37'79B1u ^ base * 0x85EB'CA6Bu) >> 20];
        // Which warp loads makes a difference where copies are under way.
        if (b.copies.empty() && judged.form == form && judged.base == base && judged.epoch == epoch &&
            judged.run == run_)
            continue;
        bool clean = true;
        each_cell(b, part, [&](uint64_t number, uint32_t lanes) {
            HazardCell* const reached = reach(true, number);
            if (!reached) return;
            HazardCell& cell = *reached;
            lanes &= ~early_lanes(b, interval, cell, number, lanes, part);
            if (lanes == 0) return;
            if (cell.written == interval) {  // in which order is a matter of races
                clean = false;
                return;
            }
            const bool never = cell.written == kNoInterval;
            const bool stale = !never && is_left_over(b, cell, epoch);
            cell.first_read = std::min(cell.first_read, interval);
            if (!never && !stale) return;
            clean = false;
            add_bad(cell, number, kind, step, lanes, part);
        });
        if (clean && part.mask == forms_.trace.forms[form].mask) judged = {form, base, epoch, run_};
    }
}

// Loads of cells that the interval stores to.
void BlockHazards::enter_loads(const BlockIntervals& b, uint32_t interval) {
    for (uint32_t i = b.begin[interval]; i < b.begin[interval + 1]; ++i) {
        if (stop_.at(i)) break;
        const StepPart& part = b.parts[i];
        const uint64_t step = b.first + part.step;
        const HazardForms::FormKind& kind = forms_.kind(forms_.trace.key[step] & 0xFFFFFF);
        if (kind.store || !(kind.array_bit & b.stored[interval])) continue;
        CellMap<HazardCell>& cells = map(kind.shared);
        each_cell(b, part, [&](uint64_t number, uint32_t lanes) {
            HazardCell* const cell = cells.find(number);
            if (cell && cell->stamp == stamp_)
                add(cell->records, kind.place, forms_.trace.warp_of(step), lanes, part.step);
        });
    }
}

// Whether an access of `interval` would be in conflict with a store entered, were they of one interval.
bool BlockHazards::meets(const BlockIntervals& b, uint32_t interval, uint64_t stored, bool loads_only) {
    bool met = false;
    for (uint32_t i = b.begin[interval]; i < b.begin[interval + 1] && !met; ++i) {
        if (stop_.at(i)) break;
        const StepPart& part = b.parts[i];
        const uint64_t step = b.first + part.step;
        const HazardForms::FormKind& kind = forms_.kind(forms_.trace.key[step] & 0xFFFFFF);
        if ((loads_only && kind.store) || !(kind.array_bit & stored)) continue;
        CellMap<HazardCell>& cells = map(kind.shared);
        const uint32_t warp = forms_.trace.warp_of(step);
        each_cell(b, part, [&](uint64_t number, uint32_t lanes) {
            HazardCell* const cell = met ? nullptr : cells.find(number);
            if (!cell || cell->stamp != stamp_) return;
            const uint32_t low = warp * kWarpSize + lane_of(lanes),
                           high = warp * kWarpSize + last_lane_of(lanes);
            for (int32_t r = cell->records; r >= 0; r = records_[r].next)
                if (!(kind.atomic && forms_.places()[records_[r].place].atomic) &&
                    (records_[r].low != low || records_[r].high != low || high != low))
                    met = true;
        });
    }
    return met;
}

// Holds an access against what other lanes of its warp did to the cell. Those of a lane are in its order, so that
// its latest one stands for all before it.
void BlockHazards::enter_in_warp(const BlockIntervals& b, uint32_t interval, const TouchedCell& touched,
                                 const LaneRecord& access, RacesInWarps& races) {
    HazardCell& cell = *map(touched.shared).find(touched.cell);
    const std::vector<SourceAccess>& places = forms_.places();
    const uint32_t warp = access.thread / kWarpSize;
    LaneRecord* own = nullptr;
    for (int32_t i = cell.records; i >= 0; i = in_warp_[i].next) {
        LaneRecord& earlier = in_warp_[i];
        if (earlier.thread == access.thread && earlier.place == access.place) own = &earlier;
        if (earlier.thread == access.thread) continue;
        const bool first = earlier.place <= access.place;
        const LaneRecord &p = first ? earlier : access, &q = first ? access : earlier;
        if (!places[p.place].store || (places[p.place].atomic && places[q.place].atomic)) continue;
        if (places[p.place].later && !places[q.place].store) continue;  // read before the wait
        const WarpStretches& of = b.warps[warp];
        const uint32_t lane = earlier.thread % kWarpSize;
        if (of.before(earlier.stretch, lane, access.stretch)) continue;
        const auto [at, fresh] = races.try_emplace({touched.shared, touched.cell, p.place, q.place});
        if (!fresh && at->second.severity == Severity::Fault) continue;
        const auto record = [](const LaneRecord& one) {
            const uint32_t step = one.stretch.step;
            return Record{one.place, -1,   one.thread, one.thread, step,
                          step,      step, step,       one.thread, one.thread};
        };
        HazardInstance found = race_of(b, interval, touched, record(p), record(q));
        if (of.may_order(interval, earlier.stretch, lane, access.stretch, access.thread % kWarpSize))
            found.severity = Severity::CannotTell;
        const bool is = judge_race(forms_, chains_, p.place, q.place, found, b.stored[interval]);
        if (is && (fresh || found.severity == Severity::Fault)) at->second = found;
        if (!is && fresh) races.erase(at);
    }
    if (own) {
        own->stretch = access.stretch;
        return;
    }
    if (in_warp_.size() * sizeof(LaneRecord) >= most_bytes_ / 4) {
        full_ = true;
        return;
    }
    in_warp_.push_back(access);
    in_warp_.back().next = cell.records;
    cell.records = static_cast<int32_t>(in_warp_.size()) - 1;
}

// Races of lanes of one warp in a kernel that has any bar.warp.sync: stretch by stretch between them.
void BlockHazards::find_in_warps(const BlockIntervals& b, uint32_t interval, const HazardSink& sink) {
    struct Part {
        uint32_t warp = 0;
        WarpStretch stretch;
    };
    std::vector<Part> parts;
    for (uint32_t i = b.begin[interval]; i < b.begin[interval + 1]; ++i) {
        const uint64_t step = b.first + b.parts[i].step;
        if (!(forms_.kind_of(step).array_bit & b.stored[interval])) continue;
        const uint32_t warp = forms_.trace.warp_of(step);
        for (WarpStretch stretch : b.warps[warp].of_step(b.parts[i].step))
            if (stretch.lanes &= b.parts[i].mask; stretch.lanes != 0) parts.push_back({warp, stretch});
    }
    std::ranges::stable_sort(parts, {},
                             [](const Part& part) { return std::pair(part.warp, part.stretch.number); });
    RacesInWarps races;
    for (size_t i = 0; i < parts.size() && !stop_.at(i); ++i) {
        const auto& [warp, stretch] = parts[i];
        if (i == 0 || parts[i - 1].warp != warp) in_warp_.clear(), ++stamp_;
        const HazardForms::FormKind of = forms_.kind_of(b.first + stretch.step);
        each_cell(b, {stretch.step, stretch.lanes}, [&](uint64_t number, uint32_t lanes) {
            HazardCell* const cell = map(of.shared).find(number);
            if (!cell || cell->written != interval) return;  // nobody stores to it
            if (cell->stamp != stamp_) cell->stamp = stamp_, cell->records = -1;
            for_lanes(lanes, [&](uint32_t lane) {
                enter_in_warp(b, interval, {number, of.shared},
                              {of.place, warp * kWarpSize + lane, -1, stretch}, races);
            });
        });
    }
    for (const auto& [key, found] : races) {
        if (!tells()) return;
        sink(found);
    }
}

void BlockHazards::find(const BlockIntervals& b, const HazardSink& sink, std::vector<bool>& needed) {
    shared_.clear();
    global_.clear();
    std::fill(epoch_.begin(), epoch_.end(), 0);
    filled_.clear();
    ++run_;
    found_ = 0;
    needed.assign(b.intervals(), false);
    writings_.clear();
    free_writing_ = -1;
    next_copy_ = 0;
    for (uint32_t at = 0; at < b.intervals(); ++at) {
        records_.clear();
        touched_.clear();
        bad_.clear();
        early_.clear();
        ++stamp_;
        enter_copies(b, at, needed);
        if (b.stored[at] != 0) {
            enter_stores(b, at);
            if (at > 0 && !needed[at - 1]) needed[at - 1] = meets(b, at - 1, b.stored[at], false);
            if (at + 1 < b.intervals()) needed[at] = meets(b, at + 1, b.stored[at], true);
            enter_loads(b, at);
            tell_races(b, at, !b.warps.empty(), sink);
        }
        judge_loads(b, at);
        if (!bad_.empty()) tell_loads(b, at, sink);
        // Behind a wait the barrier would keep them apart.
        if (!early_.empty() && at > 0) needed[at - 1] = true;
        tell_early(sink);
        if (b.stored[at] != 0 && !b.warps.empty()) find_in_warps(b, at, sink);
    }
}

}  // namespace tilescope::analysis
