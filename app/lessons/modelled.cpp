// What stops without a recording stand on: the numbers and words of a figure with its parameters, and those
// of a case of the Limits screen. What braces hold, what conditions compare and what is right at a question
// comes from here. No number is typed in: a figure works out its own, and a case's are the sums of
// core/limits/occupancy.h and presets.h.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "app/lessons/questions.h"
#include "core/base/words.h"
#include "core/limits/presets.h"
#include "kernels/textbook/devices.h"

namespace tilescope::lessons {
namespace {

constexpr int kMostDecimals = 2;

uint64_t power_of_ten(int decimals) {
    uint64_t power = 1;
    for (; decimals > 0; --decimals) power *= 10;
    return power;
}

// With two decimals, unless it is whole.
NamedNumber rounded(std::string name, double value, std::string noun) {
    const auto hundredths =
        static_cast<uint64_t>(std::llround(value * static_cast<double>(power_of_ten(kMostDecimals))));
    const bool whole = hundredths % power_of_ten(kMostDecimals) == 0;
    return {std::move(name), whole ? hundredths / power_of_ten(kMostDecimals) : hundredths, std::move(noun),
            whole ? 0 : kMostDecimals};
}

// A figure of the case, as the command line calls it; "grid_" before what the sum of a block has too. Its
// unit is the noun that is counted, "blocks", or stands as it is, "GB/s".
NamedNumber of_figure(const analysis::Figure& figure) {
    const bool of_grid = figure.key == "blocks" || figure.key == "threads";
    std::string noun = figure.unit;
    if (noun.ends_with('s') && noun.find('/') == std::string::npos) noun.pop_back();
    return rounded((of_grid ? "grid_" : "") + figure.key, figure.value, noun);
}

Modelled of_case(const analysis::LimitPreset& preset, size_t block) {
    Modelled made;
    const auto answer = analysis::answer(preset, kernels::devices());
    if (!answer || block >= answer->blocks.size()) return made;
    const analysis::DeviceSpec& device = answer->device;
    const analysis::SmLimits& sm = device.sm;
    const analysis::BlockAnswer& here = answer->blocks[block];
    const analysis::Occupancy &sum = here.lecture, &hardware = here.hardware;
    const auto add = [&](const char* name, uint64_t value, const char* noun = "") {
        made.numbers.push_back({name, value, noun});
    };
    add("threads", here.use.threads, "thread");
    add("registers", here.use.registers);
    add("shared_bytes", here.use.shared, "byte");
    add("warps", sum.warps_per_block, "warp");
    add("block_registers", sum.registers_per_block, "register");
    add("sms", device.sms);
    add("thread_slots", sm.threads_per_sm);
    add("block_slots", sm.blocks_per_sm);
    add("sm_registers", sm.registers_per_sm);
    add("sm_shared_bytes", sm.shared_per_sm);
    add("most_block_threads", sm.threads_per_block);
    add("device_registers", uint64_t{sm.registers_per_sm} * device.sms, "register");
    add("sm_blocks", sum.blocks, "block");
    add("sm_threads", sum.threads, "thread");
    add("sm_warps", sum.warps, "warp");
    add("hardware_blocks", hardware.blocks, "block");
    add("hardware_threads", hardware.threads, "thread");
    constexpr const char* kBy[analysis::kLimits] = {"by_threads", "by_block_slots", "by_registers",
                                                    "by_shared"};
    constexpr const char* kLimited[analysis::kLimits] = {"limited_by_threads", "limited_by_block_slots",
                                                         "limited_by_registers", "limited_by_shared"};
    for (size_t at = 0; at < analysis::kLimits; ++at) {
        if (sum.fit[at] != analysis::kUnlimited) add(kBy[at], sum.fit[at], "block");
        add(kLimited[at], sum.limits[at] ? 1 : 0);
    }
    made.numbers.push_back(rounded("share_percent", 100 * sum.share, "%"));
    const uint32_t first = answer->blocks.front().lecture.threads;
    if (first > 0 && sum.threads <= first)
        made.numbers.push_back(rounded("lost_percent", 100.0 * (first - sum.threads) / first, "%"));
    if (device.memory_gbs > 0) made.numbers.push_back(rounded("memory_gbs", device.memory_gbs, "GB/s"));
    if (device.peak_gflops > 0) made.numbers.push_back(rounded("peak_gflops", device.peak_gflops, "GFLOP/s"));
    for (const analysis::Figure& figure : answer->figures)
        if (figure.value >= 0) made.numbers.push_back(of_figure(figure));
    made.words = {{"device", name_of(device)},
                  {"block", here.label},
                  {"limit", analysis::limits_in_words(sum)},
                  {"question", analysis::question_of(preset, here.use)},
                  {"sum", here.answer}};
    return made;
}

}  // namespace

const NamedNumber* find_number(const Modelled& of, std::string_view name) {
    const auto found = std::ranges::find(of.numbers, name, &NamedNumber::name);
    return found == of.numbers.end() ? nullptr : &*found;
}

std::string number_text(uint64_t value, int decimals) {
    const uint64_t power = power_of_ten(decimals);
    std::string text = grouped(value / power);
    if (value % power == 0) return text;
    text += fmt::format(".{:0{}}", value % power, decimals);
    return text.substr(0, text.find_last_not_of('0') + 1);
}

Modelled modelled(const Figure& figure, std::span<const int> set) {
    Modelled made{figure.numbers(set), {}};
    for (size_t at = 0; at < figure.parameters.size(); ++at) {
        const FigureParameter& parameter = figure.parameters[at];
        const std::string name(parameter.name);
        made.numbers.push_back({name, static_cast<uint64_t>(set[at]), std::string(parameter.noun)});
        if (!parameter.words.empty()) made.words.emplace_back(name, value_words(parameter, set[at]));
    }
    return made;
}

Modelled modelled(const LessonStop& stop) {
    if (const Figure* const figure = find_figure(stop.figure)) return modelled(*figure, stop.set);
    const analysis::LimitPreset* const preset = analysis::find_limit_preset(stop.limits);
    return preset == nullptr ? Modelled{} : of_case(*preset, stop.which);
}

bool is_modelled(const LessonStop& stop) { return !stop.figure.empty() || !stop.limits.empty(); }

std::optional<double> number_at(const Modelled& of, std::string_view name) {
    const NamedNumber* const number = find_number(of, name);
    if (number == nullptr) return std::nullopt;
    return static_cast<double>(number->value) / static_cast<double>(power_of_ten(number->decimals));
}

std::string filled(const Modelled& of, std::string_view name) {
    const auto word = std::ranges::find(of.words, name, &std::pair<std::string, std::string>::first);
    if (word != of.words.end()) return word->second;
    const NamedNumber* const number = find_number(of, name);
    return number == nullptr ? "" : number_text(number->value, number->decimals);
}

std::string names_of(const Modelled& of) {
    std::string names;
    for (const NamedNumber& number : of.numbers) names += (names.empty() ? "" : ", ") + number.name;
    return names;
}

std::string said(const Modelled& of, const std::string& say) {
    return filled_in(say, {}, [&](std::string_view name) { return filled(of, name); });
}

Standing standing_on(const LessonStop& stop) {
    const Modelled of = modelled(stop);
    Standing here;
    say(here, stop, [&](const std::string& sentence) { return said(of, sentence); });
    return here;
}

}  // namespace tilescope::lessons
