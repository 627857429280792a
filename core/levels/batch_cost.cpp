#include "core/levels/batch_cost.h"

#include <algorithm>
#include <bit>
#include <set>
#include <utility>

#include "core/analysis/banks.h"
#include "core/levels/tags.h"

namespace tilescope::analysis {

uint64_t sent_for(const BatchStores& stores) {
    constexpr uint32_t kManyLines = 32;
    const auto filled = [](uint64_t bytes) { return (bytes + kSectorBytes - 1) / kSectorBytes; };
    if (stores.apart == 0 || !stores.own_lines || uint64_t{stores.fewest_lines} * stores.warps < kManyLines)
        return filled(stores.bytes);
    return stores.apart + filled(stores.bytes_together);
}

GlobalCost global_cost(const trace::AccessView& access, uint64_t first_line) {
    const uint64_t* const address = access.addresses();
    const uint32_t mask = access.mask(), bytes = access.site().bytes;
    GlobalCost cost;
    if (access.site().box != ptx::Box::None) {  // by a unit of its own
        cost.sectors = sector_cost(access);
        return cost;
    }
    cost.sectors = sector_cost(address, mask, bytes);
    cost.wavefronts = cost.missed_wavefronts = bank_cost(address, mask, bytes, access.stores()).wavefronts;
    trace::AccessView near = access;
    near.move(-static_cast<int64_t>(first_line * kLineBytes));
    cost.lookups = tag_lookups(near.addresses(), mask, bytes);
    if (access.site().fills_registers())
        cost.missed_wavefronts = std::max(cost.wavefronts, missed_passes(near.addresses(), mask, bytes));
    return cost;
}

void BatchCost::add_store(const trace::AccessView& access, const SectorCost& cost,
                          std::vector<uint64_t>& last_sectors) {
    if (access.is_box()) {
        stores.bytes += access.lane_bytes();
        stores.bytes_together += access.lane_bytes();
        return;
    }
    const uint32_t bytes = access.site().bytes;
    std::vector<uint64_t> sectors;
    for_lanes(access.mask(),
              [&](uint32_t lane) { sectors.push_back(access.addresses()[lane] / kSectorBytes); });
    const auto lanes = static_cast<uint32_t>(sectors.size());
    const bool again = sectors == last_sectors;
    stores.bytes += uint64_t{lanes} * bytes;
    if (lanes == kWarpSize && bytes == 4 && cost.sectors == lanes) {
        std::set<uint64_t> lines;
        for (const uint64_t sector : sectors) lines.insert(sector / 4);
        const auto count = static_cast<uint32_t>(lines.size());
        stores.apart += uint64_t{cost.sectors + count} * (again ? 2 : 1);
        stores.fewest_lines = std::min(stores.fewest_lines, count);
    } else {
        stores.bytes_together += uint64_t{lanes} * bytes;
    }
    last_sectors = std::move(sectors);
}

namespace {

void add_cost(const BatchCost& cost, uint64_t sent, const LevelSpec& spec, LoadBatch& batch,
              BlockWork& work) {
    const auto cycles = [&](uint64_t wavefronts, uint64_t accesses, const Executed& code) {
        return static_cast<float>(
            std::max({static_cast<double>(wavefronts) / spec.pipe_per_clock.value,
                      static_cast<double>(accesses) / spec.lsu_per_clock.value,
                      static_cast<double>(code.instructions) / spec.issue_per_clock.value,
                      static_cast<double>(code.tensor) / spec.half_per_clock.value}));
    };
    batch.load_cycles = cycles(cost.passes, std::max(cost.lookups, cost.load_accesses), cost.load);
    work.sums.sent_sectors += sent;
    work.sending_cycles = std::max(
        0.0, static_cast<double>(sent) / spec.sent_per_clock.value - static_cast<double>(batch.load_cycles));
    batch.work_cycles = cycles(cost.wavefronts, cost.work_accesses, cost.work);
    batch.chain_cycles = static_cast<float>(cost.chain * spec.shared_cycles.value);
    if (cost.chain > 0) {
        const double trips = spec.shared_cycles.value + (cost.chain - 1) * spec.trip_cycles.value;
        work.trip_cycles +=
            std::max(0.0, trips - static_cast<double>(std::max(batch.work_cycles, batch.chain_cycles)));
    }
    if (cost.chain > 1) {
        work.loop_cycles += (cost.chain - 1) * spec.trip_cycles.value;
        work.loop_work_cycles +=
            static_cast<double>(cycles(cost.reads, cost.read_accesses, {cost.loop_instructions}));
    }
    if (cost.reader) {
        work.first_read_cycles += spec.shared_cycles.value;
        work.first_read_wavefronts +=
            static_cast<double>(cost.first_reads * std::min(kSchedulers, std::max(work.warps, 1u)));
    }
    batch.loads = cost.loads;
    batch.turns = static_cast<uint8_t>(std::min(cost.turns, uint32_t{UINT8_MAX}));
    if (cost.loads) batch.ahead = static_cast<uint8_t>(std::min(cost.ahead, uint32_t{UINT8_MAX}));
    work.sums.load_turns += cost.loads ? cost.turns : 0;
    work.sums.loads_ahead += cost.requests * std::max<uint64_t>(batch.ahead, 1);
}

}  // namespace

void add_costs(std::vector<BatchCost>& costs, const std::vector<TouchList::Stores>& stores,
               const LevelSpec& spec, BlockWork& work) {
    for (size_t i = 0; i < costs.size(); ++i) {
        BatchCost& cost = costs[i];
        work.sums.instructions -= cost.joined;
        cost.work.instructions -= std::min(cost.work.instructions, cost.joined);
        cost.stores.warps = static_cast<uint32_t>(std::popcount(stores[i].warps));
        cost.stores.own_lines = stores[i].own_lines;
        add_cost(cost, sent_for(cost.stores), spec, work.batches[i], work);
    }
}

// What LevelSums consists of, so that each is said once.
static constexpr uint64_t LevelSums::*kSums[] = {
    &LevelSums::requested_bytes, &LevelSums::loads,       &LevelSums::load_turns,
    &LevelSums::loads_ahead,     &LevelSums::l1_sectors,  &LevelSums::stored_sectors,
    &LevelSums::passes,          &LevelSums::more_passes, &LevelSums::lookups,
    &LevelSums::lines,           &LevelSums::wavefronts,  &LevelSums::accesses,
    &LevelSums::instructions,    &LevelSums::fp32,        &LevelSums::tensor,
    &LevelSums::sent_sectors};
static_assert(sizeof(LevelSums) == std::size(kSums) * sizeof(uint64_t));

LevelSums& LevelSums::add(const LevelSums& other, uint64_t times) {
    for (const auto sum : kSums) this->*sum += other.*sum * times;
    return *this;
}

}  // namespace tilescope::analysis
