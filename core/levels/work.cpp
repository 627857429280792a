#include "core/levels/work.h"

#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <set>

#include "core/analysis/banks.h"
#include "core/analysis/cost.h"
#include "core/levels/batch_cost.h"
#include "core/levels/touches.h"

namespace tilescope::analysis {

namespace {

using ptx::SiteKind;

// What batches and trips of loops need to know of a site.
enum class BatchAccess : uint8_t { Other, Global, SharedLoad };

struct WarpState {
    uint32_t batch = 0;
    int32_t site = LevelCode::kStart;
    uint32_t barriers = 0;
    uint32_t chain = 0, chain_batch = 0;
    uint32_t turns = 1;                    // loads wait for each other so many times
    std::set<uint32_t> loaded, under_way;  // sites since the batch began, and since its last turn began
    std::set<uint32_t> read;               // of shared memory since the last trip over them began
    std::vector<uint64_t> stored;          // sectors of its last request to store, by active lane
    std::map<uint32_t, uint32_t> copied;   // by site of a copy since the batch began: barriers passed then

    void begin(uint32_t number) {
        batch = number;
        turns = 1;
        loaded.clear();
        under_way.clear();
        read.clear();
        copied.clear();
    }
};

class Gatherer {
public:
    Gatherer(const trace::Trace& trace, LevelCode& code, const WorkRules& rules,
             const std::vector<int64_t>& relocation)
        : trace_(trace),
          code_(code),
          rules_(rules),
          relocation_(relocation),
          costs_(trace),
          first_line_(relocation.size()),
          touches_(relocation.size()) {}

    BlockWork work(uint32_t number, std::vector<uint32_t>* batch_of) {
        const trace::Block& block = trace_.blocks[number];
        find_joined(block);
        const trace::Arrivals arrivals(trace_, block);
        trace::ArrivalCursor cursor(arrivals);
        for (uint64_t step = block.first; step < block.first + block.count; ++step) {
            while (const auto later = cursor.next(static_cast<uint32_t>(step - block.first)))
                land(*later, trace_.warp_of(block.first + arrivals.later()[*later].step));
            add(step);
            if (batch_of) batch_of->push_back(warps_[trace_.warp_of(step)].batch);
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
            const trace::AccessView access(trace_, step);
            for_lanes(access.mask(), [&](uint32_t lane) {
                if ((access.addresses()[lane] - 4 * load.place) % (4 * load.of) != 0)
                    joined_[static_cast<size_t>(load.group)] = false;
            });
        }
    }

    BatchCost& batch(uint32_t number) {
        if (number >= batches_.size()) batches_.resize(number + 1);
        return batches_[number];
    }

    // Instructions count where their first one belongs: behind a request to global memory they use what was
    // loaded before, or they ask for more.
    void pass(WarpState& warp, int32_t to) {
        Executed way = code_.between(warp.site, to);
        BatchCost& at = batch(warp.batch);
        const BatchAccess from = accesses_of(warp.site);
        (from == BatchAccess::Global ? at.load : at.work) += way;
        if (from == BatchAccess::SharedLoad && accesses_of(to) == from)
            at.loop_instructions += way.instructions;
        sums_.instructions += way.instructions;
        sums_.fp32 += way.fp32;
        sums_.tensor += way.tensor;
        if (way.fp32 + way.tensor > 0 && at.reader && &warp == &warps_[*at.reader]) at.reads_used = true;
        warp.site = to;
    }

    BatchAccess accesses_of(int32_t site) const {
        return site >= 0 ? accesses_[static_cast<size_t>(site)] : BatchAccess::Other;
    }

