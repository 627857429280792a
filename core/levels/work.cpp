#include "core/levels/work.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <unordered_map>

#include "core/analysis/banks.h"
#include "core/analysis/coalescing.h"
#include "core/analysis/cost.h"
#include "core/levels/tags.h"

namespace tilescope::analysis {

namespace {

using ptx::SiteKind;

// Units in which a line may come again that is left out the second time.
constexpr uint32_t kRecent = 8;

// What a site accesses, as far as units and trips of loops are told apart by it.
enum class Accesses : uint8_t { Other, Global, SharedLoad };

// What a request to global memory touches of one line.
struct RawTouch {
    uint32_t unit = 0;
    uint16_t slot = 0;
    bool store = false;
    uint8_t sectors = 0;
    uint64_t line = 0;
    uint32_t warps = 0;  // bit by bit
    auto place() const { return std::tie(unit, store, slot, line); }
    bool operator<(const RawTouch& other) const { return place() < other.place(); }
};

// Cycles of a unit, as they are added up over its requests.
struct RawUnit {
    uint64_t passes = 0, lookups = 0, wavefronts = 0;
    uint64_t load_accesses = 0, work_accesses = 0;
    uint64_t joined = 0;  // loads that are no instructions of their own
    Executed load, work;
    uint64_t reads = 0, read_accesses = 0;  // wavefronts of loads of shared memory, and these,
    uint64_t loop_instructions = 0;         // and what is executed from one to the next
    uint32_t chain = 0;                     // the most dependent loads of shared memory of a warp
    std::optional<uint32_t> reader;         // the first warp that loads from shared memory, and
    uint64_t first_reads = 0;               // wavefronts of its loads before it works with any of them
    bool reads_used = false;
    uint32_t turns = 1;  // of the warp that has most
    bool loads = false;
    uint64_t requests = 0;  // to load
    UnitStores stores;
    uint32_t ahead = UINT32_MAX;  // the least of its loads
};

struct WarpState {
    uint32_t unit = 0;
    int32_t site = LevelCode::kStart;
    uint32_t barriers = 0;
    uint32_t chain = 0, chain_unit = 0;
    uint32_t turns = 1;                    // loads wait for each other so many times
    std::set<uint32_t> loaded, under_way;  // sites since the unit began; since the last turn did
    std::set<uint32_t> read;               // of shared memory since the last trip over them began
    std::vector<uint64_t> stored;          // sectors of its last request to store, by active lane
    std::map<uint32_t, uint32_t> copied;   // sites of copies since the unit began, by barriers passed then
};

class Gatherer {
public:
    Gatherer(const trace::Trace& trace, LevelCode& code, const WorkRules& rules,
             const std::vector<int64_t>& moved)
        : trace_(trace),
          code_(code),
          rules_(rules),
          moved_(moved),
          costs_(trace),
          first_line_(moved.size()) {}

    BlockWork work(uint32_t number, std::vector<uint32_t>* unit_of) {
        const trace::Block& block = trace_.blocks[number];
        find_joined(block);
        begin_copies(block);
        for (uint64_t step = block.first; step < block.first + block.count; ++step) {
            end_copies(static_cast<uint32_t>(step - block.first));
            add(step);
            if (unit_of) unit_of->push_back(warps_[trace_.warp_of(step)].unit);
        }
        for (WarpState& warp : warps_)
            if (warp.site != LevelCode::kStart) pass(warp, LevelCode::kEnd);
        return finish();
    }

private:
    // Loads are joined where every address of every one of the group is aligned.
    void find_joined(const trace::Block& block) {
        const std::vector<JoinedLoad>& joined = code_.joined();
        joined_.assign(joined.size(), false);
        for (size_t site = 0; site < joined.size(); ++site) joined_[site] = joined[site].group >= 0;
        for (uint64_t step = block.first; step < block.first + block.count; ++step) {
            const trace::Form& form = trace_.form_of(step);
            const JoinedLoad& load = joined[form.site];
            if (load.group < 0 || !joined_[static_cast<size_t>(load.group)]) continue;
            const trace::Access access = decode_addresses(trace_, step);
            for_lanes(access.mask, [&](uint32_t lane) {
                if ((access.offset[lane] - 4 * load.place) % (4 * load.of) != 0)
                    joined_[static_cast<size_t>(load.group)] = false;
            });
        }
    }

