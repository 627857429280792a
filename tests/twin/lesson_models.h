// The numbers of figures and of cases of the Limits screen once more, by the plainest sums there are: what
// the sentences of stops without a recording are held against. Nothing here asks the figures.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

#include "app/lessons/model.h"
#include "core/limits/presets.h"
#include "kernels/textbook/devices.h"
#include "tests/twin/occupancy.h"

namespace tilescope::app {

using Numbers = std::map<std::string, double>;

inline const analysis::DeviceSpec& device_called(const std::string& id) {
    return *std::ranges::find(kernels::devices(), id, &analysis::DeviceSpec::id);
}

inline void add_spread(Numbers& n, uint64_t blocks, uint32_t sms) {
    const analysis::Spread s = twin::spread(blocks, sms);
    n["most_blocks"] = static_cast<double>(s.most), n["least_blocks"] = static_cast<double>(s.least);
    n["sms_with_most"] = s.sms_with_most;
    n["sms_with_least"] = s.most == s.least ? 0 : s.sms_with_least;
}

inline Numbers numbers_of_case(const lessons::LessonStop& stop) {
    const analysis::LimitPreset& preset = *analysis::find_limit_preset(stop.limits);
    const analysis::DeviceSpec& device = device_called(preset.device);
    const analysis::SmLimits sm = analysis::changed(device.sm, preset.change);
    const analysis::BlockUse use = preset.blocks[stop.which].use, first = preset.blocks[0].use;
    const twin::Resident r = twin::resident(sm, use), r0 = twin::resident(sm, first);
    const double threads = double{1} * r.blocks * use.threads,
                 threads0 = double{1} * r0.blocks * first.threads;
    Numbers n{{"threads", use.threads},
              {"registers", use.registers},
              {"shared_bytes", use.shared},
              {"warps", (use.threads + 31) / 32},
              {"block_registers", double{1} * use.threads * use.registers},
              {"sms", device.sms},
              {"thread_slots", sm.threads_per_sm},
              {"block_slots", sm.blocks_per_sm},
              {"sm_registers", sm.registers_per_sm},
              {"sm_shared_bytes", sm.shared_per_sm},
              {"most_block_threads", sm.threads_per_block},
              {"sm_blocks", r.blocks},
              {"sm_threads", threads},
              {"sm_warps", double{1} * r.blocks * ((use.threads + 31) / 32)},
              {"lost_percent", 100 * (threads0 - threads) / threads0},
              {"blocks_that_fill_the_threads", double(sm.threads_per_sm) / first.threads},
              {"registers_a_thread_at_most", sm.registers_per_sm / sm.threads_per_sm},
              {"shared_a_block_at_most", sm.shared_per_sm / sm.blocks_per_sm}};
    if (use.registers > 0) n["by_registers"] = sm.registers_per_sm / (use.threads * use.registers);
    double most = -1;
    for (const analysis::PresetBlock& block : preset.blocks) {
        const double held = double{1} * twin::resident(sm, block.use).blocks * block.use.threads;
        if (held <= most) continue;
        most = held;
        n["best_threads_a_block"] = block.use.threads;
    }
    if (preset.grid) {
        n["grid_blocks"] = static_cast<double>(preset.grid->count());
        add_spread(n, preset.grid->count(), device.sms);
        n["threads_of_last_warp"] = use.threads % 32 == 0 ? 32 : use.threads % 32;
    }
    if (preset.vector) {
        const analysis::BoundCheck check = twin::bound_check(preset.vector->elements, use.threads);
        n["grid_blocks"] = static_cast<double>(check.blocks);
        n["grid_threads"] = static_cast<double>(check.threads);
        n["idle_threads"] = static_cast<double>(check.idle_threads);
        n["diverging_warps"] = static_cast<double>(check.diverging_warps);
        n["idle_warps"] = static_cast<double>(check.idle_warps);
    }
    if (preset.latency) {  // warps are added until their work fills the wait
        uint32_t warps = 0;
        while (warps * preset.latency->instructions * preset.latency->issue_cycles < preset.latency->cycles)
            ++warps;
        n["warps_that_hide"] = warps;
    }
    for (const std::string& id : {preset.device, preset.compared_device}) {
        if (preset.compared_device.empty()) break;
        const analysis::DeviceSpec& of = device_called(id);
        n[id + "_shared_per_sm"] = of.sm.shared_per_sm / 1024.0;
        n[id + "_blocks_per_sm"] = of.sm.blocks_per_sm;
        n[id + "_memory_gbs"] = of.memory_gbs, n[id + "_peak_gflops"] = of.peak_gflops;
    }
    return n;
}

inline void add_tile_widths(const analysis::SmLimits& sm, uint32_t registers, Numbers& n) {
    double most = 0;
    for (const uint32_t tile : {2, 4, 8, 12, 16, 20, 24, 28, 32, 36}) {
        const twin::Resident r = twin::resident(sm, {tile * tile, registers, 8 * tile * tile, -1});
        const double threads = double{1} * r.blocks * tile * tile;
        if (r.blocks > 0) n["widest_tile"] = tile;
        if (threads >= most && r.blocks > 0) n["best_tile"] = tile, n["best_threads"] = most = threads;
    }
}

// The roofs of the course, from its table: bandwidth in GB/s, and the peak in GFLOP/s, 0 where it is not
// said.
inline std::pair<double, double> roof_called(const std::string& label) {
    static const std::map<std::string, std::pair<double, double>> all{{"200 GB/s", {200, 1500}},
                                                                      {"G80", {86.4, 367}},
                                                                      {"150 GB/s", {150, 0}},
                                                                      {"1,000 GB/s", {1000, 12000}},
                                                                      {"RTX 3090", {936.2, 35580}}};
    const auto found = all.find(label);
    return found == all.end() ? std::pair<double, double>{} : found->second;
}

inline Numbers numbers_of_figure(const lessons::LessonStop& stop) {
    const lessons::Figure& figure = *lessons::find_figure(stop.figure);
    Numbers n;
    std::map<std::string, std::string> word;
    for (size_t at = 0; at < figure.parameters.size(); ++at) {
        const std::string name(figure.parameters[at].name);
        n[name] = stop.set[at];
        word[name] = value_words(figure.parameters[at], stop.set[at]);
    }
    const auto whole = [&](const char* name) { return static_cast<int>(n[name]); };
    if (stop.figure == "latency") {
        const int each = whole("issue") * whole("every"), warps = whole("warps");
        int needed = 0;
        while (needed * each < whole("latency")) ++needed;
        n["needed_warps"] = needed, n["cycles_between_loads"] = each;
        // A warp's turn comes again after its own work, after everybody's, or when its load is there.
        const double turn =
            std::max({whole("every") * whole("issue"), warps * each,
                      (whole("latency") + whole("issue") - 1) / whole("issue") * whole("issue")});
        n["busy_percent"] = std::round(100.0 * warps * each / turn);
        n["load_bytes"] = 32 * 4;
        for (const analysis::DeviceSpec& device : kernels::devices()) {
            if (device.name != word["device"]) continue;
            // Little's law: the bandwidth that an SM gets in a cycle, for as many cycles as a load takes.
            const double ghz = device.peak_gflops / (2.0 * lessons::fp32_a_cycle(device.sm) * device.sms);
            const double each_cycle = device.memory_gbs / (device.sms * ghz);
            n["bytes_a_cycle"] = std::round(each_cycle * 100) / 100;
            n["bytes_in_flight"] = std::round(each_cycle * n["latency"]);
            n["loads_in_flight"] = std::ceil(n["bytes_in_flight"] / 128);
        }
    } else if (stop.figure == "blocks") {
        add_spread(n, static_cast<uint64_t>(whole("blocks")), static_cast<uint32_t>(whole("sms")));
        n["waves"] = std::ceil(n["blocks"] / (n["sms"] * n["slots"]));
    } else if (stop.figure == "divergence") {
        double split = 0, passes = 0, idle = 0;
        for (int warp = 0; warp < whole("threads") / 32; ++warp) {
            int taken = 0;
            for (int lane = 0; lane < 32; ++lane) {
                const int thread = warp * 32 + lane, limit = whole("limit");
                taken += whole("branch") == 0   ? thread > limit
                         : whole("branch") == 1 ? warp > limit
                                                : thread < limit;
            }
            const bool both = taken > 0 && taken < 32;
            split += both, passes += both ? 2 : 1, idle += both ? 32 : 0;
        }
        n["divergent_warps"] = split, n["passes"] = passes, n["idle_lanes"] = idle;
        n["warps_of_block"] = whole("threads") / 32;
    } else if (stop.figure == "bursts") {
        n["burst"] = std::stoi(word["burst"]);
        std::set<int> bursts;
        for (int lane = 0; lane < 32; ++lane) bursts.insert(lane * whole("stride") * 4 / whole("burst"));
        n["bursts"] = static_cast<double>(bursts.size());
        n["brought_bytes"] = n["bursts"] * n["burst"], n["used_bytes"] = 128;
        n["used_percent"] = std::floor(100 * 128 / n["brought_bytes"]);
        n["trips"] = n["apart"] <= n["keeps"] ? 4 : 8;
    } else if (stop.figure == "gate") {
        int arrived = 0, last = 0;
        const bool missing = whole("missing") == 1;
        for (int warp = 0; warp < 4; ++warp) {
            last = 6 + warp * whole("uneven");
            arrived += last <= whole("time") && !(missing && warp == 3);
        }
        n["warps_arrived"] = arrived, n["warps_on_the_way"] = 4 - arrived;
        n["opens_at"] = missing ? 0 : last, n["first_held_for"] = missing ? 0 : last - 6;
    } else if (stop.figure == "memory") {
        n["kinds_of_memory"] = 5;
        for (const analysis::DeviceSpec& device : kernels::devices()) {
            if (device.name != word["device"]) continue;
            n["registers_of_sm"] = device.sm.registers_per_sm;
            n["register_bytes_of_sm"] = 4.0 * device.sm.registers_per_sm;
            n["shared_bytes_of_sm"] = device.sm.shared_per_sm;
        }
    } else if (stop.figure == "partition") {
        int dynamic = 0;  // blocks taken one after the other, as long as there are slots for one more
        while (dynamic < whole("block_slots") && (dynamic + 1) * whole("threads") <= whole("thread_slots"))
            ++dynamic;
        n["part_slots"] = whole("thread_slots") / whole("block_slots");
        n["fixed_blocks"] = n["threads"] <= n["part_slots"] ? n["block_slots"] : 0;
        n["dynamic_blocks"] = dynamic;
        n["dynamic_lost"] = n["thread_slots"] - dynamic * n["threads"];
    } else if (stop.figure == "tiles_help") {
        const double side = 2 * n["radius"] + 1, halo = n["tile"] + 2 * n["radius"];
        n["addition_factor"] = 1;
        n["blur_factor"] = std::round(side * side / (halo * halo / (n["tile"] * n["tile"])));
        n["product_factor"] = std::round(n["width"] / std::ceil(n["width"] / n["tile"]));
    } else if (stop.figure == "roof") {
        const auto [gbs, peak] = roof_called(word["roof"]);
        const double tile = std::pow(2, whole("tile"));
        n["memory_gbs"] = gbs, n["operand_bytes"] = 4, n["giga_operands"] = gbs / 4;
        n["tile_width"] = n["cgma"] = tile, n["intensity"] = tile / 4, n["tile_bytes"] = 8 * tile * tile;
        n["untiled_gflops"] = gbs / 4, n["bound_gflops"] = gbs / 4 * tile;
        if (peak > 0) {
            n["peak_gflops"] = peak, n["untiled_percent"] = 100 * gbs / 4 / peak;
            n["peak_percent"] = 100 * gbs / 4 * tile / peak;
        }
    } else if (stop.figure == "tile_width") {
        for (const analysis::DeviceSpec& device : kernels::devices())
            if (name_of(device) == word["device"])
                add_tile_widths(device.sm, static_cast<uint32_t>(whole("registers")), n);
    }
    return n;
}

inline Numbers numbers_of_model(const lessons::LessonStop& stop) {
    return stop.figure.empty() ? numbers_of_case(stop) : numbers_of_figure(stop);
}

}  // namespace tilescope::app
