#include "app/look/grid_at_work.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "app/look/timeline.h"
#include "core/base/words.h"
#include "kernels/textbook/devices.h"
#include "kernels/textbook/known_launch.h"

namespace tilescope::look {
namespace {

constexpr uint32_t kMostSms =
    4096;  // no device has as many: a file that names one beyond them is not believed

void take_clocks(GridAtWork& made, const trace::Trace& trace) {
    made.runs.resize(trace.blocks.size());
    for (const trace::Block& block : trace.blocks) {
        analysis::BlockRun& run = made.runs[number_of(made.grid, block)];
        run.sm = block.sm, run.begin = block.clock;
        run.end = block.clock + trace.time[block.first + block.count - 1] - trace.time[block.first] + 1;
        made.sms = std::max(made.sms, block.sm + 1);
    }
}

// The blocks of each SM as they begin; measured, with the first at 0 and each in the first slot that is free.
void gather(GridAtWork& made) {
    made.of_sm.resize(made.sms);
    for (uint32_t block = 0; block < made.runs.size(); ++block)
        made.of_sm[made.runs[block].sm].push_back(block);
    for (std::vector<uint32_t>& blocks : made.of_sm) {
        std::ranges::stable_sort(blocks, {}, [&](uint32_t block) { return made.runs[block].begin; });
        if (!made.measured || blocks.empty()) continue;
        const uint64_t zero = made.runs[blocks.front()].begin;
        std::vector<uint64_t> until;  // by slot: the end of its latest block
        for (const uint32_t block : blocks) {
            analysis::BlockRun& run = made.runs[block];
            run.begin -= zero, run.end -= zero;
            const auto slot = std::ranges::find_if(until, [&](uint64_t end) { return end <= run.begin; });
            run.slot = static_cast<uint32_t>(slot - until.begin());
            if (slot == until.end())
                until.push_back(run.end);
            else
                *slot = run.end;
        }
        made.slots = std::max(made.slots, static_cast<uint32_t>(until.size()));
    }
}

void count(GridAtWork& made) {
    std::vector<std::pair<uint64_t, int>> turns;  // SMs that get their first block at a time, lose their last
    bool all_get_one = true;
    for (const std::vector<uint32_t>& blocks : made.of_sm) {
        if (blocks.empty()) ++made.unused, all_get_one = false;
        uint64_t until = 0;
        for (const uint32_t block : blocks) {
            const analysis::BlockRun& run = made.runs[block];
            if (block == blocks.front() || run.begin > until) {
                if (block != blocks.front()) turns.emplace_back(until, -1);
                turns.emplace_back(run.begin, 1);
                until = run.end;
            }
            until = std::max(until, run.end);
        }
        if (blocks.empty()) continue;
        turns.emplace_back(until, -1);
        made.first_idle = made.first_idle == 0 ? until : std::min(made.first_idle, until);
    }
    if (!all_get_one) made.first_idle = 0;
    std::ranges::sort(turns);
    int64_t working = 0;
    for (size_t at = 0; at < turns.size(); ++at) {
        working += turns[at].second;
        if (at + 1 == turns.size() || turns[at + 1].first != turns[at].first)
            made.working.emplace_back(turns[at].first, static_cast<uint32_t>(working));
    }
    for (const analysis::BlockRun& run : made.runs) {
        made.begins.push_back(run.begin), made.ends.push_back(run.end);
        made.end = std::max(made.end, run.end), made.last_begin = std::max(made.last_begin, run.begin);
    }
    std::ranges::sort(made.begins);
    std::ranges::sort(made.ends);
}

std::string percent(uint64_t part, uint64_t whole) {
    const double share =
        100.0 * static_cast<double>(part) / static_cast<double>(std::max<uint64_t>(whole, 1));
    return fmt::format("{:.0f} %", share);
}

}  // namespace

std::string why_not_measured(const trace::Trace& trace) {
    const uint64_t blocks = trace.launch.grid.count();
    if (trace.meta.backend != trace::Backend::Gpu || trace.time.empty())
        return "The recording has no clocks, since it was not made on a GPU.";
    if (trace.blocks.size() != blocks)
        return fmt::format("Only {} of {} blocks were recorded.", grouped(trace.blocks.size()),
                           grouped(blocks));
    if (blocks > kMostDealt) return "The grid has too many blocks to be drawn one by one.";
    if (trace.meta.price.launches > 1)
        return fmt::format("The grid was recorded in {} launches, a part of it in each.",
                           trace.meta.price.launches);
    for (const trace::Block& block : trace.blocks) {
        if (block.count == 0) return "A block made no step, so it has no clocks.";
        const uint64_t last = block.first + block.count - 1;
        if (trace.time[last] < trace.time[block.first]) return "The clocks of a block run backwards.";
        if (block.sm >= kMostSms) return fmt::format("A block says that it ran on SM {}.", block.sm);
    }
    return "";
}

analysis::BlockUse block_use(const analysis::Recording& recording, const analysis::DeviceSpec& device) {
    const trace::Trace& trace = *recording.trace;
    analysis::BlockUse use{.threads = static_cast<uint32_t>(trace.launch.block.count()),
                           .shared = static_cast<uint32_t>(analysis::shared_bytes(trace.launch))};
    if (!recording.product) return use;
    const kernels::Shape shape = kernels::shape_of(*recording.product);
    for (const analysis::DeviceSpec* const known : kernels::level_devices())
        if (known->id == device.id)
            use.registers = kernels::known_launch(*known, trace.meta.kernel,
                                                  kernels::compiler_of(trace, shape.tile), shape)
                                .registers;
    return use;
}

uint64_t number_of(const Dim3& grid, const trace::Block& block) {
    return (uint64_t{block.z} * grid.y + block.y) * grid.x + block.x;
}
Dim3 index_of(const Dim3& grid, uint64_t number) {
    return {static_cast<uint32_t>(number % grid.x), static_cast<uint32_t>(number / grid.x % grid.y),
            static_cast<uint32_t>(number / grid.x / grid.y)};
}

GridAtWork grid_at_work(const analysis::Recording& recording, const analysis::DeviceSpec* device) {
    const trace::Trace& trace = *recording.trace;
    GridAtWork made;
    made.grid = trace.launch.grid;
    const uint64_t dealt = std::min(made.blocks(), kMostDealt);
    made.recorded.assign(dealt, kNotRecorded);
    for (uint32_t at = 0; at < trace.blocks.size(); ++at)
        if (const uint64_t number = number_of(made.grid, trace.blocks[at]); number < dealt) {
            made.recorded_blocks += made.recorded[number] == kNotRecorded;
            made.recorded[number] = at;
        }

    const analysis::DeviceSpec* const own = kernels::find_driver_name(trace.meta.device);
    made.why_modelled = why_not_measured(trace);
    if (device != nullptr && device != own && made.why_modelled.empty())
        made.why_modelled = "It ran on another device.";
    made.measured = made.why_modelled.empty();
    if (made.measured) {
        made.device = trace.meta.device;
        made.sms = own == nullptr ? 1 : own->sms;
        made.clock_mhz = trace.meta.price.clock_mhz;
        take_clocks(made, trace);
    } else {
        static const analysis::DeviceSpec usual = *kernels::device_named(kernels::kLevelDevice);
        const analysis::DeviceSpec& on = device != nullptr ? *device : own != nullptr ? *own : usual;
        const analysis::BlockUse use = block_use(recording, on);
        made.device = analysis::name_of(on);
        made.sms = std::max(on.sms, 1u);
        made.registers = use.registers;
        // Where no such block fits, the launch is refused; it is drawn as if one did.
        made.slots = std::max(occupancy(on.sm, use, analysis::Sum::Hardware).blocks, 1u);
        made.equal_times = trace.blocks.size() != made.blocks();
        made.runs = analysis::deal(dealt, made.sms, made.slots, [&](uint64_t block) -> uint64_t {
            return made.equal_times ? kBlockTime : trace.blocks[made.recorded[block]].count;
        });
    }
    gather(made);
    count(made);
    return made;
}

GridMoment moment(const GridAtWork& grid, uint64_t now) {
    const auto until = [&](const std::vector<uint64_t>& times) {
        return static_cast<uint64_t>(std::ranges::upper_bound(times, now) - times.begin());
    };
    GridMoment made;
    made.done = until(grid.ends);
    made.running = until(grid.begins) - made.done;
    const auto after = std::ranges::upper_bound(grid.working, now, {}, &std::pair<uint64_t, uint32_t>::first);
    made.idle = grid.sms - (after == grid.working.begin() ? 0 : std::prev(after)->second);
    return made;
}

std::vector<std::string> headlines(const GridAtWork& grid) {
    const uint64_t blocks = grid.blocks(), places = grid.places();
    const std::string on = fmt::format("{} on {}", counted(blocks, "block"), counted(grid.sms, "SM"));
    if (blocks <= grid.sms - grid.unused && grid.unused > 0)
        return {fmt::format("{}: the grid is too small, {} {} no block.", on, counted(grid.unused, "SM"),
                            grid.unused == 1 ? "gets" : "get"),
                on + "."};
    const std::string at_once =
        grid.slots == 1 ? "one at a time on each" : fmt::format("up to {} at once on each", grid.slots);
    if (blocks <= places) {
        const std::string wave = fmt::format("one wave of {} slots", grouped(places));
        const std::string full = blocks == places
                                     ? " is full."
                                     : fmt::format(" is not full, {} stay empty.", grouped(places - blocks));
        return {fmt::format("{}, {}: {}{}", on, at_once, wave, full), fmt::format("{}: {}{}", on, wave, full),
                on + "."};
    }
    const uint64_t rest = blocks % places;
    const std::string waves =
        rest == 0 ? fmt::format("{} full waves of {}", grouped(blocks / places), grouped(places))
                  : fmt::format("{} of {} and a last one of {}", counted(blocks / places, "wave"),
                                grouped(places), grouped(rest));
    std::vector<std::string> made;
    if (grid.first_idle > 0 && grid.first_idle < grid.end)
        made.push_back(fmt::format("{}, {}: {}. The first SM is idle after {} of the time.", on, at_once,
                                   waves, percent(grid.first_idle, grid.end)));
    made.push_back(fmt::format("{}, {}: {}.", on, at_once, waves));
    made.push_back(fmt::format("{}: {}.", on, waves));
    made.push_back(on + ".");
    return made;
}

std::vector<std::string> rests_on(const GridAtWork& grid) {
    if (grid.measured)
        return {
            fmt::format(
                "Recorded on an {}: each block's SM, and the clocks of its first and last step. The clocks "
                "of two SMs have no common zero, so the first block of each SM begins at 0.",
                grid.device),
            fmt::format(
                "Recorded on an {}. SM clocks have no common zero: the first block of each SM begins at 0.",
                grid.device),
            "Recorded. Each SM's first block begins at 0: SM clocks have no common zero.",
            "Recorded; each SM's first block begins at 0."};
    const std::string lasts =
        grid.equal_times ? "all blocks take the same time" : "a block takes as long as it has steps";
    const std::string rule =
        "blocks are dealt in the order of their numbers, each to the SM with the most free slots";
    const std::string of =
        fmt::format("{} on an SM of {}{}", counted(grid.slots, "slot"), grid.device,
                    grid.registers > 0 ? fmt::format(", with {} registers a thread", grid.registers)
                                       : ", registers not counted");
    return {fmt::format("Modelled: {}; {}; {}. {}", rule, lasts, of, grid.why_modelled),
            fmt::format("Modelled: {}; {}; {}.", rule, lasts, of),
            fmt::format("Modelled: {}; {}.", rule, lasts),
            fmt::format("Modelled, {}: {}.", grid.device, lasts), "Modelled."};
}

std::string moment_text(const GridAtWork& grid, uint64_t now) {
    if (!grid.measured)
        return grid.equal_times ? fmt::format("{:.2f} block times", static_cast<double>(now) / kBlockTime)
                                : fmt::format("step {}", grouped(now));
    trace::Meta meta;
    meta.price.clock_mhz = grid.clock_mhz;
    const std::string us = microseconds(meta, static_cast<double>(now));
    return fmt::format("clock {}{}", grouped(now), us.empty() ? "" : ", " + us);
}

std::string run_text(const GridAtWork& grid, uint64_t block) {
    const analysis::BlockRun& run = grid.runs[block];
    if (grid.equal_times)
        return fmt::format("SM {}, slot {}, {} wave", run.sm, run.slot, ordinal(run.begin / kBlockTime + 1));
    return fmt::format("SM {}, slot {}, {} {} to {}", run.sm, run.slot, grid.measured ? "clocks" : "steps",
                       grouped(run.begin), grouped(run.end));
}

}  // namespace tilescope::look
