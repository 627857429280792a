// tilescope levels KERNEL|FILE.tsc: what of the accesses of a launch is found in L1, what L2 is asked for,
// what comes from DRAM, and by which resource the launch is bound.
#include <algorithm>

#include <fmt/format.h>

#include "app/cli/arguments.h"
#include "app/cli/work.h"
#include "core/base/words.h"
#include "core/export/bounds.h"
#include "kernels/run/levels.h"
#include "kernels/textbook/devices.h"
#include "kernels/textbook/known_launch.h"

namespace tilescope::cli {

namespace {

constexpr uint64_t kMostRecorded = 20'000'000;  // requests, some seconds

struct LevelsOptions {
    std::string subject, compiler, device = kernels::kLevelDevice;
    std::optional<uint32_t> m, k, n, tile;
    bool json = false;

    OptionTable table() {
        return {
            {"SUBJECT", &subject, "A kernel that 'tilescope kernels' lists, or a recording (.tsc, or a name)",
             "KERNEL|RECORDING", kRequired},
            {"--m", &m, "Rows of M and P (n)"},
            {"--k", &k, "Columns of M, rows of N (n)"},
            {"--n", &n, "Columns of N and P (1024)"},
            {"--tile", &tile, "Tile width T: 2, 4, 8, 16 or 32 (16)"},
            {"--compiler", &compiler, "clang, whose PTX ships, or nvrtc (clang)", "clang|nvrtc"},
            {"--device", &device, "A device whose caches are known (h200)", "DEVICE"},
            {"--json", &json, "Print JSON (schema tilescope.levels/1)"},
        };
    }
};

// Looks up what ships of the launch, and models the rest. shape: of a product.
template <class Subject>
void work_out(report::LevelsOfLaunch& launch, const std::optional<kernels::Shape>& shape,
              const analysis::LevelDevice& on, const Subject& subject) {
    kernels::KnownLaunch known;
    if (shape) {
        launch.sizes = {shape->m, shape->k, shape->n, shape->tile};
        known = kernels::known_launch(on.device, launch.kernel, launch.compiler, *shape);
    }
    launch.device = on.device;
    launch.registers = known.registers;
    launch.measured_ms = known.measured_ms;
    if (const auto* row = known.counted)
        launch.counted = {row->l1_sectors, row->l1_hit_rate(), row->l2_read_sectors, row->dram_read_bytes};
    analysis::LevelOptions how;
    how.registers = known.registers;
    how.range = true;
    std::atomic<bool> stop{false};
    how.stop = &stop;
    const StopOnSignal guard(stop);
    auto made = kernels::levels_of(subject, on, how);
    if (stop) refuse(kFailure, "stopped; no levels are shown");
    launch.levels = need(std::move(made));
}

report::LevelsOfLaunch of_kernel(const LevelsOptions& options, const analysis::LevelDevice& on) {
    const PtxChoice choice{"", options.compiler};
    check_ptx(choice);
    const uint32_t n = options.n.value_or(options.m.value_or(1024));
    const kernels::Shape shape{options.m.value_or(n), options.k.value_or(n), n,
                               kernels::tile_width(options.subject, options.tile)};
    auto plan = need(kernels::plan(options.subject, shape), kWrongCall);
    const uint64_t blocks = std::max<uint64_t>(1, plan.launch.grid.count());
    const uint64_t recorded =
        kernels::requests_about(*plan.info, shape) / blocks * std::min<uint64_t>(blocks, 8);
    if (recorded > kMostRecorded)
        refuse(kFailure,
               "the blocks that are recorded for the levels take about {} requests, and at most {} are; "
               "choose a smaller k",
               grouped(recorded), grouped(kMostRecorded));
    use_ptx(choice, plan);
    // Which elements a product touches does not depend on their values.
    for (Array& array : plan.launch.arrays) array.contents = {};
    plan.check = {};
    report::LevelsOfLaunch launch;
    launch.kernel = options.subject;
    launch.title = fmt::format("{} {} × {} × {}{}", options.subject, shape.m, shape.k, shape.n,
                               kernels::tile_text(shape.tile, ", T = "));
    launch.compiler = options.compiler.empty() ? "clang" : options.compiler;
    launch.block = plan.launch.block;
    work_out<kernels::Plan>(launch, shape, on, plan);
    return launch;
}

report::LevelsOfLaunch of_file(const LevelsOptions& options, const analysis::LevelDevice& on) {
    const bool sized = options.m || options.k || options.n || options.tile;
    if (sized || !options.compiler.empty())
        refuse(kWrongCall,
               "{} is for kernels that ship, and '{}' is a recording, which has its own; leave it out",
               sized ? "a size" : "--compiler", options.subject);
    const analysis::Recording recording = opened(options.subject);
    const trace::Trace& trace = *recording.trace;
    std::optional<kernels::Shape> shape;
    if (recording.product) shape = kernels::shape_of(*recording.product);
    report::LevelsOfLaunch launch;
    launch.kernel = trace.meta.kernel;
    launch.title = analysis::title_of(recording);
    if (shape) launch.compiler = kernels::compiler_of(trace, shape->tile);
    launch.block = trace.launch.block;
    work_out<trace::Trace>(launch, shape, on, trace);
    return launch;
}

int run_levels(const LevelsOptions& options) {
    const auto device = need(kernels::device_named(options.device), kWrongCall);
    const analysis::LevelSpec* const levels = kernels::find_levels(device.id);
    if (!levels)
        refuse(kWrongCall, "nothing is known of the caches of {}; choose {}", name_of(device),
               kernels::level_devices_text());
    const analysis::LevelDevice on{device, *levels};
    const auto launch = kernels::find(options.subject) ? of_kernel(options, on) : of_file(options, on);
    return print(options.json ? to_json(launch) : to_text(launch));
}

}  // namespace

CliCommand levels_command() {
    return command("levels", "What is found in L1, L2 and DRAM, and what bounds the launch", run_levels);
}

}  // namespace tilescope::cli