    RawUnit& unit(uint32_t number) {
        if (number >= units_.size()) units_.resize(number + 1);
        return units_[number];
    }

    // Instructions count where their first one belongs: behind a request to global memory they use what was
    // loaded before, or they ask for more.
    void pass(WarpState& warp, int32_t to) {
        Executed way = code_.between(warp.site, to);
        RawUnit& at = unit(warp.unit);
        const Accesses from = accesses_of(warp.site);
        (from == Accesses::Global ? at.load : at.work) += way;
        if (from == Accesses::SharedLoad && accesses_of(to) == from) at.loop_instructions += way.instructions;
        sums_.instructions += way.instructions;
        sums_.fp32 += way.fp32;
        if (way.fp32 > 0 && at.reader && &warp == &warps_[*at.reader]) at.reads_used = true;
        warp.site = to;
    }

    Accesses accesses_of(int32_t site) const {
        return site >= 0 ? accesses_[static_cast<size_t>(site)] : Accesses::Other;
    }

    void add(uint64_t step) {
        const trace::Form& form = trace_.form_of(step);
        const ptx::Site& site = trace_.sites[form.site];
        const uint32_t number = trace_.warp_of(step);
        if (number >= warps_.size()) warps_.resize(number + 1);
        if (accesses_.size() < trace_.sites.size()) accesses_.resize(trace_.sites.size(), Accesses::Other);
        WarpState& warp = warps_[number];
        const bool barrier = site.kind == SiteKind::Barrier;
        const bool global = !barrier && form.space == Space::Global;
        const bool reads = !barrier && form.space == Space::Shared && site.kind != SiteKind::Store;
        accesses_[form.site] = global ? Accesses::Global : reads ? Accesses::SharedLoad : Accesses::Other;
        const bool again = begins_unit(warp, site, global);
        pass(warp, static_cast<int32_t>(form.site));
        if (barrier) return arrive(warp);
        catch_up(warp);
        if (again) {
            ++warp.unit;
            warp.loaded = warp.under_way = {form.site};
            warp.turns = 1;
            warp.copied.clear();
            if (site.copy) warp.copied[form.site] = warp.barriers;
            warp.read.clear();
        }
        RawUnit& at = unit(warp.unit);
        at.turns = std::max(at.turns, warp.turns);
        if (global) return add_global(step, site, number, at);
        if (joins_earlier(form.site)) {
            // Part of the load before: neither an instruction nor a wavefront of its own.
            ++at.joined;
            return;
        }
        if (site.copy) {
            copies_.push_back({next_arrival(), number, warp.unit});
            std::ranges::push_heap(copies_, std::greater{}, &Copy::arrival);
        } else {
            ++sums_.accesses, ++at.work_accesses;
        }
        if (form.space != Space::Shared) return;
        const uint32_t wavefronts = shared_wavefronts(step, form, site);
        if (site.kind != SiteKind::Store) {
            follow_chain(warp, form.site, at);
            at.reads += wavefronts, ++at.read_accesses;
            if (!at.reads_used && at.reader.value_or(number) == number)
                at.reader = number, at.first_reads += wavefronts;
        }
        sums_.wavefronts += wavefronts;
        at.wavefronts += wavefronts;
    }

    // Whether a load begins a unit of its warp. A copy does where a barrier has passed since it was met:
    // until then a loop over what is copied goes on.
    bool begins_unit(WarpState& warp, const ptx::Site& site, bool global) {
        if (!global || site.kind == SiteKind::Store) return false;
        if (!site.copy) {
            if (!warp.loaded.insert(site.id).second) return true;
            // What it waits for is there, and all that was asked for before it.
            if (std::ranges::any_of(warp.under_way,
                                    [&](uint32_t earlier) { return code_.waits(site.id, earlier); }))
                ++warp.turns, warp.under_way.clear();
            warp.under_way.insert(site.id);
            return false;
        }
        return warp.copied.try_emplace(site.id, warp.barriers).first->second != warp.barriers;
    }

