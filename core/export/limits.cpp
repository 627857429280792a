#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_fields.h"
#include "core/export/bounds.h"
#include "core/export/text_table.h"

namespace tilescope::report {
namespace {

using Json = nlohmann::ordered_json;
using analysis::BlockAnswer;
using analysis::Occupancy;

Json to_json(const Occupancy& o) {
    Json fit = Json::object(), limits = Json::array();
    for (size_t i = 0; i < o.fit.size(); ++i) {
        const char* const name = name_of(static_cast<analysis::Limit>(i));
        fit[name] = o.fit[i] == analysis::kUnlimited ? Json() : Json(o.fit[i]);
        if (o.limits[i] && o.refused.empty()) limits.push_back(name);
    }
    return object_of("blocks", o.blocks, "threads", o.threads, "warps", o.warps, "share", o.share,
                     "blocks_by", fit, "limited_by", limits, "warps_per_block", o.warps_per_block,
                     "registers_per_block", o.registers_per_block, "shared_per_block", o.shared_per_block,
                     "refused", o.refused);
}

Json to_json(const analysis::SmLimits& sm) {
    return object_of("compute_capability", sm.capability(), "threads_per_block", sm.threads_per_block,
                     "threads_per_sm", sm.threads_per_sm, "blocks_per_sm", sm.blocks_per_sm,
                     "registers_per_sm", sm.registers_per_sm, "registers_per_thread", sm.registers_per_thread,
                     "shared_per_sm", sm.shared_per_sm, "shared_per_block", sm.shared_per_block_optin,
                     "source", sm.source);
}

Json curve_json(const analysis::SmLimits& sm, const analysis::BlockUse& use, analysis::Parameter parameter) {
    Json points = Json::array();
    const auto lecture = occupancy_curve(sm, use, parameter, analysis::Sum::Lecture);
    const auto hardware = occupancy_curve(sm, use, parameter, analysis::Sum::Hardware);
    for (size_t i = 0; i < lecture.size(); ++i)
        points.push_back(object_of("value", lecture[i].value, "lecture_threads", lecture[i].threads,
                                   "hardware_warps", hardware[i].warps));
    return points;
}

}  // namespace

std::string to_json(const LimitsCase& c, bool curves) {
    const analysis::DeviceSpec& device = c.answer.device;
    Json blocks = Json::array(), figures = Json::array();
    for (const BlockAnswer& b : c.answer.blocks) {
        Json row = object_of("label", b.label, "threads", b.use.threads, "registers", b.use.registers,
                             "shared", b.use.shared, "lecture", to_json(b.lecture), "hardware",
                             to_json(b.hardware), "answer", b.answer);
        using analysis::Parameter;
        for (const auto& [name, parameter] : {std::pair{"threads", Parameter::Threads},
                                              {"registers", Parameter::Registers},
                                              {"shared", Parameter::Shared}})
            if (curves) row["curves"][name] = curve_json(device.sm, b.use, parameter);
        blocks.push_back(std::move(row));
    }
    for (const analysis::Figure& f : c.answer.figures)
        figures.push_back(object_of("key", f.key, "name", f.name, "value", f.value, "unit", f.unit));
    const Json of_device =
        object_of("id", device.id, "name", device.name, "chip", device.chip, "sms", device.sms, "memory_gbs",
                  device.memory_gbs, "peak_gflops", device.peak_gflops, "source", device.source, "changed",
                  c.answer.change, "sm", to_json(device.sm));
    return document("tilescope.limits/1", "case", c.id, "title", c.title, "device", of_device, "blocks",
                    blocks, "figures", figures);
}

std::string to_text(const LimitsCase& c) {
    const analysis::DeviceSpec& device = c.answer.device;
    const analysis::SmLimits& sm = device.sm;
    std::string text = fmt::format(
        "{}\n{} ({}, compute capability {}){}: an SM has {} thread slots, {} block slots, {} registers, {} "
        "bytes of shared memory\n",
        c.title, device.name, device.chip, sm.capability(),
        c.answer.change.empty() ? "" : ", changed by the case to " + c.answer.change, sm.threads_per_sm,
        sm.blocks_per_sm, sm.registers_per_sm, sm.shared_per_sm);
    std::string said;  // blocks that the case compares have one answer
    for (const BlockAnswer& b : c.answer.blocks)
        if (std::exchange(said, b.answer) != b.answer) text += b.answer + "\n";
    TextTable table(2, {"block", "sum", "blocks", "threads", "warps", "in use", "registers a block",
                        "bytes a block", "limited by"});
    for (const BlockAnswer& b : c.answer.blocks) {
        for (const Occupancy* o : {&b.lecture, &b.hardware}) {
            std::string limited = limits_in_words(*o);
            if (limited.starts_with("limited by ")) limited = limited.substr(11);
            table.add({b.label, name_of(o->sum), std::to_string(o->blocks), std::to_string(o->threads),
                       std::to_string(o->warps), share_text(o->share), std::to_string(o->registers_per_block),
                       std::to_string(o->shared_per_block), limited});
        }
    }
    if (!c.answer.blocks.empty()) text += "\n" + table.text();
    if (!c.answer.figures.empty()) text += "\n";
    for (const analysis::Figure& f : c.answer.figures)
        text += fmt::format("{}: {:.6g}{}{}\n", f.name, f.value, f.unit.empty() ? "" : " ", f.unit);
    return text;
}

std::string limit_cases_json(const std::vector<analysis::DeviceSpec>& devices) {
    Json cases = Json::array(), list = Json::array();
    for (const analysis::LimitPreset& preset : analysis::limit_presets())
        cases.push_back(object_of("id", preset.id, "title", preset.title, "device", preset.device));
    for (const analysis::DeviceSpec& d : devices)
        list.push_back(object_of("id", d.id, "name", d.name, "compute_capability", d.sm.capability()));
    return document("tilescope.limits/1", "cases", cases, "devices", list);
}

std::string limit_cases_text(const std::vector<analysis::DeviceSpec>& devices) {
    TextTable cases(2, {"case", "what it asks"});
    for (const analysis::LimitPreset& preset : analysis::limit_presets())
        cases.add({preset.id, preset.title});
    TextTable list(4, {"device", "name", "chip", "compute capability", "SMs", "GB/s", "GFLOP/s"});
    for (const analysis::DeviceSpec& d : devices)
        list.add({d.id, d.name, d.chip, d.sm.capability(), std::to_string(d.sms),
                  fmt::format("{:.1f}", d.memory_gbs), fmt::format("{:.1f}", d.peak_gflops)});
    return cases.text() + "\n" + list.text();
}

}  // namespace tilescope::report
