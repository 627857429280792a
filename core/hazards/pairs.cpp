// The pair that a race is told by, and the values that were read. That two accesses race holds in every
// order; which of them the recording had first, and whether a wrong value was read, it shows itself:
//
//     phase 0     thread[0,0] stores -2
//     phase 1     thread[0,0] stores  4       <- a
//     phase 0         thread[5,0] reads  4    <- b: instead of phase 0's -2
//
// What a load should read is what its own phase stored to the cell, by a site that stands before it; else
// what the latest phase before stored. Where more than one thread stored that, nothing says which.
#include <algorithm>
#include <tuple>

#include "core/hazards/block.h"

namespace tilescope::analysis {
namespace {

struct CellTouch {
    uint32_t step = 0;  // of the block
    uint32_t thread = 0, site = 0, phase = 0, interval = 0;
    uint32_t part = 0;  // of a vector access: which of its elements
};

// A cell that faults are about, with all that is stored to it.
struct WatchedCell {
    std::vector<CellTouch> stores, by_phase;  // by step; by phase, then step
    std::vector<HazardExample*> races;        // with a load
    bool narrow = false;                      // accesses narrower than the element: not told apart here
};

class Pairs {
public:
    Pairs(const trace::Trace& trace, const BlockIntervals& block, const ValueAt& value)
        : trace_(trace), block_(block), value_(value) {}

    void tell(std::span<HazardExample* const> examples);

private:
    static uint64_t key(const HazardExample& e) { return uint64_t{e.array} << 40 | e.element; }
    const ptx::Site& site(uint32_t number) const { return trace_.sites[number]; }
    // visit(Watch&, const Touch&) for every watched cell that a lane touches at a site of such a kind
    template <class Visit>
    void each_touch(bool (*wanted)(ptx::SiteKind), Visit visit);
    void consider(const WatchedCell& watch, const CellTouch& load);
    const CellTouch* should_read(const WatchedCell& watch, const CellTouch& load) const;
    HazardExample::HeldValue held(const CellTouch& load, const CellTouch* from) const;
    void drop_parts(HazardExample& e) const;
    HazardSide side(const CellTouch& touch) const {
        return {block_.block, touch.thread, touch.site, block_.first + touch.step, touch.phase};
    }

