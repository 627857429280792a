#include "core/limits/device_spec.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "core/base/json_fields.h"

namespace tilescope::analysis {
namespace {

using Json = nlohmann::json;

constexpr const char* kLimitsSchema = "tilescope.sm-limits/1";
constexpr const char* kDeviceSchema = "tilescope.device/1";
constexpr uint64_t kMost = 1u << 22;  // of anything on one SM: bytes, registers, threads

std::string capability_of(uint32_t major, uint32_t minor) { return fmt::format("{}.{}", major, minor); }

void read_capability(JsonFields& f, uint32_t& major, uint32_t& minor) {
    f.number("major", major, 99);
    f.number("minor", minor, 9);
    if (major == 0) f.fail("major");
}

void positive(JsonFields& f, const char* key, uint32_t& out) {
    f.number(key, out, kMost);
    if (out == 0) f.fail(key);
}

void read_sizes(JsonFields& f, SmLimits& sm) {
    for (const Json& size : f.list("shared_sizes_kib")) {
        const uint32_t before = sm.shared_sizes.empty() ? 0 : sm.shared_sizes.back();
        if (!size.is_number_unsigned() || size.get<uint64_t>() > kMost / 1024 ||
            (!sm.shared_sizes.empty() && size.get<uint64_t>() <= before))
            return f.fail("shared_sizes_kib");
        sm.shared_sizes.push_back(size.get<uint32_t>());
    }
    if (!sm.shared_sizes.empty() && sm.shared_sizes.back() * 1024 != sm.shared_per_sm)
        f.fail("shared_sizes_kib");
}

SmLimits read_limits(const Json& item, std::string& problem) {
    SmLimits sm;
    JsonFields f(item, problem);
    read_capability(f, sm.major, sm.minor);
    positive(f, "warp_size", sm.warp_size);
    positive(f, "threads_per_block", sm.threads_per_block);
    positive(f, "threads_per_sm", sm.threads_per_sm);
    positive(f, "blocks_per_sm", sm.blocks_per_sm);
    positive(f, "registers_per_sm", sm.registers_per_sm);
    positive(f, "registers_per_block", sm.registers_per_block);
    positive(f, "registers_per_thread", sm.registers_per_thread);
    positive(f, "shared_per_sm", sm.shared_per_sm);
    positive(f, "shared_per_block", sm.shared_per_block);
    positive(f, "shared_per_block_optin", sm.shared_per_block_optin);
    f.number("shared_reserved", sm.shared_reserved, kMost);
    positive(f, "register_granularity", sm.register_granularity);
    positive(f, "warp_granularity", sm.warp_granularity);
    positive(f, "shared_granularity", sm.shared_granularity);
    read_sizes(f, sm);
    std::string unit;
    f.text("register_unit", unit);
    if (unit != "block" && unit != "warp") f.fail("register_unit");
    sm.register_unit = unit == "block" ? RegisterUnit::Block : RegisterUnit::Warp;
    f.text("source", sm.source);
    if (sm.source.empty()) f.fail("source");
    // One SM holds at least one of the largest blocks, whole warps of them.
    if (problem.empty() && (sm.threads_per_sm % sm.warp_size || sm.threads_per_block > sm.threads_per_sm))
        f.fail("threads_per_sm");
    if (sm.registers_per_block > sm.registers_per_sm) f.fail("registers_per_block");
    if (sm.shared_per_block > sm.shared_per_block_optin) f.fail("shared_per_block");
    if (sm.shared_per_block_optin + sm.shared_reserved > sm.shared_per_sm) f.fail("shared_per_block_optin");
    return sm;
}

// An object of the schema asked for, or why the text is none.
Result<Json> parse(std::string_view text, std::string_view name, std::string_view schema) {
    Json root = Json::parse(text, nullptr, false);
    if (!root.is_object()) return Error{fmt::format("'{}' is not a JSON object; mend or remove it", name)};
    const auto found = root.find("schema");
    if (found == root.end() || !found->is_string() || found->get<std::string>() != schema)
        return Error{fmt::format("the schema of '{}' is not {}; mend or remove it", name, schema)};
    return root;
}

}  // namespace

std::string SmLimits::capability() const { return capability_of(major, minor); }

std::string name_of(const DeviceSpec& device) {
    return device.chip.empty() ? device.name : fmt::format("{} ({})", device.name, device.chip);
}

const SmLimits* find_limits(const std::vector<SmLimits>& limits, uint32_t major, uint32_t minor) {
    const auto it = std::find_if(limits.begin(), limits.end(),
                                 [&](const SmLimits& sm) { return sm.major == major && sm.minor == minor; });
    return it == limits.end() ? nullptr : &*it;
}

Result<std::vector<SmLimits>> sm_limits_from_json(std::string_view text, std::string_view name) {
    const auto root = parse(text, name, kLimitsSchema);
    if (!root) return root.error();
    std::string problem;
    std::vector<SmLimits> limits;
    JsonFields f(*root, problem);
    for (const Json& item : f.list("capabilities")) {
        SmLimits sm = read_limits(item, problem);
        if (!problem.empty()) {
            return Error{
                fmt::format("'{}' is damaged in entry {}: {}; mend it", name, limits.size() + 1, problem)};
        }
        if (!limits.empty() &&
            std::pair(limits.back().major, limits.back().minor) >= std::pair(sm.major, sm.minor)) {
            return Error{fmt::format("'{}' does not list compute capability {} once and in order; mend it",
                                     name, sm.capability())};
        }
        limits.push_back(std::move(sm));
    }
    if (!problem.empty()) return Error{fmt::format("'{}' is damaged: {}; mend it", name, problem)};
    return limits;
}

Result<DeviceSpec> device_from_json(std::string_view text, std::string_view name,
                                    const std::vector<SmLimits>& limits) {
    const auto root = parse(text, name, kDeviceSchema);
    if (!root) return root.error();
    std::string problem;
    DeviceSpec device;
    uint32_t major = 0, minor = 0;
    JsonFields f(*root, problem);
    f.text("id", device.id);
    f.text("name", device.name);
    f.text("chip", device.chip);
    read_capability(f, major, minor);
    positive(f, "sms", device.sms);
    f.real("memory_gbs", device.memory_gbs);
    f.real("peak_gflops", device.peak_gflops);
    if (root->contains("half_gflops")) f.real("half_gflops", device.half_gflops);
    f.text("source", device.source);
    if (device.id.empty()) f.fail("id");
    if (device.name.empty()) f.fail("name");
    if (device.memory_gbs <= 0) f.fail("memory_gbs");
    if (device.peak_gflops <= 0) f.fail("peak_gflops");
    if (device.source.empty()) f.fail("source");
    if (!problem.empty()) return Error{fmt::format("'{}' is damaged: {}; mend it", name, problem)};
    const SmLimits* const sm = find_limits(limits, major, minor);
    if (!sm) {
        return Error{fmt::format("'{}' is of compute capability {}, whose limits are not known; add them",
                                 name, capability_of(major, minor))};
    }
    device.sm = *sm;
    return device;
}

}  // namespace tilescope::analysis
