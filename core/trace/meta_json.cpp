// Meta, launch and sites of a trace as JSON, and back with every field checked; meta_fields.h lists them.
#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "core/base/json_fields.h"
#include "core/trace/format.h"
#include "core/trace/meta_fields.h"

namespace tilescope::trace {

namespace {

using nlohmann::json;

constexpr std::string_view kHexDigits = "0123456789abcdef";

class MetaWriter {
public:
    json root = json::object();

    bool has(const char*, bool told) { return told; }
    template <class T>
    void put(const T&, T) {}
    template <class T, class... Limit>
    void operator()(const char* key, const T& value, Limit... limit) {
        root[key] = written(value, limit...);
    }

private:
    static json written(double value, double instead) { return std::isfinite(value) ? value : instead; }
    static json written(const std::string& text, Claim = {}) { return text; }
    static json written(ElementType type) { return name_of(type); }
    static json written(const Dim3& d) { return {d.x, d.y, d.z}; }
    static json written(const std::vector<uint64_t>& numbers, size_t) { return numbers; }
    static json written(const std::vector<std::byte>& bytes, int64_t) {
        std::string digits;
        for (const std::byte byte : bytes) {
            digits += kHexDigits[std::to_integer<size_t>(byte >> 4)];
            digits += kHexDigits[std::to_integer<size_t>(byte & std::byte{15})];
        }
        return digits;
    }
    template <class T>
    static json written(const std::vector<T>& list) {
        json all = json::array();
        for (const T& one : list) all.push_back(written(one));
        return all;
    }
    template <class T, class... Limit>
    static json written(const T& value, Limit...) {
        if constexpr (std::is_enum_v<T>)
            return static_cast<int>(value);
        else if constexpr (std::is_arithmetic_v<T>)
            return value;
        else {
            MetaWriter inner;
            fields_of(inner, value);
            return std::move(inner.root);
        }
    }
};

class MetaReader : JsonFields {
public:
    MetaReader(const json& object, std::string& problem) : JsonFields(object, problem), problem_(problem) {}

    bool has(const char* key, bool) const { return JsonFields::has(key); }
    template <class T>
    void put(T& member, T value) {
        member = value;
    }

    void operator()(const char* key, bool& out) { flag(key, out); }
    void operator()(const char* key, double& out, double) { real(key, out); }
    void operator()(const char* key, std::string& out, Claim = {}) { text(key, out); }
    template <std::unsigned_integral T>
    void operator()(const char* key, T& out, uint64_t highest = std::numeric_limits<T>::max()) {
        number(key, out, highest);
    }
    template <std::signed_integral T>  // -1 for none
    void operator()(const char* key, T& out, int64_t highest) {
        index(key, out, highest);
    }
    template <class E>
    requires std::is_enum_v<E>
    void operator()(const char* key, E& out, E last) { choice(key, out, last); }
    void operator()(const char* key, ElementType& out) {
        std::string name;
        text(key, name);
        if (const auto type = element_type_of(name))
            out = *type;
        else
            fail(key);
    }
    void operator()(const char* key, Dim3& out) {
        const json& sides = list(key);
        const auto is_side = [](const json& side) { return side.is_number_unsigned() && side <= UINT32_MAX; };
        if (sides.size() != 3 || !std::ranges::all_of(sides, is_side)) return fail(key);
        out = {sides[0].get<uint32_t>(), sides[1].get<uint32_t>(), sides[2].get<uint32_t>()};
    }
    void operator()(const char* key, std::vector<uint64_t>& out, size_t most) {
        for (const json& number : list(key)) {
            if (!number.is_number_unsigned() || out.size() == most) return fail(key);
            out.push_back(number.get<uint64_t>());
        }
    }
    void operator()(const char* key, std::vector<std::byte>& out, int64_t most) {
        std::string digits;
        text(key, digits);
        if (digits.size() % 2 != 0 || static_cast<int64_t>(digits.size() / 2) > most ||
            digits.find_first_not_of(kHexDigits) != std::string::npos)
            return fail(key);
        for (size_t i = 0; i < digits.size(); i += 2)
            out.push_back(
                static_cast<std::byte>(kHexDigits.find(digits[i]) << 4 | kHexDigits.find(digits[i + 1])));
    }
    template <class T>
    void operator()(const char* key, std::vector<T>& out) {
        for (const json& item : list(key)) read(item, out.emplace_back());
    }
    template <class T>
    requires std::is_class_v<T>
    void operator()(const char* key, T& out) { read(object(key), out); }

private:
    template <class T>
    void read(const json& item, T& out) {
        MetaReader inner(item, problem_);
        fields_of(inner, out);
    }

    std::string& problem_;
};

}  // namespace

std::string meta_to_json(const Trace& trace) {
    MetaWriter writer;
    fields_of(writer, trace);
    // Bytes of names that are not UTF-8 are replaced by U+FFFD; source and PTX are sections of their own.
    return writer.root.dump(-1, ' ', false, json::error_handler_t::replace);
}

namespace {

constexpr int kDeepest = 6;  // of the fields

// Whether brackets lie in each other deeper than those of the fields.
bool is_deep(std::string_view text) {
    int depth = 0;
    bool quoted = false;
    for (size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (quoted && c == '\\')
            ++at;
        else if (c == '"')
            quoted = !quoted;
        else if (!quoted && (c == '[' || c == '{') && ++depth > kDeepest)
            return true;
        else if (!quoted && (c == ']' || c == '}'))
            --depth;
    }
    return false;
}

}  // namespace

Result<void> meta_from_json(std::string_view text, Trace& trace) {
    // What lies deeper than the fields is left out as it is read: it would take many times its text. (With a
    // callback the library takes a time that grows with the square of a list's length.)
    const auto shallow = [](int depth, json::parse_event_t, json&) { return depth <= kDeepest; };
    const json root = is_deep(text) ? json::parse(text, shallow, false) : json::parse(text, nullptr, false);
    if (!root.is_object()) return Error{"its description is not JSON"};
    std::string problem;
    MetaReader reader(root, problem);
    fields_of(reader, trace);
    for (size_t i = 0; i < trace.sites.size(); ++i) trace.sites[i].id = static_cast<uint32_t>(i);
    if (!problem.empty()) return Error{problem};
    return {};
}

}  // namespace tilescope::trace
