#include "kernels/run/levels.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "core/analysis/coalescing.h"
#include "core/base/parallel.h"
#include "core/base/words.h"
#include "core/limits/occupancy.h"
#include "core/trace/claims.h"
#include "kernels/run/level_bounds.h"
#include "kernels/run/record.h"
#include "kernels/run/recorded_blocks.h"

namespace tilescope::kernels {

namespace {

using analysis::BlockOf;
using analysis::BlockWork;
using analysis::LevelCode;
using analysis::PlacedBlock;

constexpr uint64_t kMostWholeSteps = 20'000'000;

// A launch as the replay asks for it, block by block.
class Source {
public:
    struct Kind {
        std::shared_ptr<const BlockWork> work;
        uint64_t blocks = 0;  // that share it
    };
    virtual ~Source() = default;
    virtual PlacedBlock block(uint64_t number) = 0;
    virtual std::vector<Kind> kinds() = 0;
};

// Blocks of a recording.
class RecordedSource final : public Source {
public:
    explicit RecordedSource(const RecordedBlocks& blocks) : blocks_(blocks) {}
    PlacedBlock block(uint64_t number) override { return blocks_.block(static_cast<uint32_t>(number)); }
    std::vector<Kind> kinds() override {
        std::vector<Kind> all;
        for (const RecordedBlocks::Kind& kind : blocks_.kinds()) all.push_back({kind.work});
        for (uint32_t number = 0; number < blocks_.blocks(); ++number)
            ++all[blocks_.kind_number(number)].blocks;
        return all;
    }

private:
    const RecordedBlocks& blocks_;
};

// Blocks of a few recorded ones, moved.
struct Corners {
    trace::Trace first, last;         // recordings of two windows of the launch
    std::vector<int64_t> by_x, by_y;  // bytes by slot, from block to block
};

class MovedSource final : public Source {
public:
    MovedSource(const Corners& corners, LevelCode& code, const analysis::WorkRules& rules)
        : corners_(corners), code_(code), rules_(rules), grid_(corners.first.launch.grid) {}

