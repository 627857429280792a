#include <algorithm>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/text.h"
#include "core/export/report.h"
#include "core/export/text_table.h"

namespace tilescope::report {
namespace {

using Json = nlohmann::ordered_json;
using analysis::Hazard;
using analysis::HazardExample;
using analysis::HazardKind;
using analysis::HazardSide;

constexpr size_t kNamedElements = 8;  // of the result, in text

Json side_to_json(const trace::Trace& trace, const HazardSide& side) {
    const Dim3& d = trace.launch.block;
    const trace::Block& b = trace.blocks[side.block];
    Json json = {{"block", {b.x, b.y, b.z}},
                 {"thread", {side.thread % d.x, side.thread / d.x % d.y, side.thread / d.x / d.y}}};
    if (side.site == analysis::kNoSite) return json;
    const ptx::Site& site = trace.sites[side.site];
    json["op"] = name_of(site.kind);
    json["line"] = site.line;
    json["step"] = side.step + 1;
    json["phase"] = side.phase == analysis::kAfter ? Json(nullptr) : Json(side.phase);
    return json;
}

bool of_cells(HazardKind kind) {
    return kind != HazardKind::BarrierDivergence && kind != HazardKind::RedundantBarrier &&
           kind != HazardKind::AbsentLanes && kind != HazardKind::OneAddress;
}

Json example_to_json(const trace::Trace& trace, const Hazard& hazard, const HazardExample& e) {
    Json json;
    if (of_cells(hazard.kind) && e.array < trace.launch.arrays.size())
        json["cell"] = index_to_json(trace.launch.arrays[e.array], e.element);
    else if (of_cells(hazard.kind))
        json["address"] = e.element;
    if (hazard.kind != HazardKind::GridRace) json["interval"] = e.interval;
    json["a"] = side_to_json(trace, e.a);
    const bool other =
        hazard.kind != HazardKind::Uninitialised && hazard.kind != HazardKind::RedundantBarrier;
    if (other) json["b"] = side_to_json(trace, e.b);
    return json;
}

std::string heading(const trace::Trace& trace, const Hazard& h) {
    std::string out = h.severity == analysis::Severity::Fault
                          ? name_of(h.kind)
                          : fmt::format("{}: {}", name_of(h.severity), name_of(h.kind));
    if (of_cells(h.kind))
        out += " on " + (h.array < trace.launch.arrays.size() ? name_in({}, trace.launch.arrays[h.array])
                                                              : std::string("addresses outside the arrays"));
    out += h.other_line != 0 && h.other_line != h.line
               ? fmt::format(", lines {} and {}", h.line, h.other_line)
               : fmt::format(", line {}", h.line);
    const std::string blocks = spaced(h.blocks, "block");
    if (h.kind == HazardKind::BarrierDivergence)
        return out + fmt::format(": {} in {}", spaced(h.count, "thread"), blocks);
    if (h.kind == HazardKind::RedundantBarrier && h.passed == h.of)
        return out + fmt::format(": {} of {} in {}", spaced(h.count), spaced(h.of, "passage"), blocks);
    if (h.kind == HazardKind::RedundantBarrier)
        return out + fmt::format(
                         ": {} of the {} judged in {}; the last passage of each block, {} in all, "
                         "guards a next trip that did not come and is not judged",
                         spaced(h.count), spaced(h.of, "passage"), blocks, spaced(h.passed - h.of));
    if (h.between_blocks) return out + ": " + spaced(h.count, "element");
    if (h.kind == HazardKind::Unfilled)
        return out + fmt::format(": {} in {}", spaced(h.count, "read"), blocks);
    return out + fmt::format(": {} in {}{}", spaced(h.count, "time"), blocks,
                             h.same_warp ? ", both threads in one warp" : "");
}

std::string wrong_text(const trace::Trace& trace) {
    const trace::Verification& result = trace.meta.result;
    if (result.wrong == 0 || result.array == trace::kNoArray) return "";
    const Array& array = trace.launch.arrays[result.array];
    std::string out = fmt::format("  wrong elements of {}: {}", name_in({}, array), spaced(result.wrong));
    const size_t shown = std::min(result.wrong_elements.size(), kNamedElements);
    for (size_t i = 0; i < shown; ++i)
        out += (i == 0 ? ": " : ", ") + element_name(array, static_cast<int64_t>(result.wrong_elements[i]));
    return out + (shown < result.wrong && shown > 0 ? ", ...\n" : "\n");
}

}  // namespace

nlohmann::ordered_json faults_to_json(const trace::Trace& trace, const analysis::Hazards& hazards) {
    Json faults = Json::array();
    for (const Hazard& h : hazards.found) {
        Json json = {{"kind", key_of(h.kind)}};
        if (of_cells(h.kind)) {
            json["array"] = h.array < trace.launch.arrays.size() ? Json(trace.launch.arrays[h.array].name)
                                                                 : Json(nullptr);
            json["space"] = name_of(h.space);
        }
        json["line"] = h.line;
        if (h.other_line != 0) json["other_line"] = h.other_line;
        if (h.kind == HazardKind::Race) json["same_warp"] = h.same_warp;
        json["count"] = h.count;
        if (h.kind == HazardKind::RedundantBarrier) json["of"] = h.of;
        json["blocks"] = h.blocks;
        json["sentence"] = h.sentence;
        json["examples"] = Json::array();
        for (const HazardExample& e : h.examples) json["examples"].push_back(example_to_json(trace, h, e));
        json["severity"] = key_of(h.severity);
        faults.push_back(std::move(json));
    }
    return faults;
}

std::string faults_to_text(const trace::Trace& trace, const analysis::Hazards& hazards) {
    const std::string wrong = wrong_text(trace);
    std::string out = "faults\n";
    if (!hazards.any() && wrong.empty() && whole(trace)) out = "faults: none found\n";
    if (!hazards.any() && wrong.empty() && !whole(trace))
        out += fmt::format("  none found in what was recorded, which is not whole: {}\n",
                           one_sentence(why_not_whole(trace)));
    out += wrong;
    for (const Hazard& h : hazards.found) out += fmt::format("  {}\n    {}\n", heading(trace, h), h.sentence);
    if (!hazards.not_judged.empty()) out += fmt::format("  {}\n", hazards.not_judged);
    return out;
}

}  // namespace tilescope::report
