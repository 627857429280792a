#include "kernels/textbook/known_launch.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_fields.h"
#include "kernels/textbook/devices.h"
#include "kernels/textbook/timings.h"

namespace tilescope::kernels {

// Path and bytes; made by cmake/embed.cmake.
std::vector<std::pair<std::string_view, std::string_view>> embedded_assets();

namespace {

using Json = nlohmann::json;

LevelCounterRow read_level_row(const Json& item, std::string& problem) {
    LevelCounterRow row;
    JsonFields f(item, problem);
    f.text("kernel", row.kernel);
    f.text("compiler", row.compiler);
    f.number("m", row.shape.m);
    f.number("k", row.shape.k);
    f.number("n", row.shape.n);
    f.number("tile", row.shape.tile, 32);
    f.real("l1_sectors", row.l1_sectors);
    f.real("l1_hits", row.l1_hits);
    f.real("l2_read_sectors_l1", row.l2_read_sectors);
    f.real("dram_read_bytes", row.dram_read_bytes);
    if (item.contains("instructions")) f.real("instructions", row.instructions);
    if (item.contains("pipe_wavefronts")) f.real("pipe_wavefronts", row.pipe_wavefronts);
    constexpr std::string_view kStall = "stall_";
    for (const auto& [key, value] : item.items()) {
        if (!key.starts_with(kStall)) continue;
        f.real(key.c_str(), row.stalls.emplace_back(key.substr(kStall.size()), 0).second);
    }
    if (row.l1_hits > row.l1_sectors) f.fail("l1_hits");
    return row;
}

std::vector<LevelCounters> read_shipped_levels() {
    std::vector<LevelCounters> all;
    for (const auto& [path, bytes] : embedded_assets()) {
        if (!path.starts_with("assets/levels/")) continue;
        // A damaged file is left out here; a test reads what ships.
        if (auto counters = level_counters_from_json(bytes, path)) all.push_back(std::move(*counters));
    }
    return all;
}

}  // namespace

Result<LevelCounters> level_counters_from_json(std::string_view text, std::string_view name) {
    const Json root = Json::parse(text, nullptr, false);
    if (!root.is_object())
        return Error{fmt::format("'{}' is not a JSON object; count the launches again", name)};
    std::string problem;
    LevelCounters counters;
    JsonFields f(root, problem);
    f.text("device", counters.device);
    for (const Json& item : f.list("rows")) {
        counters.rows.push_back(read_level_row(item, problem));
        if (!problem.empty())
            return Error{fmt::format("'{}' is damaged in row {}: {}; count the launches again", name,
                                     counters.rows.size(), problem)};
    }
    if (!problem.empty())
        return Error{fmt::format("'{}' is damaged: {}; count the launches again", name, problem)};
    return counters;
}

const LevelCounterRow* find_level_counters(std::string_view device, std::string_view kernel,
                                           std::string_view compiler, const Shape& shape) {
    static const std::vector<LevelCounters> shipped = read_shipped_levels();
    for (const LevelCounters& set : shipped) {
        const analysis::DeviceSpec* const on = find_driver_name(set.device);
        if (!on || on->id != device) continue;
        for (const LevelCounterRow& row : set.rows)
            if (row.kernel == kernel && row.compiler == compiler && row.shape == shape) return &row;
    }
    return nullptr;
}

KnownLaunch known_launch(const analysis::DeviceSpec& device, const std::string& kernel,
                         const std::string& compiler, const Shape& shape) {
    KnownLaunch known;
    for (const Timings& set : shipped_timings()) {
        const analysis::DeviceSpec* const on = find_driver_name(set.device);
        if (!on || on->id != device.id || set.compiler != compiler) continue;
        for (const Timing& row : set.rows) {
            if (row.kernel != kernel || row.tile != shape.tile) continue;
            if (known.registers == 0) known.registers = static_cast<uint32_t>(std::max(row.registers, 0));
            if (!known.measured_ms && row.m == shape.m && row.k == shape.k && row.n == shape.n)
                known.measured_ms = row.median_ms;
        }
    }
    known.counted = find_level_counters(device.id, kernel, compiler, shape);
    return known;
}

std::string compiler_of(const trace::Trace& trace, uint32_t tile) {
    return trace.meta.ptx == shipped_ptx(trace.meta.kernel, tile) ? "clang" : "";
}

}  // namespace tilescope::kernels
