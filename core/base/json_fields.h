// Reads the fields of a JSON object that is not trusted, each one checked.
//
// The first field that is missing, of another type or out of range is kept as the problem; what is read
// after it does not count. So a reader names its fields in a row and asks once, at the end.
//
// And writes an object whose keys stay in the order in which a person reads them.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "core/base/text.h"

namespace tilescope {

// Keys and values that alternate: add_fields(json, "m", 64, "k", 64).
inline void add_fields(nlohmann::ordered_json&) {}
template <class Value, class... Rest>
void add_fields(nlohmann::ordered_json& object, const char* key, const Value& value, const Rest&... rest) {
    object[key] = value;
    add_fields(object, rest...);
}
template <class... Fields>
nlohmann::ordered_json object_of(const Fields&... fields) {
    auto object = nlohmann::ordered_json::object();
    add_fields(object, fields...);
    return object;
}

// The JSON of a document that may hold text from files. Bytes that are no UTF-8 become U+FFFD; controls,
// which a terminal obeys, are written as \u009b, those above ASCII too. indent: -1 for one line.
template <class Json>
std::string json_text(const Json& json, int indent = -1) {
    return escaped_controls(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

class JsonFields {
public:
    using Json = nlohmann::json;

    // Both must outlive the reader.
    JsonFields(const Json& object, std::string& problem) : object_(object), problem_(problem) {}

    // A whole number from 0 to `highest`.
    template <class T>
    void number(const char* key, T& out, uint64_t highest = std::numeric_limits<T>::max()) {
        const Json* field = find(key);
        if (!field || !field->is_number_unsigned() || field->get<uint64_t>() > highest) return fail(key);
        out = static_cast<T>(field->get<uint64_t>());
    }

    template <class E>
    void choice(const char* key, E& out, E highest) {
        std::underlying_type_t<E> value = 0;
        number(key, value, static_cast<uint64_t>(highest));
        out = static_cast<E>(value);
    }

    void text(const char* key, std::string& out) {
        const Json* field = find(key);
        if (!field || !field->is_string()) return fail(key);
        out = field->get<std::string>();
    }

    void flag(const char* key, bool& out) {
        const Json* field = find(key);
        if (!field || !field->is_boolean()) return fail(key);
        out = field->get<bool>();
    }

    // Finite and not negative.
    void real(const char* key, double& out) {
        const Json* field = find(key);
        if (!field || !field->is_number() || !std::isfinite(field->get<double>()) || field->get<double>() < 0)
            return fail(key);
        out = field->get<double>();
    }

    // A number from -1 (none) up.
    template <class T>
    void index(const char* key, T& out, int64_t highest) {
        const Json* field = find(key);
        if (!field || !field->is_number_integer() ||
            (field->is_number_unsigned() && field->get<uint64_t>() > static_cast<uint64_t>(highest)) ||
            field->get<int64_t>() < -1)
            return fail(key);
        out = static_cast<T>(field->get<int64_t>());
    }

    // An object or array inside; an empty one where it is missing.
    const Json& inner(const char* key, Json::value_t type) {
        static const Json kNothing = Json::object();
        const Json* field = find(key);
        if (!field || field->type() != type) {
            fail(key);
            return kNothing;
        }
        return *field;
    }

    void fail(const char* key) {
        if (problem_.empty())
            problem_ = fmt::format("its field '{}' is missing or holds what it cannot", key);
    }

private:
    const Json* find(const char* key) const {
        if (!object_.is_object()) return nullptr;
        const auto it = object_.find(key);
        return it == object_.end() ? nullptr : &*it;
    }

    const Json& object_;
    std::string& problem_;
};

}  // namespace tilescope
