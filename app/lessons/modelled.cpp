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
Modelled::Number rounded(std::string name, double value) {
    const auto hundredths =
        static_cast<uint64_t>(std::llround(value * static_cast<double>(power_of_ten(kMostDecimals))));
    const bool whole = hundredths % power_of_ten(kMostDecimals) == 0;
    return {std::move(name), whole ? hundredths / power_of_ten(kMostDecimals) : hundredths,
            whole ? 0 : kMostDecimals};
}

// A figure of the case, as the command line calls it; "grid_" before what the sum of a block has too.
std::string name_of_figure(const analysis::Figure& figure) {
    const bool of_grid = figure.key == "blocks" || figure.key == "threads";
    return (of_grid ? "grid_" : "") + figure.key;
}

Modelled of_case(const analysis::LimitPreset& preset, size_t block) {
    Modelled made;
    const auto answer = analysis::answer(preset, kernels::devices());
    if (!answer || block >= answer->blocks.size()) return made;
    const analysis::DeviceSpec& device = answer->device;
    const analysis::SmLimits& sm = device.sm;
    const analysis::BlockAnswer& here = answer->blocks[block];
    const analysis::Occupancy &sum = here.lecture, &hardware = here.hardware;
    const auto add = [&](const char* name, uint64_t value) { made.numbers.push_back({name, value}); };
    add("threads", here.use.threads);
    add("registers", here.use.registers);
    add("shared_bytes", here.use.shared);
    add("warps", sum.warps_per_block);
    add("block_registers", sum.registers_per_block);
    add("sms", device.sms);
    add("thread_slots", sm.threads_per_sm);
    add("block_slots", sm.blocks_per_sm);
    add("sm_registers", sm.registers_per_sm);
    add("sm_shared_bytes", sm.shared_per_sm);
    add("most_block_threads", sm.threads_per_block);
    add("device_registers", uint64_t{sm.registers_per_sm} * device.sms);
    add("sm_blocks", sum.blocks);
    add("sm_threads", sum.threads);
    add("sm_warps", sum.warps);
    add("hardware_blocks", hardware.blocks);
    add("hardware_threads", hardware.threads);
    constexpr const char* kBy[analysis::kLimits] = {"by_threads", "by_block_slots", "by_registers",
                                                    "by_shared"};
    constexpr const char* kLimited[analysis::kLimits] = {"limited_by_threads", "limited_by_block_slots",
                                                         "limited_by_registers", "limited_by_shared"};
    for (size_t at = 0; at < analysis::kLimits; ++at) {
        if (sum.fit[at] != analysis::kUnlimited) add(kBy[at], sum.fit[at]);
        add(kLimited[at], sum.limits[at] ? 1 : 0);
    }
    made.numbers.push_back(rounded("share_percent", 100 * sum.share));
    const uint32_t first = answer->blocks.front().lecture.threads;
    if (first > 0 && sum.threads <= first)
        made.numbers.push_back(rounded("lost_percent", 100.0 * (first - sum.threads) / first));
    if (device.memory_gbs > 0) made.numbers.push_back(rounded("memory_gbs", device.memory_gbs));
    if (device.peak_gflops > 0) made.numbers.push_back(rounded("peak_gflops", device.peak_gflops));
    for (const analysis::Figure& figure : answer->figures)
        if (figure.value >= 0) made.numbers.push_back(rounded(name_of_figure(figure), figure.value));
    made.words = {{"device", name_of(device)},
                  {"block", here.label},
                  {"limit", analysis::limits_in_words(sum)},
                  {"question", analysis::question_of(preset, here.use)},
                  {"sum", here.answer}};
    return made;
}

const Modelled::Number* find_number(const Modelled& of, std::string_view name) {
    const auto found = std::ranges::find(of.numbers, name, &Modelled::Number::name);
    return found == of.numbers.end() ? nullptr : &*found;
}

}  // namespace

std::string number_text(uint64_t value, int decimals) {
    const uint64_t power = power_of_ten(decimals);
    std::string text = grouped(value / power);
    if (value % power == 0) return text;
    text += fmt::format(".{:0{}}", value % power, decimals);
    return text.substr(0, text.find_last_not_of('0') + 1);
}

Modelled modelled(const Figure& figure, std::span<const int> set) {
    Modelled made;
    for (const NamedNumber& number : figure.numbers(set))
        made.numbers.push_back({std::string(number.name), number.value, number.decimals});
    for (size_t at = 0; at < figure.parameters.size(); ++at) {
        const Parameter& parameter = figure.parameters[at];
        const std::string name(parameter.name);
        made.numbers.push_back({name, static_cast<uint64_t>(set[at])});
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
    const Modelled::Number* const number = find_number(of, name);
    if (number == nullptr) return std::nullopt;
    return static_cast<double>(number->value) / static_cast<double>(power_of_ten(number->decimals));
}

std::string filled(const Modelled& of, std::string_view name) {
    const auto word = std::ranges::find(of.words, name, &std::pair<std::string, std::string>::first);
    if (word != of.words.end()) return word->second;
    const Modelled::Number* const number = find_number(of, name);
    return number == nullptr ? "" : number_text(number->value, number->decimals);
}

std::string names_of(const Modelled& of) {
    std::string names;
    for (const Modelled::Number& number : of.numbers) names += (names.empty() ? "" : ", ") + number.name;
    return names;
}

std::string said(const Modelled& of, const std::string& say) {
    std::string out;
    for (size_t at = 0; at < say.size();) {
        const size_t open = say.find('{', at), close = say.find('}', open);
        if (open == std::string::npos || close == std::string::npos) return out + say.substr(at);
        const std::string name = say.substr(open + 1, close - open - 1), text = filled(of, name);
        out += say.substr(at, open - at) + (text.empty() ? "{" + name + "}" : text);
        at = close + 1;
    }
    return out;
}

Standing standing_on(const LessonStop& stop) {
    const Modelled of = modelled(stop);
    Standing here;
    here.words = said(of, stop.say);
    if (!stop.ask) return here;
    here.asks = said(of, stop.ask->text);
    here.why = said(of, stop.ask->why);
    for (const Question::Choice& choice : stop.ask->choices) here.choices.push_back(said(of, choice.say));
    return here;
}

}  // namespace tilescope::lessons
