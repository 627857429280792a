// tilescope levels KERNEL|FILE.tsc: what of the accesses of a launch is found in L1, what L2 is asked for,
// what comes from DRAM, and by which resource the launch is bound.
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/work.h"
#include "core/analysis/product.h"
#include "core/base/json_fields.h"
#include "core/base/text.h"
#include "core/base/words.h"
#include "core/export/text_table.h"
#include "kernels/run/levels.h"
#include "kernels/textbook/device_levels.h"
#include "kernels/textbook/devices.h"
#include "kernels/textbook/known_launch.h"

namespace tilescope::cli {

namespace {

using Json = nlohmann::ordered_json;

struct LevelsOptions {
    std::string subject, compiler, device = kernels::kLevelDevice;
    std::optional<uint32_t> m, k, n, tile;
    bool json = false;
};

struct Answer {
    std::string kernel, compiler, title;
    std::optional<kernels::Shape> shape;
    Dim3 block;
    kernels::LevelDevice on;
    kernels::Levels levels;
    kernels::KnownLaunch known;
};

// What ships of the launch.
void look_up(Answer& answer) {
    if (answer.shape)
        answer.known = kernels::known_launch(answer.on.device, answer.kernel, answer.compiler, *answer.shape);
}

template <class Subject>
void work_out(Answer& answer, const Subject& subject) {
    kernels::LevelOptions how;
    how.registers = answer.known.registers;
    how.range = true;
    std::atomic<bool> stop{false};
    how.stop = &stop;
    const StopOnSignal guard(stop);
    auto made = kernels::levels_of(subject, answer.on, how);
    if (stop) refuse(kFailure, "stopped; no levels are shown");
    answer.levels = need(std::move(made));
}

Answer of_kernel(const LevelsOptions& options, const kernels::LevelDevice& on) {
    const PtxChoice choice{"", options.compiler};
    check_ptx(choice);
    const uint32_t n = options.n.value_or(options.m.value_or(1024));
    const kernels::Shape shape{options.m.value_or(n), options.k.value_or(n), n,
                               kernels::tile_width(options.subject, options.tile)};
    auto plan = need(kernels::plan(options.subject, shape), kWrongCall);
    use_ptx(choice, plan);
    // Which elements a product touches does not depend on their values.
    for (Array& array : plan.launch.arrays) array.contents = {};
    plan.check = {};
    Answer answer{options.subject,
                  options.compiler.empty() ? "clang" : options.compiler,
                  fmt::format("{} {} x {} x {}{}", options.subject, shape.m, shape.k, shape.n,
                              kernels::tile_text(shape.tile, ", T = ")),
                  shape,
                  plan.launch.block,
                  on,
                  {},
                  {}};
    look_up(answer);
    work_out<kernels::Plan>(answer, plan);
    return answer;
}

Answer of_file(const LevelsOptions& options, const kernels::LevelDevice& on) {
    const bool sized = options.m || options.k || options.n || options.tile;
    if (sized || !options.compiler.empty())
        refuse(kWrongCall,
               "{} is for kernels that ship, and '{}' is a recording, which has its own; leave it out",
               sized ? "a size" : "--compiler", options.subject);
    const trace::Trace trace = need(open_recording(options.subject)).trace;
    const auto product = analysis::product_of(trace);
    Answer answer{
        trace.meta.kernel, "", analysis::title_of(trace, product), {}, trace.launch.block, on, {}, {}};
    if (product) {
        answer.shape = kernels::shape_of(*product);
        answer.compiler = kernels::compiler_of(trace, answer.shape->tile);
    }
    look_up(answer);
    work_out<trace::Trace>(answer, trace);
    return answer;
}

uint64_t whole(double value) { return static_cast<uint64_t>(std::llround(value)); }

std::string as_json(const Answer& answer) {
    const kernels::Levels& l = answer.levels;
    Json launch = object_of("kernel", answer.kernel, "compiler",
                            answer.compiler.empty() ? Json() : Json(answer.compiler));
    if (answer.shape)
        add_fields(launch, "m", answer.shape->m, "k", answer.shape->k, "n", answer.shape->n, "tile",
                   answer.shape->tile);
    add_fields(launch, "grid", Json{l.grid.x, l.grid.y, l.grid.z}, "block",
               Json{answer.block.x, answer.block.y, answer.block.z}, "blocks_per_sm", l.resident, "registers",
               answer.known.registers ? Json(answer.known.registers) : Json(), "l1_bytes", l.l1_bytes,
               "placement", l.as_recorded ? "recorded" : "dealt", "simulated_blocks", l.simulated,
               "simulated_part", l.part);
    Json modelled =
        object_of("requested_bytes", l.sums.requested_bytes, "l1_sectors", l.sums.l1_sectors, "l1_hit_rate",
                  l.l1_hit_rate, "l2_read_sectors", whole(l.misses.l2_read_sectors), "dram_read_bytes",
                  whole(l.misses.dram_read_bytes));
    if (l.dram_range)
        add_fields(modelled, "dram_read_bytes_range",
                   Json{whole(l.dram_range->first), whole(l.dram_range->second)});
    Json measured;
    if (const auto* row = answer.known.counted)  // no counter counts the bytes that lanes ask for
        measured = object_of("requested_bytes", Json(), "l1_sectors", whole(row->l1_sectors), "l1_hit_rate",
                             row->l1_sectors > 0 ? row->l1_hits / row->l1_sectors : 0, "l2_read_sectors",
                             whole(row->l2_read_sectors), "dram_read_bytes", whole(row->dram_read_bytes));
    Json bounds = Json::array();
    for (const kernels::LevelBound& bound : l.bounds)
        bounds.push_back(object_of("resource", bound.resource, "ms", bound.ms));
    return document("tilescope.levels/1", "device", answer.on.device.id, "launch", launch, "modelled",
                    modelled, "measured", measured, "bounds", bounds, "bound_by",
                    l.bounds[l.bound_by].resource, "measured_ms",
                    answer.known.measured_ms ? Json(*answer.known.measured_ms) : Json());
}

std::string as_text(const Answer& answer) {
    const kernels::Levels& l = answer.levels;
    std::string text = fmt::format("{}{} on {}: {} of {} threads, {} an SM\n", one_line(answer.title),
                                   answer.compiler.empty() ? "" : fmt::format(", PTX by {}", answer.compiler),
                                   answer.on.device.name, counted(l.blocks, "block"), answer.block.count(),
                                   counted(l.resident, "block"));
    text +=
        "modelled: bytes and sectors that threads ask for are exact, what is found where is not measured\n\n";
    report::TextTable table(1, {"level", "asked for", "sectors", "found there"});
    const auto found = [](double missed, double asked) {
        return asked > 0 ? fmt::format("{:.2f} %", (1 - missed / asked) * 100) : std::string("-");
    };
    const double asked = static_cast<double>(l.sums.l1_sectors), at_l2 = l.misses.l2_read_sectors;
    const double dram = l.misses.dram_read_bytes;
    table.add({"threads", bytes_text(l.sums.requested_bytes), "", ""});
    table.add({"L1", bytes_text(l.sums.l1_sectors * 32), grouped(l.sums.l1_sectors),
               found(l.misses.l1_misses, asked)});
    table.add({"L2", bytes_text(whole(at_l2 * 32)), grouped(whole(at_l2)), found(dram / 32, at_l2)});
    table.add({"DRAM", bytes_text(whole(dram)), grouped(whole(dram / 32)), ""});
    text += table.text();
    if (l.dram_range)
        text += fmt::format(
            "DRAM gives {} if blocks stay in step, and {} if they drift apart: either may happen\n",
            bytes_text(whole(l.dram_range->first)), bytes_text(whole(l.dram_range->second)));
    if (const auto* row = answer.known.counted)
        text += fmt::format("measured: L1 found {:.2f} % of {} sectors, L2 was asked for {}, DRAM gave {}\n",
                            row->l1_sectors > 0 ? row->l1_hits / row->l1_sectors * 100 : 0.0,
                            grouped(whole(row->l1_sectors)), grouped(whole(row->l2_read_sectors)),
                            bytes_text(whole(row->dram_read_bytes)));
    text += "\n";
    report::TextTable bounds(1, {"resource", "at least ms", "worked out from"});
    for (const kernels::LevelBound& bound : l.bounds)
        bounds.add({bound.resource, fmt::format("{:.6g}", bound.ms), bound.of});
    text += bounds.text();
    const double worth_saying = 0.01 * l.bounds[l.bound_by].ms;
    if (l.launch_ms > worth_saying)
        text += fmt::format("{:.3g} ms of each: what two events around a launch show beside its work\n",
                            l.launch_ms);
    if (l.idle_ms > worth_saying)
        text += fmt::format(
            "{:.3g} ms of data_pipe, lsu, issue and fp32 each: all blocks of an SM wait for data{}{}\n",
            l.idle_ms, l.sending_ms > worth_saying ? ", or send what they store" : "",
            l.in_step ? "; few warps, which stay in step" : "");
    text += fmt::format("\nbound by {}", l.bounds[l.bound_by].resource);
    if (answer.known.measured_ms)
        text += fmt::format("; measured {:.6g} ms, {:.2f} times that", *answer.known.measured_ms,
                            *answer.known.measured_ms / l.bounds[l.bound_by].ms);
    return text + "\n";
}

int run_levels(const LevelsOptions& options) {
    const auto device = need(kernels::device_named(options.device), kWrongCall);
    const analysis::LevelSpec* const levels = kernels::find_levels(device.id);
    if (!levels)
        refuse(kWrongCall, "nothing is known of the caches of {}; choose h100 or h200", name_of(device));
    const kernels::LevelDevice on{device, *levels};
    const Answer answer = kernels::find(options.subject) ? of_kernel(options, on) : of_file(options, on);
    return print(options.json ? as_json(answer) : as_text(answer));
}

}  // namespace

Command levels_command() {
    return command(
        "levels", "What is found in L1, L2 and DRAM, and what bounds the launch", run_levels,
        [](auto& o) {
            return OptionTable{
                {"SUBJECT", &o.subject,
                 "A kernel that 'tilescope kernels' lists, or a recording (.tsc, or a name)",
                 "KERNEL|RECORDING", kRequired},
                {"--m", &o.m, "Rows of M and P (n)"},
                {"--k", &o.k, "Columns of M, rows of N (n)"},
                {"--n", &o.n, "Columns of N and P (1024)"},
                {"--tile", &o.tile, "Tile width T: 2, 4, 8, 16 or 32 (16)"},
                {"--compiler", &o.compiler, "clang, whose PTX ships, or nvrtc (clang)", "clang|nvrtc"},
                {"--device", &o.device, "A device whose caches are known (h200)", "DEVICE"},
                {"--json", &o.json, "Print JSON (schema tilescope.levels/1)"},
            };
        });
}

}  // namespace tilescope::cli