    PlacedBlock block(uint64_t number) override {
        Shift shift;
        auto work = work_of(number, shift);
        return {std::move(work), std::move(shift.lines)};
    }
    std::vector<Kind> kinds() override {
        std::vector<Kind> all;  // in the order of their first blocks
        std::unordered_map<const BlockWork*, size_t> place;
        Shift shift;
        for (uint64_t number = 0; number < grid_.count(); ++number) {
            const auto work = work_of(number, shift);
            const auto [at, is_new] = place.try_emplace(work.get(), all.size());
            if (is_new) all.push_back({work, 0});
            ++all[at->second].blocks;
        }
        return all;
    }

private:
    std::shared_ptr<const BlockWork> work_of(uint64_t number, Shift& shift) {
        const auto x = static_cast<uint32_t>(number % grid_.x), y = static_cast<uint32_t>(number / grid_.x);
        const bool last_x = x + 1 == grid_.x, last_y = y + 1 == grid_.y;
        // The block that stands for the class.
        const uint32_t at_x = last_x ? x : (last_y ? grid_.x - 2 : 0);
        const uint32_t at_y = last_y ? y : (last_x ? grid_.y - 2 : 0);
        const int64_t right = int64_t{x} - at_x, down = int64_t{y} - at_y;
        std::vector<int64_t> bytes(corners_.by_x.size());
        for (size_t slot = 0; slot < bytes.size(); ++slot)
            bytes[slot] = right * corners_.by_x[slot] + down * corners_.by_y[slot];
        shift = shift_of(bytes);
        auto& work = works_[{last_x, last_y, shift.rest}];
        if (!work) {
            const BlockOf from = block_at(corners_, at_x, at_y);
            work = std::make_shared<BlockWork>(
                work_of_block(*from.trace, code_, from.block, rules_, shift.rest));
        }
        return work;
    }

public:
    static BlockOf block_at(const Corners& corners, uint32_t x, uint32_t y) {
        for (const trace::Trace* trace : {&corners.first, &corners.last})
            for (uint32_t i = 0; i < trace->blocks.size(); ++i)
                if (trace->blocks[i].x == x && trace->blocks[i].y == y) return {trace, i};
        return {};
    }

private:
    const Corners& corners_;
    LevelCode& code_;
    const analysis::WorkRules& rules_;
    Dim3 grid_;
    std::map<std::tuple<bool, bool, std::vector<int64_t>>, std::shared_ptr<const BlockWork>> works_;
};

Result<trace::Trace> record_window(const Plan& plan, const BlockWindow& window, const LevelOptions& options,
                                   bool few_blocks) {
    RecordOptions how;
    how.window = window;
    how.stop = options.stop;
    how.timestamp = false;
    how.little_of_arrays = few_blocks;
    // The order that a GPU's warps took is one block's own.
    if (plan.schedule.kind == Schedule::Kind::Recorded) how.schedule = Schedule{};
    auto trace = record_cpu(plan, how);
    if (!trace) return trace.error();
    if (!trace->meta.complete) return Error{trace->meta.incomplete_reason};
    return trace;
}

// Whether a block is another one, moved as its place says.
bool is_moved(const Corners& corners, const BlockOf& from, const BlockOf& to) {
    std::vector<int64_t> bytes;
    if (!moved_between(from, to, bytes)) return false;
    const trace::Block &a = from.trace->blocks[from.block], &b = to.trace->blocks[to.block];
    for (size_t slot = 0; slot < bytes.size(); ++slot)
        if (bytes[slot] !=
            (int64_t{b.x} - a.x) * corners.by_x[slot] + (int64_t{b.y} - a.y) * corners.by_y[slot])
            return false;
    return true;
}

// Records both corners of the grid; nothing where blocks are not each other's, moved.
Result<bool> record_corners(const Plan& plan, const LevelOptions& options, Corners& corners) {
    const Dim3& grid = plan.launch.grid;
    if (grid.z > 1) return false;
    auto first = record_window(plan, {0, std::min(2u, grid.x), 0, std::min(2u, grid.y)}, options, true);
    if (!first) return first.error();
    corners.first = std::move(*first);
    auto last = record_window(plan, {std::max(2u, grid.x) - 2, grid.x, std::max(2u, grid.y) - 2, grid.y},
                              options, true);
    if (!last) return last.error();
    corners.last = std::move(*last);
    const auto at = [&](uint32_t x, uint32_t y) { return MovedSource::block_at(corners, x, y); };
    const size_t slots = analysis::level_slots(corners.first.launch);
    corners.by_x.assign(slots, 0);
    corners.by_y.assign(slots, 0);
    // Columns 0 and 1 are of a class where there are three.
    if (grid.x > 2 && !moved_between(at(0, 0), at(1, 0), corners.by_x)) return false;
    if (grid.y > 2 && !moved_between(at(0, 0), at(0, 1), corners.by_y)) return false;
    if (grid.x > 2 && grid.y > 2 && !is_moved(corners, at(0, 0), at(1, 1))) return false;
    // The one before the last of a row or column is of the first one's class.
    const uint32_t far_x = grid.x > 2 ? grid.x - 2 : 0, far_y = grid.y > 2 ? grid.y - 2 : 0;
    return is_moved(corners, at(0, 0), at(far_x, far_y));
}

uint64_t shared_bytes(const Launch& launch) {
    uint64_t bytes = launch.dynamic_shared;
    for (const Array& array : launch.arrays)
        if (array.space == Space::Shared) bytes += array.bytes();
    return bytes;
}

// How many blocks an SM holds, and what its shared memory leaves to L1: as much as it has beyond the least of
// the sizes that can be set aside for it.
Result<void> fit(const Launch& launch, const LevelDevice& on, uint32_t registers, Levels& levels) {
    const analysis::BlockUse use{static_cast<uint32_t>(launch.block.count()), registers,
                                 static_cast<uint32_t>(shared_bytes(launch))};
    const analysis::Occupancy held = occupancy(on.device.sm, use, analysis::Sum::Hardware);
    if (!held.refused.empty()) return Error{fmt::format("on {}, {}", on.device.name, held.refused)};
    levels.resident = held.blocks;
    uint64_t taken = use.shared == 0 ? 0 : uint64_t{held.blocks} * held.shared_per_block;
    for (const uint32_t kib : on.device.sm.shared_sizes) {
        if (uint64_t{kib} * 1024 < taken) continue;
        taken = uint64_t{kib} * 1024;
        break;
    }
    const auto all = static_cast<uint64_t>(on.levels.l1_bytes.value);
    levels.l1_bytes = all - std::min(all, taken);
    return {};
}

double array_bytes(const Launch& launch) {
    double bytes = 0;
    for (const Array& array : launch.arrays)
        if (array.space == Space::Global) bytes += static_cast<double>(array.bytes());
    return bytes;
}

// The paces that a launch may have beside the one that the model finds. Blocks stay in step while who comes
// first to a line waits for DRAM longer than its SM takes for a unit of each of its blocks, and drift apart
// where it has more work than that. Up to twice as long, either way, the model cannot tell.
std::vector<analysis::Pace> paces_of(const Launch& launch, const analysis::LevelSpec& spec,
                                     const Levels& levels, const BlockWork& work) {
    double load_cycles = 0, cycles = 0;
    if (array_bytes(launch) <= spec.l2_useful_bytes() || work.sums.load_units == 0) return {};
    for (const analysis::Unit& unit : work.units) {
        load_cycles += static_cast<double>(unit.load_cycles);
        cycles += static_cast<double>(unit.load_cycles + unit.work_cycles);
    }
    const auto units = static_cast<double>(work.sums.load_units);
    const double turn = cycles / units * levels.resident;
    const double wait = load_cycles / units + spec.dram_cycles.value;
    if (turn < wait / 2) return {};
    if (turn > wait * 2) return {analysis::Pace::Apart};
    return {analysis::Pace::InStep, analysis::Pace::Apart};
}

// What loads of blocks in step wait at least: what one warp alone does for each, and for DRAM, of arrays that
// L2 does not hold, hardly more than once for a sector, since L2 is eight times as large.
analysis::LevelSpec least_waits(const Launch& launch, const analysis::LevelSpec& spec) {
    analysis::LevelSpec least = spec;
    least.l2_cycles = spec.l2_latency;
    least.dram_cycles = array_bytes(launch) > spec.l2_bytes.value ? spec.dram_latency : spec.l2_latency;
    least.l2_bytes.value *= 8;
    least.l2_copies.value = 1;
    return least;
}

// From the lowest to the highest bytes from DRAM of all paces; nothing where they hardly differ.
std::optional<std::pair<double, double>> dram_range(std::span<const analysis::LevelReplay> replays) {
    constexpr double kHardly = 0.02;
    const auto [low, high] = std::minmax_element(replays.begin(), replays.end(), [](auto& a, auto& b) {
        return a.misses.dram_read_bytes < b.misses.dram_read_bytes;
    });
    const double from = low->misses.dram_read_bytes, to = high->misses.dram_read_bytes;
    if (to - from <= kHardly * to) return {};
    return std::pair{from, to};
}

// The first wave begins as all do, and the second follows it: they stand for all others.
constexpr uint64_t kFewestWaves = 2;

// How much of a launch is simulated: four waves of blocks, or more of short ones; of long ones two, or of
// each block in them a part.
void sample(analysis::LevelLaunch& run, const BlockWork& block, const LevelOptions& options) {
    constexpr uint64_t kUnitLines = 4;  // a unit takes as long as so many lines, measured
    const uint64_t lines = std::max<uint64_t>(1, block.touches.size());
    const uint64_t work = lines + kUnitLines * block.units.size();
    const uint64_t blocks = options.most_work / work;
    const uint64_t wave = uint64_t{run.sms} * run.resident;
    run.most_blocks = std::min(options.most_lines / lines, blocks);
    run.least_waves = std::clamp(blocks / wave, kFewestWaves, run.least_waves);
    const uint64_t counted = std::min(run.blocks, kFewestWaves * wave);
    run.part = std::min(1.0, static_cast<double>(blocks) / static_cast<double>(counted));
}

// log: gets what became of every sector, of all blocks then.
Result<Levels> replay(Source& source, const Launch& launch, const LevelDevice& on,
                      const LevelOptions& options, Levels levels, std::vector<std::vector<uint64_t>> of_sm,
                      analysis::LevelLog* log = nullptr) {
    levels.grid = launch.grid;
    if (levels.blocks == 0) levels.blocks = launch.grid.count();
    for (const Source::Kind& kind : source.kinds()) {
        levels.kinds.push_back({kind.work->sums, kind.work->sending_cycles, kind.blocks});
        levels.sums.add(kind.work->sums, kind.blocks);
        levels.distinct_sectors += kind.work->distinct_sectors * kind.blocks;
    }
    analysis::LevelLaunch run;
    run.blocks = levels.blocks;
    std::mutex mutex;  // the source keeps what it has worked out
    run.block = [&](uint64_t number) {
        const std::lock_guard lock(mutex);
        return source.block(number);
    };
    run.sms = on.device.sms;
    run.resident = levels.resident;
    run.l1_bytes = levels.l1_bytes;
    run.dram_gbs = on.device.memory_gbs;
    run.of_sm = std::move(of_sm);
    levels.as_recorded = !run.of_sm.empty();
    const std::shared_ptr<const BlockWork> first = source.block(0).work;
    levels.in_step = first->barriers && blocks_in_step(levels.at_once(on.device.sms) * first->warps);
    run.log = log;
    if (!options.all_blocks && !levels.as_recorded && !log) sample(run, *first, options);
    std::vector<analysis::Pace> paces{analysis::Pace::Own};
    if (options.range && !log)
        for (const analysis::Pace pace : paces_of(launch, on.levels, levels, *first)) paces.push_back(pace);
    // How long blocks wait at least. Where L2 holds the arrays, a launch behind another one finds them there,
    // and waits as if nothing came from DRAM. Of blocks in step the model reads more from there than they do
    // (docs/model.md).
    const size_t stated = paces.size();
    const double bytes = array_bytes(launch);
    const analysis::LevelSpec least = least_waits(launch, on.levels);
    const bool waits_least = levels.in_step && bytes <= least.l2_bytes.value;
    const bool from_l2 = !waits_least && (levels.in_step || bytes <= on.levels.l2_bytes.value);
    if (waits_least) paces.push_back(analysis::Pace::Own);
    if (from_l2 && paces.back() != analysis::Pace::Apart) paces.push_back(analysis::Pace::Apart);
    std::vector<analysis::LevelReplay> replays(paces.size());
    for_each_index(paces.size(), 0, [&](uint64_t i) {
        analysis::LevelLaunch with = run;
        with.pace = paces[i];
        if (i > 0) with.log = nullptr;
        if (i > 0 && run.most_blocks < run.blocks) with.most_blocks = 0, with.least_waves = kFewestWaves;
        if (i > 0 && run.part < 1) with.part = run.part / 2;  // two of them take no longer than the first
        if (i == 0 && options.begun)
            with.block = [&](uint64_t number) {
                ++*options.begun;
                return run.block(number);
            };
        with.awaited = waits_least && i >= stated;
        replays[i] = replay_levels(with.awaited ? least : on.levels, with, {options.stop});
    });
    if (options.stop && *options.stop) return Error{kStopped};
    const analysis::LevelReplay& found = replays.front();
    levels.dram_range = dram_range(std::span(replays).first(stated));
    levels.misses = found.misses;
    if (from_l2 || waits_least) levels.misses.wait_as(replays.back().misses);
    levels.simulated = found.simulated;
    levels.part = found.part;
    if (levels.sums.l1_sectors > 0)
        levels.l1_hit_rate = 1 - levels.misses.l1_misses / static_cast<double>(levels.sums.l1_sectors);
    add_bounds(on, *first, levels);
    return levels;
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

analysis::WorkRules rules_of(const LevelDevice& on, const Levels& levels) {
    return {&on.levels, levels.resident, levels.l1_bytes / analysis::kLineBytes};
}

// Of the blocks that a recording holds, as if they were the launch.
struct OfRecorded {
    Levels levels;
    std::unique_ptr<RecordedBlocks> blocks;
};
Result<OfRecorded> of_recorded(const trace::Trace& trace, const LevelDevice& on, const LevelOptions& options,
                               analysis::LevelLog* log = nullptr) {
    OfRecorded made;
    if (auto ok = fit(trace.launch, on, options.registers, made.levels); !ok) return ok.error();
    auto code = LevelCode::of(trace);
    if (!code) return code.error();
    const analysis::WorkRules rules = rules_of(on, made.levels);
    made.blocks = std::make_unique<RecordedBlocks>(trace, *code, rules, Stop{options.stop});
    if (options.stop && *options.stop) return Error{kStopped};
    made.levels.blocks = made.blocks->blocks();
    RecordedSource source(*made.blocks);
    auto levels = replay(source, trace.launch, on, options, made.levels,
                         blocks_of_sms(trace, *made.blocks, on.device.sms), log);
    if (!levels) return levels.error();
    made.levels = std::move(*levels);
    return made;
}

Result<Levels> of_whole(const trace::Trace& trace, const LevelDevice& on, const LevelOptions& options) {
    auto made = of_recorded(trace, on, options);
    if (!made) return made.error();
    return std::move(made->levels);
}

// The sentence about a recording of which some of the requests are missing.
Error not_complete(const trace::Trace& trace) {
    return Error{
        fmt::format("the recording is not complete ({}), and its levels would be those of a part; "
                    "record it again",
                    trace.meta.incomplete_reason)};
}

}  // namespace

Result<Levels> levels_of(const Plan& plan, const LevelDevice& on, const LevelOptions& options) {
    Corners corners;
    auto are_alike = record_corners(plan, options, corners);
    if (!are_alike) return are_alike.error();
    const Launch& launch = corners.first.launch;
    if (!*are_alike) {
        const uint64_t blocks = plan.launch.grid.count();
        const uint64_t steps = corners.first.steps() / std::max<uint64_t>(1, corners.first.blocks.size());
        if (blocks * steps > kMostWholeSteps)
            return Error{
                fmt::format("the blocks of {} are not alike, and all {} of them are too many to be recorded "
                            "for their levels; choose a smaller launch",
                            plan.kernel, grouped(blocks))};
        const auto trace = record_window(plan, {}, options, false);
        if (!trace) return trace.error();
        return of_whole(*trace, on, options);
    }
    Levels levels;
    levels.sampled = true;
    if (auto ok = fit(launch, on, options.registers, levels); !ok) return ok.error();
    auto code = LevelCode::of(corners.first);
    if (!code) return code.error();
    const analysis::WorkRules rules = rules_of(on, levels);
    MovedSource source(corners, *code, rules);
    return replay(source, launch, on, options, levels, {});
}

Result<Levels> levels_of(const trace::Trace& trace, const LevelDevice& on, const LevelOptions& options) {
    if (!trace.meta.complete) return not_complete(trace);
    if (trace.blocks.size() == trace.launch.grid.count()) return of_whole(trace, on, options);
    return levels_of(plan_of(trace), on, options);
}

Result<WalkedLevels> walk_levels(const trace::Trace& trace, const analysis::PhaseRule& rule,
                                 const LevelDevice& on, const LevelOptions& options) {
    if (!trace.meta.complete) return not_complete(trace);
    if (trace.blocks.empty()) return Error{"the recording holds no block; record one"};
    if (trace.steps() > kMostWalkedSteps)
        return Error{
            fmt::format("the recording has {} steps, and levels are walked through up to {}; "
                        "record a window of blocks, or fewer",
                        grouped(trace.steps()), grouped(kMostWalkedSteps))};
    analysis::LevelLog log;
    auto made = of_recorded(trace, on, options, &log);
    if (!made) return made.error();
    const RecordedBlocks& blocks = *made->blocks;
    WalkedLevels walked;
    walked.levels = std::move(made->levels);
    walked.part = trace.blocks.size() != trace.launch.grid.count();
    walked.number_of.resize(blocks.blocks());
    std::vector<PlacedBlock> placed;
    std::vector<std::vector<uint32_t>> of_kind(blocks.kinds().size());
    for (uint32_t number = 0; number < blocks.blocks(); ++number) {
        walked.number_of[blocks.recorded(number)] = number;
        walked.recorded.push_back(blocks.recorded(number));
        walked.kind_of.push_back(blocks.kind_number(number));
        of_kind[blocks.kind_number(number)].push_back(number);
        placed.push_back(blocks.block(number));
    }
    walked.kinds = blocks.kinds();
    walked.walk = std::make_shared<analysis::LevelWalk>(std::move(placed), std::move(log), on.device.sms,
                                                        walked.levels.l1_bytes);
    for (size_t kind = 0; kind < of_kind.size(); ++kind) {
        if (options.stop && *options.stop) return Error{kStopped};
        const uint32_t recorded = walked.kinds[kind].recorded;
        const auto requests = requests_of_kind(walked, trace, static_cast<uint32_t>(kind));
        analysis::add_shares(walked.shares, trace, recorded, requests,
                             analysis::phases_of_block(trace, rule, recorded), *walked.walk, of_kind[kind]);
    }
    return walked;
}

analysis::BlockRequests requests_of_kind(const WalkedLevels& walked, const trace::Trace& trace,
                                         uint32_t kind) {
    const RecordedBlocks::Kind& of = walked.kinds[kind];
    return analysis::requests_of_block(trace, of.recorded, of.rest, *of.work, of.unit_of);
}

}  // namespace tilescope::kernels