    void add(uint64_t step) {
        const trace::Form& form = trace_.form_of(step);
        const ptx::Site& site = trace_.sites[form.site];
        const uint32_t number = trace_.warp_of(step);
        if (number >= warps_.size()) warps_.resize(number + 1);
        if (site.kind == SiteKind::Exchange) return;  // an instruction on the way to the next site
        if (accesses_.size() < trace_.sites.size()) accesses_.resize(trace_.sites.size(), BatchAccess::Other);
        WarpState& warp = warps_[number];
        const bool barrier = site.kind == SiteKind::Barrier;
        const bool global = !barrier && form.space == Space::Global;
        const bool reads = !barrier && form.space == Space::Shared && site.kind != SiteKind::Store;
        accesses_[form.site] = global  ? BatchAccess::Global
                               : reads ? BatchAccess::SharedLoad
                                       : BatchAccess::Other;
        const bool again = begins_batch(warp, site, global);
        pass(warp, static_cast<int32_t>(form.site));
        if (barrier) return arrive(warp);
        catch_up(warp);
        if (again) {
            warp.begin(warp.batch + 1);
            warp.loaded = warp.under_way = {form.site};
            if (!site.fills_registers()) warp.copied[form.site] = warp.barriers;
        }
        BatchCost& at = batch(warp.batch);
        at.turns = std::max(at.turns, warp.turns);
        if (global) return add_global(step, warp, at);
        if (joins_earlier(form.site)) {
            // Joined with the load before: neither an instruction nor a wavefront of its own.
            ++at.joined;
            return;
        }
        if (site.lands_later())
            batch_of_later_.push_back(warp.batch);
        else
            ++sums_.accesses, ++at.work_accesses;
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

    // Whether a load begins a batch of its warp. A copy does where a barrier has passed since it was met:
    // until then a loop over what is copied goes on.
    bool begins_batch(WarpState& warp, const ptx::Site& site, bool global) {
        if (!global || site.kind == SiteKind::Store) return false;
        if (site.fills_registers()) {
            if (!warp.loaded.insert(site.id).second) return true;
            // What it waits for is there, and all that was asked for before it.
            if (std::ranges::any_of(code_.waited_for(site.id),
                                    [&](uint32_t earlier) { return warp.under_way.contains(earlier); }))
                ++warp.turns, warp.under_way.clear();
            warp.under_way.insert(site.id);
            return false;
        }
        return warp.copied.try_emplace(site.id, warp.barriers).first->second != warp.barriers;
    }

    // What lands later is there: the wait for it was the end of the warp's batch, and the next one has the
    // data.
    void land(size_t later, uint32_t warp) {
        BatchCost& of = batch(batch_of_later_[later]);
        of.ahead = std::min(of.ahead, warps_[warp].batch - batch_of_later_[later] + 1);
    }

    // No warp leaves a barrier before the last one has come, so no batch behind it is earlier than any before
    // it.
    void arrive(WarpState& warp) {
        if (warp.barriers >= at_barrier_.size()) at_barrier_.resize(warp.barriers + 1, 0);
        uint32_t& latest = at_barrier_[warp.barriers++];
        latest = std::max(latest, warp.batch);
    }
    void catch_up(WarpState& warp) {
        if (warp.barriers > 0 && at_barrier_[warp.barriers - 1] > warp.batch)
            warp.begin(at_barrier_[warp.barriers - 1]);
    }

    bool joins_earlier(uint32_t site) const {
        const JoinedLoad& load = code_.joined()[site];
        return load.group >= 0 && joined_[static_cast<size_t>(load.group)] && load.place > 0;
    }

    uint32_t shared_wavefronts(uint64_t step, const trace::Form& form, const ptx::Site& site) {
        const JoinedLoad& load = code_.joined()[form.site];
        if (load.group < 0 || !joined_[static_cast<size_t>(load.group)])
            return costs_.of(step).shared.wavefronts;
        const trace::AccessView access(trace_, step);
        return bank_cost(access.addresses(), access.mask(), site.bytes * load.of).wavefronts;
    }

    // Loads of shared memory wait for each other where a loop comes round: what it loads next is asked for
    // when what it loaded last has been used.
    void follow_chain(WarpState& warp, uint32_t site, BatchCost& at) {
        if (warp.chain_batch != warp.batch) warp.chain = 0, warp.chain_batch = warp.batch, warp.read.clear();
        if (warp.read.empty() || !warp.read.insert(site).second) ++warp.chain, warp.read = {site};
        at.chain = std::max(at.chain, warp.chain);
    }

    void add_global(uint64_t step, WarpState& warp, BatchCost& at) {
        trace::AccessView access(trace_, step);
        const size_t slot = level_slot(trace_.launch, access.array());
        access.move(relocation_[slot]);
        if (!first_line_[slot])
            first_line_[slot] = access.addresses()[std::countr_zero(access.mask())] / kLineBytes;
        const GlobalCost cost = global_cost(access, *first_line_[slot]);
        ++sums_.accesses, ++at.load_accesses;
        sums_.passes += cost.wavefronts;
        sums_.lookups += cost.lookups;
        at.lookups += cost.lookups;
        if (access.stores()) {
            sums_.stored_sectors += cost.sectors.sectors;
            at.add_store(access, cost.sectors, warp.stored);
        } else {
            at.loads = true;
            if (access.site().fills_registers()) at.ahead = 0;
            ++sums_.loads, ++at.requests;
            sums_.requested_bytes += access.lane_bytes();
            sums_.l1_sectors += cost.sectors.sectors;
        }
        const bool first_time = touches_.add(access, slot, warp.batch);
        at.passes += first_time ? cost.missed_wavefronts : cost.wavefronts;
        if (first_time) sums_.more_passes += cost.missed_wavefronts - cost.wavefronts;
    }

    BlockWork finish() {
        BlockWork work;
        sums_.lines = touches_.lines();
        work.sums = sums_;
        work.barriers = !at_barrier_.empty();
        work.warps = static_cast<uint32_t>(warps_.size());
        work.batches.resize(batches_.size());
        const auto stores = touches_.finish(rules_, work);
        add_costs(batches_, stores, *rules_.spec, work);
        return work;
    }

    const trace::Trace& trace_;
    LevelCode& code_;
    const WorkRules& rules_;
    const std::vector<int64_t>& relocation_;
    CostTable costs_;
    std::vector<std::optional<uint64_t>> first_line_;  // of the first request, by slot
    std::vector<WarpState> warps_;
    std::vector<uint32_t> at_barrier_;   // the latest batch of the warps that arrived, by barrier
    std::vector<BatchAccess> accesses_;  // by site
    std::vector<bool> joined_;           // by site: the group of loads is joined
    std::vector<BatchCost> batches_;
    std::vector<uint32_t> batch_of_later_;  // by index into Arrivals::later()
    TouchList touches_;
    LevelSums sums_;
};

}  // namespace

BlockWork work_of_block(const trace::Trace& trace, LevelCode& code, uint32_t block, const WorkRules& rules,
                        const std::vector<int64_t>& relocation, std::vector<uint32_t>* batch_of) {
    return Gatherer(trace, code, rules, relocation).work(block, batch_of);
}

}  // namespace tilescope::analysis
