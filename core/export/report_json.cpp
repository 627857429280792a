#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/export/report.h"
#include "core/export/report_faults.h"

namespace tilescope::report {
namespace {

using Json = nlohmann::ordered_json;
using analysis::Sums;

Json global_sums(const Sums& s) {
    return {{"requests", s.requests},
            {"lanes", s.lanes},
            {"bytes", s.bytes},
            {"sectors", s.sectors},
            {"ideal_sectors", s.ideal_sectors}};
}

Json shared_sums(const Sums& s) {
    return {{"requests", s.requests},
            {"lanes", s.lanes},
            {"wavefronts", s.wavefronts},
            {"ideal_wavefronts", s.ideal_wavefronts},
            {"bank_conflicts", s.bank_conflicts()}};
}

Json site_sums(const trace::Trace& trace, const analysis::SiteSums& row) {
    const ptx::Site& site = trace.sites[row.site];
    const Sums& s = row.sums;
    const bool known = row.array < trace.arrays.size();
    return {{"id", site.id},
            {"line", site.line},
            {"space", name_of(known ? trace.arrays[row.array].space : site.space)},
            {"op", site.kind == ptx::SiteKind::Load ? "load" : "store"},
            {"array", known ? Json(trace.arrays[row.array].name) : Json(nullptr)},
            {"bytes", site.bytes},
            {"requests", s.requests},
            {"lanes", s.lanes},
            {"sectors", s.sectors},
            {"ideal_sectors", s.ideal_sectors},
            {"wavefronts", s.wavefronts},
            {"ideal_wavefronts", s.ideal_wavefronts},
            {"bank_conflicts", s.bank_conflicts()}};
}

Json wrong_elements(const trace::Meta& meta) {
    Json elements = Json::array();
    for (const uint64_t e : meta.result.wrong_elements)
        elements.push_back(Json::array({e / meta.n, e % meta.n}));
    return elements;
}

Json triple(const Dim3& d) { return Json::array({d.x, d.y, d.z}); }

}  // namespace

bool whole(const trace::Trace& trace) { return trace.meta.complete && trace::dropped_of(trace) == 0; }

std::string why_not_whole(const trace::Trace& trace) {
    if (!trace.meta.complete && !trace.meta.incomplete_reason.empty()) return trace.meta.incomplete_reason;
    if (const uint64_t dropped = trace::dropped_of(trace); dropped > 0)
        return fmt::format("{} did not fit the buffer and {} dropped",
                           dropped == 1 ? "1 request" : fmt::format("{} requests", dropped),
                           dropped == 1 ? "was" : "were");
    return trace.meta.complete ? "" : "the recording ended early";
}

std::string to_json(const trace::Trace& trace, const analysis::Summary& summary,
                    const analysis::Hazards* hazards) {
    const trace::Meta& meta = trace.meta;
    Json json;
    json["schema"] = "tilescope.report/1";
    json["kernel"] = meta.kernel;
    json["backend"] = meta.backend == trace::Backend::Cpu ? "cpu" : "gpu";
    json["device"] = meta.device;
    if (!meta.driver.empty()) json["driver"] = meta.driver;
    if (const trace::Price& price = meta.price; price.launches > 0) {
        json["price"] = {{"plain_ms", price.plain_ms},
                         {"recorded_ms", price.recorded_ms},
                         {"launches", price.launches},
                         {"device_bytes", price.device_bytes}};
    }
    json["launch"] = {{"m", meta.m},
                      {"k", meta.k},
                      {"n", meta.n},
                      {"tile", meta.tile},
                      {"grid", triple(meta.grid)},
                      {"block", triple(meta.block)}};
    json["blocks"] = {{"recorded", trace.blocks.size()}, {"total", meta.grid.count()}};
    json["complete"] = whole(trace);
    if (!whole(trace)) json["incomplete_reason"] = why_not_whole(trace);
    json["dropped"] = trace::dropped_of(trace);
    json["steps"] = trace.steps();
    json["phases"] = summary.phases;
    json["barriers_per_block"] = summary.barriers_per_block;
    json["sites"] = Json::array();
    for (const analysis::SiteSums& site : summary.sites) json["sites"].push_back(site_sums(trace, site));
    json["totals"] = {{"global_load", global_sums(summary.global_load)},
                      {"global_store", global_sums(summary.global_store)},
                      {"shared_load", shared_sums(summary.shared_load)},
                      {"shared_store", shared_sums(summary.shared_store)}};
    json["reuse"] = Json::object();
    for (const analysis::Reuse& r : summary.reuse)
        json["reuse"][r.array] = {
            {"elements", r.elements}, {"loads", r.loads}, {"min", r.min}, {"max", r.max}};
    json["result"] = {{"verified", meta.result.verified}};
    const double error = meta.result.max_abs_error;
    json["result"]["max_abs_error"] = std::isfinite(error) ? Json(error) : Json(nullptr);
    if (!meta.result.checked) json["result"]["checked"] = false;
    if (meta.result.wrong > 0) {
        json["result"]["wrong"] = meta.result.wrong;
        json["result"]["wrong_elements"] = wrong_elements(meta);
    }
    if (hazards) {
        json["faults"] = faults_to_json(trace, *hazards);
        if (!hazards->not_judged.empty()) json["faults_not_judged"] = hazards->not_judged;
    }
    // Names come from files: text that is not UTF-8 must not throw.
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace tilescope::report
