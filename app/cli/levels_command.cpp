// tilescope levels KERNEL|FILE.tsc: what of the accesses of a launch is found in L1, what L2 is asked for,
// what comes from DRAM, and by which resource the launch is bound.
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/cli/arguments.h"
#include "app/cli/work.h"
#include "core/base/json_fields.h"
#include "core/base/text.h"
#include "core/base/words.h"
#include "core/export/text_table.h"
#include "kernels/run/levels.h"
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
    analysis::LevelDevice on;
    analysis::Levels levels;
    kernels::KnownLaunch known;
};

// What ships of the launch.
void look_up(Answer& answer) {
    if (answer.shape)
        answer.known = kernels::known_launch(answer.on.device, answer.kernel, answer.compiler, *answer.shape);
}

template <class Subject>
void work_out(Answer& answer, const Subject& subject) {
    analysis::LevelOptions how;
    how.registers = answer.known.registers;
    how.range = true;
    std::atomic<bool> stop{false};
    how.stop = &stop;
    const StopOnSignal guard(stop);
    auto made = kernels::levels_of(subject, answer.on, how);
    if (stop) refuse(kFailure, "stopped; no levels are shown");
    answer.levels = need(std::move(made));
}

Answer of_kernel(const LevelsOptions& options, const analysis::LevelDevice& on) {
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

Answer of_file(const LevelsOptions& options, const analysis::LevelDevice& on) {
    const bool sized = options.m || options.k || options.n || options.tile;
    if (sized || !options.compiler.empty())
        refuse(kWrongCall,
               "{} is for kernels that ship, and '{}' is a recording, which has its own; leave it out",
               sized ? "a size" : "--compiler", options.subject);
    const analysis::Recording recording = opened(options.subject);
    const trace::Trace& trace = *recording.trace;
    Answer answer{trace.meta.kernel, "", analysis::title_of(recording), {}, trace.launch.block, on, {}, {}};
    if (recording.product) {
        answer.shape = kernels::shape_of(*recording.product);
        answer.compiler = kernels::compiler_of(trace, answer.shape->tile);
    }
    look_up(answer);
    work_out<trace::Trace>(answer, trace);
    return answer;
}

uint64_t whole(double value) { return static_cast<uint64_t>(std::llround(value)); }

std::string as_json(const Answer& answer) {
    const analysis::Levels& l = answer.levels;
    Json launch = object_of("kernel", answer.kernel, "compiler",
                            answer.compiler.empty() ? Json() : Json(answer.compiler));
    if (answer.shape)
        add_fields(launch, "m", answer.shape->m, "k", answer.shape->k, "n", answer.shape->n, "tile",
                   answer.shape->tile);
    add_fields(launch, "grid", Json{l.launch.grid.x, l.launch.grid.y, l.launch.grid.z}, "block",
               Json{answer.block.x, answer.block.y, answer.block.z}, "blocks_per_sm", l.launch.resident,
               "registers", answer.known.registers ? Json(answer.known.registers) : Json(), "l1_bytes",
               l.launch.l1_bytes, "placement", l.launch.as_recorded ? "recorded" : "dealt",
               "simulated_blocks", l.model.simulated, "simulated_part", l.model.part);
    Json modelled = object_of("requested_bytes", l.asked.all.requested_bytes, "l1_sectors",
                              l.asked.all.l1_sectors, "l1_hit_rate", l.model.l1_hit_rate, "l2_read_sectors",
                              whole(l.model.misses.l2_read_sectors), "dram_read_bytes",
                              whole(l.model.misses.dram_read_bytes));
    if (l.model.dram_range)
        add_fields(modelled, "dram_read_bytes_range",
                   Json{whole(l.model.dram_range->first), whole(l.model.dram_range->second)});
    Json measured;
    if (const auto* row = answer.known.counted)  // no counter counts the bytes that lanes ask for
        measured = object_of("requested_bytes", Json(), "l1_sectors", whole(row->l1_sectors), "l1_hit_rate",
                             row->l1_hit_rate(), "l2_read_sectors", whole(row->l2_read_sectors),
                             "dram_read_bytes", whole(row->dram_read_bytes));
    Json bounds = Json::array();
    for (const analysis::LevelBound& bound : l.bounds.all)
        bounds.push_back(object_of("resource", bound.resource, "ms", bound.ms));
    return document("tilescope.levels/1", "device", answer.on.device.id, "launch", launch, "modelled",
                    modelled, "measured", measured, "bounds", bounds, "bound_by", l.bounds.longest().resource,
                    "measured_ms", answer.known.measured_ms ? Json(*answer.known.measured_ms) : Json());
}

std::string as_text(const Answer& answer) {
    const analysis::Levels& l = answer.levels;
    std::string text = fmt::format("{}{} on {}: {} of {} threads, {} an SM\n", one_line(answer.title),
                                   answer.compiler.empty() ? "" : fmt::format(", PTX by {}", answer.compiler),
                                   answer.on.device.name, counted(l.launch.blocks, "block"),
                                   answer.block.count(), counted(l.launch.resident, "block"));
    text +=
        "modelled: bytes and sectors that threads ask for are exact, what is found where is not measured\n\n";
    report::TextTable table(1, {"level", "asked for", "sectors", "found there"});
    using analysis::LevelStage;
    const analysis::LevelTraffic traffic = traffic_of(l);
    const auto add = [&](const char* level, LevelStage asked, std::optional<LevelStage> missed) {
        std::string found;
        if (missed && traffic.of(asked) > 0)
            found = fmt::format("{:.2f} %", traffic.found_between(asked, *missed) * 100);
        else if (missed)
            found = "-";
        table.add(
            {level, bytes_text(whole(traffic.of(asked))), grouped(whole(traffic.sectors(asked))), found});
    };
    table.add({"threads", bytes_text(l.asked.all.requested_bytes), "", ""});
    add("L1", LevelStage::Requests, LevelStage::PastL1);
    add("L2", LevelStage::FromL2, LevelStage::FromDram);
    add("DRAM", LevelStage::FromDram, std::nullopt);
    text += table.text();
    if (l.model.dram_range)
        text += fmt::format(
            "DRAM gives {} if blocks stay in step, and {} if they drift apart: either may happen\n",
            bytes_text(whole(l.model.dram_range->first)), bytes_text(whole(l.model.dram_range->second)));
    if (const auto* row = answer.known.counted)
        text += fmt::format("measured: L1 found {:.2f} % of {} sectors, L2 was asked for {}, DRAM gave {}\n",
                            row->l1_hit_rate() * 100, grouped(whole(row->l1_sectors)),
                            grouped(whole(row->l2_read_sectors)), bytes_text(whole(row->dram_read_bytes)));
    text += "\n";
    report::TextTable bounds(1, {"resource", "at least ms", "worked out from"});
    for (const analysis::LevelBound& bound : l.bounds.all)
        bounds.add({bound.resource, fmt::format("{:.6g}", bound.ms), bound.of});
    text += bounds.text();
    const double worth_saying = 0.01 * l.bounds.longest().ms;
    if (l.bounds.launch_ms > worth_saying)
        text += fmt::format("{:.3g} ms of each: what two events around a launch show beside its work\n",
                            l.bounds.launch_ms);
    if (l.bounds.idle_ms > worth_saying)
        text += fmt::format(
            "{:.3g} ms of data_pipe, lsu, issue and fp32 each: all blocks of an SM wait for data{}{}\n",
            l.bounds.idle_ms, l.bounds.sending_ms > worth_saying ? ", or send what they store" : "",
            l.launch.in_step ? "; few warps, which stay in step" : "");
    text += fmt::format("\nbound by {}", l.bounds.longest().resource);
    if (answer.known.measured_ms)
        text += fmt::format("; measured {:.6g} ms, {:.2f} times that", *answer.known.measured_ms,
                            *answer.known.measured_ms / l.bounds.longest().ms);
    return text + "\n";
}

int run_levels(const LevelsOptions& options) {
    const auto device = need(kernels::device_named(options.device), kWrongCall);
    const analysis::LevelSpec* const levels = kernels::find_levels(device.id);
    if (!levels)
        refuse(kWrongCall, "nothing is known of the caches of {}; choose {}", name_of(device),
               kernels::level_devices_text());
    const analysis::LevelDevice on{device, *levels};
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
