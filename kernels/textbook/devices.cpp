#include "kernels/textbook/devices.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/base/words.h"

namespace tilescope::kernels {

// Path and bytes; made by cmake/embed.cmake.
std::vector<std::pair<std::string_view, std::string_view>> embedded_devices();

namespace {

constexpr std::string_view kLimits = "assets/devices/limits.json";

std::vector<analysis::SmLimits> read_limits() {
    for (const auto& [path, text] : embedded_devices()) {
        if (path != kLimits) continue;
        if (auto limits = analysis::sm_limits_from_json(text, path)) return std::move(*limits);
    }
    return {};
}

std::vector<analysis::DeviceSpec> read_devices() {
    std::vector<analysis::DeviceSpec> list;
    for (const auto& [path, text] : embedded_devices()) {
        if (path == kLimits) continue;
        // A test reads every file that ships; a damaged one is left out here.
        if (auto device = analysis::device_from_json(text, path, sm_limits()))
            list.push_back(std::move(*device));
    }
    std::stable_sort(list.begin(), list.end(), [](const auto& a, const auto& b) {
        return std::pair(a.sm.major, a.sm.minor) < std::pair(b.sm.major, b.sm.minor);
    });
    return list;
}

std::string lower(std::string_view text) {
    std::string out(text);
    for (char& c : out)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return out;
}

}  // namespace

const std::vector<analysis::SmLimits>& sm_limits() {
    static const std::vector<analysis::SmLimits> limits = read_limits();
    return limits;
}

const std::vector<analysis::DeviceSpec>& devices() {
    static const std::vector<analysis::DeviceSpec> list = read_devices();
    return list;
}

Result<analysis::DeviceSpec> device_named(std::string_view word) {
    const std::string wanted = lower(word);
    for (const analysis::DeviceSpec& device : devices()) {
        const std::string capability = device.sm.capability();
        if (wanted == device.id || wanted == lower(device.name) || wanted == lower(device.chip) ||
            wanted == capability || wanted == "cc" + capability)
            return device;
    }
    return Error{fmt::format(
        "'{}' is no device that is known; give a compute capability such as 8.6, or a name such as rtx-3090 "
        "('tilescope limits --list' lists them)",
        word)};
}

const analysis::DeviceSpec* find_driver_name(std::string_view name) {
    const std::string wanted = lower(name);
    for (const analysis::DeviceSpec& device : devices()) {
        const std::string known = lower(device.name);
        const size_t at = wanted.find(known);
        if (at == std::string::npos) continue;
        // "A100-SXM4-40GB" and "H100 80GB HBM3" are A100 and H100; a "3090 Ti" is no 3090.
        const std::string_view rest = std::string_view(wanted).substr(at + known.size());
        if (rest.empty() || rest[0] == '-' ||
            (rest.size() > 1 && rest[0] == ' ' && rest[1] >= '0' && rest[1] <= '9'))
            return &device;
    }
    return nullptr;
}

const analysis::LevelSpec* find_levels(std::string_view id) {
    static const auto known = [] {
        std::map<std::string, analysis::LevelSpec, std::less<>> all;
        for (const auto& [path, text] : embedded_devices()) {
            // A damaged file is left out here too.
            auto levels = analysis::levels_from_json(text, path);
            if (!levels || !*levels) continue;
            const size_t name = path.rfind('/') + 1, end = path.rfind('.');
            all.emplace(path.substr(name, end - name), std::move(**levels));
        }
        return all;
    }();
    const auto at = known.find(id);
    return at == known.end() ? nullptr : &at->second;
}

const std::vector<const analysis::DeviceSpec*>& level_devices() {
    static const auto all = [] {
        std::vector<const analysis::DeviceSpec*> known;
        for (const analysis::DeviceSpec& device : devices())
            if (find_levels(device.id) != nullptr) known.push_back(&device);
        return known;
    }();
    return all;
}

std::string level_devices_text() {
    std::vector<std::string> ids;
    for (const analysis::DeviceSpec* device : level_devices()) ids.push_back(device->id);
    return listed(ids, SIZE_MAX, "or");
}

}  // namespace tilescope::kernels
