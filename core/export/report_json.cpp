#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/cluster.h"
#include "core/base/json_fields.h"
#include "core/base/words.h"
#include "core/export/report.h"

namespace tilescope::report {
namespace {

using Json = nlohmann::ordered_json;
using analysis::Sums;

Json global_sums(const Sums& s) {
    const auto efficiency = s.efficiency();
    return object_of("requests", s.requests, "lanes", s.lanes, "bytes", s.bytes, "sectors", s.sectors,
                     "ideal_sectors", s.ideal_sectors, "efficiency",
                     efficiency ? Json(*efficiency) : Json(nullptr));
}

Json shared_sums(const Sums& s) {
    return object_of("requests", s.requests, "lanes", s.lanes, "wavefronts", s.wavefronts, "ideal_wavefronts",
                     s.ideal_wavefronts, "bank_conflicts", s.bank_conflicts());
}

Json site_sums(const trace::Trace& trace, const analysis::SiteSums& row) {
    const ptx::Site& site = trace.sites[row.site];
    const Sums& s = row.sums;
    const bool known = row.array < trace.launch.arrays.size();
    Json json = object_of("id", site.id, "line", site.line, "space",
                          name_of(known ? trace.launch.arrays[row.array].space : site.space), "op",
                          name_of(site.kind), "array",
                          known ? Json(trace.launch.arrays[row.array].name) : Json(nullptr), "bytes",
                          site.box == ptx::Box::None               ? Json(site.bytes)
                          : s.lanes == 0 || s.bytes % s.lanes != 0 ? Json(nullptr)
                                                                   : Json(s.bytes / s.lanes),
                          "requests", s.requests, "lanes", s.lanes, "sectors", s.sectors, "ideal_sectors",
                          s.ideal_sectors, "wavefronts", s.wavefronts, "ideal_wavefronts", s.ideal_wavefronts,
                          "bank_conflicts", s.bank_conflicts());
    if (analysis::has_addresses(site.space, site.kind))
        add_fields(json, "addresses", s.addresses, "turns", s.turns);
    if (site.past_registers()) json["copy"] = true;
    if (site.box != ptx::Box::None) add_fields(json, "bulk_bytes", s.bytes);
    return json;
}

// What there is in every report, and what else the kernel does.
bool is_told(analysis::StepKind kind, const Sums& sums) {
    return kind <= analysis::StepKind::SharedStore || sums.requests > 0;
}

Json sums_of_kind(const analysis::StepKindRow& row, const Sums& sums) {
    Json json = analysis::has_sectors(row.space) ? global_sums(sums)
                : analysis::has_wavefronts(row.space)
                    ? shared_sums(sums)
                    : object_of("requests", sums.requests, "lanes", sums.lanes);
    if (analysis::has_addresses(row.space, row.done))
        add_fields(json, "addresses", sums.addresses, "turns", sums.turns);
    return json;
}

Json wrong_elements(const trace::Trace& trace) {
    Json elements = Json::array();
    const trace::Verification& result = trace.meta.result;
    for (const uint64_t e : result.wrong_elements)
        elements.push_back(index_to_json(trace.launch.arrays[result.array], e));
    return elements;
}

Json to_json(const Argument& argument, const Launch& launch) {
    Json json = {{"name", argument.name}, {"type", name_of(argument.type)}};
    if (!argument.object.empty()) {
        json["bytes"] = argument.object.size();
    } else if (argument.array < 0) {
        json["value"] = value_text({argument.type, argument.value}, 17);
    } else {
        json["array"] = launch.arrays[static_cast<size_t>(argument.array)].name;
        json["offset"] = argument.offset;
    }
    return json;
}

Json triple(const Dim3& d) { return Json::array({d.x, d.y, d.z}); }

}  // namespace

Json index_to_json(const Array& array, uint64_t element) {
    const Position at = position_of(array, static_cast<int64_t>(element));
    if (array.rank < 2) return Json::array({at.col});
    return array.rank == 2 ? Json::array({at.row, at.col}) : Json::array({at.slice, at.row, at.col});
}

Json sizes_to_json(const analysis::Recording& recording) {
    Json sizes = Json::object();
    if (const auto& product = recording.product)
        for (const auto& [name, size] : product->sizes_by_name()) sizes[name] = size;
    return sizes;
}

Json launch_to_json(const analysis::Recording& recording) {
    const Launch& launch = recording.trace->launch;
    Json json = sizes_to_json(recording);
    const bool product = !json.empty();
    if (!product) json["entry"] = launch.entry;
    add_fields(json, "grid", triple(launch.grid), "block", triple(launch.block));
    if (has_clusters(launch)) json["cluster"] = triple(launch.cluster);
    if (product) return json;
    json["dynamic_shared"] = launch.dynamic_shared;
    json["arguments"] = Json::array();
    for (const Argument& argument : launch.arguments) json["arguments"].push_back(to_json(argument, launch));
    return json;
}

bool whole(const trace::Trace& trace) { return trace.meta.complete && trace::dropped_of(trace) == 0; }

std::string why_not_whole(const trace::Trace& trace) {
    if (!trace.meta.complete && !trace.meta.incomplete_reason.empty()) return trace.meta.incomplete_reason;
    if (const uint64_t dropped = trace::dropped_of(trace); dropped > 0)
        return fmt::format("{} did not fit the buffer and {} dropped", counted(dropped, "request"),
                           dropped == 1 ? "was" : "were");
    return trace.meta.complete ? "" : "the recording ended early";
}

std::string to_json(const analysis::Recording& recording, const analysis::Summary& summary,
                    const analysis::Hazards* hazards, uint64_t held,
                    const analysis::Improvements* improvements) {
    const trace::Trace& trace = *recording.trace;
    const trace::Meta& meta = trace.meta;
    Json json = object_of("schema", "tilescope.report/1", "kernel", meta.kernel, "backend",
                          meta.backend == trace::Backend::Cpu ? "cpu" : "gpu", "device", meta.device);
    if (!meta.driver.empty()) json["driver"] = meta.driver;
    if (const trace::Price& price = meta.price; price.launches > 0) {
        json["price"] = object_of("plain_ms", price.plain_ms, "recorded_ms", price.recorded_ms, "launches",
                                  price.launches, "device_bytes", price.device_bytes);
    }
    json["launch"] = launch_to_json(recording);
    json["blocks"] = {{"recorded", trace.blocks.size()}, {"total", trace.launch.grid.count()}};
    json["complete"] = whole(trace);
    if (!whole(trace)) json["incomplete_reason"] = why_not_whole(trace);
    add_fields(json, "dropped", trace::dropped_of(trace), "steps", trace.steps(), "phases", summary.phases,
               "barriers_per_block", summary.barriers_per_block, "sites", Json::array());
    for (const analysis::SiteSums& site : summary.sites) json["sites"].push_back(site_sums(trace, site));
    json["totals"] = Json::object();
    for (const analysis::StepKindRow& row : analysis::kMemoryKindRows)
        if (const Sums& sums = summary[row.kind]; is_told(row.kind, sums))
            json["totals"][row.key] = sums_of_kind(row, sums);
    const Sums all = summary.total();
    json["idle_lanes"] = object_of("lanes", all.idle_lanes(), "of", all.all_lanes());
    if (summary.exchanges > 0) json["exchanges"] = summary.exchanges;  // no requests
    if (summary.signals > 0) json["signals"] = summary.signals;
    if (summary.signal_waits > 0) json["signal_waits"] = summary.signal_waits;
    json["reuse"] = Json::object();
    for (const analysis::Reuse& r : summary.reuse)
        json["reuse"][r.array] =
            object_of("elements", r.elements, "loads", r.loads, "min", r.min, "max", r.max);
    json["result"] = {{"verified", meta.result.verified}};
    const double error = meta.result.max_abs_error;
    json["result"]["max_abs_error"] = std::isfinite(error) ? Json(error) : Json(nullptr);
    if (!meta.result.checked) json["result"]["checked"] = false;
    if (meta.result.wrong > 0) {
        json["result"]["wrong"] = meta.result.wrong;
        json["result"]["wrong_elements"] = wrong_elements(trace);
    }
    if (hazards) {
        json["faults"] = faults_to_json(trace, *hazards);
        if (!hazards->not_judged.empty()) json["faults_not_judged"] = hazards->not_judged;
    }
    if (improvements) {
        json["remedies"] = remedies_to_json(trace, improvements->arrays);
        json["swaps"] = swaps_to_json(trace, improvements->swaps);
    }
    if (held > 0) json["held_blocks"] = held;
    // Names come from files: text that is not UTF-8 must not throw.
    return json_text(json, 2) + "\n";
}

}  // namespace tilescope::report
