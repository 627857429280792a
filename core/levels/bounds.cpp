#include "core/levels/bounds.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <utility>

#include <fmt/core.h>

#include "core/analysis/coalescing.h"
#include "core/base/words.h"

namespace tilescope::analysis {

namespace {

// The least that the busiest SM is asked for, where a block of a kind asks for amount(kind).
template <class Amount>
double least_of_busiest(const Levels& levels, uint32_t sms, Amount amount) {
    std::vector<AmountOfBlocks> amounts;
    for (const LaunchSums::AlikeBlocks& kind : levels.asked.alike)
        amounts.push_back({amount(kind), kind.blocks});
    // Where blocks are in step it runs more than its share of them, which may be those that ask for least.
    uint64_t left = levels.launch.of_busiest(sms);
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
    double pipe = 0, lsu = 0, issue = 0, fp32 = 0, tensor = 0;
    double stores = 0;   // for sending what they store to L2
    double sending = 0;  // the end of that, when blocks that run at once have nothing else left to do
};

// Cycles that the last blocks of the busiest SM, which run at once, need to send what they store.
double sending_at_end(const Levels& levels, uint32_t sms) {
    const auto sending = [](const LaunchSums::AlikeBlocks& kind) { return kind.sending_cycles; };
    const uint64_t busiest = levels.launch.of_busiest(sms), at_once = levels.launch.at_once(sms);
    if (busiest <= at_once) return least_of_busiest(levels, sms, sending);
    const uint64_t last = (busiest - 1) % at_once + 1;
    return static_cast<double>(last) * sending(std::ranges::min(levels.asked.alike, {}, sending));
}

// At best all SMs share the work evenly. But a block stays on its SM, and where some blocks do less than
// others, some SM has its share of those that do most (least_of_busiest).
SmWork work_of_sm(const LevelDevice& on, const Levels& levels) {
    const LevelSpec& spec = on.levels;
    const double missed = levels.missed_share();
    // more: an amount of all blocks together, shared by them evenly.
    const auto ms = [&](auto amount, double a_clock, double more = 0) {
        const double of_each = more / static_cast<double>(levels.launch.blocks);
        const double busiest = least_of_busiest(
            levels, on.device.sms,
            [&](const LaunchSums::AlikeBlocks& kind) { return amount(kind.sums) + of_each; });
        return std::max((amount(levels.asked.all) + more) / on.device.sms, busiest) /
               (a_clock * spec.clock_mhz.value * 1e3);
    };
    const auto each = [](uint64_t LevelSums::*sum) {
        return [sum](const LevelSums& of) { return static_cast<double>(of.*sum); };
    };
    SmWork work;
    work.pipe =
        ms([&](const LevelSums& of) { return of.global_passes(missed) + static_cast<double>(of.wavefronts); },
           spec.pipe_per_clock.value);
    work.lsu = std::max(ms(each(&LevelSums::accesses), spec.lsu_per_clock.value),
                        ms(each(&LevelSums::lookups), spec.lsu_per_clock.value, levels.lookups_again()));
    work.issue = ms(each(&LevelSums::instructions), spec.issue_per_clock.value);
    // A warp's instruction is an operation of each lane.
    work.fp32 = ms([](const LevelSums& of) { return static_cast<double>(of.fp32) * kWarpSize; },
                   spec.fp32_per_clock.value);
    work.tensor = ms(each(&LevelSums::tensor), spec.half_per_clock.value);
    work.stores = ms(each(&LevelSums::sent_sectors), spec.sent_per_clock.value);
    work.sending = sending_at_end(levels, on.device.sms) / (spec.clock_mhz.value * 1e3);
    return work;
}

// Cycles that the other blocks in step still work while the first one waits, since they begin their phases a
// share of a phase later: a tenth for two blocks of many warps, as measured (tests/data/hardware/steps.txt).
// Two choices were made with the times of small launches known: a third for blocks that have fewer warps than
// an SM has schedulers; and none for kernels of which an SM holds no more than two blocks.
double others_work(const BlockWork& block, double at_once) {
    if (at_once <= 1) return 0;
    const double later = block.warps < kSchedulers ? 1.0 / 3 : 0.1;
    double work = 0;
    for (const LoadBatch& batch : block.batches)
        work += static_cast<double>(batch.load_cycles + batch.work_cycles);
    return later * work * at_once;
}

// A margin, chosen with the times of small launches known (docs/model.md). No launch may take less than its
// bound, but waits are modelled as means, and the sending of stores as it was measured with other stores.
constexpr double kMargin = 0.95;

// How often the latency of a block counts: once for each round of blocks that an SM runs.
double turns_of_latency(const LevelDevice& on, const BlockWork& first, const LaunchPlacement& launch,
                        double rounds, double at_once) {
    // A free slot takes the next block, so the slots that run most blocks are the fastest, by a twentieth.
    constexpr double kFastest = 0.95;
    const double average = static_cast<double>(launch.blocks) / (on.device.sms * at_once);
    const double turns = rounds > 1 ? std::max(average, kFastest * rounds) : 1;
    // Without barriers each warp waits on its own, and how many loads ptxas keeps in flight is not known.
    if (!first.barriers) return std::min(turns, kMargin * rounds);
    // The work of blocks with barriers may happen to take no longer than it must (spread_share).
    return launch.in_step ? turns : turns / (1 + on.levels.spread_share.value);
}

}  // namespace

void add_bounds(const LevelDevice& on, const BlockWork& first, Levels& levels) {
    const LevelSpec& spec = on.levels;
    const LaunchPlacement& launch = levels.launch;
    const LevelSums& s = levels.asked.all;
    const LevelMisses& misses = levels.model.misses;
    LevelBounds& bounds = levels.bounds;
    const double clocks = spec.clock_mhz.value * 1e3;  // a millisecond
    const auto a_block = [&](double cycles) { return cycles / static_cast<double>(launch.blocks) / clocks; };
    const auto most_blocks = static_cast<double>(launch.of_busiest(on.device.sms));
    const auto at_once = static_cast<double>(launch.at_once(on.device.sms));
    const double rounds = std::ceil(most_blocks / at_once);  // of blocks, one after the other
    const SmWork work = work_of_sm(on, levels);
    double first_reads = 0;  // time of a round until the first loads of shared memory have come
    double filling = 0;      // time of all rounds in which nothing is issued, since the pipe serves these
    if (launch.in_step) {
        first_reads = first.first_read_cycles / clocks;
        filling = first.first_read_wavefronts / spec.pipe_per_clock.value / clocks * rounds;
        const double waits = a_block(misses.wait_cycles);
        const double waited = launch.resident > 2
                                  ? std::max(0.0, kMargin * waits - others_work(first, at_once) / clocks)
                                  : waits;
        // What one warp needs for its trips of loops beyond the work of the warps of all blocks meanwhile.
        const double trips = std::max(0.0, first.loop_cycles - at_once * first.loop_work_cycles) / clocks;
        // Blocks that end together send what they store at the same time.
        bounds.sending_ms = kMargin * work.sending;
        bounds.idle_ms = (waited + first_reads + trips) * rounds + bounds.sending_ms;
    } else if (first.barriers) {
        bounds.idle_ms = kMargin * misses.idle_cycles / on.device.sms / clocks;
    }
    bounds.launch_ms = spec.launch_ns.value * 1e-6;
    const double stored = static_cast<double>(s.stored_sectors) * kSectorBytes;
    const double from_l2 = misses.l2_read_sectors * kSectorBytes;
    const double of_l2 = (from_l2 + stored) / (spec.l2_per_clock.value * clocks);
    bounds.by_sending = work.stores > of_l2;
    // Without barriers each warp waits on its own. But no launch finds data in L1, so the pipe has nothing to
    // pass before the first data come.
    const double first_data = first.barriers || s.loads == 0 ? 0 : spec.l2_latency.value / clocks;
    const auto in_words = [](double amount) { return short_count(static_cast<uint64_t>(amount)); };
    const auto add = [&](const char* resource, double ms, std::string of) {
        bounds.all.push_back({resource, ms + bounds.launch_ms, std::move(of)});
    };
    const auto add_of_sm = [&](const char* resource, double ms, std::string of) {
        bounds.all.push_back({resource, ms + bounds.idle_ms + bounds.launch_ms, std::move(of)});
    };
    add("dram", (misses.dram_read_bytes + stored) / (on.device.memory_gbs * 1e6),
        fmt::format("{} bytes read and {} stored, at {:.0f} GB/s", in_words(misses.dram_read_bytes),
                    in_words(stored), on.device.memory_gbs));
    add("l2", std::max(of_l2, work.stores),
        bounds.by_sending ? fmt::format("{} sectors that SMs send for what they store, {} a clock each",
                                        short_count(s.sent_sectors), spec.sent_per_clock.value)
                          : fmt::format("{} bytes read and {} stored, at {:.0f} bytes a clock",
                                        in_words(from_l2), in_words(stored), spec.l2_per_clock.value));
    add_of_sm(
        "data_pipe", work.pipe + first_data,
        fmt::format("{} passes of global and {} wavefronts of shared memory{}", in_words(levels.passes()),
                    short_count(s.wavefronts), first_data > 0 ? ", from when L2 first gives data" : ""));
    add_of_sm("lsu", work.lsu,
              levels.lookups() > static_cast<double>(s.accesses)
                  ? fmt::format("{} lookups of tags for global memory", in_words(levels.lookups()))
                  : fmt::format("{} loads and stores of warps", short_count(s.accesses)));
    add_of_sm("issue", work.issue + filling,
              fmt::format("{} instructions of warps, counted from the PTX", short_count(s.instructions)));
    add_of_sm("fp32", work.fp32 + filling, fmt::format("{} fp32 instructions of warps", short_count(s.fp32)));
    if (s.tensor > 0)
        add_of_sm("tensor", work.tensor + filling,
                  fmt::format("{} multiply-adds of tensor cores, as many of halves as take that time",
                              short_count(s.tensor)));
    const double block = a_block(misses.latency_cycles) + first_reads + first.trip_cycles / clocks;
    add("latency",
        block * turns_of_latency(on, first, launch, rounds, at_once) + kMargin * work.sending / at_once,
        fmt::format("what a block waits and works{}, {} blocks at once",
                    work.sending > 0 ? ", and sends at its end" : "", grouped(launch.resident)));
    bounds.bound_by =
        static_cast<size_t>(std::ranges::max_element(bounds.all, {}, &LevelBound::ms) - bounds.all.begin());
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

}  // namespace tilescope::analysis