    // Copies that nothing has waited for yet, the next one to arrive first.
    struct Copy {
        uint32_t arrival = 0, warp = 0, unit = 0;
    };
    void begin_copies(const trace::Block& block) { arrival_ = block.first_arrival; }
    uint32_t next_arrival() {
        return arrival_ < trace_.arrival.size() ? trace_.arrival[arrival_++] : trace::kNeverWaited;
    }
    void end_copies(uint32_t step) {
        while (!copies_.empty() && copies_.front().arrival <= step) {
            std::ranges::pop_heap(copies_, std::greater{}, &Copy::arrival);
            const Copy copy = copies_.back();
            copies_.pop_back();
            // What waited is the end of the unit that the warp is in: the next one has the data.
            RawUnit& of = unit(copy.unit);
            of.ahead = std::min(of.ahead, warps_[copy.warp].unit - copy.unit + 1);
        }
    }

    // No warp leaves a barrier before the last one has come, so behind it no unit is earlier than the latest
    // of those that arrived.
    void arrive(WarpState& warp) {
        if (warp.barriers >= at_barrier_.size()) at_barrier_.resize(warp.barriers + 1, 0);
        uint32_t& latest = at_barrier_[warp.barriers++];
        latest = std::max(latest, warp.unit);
    }
    void catch_up(WarpState& warp) {
        if (warp.barriers == 0 || at_barrier_[warp.barriers - 1] <= warp.unit) return;
        warp.unit = at_barrier_[warp.barriers - 1];
        warp.loaded.clear();
        warp.under_way.clear();
        warp.turns = 1;
        warp.copied.clear();
        warp.read.clear();
    }

    bool joins_earlier(uint32_t site) const {
        const JoinedLoad& load = code_.joined()[site];
        return load.group >= 0 && joined_[static_cast<size_t>(load.group)] && load.place > 0;
    }

    uint32_t shared_wavefronts(uint64_t step, const trace::Form& form, const ptx::Site& site) {
        const JoinedLoad& load = code_.joined()[form.site];
        if (load.group < 0 || !joined_[static_cast<size_t>(load.group)])
            return costs_.of(step).shared.wavefronts;
        const trace::Access access = decode_addresses(trace_, step);
        return bank_cost(access.offset.data(), access.mask, site.bytes * load.of).wavefronts;
    }

    // Loads of shared memory wait for each other where a loop comes round: what it loads next is asked for
    // when what it loaded last has been used.
    void follow_chain(WarpState& warp, uint32_t site, RawUnit& at) {
        if (warp.chain_unit != warp.unit) warp.chain = 0, warp.chain_unit = warp.unit, warp.read.clear();
        if (warp.read.empty() || !warp.read.insert(site).second) ++warp.chain, warp.read = {site};
        at.chain = std::max(at.chain, warp.chain);
    }

    void add_global(uint64_t step, const ptx::Site& site, uint32_t warp, RawUnit& at) {
        trace::Access access = decode_addresses(trace_, step);
        const size_t slot = level_slot(trace_.launch, access.array);
        uint32_t lanes = 0;
        for_lanes(access.mask, [&](uint32_t lane) {
            access.offset[lane] += static_cast<uint64_t>(moved_[slot]);
            ++lanes;
        });
        const SectorCost cost = sector_cost(access.offset.data(), access.mask, site.bytes);
        ++sums_.accesses, ++at.load_accesses;
        const bool store = site.kind == SiteKind::Store;
        const uint32_t passes = bank_cost(access.offset.data(), access.mask, site.bytes, store).wavefronts;
        sums_.passes += passes;
        // Counted from the first line that the block touches, so that blocks that are each other's, moved,
        // have the same.
        if (!first_line_[slot]) first_line_[slot] = access.offset[std::countr_zero(access.mask)] / kLineBytes;
        for_lanes(access.mask,
                  [&](uint32_t lane) { access.offset[lane] -= *first_line_[slot] * kLineBytes; });
        const uint32_t lookups = tag_lookups(access.offset.data(), access.mask, site.bytes);
        const uint32_t missed =
            store || site.copy
                ? passes
                : std::max(passes, missed_passes(access.offset.data(), access.mask, site.bytes));
        for_lanes(access.mask,
                  [&](uint32_t lane) { access.offset[lane] += *first_line_[slot] * kLineBytes; });
        sums_.lookups += lookups;
        at.lookups += lookups;
        if (store) {
            sums_.stored_sectors += cost.sectors;
        } else {
            at.loads = true;
            if (!site.copy) at.ahead = 0;
            ++sums_.loads, ++at.requests;
            sums_.requested_bytes += uint64_t{lanes} * site.bytes;
            sums_.l1_sectors += cost.sectors;
        }
        RawTouch last{warps_[warp].unit, static_cast<uint16_t>(slot), store, 0, 0, 1u << warp % kWarpSize};
        bool first_time = false;
        const auto keep = [&] {
            raw_.push_back(last);
            ++sums_.lines;
            if (store) return;
            uint8_t& loaded = loaded_[{last.slot, last.line}];
            first_time |= (last.sectors & ~loaded) != 0;
            loaded |= last.sectors;
        };
        for_lanes(access.mask, [&](uint32_t lane) {
            const uint64_t first = access.offset[lane] / kSectorBytes;
            const uint64_t end = (access.offset[lane] + site.bytes - 1) / kSectorBytes;
            for (uint64_t sector = first; sector <= end; ++sector) {
                const uint64_t line = sector / 4;
                if (last.sectors && line != last.line) {
                    keep();
                    last.sectors = 0;
                }
                last.line = line;
                last.sectors |= static_cast<uint8_t>(1u << sector % 4);
            }
        });
        if (last.sectors) keep();
        if (store) add_store(warps_[warp], access, site.bytes, cost, at.stores);
        at.passes += first_time ? missed : passes;
        if (first_time) sums_.more_passes += missed - passes;
    }