    const trace::Trace& trace_;
    const BlockIntervals& block_;
    const ValueAt& value_;
    // Stores that may still be gone through: the pair of a race that is told is the best one so far.
    mutable uint64_t left_ = 200'000'000;
    CellMap<uint32_t> number_;  // cell -> its watch + 1
    std::vector<WatchedCell> watches_;
    std::vector<bool> watched_ = std::vector<bool>(256, false);  // arrays
};

template <class Visit>
void Pairs::each_touch(bool (*wanted)(ptx::SiteKind), Visit visit) {
    for (uint32_t interval = 0; interval < block_.intervals(); ++interval)
        for (uint32_t i = block_.begin[interval]; i < block_.begin[interval + 1]; ++i) {
            const StepPart& part = block_.parts[i];
            const trace::Form& form = trace_.form_of(block_.first + part.step);
            if (!wanted(site(form.site).kind) || !watched_[form.array]) continue;
            const trace::Access access = trace::decode(trace_, block_.first + part.step);
            const uint64_t width = std::max(trace_.launch.arrays[form.array].element_bytes(), 1u);
            const uint64_t bytes = std::max(site(form.site).bytes, 1u);
            for_lanes(part.mask & access.mask, [&](uint32_t lane) {
                const uint64_t first = access.offset[lane] / width;
                const uint64_t last = (access.offset[lane] + bytes - 1) / width;
                for (uint64_t element = first; element <= last; ++element) {
                    const uint32_t* const number = number_.find(uint64_t{form.array} << 40 | element);
                    if (number == nullptr || *number == 0) continue;
                    WatchedCell& watch = watches_[*number - 1];
                    watch.narrow = watch.narrow || bytes < width;
                    visit(watch, CellTouch{part.step, access.warp * kWarpSize + lane, form.site,
                                           block_.phases.phase[part.step], interval,
                                           static_cast<uint32_t>(element - first)});
                }
            });
        }
}

const CellTouch* Pairs::should_read(const WatchedCell& watch, const CellTouch& load) const {
    const auto later = [](const CellTouch& l, const CellTouch& store) { return l.phase < store.phase; };
    auto at = std::upper_bound(watch.by_phase.begin(), watch.by_phase.end(), load, later);
    const CellTouch* found = nullptr;
    while (at != watch.by_phase.begin() && left_ > 0) {
        --left_;
        const CellTouch& store = *--at;
        if (found != nullptr && store.phase != found->phase) break;
        if (store.phase == load.phase && store.site > load.site) continue;
        if (found != nullptr && store.thread != found->thread) return nullptr;
        if (found == nullptr) found = &store;
    }
    return found;
}

HazardExample::HeldValue Pairs::held(const CellTouch& load, const CellTouch* from) const {
    HazardExample::HeldValue held;
    held.stored = from != nullptr;
    held.known = value_ != nullptr;
    const CellTouch& at = from != nullptr ? *from : load;
    if (from != nullptr) held.phase = from->phase;
    if (value_) held.value = value_(at.step, at.thread % kWarpSize, at.part);
    return held;
}

// Of a part of a struct's member no value is told.
void Pairs::drop_parts(HazardExample& e) const {
    if (e.array == trace::kNoArray) return;
    const Member* const member = member_of(trace_.launch.arrays[e.array], e.element);
    for (HazardExample::HeldValue* held : {&e.read, &e.other})
        if (member && size_of(held->value.type) < size_of(member->type)) *held = {};
}

// Whether the load makes a better pair with a store of its interval than the one that is told so far.
void Pairs::consider(const WatchedCell& watch, const CellTouch& load) {
    if (left_ == 0) return;
    const auto after =
        std::lower_bound(watch.stores.begin(), watch.stores.end(), load.step,
                         [](const CellTouch& store, uint32_t step) { return store.step < step; });
    const CellTouch* const last = after == watch.stores.begin() ? nullptr : &*(after - 1);
    const CellTouch* const own = should_read(watch, load);
    for (HazardExample* const told : watch.races) {
        if (told->interval != load.interval || site(told->b.site).line != site(load.site).line) continue;
        const auto other_side = [&](const CellTouch* store) {
            return store != nullptr && store->interval == load.interval && store->thread != load.thread &&
                   site(store->site).line == site(told->a.site).line;
        };
        const auto one = [&](const CellTouch& store) {
            left_ -= left_ > 0 ? 1 : 0;
            return other_side(&store) || left_ == 0;
        };
        HazardExample made = *told;
        made.b = side(load);
        made.read = held(load, last);
        if (other_side(last) && last->phase > load.phase) {
            made.order = ReadOrder::Overwritten;
            made.a = side(*last);
            made.other = own != nullptr ? held(load, own) : HazardExample::HeldValue{};
        } else if (other_side(own) && own->step > load.step) {
            made.order = ReadOrder::Early;
            made.a = side(*own);
            made.other = held(load, own);
        } else {
            const bool right =
                last != nullptr && own != nullptr && last->step == own->step && last->thread == own->thread;
            made.order = right ? ReadOrder::Right : ReadOrder::Open;
            // The next store would be read in another order; or, without the last, what was there before.
            if (const auto next = std::find_if(after, watch.stores.end(), one);
                next != watch.stores.end() && left_ > 0) {
                made.a = side(*next);
                made.other = held(load, &*next);
            } else if (other_side(last)) {
                made.a = side(*last);
                const bool first = after - 1 == watch.stores.begin();
                made.other = first ? HazardExample::HeldValue{} : held(load, &*(after - 2));
            } else {
                continue;
            }
        }
        drop_parts(made);
        const bool fresh = told->order == ReadOrder::Unknown, wrong = reads_wrong(made);
        const uint32_t was = rank_of(*told), is = rank_of(made);
        // Of those alike the first that went wrong, or the last that was lucky: the closest to its store.
        if (fresh || is < was || (is == was && !wrong && load.step > told->b.step - block_.first))
            *told = made;
    }
}

void Pairs::tell(std::span<HazardExample* const> examples) {
    for (HazardExample* const e : examples) {
        e->order = ReadOrder::Unknown;
        if (e->array >= trace_.launch.arrays.size()) continue;
        const ptx::SiteKind kind = site(e->a.site).kind;
        const bool race = ptx::writes(kind) && e->b.site != kNoSite;
        if (!race && value_) {  // an uninitialised or a stale load
            const trace::Access access = trace::decode(trace_, e->a.step);
            const uint64_t width = std::max(trace_.launch.arrays[e->array].element_bytes(), 1u);
            const uint32_t lane = e->a.thread % kWarpSize;
            const auto part = kind == ptx::SiteKind::Atomic  // what it found
                                  ? 1
                                  : static_cast<uint32_t>(e->element - access.offset[lane] / width);
            e->read = {true, e->b.site != kNoSite, e->b.phase,
                       value_(static_cast<uint32_t>(e->a.step - block_.first), lane, part)};
            drop_parts(*e);
        }
        if (!race || site(e->b.site).kind != ptx::SiteKind::Load) continue;
        uint32_t& number = number_.at(key(*e));
        if (number == 0) {
            watches_.emplace_back();
            number = static_cast<uint32_t>(watches_.size());
            watched_[e->array] = true;
        }
        watches_[number - 1].races.push_back(e);
    }
    if (watches_.empty()) return;
    each_touch(&ptx::writes,
               [](WatchedCell& watch, const CellTouch& store) { watch.stores.push_back(store); });
    for (WatchedCell& watch : watches_) {
        const auto order = [](const CellTouch& x, const CellTouch& y) {
            return std::tie(x.step, x.thread) < std::tie(y.step, y.thread);
        };
        std::sort(watch.stores.begin(), watch.stores.end(), order);
        watch.by_phase = watch.stores;
        std::stable_sort(watch.by_phase.begin(), watch.by_phase.end(),
                         [](const CellTouch& x, const CellTouch& y) { return x.phase < y.phase; });
    }
    const auto is_load = [](ptx::SiteKind kind) { return kind == ptx::SiteKind::Load; };
    each_touch(is_load, [&](WatchedCell& watch, const CellTouch& load) {
        if (!watch.narrow) consider(watch, load);
    });
}

}  // namespace

bool reads_wrong(const HazardExample& e) {
    return e.order == ReadOrder::Overwritten || e.order == ReadOrder::Early;
}

bool reads_other_value(const HazardExample& e) {
    return e.read.known && e.other.known && e.read.value != e.other.value;
}

uint32_t rank_of(const HazardExample& e) {
    if (e.order == ReadOrder::Unknown) return 6;
    const bool two_warps = e.a.thread / kWarpSize != e.b.thread / kWarpSize;
    if (reads_wrong(e)) return (reads_other_value(e) ? 0u : 2u) + (two_warps ? 0 : 1);
    return 4 + (two_warps ? (reads_other_value(e) ? 0u : 1u) : 2u);
}

void tell_pairs(const trace::Trace& trace, const BlockIntervals& block,
                std::span<HazardExample* const> examples, const ValueAt& value) {
    Pairs(trace, block, value).tell(examples);
}

}  // namespace tilescope::analysis
