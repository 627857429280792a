#include "kernels/run/level_bounds.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "core/analysis/coalescing.h"
#include "core/base/words.h"

namespace tilescope::kernels {

namespace {

using analysis::BlockWork;

// What the busiest SM is asked for at least, where a block of a kind asks for amount(kind).
template <class Amount>
double least_of_busiest(const Levels& levels, uint32_t sms, Amount amount) {
    std::vector<AmountOfBlocks> amounts;
    for (const Levels::Kind& kind : levels.kinds)
        amounts.push_back({static_cast<double>(amount(kind)), kind.blocks});
    // Blocks in step leave it more of them than its share: these may be the ones that ask for least.
    uint64_t left = levels.of_busiest(sms);
    double lightest = 0;
    std::ranges::sort(amounts, {}, &AmountOfBlocks::amount);
    for (const AmountOfBlocks& kind : amounts) {
        const uint64_t taken = std::min(left, kind.blocks);
        lightest += static_cast<double>(taken) * kind.amount;
        left -= taken;
    }
    return std::max(lightest, least_of_busiest(std::move(amounts), sms));
}

// Milliseconds that an SM works on what its blocks ask of it, if nothing holds it up.
struct SmWork {
    double pipe = 0, lsu = 0, issue = 0, fp32 = 0;
    double stores = 0;   // that it sends to L2,
    double sending = 0;  // and of this the end, when blocks that run at once have nothing else left to do
};

// Cycles that the last blocks of the busiest SM, which run at once, need to send what they store.
double sending_at_end(const Levels& levels, uint32_t sms) {
    const auto sending = [](const Levels::Kind& kind) { return kind.sending_cycles; };
    const uint64_t busiest = levels.of_busiest(sms), at_once = levels.at_once(sms);
    if (busiest <= at_once) return least_of_busiest(levels, sms, sending);
    const uint64_t last = (busiest - 1) % at_once + 1;
    return static_cast<double>(last) * sending(std::ranges::min(levels.kinds, {}, sending));
}

// What SMs do is shared by all of them at best. But a block stays on one, and where some do less than others,
// one SM has its share of those that do most (least_of_busiest).
SmWork work_of_sm(const LevelDevice& on, const Levels& levels) {
    const analysis::LevelSpec& spec = on.levels;
    const double missed = levels.missed_share();
    // more: of all blocks, and as much of each as of another.
    const auto ms = [&](auto amount, double a_clock, double more = 0) {
        const double of_each = more / static_cast<double>(levels.blocks);
        const double busiest = least_of_busiest(levels, on.device.sms, [&](const Levels::Kind& kind) {
            return static_cast<double>(amount(kind.sums)) + of_each;
        });
        return std::max((static_cast<double>(amount(levels.sums)) + more) / on.device.sms, busiest) /
               (a_clock * spec.clock_mhz.value * 1e3);
    };
    using Sums = analysis::LevelSums;
    return {
        ms([&](const Sums& of) { return of.global_passes(missed) + static_cast<double>(of.wavefronts); },
           spec.pipe_per_clock.value),
        std::max(
            ms([](const Sums& of) { return static_cast<double>(of.accesses); }, spec.lsu_per_clock.value),
            ms([](const Sums& of) { return static_cast<double>(of.lookups); }, spec.lsu_per_clock.value,
               levels.lookups_again())),
        ms([](const Sums& of) { return static_cast<double>(of.instructions); }, spec.issue_per_clock.value),
        ms([](const Sums& of) { return static_cast<double>(of.fp32) * kWarpSize; },
           spec.fp32_per_clock.value),
        ms([](const Sums& of) { return static_cast<double>(of.sent_sectors); }, spec.sent_per_clock.value),
        sending_at_end(levels, on.device.sms) / (spec.clock_mhz.value * 1e3)};
}

// Cycles that other blocks in step still work while the first of them waits: they begin their phases a share
// of a phase later. That share is a tenth for two blocks of many warps, as measured
// (tests/data/hardware/steps.txt). For blocks that have fewer warps than an SM has schedulers it is chosen
// with the times of small launches known, and so is that kernels of which an SM holds no more than two blocks
// are left out.
double others_work(const BlockWork& block, double at_once) {
    if (at_once <= 1) return 0;
    const double later = block.warps < analysis::kSchedulers ? 1.0 / 3 : 0.1;
    double work = 0;
    for (const analysis::Unit& unit : block.units)
        work += static_cast<double>(unit.load_cycles + unit.work_cycles);
    return later * work * at_once;
}

}  // namespace

void add_bounds(const LevelDevice& on, const BlockWork& first, Levels& levels) {
    const analysis::LevelSpec& spec = on.levels;
    const analysis::LevelSums& s = levels.sums;
    const double clocks = spec.clock_mhz.value * 1e3;  // a millisecond
    const auto a_block = [&](double cycles) { return cycles / static_cast<double>(levels.blocks) / clocks; };
    const auto most_blocks = static_cast<double>(levels.of_busiest(on.device.sms));
    const auto at_once = static_cast<double>(levels.at_once(on.device.sms));
    const double rounds = std::ceil(most_blocks / at_once);  // of blocks, one after the other
    // A slot that gets free takes the next block, so that those which run most blocks are the fastest ones:
    // by a twentieth, about.
    constexpr double kFastest = 0.95;
    const double average = static_cast<double>(levels.blocks) / (on.device.sms * at_once);
    double in_turn = rounds > 1 ? std::max(average, kFastest * rounds) : 1;
    // A margin, chosen with the times of small launches known (docs/model.md): what blocks wait is modelled
    // as a mean, and what they send as found with other stores, and a bound must not be above what a launch
    // takes.
    constexpr double kMargin = 0.95;
    // Where warps wait each on its own it is not known either how many loads ptxas has under way together.
    // Blocks with barriers may have none of the chance that work takes longer.
    if (!first.barriers)
        in_turn = std::min(in_turn, kMargin * rounds);
    else if (!levels.in_step)
        in_turn /= 1 + spec.spread_share.value;
    const SmWork work = work_of_sm(on, levels);
    const double waits = a_block(levels.misses.wait_cycles);
    // Blocks in step work when their first loads from shared memory have come, and have nothing to issue
    // while the pipe serves these.
    const double first_reads = levels.in_step ? first.first_read_cycles / clocks : 0;
    const double filling =
        levels.in_step ? first.first_read_wavefronts / spec.pipe_per_clock.value / clocks * rounds : 0;
    if (levels.in_step) {
        const double waited = levels.resident > 2
                                  ? std::max(0.0, kMargin * waits - others_work(first, at_once) / clocks)
                                  : waits;
        // Where the warps of all blocks have less work in a trip of a loop than one of them needs for it.
        const double trips = std::max(0.0, first.loop_cycles - at_once * first.loop_work_cycles) / clocks;
        // Blocks that end together send what they store at the same time.
        levels.sending_ms = kMargin * work.sending;
        levels.idle_ms = (waited + first_reads + trips) * rounds + levels.sending_ms;
    } else if (first.barriers)
        levels.idle_ms = kMargin * levels.misses.idle_cycles / on.device.sms / clocks;
    levels.launch_ms = spec.launch_ns.value * 1e-6;
    const double stored = static_cast<double>(s.stored_sectors) * analysis::kSectorBytes;
    const double from_l2 = levels.misses.l2_read_sectors * analysis::kSectorBytes;
    const double of_l2 = (from_l2 + stored) / (spec.l2_per_clock.value * clocks);
    levels.by_sending = work.stores > of_l2;
    const auto in_words = [](double amount) { return short_count(static_cast<uint64_t>(amount)); };
    // Warps without barriers wait each on its own, but the pipe has nothing to pass before the first of their
    // data come: no launch finds any in L1.
    const double first_data = first.barriers || levels.sums.loads == 0 ? 0 : spec.l2_latency.value / clocks;
    const auto of_sm = [&](const char* resource, double ms, std::string of) {
        return LevelBound{resource, ms + levels.idle_ms + levels.launch_ms, std::move(of)};
    };
    levels.bounds = {
        {"dram", (levels.misses.dram_read_bytes + stored) / (on.device.memory_gbs * 1e6) + levels.launch_ms,
         fmt::format("{} bytes read and {} stored, at {:.0f} GB/s", in_words(levels.misses.dram_read_bytes),
                     in_words(stored), on.device.memory_gbs)},
        {"l2", std::max(of_l2, work.stores) + levels.launch_ms,
         levels.by_sending ? fmt::format("{} sectors that SMs send for what they store, {} a clock each",
                                         short_count(s.sent_sectors), spec.sent_per_clock.value)
                           : fmt::format("{} bytes read and {} stored, at {:.0f} bytes a clock",
                                         in_words(from_l2), in_words(stored), spec.l2_per_clock.value)},
        of_sm(
            "data_pipe", work.pipe + first_data,
            fmt::format("{} passes of global and {} wavefronts of shared memory{}", in_words(levels.passes()),
                        short_count(s.wavefronts), first_data > 0 ? ", from when L2 first gives data" : "")),
        of_sm("lsu", work.lsu,
              levels.lookups() > static_cast<double>(s.accesses)
                  ? fmt::format("{} lookups of tags for global memory", in_words(levels.lookups()))
                  : fmt::format("{} loads and stores of warps", short_count(s.accesses))),
        of_sm("issue", work.issue + filling,
              fmt::format("{} instructions of warps, counted from the PTX", short_count(s.instructions))),
        of_sm("fp32", work.fp32 + filling, fmt::format("{} fp32 instructions of warps", short_count(s.fp32))),
        {"latency",
         (a_block(levels.misses.latency_cycles) + first_reads + first.trip_cycles / clocks) * in_turn +
             kMargin * work.sending / at_once + levels.launch_ms,
         fmt::format("what a block waits and works{}, {} blocks at once",
                     work.sending > 0 ? ", and sends at its end" : "", grouped(levels.resident))}};
    levels.bound_by = static_cast<size_t>(
        std::max_element(levels.bounds.begin(), levels.bounds.end(),
                         [](const LevelBound& a, const LevelBound& b) { return a.ms < b.ms; }) -
        levels.bounds.begin());
}

bool blocks_in_step(uint64_t warps_at_once) {
    constexpr uint64_t kFew = 16;
    return warps_at_once <= kFew;
}

double least_of_busiest(std::vector<AmountOfBlocks> blocks, uint32_t sms) {
    std::ranges::sort(blocks, std::greater{}, &AmountOfBlocks::amount);
    std::vector<uint64_t> counts{0};  // of the kinds before each,
    std::vector<double> sums{0};      // and what they ask for
    for (const AmountOfBlocks& kind : blocks) {
        counts.push_back(counts.back() + kind.blocks);
        sums.push_back(sums.back() + static_cast<double>(kind.blocks) * kind.amount);
    }
    const auto of_first = [&](uint64_t count) {
        const auto kind = static_cast<size_t>(std::ranges::upper_bound(counts, count) - counts.begin() - 1);
        const uint64_t more = count - counts[kind];
        return sums[kind] + (more > 0 ? static_cast<double>(more) * blocks[kind].amount : 0);
    };
    double most = 0;
    for (uint64_t last = 0; last * sms < counts.back(); ++last)
        most = std::max(most, of_first(last * sms + 1) - of_first(last * (sms - 1)));
    return most;
}

uint64_t Levels::at_once(uint32_t sms) const { return std::min<uint64_t>(resident, of_busiest(sms)); }

double Levels::missed_share() const {
    return distinct_sectors > 0 ? std::min(1.0, misses.l1_misses / static_cast<double>(distinct_sectors)) : 0;
}

double Levels::lookups() const { return static_cast<double>(sums.lookups) + lookups_again(); }

double Levels::lookups_again() const { return sums.lines > sums.lookups ? 0 : misses.l1_missed_lines; }

double Levels::passes() const { return sums.global_passes(missed_share()); }

}  // namespace tilescope::kernels
