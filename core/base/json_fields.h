// Reads the fields of a JSON object that is not trusted, each one checked.
//
// The first field that is missing, of another type or out of range is kept as the problem; what is read
// after it does not count. So a reader names its fields in a row and asks once, at the end.
//
// And writes an object whose keys stay in the order in which a person reads them. Who calls the templates of
// that, or looks into a Json, includes <nlohmann/json.hpp>, which takes two seconds to read.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include <nlohmann/json_fwd.hpp>

#include "core/base/text.h"
#include "core/base/version.h"

namespace tilescope {

// Keys and values that alternate: add_fields(json, "m", 64, "k", 64).
template <class Json>
void add_fields(Json&) {}
template <class Json, class Value, class... Rest>
void add_fields(Json& object, const char* key, const Value& value, const Rest&... rest) {
    object[key] = value;
    add_fields(object, rest...);
}
template <class Json = nlohmann::ordered_json, class... Fields>
Json object_of(const Fields&... fields) {
    Json object = Json::object();
    add_fields(object, fields...);
    return object;
}

// The JSON of a document that may hold text from files. Bytes that are no UTF-8 become U+FFFD; controls,
// which a terminal obeys, are written as \u009b, those above ASCII too. indent: -1 for one line.
template <class Json>
std::string json_text(const Json& json, int indent = -1) {
    return escaped_controls(json.dump(indent, ' ', false, Json::error_handler_t::replace));
}

// What a command prints: the fields behind the schema's name and the program's version.
template <class Json = nlohmann::ordered_json, class... Fields>
std::string document(const char* schema, const Fields&... fields) {
    return json_text(object_of<Json>("schema", schema, "version", kVersion, fields...), 2) + "\n";
}

class JsonFields {
public:
    using Json = nlohmann::json;

    // Both must outlive the reader.
    JsonFields(const Json& object, std::string& problem) : object_(object), problem_(problem) {}

    bool has(const char* key) const { return find(key) != nullptr; }

    // A whole number from 0 to `highest`.
    template <class T>
    void number(const char* key, T& out, uint64_t highest = std::numeric_limits<T>::max()) {
        if (const auto value = whole(key, highest)) out = static_cast<T>(*value);
    }

    template <class E>
    void choice(const char* key, E& out, E highest) {
        if (const auto value = whole(key, static_cast<uint64_t>(highest))) out = static_cast<E>(*value);
    }

    // A number from -1 (none) up.
    template <class T>
    void index(const char* key, T& out, int64_t highest) {
        if (const auto value = whole_or_none(key, highest)) out = static_cast<T>(*value);
    }

    void text(const char* key, std::string& out);
    void flag(const char* key, bool& out);
    void real(const char* key, double& out);  // finite and not negative

    // The object of a key; an empty one where it is missing.
    const Json& object(const char* key);
    const Json& list(const char* key);

    void fail(const char* key);

private:
    const Json* find(const char* key) const;
    std::optional<uint64_t> whole(const char* key, uint64_t highest);
    std::optional<int64_t> whole_or_none(const char* key, int64_t highest);

    const Json& object_;
    std::string& problem_;
};

}  // namespace tilescope