    // cost: of the request. Its lanes are where they lie in memory.
    void add_store(WarpState& warp, const trace::Access& access, uint32_t lane_bytes, const SectorCost& cost,
                   UnitStores& stores) {
        std::vector<uint64_t> sectors;
        for_lanes(access.mask, [&](uint32_t lane) { sectors.push_back(access.offset[lane] / kSectorBytes); });
        const auto lanes = static_cast<uint32_t>(sectors.size());
        const bool again = sectors == warp.stored;
        stores.bytes += uint64_t{lanes} * lane_bytes;
        if (lanes == kWarpSize && lane_bytes == 4 && cost.sectors == lanes) {
            std::set<uint64_t> lines;
            for (const uint64_t sector : sectors) lines.insert(sector / 4);
            const auto count = static_cast<uint32_t>(lines.size());
            stores.apart += uint64_t{cost.sectors + count} * (again ? 2 : 1);
            stores.fewest_lines = std::min(stores.fewest_lines, count);
        } else {
            stores.bytes_together += uint64_t{lanes} * lane_bytes;
        }
        warp.stored = std::move(sectors);
    }

    BlockWork finish();
    void leave_out_recent(std::vector<RawTouch>& touches, BlockWork& work) const;
    uint64_t most_recent_lines(const std::vector<RawTouch>& touches) const;

