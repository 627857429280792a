#include "app/limits/model.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/look/grid_at_work.h"
#include "core/base/words.h"
#include "core/levels/levels.h"
#include "kernels/textbook/devices.h"
#include "kernels/textbook/known_launch.h"

namespace tilescope::limits {

using analysis::Parameter, analysis::SmLimits, analysis::Sum;
namespace {

// In the order of Parameter.
constexpr struct {
    const char* title;
    uint32_t analysis::BlockUse::*value;
} kParameters[] = {{"threads per block", &analysis::BlockUse::threads},
                   {"registers per thread", &analysis::BlockUse::registers},
                   {"shared bytes per block", &analysis::BlockUse::shared}};

}  // namespace

void take_preset(LimitsChoice& chosen, std::string_view id, size_t block) {
    const analysis::LimitPreset* preset = analysis::find_limit_preset(id);
    if (preset == nullptr) return;
    chosen.preset = preset->id;
    chosen.launch.clear();
    chosen.device = preset->device;
    chosen.use = preset->blocks[std::min(block, preset->blocks.size() - 1)].use;
    chosen.parameter = preset->parameter;
}

void take_device(LimitsChoice& chosen, std::string_view id) {
    chosen.device = id;
    chosen.preset.clear();
}

void take_launch(LimitsChoice& chosen, const analysis::Recording& recording) {
    const trace::Trace& trace = *recording.trace;
    const analysis::DeviceSpec* const own = kernels::find_driver_name(trace.meta.device);
    take_device(chosen, own != nullptr ? own->id : kernels::kLevelDevice);
    chosen.launch = analysis::kernel_name(recording);
    chosen.parameter = Parameter::Registers;
    const auto known = std::ranges::find(kernels::devices(), chosen.device, &analysis::DeviceSpec::id);
    if (known != kernels::devices().end()) chosen.use = look::block_use(recording, *known);
}

void change_parameter(LimitsChoice& chosen, const SmLimits& sm, Parameter parameter, int steps) {
    constexpr int64_t kSharedStep = 512;  // bytes
    const auto move = [&](int64_t step, int64_t least, int64_t most) {
        uint32_t& value = chosen.use.*kParameters[static_cast<size_t>(parameter)].value;
        const int64_t wanted =
            (value + (steps < 0 && value % step != 0 ? step : 0)) / step * step + steps * step;
        value = static_cast<uint32_t>(std::clamp(wanted, least, std::max(least, most)));
    };
    chosen.parameter = parameter;
    if (parameter == Parameter::Threads)
        move(sm.warp_size, sm.warp_size, sm.threads_per_block);
    else if (parameter == Parameter::Registers)
        move(1, 0, sm.registers_per_thread);
    else
        move(kSharedStep, 0, sm.shared_per_block_optin);
}

analysis::DeviceSpec limits_device(const LimitsChoice& chosen,
                                   const std::vector<analysis::DeviceSpec>& devices) {
    const auto found = std::ranges::find(devices, chosen.device, &analysis::DeviceSpec::id);
    if (found == devices.end()) return devices.empty() ? analysis::DeviceSpec{} : devices.front();
    analysis::DeviceSpec device = *found;
    if (const auto* preset = analysis::find_limit_preset(chosen.preset))
        device.sm = analysis::changed(device.sm, preset->change);
    return device;
}

std::string change_words(const LimitsChoice& chosen, const std::vector<analysis::DeviceSpec>& devices) {
    const auto* preset = analysis::find_limit_preset(chosen.preset);
    const auto found = std::ranges::find(devices, chosen.device, &analysis::DeviceSpec::id);
    if (preset == nullptr || found == devices.end()) return "";
    return analysis::change_in_words(found->sm, preset->change);
}

CaseWords words(const LimitsChoice& chosen, const std::vector<analysis::DeviceSpec>& devices) {
    const auto* preset = analysis::find_limit_preset(chosen.preset);
    const analysis::DeviceSpec device = limits_device(chosen, devices);
    const std::string changed = change_words(chosen, devices);
    return {preset != nullptr ? question_of(*preset, chosen.use)
            : chosen.launch.empty()
                ? fmt::format("How many blocks does an SM of {} hold?", name_of(device))
                : fmt::format("How many blocks of {} does an SM of {} hold?", chosen.launch, name_of(device)),
            answer_in_words(preset, device, chosen.use, devices),
            fmt::format("{}, compute capability {}{}; sums of an SM's slots, nothing is measured",
                        name_of(device), device.sm.capability(), changed.empty() ? "" : ", with " + changed)};
}

std::vector<Given> given_by(const analysis::DeviceSpec& device) {
    const SmLimits& sm = device.sm;
    std::vector<Given> rows{{grouped(sm.threads_per_sm), "thread slots"},
                            {grouped(sm.blocks_per_sm), "block slots"},
                            {grouped(sm.registers_per_sm), "registers"},
                            {grouped(sm.shared_per_sm), "bytes of shared memory"},
                            {grouped(sm.threads_per_block), "threads per block at most"}};
    if (device.sms > 0) rows.push_back({grouped(device.sms), "such SMs on the device"});
    return rows;
}

std::vector<Given> taken_by(const analysis::BlockUse& use) {
    std::vector<Given> rows{{"1", "block slot"}, {grouped(use.threads), "threads"}};
    if (use.registers > 0)
        rows.push_back(
            {grouped(use.registers), use.registers == 1 ? "register per thread" : "registers per thread"});
    if (use.shared > 0) rows.push_back({grouped(use.shared), "bytes of shared memory"});
    return rows;
}

SumColumn sum_column(const SmLimits& sm, const analysis::BlockUse& use, Sum sum) {
    const analysis::Occupancy o = analysis::occupancy(sm, use, sum);
    SumColumn column;
    column.title = sum == Sum::Lecture ? "The lecture's sum" : "The hardware's sum";
    column.refused = !o.refused.empty();
    column.blocks = grouped(o.blocks);
    column.threads = fmt::format("{} of {}", grouped(o.threads), grouped(o.most_threads));
    column.warps = fmt::format("{} of {}", grouped(o.warps), grouped(o.most_warps));
    column.share = share_text(o.share);
    column.words = analysis::limits_in_words(o);
    const uint64_t used[] = {uint64_t{o.blocks} * use.threads, o.blocks,
                             uint64_t{o.blocks} * o.registers_per_block,
                             uint64_t{o.blocks} * o.shared_per_block};
    const uint64_t most[] = {sm.threads_per_sm, sm.blocks_per_sm, sm.registers_per_sm, sm.shared_per_sm};
    for (size_t i = 0; i < analysis::kLimits; ++i) {
        column.bars.push_back({analysis::name_of(static_cast<analysis::Limit>(i)),
                               fmt::format("{} of {}", grouped(used[i]), grouped(most[i])),
                               o.fit[i] == analysis::kUnlimited ? "any" : counted(o.fit[i], "block"),
                               most[i] == 0 ? 0 : static_cast<double>(used[i]) / static_cast<double>(most[i]),
                               o.limits[i]});
    }
    return column;
}

std::string value_words(Parameter parameter, uint32_t value) {
    if (parameter == Parameter::Threads) return grouped(value) + " threads per block";
    if (parameter == Parameter::Shared) return grouped(value) + " bytes of shared memory per block";
    return value == 0 ? "registers not counted" : counted(value, "register") + " per thread";
}

LimitCurve limit_curve(const SmLimits& sm, const analysis::BlockUse& use, Parameter parameter) {
    const auto& [title, value] = kParameters[static_cast<size_t>(parameter)];
    LimitCurve curve;
    curve.x_title = title;
    curve.lecture = analysis::occupancy_curve(sm, use, parameter, Sum::Lecture);
    curve.hardware = analysis::occupancy_curve(sm, use, parameter, Sum::Hardware);
    curve.today = use.*value;
    for (const analysis::Cliff& cliff : analysis::cliffs(curve.hardware)) {
        if (cliff.after.value <= curve.today) continue;
        curve.cliff = fmt::format("next cliff at {}: {} threads become {}", grouped(cliff.after.value),
                                  grouped(cliff.before.threads), grouped(cliff.after.threads));
        break;
    }
    const double last = curve.hardware.empty() ? 1 : curve.hardware.back().value;
    curve.x = {0, last, false};
    curve.y = {0, std::max(1.0, static_cast<double>(sm.threads_per_sm) * 1.05), false};
    curve.x_ticks = draw::even_ticks(0, last, 5);
    for (uint32_t quarter = 0; quarter <= 4; ++quarter) {
        const uint32_t threads = sm.threads_per_sm * quarter / 4;
        curve.y_ticks.push_back({static_cast<double>(threads), grouped(threads)});
    }
    return curve;
}

}  // namespace tilescope::limits
