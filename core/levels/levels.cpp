#include "core/levels/levels.h"

#include <mutex>
#include <unordered_map>

#include <fmt/core.h>

#include "core/analysis/coalescing.h"
#include "core/base/parallel.h"
#include "core/base/stop.h"
#include "core/base/words.h"
#include "core/levels/bounds.h"
#include "core/limits/occupancy.h"

namespace tilescope::analysis {

uint64_t LaunchPlacement::of_busiest(uint32_t sms) const {
    const uint64_t round = uint64_t{sms} * resident;
    return in_step && blocks > round
               ? resident * (blocks / round) + std::min<uint64_t>(resident, blocks % round)
               : (blocks + sms - 1) / sms;
}

double Levels::missed_share() const {
    const auto distinct = static_cast<double>(asked.distinct_sectors);
    return distinct > 0 ? std::min(1.0, model.misses.l1_misses / distinct) : 0;
}

double Levels::lookups_again() const {
    return asked.all.lines > asked.all.lookups ? 0 : model.misses.l1_missed_lines;
}

// --- stages

constexpr std::array<LevelStageRow, kLevelStages> kLevelStageRows{{
    {"threads ask", "Bytes that lanes ask for when they load from global memory.", false},
    {"requests", "Sectors of 32 bytes that requests need: lanes of a warp that ask for one sector share it.",
     false},
    {"past L1", "Sectors that L1 did not hold. A sector that is under way for the same SM counts as found.",
     true},
    {"from L2", "Sectors that L2 is asked for: what an SM nearby has under way is not asked for again.",
     true},
    {"from DRAM", "Bytes that L2 reads from DRAM, 64 at a time.", true},
}};

double LevelTraffic::sectors(LevelStage stage) const { return of(stage) / kSectorBytes; }

LevelTraffic traffic_of(std::optional<double> requested_bytes, double l1_sectors, double l1_misses,
                        double l2_read_sectors, double dram_read_bytes) {
    return {{requested_bytes, l1_sectors * kSectorBytes, l1_misses * kSectorBytes,
             l2_read_sectors * kSectorBytes, dram_read_bytes}};
}

LevelTraffic traffic_of(const Levels& levels) {
    const LevelSums& sums = levels.asked.all;
    const LevelMisses& misses = levels.model.misses;
    return traffic_of(static_cast<double>(sums.requested_bytes), static_cast<double>(sums.l1_sectors),
                      misses.l1_misses, misses.l2_read_sectors, misses.dram_read_bytes);
}

// --- replays of a launch

namespace {

// A launch, block by block.
struct BlockSource {
    std::function<PlacedBlock(uint64_t number)> block;
    struct SharedWork {
        std::shared_ptr<const BlockWork> work;
        uint64_t blocks = 0;  // that have it
    };
    std::vector<SharedWork> works;  // in the order of their first blocks
};

BlockSource source_of(const RecordedBlocks& blocks) {
    BlockSource source{[&](uint64_t number) { return blocks.block(static_cast<uint32_t>(number)); }, {}};
    for (const RecordedBlocks::BlockKind& kind : blocks.kinds())
        source.works.push_back({kind.work, kind.blocks});
    return source;
}

BlockSource source_of(CornerBlocks& blocks, uint64_t count) {
    BlockSource source{[&](uint64_t number) { return blocks.block(number); }, {}};
    std::unordered_map<const BlockWork*, size_t> place;
    for (uint64_t number = 0; number < count; ++number) {
        auto work = blocks.block(number).work;
        const auto [at, is_new] = place.try_emplace(work.get(), source.works.size());
        if (is_new) source.works.push_back({std::move(work), 0});
        ++source.works[at->second].blocks;
    }
    return source;
}

uint64_t array_bytes(const Launch& launch, Space space) {
    uint64_t bytes = 0;
    for (const Array& array : launch.arrays)
        if (array.space == space) bytes += array.bytes();
    return bytes;
}

}  // namespace

uint64_t shared_bytes(const Launch& launch) {
    return std::max<uint64_t>(array_bytes(launch, Space::Shared), launch.dynamic_shared);
}

namespace {

// How many blocks an SM holds, and what its shared memory leaves to L1: as much as it has beyond the least of
// the sizes that can be set aside for it.
Result<void> fit(const Launch& launch, const LevelDevice& on, uint32_t registers, LaunchPlacement& placed) {
    const uint64_t shared = shared_bytes(launch);
    const BlockUse use{static_cast<uint32_t>(launch.block.count()), registers, static_cast<uint32_t>(shared)};
    const Occupancy held = occupancy(on.device.sm, use, Sum::Hardware);
    if (!held.refused.empty()) return Error{fmt::format("on {}, {}", on.device.name, held.refused)};
    placed.grid = launch.grid;
    placed.blocks = launch.grid.count();
    placed.resident = held.blocks;
    uint64_t taken = use.shared == 0 ? 0 : uint64_t{held.blocks} * held.shared_per_block;
    for (const uint32_t kib : on.device.sm.shared_sizes) {
        if (uint64_t{kib} * 1024 < taken) continue;
        taken = uint64_t{kib} * 1024;
        break;
    }
    const auto all = static_cast<uint64_t>(on.levels.l1_bytes.value);
    placed.l1_bytes = all - std::min(all, taken);
    return {};
}

// A replay under one assumption.
struct Scenario {
    Drift drift = Drift::Modelled;
    bool least_waits = false;  // loads wait as least_waits() says
    bool in_range = true;      // what it reads from DRAM is one end of LevelModel::dram_range
    LevelReplay replay{};
};

// The drifts that a launch may have beside the one that the model finds. Blocks stay in step if the first one
// to ask for a line waits for DRAM longer than its SM works on a batch of each of its blocks; otherwise they
// drift apart. Where the two differ by less than a factor of two, the model cannot tell.
std::vector<Drift> drifts_of(const Launch& launch, const LevelSpec& spec, uint32_t resident,
                             const BlockWork& work) {
    double load_cycles = 0, cycles = 0;
    const auto bytes = static_cast<double>(array_bytes(launch, Space::Global));
    if (bytes <= spec.l2_useful_bytes() || work.sums.load_turns == 0) return {};
    for (const LoadBatch& batch : work.batches) {
        load_cycles += static_cast<double>(batch.load_cycles);
        cycles += static_cast<double>(batch.load_cycles + batch.work_cycles);
    }
    const auto turns = static_cast<double>(work.sums.load_turns);
    const double turn = cycles / turns * resident;
    const double wait = load_cycles / turns + spec.dram_cycles.value;
    if (turn < wait / 2) return {};
    if (turn > wait * 2) return {Drift::Free};
    return {Drift::None, Drift::Free};
}

// What loads of blocks in step wait at least: as long as one warp alone. For arrays that L2 does not hold, L2
// is made eight times as large, so that hardly a sector comes from DRAM twice.
LevelSpec least_waits(double bytes, const LevelSpec& spec) {
    LevelSpec least = spec;
    least.l2_cycles = spec.l2_latency;
    least.dram_cycles = bytes > spec.l2_bytes.value ? spec.dram_latency : spec.l2_latency;
    least.l2_bytes.value *= 8;
    least.l2_copies.value = 1;
    return least;
}

// The least and the most bytes from DRAM over the scenarios in the range; nothing where they hardly differ.
std::optional<std::pair<double, double>> dram_range(const std::vector<Scenario>& scenarios) {
    constexpr double kHardly = 0.02;
    double from = scenarios.front().replay.misses.dram_read_bytes, to = from;
    for (const Scenario& scenario : scenarios) {
        if (!scenario.in_range) continue;
        from = std::min(from, scenario.replay.misses.dram_read_bytes);
        to = std::max(to, scenario.replay.misses.dram_read_bytes);
    }
    if (to - from <= kHardly * to) return {};
    return std::pair{from, to};
}

// The first wave begins with empty caches, the second follows it: two waves stand for all others.
constexpr uint64_t kFewestWaves = 2;

// How much of a launch is simulated: four waves of blocks, more if blocks are short; two if they are long, or
// only a part of each block in two waves.
void sample(LevelLaunch& run, const BlockWork& block, const LevelOptions& options) {
    constexpr uint64_t kBatchLines = 4;  // a batch takes as long as so many lines, measured
    const uint64_t lines = std::max<uint64_t>(1, block.touches.size());
    const uint64_t work = lines + kBatchLines * block.batches.size();
    const uint64_t blocks = options.most_work / work;
    const uint64_t wave = uint64_t{run.sms} * run.resident;
    run.most_blocks = std::min(options.most_lines / lines, blocks);
    run.least_waves = std::clamp(blocks / wave, kFewestWaves, run.least_waves);
    const uint64_t counted = std::min(run.blocks, kFewestWaves * wave);
    run.part = std::min(1.0, static_cast<double>(blocks) / static_cast<double>(counted));
}

// Fills in all of `levels` but Levels::launch, which is there. of_sm: LevelLaunch::of_sm. log: gets what
// became of every sector; all blocks are then replayed.
Result<void> replay(const BlockSource& source, const Launch& launch, const LevelDevice& on,
                    const LevelOptions& options, Levels& levels,
                    std::vector<std::vector<uint64_t>> of_sm = {}, LevelLog* log = nullptr) {
    LaunchPlacement& placed = levels.launch;
    for (const auto& [work, blocks] : source.works) {
        levels.asked.alike.push_back({work->sums, work->sending_cycles, blocks});
        levels.asked.all.add(work->sums, blocks);
        levels.asked.distinct_sectors += work->distinct_sectors * blocks;
    }
    const std::shared_ptr<const BlockWork> first = source.block(0).work;
    placed.as_recorded = !of_sm.empty();
    placed.in_step = first->barriers && blocks_in_step(placed.at_once(on.device.sms) * first->warps);
    LevelLaunch run;
    run.blocks = placed.blocks;
    std::mutex mutex;  // the source keeps what it has worked out
    run.block = [&](uint64_t number) {
        const std::lock_guard lock(mutex);
        return source.block(number);
    };
    run.sms = on.device.sms;
    run.resident = placed.resident;
    run.l1_bytes = placed.l1_bytes;
    run.dram_gbs = on.device.memory_gbs;
    run.of_sm = std::move(of_sm);
    if (!options.all_blocks && !placed.as_recorded && !log) sample(run, *first, options);

    std::vector<Scenario> scenarios(1);  // the first is what the model finds
    if (options.range && !log)
        for (const Drift drift : drifts_of(launch, on.levels, placed.resident, *first))
            scenarios.push_back({drift});
    // How long blocks wait at least. Where L2 holds the arrays, a launch behind another one finds them there
    // and waits as if nothing came from DRAM. For blocks in step the model reads more from DRAM than was
    // counted (docs/model.md).
    const auto bytes = static_cast<double>(array_bytes(launch, Space::Global));
    const LevelSpec least = least_waits(bytes, on.levels);
    const bool waits_least = placed.in_step && bytes <= least.l2_bytes.value;
    const bool from_l2 = !waits_least && (placed.in_step || bytes <= on.levels.l2_bytes.value);
    if (waits_least)
        scenarios.push_back({Drift::Modelled, true, false});
    else if (from_l2 && scenarios.back().drift != Drift::Free)
        scenarios.push_back({Drift::Free, false, false});

    for_each_index(scenarios.size(), 0, [&](uint64_t i) {
        Scenario& scenario = scenarios[i];
        LevelLaunch with = run;
        with.drift = scenario.drift;
        with.awaited = scenario.least_waits;
        if (i == 0) {
            with.log = log;
            if (options.begun)
                with.block = [&](uint64_t number) {
                    ++*options.begun;
                    return run.block(number);
                };
        } else {  // two of them take no longer than the first
            if (run.most_blocks < run.blocks) with.most_blocks = 0, with.least_waves = kFewestWaves;
            if (run.part < 1) with.part = run.part / 2;
        }
        scenario.replay = replay_levels(scenario.least_waits ? least : on.levels, with, {options.stop});
    });
    if (Stop{options.stop}.now()) return Error{kStopped};
    const LevelReplay& found = scenarios.front().replay;
    LevelModel& model = levels.model;
    model.dram_range = dram_range(scenarios);
    model.misses = found.misses;
    if (from_l2 || waits_least) model.misses.wait_as(scenarios.back().replay.misses);
    model.simulated = found.simulated;
    model.part = found.part;
    if (levels.asked.all.l1_sectors > 0)
        model.l1_hit_rate = 1 - model.misses.l1_misses / static_cast<double>(levels.asked.all.l1_sectors);
    add_bounds(on, *first, levels);
    return {};
}

// The blocks of each SM, by their numbers, in the order of the clocks at which they began there; none where
// the recording does not say.
std::vector<std::vector<uint64_t>> blocks_of_sms(const trace::Trace& trace, const RecordedBlocks& blocks,
                                                 uint32_t sms) {
    if (trace.meta.backend != trace::Backend::Gpu || trace.meta.price.launches != 1) return {};
    std::vector<std::vector<std::pair<uint64_t, uint64_t>>> begun(sms);
    for (uint32_t number = 0; number < blocks.blocks(); ++number) {
        const trace::Block& b = trace.blocks[blocks.recorded(number)];
        if (b.sm >= sms) return {};
        begun[b.sm].push_back({b.clock, number});
    }
    std::vector<std::vector<uint64_t>> order(sms);
    for (uint32_t sm = 0; sm < sms; ++sm) {
        std::sort(begun[sm].begin(), begun[sm].end());
        for (const auto& [clock, number] : begun[sm]) order[sm].push_back(number);
    }
    return order;
}

WorkRules rules_of(const LevelDevice& on, const LaunchPlacement& placed) {
    return {&on.levels, placed.resident, placed.l1_bytes / kLineBytes};
}

// Replays the blocks that a recording holds, as if they were the launch; returns their kinds.
Result<RecordedBlocks> replay_recorded(const trace::Trace& trace, const LevelDevice& on,
                                       const LevelOptions& options, Levels& levels, LevelLog* log = nullptr) {
    if (auto ok = fit(trace.launch, on, options.registers, levels.launch); !ok) return ok.error();
    auto code = LevelCode::of(trace);
    if (!code) return code.error();
    const WorkRules rules = rules_of(on, levels.launch);
    RecordedBlocks blocks(trace, *code, rules, Stop{options.stop});
    if (Stop{options.stop}.now()) return Error{kStopped};
    levels.launch.blocks = blocks.blocks();
    const auto ok = replay(source_of(blocks), trace.launch, on, options, levels,
                           blocks_of_sms(trace, blocks, on.device.sms), log);
    if (!ok) return ok.error();
    return blocks;
}

}  // namespace

Result<Levels> levels_of_corners(const RecordedCorners& corners, const LevelDevice& on,
                                 const LevelOptions& options) {
    const Launch& launch = corners.first.launch;
    Levels levels;
    levels.launch.sampled = true;
    if (auto ok = fit(launch, on, options.registers, levels.launch); !ok) return ok.error();
    auto code = LevelCode::of(corners.first);
    if (!code) return code.error();
    const WorkRules rules = rules_of(on, levels.launch);
    CornerBlocks blocks(corners, *code, rules);
    const auto ok = replay(source_of(blocks, launch.grid.count()), launch, on, options, levels);
    if (!ok) return ok.error();
    return levels;
}

std::optional<Error> levels_unknown(const trace::Trace& trace) {
    if (trace.meta.complete) return std::nullopt;
    return Error{
        fmt::format("the recording is not complete ({}), and its levels would be those of a part; "
                    "record it again",
                    trace.meta.incomplete_reason)};
}

Result<Levels> levels_of_recorded(const trace::Trace& trace, const LevelDevice& on,
                                  const LevelOptions& options) {
    Levels levels;
    if (const auto made = replay_recorded(trace, on, options, levels); !made) return made.error();
    return levels;
}

Result<WalkedLevels> walk_levels(const Recording& recording, const LevelDevice& on,
                                 const LevelOptions& options) {
    const trace::Trace& trace = *recording.trace;
    if (auto unknown = levels_unknown(trace)) return *unknown;
    if (trace.blocks.empty()) return Error{"the recording holds no block; record one"};
    if (trace.steps() > kMostWalkedSteps)
        return Error{
            fmt::format("the recording has {} steps, and levels are walked through up to {}; "
                        "record a window of blocks, or fewer",
                        grouped(trace.steps()), grouped(kMostWalkedSteps))};
    LevelLog log;
    WalkedLevels walked;
    const auto blocks = replay_recorded(trace, on, options, walked.levels, &log);
    if (!blocks) return blocks.error();
    walked.part = trace.blocks.size() != trace.launch.grid.count();
    walked.number_of.resize(blocks->blocks());
    std::vector<PlacedBlock> placed;
    std::vector<std::vector<uint32_t>> of_kind(blocks->kinds().size());
    for (uint32_t number = 0; number < blocks->blocks(); ++number) {
        walked.number_of[blocks->recorded(number)] = number;
        walked.recorded.push_back(blocks->recorded(number));
        walked.kind_of.push_back(blocks->kind_of(number));
        of_kind[blocks->kind_of(number)].push_back(number);
        placed.push_back(blocks->block(number));
    }
    walked.kinds = blocks->kinds();
    walked.walk = std::make_shared<LevelWalk>(std::move(placed), std::move(log), on.device.sms,
                                              walked.levels.launch.l1_bytes);
    for (size_t kind = 0; kind < of_kind.size(); ++kind) {
        if (Stop{options.stop}.now()) return Error{kStopped};
        const uint32_t recorded = walked.kinds[kind].recorded;
        const auto requests = requests_of_kind(walked, trace, static_cast<uint32_t>(kind));
        add_shares(walked.shares, trace, recorded, requests, phases_of_block(recording, recorded),
                   *walked.walk, of_kind[kind]);
    }
    return walked;
}

BlockRequests requests_of_kind(const WalkedLevels& walked, const trace::Trace& trace, uint32_t kind) {
    const RecordedBlocks::BlockKind& of = walked.kinds[kind];
    return requests_of_block(trace, of.recorded, of.rest, *of.work, of.batch_of);
}

}  // namespace tilescope::analysis