    const trace::Trace& trace_;
    LevelCode& code_;
    const WorkRules& rules_;
    const std::vector<int64_t>& moved_;
    CostTable costs_;
    std::vector<std::optional<uint64_t>> first_line_;  // by slot: of the first request
    std::vector<WarpState> warps_;
    std::vector<uint32_t> at_barrier_;  // by barrier: the latest unit of those that arrived
    std::vector<Accesses> accesses_;    // by site
    std::vector<bool> joined_;          // by site: a group that is joined
    std::vector<RawUnit> units_;
    std::vector<RawTouch> raw_;
    std::vector<Copy> copies_;                                 // a heap
    uint64_t arrival_ = 0;                                     // of Trace::arrival: that of the next copy
    std::map<std::pair<uint16_t, uint64_t>, uint8_t> loaded_;  // sectors by slot and line
    LevelSums sums_;
};

// The most lines that kRecent + 1 units in a row touch.
uint64_t Gatherer::most_recent_lines(const std::vector<RawTouch>& touches) const {
    uint64_t most = 0;
    std::set<std::pair<uint16_t, uint64_t>> lines;
    uint32_t until = kRecent + 1;
    for (const RawTouch& touch : touches) {
        if (touch.unit >= until) {
            lines.clear();
            until = touch.unit + kRecent + 1;
        }
        lines.insert({touch.slot, touch.line});
        most = std::max<uint64_t>(most, lines.size());
    }
    return most;
}

// Sectors that one of the units just before has loaded hit in L1 as long as what all blocks of the SM load
// meanwhile fits it: they need not be looked up. Half of L1 leaves room for sets that fill unevenly.
void Gatherer::leave_out_recent(std::vector<RawTouch>& touches, BlockWork& work) const {
    const bool recent_stay = most_recent_lines(touches) * rules_.resident * 2 <= rules_.l1_lines;
    struct Seen {
        uint8_t ever = 0;
        std::array<uint32_t, 4> unit{};
    };
    std::vector<std::unordered_map<uint64_t, Seen>> seen(moved_.size());
    for (RawTouch& touch : touches) {
        if (touch.store) continue;
        Seen& line = seen[touch.slot][touch.line];
        for (uint32_t sector = 0; sector < 4; ++sector) {
            if (!(touch.sectors >> sector & 1)) continue;
            const auto bit = static_cast<uint8_t>(1u << sector);
            if (!(line.ever & bit))
                ++work.distinct_sectors;
            else if (recent_stay && touch.unit - line.unit[sector] <= kRecent)
                touch.sectors &= static_cast<uint8_t>(~bit), ++work.left_out;
            line.ever |= bit;
            line.unit[sector] = touch.unit;
        }
    }
    std::erase_if(touches, [](const RawTouch& touch) { return touch.sectors == 0; });
}

BlockWork Gatherer::finish() {
    BlockWork work;
    for (RawUnit& unit : units_) {
        sums_.instructions -= unit.joined;
        unit.work.instructions -= std::min(unit.work.instructions, unit.joined);
    }
    work.sums = sums_;
    work.barriers = !at_barrier_.empty();
    work.warps = static_cast<uint32_t>(warps_.size());
    std::sort(raw_.begin(), raw_.end());
    std::vector<RawTouch> touches;  // each line of a unit once
    for (const RawTouch& touch : raw_)
        if (!touches.empty() && touches.back().place() == touch.place())
            touches.back().sectors |= touch.sectors, touches.back().warps |= touch.warps;
        else
            touches.push_back(touch);
    leave_out_recent(touches, work);
    work.first_line.assign(moved_.size(), UINT64_MAX);
    for (const RawTouch& touch : touches)
        work.first_line[touch.slot] = std::min(work.first_line[touch.slot], touch.line);
    for (uint64_t& line : work.first_line)
        if (line == UINT64_MAX) line = 0;
    work.units.resize(units_.size());
    std::vector<uint32_t> storing(units_.size(), 0);  // warps, bit by bit
    for (const RawTouch& touch : touches) {
        if (touch.store) {
            storing[touch.unit] |= touch.warps;
            units_[touch.unit].stores.own_lines &= std::has_single_bit(touch.warps);
        }
        Unit& unit = work.units[touch.unit];
        if (unit.count++ == 0) unit.first = static_cast<uint32_t>(work.touches.size());
        work.touches.push_back({static_cast<uint32_t>(touch.line - work.first_line[touch.slot]), touch.slot,
                                touch.sectors, touch.store});
        if (!work.barriers) work.warps_of.push_back(touch.warps);
    }
    const LevelSpec& spec = *rules_.spec;
    const auto cycles = [&](uint64_t passes, uint64_t accesses, uint64_t instructions) {
        return static_cast<float>(std::max({static_cast<double>(passes) / spec.pipe_per_clock.value,
                                            static_cast<double>(accesses) / spec.lsu_per_clock.value,
                                            static_cast<double>(instructions) / spec.issue_per_clock.value}));
    };
    for (size_t i = 0; i < units_.size(); ++i) {
        RawUnit& raw = units_[i];
        Unit& unit = work.units[i];
        unit.load_cycles =
            cycles(raw.passes, std::max(raw.lookups, raw.load_accesses), raw.load.instructions);
        raw.stores.warps = static_cast<uint32_t>(std::popcount(storing[i]));
        const uint64_t sent = sent_for(raw.stores);
        work.sums.sent_sectors += sent;
        if (i + 1 == units_.size())
            work.sending_cycles = std::max(0.0, static_cast<double>(sent) / spec.sent_per_clock.value -
                                                    static_cast<double>(unit.load_cycles));
        unit.work_cycles = cycles(raw.wavefronts, raw.work_accesses, raw.work.instructions);
        unit.chain_cycles = static_cast<float>(raw.chain * spec.shared_cycles.value);
        if (raw.chain > 0) {
            const double trips = spec.shared_cycles.value + (raw.chain - 1) * spec.trip_cycles.value;
            work.trip_cycles +=
                std::max(0.0, trips - static_cast<double>(std::max(unit.work_cycles, unit.chain_cycles)));
        }
        if (raw.chain > 1) {
            work.loop_cycles += (raw.chain - 1) * spec.trip_cycles.value;
            work.loop_work_cycles +=
                static_cast<double>(cycles(raw.reads, raw.read_accesses, raw.loop_instructions));
        }
        if (raw.reader) {
            work.first_read_cycles += spec.shared_cycles.value;
            work.first_read_wavefronts +=
                static_cast<double>(raw.first_reads * std::min(kSchedulers, std::max(work.warps, 1u)));
        }
        unit.loads = raw.loads;
        unit.turns = static_cast<uint8_t>(std::min(raw.turns, uint32_t{UINT8_MAX}));
        if (raw.loads) unit.ahead = static_cast<uint8_t>(std::min(raw.ahead, uint32_t{UINT8_MAX}));
        work.sums.load_units += raw.loads ? raw.turns : 0;
        work.sums.loads_ahead += raw.requests * std::max<uint64_t>(unit.ahead, 1);
    }
    return work;
}

}  // namespace

uint64_t sent_for(const UnitStores& stores) {
    constexpr uint32_t kManyLines = 32;
    const auto filled = [](uint64_t bytes) { return (bytes + kSectorBytes - 1) / kSectorBytes; };
    if (stores.apart == 0 || !stores.own_lines || uint64_t{stores.fewest_lines} * stores.warps < kManyLines)
        return filled(stores.bytes);
    return stores.apart + filled(stores.bytes_together);
}

namespace {
// What LevelSums consists of, so that each is said once.
constexpr uint64_t LevelSums::*kSums[] = {
    &LevelSums::requested_bytes, &LevelSums::loads,          &LevelSums::load_units,  &LevelSums::loads_ahead,
    &LevelSums::l1_sectors,      &LevelSums::stored_sectors, &LevelSums::passes,      &LevelSums::more_passes,
    &LevelSums::lookups,         &LevelSums::lines,          &LevelSums::wavefronts,  &LevelSums::accesses,
    &LevelSums::instructions,    &LevelSums::fp32,           &LevelSums::sent_sectors};
static_assert(sizeof(LevelSums) == std::size(kSums) * sizeof(uint64_t));
}  // namespace

LevelSums& LevelSums::add(const LevelSums& other, uint64_t times) {
    for (const auto sum : kSums) this->*sum += other.*sum * times;
    return *this;
}

BlockWork work_of_block(const trace::Trace& trace, LevelCode& code, uint32_t block, const WorkRules& rules,
                        const std::vector<int64_t>& moved, std::vector<uint32_t>* unit_of) {
    return Gatherer(trace, code, rules, moved).work(block, unit_of);
}

bool moved_between(const BlockOf& from, const BlockOf& to, std::vector<int64_t>& moved) {
    const trace::Trace &a = *from.trace, &b = *to.trace;
    const trace::Block &first = a.blocks[from.block], &second = b.blocks[to.block];
    if (first.count != second.count) return false;
    std::vector<std::optional<int64_t>> known(level_slots(a.launch));
    for (uint64_t i = 0; i < first.count; ++i) {
        const uint64_t p = first.first + i, q = second.first + i;
        const trace::Form &f = a.form_of(p), &g = b.form_of(q);
        if (f.site != g.site || f.mask != g.mask || f.array != g.array || f.space != g.space ||
            a.warp_of(p) != b.warp_of(q))
            return false;
        if (a.sites[f.site].kind == SiteKind::Barrier) continue;
        const trace::Access x = trace::decode(a, p), y = trace::decode(b, q);
        // Shared memory is the block's own: the same addresses.
        std::optional<int64_t> shared = 0;
        auto& difference = f.space == Space::Global ? known[level_slot(a.launch, f.array)] : shared;
        bool same = true;
        for_lanes(f.mask, [&](uint32_t lane) {
            const auto here = static_cast<int64_t>(y.offset[lane] - x.offset[lane]);
            same &= here == difference.value_or(here);
            difference = here;
        });
        if (!same) return false;
    }
    moved.assign(known.size(), 0);
    for (size_t i = 0; i < known.size(); ++i) moved[i] = known[i].value_or(0);
    return true;
}

}  // namespace tilescope::analysis
