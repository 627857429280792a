#include "core/hazards/ordered.h"

#include <algorithm>
#include <bit>
#include <ranges>

#include "core/ptx/warpgroup.h"

namespace tilescope::analysis {
namespace {

bool copies_read_shared(const trace::Trace& trace) {
    return std::ranges::any_of(trace.sites, [](const ptx::Site& site) {
        return site.box != ptx::Box::None && ptx::reads(site.kind) && site.space == Space::Shared;
    });
}

uint32_t lowest(uint32_t lanes) { return static_cast<uint32_t>(std::countr_zero(lanes)); }

}  // namespace

bool is_by_order(const trace::Trace& trace, const KernelFacts& facts) {
    // Barriers of the block do not say when a copy is there for the other lanes of its warp.
    const bool copies_in_warps =
        facts.warp_syncs() &&
        std::ranges::any_of(trace.sites, [](const ptx::Site& site) { return site.copy; });
    return trace::has_words(trace) || facts.part_barriers() || copies_in_warps;
}

OrderedHazards::OrderedHazards(HazardForms& forms, uint64_t most_bytes, uint64_t most_found, Stop stop)
    : forms_(forms),
      trace_(forms.trace),
      fences_(copies_read_shared(forms.trace)),
      most_bytes_(most_bytes),
      most_found_(std::min(most_found, most_bytes / 16 / sizeof(HazardInstance))),
      stop_(stop) {
    for (uint32_t form = 0; form < trace_.forms.size(); ++form)
        if (forms.kind(form).store) stored_ |= forms.kind(form).array_bit;
}

HazardSide OrderedHazards::side(uint32_t warp, uint32_t lane, uint32_t step) const {
    return {block_, warp * kWarpSize + lane, trace_.form_of(first_ + step).site, first_ + step,
            phases_.phase[step]};
}

// The finding of a cell and two places: a new one for the first time; null where no more are told.
HazardInstance* OrderedHazards::found(HazardKind kind, Missing missing, const HazardForms::FormKind& of,
                                      uint64_t number, uint32_t place, uint32_t other) {
    const uint64_t what = uint64_t{static_cast<uint8_t>(kind)} << 8 | static_cast<uint8_t>(missing);
    const FoundKey key{what, of.shared, number, place, other};
    if (const auto at = found_.find(key); at != found_.end()) return &at->second;
    if (found_.size() >= most_found_) {
        full_ = true;
        return nullptr;
    }
    HazardInstance& made = found_[key];
    made.kind = kind;
    made.place = forms_.places()[place];
    made.example.missing = missing;
    made.example.a.site = kNoSite;
    forms_.name(of.shared ? Space::Shared : Space::Global, number, made.example.array, made.example.element);
    return &made;
}

// lane, past_lane: of the two threads. now_first: the access now is side a.
void OrderedHazards::tell(HazardKind kind, Missing missing, const Now& now, const Record& past,
                          uint64_t number, uint32_t lane, uint32_t past_lane, bool now_first) {
    const uint32_t a = now_first ? now.kind.place : past.place, b = now_first ? past.place : now.kind.place;
    HazardInstance* const told = found(kind, missing, now.kind, number, a, b);
    if (told == nullptr) return;
    HazardExample& e = told->example;
    const uint64_t step = first_ + now.access.step, before = first_ + past.access.step;
    if (e.a.site != kNoSite) {
        e.last_step = std::max(e.last_step, step);
        return;
    }
    told->other = forms_.places()[b];
    told->same_warp = now.access.warp == past.access.warp;
    e.a = side(now.access.warp, lane, now.access.step);
    e.b = side(past.access.warp, past_lane, past.access.step);
    if (!now_first) std::swap(e.a, e.b);
    e.interval = phases_.interval[now.access.step];
    e.first_step = before, e.last_step = step;
    if (missing != Missing::Phase && missing != Missing::Bytes) return;
    const AskedCopy& copy = order_->copy(past.access.copy);
    e.barrier = order_->barrier_offset(copy.barrier);
    e.barrier_phase = copy.counted_in - std::min(copy.counted_in, order_->phase_before(copy.barrier));
    e.expected = copy.expected, e.brought = copy.brought;
}

// Whether two lanes of a step copy the same from one place to another: what is there does not depend on who comes first.
bool OrderedHazards::copy_alike(const Now& now, uint32_t a, uint32_t b) {
    const uint64_t store = first_ + now.access.step;
    if (now.site == 0) return false;
    if (alike_step_ != store) alike_step_ = store, alike_.clear();
    const auto [known, added] = alike_.try_emplace({a, b}, false);
    if (!added) return known->second;
    const auto alike = [&](uint64_t step) {
        const trace::Access access = trace::decode(trace_, step);
        return access.offset[a] == access.offset[b] &&
               (trace_.sites[access.site].words == 0 ||
                trace::words_of(trace_, step, a) == trace::words_of(trace_, step, b));
    };
    // What it reads is the latest step of the warp.
    uint64_t load = store;
    while (load > first_ && trace_.warp_of(--load) != now.access.warp) {
    }
    known->second = load < store && trace_.form_of(load).site == now.site - 1 && alike(load) && alike(store);
    return known->second;
}

// Two accesses in conflict, of which nothing orders one behind the other.
void OrderedHazards::judge(const Now& now, const Record& past, uint64_t number, uint32_t lanes) {
    const BlockOrder::Unordered two = order_->unordered(past.access, now.access.warp, lanes);
    const KernelFacts& facts = forms_.facts;
    const uint32_t lane = lowest(two.lanes);
    const bool of_copy = past.access.copy != PastAccess::kNoCopy;
    const bool stores = now.kind.store, stored = forms_.places()[past.place].store;
    if (of_copy && stored && !stores) {
        const AskedCopy& copy = order_->copy(past.access.copy);
        const Missing missing = copy.barrier == AskedCopy::kOpen                     ? Missing::Order
                                : copy.brought > 0 && copy.phase == AskedCopy::kOpen ? Missing::Bytes
                                                                                     : Missing::Phase;
        return tell(HazardKind::ReadBeforeWait, missing, now, past, number, lane, two.lane, true);
    }
    if (of_copy && !stored) {
        const bool group = order_->copy(past.access.copy).by == AskedCopy::Ends::BulkGroup;
        return tell(HazardKind::Race, group ? Missing::ReadWait : Missing::Order, now, past, number, lane,
                    two.lane, true);
    }
    const uint32_t past_site = trace_.form_of(first_ + past.access.step).site;
    // The hardware keeps accesses in one piece apart: those of a word that is waited for, or counted.
    if (now.strong && past.strong &&
        (now.kind.atomic || past.atomic || facts.polls(now.site) || facts.polls(past_site)))
        return;
    const bool now_first = stores && (!stored || now.kind.place <= past.place);
    const bool copies = of_copy || now.access.copy != PastAccess::kNoCopy;
    const bool same =
        copies ? stores && stored && now.access.step == past.access.step && copy_alike(now, lane, two.lane)
               : stores && stored && !now.kind.atomic && !past.atomic &&
                     forms_.store_one_value(now.kind.place, past.place,
                                            side(now.access.warp, lane, now.access.step),
                                            side(past.access.warp, two.lane, past.access.step), stored_);
    tell(same ? HazardKind::SameValue : HazardKind::Race, Missing::Order, now, past, number, lane, two.lane,
         now_first);
}

// Lanes of one step that store to one cell.
void OrderedHazards::race_with_itself(const Now& now, uint64_t number, uint32_t lanes) {
    Record other;
    other.access = now.access, other.place = now.kind.place;
    const uint32_t lane = lowest(lanes), last = 31 - static_cast<uint32_t>(std::countl_zero(lanes));
    const bool same =
        forms_.store_one_value(other.place, other.place, side(now.access.warp, lane, now.access.step),
                               side(now.access.warp, last, now.access.step), stored_);
    tell(same ? HazardKind::SameValue : HazardKind::Race, Missing::Order, now, other, number, lane, last,
         true);
}

void OrderedHazards::note_unfilled(const Now& now, OrderedCell& cell, uint64_t number, uint32_t lanes) {
    if (unfilled_.size() * sizeof(Unfilled) >= most_bytes_ / 16) {
        full_ = true;
        return;
    }
    unfilled_.push_back({now, number, lanes, false});
    cell.unfilled = static_cast<uint32_t>(unfilled_.size());
}

void OrderedHazards::enter(const Now& now, uint64_t number, uint32_t lanes) {
    OrderedCell* const cell = map(now.kind.shared).reach(number, most_bytes_ / 4);
    if (cell == nullptr) {
        full_ = true;
        return;
    }
    const bool stores = now.kind.store;
    const bool reads = !stores || (now.kind.atomic && trace_.sites[now.site].atomic != ptx::Atomic::Exch);
    const bool plain = now.access.copy == PastAccess::kNoCopy;
    if (now.kind.shared && reads && !cell->stored && cell->unfilled == 0)
        note_unfilled(now, *cell, number, lanes);
    cell->stored = cell->stored || stores;
    for (int32_t* link = &cell->records; *link != kNone;) {
        Record& past = records_[static_cast<size_t>(*link)];
        const bool stored = forms_.places()[past.place].store;
        const auto drop = [&] {
            const int32_t ended = *link;
            *link = past.next;
            past.next = free_, free_ = ended;
        };
        if (!stores && !stored) {
            // A later load of the same threads stands for it.
            const bool again = plain && past.access.copy == PastAccess::kNoCopy &&
                               past.place == now.kind.place && past.access.warp == now.access.warp &&
                               (past.access.lanes & ~lanes) == 0;
            if (again)
                drop();
            else
                link = &past.next;
            continue;
        }
        const bool ordered = order_->unordered(past.access, now.access.warp, lanes).lanes == 0;
        const bool both_atomic = now.kind.atomic && past.atomic;
        if (!ordered && !both_atomic) {
            judge(now, past, number, lanes);
            // Which of the two comes first is open: so is whether the load finds anything.
            if (stores && !stored && cell->unfilled != 0) unfilled_[cell->unfilled - 1].raced = true;
        }
        if (ordered && now.bulk_read && now.kind.shared && past.access.copy == PastAccess::kNoCopy) {
            const uint32_t lane = lowest(lanes);
            if (const uint32_t missing = order_->unfenced(past.access, now.access.warp, lane))
                tell(HazardKind::Race, Missing::ProxyFence, now, past, number, lane, lowest(missing), false);
        }
        if (ordered && stores)
            drop();
        else
            link = &past.next;
    }
    if (stores && plain && !now.kind.atomic && !std::has_single_bit(lanes))
        race_with_itself(now, number, lanes);
    if (free_ == kNone) {
        if (records_.size() * sizeof(Record) >= most_bytes_ / 4) {
            full_ = true;
            return;
        }
        free_ = static_cast<int32_t>(records_.size());
        records_.emplace_back();
    }
    Record& made = records_[static_cast<size_t>(free_)];
    const int32_t number_of_record = free_;
    free_ = made.next;
    made.access = now.access, made.access.lanes = lanes;
    made.place = now.kind.place, made.atomic = now.kind.atomic, made.strong = now.strong;
    made.next = cell->records;
    cell->records = number_of_record;
}

void OrderedHazards::look_at(const Now& now) {
    const uint64_t step = first_ + now.access.step;
    const auto enter_all = [&](const Now& one) {
        forms_.each_cell(step, one.access.lanes,
                         [&](uint64_t number, uint32_t lanes) { enter(one, number, lanes); });
    };
    if (order_->asked().empty()) return enter_all(now);
    for (const uint32_t copy : order_->asked()) {
        Now one = now;
        one.access.copy = copy, one.access.lanes = order_->copy(copy).lanes;
        enter_all(one);
    }
}

// Whether a step is no tile of a wgmma that another of the four warps has come to already, where each comes by itself: on a
// GPU they read together, and the first to come stands for all.
bool OrderedHazards::comes_first(uint32_t step) {
    const ptx::Site& site = trace_.sites[trace_.form_of(first_ + step).site];
    const auto multiplies = [&] {
        return site.exchange == ptx::Exchange::Multiply && site.id > 0 &&
               trace_.sites[site.id - 1].box == ptx::Box::Tile &&
               ptx::goes_on(trace_.sites[site.id - 1], site);
    };
    if (site.box != ptx::Box::Tile && !multiplies()) return true;
    const uint32_t warp = trace_.warp_of(first_ + step),
                   first = warp / ptx::kWarpsOfGroup * ptx::kWarpsOfGroup;
    products_.resize(std::max<size_t>(products_.size(), first + ptx::kWarpsOfGroup), 0);
    if (site.box != ptx::Box::Tile) return ++products_[warp] > 0;
    return *std::max_element(products_.begin() + first, products_.begin() + first + ptx::kWarpsOfGroup) <=
           products_[warp];
}

void OrderedHazards::find(uint32_t block, PhaseWalk& walk, const HazardSink& sink) {
    const trace::Block& b = trace_.blocks[block];
    shared_.clear(), global_.clear();
    records_.clear(), unfilled_.clear(), found_.clear();
    free_ = kNone;
    block_ = block, first_ = b.first;
    phases_ = phases_of_block(walk, trace_, block);
    products_.clear();
    BlockOrder order(forms_.facts, trace_, block, fences_);
    order_ = &order;
    for (uint32_t step = 0; step < b.count && !stop_.at(step); ++step) {
        if (order.full(most_bytes_ / 8)) {
            full_ = true;
            break;
        }
        order.begin(step);
        const HazardForms::FormKind kind = forms_.kind_of(first_ + step);
        if (!kind.barrier && !comes_first(step)) {
            order.end();
            continue;
        }
        if (!kind.barrier && !kind.apart && (kind.shared || kind.grid_written)) {
            const trace::Form& form = trace_.form_of(first_ + step);
            const ptx::Site& site = trace_.sites[form.site];
            Now now;
            now.access = {step, form.mask, PastAccess::kNoCopy, trace_.warp_of(first_ + step),
                          site.box == ptx::Box::Tile};
            now.kind = kind, now.site = form.site;
            now.strong = forms_.facts.strong(form.site);
            now.bulk_read = site.box != ptx::Box::None && ptx::reads(site.kind);
            look_at(now);
        }
        order.end();
    }
    for (const Unfilled& one : unfilled_) {
        if (one.raced) continue;
        HazardInstance* const told = found(HazardKind::Uninitialised, Missing::Barrier, one.now.kind,
                                           one.cell, one.now.kind.place, UINT32_MAX);
        if (told == nullptr || told->example.a.site != kNoSite) continue;
        HazardExample& e = told->example;
        e.a = side(one.now.access.warp, lowest(one.lanes), one.now.access.step);
        e.interval = phases_.interval[one.now.access.step];
        e.first_step = e.last_step = e.a.step;
    }
    order_ = nullptr;
    for (HazardInstance& one : found_ | std::views::values) {
        if (one.kind == HazardKind::SameValue) one.severity = Severity::Remark;
        sink(one);
    }
}

}  // namespace tilescope::analysis
