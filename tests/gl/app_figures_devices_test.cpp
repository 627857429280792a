// The figures of Timing and Limits, as app_figures_test.cpp holds those of the Step screen.
#include "tests/gl/figures_page.h"

namespace tilescope::app {
namespace {

// --- Limits: the lecture's divisions, and the hardware's with what it hands out in whole

struct Fits {
    uint64_t threads = 0, blocks = 0, registers = ~0ull, shared = ~0ull, registers_a_block = 0,
             shared_a_block = 0;
    uint64_t least() const { return std::min({threads, blocks, registers, shared}); }
};
uint64_t up(uint64_t value, uint64_t unit) { return unit == 0 ? value : (value + unit - 1) / unit * unit; }
Fits fits(const analysis::SmLimits& sm, const analysis::BlockUse& use, bool hardware) {
    const uint64_t warps = (use.threads + sm.warp_size - 1) / sm.warp_size;
    Fits f;
    f.threads = hardware ? sm.threads_per_sm / sm.warp_size / warps : sm.threads_per_sm / use.threads;
    f.blocks = sm.blocks_per_sm;
    f.registers_a_block = uint64_t{use.threads} * use.registers;
    f.shared_a_block = use.shared;
    if (hardware && sm.register_unit == analysis::RegisterUnit::Block)
        f.registers_a_block =
            up(up(warps, sm.warp_granularity) * sm.warp_size * use.registers, sm.register_granularity);
    if (hardware) f.shared_a_block = up(use.shared + sm.shared_reserved, sm.shared_granularity);
    if (f.registers_a_block > 0) f.registers = sm.registers_per_sm / f.registers_a_block;
    if (hardware && sm.register_unit == analysis::RegisterUnit::Warp && use.registers > 0) {
        const uint64_t a_warp = up(uint64_t{use.registers} * sm.warp_size, sm.register_granularity);
        f.registers_a_block = a_warp * warps;
        f.registers = sm.registers_per_sm / sm.warp_granularity / a_warp * sm.warp_granularity / warps;
        if (a_warp * up(warps, sm.warp_granularity) > sm.registers_per_block) f.registers = 0;
    }
    if (f.shared_a_block > 0) f.shared = sm.shared_per_sm / f.shared_a_block;
    if (use.shared > sm.shared_per_block_optin) f.shared = 0;
    return f;
}

struct LimitsScene {
    analysis::SmLimits sm;
    analysis::BlockUse use;
    const analysis::LimitPreset* preset = nullptr;
    const analysis::DeviceSpec* device = nullptr;
};
const LimitsScene* g_limits = nullptr;

void limits_tables(Page& page) {
    const auto& [sm, use, preset, device] = *g_limits;
    bool hardware = false;
    for (size_t i = 0; i < page.size(); ++i) {
        if (page.text(i) == "The hardware's sum") hardware = true;
        const Fits f = fits(sm, use, hardware);
        const std::tuple<const char*, uint64_t, uint64_t, uint64_t> rows[] = {
            {"thread slots", use.threads, sm.threads_per_sm, f.threads},
            {"block slots", 1, sm.blocks_per_sm, f.blocks},
            {"registers", f.registers_a_block, sm.registers_per_sm, f.registers},
            {"shared memory", f.shared_a_block, sm.shared_per_sm, f.shared}};
        for (const auto& [name, each, most, fit] : rows) {
            const bool limits = fit == f.least();
            if (page.text(i) != (limits ? "\u2192 " : "") + std::string(name)) continue;
            const std::string used = fmt::format("{} of {}", grouped(f.least() * each), grouped(most));
            const std::string blocks =
                fit == ~0ull ? "any" : fmt::format("{} block{}", grouped(fit), fit == 1 ? "" : "s");
            if (page.text(i + 1) != used || page.text(i + 2) != blocks)
                page.complain(fmt::format("{}: {}, {}, not {}, {}", page.text(i), used, blocks,
                                          page.text(i + 1), page.text(i + 2)));
            page.claim(i + 1), page.claim(i + 2);
        }
        // Ticks of the axes, by their form alone: quarters of the thread slots, and round numbers.
        if (page.number(i)) {
            const uint64_t at = std::stoull(test::without_groups(page.text(i)));
            bool quarter = false;
            for (uint64_t q = 0; q <= 4; ++q) quarter = quarter || at == sm.threads_per_sm * q / 4;
            if (quarter || at % 50 == 0 || at % 20 == 0) page.claim(i);
        }
        if (Captures c; test::match("# k", page.text(i), c)) page.claim(i);
        if (preset == nullptr) continue;
        for (const analysis::PresetBlock& block : preset->blocks) {  // what the case's blocks are called
            if (page.text(i) != block.label) continue;
            Captures c;
            bool right = (test::match("# x #*", page.text(i), c) &&
                          std::stoul(c[0]) * std::stoul(c[1]) == block.use.threads);
            if (c.clear(); test::match("#{ threads|, }*", page.text(i), c))
                right = std::stoul(test::without_groups(c[0])) == block.use.threads;
            if (c.clear(); test::match("*, # registers", page.text(i), c))
                right = right && std::stoul(c[1]) == block.use.registers;
            if (c.clear(); test::match("# KB*", page.text(i), c))
                right = std::stoul(c[0]) * 1024 == block.use.shared;
            if (!right) page.complain("a block that is another: " + page.text(i));
            page.claim(i);
        }
    }
}
// The words of one sum: blocks, threads and warps of an SM.
Figures limits_sum(const Captures& c) {
    const auto& [sm, use, preset, device] = *g_limits;
    const auto right = [&](bool hardware) -> Figures {
        const uint64_t blocks = fits(sm, use, hardware).least(), warps = (use.threads + 31) / 32;
        const double share = hardware
                                 ? 100.0 * static_cast<double>(blocks * warps) / (sm.threads_per_sm / 32.0)
                                 : 100.0 * static_cast<double>(blocks * use.threads) / sm.threads_per_sm;
        return {
            blocks, blocks * use.threads, sm.threads_per_sm, blocks * warps, sm.threads_per_sm / sm.warp_size,
            share};
    };
    for (const bool hardware : {false, true})
        if (test::disagrees(c[0], right(hardware)[0]).empty() &&
            test::disagrees(c[5], right(hardware)[5]).empty())
            return right(hardware);
    return right(true);
}
Figures cliff(const Captures& c) {
    const auto& [sm, use, preset, device] = *g_limits;
    const uint64_t at = std::stoull(test::without_groups(c[0]));
    // Of the parameter that has such a cliff: no step before it loses threads.
    for (const auto& [member, step, most] :
         {std::tuple(&analysis::BlockUse::threads, sm.warp_size, sm.threads_per_block),
          {&analysis::BlockUse::registers, 1u, sm.registers_per_thread},
          {&analysis::BlockUse::shared, 512u, sm.shared_per_block_optin}}) {
        analysis::BlockUse before = use, after = use;
        for (uint64_t value = use.*member / step * step + step; value <= most; value += step) {
            before.*member = static_cast<uint32_t>(value - step),
            after.*member = static_cast<uint32_t>(value);
            if (before.threads == 0) continue;
            const uint64_t had = fits(sm, before, true).least() * before.threads,
                           has = fits(sm, after, true).least() * after.threads;
            if (has >= had) continue;
            if (value == at && test::disagrees(c[1], had).empty()) return {value, had, has};
            break;
        }
    }
    return {"a cliff"};
}

std::vector<Rule> limits_rules() {
    return {
        {"# blocks, # of # threads, # of # warps: ~ %", SAYS(limits_sum(c))},
        {"# threads a block", SAYS(g_limits->use.threads)},
        {"# register(s) a thread", SAYS(g_limits->use.registers)},
        {"# bytes of shared memory a block", SAYS(g_limits->use.shared)},
        {"next cliff at #: # threads become #", SAYS(cliff(c))},
        {"*, compute capability @; sums of an SM's slots, nothing is measured",
         SAYS(g_limits->device->name, g_limits->sm.capability())},
        {"*, compute capability @, with # thread slots in place of #; sums of an SM's slots, nothing is "
         "measured",
         SAYS(g_limits->device->name, g_limits->sm.capability(), g_limits->preset->change.threads_per_sm,
              g_limits->device->sm.threads_per_sm)},
        {"*, compute capability @, with # bytes of shared memory in place of #; sums of an SM's slots, "
         "nothing is measured",
         SAYS(g_limits->device->name, g_limits->sm.capability(), g_limits->preset->change.shared_per_sm,
              g_limits->device->sm.shared_per_sm)},
        {"*, compute capability @, with # block slots in place of #; sums of an SM's slots, nothing is "
         "measured",
         SAYS(g_limits->device->name, g_limits->sm.capability(), g_limits->preset->change.blocks_per_sm,
              g_limits->device->sm.blocks_per_sm)},
        {"How many blocks does an SM of * hold?", SAYS(g_limits->device->name)},
        {"*", SAYS(g_limits->preset == nullptr ? "" : g_limits->preset->title)},  // the case's own words
        {"blocks that would fill the thread slots (*): ~",
         SAYS(g_limits->preset->blocks[0].label,
              double{1} * g_limits->sm.threads_per_sm / g_limits->preset->blocks[0].use.threads)},
        {"registers a thread at most with every thread slot used: #",
         SAYS(g_limits->sm.registers_per_sm / g_limits->sm.threads_per_sm)},
        {"shared memory a block at most with every block slot used: #",
         SAYS(g_limits->sm.shared_per_sm / g_limits->sm.blocks_per_sm)},
        {"the block with the most threads on an SM: *: #",
         SAYS(any, any, must([&] {
                  uint64_t most = 0, said = 0;
                  for (const analysis::PresetBlock& block : g_limits->preset->blocks) {
                      const uint64_t threads =
                          fits(g_limits->sm, block.use, false).least() * block.use.threads;
                      most = std::max(most, threads);
                      if (block.label == c[0] &&
                          std::to_string(block.use.threads) == test::without_groups(c[1]))
                          said = threads;
                  }
                  return said == most;
              }()))},
        {"share of the threads that the second case loses: ~ %", SAYS([] {
             const auto threads = [](const analysis::PresetBlock& block) {
                 return static_cast<double>(fits(g_limits->sm, block.use, false).least() * block.use.threads);
             };
             const auto& blocks = g_limits->preset->blocks;
             return 100 * (threads(blocks[0]) - threads(blocks[1])) / threads(blocks[0]);
         }())},
    };
}

TEST(FiguresOfTheLimitsScreen, OfCasesAndDevices) {
    SKIP_WITHOUT_OPENGL();
    Drawn drawn(1600, 1000);
    const Notation plain;
    const Facts facts(std::make_shared<const trace::Trace>(kernels::recorded("tiled", {4, 4, 4, 2})));
    State state;
    state.session.screen = "limits";
    const auto& devices = state.session.assets.devices();
    const auto hold = [&](const std::string& what) {
        const auto* preset = analysis::find_limit_preset(state.limits.preset);
        const auto device = std::ranges::find(devices, state.limits.device, &analysis::DeviceSpec::id);
        analysis::SmLimits sm = device->sm;
        if (preset != nullptr && preset->change.threads_per_sm > 0)
            sm.threads_per_sm = preset->change.threads_per_sm;
        if (preset != nullptr && preset->change.blocks_per_sm > 0)
            sm.blocks_per_sm = preset->change.blocks_per_sm;
        const LimitsScene scene{sm, state.limits.use, preset, &*device};
        g_limits = &scene;
        drawn.frames(state);
        for (const std::string& complaint :
             Page(drawn.seen(), {state, facts, {}, "", &plain}).complaints(limits_rules(), limits_tables))
            ADD_FAILURE() << what << ": " << complaint;
    };
    for (const analysis::LimitPreset& preset : analysis::limit_presets()) {
        if (preset.blocks.empty() || preset.grid || preset.vector || preset.change.shared_per_sm > 0)
            continue;
        for (size_t block = 0; block < preset.blocks.size(); ++block) {
            const auto of = std::ranges::find(devices, preset.device, &analysis::DeviceSpec::id);
            if (preset.blocks[block].use.threads > of->sm.threads_per_block) continue;  // refused
            take_preset(state.limits, preset.id, block);
            hold(fmt::format("{} {}", preset.id, block));
        }
    }
    Lot lot(3);
    for (const analysis::DeviceSpec& device : devices)
        for (int place = 0; (device.sm.major != 6 || device.sm.minor != 0) && place < 3; ++place) {
            take_device(state.limits, device.id);
            state.limits.use = {lot.from(1, device.sm.threads_per_block / 32) * 32, lot.from(1, 32), 0};
            if (fits(device.sm, state.limits.use, true).least() == 0 ||
                fits(device.sm, state.limits.use, false).least() == 0)
                continue;  // refused
            hold(fmt::format("{}, {} threads, {} registers", device.id, state.limits.use.threads,
                             state.limits.use.registers));
        }
}

// --- Timing: what was measured, found again in the files that ship, and what follows from it

struct TimingScene {
    const kernels::Timings* times = nullptr;  // of the device; null where it was not measured
    double gbs = 0, gflops = 0;               // stated
    std::string kernel;
    uint32_t tile = 0, width = 0;
    const kernels::CounterRow* counters = nullptr;
    const kernels::Timing* row(const std::string& of) const {
        for (const kernels::Timing& one : times->rows)
            if (one.kernel == of && one.m == width && one.k == width && one.n == width &&
                one.tile == (of == "cublas" ? 0 : tile))
                return &one;
        return nullptr;
    }
    double flop() const { return 2.0 * width * width * width; }
    double rate() const { return flop() / row(kernel)->median_ms / 1e6; }  // GFLOP/s
    double bound(double intensity) const {
        return gflops > 0 ? std::min(gflops, gbs * intensity) : gbs * intensity;
    }
    // Bytes: asked for by the threads, 4 for each operand; a tile brings each once for T uses.
    double bytes(size_t level) const {
        if (level == 0) return flop() * 4 / (kernel.starts_with("untiled") ? 1 : tile);
        constexpr std::pair<const char*, double> kCounters[] = {
            {"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", 32},
            {"lts__t_sectors_op_read.sum", 32},
            {"dram__bytes_read.sum", 1}};
        for (const auto& [name, value] : counters->counters)
            if (name == kCounters[level - 1].first) return value * kCounters[level - 1].second;
        return 0;
    }
    double intensity(size_t level) const { return flop() / bytes(level); }
};
const TimingScene* g_timing = nullptr;

double times_of(const char* rival) {
    const TimingScene& t = *g_timing;
    return t.row(rival)->median_ms / t.row(t.kernel)->median_ms;
}
std::string ratio_words(double bytes) {
    const double ratio = bytes / g_timing->bytes(0), large = std::max(ratio, 1 / ratio);
    const std::string text =
        large < 9.995 ? fmt::format("{:.2f}", large) : fmt::format("{:.{}f}", large, large < 99.95 ? 1 : 0);
    return text == "1.00" ? "1" : (ratio < 1 ? "1/" : "") + text;
}
std::string shown(std::string kernel) {
    if (kernel == "cublas") return "cuBLAS";
    std::ranges::replace(kernel, '_', ' ');
    return kernel;
}

void timing_tables(Page& page) {
    constexpr const char* kLevels[] = {"asked by the threads", "sectors of the requests", "read from L2",
                                       "read from DRAM"};
    for (size_t i = 0; i < page.size(); ++i) {
        for (size_t level = 0; level < 4; ++level) {
            if (page.text(i) != kLevels[level]) continue;
            page.claim(i);
            if (i + 3 >= page.size() ||
                std::abs(page.at(i + 1).min.y - page.at(i).min.y) > 4) {  // the strip of a low window
                const std::string& above = page.text(i - 1);
                Captures c;
                const bool both = test::match("~  @", above, c);
                if (!both && (c.clear(), !test::match("~", above, c))) continue;
                page.claim(i - 1);
                if (const std::string no = test::disagrees(c[0], g_timing->bytes(level)); !no.empty())
                    page.complain(page.text(i) + ": " + no);
                if (both && c[1] != ratio_words(g_timing->bytes(level)))
                    page.complain(page.text(i) + " is not " + c[1]);
                continue;
            }
            page.cell(i + 1, g_timing->bytes(level), page.text(i));
            page.cell(i + 2, ratio_words(g_timing->bytes(level)), page.text(i));
            page.cell(i + 3, {g_timing->intensity(level), fmt::format("FLOP/B of {}", kLevels[level])},
                      page.text(i));
        }
        // Axes by their form alone: widths that were measured, tile widths, and 1, 2 or 5 times a power of
        // ten.
        Captures c;
        if (!test::match("~", page.text(i), c)) continue;
        const double at =
            std::strtod(test::without_groups(c[0]).c_str(), nullptr) * (c[0].ends_with(" k") ? 1e3 : 1);
        bool known = at == 0;
        for (const double first : {1, 2, 5}) {
            const double power = std::log10(at / first);
            known = known || std::abs(power - std::round(power)) < 1e-9;
        }
        for (const kernels::Timing& row : g_timing->times->rows)
            known = known || at == row.n || at == row.tile;
        if (known) page.claim(i);
    }
}

Figures measured_on() {
    const kernels::Timings& t = *g_timing->times;
    return {fmt::format("{}, driver {}, CUDA {}, {}", t.device, t.driver, t.cuda, t.date.substr(0, 10))};
}
std::vector<Rule> timing_rules() {
    return {
        {"*, T = #, width #: ~, ~ GFLOP/s*",
         SAYS(
             shown(g_timing->kernel), {g_timing->tile, "T of the screen"},
             {g_timing->width, "width of the screen"}, g_timing->row(g_timing->kernel)->median_ms / 1e3,
             {g_timing->rate(), "GFLOP/s"},
             [] {
                 std::string tail;
                 const auto two = [](double x) {
                     return x < 9.995 ? fmt::format("{:.2f}", x)
                                      : fmt::format("{:.{}f}", x, x < 99.95 ? 1 : 0);
                 };
                 for (const char* rival : {"untiled", "untiled_swapped"})
                     if (rival != g_timing->kernel && g_timing->row(rival) != nullptr)
                         tail += fmt::format(", {} x {}", two(times_of(rival)), shown(rival));
                 return std::vector<std::string>{tail, tail + "; its result is wrong, as made to show"};
             }())},
        {"Measured on *", SAYS(measured_on())},
        {"Counted by Nsight Compute on *", SAYS(g_timing->times->device)},
        {"Roofline at width #, T = #, GFLOP/s",
         SAYS({g_timing->width, "width of the screen"}, {g_timing->tile, "T of the screen"})},
        {"measured: ~ GB/s, ~ GFLOP/s",
         SAYS(g_timing->times->roofs.copy_gbs, g_timing->times->roofs.fp32_gflops)},
        {"measured: ~ GFLOP/s", SAYS(g_timing->times->roofs.fp32_gflops)},
        {"stated: ~ GB/s, ~ GFLOP/s", SAYS(g_timing->gbs, g_timing->gflops)},
        {"stated: ~ GFLOP/s", SAYS(g_timing->gflops)},
        {"bound, untiled: ~", SAYS(g_timing->bound(0.25))},
        {"bound, T = #: ~", SAYS({g_timing->tile, "T of the screen"}, g_timing->bound(g_timing->tile / 4.0))},
        {"{by L2|by DRAM|read from L2}", SAYS(any)},  // names
        {"L2 and DRAM were counted at width *only.", SAYS(any)},
        {"L2 and DRAM were not counted for *, T = #.",
         SAYS(shown(g_timing->kernel), {g_timing->tile, "T of the screen"})},
        {"At ~ FLOP/B the stated roof is ~ GFLOP/s: a bound for a device without caches. Measured ~, ~ "
         "{times that|% of it}.",
         SAYS({g_timing->intensity(0), "FLOP/B of asked by the threads"},
              g_timing->bound(g_timing->intensity(0)), {g_timing->rate(), "GFLOP/s"},
              g_timing->rate() > g_timing->bound(g_timing->intensity(0))
                  ? g_timing->rate() / g_timing->bound(g_timing->intensity(0))
                  : 100 * g_timing->rate() / g_timing->bound(g_timing->intensity(0)),
              g_timing->rate() > g_timing->bound(g_timing->intensity(0)) ? "times that" : "% of it")},
        {"*: the requests need ~ times what the threads ask for.",
         SAYS(any, g_timing->bytes(1) / g_timing->bytes(0), must(g_timing->bytes(1) > g_timing->bytes(0)))},
        {"Lanes of a warp that ask for one element, or for neighbours, share sectors: the requests need 1/~ "
         "of what the threads ask for.",
         SAYS(g_timing->bytes(0) / g_timing->bytes(1))},
        {"The requests need ~; ~ are read from L2 and ~ from DRAM, ~ times the ~ that must be read once.",
         SAYS(g_timing->bytes(1), g_timing->bytes(2), g_timing->bytes(3),
              g_timing->bytes(3) / (8.0 * g_timing->width * g_timing->width),
              8.0 * g_timing->width * g_timing->width)},
        {"At DRAM's ~ FLOP/B the stated roof is ~ GFLOP/s: measured ~ % of it.",
         SAYS({g_timing->intensity(3), "FLOP/B of read from DRAM"}, g_timing->bound(g_timing->intensity(3)),
              100 * g_timing->rate() / g_timing->bound(g_timing->intensity(3)))},
    };
}

TEST(FiguresOfTheTimingScreen, OfKernelsAndWidths) {
    SKIP_WITHOUT_OPENGL();
    Drawn small(1280, 720), large(1600, 1000);
    const Notation plain;
    const Facts facts(std::make_shared<const trace::Trace>(kernels::recorded("tiled", {4, 4, 4, 2})));
    Lot lot(21);
    State state;
    state.session.screen = "timing";
    for (const kernels::Timings& times : state.session.assets.timings()) {
        if (times.compiler != "clang") continue;
        for (int place = 0; place < 12; ++place) {
            const kernels::Timing& row = times.rows[lot.below(static_cast<uint32_t>(times.rows.size()))];
            if (row.m != row.k || row.k != row.n || row.kernel == "cublas") continue;
            state.timing.device = times.device, state.timing.kernel = row.kernel,
            state.timing.tile = row.tile, state.timing.width = row.n;
            state.timing.plot = static_cast<timing::State::Plot>(lot.below(4));
            TimingScene scene{&times, times.roofs.stated_gbs, times.roofs.stated_gflops, row.kernel, row.tile,
                              row.n};
            for (const kernels::Counters& set : state.session.assets.counters())
                for (const kernels::CounterRow& of : set.rows)
                    if (set.device == times.device && of.kernel == row.kernel && of.m == row.n &&
                        of.k == row.n && of.n == row.n && of.tile == row.tile && of.ptx == "clang")
                        scene.counters = &of;
            g_timing = &scene;
            Drawn& drawn = lot.below(2) == 0 ? small : large;
            drawn.frames(state);
            for (const std::string& complaint :
                 Page(drawn.seen(), {state, facts, {}, "", &plain}).complaints(timing_rules(), timing_tables))
                ADD_FAILURE() << row.kernel << " T=" << row.tile << " " << row.n << ": " << complaint;
        }
    }
}

}  // namespace
}  // namespace tilescope::app
