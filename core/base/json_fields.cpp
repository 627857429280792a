#include "core/base/json_fields.h"

#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

namespace tilescope {
namespace {

const nlohmann::json& nothing() {
    static const nlohmann::json kNothing = nlohmann::json::object();
    return kNothing;
}

}  // namespace

const JsonFields::Json* JsonFields::find(const char* key) const {
    if (!object_.is_object()) return nullptr;
    const auto at = object_.find(key);
    return at == object_.end() ? nullptr : &*at;
}

void JsonFields::fail(const char* key) {
    if (problem_.empty()) problem_ = fmt::format("its field '{}' is missing or holds what it cannot", key);
}

std::optional<uint64_t> JsonFields::whole(const char* key, uint64_t highest) {
    const Json* field = find(key);
    if (field && field->is_number_unsigned() && field->get<uint64_t>() <= highest)
        return field->get<uint64_t>();
    fail(key);
    return std::nullopt;
}

std::optional<int64_t> JsonFields::whole_or_none(const char* key, int64_t highest) {
    const Json* field = find(key);
    const bool small =
        field && field->is_number_integer() &&
        (!field->is_number_unsigned() || field->get<uint64_t>() <= static_cast<uint64_t>(highest));
    if (small && field->get<int64_t>() >= -1) return field->get<int64_t>();
    fail(key);
    return std::nullopt;
}

void JsonFields::text(const char* key, std::string& out) {
    const Json* field = find(key);
    if (!field || !field->is_string()) return fail(key);
    out = field->get<std::string>();
}

void JsonFields::flag(const char* key, bool& out) {
    const Json* field = find(key);
    if (!field || !field->is_boolean()) return fail(key);
    out = field->get<bool>();
}

void JsonFields::real(const char* key, double& out) {
    const Json* field = find(key);
    const double value = field && field->is_number() ? field->get<double>() : -1;
    if (!std::isfinite(value) || value < 0) return fail(key);
    out = value;
}

const JsonFields::Json& JsonFields::object(const char* key) {
    const Json* field = find(key);
    if (field && field->is_object()) return *field;
    fail(key);
    return nothing();
}

const JsonFields::Json& JsonFields::list(const char* key) {
    const Json* field = find(key);
    if (field && field->is_array()) return *field;
    fail(key);
    return nothing();
}

}  // namespace tilescope
