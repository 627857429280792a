#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_fields.h"
#include "core/base/text.h"
#include "core/base/words.h"
#include "core/export/bounds.h"
#include "core/export/text_table.h"

namespace tilescope::report {
namespace {

using Json = nlohmann::ordered_json;

uint64_t rounded(double value) { return static_cast<uint64_t>(std::llround(value)); }

}  // namespace

std::string to_json(const LevelsOfLaunch& of) {
    const analysis::Levels& l = of.levels;
    Json launch =
        object_of("kernel", of.kernel, "compiler", of.compiler.empty() ? Json() : Json(of.compiler));
    if (of.sizes)
        add_fields(launch, "m", (*of.sizes)[0], "k", (*of.sizes)[1], "n", (*of.sizes)[2], "tile",
                   (*of.sizes)[3]);
    add_fields(launch, "grid", Json{l.launch.grid.x, l.launch.grid.y, l.launch.grid.z}, "block",
               Json{of.block.x, of.block.y, of.block.z}, "blocks_per_sm", l.launch.resident, "registers",
               of.registers ? Json(of.registers) : Json(), "l1_bytes", l.launch.l1_bytes, "placement",
               l.launch.as_recorded ? "recorded" : "dealt", "simulated_blocks", l.model.simulated,
               "simulated_part", l.model.part);
    Json modelled = object_of("requested_bytes", l.asked.all.requested_bytes, "l1_sectors",
                              l.asked.all.l1_sectors, "l1_hit_rate", l.model.l1_hit_rate, "l2_read_sectors",
                              rounded(l.model.misses.l2_read_sectors), "dram_read_bytes",
                              rounded(l.model.misses.dram_read_bytes));
    if (l.model.dram_range)
        add_fields(modelled, "dram_read_bytes_range",
                   Json{rounded(l.model.dram_range->first), rounded(l.model.dram_range->second)});
    Json measured;
    if (const auto& row = of.counted)  // no counter counts the bytes that lanes ask for
        measured = object_of("requested_bytes", Json(), "l1_sectors", rounded(row->l1_sectors), "l1_hit_rate",
                             row->l1_hit_rate, "l2_read_sectors", rounded(row->l2_read_sectors),
                             "dram_read_bytes", rounded(row->dram_read_bytes));
    Json bounds = Json::array();
    for (const analysis::LevelBound& bound : l.bounds.all)
        bounds.push_back(object_of("resource", bound.resource, "ms", bound.ms));
    return document("tilescope.levels/1", "device", of.device.id, "launch", launch, "modelled", modelled,
                    "measured", measured, "bounds", bounds, "bound_by", l.bounds.longest().resource,
                    "measured_ms", of.measured_ms ? Json(*of.measured_ms) : Json());
}

std::string to_text(const LevelsOfLaunch& of) {
    const analysis::Levels& l = of.levels;
    std::string text =
        fmt::format("{}{} on {}: {} of {} threads, {} an SM\n", one_line(of.title),
                    of.compiler.empty() ? "" : fmt::format(", PTX by {}", of.compiler), of.device.name,
                    counted(l.launch.blocks, "block"), of.block.count(), counted(l.launch.resident, "block"));
    text +=
        "modelled: bytes and sectors that threads ask for are exact, what is found where is not measured\n\n";
    TextTable table(1, {"level", "asked for", "sectors", "found there"});
    using analysis::LevelStage;
    const analysis::LevelTraffic traffic = traffic_of(l);
    const auto add = [&](const char* level, LevelStage asked, std::optional<LevelStage> missed) {
        std::string found;
        if (missed && traffic.of(asked) > 0)
            found = share_text(traffic.found_between(asked, *missed));
        else if (missed)
            found = "-";
        table.add(
            {level, bytes_text(rounded(traffic.of(asked))), grouped(rounded(traffic.sectors(asked))), found});
    };
    table.add({"threads", bytes_text(l.asked.all.requested_bytes), "", ""});
    add("L1", LevelStage::Requests, LevelStage::PastL1);
    add("L2", LevelStage::FromL2, LevelStage::FromDram);
    add("DRAM", LevelStage::FromDram, std::nullopt);
    text += table.text();
    if (l.model.dram_range)
        text += fmt::format(
            "DRAM gives {} if blocks stay in step, and {} if they drift apart: either may happen\n",
            bytes_text(rounded(l.model.dram_range->first)), bytes_text(rounded(l.model.dram_range->second)));
    if (const auto& row = of.counted)
        text +=
            fmt::format("measured: L1 found {:.2f} % of {} sectors, L2 was asked for {}, DRAM gave {}\n",
                        row->l1_hit_rate * 100, grouped(rounded(row->l1_sectors)),
                        grouped(rounded(row->l2_read_sectors)), bytes_text(rounded(row->dram_read_bytes)));
    text += "\n";
    TextTable bounds(1, {"resource", "at least ms", "worked out from"});
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
    if (of.measured_ms)
        text += fmt::format("; measured {:.6g} ms, {:.2f} times that", *of.measured_ms,
                            *of.measured_ms / l.bounds.longest().ms);
    return text + "\n";
}

}  // namespace tilescope::report
