// Meta, launch and sites of a trace as JSON, and back with every field checked.
#include <cmath>
#include <limits>

#include <nlohmann/json.hpp>

#include "core/base/json_fields.h"
#include "core/trace/format.h"

namespace tilescope::trace {

namespace {

using nlohmann::json;

constexpr std::string_view kHexDigits = "0123456789abcdef";
constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

json to_json(const Dim3& d) { return {d.x, d.y, d.z}; }

json to_json(const ptx::Site& site) {
    json root = {{"instruction", site.instruction},
                 {"kind", static_cast<int>(site.kind)},
                 {"space", static_cast<int>(site.space)},
                 {"bytes", site.bytes},
                 {"line", site.line},
                 {"column", site.column},
                 {"ptx_line", site.ptx_line}};
    if (site.kind == ptx::SiteKind::Atomic) root["atomic"] = static_cast<int>(site.atomic);
    if (site.copy) root["copy"] = true;
    return root;
}

// Fields that hold their usual value are left out of the file.
json to_json(const Array& array) {
    json root = {{"name", array.name},
                 {"space", static_cast<int>(array.space)},
                 {"role", static_cast<int>(array.role)},
                 {"type", name_of(array.type)},
                 {"rows", array.rows},
                 {"cols", array.cols},
                 {"base", array.base}};
    if (array.rank != 2) root["rank"] = array.rank;
    if (array.slices != 1) root["slices"] = array.slices;
    if (array.extents != ExtentSource::Known) root["extents"] = static_cast<int>(array.extents);
    if (!array.symbol.empty()) root["symbol"] = array.symbol;
    if (array.contents.kind == Contents::Kind::Stored) root["stored"] = true;
    if (array.contents.kind == Contents::Kind::SmallIntegers) {
        root["seed"] = array.contents.seed;
        root["stream"] = array.contents.stream;
    }
    return root;
}

json to_json(const Argument& argument) {
    json root = {{"name", argument.name}, {"type", name_of(argument.type)}};
    if (argument.array >= 0) {
        root["array"] = argument.array;
        if (argument.offset != 0) root["offset"] = argument.offset;
    } else {
        root["value"] = argument.value;
    }
    if (!argument.object.empty()) {
        std::string digits;
        for (const std::byte byte : argument.object) {
            digits += kHexDigits[std::to_integer<size_t>(byte >> 4)];
            digits += kHexDigits[std::to_integer<size_t>(byte & std::byte{15})];
        }
        root["object"] = std::move(digits);
    }
    return root;
}

// A field of Price: JSON has no infinity and no NaN, which are written as 0.
double written(double value) { return std::isfinite(value) ? value : 0; }

json to_json(const Price& price) {
    return {{"plain_ms", written(price.plain_ms)},
            {"recorded_ms", written(price.recorded_ms)},
            {"launches", price.launches},
            {"device_bytes", price.device_bytes},
            {"clock_mhz", written(price.clock_mhz)}};
}

bool is_priced(const Price& p) {
    return p.plain_ms > 0 || p.recorded_ms > 0 || p.launches > 0 || p.device_bytes > 0 || p.clock_mhz > 0;
}

void read_dim3(JsonFields& fields, const char* key, Dim3& out) {
    const json& field = fields.inner(key, json::value_t::array);
    if (field.size() != 3) return fields.fail(key);
    uint32_t* const parts[] = {&out.x, &out.y, &out.z};
    for (size_t i = 0; i < 3; ++i) {
        const json& part = field[i];
        if (!part.is_number_unsigned() || part.get<uint64_t>() > std::numeric_limits<uint32_t>::max())
            return fields.fail(key);
        *parts[i] = part.get<uint32_t>();
    }
}

void read_type(JsonFields& fields, ElementType& out) {
    std::string name;
    fields.text("type", name);
    const auto type = element_type_of(name);
    if (!type) return fields.fail("type");
    out = *type;
}

void read_meta(const json& root, Meta& meta, std::string& problem) {
    JsonFields f(root, problem);
    f.text("tool_version", meta.tool_version);
    f.text("kernel", meta.kernel);
    f.text("source_name", meta.source_name);
    f.text("ptx_name", meta.ptx_name);
    f.choice("backend", meta.backend, Backend::Gpu);
    f.text("device", meta.device);
    f.text("driver", meta.driver);
    f.text("recorded_at", meta.recorded_at);
    JsonFields window(f.inner("window", json::value_t::object), problem);
    window.number("x0", meta.window.x0);
    window.number("x1", meta.window.x1);
    window.number("y0", meta.window.y0);
    window.number("y1", meta.window.y1);
    JsonFields schedule(f.inner("schedule", json::value_t::object), problem);
    schedule.choice("kind", meta.schedule.kind, Schedule::Kind::Recorded);
    schedule.number("seed", meta.schedule.seed, kNoLimit);
    f.flag("complete", meta.complete);
    f.text("incomplete_reason", meta.incomplete_reason);
    JsonFields result(f.inner("result", json::value_t::object), problem);
    result.flag("checked", meta.result.checked);
    result.flag("verified", meta.result.verified);
    result.number("array", meta.result.array);
    result.real("max_abs_error", meta.result.max_abs_error);
    result.number("wrong", meta.result.wrong, kNoLimit);
    result.index("first_wrong", meta.result.first_wrong, std::numeric_limits<int64_t>::max());
    if (root.contains("result") && root["result"].contains("wrong_elements")) {
        for (const json& element : result.inner("wrong_elements", json::value_t::array)) {
            if (!element.is_number_unsigned() || meta.result.wrong_elements.size() == kMostWrongElements)
                return result.fail("wrong_elements");
            meta.result.wrong_elements.push_back(element.get<uint64_t>());
        }
    }
    if (root.contains("barrier_fault")) {
        JsonFields fault(f.inner("barrier_fault", json::value_t::object), problem);
        meta.barrier_fault.is = true;
        fault.number("x", meta.barrier_fault.x);
        fault.number("y", meta.barrier_fault.y);
        fault.number("z", meta.barrier_fault.z);
        fault.number("thread", meta.barrier_fault.thread);
        fault.number("line", meta.barrier_fault.line);
    }
    if (!root.contains("price"))  // of a CPU
        return;
    JsonFields price(f.inner("price", json::value_t::object), problem);
    price.real("plain_ms", meta.price.plain_ms);
    price.real("recorded_ms", meta.price.recorded_ms);
    price.number("launches", meta.price.launches);
    price.number("device_bytes", meta.price.device_bytes, kNoLimit);
    price.real("clock_mhz", meta.price.clock_mhz);
}

Array read_array(const json& item, std::string& problem) {
    Array array;
    JsonFields a(item, problem);
    a.text("name", array.name);
    a.choice("space", array.space, Space::Const);
    a.choice("role", array.role, ArrayRole::Shared);
    read_type(a, array.type);
    a.number("rows", array.rows);
    a.number("cols", array.cols);
    a.number("base", array.base, kNoLimit);
    if (item.contains("rank")) a.number("rank", array.rank, 3);
    if (item.contains("slices")) a.number("slices", array.slices);
    if (item.contains("extents")) a.choice("extents", array.extents, ExtentSource::Flat);
    if (item.contains("symbol")) a.text("symbol", array.symbol);
    bool stored = false;
    if (item.contains("stored")) a.flag("stored", stored);
    if (stored) array.contents.kind = Contents::Kind::Stored;
    if (!stored && item.contains("seed")) {
        array.contents.kind = Contents::Kind::SmallIntegers;
        a.number("seed", array.contents.seed, kNoLimit);
        a.number("stream", array.contents.stream);
    }
    return array;
}

Argument read_argument(const json& item, std::string& problem) {
    Argument argument;
    JsonFields a(item, problem);
    a.text("name", argument.name);
    read_type(a, argument.type);
    if (!item.contains("array")) {
        a.number("value", argument.value, kNoLimit);
    } else {
        a.index("array", argument.array, kNoArray);
        if (item.contains("offset")) a.number("offset", argument.offset, kNoLimit);
    }
    if (!item.contains("object")) return argument;
    std::string digits;
    a.text("object", digits);
    if (digits.size() % 2 != 0 || digits.size() / 2 > kMostParameterBytes || argument.array >= 0 ||
        digits.find_first_not_of(kHexDigits) != std::string::npos) {
        a.fail("object");
        return argument;
    }
    for (size_t i = 0; i < digits.size(); i += 2)
        argument.object.push_back(
            static_cast<std::byte>(kHexDigits.find(digits[i]) << 4 | kHexDigits.find(digits[i + 1])));
    return argument;
}

void read_launch(const json& root, Launch& launch, std::string& problem) {
    JsonFields f(root, problem);
    f.text("entry", launch.entry);
    read_dim3(f, "grid", launch.grid);
    read_dim3(f, "block", launch.block);
    if (root.contains("dynamic_shared")) f.number("dynamic_shared", launch.dynamic_shared);
    for (const json& item : f.inner("arguments", json::value_t::array))
        launch.arguments.push_back(read_argument(item, problem));
    for (const json& item : f.inner("arrays", json::value_t::array))
        launch.arrays.push_back(read_array(item, problem));
}

void read_tables(const json& root, Trace& trace, std::string& problem) {
    JsonFields f(root, problem);
    read_launch(f.inner("launch", json::value_t::object), trace.launch, problem);
    for (const json& item : f.inner("sites", json::value_t::array)) {
        ptx::Site site;
        JsonFields s(item, problem);
        site.id = static_cast<uint32_t>(trace.sites.size());
        s.number("instruction", site.instruction);
        s.choice("kind", site.kind, ptx::SiteKind::Atomic);
        s.choice("space", site.space, Space::Const);
        if (item.contains("atomic")) s.choice("atomic", site.atomic, ptx::Atomic::Cas);
        if (item.contains("copy")) s.flag("copy", site.copy);
        s.number("bytes", site.bytes, 16);
        s.number("line", site.line);
        s.number("column", site.column);
        s.number("ptx_line", site.ptx_line);
        trace.sites.push_back(site);
    }
}

}  // namespace

std::string meta_to_json(const Trace& trace) {
    const Meta& m = trace.meta;
    const double error =
        std::isfinite(m.result.max_abs_error) ? m.result.max_abs_error : std::numeric_limits<double>::max();
    json root = {
        {"tool_version", m.tool_version},
        {"kernel", m.kernel},
        {"source_name", m.source_name},
        {"ptx_name", m.ptx_name},
        {"backend", static_cast<int>(m.backend)},
        {"device", m.device},
        {"driver", m.driver},
        {"recorded_at", m.recorded_at},
        {"window", {{"x0", m.window.x0}, {"x1", m.window.x1}, {"y0", m.window.y0}, {"y1", m.window.y1}}},
        {"schedule", {{"kind", static_cast<int>(m.schedule.kind)}, {"seed", m.schedule.seed}}},
        {"complete", m.complete},
        {"incomplete_reason", m.incomplete_reason},
        {"result",
         {{"checked", m.result.checked},
          {"verified", m.result.verified},
          {"array", m.result.array},
          {"max_abs_error", error},
          {"wrong", m.result.wrong},
          {"first_wrong", m.result.first_wrong}}},
        {"launch",
         {{"entry", trace.launch.entry},
          {"grid", to_json(trace.launch.grid)},
          {"block", to_json(trace.launch.block)},
          {"arguments", json::array()},
          {"arrays", json::array()}}},
        {"sites", json::array()}};
    if (!m.result.wrong_elements.empty()) root["result"]["wrong_elements"] = m.result.wrong_elements;
    if (const BarrierFault& fault = m.barrier_fault; fault.is) {
        root["barrier_fault"] = {
            {"x", fault.x}, {"y", fault.y}, {"z", fault.z}, {"thread", fault.thread}, {"line", fault.line}};
    }
    if (is_priced(m.price)) root["price"] = to_json(m.price);
    for (const ptx::Site& site : trace.sites) root["sites"].push_back(to_json(site));
    json& launch = root["launch"];
    if (trace.launch.dynamic_shared > 0) launch["dynamic_shared"] = trace.launch.dynamic_shared;
    for (const Argument& argument : trace.launch.arguments) launch["arguments"].push_back(to_json(argument));
    for (const Array& array : trace.launch.arrays) launch["arrays"].push_back(to_json(array));
    // Bytes of names that are not UTF-8 are replaced by U+FFFD; source and PTX are sections of their own.
    return root.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<void> meta_from_json(std::string_view text, Trace& trace) {
    // What lies deeper than the fields below is left out as it is read: it would take many times its text.
    constexpr int kDeepest = 6;
    const auto shallow = [](int depth, json::parse_event_t, json&) { return depth <= kDeepest; };
    const json root = json::parse(text, shallow, false);
    if (!root.is_object()) return Error{"its description is not JSON"};
    std::string problem;
    read_meta(root, trace.meta, problem);
    read_tables(root, trace, problem);
    if (!problem.empty()) return Error{problem};
    return {};
}

}  // namespace tilescope::trace
