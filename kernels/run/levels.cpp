#include "kernels/run/levels.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "core/analysis/coalescing.h"
#include "core/analysis/occupancy.h"
#include "core/base/parallel.h"
#include "core/base/words.h"
#include "core/trace/claims.h"
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
        std::map<const BlockWork*, Kind> kinds;
        Shift shift;
        for (uint64_t number = 0; number < grid_.count(); ++number) {
            auto work = work_of(number, shift);
            Kind& kind = kinds[work.get()];
            kind.work = std::move(work);
            ++kind.blocks;
        }
        std::vector<Kind> all;
        for (auto& [work, kind] : kinds) all.push_back(std::move(kind));
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

// first: the first block, which stands for all in how they wait for each other.
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
        double waited = waits;
        // While some blocks wait the others send their requests. That kernels of which an SM holds no more
        // than two blocks are left out is a choice by their times, too.
        if (levels.resident > 2) {
            double sending = 0;
            for (const analysis::Unit& unit : first.units)
                if (unit.loads) sending += unit.load_cycles / clocks;
            waited = std::max(0.0, kMargin * waits - sending * (at_once - 1));
        }
        // Blocks that end together send what they store at the same time.
        levels.sending_ms = kMargin * work.sending;
        levels.idle_ms = (waited + first_reads) * rounds + levels.sending_ms;
    } else if (first.barriers)
        levels.idle_ms = kMargin * levels.misses.idle_cycles / on.device.sms / clocks;
    levels.launch_ms = spec.launch_ns.value * 1e-6;
    const double stored = static_cast<double>(s.stored_sectors) * analysis::kSectorBytes;
    const double from_l2 = levels.misses.l2_read_sectors * analysis::kSectorBytes;
    const double of_l2 = (from_l2 + stored) / (spec.l2_per_clock.value * clocks);
    levels.by_sending = work.stores > of_l2;
    const auto in_words = [](double amount) { return short_count(static_cast<uint64_t>(amount)); };
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
        of_sm("data_pipe", work.pipe,
              fmt::format("{} passes of global and {} wavefronts of shared memory", in_words(levels.passes()),
                          short_count(s.wavefronts))),
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
    const uint64_t a_block = std::max<uint64_t>(1, first->touches.size());
    run.log = log;
    if (!options.all_blocks && !levels.as_recorded && !log) run.most_blocks = options.most_lines / a_block;
    std::vector<analysis::Pace> paces{analysis::Pace::Own};
    if (options.range && !log)
        for (const analysis::Pace pace : paces_of(launch, on.levels, levels, *first)) paces.push_back(pace);
    // How long blocks wait at least. Where L2 holds the arrays, a launch behind another one finds them there;
    // and of blocks in step the model reads more from DRAM than they do (docs/model.md). These wait as if
    // nothing came from there.
    const size_t stated = paces.size();
    const bool from_l2 = levels.in_step || array_bytes(launch) <= on.levels.l2_bytes.value;
    if (from_l2 && paces.back() != analysis::Pace::Apart) paces.push_back(analysis::Pace::Apart);
    std::vector<analysis::LevelReplay> replays(paces.size());
    for_each_index(paces.size(), 0, [&](uint64_t i) {
        analysis::LevelLaunch with = run;
        with.pace = paces[i];
        // Two waves tell the others: the first has begun as all do, and the second follows it.
        if (i > 0) with.log = nullptr;
        if (i > 0 && run.most_blocks < run.blocks) with.most_blocks = 0, with.least_waves = 2;
        if (i == 0 && options.begun)
            with.block = [&](uint64_t number) {
                ++*options.begun;
                return run.block(number);
            };
        replays[i] = replay_levels(on.levels, with, {options.stop});
    });
    if (options.stop && *options.stop) return Error{kStopped};
    const analysis::LevelReplay& found = replays.front();
    levels.dram_range = dram_range(std::span(replays).first(stated));
    levels.misses = found.misses;
    if (from_l2) levels.misses.wait_as(replays.back().misses);
    levels.simulated = found.simulated;
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
        const auto after = std::ranges::upper_bound(counts, count) - counts.begin() - 1;
        const auto kind = static_cast<size_t>(after);
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
                                                        walked.levels.l1_bytes, Stop{options.stop});
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
